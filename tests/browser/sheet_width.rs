//! While its scripts run a page is as large as its content on the sheet, so that what they measure holds on paper.

use platen::browser::{PageOutput, PageTask};
use platen::domain::format_opts::CssPage;
use platen::domain::paper::CssSize;

use crate::support::{TestPool, asking, scripted, text_of, with_files, words_of};

/// Says what a script measures first, as a chart does.
const MEASURES: &str = "<!doctype html><body style='margin:0'><p id=p>text</p><script>p.textContent = [document.body.clientWidth, \
    matchMedia('print').matches, matchMedia('(max-width: 600px)').matches].join()</script>";
/// As wide as its box by script, and beside it a word of a known width.
const CANVAS: &str = "<!doctype html><body style='margin:0'><p>text</p><canvas id=c height=50></canvas>\
    <script>c.width = c.parentNode.clientWidth; c.getContext('2d').fillRect(0, 0, c.width, 50)</script>";

#[actix::test]
async fn a_page_is_as_wide_as_its_sheet_less_its_margins() {
    let pool = TestPool::start(|_| {});
    for (opts, measured) in [
        ("{}", "793,true,false"),
        (r#"{"margin":"20mm"}"#, "642,true,false"),
        (r#"{"format":"a5"}"#, "559,true,true"),
        (r#"{"landscape":true,"margin":"1in"}"#, "930,true,false"),
        (r#"{"width":"80mm","height":"auto"}"#, "302,true,true"),
        (r#"{"scale":0.5}"#, "1587,true,false"),
        (r#"{"width":"1200px","height":"900px"}"#, "1200,true,false"),
        (r#"{"margin":"20mm","viewport":{"width":500}}"#, "500,true,true"),
        (r#"{"margin":"20mm","mediaType":"screen"}"#, "642,false,false"),
    ] {
        let rendered = pool.render(&asking(opts, scripted(MEASURES))).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), measured, "{opts}");
    }
    let own = CssPage { size: CssSize::of("a5"), margin: [Some(1.0); 4] };
    let task = PageTask {
        css_page: own,
        ..scripted(&format!("<style>@page{{size:a5;margin:1in}}</style>{MEASURES}"))
    };
    assert_eq!(text_of(&pool.render(&task).await.unwrap().bytes), "367,true,true");
    // Documents and pictures have their window, as ever.
    let html = pool.render(&PageTask { output: PageOutput::Html, ..scripted(MEASURES) }).await.unwrap().bytes;
    assert!(String::from_utf8(html).unwrap().contains("794,false,false"));
    pool.finish().await;
}

#[actix::test]
async fn nothing_is_shrunk_for_what_a_script_made_as_wide_as_its_box() {
    let pool = TestPool::start(|_| {});
    let in_frame = "<!doctype html><body style='margin:0'><p>text</p><iframe style='border:0;width:100%' src=f.html></iframe>";
    let module = "<!doctype html><body style='margin:0'><p>text</p><div id=d></div><script type=module src=m.js></script>";
    let drawn = "const s = document.body.clientWidth; document.getElementById('d').innerHTML = \
        `<svg width=${s} height=50><rect width=${s} height=50></svg>`";
    for opts in [
        "{}",
        r#"{"margin":"20mm"}"#,
        r#"{"format":"a5","landscape":true}"#,
        r#"{"width":"80mm","height":"200mm"}"#,
    ] {
        for task in [
            scripted(CANVAS),
            with_files(in_frame, &[("f.html", CANVAS)]),
            with_files(module, &[("m.js", drawn)]),
            scripted(&CANVAS.replace("c.width =", "new ResizeObserver(() => 0).observe(c); c.width =")),
        ] {
            let rendered = pool.render(&asking(opts, task)).await.unwrap();
            let words = words_of(&rendered.bytes);
            let word = words.iter().find(|word| word.text == "text").unwrap();
            // 16 px of the default font: 17.99 points.
            assert!(word.right - word.left > 17.9, "{opts}: {word:?}");
            assert_eq!(rendered.warnings, [""; 0], "{opts}");
        }
    }
    pool.finish().await;
}
