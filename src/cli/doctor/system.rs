//! The machine: the data folder, open files, certificates.

use std::path::Path;

use nix::sys::resource::{Resource, getrlimit};

use super::report::Finding;
use crate::config::Config;
use crate::http::FileLimits;
use crate::outbound::certificate_authorities;
use crate::storage::free_bytes;
use crate::storage::wrong_user::{WrongUser, wrong_user};

const FOLDER: &str = "Data folder";
const FILES: &str = "Open files";
/// Where Debian keeps the machine's certificate authorities.
const STORE: &str = "/etc/ssl/certs/ca-certificates.crt";

pub(super) fn findings(config: &Config) -> Vec<Finding> {
    let open_files = getrlimit(Resource::RLIMIT_NOFILE).map(|(_, hard)| hard);
    vec![
        folder(Path::new(&config.storage.data_dir), config.storage.objects_free_limit_bytes),
        files(open_files.ok(), config.http.connection_limit),
        certificates(certificate_authorities()),
    ]
}

fn folder(configured: &Path, free_limit_bytes: u64) -> Finding {
    let missing = |detail: String, remedy: &str| {
        Finding::missing(FOLDER, detail).with_remedy("everything: nothing can be kept", remedy)
    };
    let Ok(path) = std::path::absolute(configured) else {
        return missing("storage.data_dir is empty".to_owned(), "set storage.data_dir");
    };
    if let Some(WrongUser { cause, remedy }) = wrong_user(&path) {
        return Finding::missing(FOLDER, cause)
            .with_remedy("the commands of the operator, and this check, for this user", remedy);
    }
    let Some(nearest) = path.ancestors().find(|ancestor| ancestor.exists()) else {
        return missing(format!("{} is nowhere", path.display()), "set storage.data_dir");
    };
    if let Err(error) = write_in(nearest) {
        let detail = format!("{} cannot be written: {error} (storage.data_dir)", nearest.display());
        return missing(
            detail,
            "give the folder to the service's user, or set storage.data_dir to one of its own",
        );
    }
    let Ok(free_bytes) = free_bytes(nearest) else {
        let detail = format!("{}: its free space cannot be told", path.display());
        return Finding::warning(FOLDER, detail).with_remedy("this check", "a local file system");
    };
    let space = format!("{}, {} MiB free", path.display(), free_bytes >> 20);
    if free_bytes < free_limit_bytes {
        let least = free_limit_bytes >> 20;
        return missing(
            format!("{space}; at least {least} MiB are wanted"),
            "free some, or lower storage.objects_free_limit_bytes",
        );
    }
    Finding::ok(FOLDER, space)
}

/// Makes and removes a file there: permission bits do not show whether a disk is full or read-only.
fn write_in(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(format!(".platen-doctor-{}", crate::clock::new_id().simple()));
    let written = std::fs::write(&path, "platen doctor was here");
    let _ = std::fs::remove_file(&path);
    written
}

/// Compares with the hard limit: the service raises its own limit to it at the start.
fn files(hard: Option<u64>, connections: u64) -> Finding {
    let Some(hard) = hard else {
        return Finding::warning(FILES, "the limit cannot be told")
            .with_remedy("this check", "ulimit -Hn says it");
    };
    let limits = FileLimits::new(connections, Some(hard));
    if limits == FileLimits::new(connections, None) {
        return Finding::ok(FILES, format!("{hard}"));
    }
    let (wanted, FileLimits { connections: most, transfers }) = (FileLimits::wanted(connections), limits);
    Finding::warning(FILES, format!("{hard}; {wanted} are wanted for http.connection_limit = {connections}")).with_remedy(
        format!("more than {most} connections at once, more than {transfers} uploads and downloads"),
        format!("systemd: LimitNOFILE={wanted}; Docker: --ulimit nofile={wanted}; or lower http.connection_limit"),
    )
}

fn certificates(count: usize) -> Finding {
    if count > 0 {
        return Finding::ok("Certificates", format!("{count} authorities"));
    }
    let state = if Path::new(STORE).exists() { "is empty" } else { "is not there" };
    let detail = format!("no certificate authority is known: {STORE} {state}");
    Finding::warning("Certificates", detail).with_remedy(
        "https: deliveries (uploadPresignedStorageUrl), and pictures that Office templates name",
        "apt-get install ca-certificates",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::report::State;

    #[test]
    fn a_missing_folder_is_judged_by_its_nearest_parent() {
        let root = tempfile::tempdir().unwrap();
        let wanted = root.path().join("a/b");
        let found = folder(&wanted, 1);
        assert_eq!(found.state, State::Ok, "{found:?}");
        assert!(found.detail.starts_with(&wanted.display().to_string()), "{found:?}");
        assert!(
            !wanted.exists() && root.path().read_dir().unwrap().next().is_none(),
            "nothing is left behind"
        );
        let full = folder(&wanted, u64::MAX);
        assert_eq!(full.state, State::Missing);
        assert!(full.remedy.unwrap().contains("storage.objects_free_limit_bytes"));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_missing() {
        let found = folder(Path::new("/proc/platen"), 1);
        assert_eq!(found.state, State::Missing);
        assert!(found.detail.contains("storage.data_dir"), "{found:?}");
    }

    #[test]
    fn few_open_files_are_a_warning_that_counts_connections() {
        for (hard, connections) in [(65_536, 25_000), (51_024, 25_000), (400, 100)] {
            assert_eq!(files(Some(hard), connections).state, State::Ok, "{hard}");
        }
        for (hard, disables) in [
            (51_023, "more than 25000 connections at once, more than 24999 uploads and downloads"),
            (4_096, "more than 2304 connections at once, more than 768 uploads and downloads"),
            (1_000, "more than 375 connections at once, more than 125 uploads and downloads"),
        ] {
            let few = files(Some(hard), 25_000);
            assert_eq!((few.state, few.disables.as_deref()), (State::Warning, Some(disables)));
            assert!(few.remedy.unwrap().contains("LimitNOFILE=51024"));
        }
    }

    #[test]
    fn without_authorities_deliveries_do_not_work() {
        assert_eq!(certificates(0).state, State::Warning);
        assert_eq!(certificates(1).state, State::Ok);
    }
}
