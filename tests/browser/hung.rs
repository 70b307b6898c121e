//! An answer that is merely late, because the machine or the page is busy: no browser is ended for it.

use std::time::{Duration, Instant};

use platen::domain::error::ErrorCode;

use crate::support::{TestPool, scripted, static_page, text_of};

/// The shortest that may be configured.
const HUNG_MS: u64 = 500;

/// How long the machine is kept busy.
const BUSY: Duration = Duration::from_millis(HUNG_MS * 4);

#[actix::test]
async fn a_late_answer_ends_no_browser() {
    let pool = TestPool::start(|config| {
        config.hung_ms = HUNG_MS;
        config.load_timeout_ms = HUNG_MS * 8;
    });
    pool.until("a browser runs", |it| it.ready).await;
    // Meanwhile the browser process has nothing to do, and the page answers nothing.
    let patient = pool.limited(|config| config.load_timeout_ms = 60_000);
    let late = pool.render(&scripted("<p>x</p><script>for (;;) {}</script>")).await.unwrap_err();
    assert_eq!(late.error.code, ErrorCode::LoadTimeout, "{late}");
    let begun = Instant::now();
    let cores = std::thread::available_parallelism().unwrap().get();
    let busy = || std::thread::spawn(move || while begun.elapsed() < BUSY {});
    let busy: Vec<_> = (0..cores * 3).map(|_| busy()).collect();
    while begun.elapsed() < BUSY {
        assert_eq!(text_of(&patient.render(&static_page("<p>here")).await.unwrap().bytes), "here");
    }
    for thread in busy {
        thread.join().unwrap();
    }
    let kinds = ["browser", "network", "zygote", "renderer", "other"];
    let hung: u64 = kinds.iter().map(|kind| pool.metrics.hung.of([*kind]).get()).sum();
    assert_eq!(hung, 0);
    pool.finish().await;
}
