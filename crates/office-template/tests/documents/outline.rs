//! What is told of a template without filling it.

use office_template::{Error, Limit, Limits, Outline, Template};
use serde_json::{Value, json};

use crate::support::{docx, docx_with, limits, p};

fn outline(body: &str) -> Outline {
    Template::outline(docx(body), None, &limits(), &mut office_template::NoFiles).expect("it is a Word file")
}

#[test]
fn faults_of_structure_come_with_the_expressions_that_were_not_run() {
    let header = p("{y | gone}");
    let body = [p("{a | nofilter}"), p("{#items}{b +}"), p("{ok}")].concat();
    let file = docx_with(&body, &[("header1.xml", "header", "hdr", &header)]);
    let Err(Error::Tags(faults)) = Template::read(file, None, &limits()) else { panic!("it has faults") };
    assert_eq!((faults.first.len(), faults.count), (1, 1), "{faults}");
    let steps = faults.expressions().expect("nothing was run").to_owned();
    for text in ["nofilter", "b +", "gone"] {
        assert!(steps.contains(text), "{text}: {steps}");
    }
    let faults = faults.with_expressions(vec![(4, "C".to_owned()), (0, "A".to_owned()), (2, "B".to_owned())]);
    let told: Vec<_> = { faults.first.iter() }
        .map(|fault| (fault.part.as_str(), fault.paragraph, fault.tag.as_str(), fault.message.get(..1)))
        .collect();
    let main = "word/document.xml";
    let expected = [
        (main, 1, "{a | nofilter}", Some("A")),
        (main, 2, "{#items}", Some("t")),
        (main, 2, "{b +}", Some("B")),
        ("word/header1.xml", 1, "{y | gone}", Some("C")),
    ];
    assert_eq!((told.as_slice(), faults.count), (&expected[..], 4));
}

fn steps(outline: &Outline) -> Value {
    serde_json::from_str(&outline.steps).expect("the steps are JSON")
}

#[test]
fn tags_are_reported_in_their_order_and_expressions_in_their_sections() {
    let told = outline(&(p("{a.b | join(', ', x)}{#items}") + &p("{.n}{^no}{m}{/}{/items}")));
    let tags: Vec<_> = told.tags.iter().map(|tag| (tag.paragraph, tag.kind, tag.shown.as_str())).collect();
    let expected = [
        (1, "value", "{a.b | join(', ', x)}"),
        (1, "section", "{#items}"),
        (2, "value", "{.n}"),
        (2, "otherwise", "{^no}"),
        (2, "value", "{m}"),
        (2, "end", "{/}"),
        (2, "end", "{/items}"),
    ];
    assert_eq!(tags, expected);
    assert_eq!((told.more, told.faults.count), (0, 0));
    let step = |(tag, kind): (usize, &str), text: &str, code: &str, filters: Value, body: Value| json!({"tag": tag, "kind": kind, "text": text, "code": code, "filters": filters, "body": body});
    let inner = step((4, "value"), "m", "m", json!([]), json!([]));
    let no = step((3, "otherwise"), "no", "no", json!([]), json!([inner]));
    let own = step((2, "value"), ".n", "$$item.n", json!([]), json!([]));
    let join = json!([{"name": "join", "codes": ["', '", "x"]}]);
    assert_eq!(
        steps(&told),
        json!([
            step((0, "value"), "a.b", "a.b", join, json!([])),
            step((1, "section"), "items", "items", json!([]), json!([own, no])),
        ])
    );
}

#[test]
fn what_a_note_and_a_header_ask_for_is_asked_of_the_item() {
    let note = format!("<w:footnote w:id=\"1\">{}</w:footnote>", p("{q}{#l}{.}{/l}"));
    let parts = [
        ("footnotes.xml", "footnotes", "footnotes", note.as_str()),
        ("header1.xml", "header", "hdr", "<w:p><w:r><w:t>{h}</w:t></w:r></w:p>"),
    ];
    let body = p("{#items}")
        + "<w:p><w:r><w:t>{n}</w:t><w:footnoteReference w:id=\"1\"/></w:r></w:p><w:p><w:pPr><w:sectPr>\
           <w:headerReference w:type=\"default\" r:id=\"rId2\"/></w:sectPr></w:pPr></w:p>"
        + &p("{/items}{t}");
    let told = Template::outline(docx_with(&body, &parts), None, &limits(), &mut office_template::NoFiles);
    let told = told.expect("it is a Word file");
    let steps = steps(&told);
    let texts = |steps: &Value| {
        let all = steps.as_array().expect("steps").iter();
        all.map(|step| step["text"].as_str().expect("a text").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&steps), ["items", "t"]);
    assert_eq!(texts(&steps[0]["body"]), ["n", "q", "l", "h"]);
    let parts: Vec<&str> = told.tags.iter().map(|tag| tag.part.as_str()).collect();
    assert_eq!(parts.iter().filter(|part| **part == "word/footnotes.xml").count(), 4, "{parts:?}");
}

#[test]
fn all_faults_are_reported_beside_the_tags() {
    let told = outline(&(p("{#items}{name}{a |}") + &p("{/other}{open")));
    assert_eq!(told.tags.len(), 3, "{:?}", told.tags);
    assert_eq!(told.faults.count, 3, "{}", told.faults);
    assert_eq!(steps(&told)[0]["body"][0]["text"], "name");
    let told = outline(&p(&"{/}".repeat(300)));
    assert_eq!((told.faults.first.len(), told.faults.count), (100, 300));
}

#[test]
fn what_is_no_template_is_refused_and_what_is_nested_without_end_is_cut() {
    assert!(matches!(
        Template::outline(b"PK".to_vec(), None, &limits(), &mut office_template::NoFiles),
        Err(Error::NotOffice(_))
    ));
    let deep = outline(&p(&format!("{}{{x}}", "{#a}".repeat(1_000))));
    let mut step = &steps(&deep)[0];
    let mut depth = 0;
    while step.is_object() {
        (step, depth) = (&step["body"][0], depth + 1);
    }
    assert!((10..=60).contains(&depth), "{depth}");
    let roomy = Limits { tags: Limit { value: 9_000, ..limits().tags }, ..limits() };
    let many = Template::outline(docx(&p(&"{x}".repeat(6_000))), None, &roomy, &mut office_template::NoFiles)
        .expect("a Word file");
    assert_eq!((many.tags.len(), many.more), (5_000, 1_000));
}
