//! Rich text as editors write it, as Word has it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed, also in what tests share"
)]

mod features;
mod hostile;
mod support;

/// All that is read, in one text.
const ALL: &str = include_str!("all.html");

#[test]
fn a_whole_document_of_all_that_is_read_is_well_formed() {
    support::xml(ALL);
    let file = support::docx(ALL);
    assert!(support::part(&file, "word/document.xml").contains("Rich text"));
    // Kept for whoever wants to look at it.
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/all.docx"), file).unwrap();
}
