//! Pages that flood the console or the protocol: the excess is dropped, and only their own job fails.

use platen::browser::Retry;
use platen::domain::error::ErrorCode;

use crate::support::{TestPool, scripted, text_of};

#[actix::test]
async fn a_page_that_floods_the_console_ends_and_harms_no_other_page() {
    let pool = TestPool::start(|config| config.load_timeout_ms = 120_000);
    let (loud, good) =
        (scripted("<script>for(;;) console.log('x'.repeat(1e7))</script>"), scripted("<p>alive"));
    let browsers = pool.until("a browser runs", |status| status.ready).await.browsers;
    let others = async {
        for _ in 0..3 {
            assert_eq!(text_of(&pool.render(&good).await.unwrap().bytes), "alive");
        }
    };
    let (error, ()) = tokio::join!(pool.render(&loud), others);
    let error = error.unwrap_err();
    assert_eq!(error.retry, Retry::No, "{error}");
    assert_eq!(error.error.code, ErrorCode::PageFailed);
    assert!(error.error.message.contains("browser.told_limit_mb"), "{error}");
    assert_eq!(text_of(&pool.render(&good).await.unwrap().bytes), "alive");
    assert_eq!(pool.status().await.browsers, browsers, "the browser was replaced");
    pool.finish().await;
}

#[actix::test]
async fn a_dialog_that_is_too_long_to_be_kept_is_dismissed() {
    let pool = TestPool::start(|_| {});
    // The event names the page's address as well, and a page may give itself a long one.
    let page = "<p id=p></p><script>history.replaceState(0, '', '?' + 'y'.repeat(15e5)); \
        p.textContent = 'answer ' + confirm('x'.repeat(3e6))</script>";
    assert_eq!(text_of(&pool.render(&scripted(page)).await.unwrap().bytes), "answer false");
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
