//! Tags anywhere: what is filled is well-formed and has what Word demands, all else is a fault.

use office_template::Error;
use proptest::prelude::*;

use crate::support::{DOCUMENT, docx, p, part, try_fill};

const TEXTS: [&str; 8] = ["{#a}", "{/}", "{#b}", "{/}", "{^no}", "x{.}", " ", "{#no}"];

/// A paragraph of a few runs.
fn paragraph() -> impl Strategy<Value = String> {
    prop::collection::vec(0..TEXTS.len(), 0..4).prop_map(|texts| {
        texts.into_iter().map(|text| p(TEXTS[text])).collect::<String>().replace("</w:p><w:p>", "")
    })
}

fn paragraphs() -> impl Strategy<Value = String> {
    prop::collection::vec(paragraph(), 1..3).prop_map(|all| {
        let all = all.concat();
        if all.is_empty() { p("") } else { all }
    })
}

fn block() -> impl Strategy<Value = String> {
    let cell = paragraphs().prop_map(|content| format!("<w:tc>{content}</w:tc>"));
    let row = prop::collection::vec(cell, 1..3).prop_map(|cells| format!("<w:tr>{}</w:tr>", cells.concat()));
    let table = prop::collection::vec(row, 1..3).prop_map(|rows| format!("<w:tbl>{}</w:tbl>", rows.concat()));
    let control = paragraphs().prop_map(|content| {
        format!("<w:sdt><w:sdtPr><w:id w:val=\"1\"/></w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>")
    });
    prop_oneof![4 => paragraph(), 2 => table, 1 => control]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn tags_anywhere_are_filled_or_faults(blocks in prop::collection::vec(block(), 1..4), close in any::<bool>()) {
        // Most random tags do not pair; closing them all at the end lets more through.
        let body = blocks.concat();
        let open = body.matches("{#").count() + body.matches("{^").count();
        let missing = if close { open.saturating_sub(body.matches("{/}").count()) } else { 0 };
        let body = body + &p(&"{/}".repeat(missing));
        match try_fill(docx(&body), r#"{"a":[1,2],"b":[3],"no":[]}"#, "{}") {
            Ok(filled) => {
                let document = part(&filled.file, DOCUMENT);
                prop_assert!(!document.contains("<w:tbl></w:tbl>"), "{}", document);
                for cell in document.split("</w:tc>").collect::<Vec<_>>().split_last().map_or(&[][..], |(_, cells)| cells) {
                    prop_assert!(cell.ends_with("</w:p>"), "{}\n{}", body, document);
                }
            }
            Err(Error::Tags(_)) => {}
            Err(error) => prop_assert!(false, "{}: {}", body, error),
        }
    }
}
