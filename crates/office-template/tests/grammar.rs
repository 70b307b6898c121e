//! Every example of `docs/office-tags.md` is read as the line beside it says.

use std::fmt::Write as _;
use std::path::Path;

use office_template::lexer::{Delimiters, Expression, Tag, lex};

#[path = "any/mod.rs"]
#[expect(dead_code, reason = "documents are of another test")]
mod any;
#[path = "../../../fuzz/kept.rs"]
#[expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
mod kept;

const GRAMMAR: &str = include_str!("../../../docs/office-tags.md");

#[test]
fn the_examples_of_the_grammar_are_read_as_it_says() {
    let mut examples = 0;
    let mut wrong = String::new();
    for block in GRAMMAR.split("```tags\n").skip(1) {
        let (block, _) = block.split_once("```").expect("a block ends");
        for line in block.lines() {
            let (example, expected) = line.rsplit_once(" ⇒ ").expect("an example has its reading beside it");
            let read = reading(example.trim_end());
            if read != expected.trim() {
                writeln!(wrong, "{}\n  says {expected}\n  read {read}", example.trim_end())
                    .expect("a text grows");
            }
            examples += 1;
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(examples > 80, "only {examples} examples were found");
}

#[test]
fn any_text_is_read_without_harm() {
    proptest::proptest!(|(text in "[{}|#^/\"'`()\\[\\]\\\\ a-c:=%~@.\u{201c}\u{e9}\u{1f600}-]{0,60}")| {
        any::text(&text);
    });
}

#[test]
fn what_fuzzing_begins_with_is_read_without_harm() {
    for text in kept::inputs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), "tags") {
        any::text(&String::from_utf8_lossy(&text));
    }
}

/// A text as the grammar writes what it is read as.
fn reading(text: &str) -> String {
    let mut pieces = Vec::new();
    let mut from = 0;
    for token in lex(text, &mut Delimiters::default()) {
        let before = &text[from..token.range.start];
        if !before.is_empty() {
            pieces.push(format!("text ‹{before}›"));
        }
        from = token.range.end;
        // What stands behind a tag without an end is a text, but no example's matter.
        if let Ok(tag) = &token.tag {
            pieces.push(described(tag));
        } else {
            let is_unclosed = !text[token.range.clone()].ends_with('}');
            from = if is_unclosed {
                text[from..].find('{').map_or(text.len(), |next| from + next)
            } else {
                from
            };
            pieces.push("fault".to_owned());
        }
    }
    if from < text.len() {
        pieces.push(format!("text ‹{}›", &text[from..]));
    }
    pieces.join(" · ")
}

fn described(tag: &Tag) -> String {
    match tag {
        Tag::Value(value) => expression("value", value),
        Tag::Section(list, None) => expression("section", list),
        Tag::Section(list, Some(element)) => expression(&format!("repeat {element}"), list),
        Tag::Otherwise(list) => expression("otherwise", list),
        Tag::End(None) => "end".to_owned(),
        Tag::End(Some(name)) => format!("end ‹{name}›"),
        Tag::Image(value) => expression("image", value),
        Tag::Qr(value) => expression("qr", value),
        Tag::Barcode(value) => expression("barcode", value),
        Tag::Html(value) => expression("html", value),
        Tag::Xml(value) => expression("xml", value),
        Tag::Command(command, arguments) => {
            format!("command {}{}", command.name, listed(arguments))
        }
        Tag::Slides(list) => expression("slides", list),
        Tag::Sheet(list) => expression("sheet", list),
        Tag::Delimiters(delimiters) => format!("delimiters ‹{}› ‹{}›", delimiters.start, delimiters.end),
    }
}

fn expression(kind: &str, expression: &Expression) -> String {
    let mut text = format!("{kind} ‹{}›", expression.text);
    for filter in &expression.filters {
        text += " · filter ";
        text += &filter.name;
        text += &listed(&filter.arguments);
    }
    text
}

fn listed(arguments: &[String]) -> String {
    arguments.iter().flat_map(|argument| [" ‹", argument, "›"]).collect()
}
