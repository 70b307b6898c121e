//! Pages that tell without end: what they say is passed over, and they end at their own job.

use std::time::{Duration, Instant};

use platen::domain::fault::FaultCode;

use crate::support::{TestPool, scripted, text_of};

#[actix::test]
async fn a_page_that_floods_the_console_ends_and_costs_nobody_else_anything() {
    let pool = TestPool::start(|config| config.load_timeout_ms = 120_000);
    let (loud, good) =
        (scripted("<script>for(;;) console.log('x'.repeat(1e7))</script>"), scripted("<p>alive"));
    let browsers = pool.until("a browser runs", |status| status.ready).await.browsers;
    let others = async {
        for _ in 0..3 {
            assert_eq!(text_of(&pool.render(&good).await.unwrap().bytes), "alive");
        }
    };
    let (fault, ()) = tokio::join!(pool.render(&loud), others);
    let fault = fault.unwrap_err();
    assert!(!fault.retryable, "{fault}");
    assert_eq!(fault.fault.code, FaultCode::PageFailed);
    assert!(fault.fault.message.contains("told too much"), "{fault}");
    assert_eq!(text_of(&pool.render(&good).await.unwrap().bytes), "alive");
    assert_eq!(pool.status().await.browsers, browsers, "the browser was replaced");
    pool.finish().await;
}

#[actix::test]
async fn a_dialog_with_a_text_beyond_every_limit_is_dismissed() {
    let pool = TestPool::start(|config| config.load_timeout_ms = 60_000);
    let page = "<p id=p></p><script>p.textContent = 'answer ' + confirm('x'.repeat(14e7))</script>";
    let started = Instant::now();
    assert_eq!(text_of(&pool.render(&scripted(page)).await.unwrap().bytes), "answer false");
    assert!(started.elapsed() < Duration::from_secs(50), "{:?}", started.elapsed());
    pool.finish().await;
}

#[actix::test]
async fn a_picture_in_its_address_may_be_large() {
    let pool = TestPool::start(|_| {});
    let page = format!(
        "<img id=i src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' \
         height='9'><desc>{}</desc></svg>\"><p id=p></p><script>onload = () => \
         p.textContent = 'width ' + i.naturalWidth</script>",
        "x".repeat(20 << 20)
    );
    assert_eq!(text_of(&pool.render(&scripted(&page)).await.unwrap().bytes), "width 9");
    pool.finish().await;
}
