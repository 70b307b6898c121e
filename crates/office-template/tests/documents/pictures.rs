//! Pictures and codes in the places of their tags.

use office_template::{Error, Files, Template};
use serde_json::json;

use crate::support::{docx, entries, fault, limits, p, part, run, try_fill, well_formed};

/// A red picture of 4 × 2 pixels.
pub const RED: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAIAAADwyuo0AAAAEElEQVR42mP4z8AARwzIHABvqgf5aN2vpwAAAABJRU5ErkJggg==";

/// One file, and how often it was asked for.
struct Beside(&'static str, Vec<u8>, usize);

impl Files for Beside {
    fn file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        self.2 += 1;
        if name == self.0 {
            Ok(self.1.clone())
        } else {
            Err(format!("there is no file '{name}' beside the template"))
        }
    }
}

fn bytes() -> Vec<u8> {
    let digit = |letter: u8| {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        digits.iter().position(|&known| known == letter).and_then(|at| u32::try_from(at).ok())
    };
    let mut bytes = Vec::new();
    for four in RED.as_bytes().chunks(4) {
        let known: Vec<u32> = four.iter().filter_map(|&letter| digit(letter)).collect();
        let word = known.iter().fold(0, |word, digit| word << 6 | digit) << (6 * (4 - known.len()));
        bytes.extend(word.to_be_bytes()[1..].iter().take(known.len() - 1));
    }
    bytes
}

fn filled(paragraph: &str, data: &str) -> Vec<u8> {
    try_fill(docx(&p(paragraph)), data, "{}").expect("a picture").file
}

fn media(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    entries(file).into_iter().filter(|(name, _)| name.starts_with("word/media/")).collect()
}

#[test]
fn a_picture_comes_from_the_data_in_every_way_of_writing_bytes() {
    let plain = bytes();
    for picture in [
        json!(format!("data:image/png;base64,{RED}")),
        json!(RED),
        json!(plain),
        json!({ "type": "Buffer", "data": plain }),
    ] {
        let file = filled("{%logo}", &json!({ "logo": picture }).to_string());
        let media = media(&file);
        assert_eq!(media.len(), 1, "{picture}");
        assert_eq!(media[0], ("word/media/image1.png".to_owned(), plain.clone()));
        assert!(part(&file, "[Content_Types].xml").contains("image1.png"));
        let document = part(&file, "word/document.xml");
        assert!(document.contains("<pic:pic"), "{document}");
        // 4 × 2 pixels at 96 an inch.
        assert!(document.contains("cx=\"38100\" cy=\"19050\""), "{document}");
    }
}

#[test]
fn a_picture_has_the_size_and_the_words_that_its_tag_says() {
    let data = json!({ "logo": RED, "what": "A <red> \"logo\"" }).to_string();
    let file = filled("{%logo | size(\"4cm\", \"4cm\") | alt(what)}", &data);
    let document = part(&file, "word/document.xml");
    assert!(document.contains("cx=\"1440000\" cy=\"720000\""), "{document}");
    assert!(document.contains("descr=\"A &lt;red&gt; &quot;logo&quot;\""), "{document}");
    let cut = part(&filled("{%logo | size(\"4cm\", \"4cm\") | fit(\"cover\")}", &data), "word/document.xml");
    assert!(cut.contains("a:srcRect") && cut.contains("cx=\"1440000\" cy=\"1440000\""), "{cut}");
    let wrong = fault(&p("{%logo | width(\"wide\")}"), &data, "{}");
    assert!(wrong.contains("{%logo | width(\"wide\")}: ") && wrong.contains("no length"), "{wrong}");
}

#[test]
fn a_picture_that_is_shown_often_is_stored_once_and_numbered_anew() {
    let file = filled("{#items}{%.}{/items}", &json!({ "items": vec![RED; 50] }).to_string());
    assert_eq!(media(&file).len(), 1);
    let document = part(&file, "word/document.xml");
    let mut numbers: Vec<&str> = document
        .split("<wp:docPr id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().expect("a number"))
        .collect();
    assert_eq!(numbers.len(), 50);
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 50);
}

#[test]
fn a_picture_lies_beside_the_template() {
    let template = |tag: &str| Template::read(docx(&p(tag)), None, &limits()).expect("a template");
    let mut files = Beside("images/logo.png", bytes(), 0);
    let template_of_two = template("{%a}{%b}");
    let answer = run(template_of_two.program(), r#"{"a":"images/logo.png","b":"images/logo.png"}"#, "{}");
    let file = template_of_two.fill(&answer, &mut files).expect("both").file;
    assert_eq!((media(&file).len(), files.2), (1, 1), "it is asked for once");
    let missing = template("{%a}");
    let answer = run(missing.program(), r#"{"a":"other.png"}"#, "{}");
    let error = missing.fill(&answer, &mut files).expect_err("there is none");
    assert!(
        matches!(error, Error::Tags(_))
            && error.to_string().contains("paragraph 1, {%a}: there is no file 'other.png'")
    );
}

#[test]
fn what_is_no_picture_is_a_fault_and_nothing_is_nothing() {
    let message = fault(&p("{%a}"), &json!({ "a": "data:image/png;base64,aGVsbG8=" }).to_string(), "{}");
    assert!(message.contains("paragraph 1, {%a}: "), "{message}");
    let none = filled("{%a}{%b}{%c}x", r#"{"a":null,"b":""}"#);
    assert!(media(&none).is_empty());
}

#[test]
fn codes_are_pictures() {
    let file = filled(
        "{%qr url | size(\"3cm\") | level(\"H\")} {%barcode ean | kind(\"ean13\")} {%barcode \"AB-1\"}",
        r#"{"url":"https://a.example","ean":"4006381333931"}"#,
    );
    assert_eq!(media(&file).len(), 3);
    well_formed("document", part(&file, "word/document.xml").as_bytes());
    let wrong = fault(&p("{%barcode \"12\" | kind(\"ean13\")}"), "{}", "{}");
    assert!(wrong.contains("paragraph 1"), "{wrong}");
}

#[test]
fn a_value_may_say_that_it_is_a_picture() {
    let data =
        json!({ "p": { "_type": "image", "source": RED, "width": 200, "height": 100, "altText": "red" } });
    let document = part(&filled("a {p} b", &data.to_string()), "word/document.xml");
    assert!(
        document.contains("cx=\"1905000\" cy=\"952500\"") && document.contains("descr=\"red\""),
        "{document}"
    );
}

#[test]
fn a_picture_that_cannot_be_had_is_asked_for_once() {
    let html = "<p><img src=\"gone.png\"></p><p><img src=\"text.png\"></p>".repeat(20);
    let data = json!({ "html": html }).to_string();
    let template = Template::read(docx(&p("{~html}")), None, &limits()).expect("a template");
    let answer = run(template.program(), &data, "{}");
    let mut beside = Beside("text.png", b"no picture".to_vec(), 0);
    let filled = template.fill(&answer, &mut beside).expect("rich text");
    assert_eq!((beside.2, filled.warnings.len()), (2, 2), "{:?}", filled.warnings);
}
