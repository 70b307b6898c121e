//! Containers that strangers packed: each is refused with a sentence that says why.

use std::io::{Cursor, Write};

use crate::support::{DOCUMENT, document, docx, entries, limits, p, run, zipped};
use office_template::{Delimiters, Limit, Limits, Template};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn refused(file: Vec<u8>, limits: &Limits) -> String {
    match Template::read(file, None, limits) {
        Ok(_) => panic!("it is read"),
        Err(error) => error.to_string(),
    }
}

/// A good document with some of its files changed or added.
fn changed(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut all = entries(&docx(&p("{name}")));
    for &(name, content) in files {
        all.retain(|(found, _)| found != name);
        all.push((name.to_owned(), content.to_vec()));
    }
    let all: Vec<(&str, &[u8])> =
        all.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&all)
}

fn replaced(file: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    while let Some(at) = file.windows(from.len()).position(|window| window == from) {
        file[at..at + to.len()].copy_from_slice(to);
    }
    file
}

#[test]
fn what_is_no_word_file_is_called_what_it_is() {
    let types = |kind: &str| {
        let list =
            format!("<Types><Override PartName=\"/x.xml\" ContentType=\"application/{kind}\"/></Types>");
        zipped(&[("[Content_Types].xml", list.as_bytes())])
    };
    let compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old".to_vec();
    let encrypted = [&compound[..], b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"].concat();
    for (file, expected) in [
        (Vec::new(), "the file is empty"),
        (b"random bytes \x00\xff".to_vec(), "this is no Word file: a .docx begins with PK"),
        (b"PK\x03\x04 and no more".to_vec(), "this is no Word file, or a damaged one"),
        (b"%PDF-1.7".to_vec(), "this is a PDF"),
        (b"{\\rtf1}".to_vec(), "Rich Text Format"),
        (compound, "an old version of Office (.doc)"),
        (encrypted, "protected by a password"),
        (
            types("vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"),
            "its main part x.xml is missing",
        ),
        (
            types("vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"),
            "its main part x.xml is missing",
        ),
        (
            types("vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"),
            "its main part x.xml is missing",
        ),
        (types("xml"), "names no document of Word's"),
        (zipped(&[("a.txt", b"a")]), "a zip archive and no Word file"),
        (zipped(&[("mimetype", b"application/vnd.oasis.opendocument.text")]), "OpenDocument"),
    ] {
        let message = refused(file, &limits());
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn documents_with_macros_and_templates_are_read_as_documents() {
    for kind in [
        "application/vnd.ms-word.document.macroEnabled.main+xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    ] {
        let list =
            format!("<Types><Override PartName=\"/Word/Document.xml\" ContentType=\"{kind}\"/></Types>");
        let file = changed(&[("[Content_Types].xml", list.as_bytes())]);
        assert!(Template::read(file, None, &limits()).is_ok(), "{kind}");
    }
}

#[test]
fn hostile_names_are_refused() {
    for (name, expected) in [
        ("../x", "leads out of it"),
        ("/x", "leads out of it"),
        ("a\\..\\b", "leads out of it"),
        ("C:x", "leads out of it"),
        ("word/../../x", "leads out of it"),
        ("WORD/Document.XML", "but for capital letters"),
    ] {
        let message = refused(changed(&[(name, b"x")]), &limits());
        assert!(message.contains(expected), "{name}: {message}");
    }
    let twice =
        replaced(&changed(&[("word/documenu.xml", b"x")]), b"word/documenu.xml", b"word/document.xml");
    assert!(refused(twice, &limits()).contains("have the same name"));
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    let with = |change: fn(&mut Limits)| {
        let mut limits = limits();
        change(&mut limits);
        limits
    };
    let zeros = vec![b' '; 30 << 20];
    let message = refused(changed(&[("word/bomb.xml", &zeros)]), &limits());
    assert!(message.contains("word/bomb.xml") && message.contains("(test.ratio = 200)"), "{message}");
    let packed_well = changed(&[("word/media/white.bmp", &zeros)]);
    assert!(Template::read(packed_well, None, &limits()).is_ok(), "what stays packed may be packed well");
    let small = with(|limits| limits.unpacked_bytes = Limit { name: "the.key", value: 1000 });
    assert!(refused(changed(&[]), &small).contains("(the.key = 1000)"));
    let few = with(|limits| limits.entries.value = 3);
    assert!(refused(changed(&[]), &few).contains("contains 4 files, more than the limit (test.entries = 3)"));
    // The sizes that the directory tells are not believed.
    let honest = changed(&[(DOCUMENT, &zeros)]);
    let size = u32::try_from(zeros.len()).expect("it fits").to_le_bytes();
    let lying = replaced(&honest, &size, &100_u32.to_le_bytes());
    let message = refused(lying, &limits());
    assert!(message.contains("test.ratio") || message.contains("damaged"), "{message}");
    let deep = format!("{}{}{}", "<w:a>".repeat(300), p("{x}"), "</w:a>".repeat(300));
    assert!(
        refused(docx(&deep), &limits())
            .contains("stand in each other deeper than the limit (test.depth = 200)")
    );
    let many = with(|limits| limits.tags.value = 2);
    assert!(refused(docx(&p("{a}{b}{c}")), &many).contains("(test.tags = 2)"));
}

#[test]
fn a_document_that_grows_beyond_the_limit_is_refused() {
    let mut limits = limits();
    limits.output_bytes.value = 100_000;
    let template = Template::read(docx(&p("{#l}{#l}{.}{/}{/}")), None, &limits).expect("it is read");
    let data = format!(r#"{{"l":[{}1]}}"#, "1,".repeat(400));
    let answer = run(template.program(), &data, "{}");
    let message =
        template.fill(&answer, &mut office_template::NoFiles).expect_err("it is too large").to_string();
    assert!(message.contains("(test.output = 100000)"), "{message}");
}

#[test]
fn hostile_xml_is_refused() {
    let bad = |xml: &str| refused(changed(&[(DOCUMENT, xml.as_bytes())]), &limits());
    let good = document(&p("{name}"));
    for (xml, expected) in [
        (good.replace("<w:document", "<!DOCTYPE w:document [<!ENTITY x \"y\">]><w:document"), "<!DOCTYPE"),
        (good.replace("{name}", "{name}&x;"), "entity"),
        (good.replace("</w:r>", "</w:q>"), "broken"),
        (good.replace("</w:document>", ""), "ends too early"),
        (good.replace("<w:sectPr/>", "<w:sectPr a=b/>"), "broken"),
        (good.replace("UTF-8", "UTF-16"), "not written in UTF-8"),
    ] {
        let message = bad(&xml);
        assert!(message.contains(expected) && message.contains(DOCUMENT), "{expected}: {message}");
    }
    let list = b"<!DOCTYPE x><Types/>";
    assert!(refused(changed(&[("[Content_Types].xml", list)]), &limits()).contains("<!DOCTYPE"));
}

#[test]
fn encrypted_truncated_and_oddly_packed_files_are_refused() {
    let good = docx(&p("{name}"));
    for length in (4..good.len()).step_by(97) {
        let message = refused(good[..length].to_vec(), &limits());
        assert!(message.contains("damaged"), "{length}: {message}");
    }
    // The flag of encryption, in the directory and before the file.
    let mut encrypted = good.clone();
    for at in 0..encrypted.len() - 10 {
        match &encrypted[at..at + 4] {
            b"PK\x03\x04" => encrypted[at + 6] |= 1,
            b"PK\x01\x02" => encrypted[at + 8] |= 1,
            _ => {}
        }
    }
    assert!(refused(encrypted, &limits()).contains("is encrypted"));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer
        .start_file("a", SimpleFileOptions::default().compression_method(CompressionMethod::Stored))
        .expect("begins");
    writer.write_all(b"a").expect("is written");
    let mut odd = writer.finish().expect("ends").into_inner();
    for at in 0..odd.len() - 12 {
        match &odd[at..at + 4] {
            b"PK\x03\x04" => odd[at + 8] = 12,
            b"PK\x01\x02" => odd[at + 10] = 12,
            _ => {}
        }
    }
    assert!(refused(odd, &limits()).contains("packed in a way that Office does not use"));
}

#[test]
fn any_change_of_a_byte_is_borne() {
    let good = docx(&p("{#l}{name}{/l}"));
    proptest::proptest!(|(at in 0..good.len(), byte: u8)| {
        let mut file = good.clone();
        file[at] = byte;
        if let Ok(template) = Template::read(file, None, &limits()) {
            let _ = template.fill(r#"{"faults":[],"tree":[[["x"]]]}"#, &mut office_template::NoFiles);
        }
    });
}

#[test]
fn an_answer_that_is_another_templates_is_refused() {
    for answer in [
        "",
        "{}",
        "[]",
        r#"{"faults":[],"tree":[]}"#,
        r#"{"faults":[],"tree":["x"]}"#,
        r#"{"faults":[],"tree":[[["x","y"]]]}"#,
        r#"{"faults":[],"tree":[[["x"]],"more"]}"#,
        r#"{"faults":[],"tree":[[[[]]]]}"#,
    ] {
        let template = Template::read(docx(&p("{#l}{name}{/l}")), None, &limits()).expect("it is read");
        assert!(template.fill(answer, &mut office_template::NoFiles).is_err(), "{answer}");
    }
}

#[test]
fn delimiters_that_cannot_be_told_apart_from_text_are_refused() {
    for (start, end) in [("", "}"), ("a", "b"), ("{ ", "}"), ("=", "="), ("\"", "\""), ("{{{{{{{{{", "}")] {
        let delimiters = Delimiters { start: start.to_owned(), end: end.to_owned() };
        let error = Template::read(docx(&p("x")), Some(delimiters), &limits()).err().expect("it is refused");
        assert!(error.to_string().contains("cannot be a delimiter"), "{error}");
    }
}
