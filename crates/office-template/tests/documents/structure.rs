//! Tags anywhere: what is filled is well-formed and has what Word demands, all else is a fault.

#![expect(clippy::wildcard_enum_match_arm, reason = "of the many events of XML, a few matter")]

use office_template::Error;
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::support::{DOCUMENT, docx, p, part, try_fill};

const TEXTS: [&str; 20] = [
    "{#a}",
    "{/}",
    "{#b}",
    "{/}",
    "{^no}",
    "x{.}",
    " ",
    "{#no}",
    "{/}",
    "{/}",
    "{-w:p a}",
    "{-w:p no}",
    "{-w:tr a}",
    "{-w:tr no}",
    "{-w:tc a}",
    "{-w:tc no}",
    "{-w:tbl no}",
    "{-w:r a}",
    "{-w:body a}",
    "{=[[ ]]=}[[={ }=]]",
];

/// What stands between runs: it must stand once, or not be torn.
const MARKS: [&str; 8] = [
    "",
    "",
    "",
    "<w:bookmarkStart w:id=\"1\" w:name=\"b\"/>",
    "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r>",
    "<w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>",
    "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>",
    "<w:ins w:id=\"3\"><w:r><w:t>i</w:t></w:r></w:ins>",
];

const SECTION: &str = "<w:pPr><w:sectPr><w:type w:val=\"nextPage\"/></w:sectPr></w:pPr>";

/// A paragraph of a few runs.
fn paragraph() -> impl Strategy<Value = String> {
    let run = (0..TEXTS.len(), 0..MARKS.len(), 0..12_u8).prop_map(|(text, mark, around)| {
        let run = format!("<w:r><w:t>{}</w:t></w:r>", TEXTS[text]);
        let run = match around {
            0 => format!("<w:hyperlink>{run}</w:hyperlink>"),
            1 => format!(
                "<w:sdt><w:sdtPr><w:id w:val=\"1\"/></w:sdtPr><w:sdtContent>{run}</w:sdtContent></w:sdt>"
            ),
            2 => format!("<w:r><w:ruby><w:rt>{run}</w:rt><w:rubyBase>{run}</w:rubyBase></w:ruby></w:r>"),
            _ => run,
        };
        format!("{}{run}", MARKS[mark])
    });
    (prop::collection::vec(run, 0..4), 0..10_u8).prop_map(|(runs, section)| {
        format!("<w:p>{}{}</w:p>", if section == 0 { SECTION } else { "" }, runs.concat())
    })
}

fn blocks() -> impl Strategy<Value = String> {
    let some = prop::collection::vec(paragraph(), 1..3).prop_map(|all| all.concat());
    some.prop_recursive(3, 24, 3, |inner| {
        let cell = inner.clone().prop_map(|content| format!("<w:tc>{content}<w:p></w:p></w:tc>"));
        let row = (prop::collection::vec(cell, 1..3), 0..6_u8).prop_map(|(cells, around)| {
            let row = format!("<w:tr>{}</w:tr>", cells.concat());
            if around == 0 {
                format!("<w:sdt><w:sdtPr/><w:sdtContent>{row}</w:sdtContent></w:sdt>")
            } else {
                row
            }
        });
        let table =
            prop::collection::vec(row, 1..3).prop_map(|rows| format!("<w:tbl>{}</w:tbl>", rows.concat()));
        let control = inner.clone().prop_map(|content| {
            format!(
                "<w:sdt><w:sdtPr><w:id w:val=\"2\"/></w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"
            )
        });
        prop_oneof![
            2 => paragraph(),
            2 => (table, paragraph()).prop_map(|(table, behind)| table + &behind),
            1 => control,
            1 => (inner.clone(), inner).prop_map(|(one, other)| one + &other),
        ]
    })
}

/// What stands where Word does not let it, if something does.
fn misplaced(document: &str) -> Option<String> {
    let mut reader = Reader::from_str(document);
    let mut open: Vec<(String, Vec<String>)> = Vec::new();
    loop {
        let name = match reader.read_event().expect("well-formed") {
            Event::Start(tag) => {
                let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
                open.push((name, Vec::new()));
                continue;
            }
            Event::Empty(tag) => String::from_utf8_lossy(tag.name().as_ref()).into_owned(),
            Event::End(_) => {
                let (name, children) = open.pop()?;
                let ends = children.last().map(String::as_str);
                let holds = |child: &str| children.iter().any(|name| name == child || name == "w:sdt");
                let is_right = match name.as_str() {
                    "w:tbl" => holds("w:tr"),
                    "w:tr" => holds("w:tc"),
                    "w:tc" => ends == Some("w:p"),
                    _ => true,
                };
                if !is_right {
                    return Some(format!("{name} holds {children:?}"));
                }
                name
            }
            Event::Eof => return None,
            _ => continue,
        };
        let Some((parent, children)) = open.last_mut() else { continue };
        children.push(name.clone());
        let is_right = match name.as_str() {
            "w:p" | "w:tbl" => matches!(parent.as_str(), "w:body" | "w:tc" | "w:sdtContent"),
            "w:tr" => matches!(parent.as_str(), "w:tbl" | "w:sdtContent"),
            "w:tc" => parent == "w:tr",
            "w:r" => !matches!(parent.as_str(), "w:body" | "w:tc" | "w:tr" | "w:tbl" | "w:t"),
            "w:rt" | "w:rubyBase" => children.iter().filter(|&child| *child == name).count() == 1,
            _ => true,
        };
        if !is_right {
            return Some(format!("{name} stands in {parent}"));
        }
        if children.ends_with(&["w:tbl".to_owned(), "w:tbl".to_owned()]) {
            return Some("two tables stand side by side".to_owned());
        }
    }
}

/// The kinds of the marks of fields, in their order: of a document whose fields are whole, whether they still are.
fn are_fields_whole(document: &str) -> bool {
    let mut open: Vec<bool> = Vec::new();
    for kind in document.split("w:fldCharType=\"").skip(1) {
        match kind.split('"').next() {
            Some("begin") => open.push(false),
            Some("separate") => match open.last_mut() {
                Some(is_result @ false) => *is_result = true,
                _ => return false,
            },
            _ => {
                if open.pop().is_none() {
                    return false;
                }
            }
        }
    }
    open.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn tags_anywhere_are_filled_or_faults(blocks in prop::collection::vec(blocks(), 1..4), close in any::<bool>()) {
        // Most random tags do not pair; closing them all at the end lets more through.
        let body = blocks.concat();
        let open = ["{#", "{^", "{-"].map(|begin| body.matches(begin).count()).iter().sum::<usize>();
        let missing = if close { open.saturating_sub(body.matches("{/}").count()) } else { 0 };
        let body = body + &p(&"{/}".repeat(missing));
        match try_fill(docx(&body), r#"{"a":[1,2],"b":[3],"no":[]}"#, "{}") {
            Ok(filled) => {
                let document = part(&filled.file, DOCUMENT);
                prop_assert_eq!(misplaced(&document), None, "{}\n{}", body, document);
                if are_fields_whole(&body) {
                    prop_assert!(are_fields_whole(&document), "{}\n{}", body, document);
                }
                let count = |text: &str, what: &str| text.matches(what).count();
                prop_assert!(count(&document, "<w:sectPr>") <= count(&body, "<w:sectPr>"), "{}\n{}", body, document);
                prop_assert!(count(&document, "<w:bookmarkStart") <= count(&body, "<w:bookmarkStart"), "{}\n{}", body, document);
            }
            Err(Error::Tags(_)) => {}
            Err(error) => prop_assert!(false, "{}: {}", body, error),
        }
    }
}
