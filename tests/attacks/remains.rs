//! What a service leaves of its jobs: programs, folders of programs, profiles of browsers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::app::{TestApp, descendants};
use crate::foreign::traversable_folder;

/// Programs that no job leaves behind, by the beginning of their names.
const PROGRAMS: [&str; 12] = [
    "pdflatex",
    "lualatex",
    "luahbtex",
    "xelatex",
    "xdvipdfmx",
    "bibtex",
    "biber",
    "makeindex",
    "pandoc",
    "qpdf",
    "sh",
    "touch",
];
const PROFILE: &str = "--user-data-dir=";

/// A service whose programs work in a folder of the test's own.
pub struct WatchedApp {
    pub app: TestApp,
    scratch: TempDir,
}

impl WatchedApp {
    pub async fn start(settings: &[(&str, &str)]) -> Self {
        let scratch = traversable_folder();
        let path = scratch.path().display().to_string();
        let own = [("workers.scratch_dir", path.as_str())];
        Self { app: TestApp::on_disk(&[&own, settings].concat()).await, scratch }
    }

    /// Ends the service. No program of a job runs any more before; no folder and no profile is there afterwards.
    pub async fn finish(self) {
        let Self { mut app, scratch } = self;
        app.until("no program of a job is left", async || programs(&app).is_empty()).await;
        let profiles = profiles(&app);
        app.stop();
        let left: Vec<_> =
            files(scratch.path()).chain(profiles.into_iter().filter(|path| path.exists())).collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

fn programs(app: &TestApp) -> Vec<String> {
    let name = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let names = descendants(app.pid()).into_iter().map(|(pid, _)| name(pid).trim().to_owned());
    names.filter(|name| PROGRAMS.contains(&name.as_str())).collect()
}

fn profiles(app: &TestApp) -> BTreeSet<PathBuf> {
    let command = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let profile =
        |line: String| Some(PathBuf::from(line.split('\0').find_map(|it| it.strip_prefix(PROFILE))?));
    descendants(app.pid()).into_iter().filter_map(|(pid, _)| profile(command(pid))).collect()
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())
}
