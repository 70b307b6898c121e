//! A progress line on the terminal for work that takes longer than a second.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

/// Delay until the line appears, and between two updates.
const TICK: Duration = Duration::from_secs(1);

/// Clears the line on drop.
struct ProgressLine;

impl Drop for ProgressLine {
    fn drop(&mut self) {
        show("");
    }
}

/// Awaits `work`; shows its duration meanwhile, where stderr is a terminal.
pub(super) async fn shown<T>(work: impl Future<Output = T>) -> T {
    if !stderr().is_terminal() {
        return work.await;
    }
    let (mut work, mut line, mut seconds) = (pin!(work), None, 0);
    loop {
        if let Ok(done) = timeout(TICK, &mut work).await {
            return done;
        }
        seconds += 1;
        line.get_or_insert(ProgressLine);
        show(&format!("rendering … {seconds} s"));
    }
}

/// Replaces the current line.
fn show(text: &str) {
    let mut stderr = stderr().lock();
    let _ = write!(stderr, "\r\x1b[K{text}");
    let _ = stderr.flush();
}
