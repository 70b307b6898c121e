//! Elements named like members of the document hide those members (DOM clobbering): our scripts must not use the hidden
//! ones, and the page must look as without such elements.

use platen::browser::PageTask;
use serde_json::json;

use crate::support::{
    Rendered, TestPool, asking, info_of, put_page, scripted, sheets_of, static_page, text_of,
};

/// Members of the document that our scripts use.
const NAMES: [&str; 14] = [
    "images",
    "styleSheets",
    "adoptedStyleSheets",
    "implementation",
    "fonts",
    "readyState",
    "querySelector",
    "querySelectorAll",
    "createTreeWalker",
    "getAnimations",
    "body",
    "head",
    "documentElement",
    "title",
];
/// A page about which each of our scripts has something to report.
const PAGE: &str = "<!doctype html><style>@page{size:A5;margin-top:0} p{font-family:'No Such Font'}\
    @keyframes a{from{opacity:0}} p{animation:a 1ms}</style><p id=t>text</p><img src='data:image/png;base64,AAAA'>\
    <img loading=lazy src='data:image/png;base64,BBBB'><div style='width:1000px'>wide</div>";

/// The page with an element of each of `names`.
fn named(names: &[&str]) -> String {
    let dot = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=";
    names.iter().fold(PAGE.to_owned(), |page, name| format!("{page}<img hidden name={name} src={dot}>"))
}

/// The warnings of a page, its text, its sheets, its title.
async fn outcome(pool: &TestPool, task: PageTask) -> (Vec<String>, String, Vec<(i64, i64)>, String) {
    let opts = json!({
        "waitForSelector": "#t",
        "headerTemplate": "<b class=url></b>head<img name=querySelectorAll src=logo.png>",
        "metadata": { "title": "Named" },
    });
    let Rendered { bytes, mut warnings, .. } = pool.render(&asking(&opts.to_string(), task)).await.unwrap();
    warnings.sort();
    (warnings, text_of(&bytes), sheets_of(&bytes), info_of(&bytes, "Title"))
}

#[actix::test]
async fn elements_named_like_members_of_the_document_change_nothing() {
    let pool = TestPool::start(|_| {});
    for lane in [static_page, put_page, scripted] {
        let wanted = outcome(&pool, lane(PAGE)).await;
        let expected = |word: &str| wanted.0.iter().any(|line| line.contains(word));
        for word in ["'No Such Font'", "base64,AAAA", "base64,BBBB", "px wide", "logo.png", "@page size"] {
            assert!(expected(word), "{word}: {:#?}", wanted.0);
        }
        assert_eq!(wanted.3, "Named");
        assert_eq!(outcome(&pool, lane(&named(&NAMES))).await, wanted);
    }
    // One at a time, for the failure of one may hide that of another.
    for name in NAMES {
        let task = static_page(&named(&[name]));
        assert!(pool.render(&task).await.is_ok_and(|it| text_of(&it.bytes).contains("text")), "{name}");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_clip_of_a_form_whose_fields_are_named_like_its_members_is_printed_alone() {
    let pool = TestPool::start(|_| {});
    let fields = ["parentNode", "childNodes", "nodeType", "style"].map(|name| format!("<input name={name}>"));
    let form = |text: &str| format!("<form>{}{text}</form>", fields.concat());
    let page = format!("{}{}", form("beside"), form("<p>beside</p><p id=t>alone</p>"));
    for task in [static_page(&page), put_page(&page), scripted(&page)] {
        let rendered = pool.render(&asking(r##"{"selector":"#t"}"##, task)).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), "alone");
    }
    pool.finish().await;
}
