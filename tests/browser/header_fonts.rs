//! Fonts and pictures of header and footer: `data:` addresses, files of the template, and what the page itself is shown in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use platen::browser::{Delivery, PageTask};
use platen::domain::lane::Lane;
use serde_json::json;

use crate::font_families::fonts_of;
use crate::support::{TestPool, asking, text_of, with_bytes, words_of};

const MONO: &str = "/usr/share/fonts/truetype/liberation/LiberationMono-Bold.ttf";
const NARROW: &str = "/usr/share/fonts/truetype/liberation/LiberationSansNarrow-Bold.ttf";
const DOT: &[u8] = include_bytes!("dot.png");
const PAGE: &str = "<style>body{font-family:'DejaVu Sans'}p{break-after:page}</style><p>one<p>two";

/// The page with these files beside it, by each way that a page comes into its tab.
fn tasks(page: &str, files: &[(&str, &[u8])]) -> [PageTask; 3] {
    let scripted = with_bytes(page, files);
    let served = PageTask { lane: Lane::Static, ..scripted.clone() };
    let put = PageTask { delivery: Delivery::Put, ..served.clone() };
    [scripted, served, put]
}

fn data_address(path: &str) -> String {
    format!("data:font/ttf;base64,{}", STANDARD.encode(std::fs::read(path).unwrap()))
}

/// Renders each in a browser of its own: a tab may have loaded a font of the page before.
async fn rendered(task: PageTask, opts: &serde_json::Value) -> (Vec<u8>, Vec<String>) {
    let pool = TestPool::start(|_| {});
    let rendered = pool.render(&asking(&opts.to_string(), task)).await.unwrap();
    pool.finish().await;
    (rendered.bytes, rendered.warnings)
}

#[actix::test]
async fn fonts_by_data_address_and_by_file_show_on_every_sheet() {
    let narrow = std::fs::read(NARROW).unwrap();
    let files: [(&str, &[u8]); 1] = [("fonts/own font.ttf", &narrow)];
    let opts = json!({
        "headerTemplate": format!(
            "<style>@font-face{{font-family:Named;src:url({})}} i{{font:normal 9pt Named}}</style><i>header</i>",
            data_address(MONO)
        ),
        "footerTemplate": "<style>@media print{@font-face{font-family:Filed;font-display:block;\
            src:url('fonts/own%20font.ttf?v=1') format('truetype')}}</style><b style='font-family:Filed'>footer</b>\
            <i>styled</i>",
    });
    for task in tasks(PAGE, &files) {
        let (pdf, warnings) = rendered(task, &opts).await;
        assert_eq!(warnings, [""; 0]);
        assert_eq!(fonts_of(&pdf), ["DejaVuSans", "LiberationMono-Bold", "LiberationSansNarrow-Bold"]);
        for word in ["header", "footer", "styled"] {
            let sheets =
                words_of(&pdf).into_iter().filter(|found| found.text == word).map(|found| found.sheet);
            assert_eq!(sheets.collect::<Vec<_>>(), [1, 2], "{word}");
        }
    }
}

#[actix::test]
async fn header_and_footer_begin_in_the_font_of_the_body() {
    let mono = std::fs::read(MONO).unwrap();
    let sheet = b"@font-face{font-family:Sheet;src:url(../fonts/mono.ttf)} body{font-family:Sheet,serif}";
    let files: [(&str, &[u8]); 2] = [("css/main.css", sheet), ("fonts/mono.ttf", &mono)];
    let named = format!(
        "<style>@font-face{{font-family:'A & <b> C';src:url({})}} body{{font-family:'A & <b> C'}}</style>",
        data_address(NARROW)
    );
    let opts = json!({"headerTemplate": "header", "footerTemplate": "footer"});
    for (head, font) in [
        ("", "LiberationSerif"),
        ("<style>body{font-family:'DejaVu Serif',serif}</style>", "DejaVuSerif"),
        ("<style>body{font:bold 30px monospace} p{font-weight:normal}</style>", "LiberationMono"),
        (
            "<style>body{font-family:No-Such-Font,sans-serif} p{font-family:sans-serif}</style>",
            "LiberationSans",
        ),
        (&named, "LiberationSansNarrow-Bold"),
        ("<link rel=stylesheet href=css/main.css>", "LiberationMono-Bold"),
    ] {
        for task in tasks(&format!("{head}<p>text"), &files) {
            // Such a page has no address that its files could be asked of.
            if task.delivery == Delivery::Put && head.contains("href") {
                continue;
            }
            let (pdf, warnings) = rendered(task, &opts).await;
            assert_eq!((fonts_of(&pdf), warnings), (vec![font.to_owned()], Vec::new()), "{head:.60}");
            assert_eq!(text_of(&pdf), "header text footer");
        }
    }
}

#[actix::test]
async fn a_header_names_a_font_of_the_pages_own() {
    let mono = std::fs::read(MONO).unwrap();
    let files: [(&str, &[u8]); 1] = [("mono.ttf", &mono)];
    let page = "<style>@font-face{font-family:Own;src:url(mono.ttf)}body{font-family:'DejaVu Sans'}\
        code{font-family:Own}</style><p>page <code>code</code>";
    let [scripted, served, _] = tasks(page, &files);
    for task in [scripted, served] {
        let opts = json!({"footerTemplate": "<b style='font-family:Own,serif'>footer</b>"});
        let (pdf, warnings) = rendered(task.clone(), &opts).await;
        assert_eq!(
            (fonts_of(&pdf), warnings),
            (vec!["DejaVuSans".to_owned(), "LiberationMono-Bold".to_owned()], vec![])
        );
    }
}

#[actix::test]
async fn what_a_header_cannot_load_is_a_warning_and_its_text_is_shown() {
    let mono = std::fs::read(MONO).unwrap();
    let files: [(&str, &[u8]); 2] = [("mono.ttf", &mono), ("text.ttf", b"no font")];
    let face = |src: &str| {
        format!(
            "<style>@font-face{{font-family:F;font-display:block;src:{src}}} b{{font:normal 9pt F,'Open Sans'}}</style>\
            <b>shown</b>"
        )
    };
    let not_loaded = |address: &str| {
        format!(
            "not loaded: {address} (headerTemplate shows only pictures and fonts, from its template's files or as \
            data: addresses; write styles into it)"
        )
    };
    let no_font = "font not available in headerTemplate and footerTemplate: 'F' (it did not load, or is too \
        large for so many sheets: browser.header_files_limit_bytes)";
    let far = "http://example.test/a";
    for (header, warnings, font) in [
        (face("url(gone.ttf)"), vec![not_loaded("gone.ttf")], "OpenSans"),
        (face(&format!("url({far})")), vec![not_loaded(far)], "OpenSans"),
        (
            face("url(gone.woff2) format('woff2'),url(mono.ttf)"),
            vec![not_loaded("gone.woff2")],
            "LiberationMono-Bold",
        ),
        (face("url(text.ttf)"), vec![no_font.to_owned()], "OpenSans"),
        (face("url(data:font/ttf;base64,AAAA)"), vec![no_font.to_owned()], "OpenSans"),
        (face("local('Liberation Mono')"), vec![], "LiberationMono"),
        (
            format!("<link rel=stylesheet href={far}>{}", face("local('DejaVu Serif')")),
            vec![not_loaded(far)],
            "DejaVuSerif",
        ),
        (
            format!("<link rel=prefetch href={far}>{}", face("local('DejaVu Serif')")),
            vec![not_loaded(far)],
            "DejaVuSerif",
        ),
        (
            format!("<style>@import '{far}';</style>{}", face("local('DejaVu Serif')")),
            vec![not_loaded(far)],
            "DejaVuSerif",
        ),
        (
            format!(
                "<svg width=9 height=9><rect width=9 height=9 fill='url({far}#b)'/></svg>{}",
                face("local('DejaVu Serif')")
            ),
            vec![not_loaded(far)],
            "DejaVuSerif",
        ),
    ] {
        let [scripted, _, put] = tasks("<body style=\"font-family:'DejaVu Sans'\">page", &files);
        for task in [scripted, put] {
            let (pdf, warned) = rendered(task, &json!({"headerTemplate": header})).await;
            assert_eq!(warned, warnings, "{header}");
            assert_eq!(text_of(&pdf), "shown page", "{header}");
            let fonts: Vec<_> = fonts_of(&pdf).into_iter().filter(|font| font != "DejaVuSans").collect();
            assert_eq!(fonts, [font], "{header}");
        }
    }
}

#[actix::test]
async fn files_of_a_header_have_a_limit() {
    let mono = std::fs::read(MONO).unwrap();
    let files: [(&str, &[u8]); 2] = [("img/dot.png", DOT), ("mono.ttf", &mono)];
    let header = "<style>@font-face{font-family:F;src:url(mono.ttf)} b{font-family:F,'DejaVu Sans'}</style><b>text</b>\
        <img src=/img/dot.png><i style='background:url(\"img/dot.png\")'>i</i>";
    let opts = json!({ "headerTemplate": header }).to_string();
    let [task, _, put] = tasks("<body style=\"font-family:'DejaVu Sans'\">page", &files);
    let limit = |bytes: u64| TestPool::start(move |config| config.header_files_limit_bytes = bytes);
    let has_picture = |pdf: &[u8]| pdf.windows(15).any(|window| window == b"/Subtype /Image");

    let pool = limit(1_000);
    let rendered = pool.render(&asking(&opts, task)).await.unwrap();
    let too_large = "headerTemplate and footerTemplate would show more than 1000 bytes of files (browser.header_files_limit_bytes)";
    assert!(rendered.warnings.iter().any(|line| line == too_large), "{:?}", rendered.warnings);
    assert!(!fonts_of(&rendered.bytes).contains(&"LiberationMono-Bold".to_owned()));
    pool.finish().await;

    let pool = limit(1 << 20);
    let rendered = pool.render(&asking(&opts, put)).await.unwrap();
    assert_eq!(rendered.warnings, [""; 0]);
    assert!(
        fonts_of(&rendered.bytes).contains(&"LiberationMono-Bold".to_owned()) && has_picture(&rendered.bytes)
    );
    pool.finish().await;

    // A font of the page's own is left out where it would cost each of very many sheets its time.
    let pool = limit(200_000);
    let face =
        "<style>@font-face{font-family:F;src:url(mono.ttf)} body{font-family:F,'DejaVu Sans'}</style>page";
    let [task, ..] = tasks(face, &files);
    let rendered = pool.render(&asking(r#"{"headerTemplate":"h"}"#, task)).await.unwrap();
    assert_eq!(
        (fonts_of(&rendered.bytes), rendered.warnings),
        (vec!["LiberationMono-Bold".to_owned()], vec![])
    );
    let [task, ..] = tasks(&format!("{face}<div style='height:200000px'>"), &files);
    let rendered = pool.render(&asking(r#"{"headerTemplate":"h"}"#, task)).await.unwrap();
    assert_eq!(fonts_of(&rendered.bytes), ["DejaVuSans", "LiberationMono-Bold"]);
    let starts =
        |line: &String| line.starts_with("font not available in headerTemplate and footerTemplate: 'F'");
    assert!(rendered.warnings.iter().any(starts), "{:?}", rendered.warnings);
    pool.finish().await;
}
