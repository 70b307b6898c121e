//! The processes that a test started, as `/proc` shows them, and waiting for conditions.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use platen::workers::{ChildSpec, Starter, User};

/// Longest wait for anything. A process that is to be ended meanwhile sleeps for longer.
pub const DEADLINE: Duration = Duration::from_mins(1);

/// Our program: built beside the tests, or the copy that a user without rights to that folder is given.
pub fn platen() -> PathBuf {
    let copy = std::env::var_os("PLATEN_TEST_PROGRAM");
    copy.map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_platen")), PathBuf::from)
}

/// The program that template code runs in.
pub fn platen_script() -> PathBuf {
    platen().with_file_name("platen-script")
}

pub fn starter() -> Starter {
    Starter::new(platen()).unwrap()
}

/// Another user where we may give one.
pub fn somebody_else() -> Option<User> {
    nix::unistd::geteuid().is_root().then_some(User::NOBODY)
}

pub fn bash(script: &str) -> ChildSpec {
    ChildSpec::new("/bin/bash").arguments(["-c", script]).variable("PATH", "/usr/bin:/bin")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits until the condition holds.
pub async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < DEADLINE, "not within {DEADLINE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await; // poll
    }
}

/// A process that is there and no zombie.
pub fn is_alive(pid: u32) -> bool {
    field(pid, "State:").is_some_and(|state| !state.starts_with('Z'))
}

/// A field of the process' status.
pub fn field(pid: u32, name: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    Some(line[name.len()..].trim().to_owned())
}

/// The living processes of a group.
pub fn group_members(leader: u32) -> Vec<u32> {
    processes().into_iter().filter(|&pid| is_alive(pid) && group_of(pid) == Some(leader)).collect()
}

/// All processes.
pub fn processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The third field after the name, which may hold blanks and is in brackets.
fn group_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse().ok()
}
