//! Foreign programs for tests: a shell and perl, which are on every Debian, in a folder of the test's own.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use platen::config::{Config, WorkersConfig};
use platen::telemetry::metrics::Metrics;
use platen::workers::{Bounds, ProgramRun, Programs, SandboxProfile, landlock};
use tempfile::TempDir;

use crate::processes::starter;

/// The folders of programs and their libraries.
const EXECUTE: [&str; 6] = ["/usr/bin", "/bin", "/usr/lib", "/lib", "/usr/lib64", "/lib64"];
/// What perl reads besides.
const READ: [&str; 6] =
    ["/usr/share/perl", "/usr/share/perl5", "/etc/perl", "/etc/ld.so.cache", "/dev/zero", "/dev/urandom"];

/// Programs with a folder of the test's own.
pub struct Foreign {
    pub programs: Programs,
    pub folder: TempDir,
    pub metrics: Metrics,
}

/// A folder that every user may go through.
pub fn traversable_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

pub fn config(folder: &Path) -> WorkersConfig {
    WorkersConfig { scratch_dir: folder.display().to_string(), ..Config::default().workers }
}

pub fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

pub fn profile() -> SandboxProfile {
    SandboxProfile {
        execute: paths(&EXECUTE),
        read: paths(&READ),
        write: paths(&["/dev/null"]),
        ..SandboxProfile::default()
    }
}

impl Foreign {
    pub fn new() -> Self {
        Self::with(|_| ())
    }

    pub fn with(change: impl FnOnce(&mut WorkersConfig)) -> Self {
        let folder = traversable_folder();
        let mut config = config(folder.path());
        change(&mut config);
        let metrics = Metrics::new();
        let children = metrics.children.clone();
        let programs = Programs::new(starter(), &config, landlock(), children);
        Self { programs, folder, metrics }
    }

    /// The bounds of a test's program: low, so that tests are quick.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            deadline: Duration::from_secs(20),
            memory_bytes: 200 << 20,
            processes: 16,
            scratch_bytes: 8 << 20,
            scratch_files: 200,
            printed_bytes: 64 << 10,
            ..self.programs.bounds()
        }
    }

    pub fn bash(&self, script: &str) -> ProgramRun {
        self.program("/bin/bash", &["-c", script])
    }

    pub fn perl(&self, script: &str) -> ProgramRun {
        self.program("/usr/bin/perl", &["-e", script])
    }

    pub fn program(&self, program: &str, arguments: &[&str]) -> ProgramRun {
        ProgramRun {
            name: "test",
            program: PathBuf::from(program),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            environment: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
            profile: Arc::new(profile()),
            inputs: Vec::new(),
            bounds: self.bounds(),
            way: None,
        }
    }

    /// The folders that programs work in now.
    pub fn files(&self) -> Vec<PathBuf> {
        let places = std::fs::read_dir(self.folder.path()).unwrap().flatten();
        let runs = places.flat_map(|place| std::fs::read_dir(place.path()).into_iter().flatten().flatten());
        runs.map(|run| run.path().join("files")).filter(|files| files.is_dir()).collect()
    }

    /// The folders of runs that are there now.
    pub fn runs(&self) -> usize {
        let places = std::fs::read_dir(self.folder.path()).unwrap().flatten();
        let runs = places.map(|place| std::fs::read_dir(place.path()).map_or(0, Iterator::count));
        // Each place has its lock.
        runs.map(|entries| entries.saturating_sub(1)).sum()
    }
}
