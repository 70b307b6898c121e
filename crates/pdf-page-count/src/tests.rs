//! The counter over files whose strangers wrote what they liked into them.

use super::*;

/// A file of two pages, with `extra` among its objects.
fn file(extra: &str) -> String {
    format!(
        "%PDF-1.4\n%\u{d3}\u{eb}/Type /Pages\n1 0 obj\n<</Title (T)\n/Producer (Skia)>>\nendobj\n\
         3 0 obj\n<</Type /Page\n/MediaBox [0 0 1 1]\n/Parent 5 0 R>>\nendobj\n{extra}\
         4 0 obj\n<</Type /Pages\n/Count 1\n/Kids [3 0 R]\n/Parent 5 0 R>>\nendobj\n\
         5 0 obj\n<</Type /Pages\n/Count 2\n/Kids [4 0 R 9 0 R]>>\nendobj\n\
         6 0 obj\n<</Type /Catalog\n/Pages 5 0 R\n/Lang (en)>>\nendobj\n\
         xref\n0 2\n0000000000 65535 f \n0000000009 00000 n \n\
         trailer\n<</Size 2\n/Root 6 0 R\n/Info 1 0 R>>\nstartxref\n52\n%%EOF\n"
    )
}

fn count(file: &[u8], length: usize) -> Option<u32> {
    let mut counter = PageCounter::default();
    file.chunks(length).for_each(|piece| counter.pass(piece));
    counter.pages()
}

#[test]
fn pages_are_counted_wherever_the_pieces_end() {
    let stream = "7 0 obj\n<</Length 8>> stream\n/Type /P\nendstream\nendobj\n";
    let file = file(stream);
    for length in 1..file.len() {
        assert_eq!(count(file.as_bytes(), length), Some(2), "in pieces of {length}");
    }
}

#[test]
fn what_strangers_write_counts_nothing() {
    let tree = "<</Type /Pages /Count 99>> endobj 6 0 obj <</Type /Catalog /Pages 9 0 R>>";
    let fake = format!("endstream\nendobj\n9 0 obj {tree} endobj trailer <</Root 6 0 R>> startxref 1 ");
    let stream =
        |end: &str| format!("7 0 obj\n<</Length {}>> stream{end}{fake}\nendstream\nendobj\n", fake.len());
    for extra in [
        format!("7 0 obj\n(/Type /Page \\) (a(b)) \\\\\\) {tree})\nendobj\n"),
        format!("7 0 obj\n<</Title (\\\\\\) /Type /Pages /Count 7)\n/Author ({tree})>>\nendobj\n"),
        "7 0 obj\n<</Title </Type /Pages /Count 7>/Count 4>>\nendobj\n".to_owned(),
        format!("7 0 obj\n[/Type /Pages /Count 3 {tree}]\nendobj\n"),
        format!("7 0 obj\n<</A [{tree}]/B {tree}>>\nendobj\n"),
        format!("%{tree}\n"),
        "7 0 obj\n<</Type /PagesX\n/Count 3>>\nendobj\n".to_owned(),
        "7 0 obj\n<</S /Type /Pages /Count 3>>\nendobj\n".to_owned(),
        "7 0 obj\n<</Type /Pages\n/Count 3>>\nendobj\n".to_owned(),
        "7 0 obj\n<</Length 0>> stream\n\nendstream\nendobj\n".to_owned(),
        stream("\n"),
        stream("\r\n"),
    ] {
        let file = file(&extra);
        assert_eq!(count(file.as_bytes(), file.len()), Some(2), "{extra}");
        assert_eq!(count(file.as_bytes(), 3), Some(2), "{extra}");
    }
}

#[test]
fn a_file_that_cannot_be_told_has_no_count() {
    let whole = file("");
    for other in [
        file("7 0 obj\n<</Length 8 0 R>> stream\nx\nendstream\nendobj\n"),
        file("7 0 obj\n<</Length 9>> stream\nx\nendstream\nendobj\n"),
        file("7 0 obj\n<</Filter /X>> stream\nx\nendstream\nendobj\n"),
        file("7 0 obj\n(open"),
        file("> >"),
        whole.replace("/Root 6", "/Root 7"),
        whole.replace("/Pages 5", "/Pages 4"),
        whole.replace("/Count 2", "/Count -2"),
        whole.replace("/Count 2", "/Count 99999999999"),
        whole.split_once("startxref").unwrap().0.to_owned(),
        String::new(),
    ] {
        assert_eq!(count(other.as_bytes(), 64), None, "{other}");
    }
}

#[test]
fn a_large_file_is_passed_in_constant_memory() {
    let mut counter = PageCounter::default();
    let (before, behind) = (file("X"), 300_u64 << 20);
    let (before, after) = before.split_once('X').unwrap();
    counter.pass(before.as_bytes());
    counter.pass(format!("7 0 obj\n<</Length {behind}>> stream\n").as_bytes());
    let piece = b"9 0 obj <</Type /Pages /Count 9>> endobj".repeat(1 << 20);
    let mut left = behind;
    while left > 0 {
        let length = piece.len().min(usize::try_from(left).unwrap());
        counter.pass(&piece[..length]);
        left -= length as u64;
    }
    counter.pass(b"\nendstream\nendobj\n");
    counter.pass(after.as_bytes());
    assert_eq!(counter.pages(), Some(2));
    assert!(counter.token.capacity() <= 2 * TOKEN_BYTES);
}
