//! Failed requests of a page are warned of, in every lane, and those that succeed are not.

use platen::browser::{PageOutput, PageTask};
use platen::domain::error::ErrorCode;
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;

use crate::support::{TestPool, asking, picture_of, put_page, scripted, static_page, text_of, with_bytes};

const BROKEN: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR";
const WHOLE: &[u8] = include_bytes!("dot.png");
const DRAWING: &[u8] = b"<svg xmlns='http://www.w3.org/2000/svg'><filter id='f'/><mask id='m'/><rect width='9' height='9'/></svg>";

const LOCAL: &str = "(a page reaches no file of the machine: put it beside the page and name its path there)";
const UNDECODABLE: &str = "(it is damaged, or no picture)";

/// The page in each lane.
fn lanes(task: &PageTask) -> [PageTask; 2] {
    [Lane::Static, Lane::Scripted].map(|lane| PageTask { lane, ..task.clone() })
}

async fn warnings(pool: &TestPool, task: &PageTask) -> Vec<String> {
    let mut warnings = pool.render(task).await.unwrap().warnings;
    warnings.sort();
    warnings
}

#[actix::test]
async fn files_of_the_machine_are_refused_with_a_warning() {
    let pool = TestPool::start(|_| {});
    let page = "<p style='background:url(file:///etc/back.png)'>text<img src=file:///etc/x.png>";
    let expected = |path: &str| format!("refused address: file://{path} {LOCAL}");
    for task in lanes(&static_page(page)) {
        assert_eq!(
            warnings(&pool, &task).await,
            [expected("/etc/back.png"), expected("/etc/x.png")],
            "{:?}",
            task.lane
        );
    }
    let page =
        "<iframe src=file:///etc/passwd></iframe><script>fetch('file:///etc/hosts').catch(() => 0)</script>";
    assert_eq!(warnings(&pool, &scripted(page)).await, [expected("/etc/hosts"), expected("/etc/passwd")]);
    pool.finish().await;
}

#[actix::test]
async fn requests_that_chromium_refuses_are_warned_of_with_the_reason() {
    let pool = TestPool::start(|_| {});
    let page = "<img src=ftp://h.test/a.png><img src=http://127.0.0.1:22/b.png>";
    for task in lanes(&static_page(page)) {
        let expected = [
            "not loaded: ftp://h.test/a.png (net::ERR_UNKNOWN_URL_SCHEME)",
            "not loaded: http://127.0.0.1:22/b.png (net::ERR_UNSAFE_PORT)",
        ];
        assert_eq!(warnings(&pool, &task).await, expected, "{:?}", task.lane);
    }
    let wrong = "<svg width=auto><path d='M x'/></svg><meta name=viewport content='width=x,y=z'>\
        <meta http-equiv=Content-Security-Policy content=\"frame-ancestors 'none'; no-such x\">";
    assert_eq!(
        warnings(&pool, &scripted(wrong)).await,
        [""; 0],
        "what is written wrongly is no file too few"
    );
    let policy = "<meta http-equiv=Content-Security-Policy content=\"img-src 'none'\"><img src=/a.png>";
    let expected = warnings(&pool, &scripted(policy)).await;
    assert!(
        expected.len() == 1 && expected[0].starts_with("not loaded: Loading the image '/a.png' violates"),
        "{expected:?}"
    );
    pool.finish().await;
}

#[actix::test]
async fn pictures_that_cannot_be_decoded_are_warned_of_wherever_they_are() {
    let pool = TestPool::start(|_| {});
    let page = "<style>b{background:url(back.png)} i{list-style:url(good.png);mask-image:url(good.png)} \
        u{filter:url(good.svg#f);mask:url(good.svg#m)} p{background:url(good.png)}</style>\
        <p>a<b>b</b><i>c</i><u>d</u><img src=broken.png><img src=good.png><img src=good.svg><img src=page.txt>\
        <img src=gone.png><img src='data:image/png;base64,AAAA'><svg><image href=in.png /><image href=good.png /></svg>\
        <img alt='' src=''><input type=image src=good.png>";
    let files: Vec<(&str, &[u8])> = vec![
        ("back.png", BROKEN),
        ("broken.png", BROKEN),
        ("in.png", BROKEN),
        ("good.png", WHOLE),
        ("good.svg", DRAWING),
        ("page.txt", b"text"),
    ];
    let task = with_bytes(page, &files);
    for task in lanes(&task) {
        let mut expected = ["/back.png", "/broken.png", "/in.png", "/page.txt", "data:image/png;base64,AAAA"]
            .map(|path| format!("picture cannot be decoded: {path} {UNDECODABLE}"))
            .to_vec();
        expected.insert(0, "asset not found: /gone.png".to_owned());
        assert_eq!(warnings(&pool, &task).await, expected, "{:?}", task.lane);
    }
    let framed =
        with_bytes("<p>a<iframe src=f.html>", &[("f.html", b"<img src=in.png>"), ("in.png", BROKEN)]);
    let expected = format!("picture cannot be decoded: /in.png {UNDECODABLE}");
    assert_eq!(warnings(&pool, &framed).await, [expected]);
    let put = put_page("<p>a<img src='data:image/png;base64,AAAA'>");
    let expected = format!("picture cannot be decoded: data:image/png;base64,AAAA {UNDECODABLE}");
    assert_eq!(warnings(&pool, &put).await, [expected]);
    pool.finish().await;
}

#[actix::test]
async fn pictures_of_header_and_footer_that_are_not_loaded_are_warned_of() {
    let pool = TestPool::start(|_| {});
    let header = r#"{"headerTemplate":"<img src=logo.png><img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>",
        "footerTemplate":"<b style='background:url(back.png)'>src, url(text)</b><svg><image href=#a xlink:href=in.png /></svg>"}"#;
    for task in [scripted("<p>body"), static_page("<p>body"), put_page("<p>body")] {
        let expected = |path: &str, option: &str| {
            format!(
                "not loaded: {path} ({option} shows only pictures and fonts, from its template's files or as data: \
                 addresses; write styles into it)"
            )
        };
        let wanted = [
            expected("back.png", "footerTemplate"),
            expected("in.png", "footerTemplate"),
            expected("logo.png", "headerTemplate"),
        ];
        assert_eq!(warnings(&pool, &asking(header, task)).await, wanted);
    }
    let plain = asking(r#"{"headerTemplate":"<b style='color:red'>src of url( </b>"}"#, put_page("<p>body"));
    assert_eq!(warnings(&pool, &plain).await, [""; 0]);
    pool.finish().await;
}

#[actix::test]
async fn a_frame_whose_file_is_missing_shows_nothing() {
    let pool = TestPool::start(|_| {});
    let empty =
        "<body style='margin:0;background:#0f0'><iframe style='border:0;width:300px;height:200px' src=";
    let page =
        format!("{empty}gone.html></iframe><object data=gone.svg>instead</object><embed src=gone.txt>");
    let task = PageTask { output: PageOutput::Png, ..scripted(&page) };
    let rendered = pool.render(&task).await.unwrap();
    let picture = picture_of(&rendered.bytes);
    for (x, y) in (0..300).step_by(3).flat_map(|x| (0..200).step_by(3).map(move |y| (x, y))) {
        assert_eq!(picture.at(x, y), [0, 255, 0, 255], "at {x}, {y}");
    }
    let rendered = pool.render(&scripted(&page)).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "instead");
    let expected = ["/gone.html", "/gone.svg", "/gone.txt"].map(|path| format!("asset not found: {path}"));
    assert_eq!(
        {
            let mut warnings = rendered.warnings;
            warnings.sort();
            warnings
        },
        expected
    );
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_goes_to_a_file_that_is_not_there_fails() {
    let pool = TestPool::start(|_| {});
    for going in [
        "<script>location.href='/gone.html'</script>",
        "<p>here<script>setTimeout(() => location.href='/gone.html', 30)</script>",
        "<meta http-equiv=refresh content='0;/gone.html'>",
    ] {
        let failed = pool.render(&scripted(going)).await.unwrap_err();
        assert_eq!(failed.error.code, ErrorCode::PageFailed, "{going}");
        let expected = "the page went to /gone.html, which was answered with 404: there is nothing to print";
        assert_eq!(failed.error.message, expected);
    }
    pool.finish().await;
}

#[actix::test]
async fn failed_requests_are_recorded_up_to_a_limit() {
    let pool = TestPool::start(|_| {});
    let pictures: Vec<_> = (0..700).map(|at| format!("<img src=file:///{at}>")).collect();
    let pictures = pictures.concat();
    for task in lanes(&static_page(&format!("<p>text{pictures}"))) {
        let rendered = pool.render(&task).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), "text");
        assert_eq!(rendered.warnings.len(), 51);
        // 500 are counted, with a note that there were more; fifty are kept as warnings.
        assert_eq!(rendered.warnings[50], "and 451 more");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_page_of_endless_failures_does_not_mute_the_next_one_of_its_account() {
    let pool = TestPool::start(|_| {});
    let account = AccountId::generate();
    let pictures: Vec<_> = (0..600).map(|at| format!("<img src=gone/{at}.png>")).collect();
    let many = static_page(&format!("<p>text{}", pictures.concat()));
    for task in [static_page("<p>text"), many] {
        pool.render_for(account, &task).await.unwrap();
        let one = pool.render_for(account, &static_page("<img src=file:///x.png>")).await.unwrap();
        assert_eq!(one.warnings, [format!("refused address: file:///x.png {LOCAL}")]);
    }
    assert!(pool.reused() > 0, "its tabs are reused otherwise");
    pool.finish().await;
}
