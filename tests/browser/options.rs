//! What `formatOpts` make of a page: seen in the file, not in the call.

use std::time::{Duration, Instant};

use platen::browser::{PageOutput, PageTask};
use platen::domain::error::ErrorCode;

use crate::support::{
    Picture, TestPool, asking, info_of, picture_of, put_page, scripted, static_page, text_of,
};

const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const WHITE: [u8; 4] = [255, 255, 255, 255];

/// 2,000 pixels high: green, and at its end blue.
const LONG: &str = "<body style='margin:0'><div style='background:#0f0;height:1990px'></div>\
    <div id=end style='background:#00f;height:10px;width:50px'></div>";

fn as_png(task: PageTask) -> PageTask {
    PageTask { output: PageOutput::Png, ..task }
}

async fn picture(pool: &TestPool, task: PageTask) -> Picture {
    picture_of(&pool.render(&as_png(task)).await.unwrap().bytes)
}

#[actix::test]
async fn a_viewport_lays_out_the_page_and_bounds_its_picture() {
    let pool = TestPool::start(|_| {});
    let page = "<style>body{margin:0;background:#0f0}@media(max-width:400px){body{background:#00f}}</style>";
    let opts = r#"{"viewport":{"width":400,"height":300,"deviceScaleFactor":1.5}}"#;
    for task in [scripted(page), static_page(page), put_page(page)] {
        let seen = picture(&pool, asking(opts, task.clone())).await;
        assert_eq!((seen.width, seen.height), (600, 450));
        assert_eq!(seen.at(599, 449), BLUE);
        // The next page finds nothing of it.
        let next = picture(&pool, task).await;
        assert_eq!((next.width, next.height, next.at(0, 0)), (794, 1058, GREEN));
    }
    let script =
        "<p id=p></p><script>p.textContent=[innerWidth,innerHeight,devicePixelRatio].join(' ')</script>";
    let text = text_of(&pool.render(&asking(opts, scripted(script))).await.unwrap().bytes);
    assert_eq!(text, "400 300 1.5");
    pool.finish().await;
}

#[actix::test]
async fn a_full_page_is_shown_to_its_end_within_the_limit() {
    let pool = TestPool::start(|config| config.picture_limit_pixels = 4_000_000);
    for task in [scripted(LONG), static_page(LONG), put_page(LONG)] {
        let whole = picture(&pool, asking(r#"{"fullPage":true}"#, task.clone())).await;
        assert_eq!((whole.width, whole.height), (794, 2_000));
        assert_eq!([whole.at(0, 0), whole.at(0, 1_989), whole.at(0, 1_999)], [GREEN, GREEN, BLUE]);
        let short = picture(&pool, asking(r#"{"fullPage":false}"#, task)).await;
        assert_eq!((short.width, short.height), (794, 1_058));
    }
    let twice = r#"{"fullPage":true,"viewport":{"deviceScaleFactor":2}}"#;
    let error = pool.render(&as_png(asking(twice, static_page(LONG)))).await.unwrap_err().error;
    assert_eq!(error.code, ErrorCode::OptionsInvalid);
    assert!(error.message.contains("fullPage: 794 × 2000 CSS pixels"), "{}", error.message);
    assert!(error.message.contains("browser.picture_limit_pixels"), "{}", error.message);
    pool.finish().await;
}

#[actix::test]
async fn a_selector_shows_its_element_alone() {
    let pool = TestPool::start(|_| {});
    let page = "<title>T</title><style>body{margin:0} .in b{color:#0f0}</style>loose text<p>before</p>\
        <div class=in>beside <section id=s style='width:60px;height:40px;background:#00f'><b>chosen</b></section>\
        <i>after</i></div><p style='height:3000px'>end</p><u id=u></u>";
    for task in [scripted(page), static_page(page), put_page(page)] {
        let seen = picture(&pool, asking(r##"{"selector":"#s"}"##, task.clone())).await;
        assert_eq!((seen.width, seen.height), (60, 40));
        assert_eq!([seen.at(59, 0), seen.at(59, 39)], [BLUE, BLUE]);
        let pdf = pool.render(&asking(r##"{"selector":"#s"}"##, task.clone())).await.unwrap().bytes;
        assert_eq!(text_of(&pdf), "chosen");
        assert_eq!((info_of(&pdf, "Pages"), info_of(&pdf, "Title")), ("1".to_owned(), "T".to_owned()));
    }
    for (selector, sentence, picture_only) in [
        ("#gone", "nothing matches the selector '#gone' (selector)", false),
        ("a[", "selector: Failed to execute 'querySelector'", false),
        ("#u", "the element that the selector '#u' matches has no area (selector)", true),
    ] {
        for task in [as_png(static_page(page)), put_page(page), scripted(page)] {
            if picture_only && task.output == PageOutput::Pdf {
                continue;
            }
            let task = asking(&format!(r#"{{"selector":"{selector}"}}"#), task);
            let error = pool.render(&task).await.unwrap_err().error;
            assert_eq!(error.code, ErrorCode::OptionsInvalid);
            assert!(error.message.starts_with(sentence), "{}", error.message);
        }
    }
    pool.finish().await;
}

#[actix::test]
async fn a_background_can_be_left_out() {
    let pool = TestPool::start(|_| {});
    let page = "<body style='margin:0'><div style='width:10px;height:10px;background:#0f0'></div>";
    for task in [scripted(page), static_page(page), put_page(page)] {
        let clear = picture(&pool, asking(r#"{"omitBackground":true}"#, task.clone())).await;
        assert_eq!([clear.at(5, 5), clear.at(50, 50)], [GREEN, [0, 0, 0, 0]]);
        assert_eq!(picture(&pool, task).await.at(50, 50), WHITE);
    }
    pool.finish().await;
}

#[actix::test]
async fn a_jpeg_has_its_quality() {
    let pool = TestPool::start(|_| {});
    let page = "<body style='background:repeating-conic-gradient(#f80 0 7deg,#048 0 13deg)'>";
    let mut sizes = Vec::new();
    for opts in [r#"{"quality":10}"#, "{}", r#"{"quality":85}"#, r#"{"quality":100}"#] {
        let task = PageTask { output: PageOutput::Jpg, ..asking(opts, static_page(page)) };
        sizes.push(pool.render(&task).await.unwrap().bytes.len());
    }
    assert!(sizes[0] * 2 < sizes[1] && sizes[1] == sizes[2] && sizes[2] * 5 < sizes[3] * 4, "{sizes:?}");
    pool.finish().await;
}

#[actix::test]
async fn a_medium_is_print_unless_it_is_the_screen() {
    let pool = TestPool::start(|_| {});
    let page = "<style>body{margin:0;background:#0f0} @media print{body{background:#00f} i{display:none}} \
        @media screen{b{display:none}}</style><i>screen</i><b>print</b>";
    for task in [scripted(page), static_page(page), put_page(page)] {
        let screen = asking(r#"{"mediaType":"screen"}"#, task.clone());
        assert_eq!(text_of(&pool.render(&task).await.unwrap().bytes), "print");
        assert_eq!(text_of(&pool.render(&screen).await.unwrap().bytes), "screen");
        assert_eq!(picture(&pool, task).await.at(700, 700), BLUE);
        assert_eq!(picture(&pool, screen).await.at(700, 700), GREEN);
    }
    pool.finish().await;
}

#[actix::test]
async fn zone_and_locale_are_those_of_the_scripts_of_one_page() {
    let pool = TestPool::start(|_| {});
    let page = "<p id=p></p><script>p.textContent = [new Date(0).getHours(), \
        Intl.DateTimeFormat().resolvedOptions().timeZone, (1234.5).toLocaleString(), navigator.language, \
        new Date(0).toLocaleDateString(undefined, {month: 'long'})].join(' ')</script>";
    let tokyo = asking(r#"{"timezone":"asia/tokyo","locale":"de-DE"}"#, scripted(page));
    let york = asking(r#"{"timezone":"America/New_York","locale":"fr"}"#, scripted(page));
    // Both at once, and a plain one beside and after them.
    let (tokyo, york) = tokio::join!(pool.render(&tokyo), pool.render(&york));
    assert_eq!(text_of(&tokyo.unwrap().bytes), "9 Asia/Tokyo 1.234,5 de-DE Januar");
    assert_eq!(text_of(&york.unwrap().bytes), "19 America/New_York 1 234,5 fr décembre");
    let plain = text_of(&pool.render(&scripted(page)).await.unwrap().bytes);
    assert!(plain.contains("1,234.5 en-US") && !plain.contains("Tokyo"), "{plain}");
    // Well-formed, and unknown: the browser falls back, or refuses.
    let unknown = asking(r#"{"locale":"qq-QQ"}"#, scripted(page));
    assert!(text_of(&pool.render(&unknown).await.unwrap().bytes).contains("1,234.5"));
    pool.finish().await;
}

#[actix::test]
async fn the_page_may_name_its_own_sheet() {
    let pool = TestPool::start(|_| {});
    let page = "<style>@page{size:50mm 100mm;margin:0}</style>text";
    for (opts, size) in [(r#"{"preferCssPageSize":true}"#, "142.08 x 282.96"), ("{}", "595.92 x 841.92")] {
        let pdf = pool.render(&asking(opts, put_page(page))).await.unwrap().bytes;
        assert!(info_of(&pdf, "Page size").starts_with(size), "{}", info_of(&pdf, "Page size"));
    }
    pool.finish().await;
}

#[actix::test]
async fn an_expression_is_waited_for() {
    let pool = TestPool::start(|_| {});
    let page = "<p id=p>early</p><script>const held = {}; window.app = {done: null}; setTimeout(() => { \
        p.textContent = 'late'; window.app.done = document.body }, 300)</script>";
    let opts = |expression: &str| serde_json::json!({ "waitForExpression": expression }).to_string();
    for expression in [
        "window.app.done",
        "held && new Promise(done => setTimeout(() => done(app.done), 10)) // a promise",
        "await app.done",
    ] {
        let task = asking(&opts(expression), scripted(page));
        assert_eq!(text_of(&pool.render(&task).await.unwrap().bytes), "late", "{expression}");
    }
    let own = asking(&opts("document.querySelector('p').textContent = 'ours'"), static_page("<p>theirs</p>"));
    assert_eq!(text_of(&pool.render(&own).await.unwrap().bytes), "ours");
    for (expression, part) in [
        ("missing.value", "waitForExpression: ReferenceError: missing is not"),
        ("if (", "waitForExpression: SyntaxError"),
        ("Promise.reject(new Error('no'))", "waitForExpression: Error: no"),
    ] {
        let error = pool.render(&asking(&opts(expression), scripted(page))).await.unwrap_err().error;
        assert_eq!(error.code, ErrorCode::OptionsInvalid, "{expression}: {}", error.message);
        assert!(error.message.contains(part), "{expression}: {}", error.message);
    }
    let brief = pool.limited(|config| config.readiness_timeout_ms = 800);
    for (expression, part) in [
        ("0", "800 ms (browser.readiness_timeout_ms); pending: waitForExpression"),
        ("new Promise(() => {})", "pending: waitForExpression"),
        ("(() => { for (;;); })()", "keeps the page busy"),
    ] {
        let error = brief.late(&asking(&opts(expression), scripted(page)), part).await;
        assert_eq!(error.code, ErrorCode::ReadinessTimeout, "{expression}: {}", error.message);
        assert!(error.message.contains(part), "{expression}: {}", error.message);
    }
    pool.finish().await;
}

#[actix::test]
async fn animations_of_a_page_without_script_are_at_their_ends_as_of_one_with() {
    let pool = TestPool::start(|_| {});
    let page = "<style>@keyframes a{from{visibility:hidden}to{visibility:visible}} b{visibility:hidden}\
        .in{animation:a .2s steps(1,end) forwards}.paused{animation:a 1s steps(1,end) paused forwards}\
        .late{animation:a .2s 60s forwards}.ever{animation:a 9s steps(1,end) infinite}</style>\
        <b class=in>ended</b> <b class=paused>paused</b> <b class=late>late</b> <b class=ever>ever</b>";
    for task in [static_page(page), put_page(page), scripted(page)] {
        assert_eq!(text_of(&pool.render(&task).await.unwrap().bytes), "ended");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_page_with_script_has_its_viewport_whatever_is_painted() {
    let pool = TestPool::start(|_| {});
    let page = "<p id=p></p><script>const told = () => [innerWidth, innerHeight, outerWidth, outerHeight, \
        document.documentElement.clientWidth, matchMedia('(width: ' + innerWidth + 'px)').matches].join(); \
        new IntersectionObserver(seen => p.textContent = told() + ',' + seen[0].isIntersecting).observe(p)</script>";
    for (opts, expected) in [
        ("{}", "793,1122,793,1122,793,true,true"),
        (r#"{"viewport":{"width":600,"height":400}}"#, "600,400,600,400,600,true,true"),
    ] {
        assert_eq!(text_of(&pool.render(&asking(opts, scripted(page))).await.unwrap().bytes), expected);
    }
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_is_ready_gets_its_wait_timeout() {
    let pool = TestPool::start(|config| {
        config.wait_limit_ms = 1_000;
        config.timer_limit_ms = 300;
    });
    // Idle detection does not wait for so long a timer.
    let page = "<p id=p></p><script>setTimeout(() => p.textContent = 'shown', 400)</script>";
    for (opts, least_ms, text) in [("{}", 0, ""), (r#"{"waitForTimeout":600}"#, 600, "shown")] {
        let started = Instant::now();
        let pdf = pool.render(&asking(opts, scripted(page))).await.unwrap().bytes;
        assert!(started.elapsed() >= Duration::from_millis(least_ms));
        assert_eq!(text_of(&pdf), text);
    }
    // Admitted under another configuration: the present one counts.
    let started = Instant::now();
    pool.render(&asking(r#"{"waitForTimeout":600000}"#, static_page("<p>shown</p>"))).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(10));
    pool.finish().await;
}
