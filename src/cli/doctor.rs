//! `platen doctor`: what is installed, what a missing part disables, what installs it.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::{CommandError, say};
use crate::browser;
use crate::config::Config;
use crate::engines;
use crate::workers::{Landlock, landlock};

/// Arguments of `platen doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Print what can become what and end.
    #[arg(long)]
    pub matrix: bool,
}

struct Finding {
    good: bool,
    what: String,
    remedy: String,
}

/// Prints the findings; fails when something is missing that every document needs.
///
/// # Errors
/// When stdout cannot be written.
pub fn run(config: &Config, arguments: &DoctorArguments) -> Result<ExitCode, CommandError> {
    if arguments.matrix {
        say(engines::matrix().trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    let findings = [browser(config), browser_user(config), fonts(), cage(), data_folder(config)];
    for finding in &findings {
        say(&format!("{:<8} {}", if finding.good { "ok" } else { "missing" }, finding.what))?;
        if !finding.good {
            say(&format!("         {}", finding.remedy))?;
        }
    }
    Ok(if findings.iter().all(|finding| finding.good) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn browser(config: &Config) -> Finding {
    match browser::find_executable(&config.browser.executable) {
        Ok(path) => good(format!("Chromium: {}", path.display())),
        Err(error) => bad(
            format!("Chromium ({error}): nothing can be rendered but html"),
            "apt-get install --no-install-recommends chromium-headless-shell",
        ),
    }
}

fn browser_user(config: &Config) -> Finding {
    let user = &config.browser.user;
    if !nix::unistd::geteuid().is_root() {
        return good("Chromium's user: the service's own, for it does not run as root".to_owned());
    }
    match nix::unistd::User::from_name(user) {
        Ok(Some(found)) => good(format!("Chromium's user: {user} (uid {})", found.uid)),
        Ok(None) | Err(_) => bad(
            format!("Chromium's user '{user}' (browser.user): as root, nothing can be rendered but html"),
            "scripts/setup, or: useradd --system --no-create-home --shell /usr/sbin/nologin platen-browser",
        ),
    }
}

fn fonts() -> Finding {
    let folders = ["/usr/share/fonts/truetype", "/usr/share/fonts/opentype", "/usr/local/share/fonts"];
    let filled =
        |folder: &&str| Path::new(folder).read_dir().is_ok_and(|mut entries| entries.next().is_some());
    match folders.iter().find(|folder| filled(folder)) {
        Some(folder) => good(format!("Fonts: {folder}")),
        None => bad(
            "Fonts: pages come out without text".to_owned(),
            "apt-get install --no-install-recommends fonts-liberation fonts-dejavu-core fonts-noto-core \
             fonts-noto-color-emoji fonts-wqy-zenhei",
        ),
    }
}

fn cage() -> Finding {
    match landlock() {
        Landlock::Available => good("Landlock: template code is fenced from the file system".to_owned()),
        Landlock::Missing => bad(
            "Landlock: template code is fenced by seccomp and limits only".to_owned(),
            "a kernel from 5.13 on with CONFIG_SECURITY_LANDLOCK",
        ),
    }
}

fn data_folder(config: &Config) -> Finding {
    let folder = Path::new(&config.storage.data_dir);
    let nearest = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let writable = nix::unistd::access(nearest, nix::unistd::AccessFlags::W_OK).is_ok();
    let what = format!("Data folder: {} (storage.data_dir)", folder.display());
    if writable { good(what) } else { bad(what, "give the service's user the right to write there") }
}

fn good(what: String) -> Finding {
    Finding { good: true, what, remedy: String::new() }
}

fn bad(what: String, remedy: &str) -> Finding {
    Finding { good: false, what, remedy: remedy.to_owned() }
}
