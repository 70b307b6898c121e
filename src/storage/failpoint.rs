//! Fail points, for tests only: the process kills itself before or after the n-th change of store or index.
//!
//! Not in release builds; in debug builds only if [`KILL_FILE`] names a file. While that file exists, its number is counted
//! down before and after each change of the store ([`MeteredStore`]) and of the index ([`SledIndex`]); at zero the process
//! gets SIGKILL. So tests cover every step of every operation, future ones included.
//!
//! [`MeteredStore`]: super::metered::MeteredStore
//! [`SledIndex`]: super::index::SledIndex

use std::path::PathBuf;
use std::sync::OnceLock;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use parking_lot::Mutex;

/// The variable that names the file with the number.
pub const KILL_FILE: &str = "PLATEN_KILL_FILE";

/// The file, and the number left: read when the file appears, dropped when it is removed.
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

/// One fail point: counts down, and kills the process at zero. Called directly around changes that go through neither index
/// nor store.
pub fn pass() {
    let Some((file, left)) = switch() else { return };
    let mut left = left.lock();
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
