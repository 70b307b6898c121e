//! Excel templates through the whole service.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::unfilled::{office_file, unpacked, with};

/// A list of loaves with a total below it, whose value the file remembers wrongly.
fn template() -> Vec<u8> {
    let file = with(&office_file("table.xlsx"), "Rye", "{#loaves}{name}");
    let text = |text: &str| format!("t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let file = with(&file, "t=\"n\"><v>12</v></c>", &text("{pieces}"));
    let file = with(&file, "t=\"n\"><v>4.5</v></c>", &text("{price}{/loaves}"));
    let file = with(&file, "Spelt", "Total of {baker}");
    with(&file, "t=\"n\"><v>5.25</v></c>", "t=\"n\"><f>SUMPRODUCT(B2:B2,C2:C2)</f><v>999</v></c>")
}

fn data() -> Value {
    json!({"baker": "Nordlicht", "loaves": [
        {"name": "Rye", "pieces": 12, "price": 4.5},
        {"name": "=Spelt", "pieces": 7, "price": 5.25},
        {"name": "Oats", "pieces": 10, "price": 2},
    ]})
}

#[tokio::test]
async fn a_workbook_is_filled_and_its_formulas_follow_and_are_calculated_anew() {
    let app = TestApp::start().await;
    let (view, document) = app.made(("xlsx", "xlsx"), template(), data()).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let parts = unpacked(&document);
    let part = |name: &str| {
        let (_, content) = parts.iter().find(|(known, _)| known == name).unwrap();
        String::from_utf8(content.clone()).unwrap()
    };
    let sheet = part("xl/worksheets/sheet1.xml");
    for cell in [
        "<c r=\"A2\" s=\"0\" t=\"inlineStr\"><is><t>Rye</t></is></c>",
        "<c r=\"A3\" s=\"0\" t=\"inlineStr\"><is><t>=Spelt</t></is></c>",
        "<c r=\"B4\" s=\"0\"><v>10</v></c><c r=\"C4\" s=\"0\"><v>2</v></c>",
        "<c r=\"C5\" s=\"0\"><f>SUMPRODUCT(B2:B4,C2:C4)</f></c>",
    ] {
        assert!(sheet.contains(cell), "{cell}: {sheet}");
    }
    assert!(part("xl/workbook.xml").contains("fullCalcOnLoad=\"1\""));

    let (view, pdf) = app.made(("xlsx", "pdf"), template(), data()).await;
    assert_eq!(view["success"], json!(true), "{view}");
    let text = app.text_of(&pdf);
    for word in ["=Spelt", "Total of Nordlicht", "110.75"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_tag_is_told_with_its_sheet_and_cell() {
    let app = TestApp::start().await;
    let file = with(&template(), "{pieces}", "{pieces.many()}");
    let (view, _) = app.made(("xlsx", "xlsx"), file, data()).await;
    assert_eq!(view["errorCode"], json!("template_error"), "{view}");
    let sentence = view["error"].as_str().unwrap();
    assert!(sentence.contains("!B2, {pieces.many()}: "), "{sentence}");
    let file = with(&template(), "{/loaves}", "");
    let (view, _) = app.made(("xlsx", "xlsx"), file, data()).await;
    assert!(
        view["error"].as_str().unwrap().contains("!A2, {#loaves}: the section is never closed"),
        "{view}"
    );
}
