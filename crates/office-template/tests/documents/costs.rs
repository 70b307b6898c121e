//! Templates made to cost much: they are read in a moment, or refused for a limit.

use std::time::{Duration, Instant};

use office_template::{Error, Limits, Template};

use crate::support::{DOCUMENT, docx, docx_with, entries, fill, limits, p, zipped};

/// What was quadratic took minutes; what is linear takes a second.
fn read(file: Vec<u8>, limits: &Limits) -> Result<Template, Error> {
    let begin = Instant::now();
    let read = Template::read(file, None, limits);
    assert!(begin.elapsed() < Duration::from_secs(20), "it took {:?}", begin.elapsed());
    read
}

fn is_of_limit(read: Result<Template, Error>, limit: &str) -> bool {
    matches!(read, Err(Error::Limit(message)) if message.contains(limit))
}

/// A document whose parts shrink well.
fn generous() -> Limits {
    let mut limits = limits();
    limits.ratio.value = 100_000;
    limits
}

#[test]
fn text_that_looks_like_pictures_is_looked_through_once() {
    assert!(read(docx(&p(&":docPr".repeat(200_000))), &generous()).is_ok());
    let picture = "<w:p><w:r><w:drawing><wp:inline><wp:docPr name=\"a>b\" id=\"40\"/></wp:inline></w:drawing></w:r></w:p>";
    let body = [p("the :docPr{#l}"), picture.to_owned(), p("{/l}")].concat();
    assert!(fill(&body, r#"{"l":[1,2]}"#).contains("id=\"41\""), "the largest number is still found");
}

#[test]
fn tags_are_counted_while_they_are_found() {
    for tag in ["{a}", "{}", "{:x}", "{\"\\\"}"] {
        assert!(is_of_limit(read(docx(&p(&tag.repeat(400_000))), &generous()), "test.tags"), "{tag}");
    }
}

#[test]
fn quotes_that_do_not_pair_are_not_followed_again_and_again() {
    let mut limits = generous();
    limits.tags.value = 100_000;
    assert!(matches!(read(docx(&p(&"{\"\\\"}".repeat(90_000))), &limits), Ok(_) | Err(Error::Tags(_))));
}

#[test]
fn a_part_is_read_once_however_often_it_is_named() {
    let header = ("header1.xml", "header", "hdr", p("{title}"));
    let file = docx_with(&p("{title}"), &[(header.0, header.1, header.2, &header.3)]);
    let kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.header+xml";
    let names = ["HEADER1.xml", "document.xml", "Header1.xml", "header1.xml", "none.xml"];
    let more: String =
        names.map(|name| format!("<Override PartName=\"/word/{name}\" ContentType=\"{kind}\"/>")).concat();
    let with_list = |more: &str| {
        let mut all = entries(&file);
        let list = String::from_utf8(all[0].1.clone())
            .expect("a list")
            .replace("</Types>", &format!("{more}</Types>"));
        all[0].1 = list.into_bytes();
        let all: Vec<(&str, &[u8])> =
            all.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
        zipped(&all)
    };
    let template = read(with_list(&more), &limits()).expect("it is read");
    assert_eq!(template.program().matches("\"whole\":\"title\"").count(), 2, "the body's and the header's");
    assert!(is_of_limit(read(with_list(&more.repeat(100)), &limits()), "test.entries"));
}

#[test]
fn what_the_parts_have_in_all_is_limited() {
    let file = docx(&p(&"x{a}".repeat(1000)));
    let all = entries(&file);
    let size = |name: &str| {
        all.iter().find(|(found, _)| found == name).map_or(0, |(_, content)| content.len() as u64)
    };
    let mut limits = generous();
    limits.unpacked_bytes.value = size(DOCUMENT) - 1;
    assert!(is_of_limit(read(file, &limits), "test.unpacked"));
}
