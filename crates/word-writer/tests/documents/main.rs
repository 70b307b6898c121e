//! Rich text as editors write it, as Word has it.

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
    if let Ok(path) = std::env::var("WORD_WRITER_KEEP") {
        std::fs::write(path, file).unwrap();
    }
}
