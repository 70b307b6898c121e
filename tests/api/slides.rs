//! PowerPoint templates through the whole service: a slide an item, shown as pages and pictures, and what is refused.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::unfilled::{office_file, unpacked, with};

/// Slides with notes, a picture, a hidden slide and a table, with tags in them.
fn deck() -> Vec<u8> {
    let edits = [
        ("The deck", "{title}"),
        ("Say hello first.", "Say {title}."),
        (">Points<", ">{name} {:slides items}<"),
        ("Two &lt;b&gt;", "{#points}{.}{/points}"),
        ("HIDDENSLIDE", "{:slides secret}SECRET"),
        (">c10<", ">{#rows}{what}<"),
        (">c11<", ">{price | currency('EUR')}{/rows}<"),
    ];
    edits.iter().fold(office_file("deck.pptx"), |file, (from, to)| with(&file, from, to))
}

fn data() -> Value {
    json!({
        "title": "Q3 & more",
        "items": [{"name": "Ink", "points": ["black", "blue"]}, {"name": "Paper", "points": []}, {"name": "Quill", "points": ["goose"]}],
        "rows": [{"what": "Ink", "price": 4.5}, {"what": "Paper", "price": 12}],
    })
}

#[tokio::test]
async fn a_presentation_is_filled_with_a_slide_an_item() {
    let app = TestApp::start().await;
    let (view, file) = app.made(("pptx", "pptx"), deck(), data()).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let parts = unpacked(&file);
    let slides = parts.iter().filter(|(name, _)| name.starts_with("ppt/slides/slide")).count();
    assert_eq!(slides, 5, "four, of which one is three and one is dropped");
    let counts =
        parts.iter().find(|(name, _)| name == "docProps/app.xml").map(|(_, content)| content.clone());
    let counts = String::from_utf8(counts.unwrap()).unwrap();
    assert!(!counts.contains("TitlesOfParts"), "{counts}");

    let (view, pdf) = app.made(("pptx", "pdf"), deck(), data()).await;
    assert_eq!(view["output"]["metadata"]["pages"], 5, "{view}");
    let text = app.text_of(&pdf);
    for words in ["Q3 & more", "Ink", "black", "blue", "Quill", "goose", "€4.50", "€12.00"] {
        assert!(text.contains(words), "no '{words}' in {text}");
    }
    assert!(!text.contains("SECRET") && !text.contains('{'), "{text}");
    let (view, png) = app.made(("pptx", "png"), deck(), data()).await;
    assert!(view["success"] == true && png.starts_with(b"\x89PNG"), "{view}");
    let (view, html) = app.made(("pptx", "html"), deck(), data()).await;
    let html = String::from_utf8(html).unwrap();
    assert!(html.contains("Say Q3 &amp; more."), "{view}: the notes are filled, too");
}

#[tokio::test]
async fn faults_are_reported_with_their_slide_and_limits_with_their_keys() {
    let app = TestApp::with(&[("office.slides_limit", "5")]).await;
    let failed = async |file: Vec<u8>, data: Value, opts: Value| {
        let body = json!({"type": "pptx", "target": "pptx", "data": data, "formatOpts": opts});
        let job = app.init(body).await;
        assert_eq!(app.put(&job.template_url.unwrap(), file).await, 200);
        let view = app.finish(&job.id).await;
        format!("{}: {}", view["errorCode"].as_str().unwrap(), view["error"].as_str().unwrap())
    };
    let message = failed(deck(), json!({"items": [1]}), json!({"strict": true})).await;
    assert!(
        message.starts_with("template_error: ") && message.contains("slide 1, paragraph 1, {title}"),
        "{message}"
    );
    assert!(message.contains("notes of slide 1, paragraph 1, {title}"), "{message}");
    let message = failed(deck(), json!({"items": [1, 2, 3, 4, 5]}), json!({})).await;
    assert!(
        message.starts_with("template_limit: ") && message.contains("office.slides_limit = 5"),
        "{message}"
    );
    let open = with(&office_file("deck.pptx"), ">c00<", ">{#rows}<");
    let message = failed(open, json!({}), json!({})).await;
    assert!(message.contains("slide 4, paragraph 2, {#rows}: the section is never closed"), "{message}");
    let other = with(&office_file("deck.pptx"), ">c00<", ">[[title]]<");
    let (view, file) = app.made(("pptx", "pptx"), other, data()).await;
    let message = view["warnings"][0].as_str().unwrap();
    assert!(message.starts_with("all tags of the document are written [[…]]"), "{message}");
    let table = unpacked(&file).into_iter().find(|(name, _)| name == "ppt/slides/slide4.xml").unwrap().1;
    assert!(String::from_utf8(table).unwrap().contains(">Q3 &amp; more<"));
    let (view, _) = app.made(("pptx", "pdf"), office_file("slides.odp"), json!({"a": 1})).await;
    assert!(view["warnings"].to_string().contains("is not filled; save it as .pptx"), "{view}");
}
