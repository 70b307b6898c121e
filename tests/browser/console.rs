//! Console and exceptions of a page become its warnings, within limits.

use platen::domain::error::{ErrorCode, WARNING_LIMIT_CHARS};

use crate::support::{TestPool, scripted, text_of, with_files};

#[actix::test]
async fn console_errors_and_warnings_read_as_in_the_browsers_own_console() {
    let pool = TestPool::start(|_| {});
    let script = "console.log('a log'); console.info('info'); console.debug('debug');\n\
        console.error('%s has %d items', 'cart', 3, {a: 1, b: [1, 2]});\n\
        console.error(new TypeError('no total')); console.error([1, 'x', null]);\n\
        console.warn('old', undefined, new Map([['k', 1]]), document.body, location.href);\n\
        console.assert(1 > 2, 'sums'); console.error('same'); console.error('same');\n\
        console.error('a %s b %d%% %c%q', 'x', 3, 'color:red'); console.error('%s %s', 'one');\n\
        console.error('two\\n  lines'); console.error({a: 1, b: 'x', c: 3, d: 4, e: 5, f: 6}, [1, {}]);\n\
        console.error(12n); console.error(null); console.error('ä'.repeat(5000));\n\
        Promise.reject('stop'); throw new Error(`no ${location.href}customer`)";
    let task = with_files("<p>text<script src=app.js></script>", &[("app.js", script)]);
    let rendered = pool.render(&task).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "text");
    let expected = [
        "console.error: cart has 3 items {a: 1, b: Array(2)} (app.js:2)",
        "console.error: TypeError: no total (app.js:3)",
        "console.error: [1, 'x', null] (app.js:3)",
        "console.warn: old undefined Map(1) {k => 1} body / (app.js:4)",
        "console.assert: sums (app.js:5)",
        "console.error: same (app.js:5)",
        "console.error: a x b 3% %q (app.js:6)",
        "console.error: one %s (app.js:6)",
        "console.error: two lines (app.js:7)",
        "console.error: {a: 1, b: 'x', c: 3, d: 4, e: 5, …} [1, Object] (app.js:7)",
        "console.error: 12n (app.js:8)",
        "console.error: null (app.js:8)",
    ];
    let (said, [long, error, rejected]) = rendered.warnings.split_last_chunk().unwrap();
    assert_eq!(said, expected);
    assert!(long.ends_with("ä… (app.js:8)") && long.chars().count() <= WARNING_LIMIT_CHARS, "{long}");
    assert_eq!(error, "uncaught exception: Error: no /customer (app.js:9)");
    assert!(rejected.starts_with("uncaught exception: \"stop\""), "{rejected}");
    pool.finish().await;
}

#[actix::test]
async fn a_flood_on_the_console_is_bounded_with_a_warning() {
    let pool = TestPool::start(|_| {});
    let script = "for (let i = 0; i < 501; i++) console.warn('same'); console.error('late')";
    let rendered = pool.render(&scripted(&format!("<p>text<script>{script}</script>"))).await.unwrap();
    let expected = "the page's scripts said more than 500 things by exceptions, console.error, console.assert or console.warn; \
        what came later was not heard";
    assert_eq!(text_of(&rendered.bytes), "text");
    assert_eq!(rendered.warnings, ["console.warn: same (/:1)", expected]);
    let page = "<p>text<script>console.error('x'.repeat(3e6)); for (let i = 0; i < 90; i++) console.error(i)</script>";
    let warnings = pool.render(&scripted(page)).await.unwrap().warnings;
    assert!(warnings[0].starts_with("console.error: a text of about 3000"), "{}", warnings[0]);
    assert_eq!((warnings.len(), warnings[50].as_str()), (51, "and 41 more"));
    pool.finish().await;
}

#[actix::test]
async fn other_console_lines_have_a_larger_limit() {
    let pool = TestPool::start(|_| {});
    let chatter = |lines: u32| {
        format!(
            "<p>text<script>for (let i = 0; i < {lines}; i++) console.log(i); console.error('late')</script>"
        )
    };
    let heard = pool.render(&scripted(&chatter(9_000))).await.unwrap();
    assert_eq!(heard.warnings, ["console.error: late (/:1)"]);
    let talks = pool.render(&scripted(&chatter(10_001))).await.unwrap();
    let expected = "the page's scripts said more than 10000 things on the console that are neither errors nor warnings; \
        what came later was not heard";
    assert_eq!(talks.warnings, [expected]);
    pool.finish().await;
}

#[actix::test]
async fn console_output_fails_a_page_only_where_asked() {
    let pool = TestPool::start(|_| {});
    let page = "<p>text<script>console.error(1)</script><script>throw new Error('stop')</script>";
    let rendered = pool.render(&scripted(page)).await.unwrap();
    assert_eq!(rendered.warnings, ["console.error: 1 (/:1)", "uncaught exception: Error: stop (/:1)"]);
    let failed = pool.render(&scripted("<script>location.href='http://h.test/'</script>")).await.unwrap_err();
    assert_eq!(failed.error.code, ErrorCode::PageFailed);
    pool.finish().await;
}
