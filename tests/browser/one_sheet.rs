//! `height: "auto"`: one sheet that ends with the content, whatever the page's heights and breaks say.

use platen::browser::PageTask;

use crate::support::{TestPool, asking, scripted, sheets_of, static_page, text_of, with_files, words_of};

/// Most empty paper below the last word, in points: 30 mm.
const EMPTY_LIMIT: f64 = 85.0;

struct Sheet {
    text: String,
    /// In points, from the last word's top to the sheet's end.
    below_last: f64,
    warnings: Vec<String>,
}

async fn one_sheet(pool: &TestPool, task: PageTask) -> Sheet {
    let rendered = pool.render(&asking(r#"{"height":"auto"}"#, task)).await.unwrap();
    let sheets = sheets_of(&rendered.bytes);
    let [(_, height)] = sheets[..] else { panic!("{sheets:?}: {}", text_of(&rendered.bytes)) };
    let last = words_of(&rendered.bytes).iter().map(|word| word.top).fold(0.0, f64::max);
    let height = f64::from(u32::try_from(height).unwrap());
    Sheet { text: text_of(&rendered.bytes), below_last: height - last, warnings: rendered.warnings }
}

#[actix::test]
async fn heights_that_depend_on_the_sheet_make_no_second_one() {
    let pool = TestPool::start(|_| {});
    for page in [
        "<body style='margin:0'><div style='min-height:100vh'>A</div><p>END",
        "<body style='min-height:100vh'><p>A<p>END",
        "<style>html,body{height:100%;margin:0}div{min-height:100%}</style><div>A</div><p>END",
        "<style>html,body{height:100%}div{height:100%}</style><div><p>A<p>B</div><p>END",
        "<style>@media print{div{height:calc(100dvh - 80px) !important}}</style><header>A</header><div>B</div><p>END",
        "<style>@layer x{main{display:flex;flex-direction:column;block-size:100svh}}</style><main>A<b>B</b></main><p>END",
        "<style>@supports (height:1vh){.a{& b{display:block;min-height:100lvb}}}</style><p class=a><b>A</b><p>END",
        "<p style='padding-top:90vh;margin-bottom:10vmax'>A<p>END",
        "<img name=createElement><form style='min-height:100vh'><input name=style hidden>A</form><p>END",
    ] {
        for task in [static_page(page), scripted(page)] {
            let sheet = one_sheet(&pool, task).await;
            assert!(sheet.text.ends_with("END"), "{page}: {}", sheet.text);
            assert!(sheet.below_last < EMPTY_LIMIT, "{page}: {}", sheet.below_last);
            assert_eq!(sheet.warnings, [""; 0], "{page}");
        }
    }
    // A height by a variable is that of the window.
    let page = "<style>:root{--h:100vh}div{height:var(--h)}</style><div>A</div><p>END";
    assert_eq!(one_sheet(&pool, static_page(page)).await.text, "A END");
    pool.finish().await;
}

#[actix::test]
async fn forced_breaks_do_not_break_one_sheet_and_are_warned_of() {
    let pool = TestPool::start(|_| {});
    let styled = "<link rel=stylesheet href=a.css><h1>A</h1><p>x<h1>B</h1><p class=x>y<p>END";
    let sheet = "h1{break-before:page !important}.x{page-break-after:always}";
    for task in [
        with_files(styled, &[("a.css", sheet)]),
        static_page("<p style='break-after:page'>A<p>END"),
        static_page(
            "<style>@page a{margin:1cm}div{page:a}</style><p>A<div style='break-before:left'>B</div><p>END",
        ),
        scripted("<p>A<p id=p>END<script>p.style.breakBefore = 'page'</script>"),
    ] {
        let sheet = one_sheet(&pool, task).await;
        assert!(sheet.text.ends_with("END") && sheet.below_last < EMPTY_LIMIT, "{}", sheet.text);
        let [warning] = &sheet.warnings[..] else { panic!("{:?}", sheet.warnings) };
        assert!(
            warning.contains("forces breaks (break-before, break-after), which are left out"),
            "{warning}"
        );
    }
    pool.finish().await;
}

#[actix::test]
async fn margins_that_collapse_and_what_lies_beyond_its_box_are_on_the_sheet() {
    let pool = TestPool::start(|_| {});
    for page in [
        "<body style='margin:0'><div style='margin-top:50px'><p>A</div><div><p style='margin-bottom:20px'>END</div>",
        "<body><div style='position:relative;height:100px'><p style='position:absolute;top:900px'>END</div>",
        "<p>A<script>onload = () => document.body.insertAdjacentHTML('beforeend', '<p>B'.repeat(300) + '<p>END')</script>",
        "<p>A<div id=d></div><script>new ResizeObserver(() => d.innerHTML = innerWidth < 800 ? '<p>B'.repeat(40) + '<p>END' : \
            '').observe(document.body)</script>",
    ] {
        let sheet = one_sheet(&pool, scripted(page)).await;
        assert!(sheet.text.ends_with("END") && sheet.below_last < EMPTY_LIMIT, "{page}: {}", sheet.text);
    }
    pool.finish().await;
}
