//! Tags anywhere: what is filled is well-formed and has what Word demands, all else is a fault.

#![expect(clippy::wildcard_enum_match_arm, reason = "of the many events of XML, a few matter")]

use office_template::Error;
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::support::{DOCUMENT, docx, part, try_fill};

/// Where a tag may come.
const SLOT: &str = "§";

const OPENINGS: [&str; 11] = [
    "{#a}",
    "{#a}",
    "{#no}",
    "{^no}",
    "{-w:p a}",
    "{-w:p no}",
    "{-w:tr a}",
    "{-w:tr no}",
    "{-w:tc no}",
    "{-w:tbl no}",
    "{-w:r a}",
];

const SECTION: &str = "<w:pPr><w:sectPr><w:type w:val=\"nextPage\"/></w:sectPr></w:pPr>";
const ITEM: &str = "<w:pPr><w:numPr><w:numId w:val=\"1\"/></w:numPr></w:pPr>";

/// A paragraph of a few runs, with what must stand once or not be torn.
fn paragraph() -> impl Strategy<Value = String> {
    let run = (0..24_u8).prop_map(|around| {
        let run = format!("<w:r><w:t>{SLOT}</w:t></w:r>");
        let mark = |kind| format!("<w:r><w:fldChar w:fldCharType=\"{kind}\"/></w:r>");
        match around {
            0 => format!("<w:hyperlink>{run}</w:hyperlink>"),
            1 => format!(
                "<w:sdt><w:sdtPr><w:id w:val=\"1\"/></w:sdtPr><w:sdtContent>{run}</w:sdtContent></w:sdt>"
            ),
            2 => format!("<w:r><w:ruby><w:rt>{run}</w:rt><w:rubyBase>{run}</w:rubyBase></w:ruby></w:r>"),
            3 | 4 => [mark("begin"), run.clone(), mark("separate"), run, mark("end")].concat(),
            5 => format!("<w:bookmarkStart w:id=\"1\" w:name=\"b\"/>{run}"),
            6 => format!("<w:ins w:id=\"3\">{run}</w:ins>"),
            7 => format!("<w:r><w:t>x</w:t></w:r>{run}"),
            _ => run,
        }
    });
    (prop::collection::vec(run, 0..3), 0..10_u8).prop_map(|(runs, section)| {
        let properties = match section {
            0 => SECTION,
            1..4 => ITEM,
            _ => "",
        };
        format!("<w:p>{properties}{}</w:p>", runs.concat())
    })
}

/// The body with two sections, side by side or one in the other.
fn tagged(body: &str, mut places: [usize; 4], kinds: [usize; 2], is_nested: bool) -> String {
    let count = body.matches(SLOT).count();
    places = places.map(|place| place % count.max(1));
    places.sort_unstable();
    let [one, other] = kinds.map(|kind| OPENINGS[kind % OPENINGS.len()]);
    let tags = if is_nested { [one, other, "{/}", "{/}"] } else { [one, "{/}", other, "{/}"] };
    let mut pieces = body.split(SLOT);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for (slot, piece) in pieces.enumerate() {
        for (tag, _) in tags.iter().zip(places).filter(|&(_, place)| place == slot) {
            out.push_str(tag);
        }
        out.push_str(piece);
    }
    out
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

/// Whether every field of the document has its three marks, in their order.
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
    fn tags_anywhere_are_filled_or_faults(
        blocks in prop::collection::vec(blocks(), 1..3),
        places in any::<[usize; 4]>(),
        kinds in any::<[usize; 2]>(),
        is_nested in any::<bool>(),
    ) {
        let body = tagged(&blocks.concat(), places, kinds, is_nested);
        match try_fill(docx(&body), r#"{"a":[1,2],"b":[3],"no":[]}"#, "{}") {
            Ok(filled) => {
                let document = part(&filled.file, DOCUMENT);
                prop_assert_eq!(misplaced(&document), None, "{}\n{}", body, document);
                prop_assert!(are_fields_whole(&document), "{}\n{}", body, document);
                let count = |text: &str, what: &str| text.matches(what).count();
                prop_assert!(document.ends_with("<w:sectPr/></w:body></w:document>"), "{}\n{}", body, document);
                prop_assert!(count(&document, "<w:bookmarkStart") <= count(&body, "<w:bookmarkStart"), "{}\n{}", body, document);
            }
            Err(Error::Tags(_)) => {}
            Err(error) => prop_assert!(false, "{}: {}", body, error),
        }
    }
}
