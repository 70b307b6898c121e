//! Templates made to cost much: they are read in a moment, or refused for a limit.

use office_template::{Error, Limits, Template};

use crate::bookmarks::bookmark;
use crate::effort::in_a_moment;
use crate::support::{DOCUMENT, docx, docx_with, entries, fill, limits, p, try_fill, zipped};

fn read(file: Vec<u8>, limits: &Limits) -> Result<Template, Error> {
    in_a_moment("reading", || Template::read(file, None, limits))
}

fn is_of_limit<T>(done: Result<T, Error>, limit: &str) -> bool {
    matches!(done, Err(Error::Limit(message)) if message.contains(limit))
}

/// A document whose parts shrink well.
fn generous() -> Limits {
    let mut limits = limits();
    limits.ratio.value = 100_000;
    limits.attributes.value = 100_000;
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

fn run(text: &str) -> String {
    format!("<w:r><w:t>{text}</w:t></w:r>")
}

#[test]
fn what_is_cut_again_and_again_is_no_text() {
    // Runs with a megabyte of properties: 50 sections begin in one, and end in another.
    let heavy =
        |text: &str| format!("<w:r><w:rPr>{}</w:rPr><w:t>{text}</w:t></w:r>", "<w:b/>".repeat(200_000));
    let body = format!("<w:p>{}{}</w:p>", heavy(&"{#a}".repeat(50)), heavy(&"{/}".repeat(50)));
    let mut limits = generous();
    limits.output_bytes.value = 20 << 20;
    let template = read(docx(&body), &limits).expect("it is read");
    let answer = format!("{{\"faults\":[],\"tree\":[{}{}]}}", "[[".repeat(50), "]]".repeat(50));
    let error =
        template.fill(&answer, &mut office_template::NoFiles).expect_err("it is too large").to_string();
    assert!(error.contains("test.output"), "{error}");
    let nest = |content: &str| {
        format!(
            "{}{content}{}",
            "<w:sdt><w:sdtPr/><w:sdtContent>".repeat(60),
            "</w:sdtContent></w:sdt>".repeat(60)
        )
    };
    let marks = "<w:bookmarkStart w:id=\"1\" w:name=\"x\"/>".repeat(100_000);
    let cuts = format!("<w:p>{marks}{}</w:p>", (nest(&run("{#a}")) + &run("{/}")).repeat(200));
    assert!(read(docx(&cuts), &generous()).is_ok());
    let controls =
        nest("").replace("<w:sdtPr/>", &format!("<w:sdtPr>{}</w:sdtPr>", "<w:id w:val=\"1\"/>".repeat(500)));
    let controls = controls.replace("</w:sdtContent></w:sdt>", "");
    let end = "</w:sdtContent></w:sdt>".repeat(60);
    let body = format!("<w:p>{}</w:p>", [controls, run("{#a}"), end, run("{/}")].concat().repeat(40));
    let read = read(docx(&body), &generous());
    assert!(read.err().expect("it is refused").to_string().contains("inside of too many elements"));
}

#[test]
fn attributes_and_chains_are_gone_through_once() {
    let doubled = format!("<w:p><w:r{}>{}</w:r></w:p>", " a=\"\"".repeat(80_000), "<w:t>{a}</w:t>");
    assert!(
        matches!(read(docx(&doubled), &generous()), Err(Error::NotOffice(message)) if message.contains("twice"))
    );
    let mut limits = generous();
    limits.tags.value = 100_000;
    let chain = [p("{#a}"), p("{/}{#a}").repeat(20_000), p("{/}x")].concat();
    assert!(read(docx(&chain), &limits).is_ok());
}

#[test]
fn a_value_is_not_written_far_beyond_the_limit() {
    let mut limits = limits();
    limits.output_bytes.value = 1 << 20;
    let template = read(docx(&p("{a}")), &limits).expect("it is read");
    let answer = format!("{{\"faults\":[],\"tree\":[\"{}\"]}}", "\\t".repeat(20_000_000));
    let filled = in_a_moment("filling", || template.fill(&answer, &mut office_template::NoFiles));
    assert!(is_of_limit(filled, "test.output"));
}

#[test]
fn faults_of_an_answer_are_cut_and_counted() {
    let template = read(docx(&p("{a}{b}")), &limits()).expect("it is read");
    let answer =
        format!("{{\"faults\":[[0,\"{}\"]],\"count\":7,\"tree\":[\"\",\"\"]}}", "x".repeat(1_000_000));
    let error = template.fill(&answer, &mut office_template::NoFiles).expect_err("it failed").to_string();
    assert!(error.len() < 1000 && error.ends_with("… (in \"{a}{b}\"); and 6 more"), "{error}");
}

#[test]
fn elements_and_attributes_are_limited() {
    let many = " a:a=\"\"".repeat(1_000_000);
    assert!(is_of_limit(
        read(docx(&format!("<w:p><w:r{many}><w:t>{{a}}</w:t></w:r></w:p>")), &generous()),
        "test.attributes"
    ));
    let empty = p("{a}") + &"<w:p/>".repeat(2_000_000);
    let mut limits = generous();
    limits.elements.value = 1_000_000;
    assert!(is_of_limit(read(docx(&empty), &limits), "test.elements"));
    // The parts have one limit together.
    let header = ("header1.xml", "header", "hdr", p("{title}"));
    let file = docx_with(&p("{title}"), &[(header.0, header.1, header.2, &header.3)]);
    let mut limits = generous();
    limits.elements.value = 9;
    assert!(is_of_limit(read(file.clone(), &limits), "test.elements"));
    limits.elements.value = 10;
    assert!(read(file, &limits).is_ok());
}

#[test]
fn sections_in_sections_are_repeated_no_more_often_than_the_limit() {
    let nested = |inner: &str| p(&format!("{{#a}}{{#a}}{{#a}}{inner}{{/}}{{/}}{{/}}"));
    let list = format!("{{\"a\":[{}0]}}", "0,".repeat(999));
    let filled = |body: &str, data: &str| in_a_moment(body, || try_fill(docx(&p(body)), data, "{}"));
    let thousand_million = in_a_moment("lists", || try_fill(docx(&nested("")), &list, "{}"));
    assert!(is_of_limit(thousand_million, "test.items = 1000000"));
    let lists = ["{#Array(1e9)}x{/}", "{#{length: 1e9} && Array(2 ** 32 - 1)}{/}"];
    for list in lists {
        assert!(is_of_limit(filled(list, "{}"), "test.items"), "{list}");
    }
    let exactly = format!("{{\"a\":[{}0]}}", "0,".repeat(999_999));
    assert!(try_fill(docx(&p("{#a}{/a}")), &exactly, "{}").is_ok());
    assert!(try_fill(docx(&p("{#a}{/a}{#a[0] + 1}{/}")), &exactly, "{}").is_err(), "a condition counts");
}

#[test]
fn bookmarks_of_turns_are_counted_before_anything_is_written() {
    let marks: String = (0..1000).map(|id| bookmark(id, &format!("b{id}"), "")).collect();
    let mut limits = limits();
    limits.output_bytes.value = 20 << 20;
    let template = read(docx(&(p("{#a}") + &format!("<w:p>{marks}</w:p>") + &p("{/}"))), &limits);
    let answer = format!("{{\"faults\":[],\"tree\":[[{}[]]]}}", "[],".repeat(20_000));
    let fill = || template.expect("it is read").fill(&answer, &mut office_template::NoFiles);
    assert!(is_of_limit(in_a_moment("bookmarks", fill), "test.output"));
}

#[test]
fn namespaces_in_a_text_without_blanks_are_looked_at_once() {
    let space = "=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
    assert!(read(docx(&p(&format!("{{a}}{}", space.repeat(200_000)))), &generous()).is_ok());
}
