//! The samples of LaTeX, which strangers start from: each is made without a warning, by the service and by the command.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::command_line::platen;

/// A sample: its folder, how many pages it has, what a reader of the PDF finds.
type Sample = (&'static str, u64, &'static [&'static str]);

const PDFLATEX: [Sample; 6] = [
    (
        "letter",
        1,
        &[
            "Müller & Søn, Speicherstraße 14, 24937 Flensburg",
            "2 March 2026",
            "book: 100% linen, #4120",
            "(170 g/m",
        ],
    ),
    (
        "article",
        2,
        &[
            "How long 5 balls fall & why we believe it",
            "Table 1 has the mean",
            "Galilei [1] expects",
            "± 0.031",
            "0.184",
            "[2] Isaac Newton",
        ],
    ),
    ("invoice", 1, &["PO 88_4120", "#0001–#1000", "1.110,00 €", "VAT 19 %", "3.987,18 €", "page 1 of 1"]),
    (
        "cv",
        1,
        &[
            "Confectioner & food chemist",
            "ingrid_o@blaabaer.example",
            "Took C# and R",
            "−18 °C",
            "2019 to today",
        ],
    ),
    ("deck", 6, &["A bakery & its numbers", "(in % of flour)?", "18 000 €?", "2,210", "≈ 6.8"]),
    (
        "book",
        100,
        &["The Ferry & the Fog", "Chapter 32", "“You will want soup,”", "What began in chapter 31 on page"],
    ),
];

/// Of letters that only data have.
const LUALATEX: [Sample; 3] = [
    ("hebrew", 1, &["בית הדפוס כהן ובניו", "ספר האורחים שלכם", "office@example.org", "נביא את החבילה"]),
    (
        "arabic",
        1,
        &["مكتبة المدينة القديمة", "تفتح المكتبة أبوابها", "library@example.org", "الدخول مجاني للجميع"],
    ),
    ("chinese", 1, &["春风小馆", "已经有三十年了", "（不新鲜不卖）", "鲜肉包子（四个）", "88.00"]),
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples/latex").join(name)
}

/// The text without the marks of direction that `pdftotext` adds, in single spaces.
fn words(text: &str) -> String {
    let text = text.replace(['\u{202a}', '\u{202b}', '\u{202c}', '\u{200e}', '\u{200f}'], "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn check(samples: &[Sample]) {
    // Machines of tests are busy.
    let app = TestApp::with(&[("tex.timeout_ms", "60000")]).await;
    for (name, pages, expected) in samples {
        let template = std::fs::read(folder(name).join("index.tex")).unwrap();
        let data: Value =
            serde_json::from_slice(&std::fs::read(folder(name).join("data.json")).unwrap()).unwrap();
        let (view, pdf) = app.typeset("pdf", template, (data, json!({}))).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{name}: {view}");
        assert_eq!(view["output"]["metadata"]["pages"], json!(pages), "{name}: {view}");
        let text = words(&app.text_of(&pdf));
        for expected in *expected {
            assert!(text.contains(expected), "{name}: no {expected} in {text}");
        }
    }
}

#[actix_web::test]
async fn the_samples_of_latex_are_made() {
    check(&PDFLATEX).await;
}

#[actix_web::test]
async fn the_samples_of_other_scripts_are_made() {
    check(&LUALATEX).await;
}

#[test]
fn the_command_makes_samples() {
    let place = tempfile::tempdir().unwrap();
    for name in ["letter", "hebrew"] {
        let (sample, data) = (folder(name), folder(name).join("data.json"));
        let arguments =
            ["render", sample.to_str().unwrap(), "--type", "latex", "--data", data.to_str().unwrap()];
        let made = platen(place.path(), &[], &[&arguments[..], &["-o", "made.pdf"]].concat(), b"");
        assert!(made.status.success() && made.stderr.is_empty(), "{name}: {made:?}");
        assert!(std::fs::read(place.path().join("made.pdf")).unwrap().starts_with(b"%PDF"));
    }
}
