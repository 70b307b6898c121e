//! Lazy pictures and frames are loaded, for a print shows all of the page.

use platen::browser::{PageOutput, PageTask};

use crate::support::{TestPool, asking, picture_of, text_of, with_bytes};

const RED: [u8; 4] = [255, 0, 0, 255];
const SQUARE: &[u8] =
    b"<svg xmlns='http://www.w3.org/2000/svg' width='50' height='50'><rect width='50' height='50' fill='#f00'/></svg>";
const FILES: [(&str, &[u8]); 3] = [
    ("square.svg", SQUARE),
    (
        "frame.html",
        b"<p>framed<div style='height:9000px'></div><iframe loading=lazy src=inner.html></iframe>",
    ),
    ("inner.html", b"<p>inner"),
];

fn page(lazy: &str) -> PageTask {
    with_bytes(&format!("<body style='margin:0'><p>top</p><div style='height:9000px'></div>{lazy}"), &FILES)
}

#[actix::test]
async fn frames_and_pictures_below_the_fold_are_printed() {
    let pool = TestPool::start(|_| {});
    let frame = "<iframe loading=lazy src=frame.html height=10000></iframe>";
    let late = "<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', FRAME), 40)</script>";
    for lazy in [frame.to_owned(), late.replace("FRAME", &format!("\"{frame}\""))] {
        let rendered = pool.render(&page(&lazy)).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), "top framed inner", "{lazy}");
        assert_eq!(rendered.warnings, [""; 0], "{lazy}");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_whole_page_as_a_picture_has_its_lazy_pictures_and_frames() {
    let pool = TestPool::start(|_| {});
    let frame = "<iframe loading=LAZY style='border:0' width=50 height=50 src=square.svg></iframe>";
    for lazy in ["<img loading=lazy src=square.svg>", frame] {
        let task = PageTask { output: PageOutput::Png, ..page(lazy) };
        let picture = picture_of(&pool.render(&asking(r#"{"fullPage":true}"#, task)).await.unwrap().bytes);
        assert_eq!(picture.count(RED), 2_500, "{lazy}");
    }
    pool.finish().await;
}

#[actix::test]
async fn target_html_has_lazy_pictures_and_frames_too() {
    let pool = TestPool::start(|_| {});
    let style = "<style>[loading=lazy]{color:green}</style>";
    let lazy =
        format!("{style}<img loading=lazy src=square.svg><iframe loading=lazy src=inner.html></iframe>");
    let html = pool.render(&PageTask { output: PageOutput::Html, ..page(&lazy) }).await.unwrap().bytes;
    let html = String::from_utf8(html).unwrap();
    assert!(html.contains("&lt;p&gt;inner"), "{html}");
    let asked = r#"{"waitForExpression":"document.querySelectorAll('[loading=lazy]').length === 2"}"#;
    pool.render(&asking(asked, page(&lazy))).await.unwrap();
    pool.finish().await;
}

/// Frames in frames, each of which waits to be scrolled to; the innermost but one has `script`.
fn nested(depth: usize, script: &str) -> PageTask {
    let frame = |level: usize| {
        let inner = format!("<iframe loading=lazy src=level{}.html></iframe>", level + 1);
        let inner = if level < depth { inner } else { String::new() };
        format!("<p>level {level}<script>{script}</script><div style='height:9000px'></div>{inner}")
    };
    let files: Vec<_> = (1..=depth).map(|level| (format!("level{level}.html"), frame(level))).collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    with_bytes(&frame(0), &files)
}

#[actix::test]
async fn lazy_content_beyond_the_last_look_is_warned_of() {
    let pool = TestPool::start(|_| {});
    let rendered = pool.render(&nested(8, "")).await.unwrap();
    let expected = "the page was printed while pictures or frames of it were loading: each of 4 looks found more that \
        waits until somebody scrolls to it (loading=lazy); have less of it in frames within frames";
    assert_eq!(rendered.warnings, [expected]);
    pool.finish().await;
}

#[actix::test]
async fn all_looks_together_take_no_longer_than_the_cap() {
    let pool = TestPool::start(|config| config.rest_cap_ms = 3_000);
    let rendered =
        pool.render(&nested(3, "setTimeout(() => document.body.append('late'), 1500)")).await.unwrap();
    let [warning] = rendered.warnings.as_slice() else { panic!("{:?}", rendered.warnings) };
    assert!(warning.starts_with("the page never came to rest; printed after 3000 ms"), "{warning}");
    pool.finish().await;
}
