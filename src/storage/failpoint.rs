//! Fail points, for tests only: the process kills itself before or after the n-th change of what lasts.
//!
//! No release has this. A debug build does nothing of it either unless [`KILL_FILE`] names a file. When that file
//! is there, the number in it is counted down before and after each change of the store ([`MeteredStore`]) and of the index
//! ([`SledIndex`]), and at zero the process gets SIGKILL. So every step of every operation is covered, also one that is
//! written tomorrow.
//!
//! [`MeteredStore`]: super::metered::MeteredStore
//! [`SledIndex`]: super::index::SledIndex

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The variable that names the file with the number.
pub const KILL_FILE: &str = "PLATEN_KILL_FILE";

/// Counts the changes of one process.
#[derive(Debug)]
struct Switch {
    file: PathBuf,
    /// How many are left; read from the file when it appears, forgotten when it is removed.
    left: Mutex<Option<u64>>,
}

/// The one switch of this process, where the environment asks for it.
fn switch() -> Option<&'static Switch> {
    static SWITCH: OnceLock<Option<Switch>> = OnceLock::new();
    let make = || {
        let file = std::env::var_os(KILL_FILE)?;
        Some(Switch { file: file.into(), left: Mutex::default() })
    };
    SWITCH.get_or_init(make).as_ref()
}

/// A fail point by itself, before or after a change that goes through neither index nor store.
pub fn pass() {
    if let Some(switch) = switch() {
        switch.pass();
    }
}

/// Whether this process has fail points.
pub fn is_armed() -> bool {
    switch().is_some()
}

/// A change between two fail points.
pub async fn around<T>(change: impl Future<Output = T> + Send) -> T {
    pass();
    let changed = change.await;
    pass();
    changed
}

impl Switch {
    /// Counts one point down, and kills the process at zero.
    fn pass(&self) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(number) = std::fs::read_to_string(&self.file) else {
            *left = None;
            return;
        };
        let now = left.or_else(|| number.trim().parse().ok()).map(|left| left.saturating_sub(1));
        *left = now;
        if now == Some(0) {
            // SIGKILL cannot be caught: nothing of this process runs after it.
            let _ = kill(Pid::this(), Signal::SIGKILL);
        }
    }
}
