//! Faults at fail points: the file that arms them, and a test that runs again, alone in a process that has them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use platen::failpoint::{self, FAULT_FILE, Fault};

/// The fault that a process is for.
const FAULT: &str = "PLATEN_TEST_FAULT";
/// Longer than any walk through the steps takes on a loaded machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// How long the service may go on under a fault, before that ends.
const UNDER_FAULT: Duration = Duration::from_millis(20);

/// Waits until the condition holds. A fault may keep it from that: then it waits a while under the fault.
pub async fn until(condition: impl AsyncFn() -> bool) {
    let mut met_since = None::<Instant>;
    let holds = async {
        while !condition().await {
            if failpoint::is_met() && met_since.get_or_insert_with(Instant::now).elapsed() > UNDER_FAULT {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await; // poll
        }
    };
    tokio::time::timeout(PATIENCE, holds).await.expect("it holds, or a fault keeps it from that");
}

/// The file that says which fault comes when.
#[derive(Clone, Debug)]
pub struct FaultFile(PathBuf);

impl FaultFile {
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// That of this process; none where it has no fail points.
    pub fn of_this_process() -> Option<Self> {
        std::env::var_os(FAULT_FILE).map(|path| Self::new(path.into()))
    }

    /// From now on steps are counted, and the `number`-th that the fault can meet meets it.
    pub fn arm(&self, fault: Fault, number: u64) {
        let written = self.0.with_extension("new");
        std::fs::write(&written, fault.at(number)).expect("the folder is ours");
        std::fs::rename(written, &self.0).expect("the folder is ours");
    }

    /// Ends the fault. Whether this process has met it since it was armed.
    pub fn disarm(&self) -> bool {
        let was_met = failpoint::is_met();
        // Where a slow step was let go it is gone already.
        let _ = std::fs::remove_file(&self.0);
        assert!(!failpoint::is_met(), "a fault goes on without its file");
        was_met
    }
}

/// In a test's own process runs the test `name` again for each fault, all at once and each alone in a process with fail
/// points, asserts that all pass, and returns `None`. In such a process returns its file and its fault: the test goes on.
pub async fn alone_with_each(name: &'static str, faults: &[Fault]) -> Option<(FaultFile, Fault)> {
    if let Some(file) = FaultFile::of_this_process() {
        let fault = std::env::var_os(FAULT).expect("it is set with the file").into_string();
        return Some((file, fault.expect("it is a name").parse().expect("a fault")));
    }
    let passes = faults.iter().map(|&fault| {
        // Apart: this thread's actors would wait.
        tokio::task::spawn_blocking(move || {
            let folder = tempfile::tempdir().expect("a folder");
            let output = output_of(alone(name, folder.path()).env(FAULT, <&str>::from(fault)));
            let (out, errors) = (text(&output.stdout), text(&output.stderr));
            let has_passed = output.status.success() && out.contains("1 passed");
            assert!(has_passed, "{fault:?}: {}\n{out}\n{errors}", output.status);
            println!("{out}");
        })
    });
    for passed in futures_util::future::join_all(passes).await {
        passed.expect("it passes");
    }
    None
}

/// The test `name` of this program, to be run alone in a process with fail points by the file of `folder`.
pub fn alone(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(FAULT_FILE, folder.join("fault"))
        .stdin(Stdio::null());
    command
}

/// What a program said until its end; it is killed where that does not come.
pub fn output_of(program: &mut Command) -> Output {
    let child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("it is a process"));
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(child.wait_with_output()));
    let Ok(output) = told.recv_timeout(PATIENCE) else {
        let _ = kill(pid, Signal::SIGKILL);
        panic!("{program:?} does not end")
    };
    output.expect("it is ours")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
