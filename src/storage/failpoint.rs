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

/// The file with the number, and how many changes are left: read from it when it appears, forgotten when it is removed.
type Switch = (PathBuf, Mutex<Option<u64>>);

/// The one switch of this process, where the environment asks for it.
fn switch() -> Option<&'static Switch> {
    static SWITCH: OnceLock<Option<Switch>> = OnceLock::new();
    SWITCH.get_or_init(|| Some((std::env::var_os(KILL_FILE)?.into(), Mutex::default()))).as_ref()
}

/// Whether this process has fail points.
pub fn is_armed() -> bool {
    switch().is_some()
}

/// A fail point by itself, before or after a change that goes through neither index nor store: counts one down, and kills
/// the process at zero.
pub fn pass() {
    let Some((file, left)) = switch() else { return };
    let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok(number) = std::fs::read_to_string(file) else {
        *left = None;
        return;
    };
    *left = left.or_else(|| number.trim().parse().ok()).map(|left| left.saturating_sub(1));
    if *left == Some(0) {
        // SIGKILL cannot be caught: nothing of this process runs after it.
        let _ = kill(Pid::this(), Signal::SIGKILL);
    }
}

/// A change between two fail points.
pub async fn around<T>(change: impl Future<Output = T> + Send) -> T {
    pass();
    let changed = change.await;
    pass();
    changed
}
