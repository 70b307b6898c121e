//! A line on the terminal for what takes longer than a second.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

/// Until the line appears, and between two changes of it.
const TICK: Duration = Duration::from_secs(1);

/// Takes the line away again when it is dropped.
struct Line;

impl Drop for Line {
    fn drop(&mut self) {
        show("");
    }
}

/// Shows for how long `work` has been going on, where somebody sees it, and answers as it does.
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
        line.get_or_insert(Line);
        show(&format!("rendering … {seconds} s"));
    }
}

/// Writes over the line that is there.
fn show(text: &str) {
    let mut stderr = stderr().lock();
    let _ = write!(stderr, "\r\x1b[K{text}");
    let _ = stderr.flush();
}
