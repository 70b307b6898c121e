//! Rich text as editors write it, as Word has it.

mod hostile;
mod support;

#[test]
fn a_whole_document_of_all_that_is_read_is_well_formed() {
    let text = include_str!("all.html");
    support::xml(text);
    let file = support::docx(text);
    assert!(support::part(&file, "word/document.xml").contains("Rich text"));
    if let Ok(path) = std::env::var("WORD_WRITER_KEEP") {
        std::fs::write(path, file).unwrap();
    }
}
