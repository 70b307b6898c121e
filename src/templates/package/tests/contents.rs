//! Content decides: plain text, Office files, what is neither, and which file of an archive is the entry.

use super::raw_archive::{self as raw, deflated};
use super::*;
use crate::domain::kinds::TemplateKind;

#[test]
fn plain_text_is_the_entry_and_is_not_copied() {
    let cases: [(&str, &str, TemplateKind); 15] = [
        ("<p>Hi</p>", "index.html", TemplateKind::Html),
        ("words", "index.html", TemplateKind::Html),
        (" \n", "index.html", TemplateKind::Html),
        ("PK is no archive", "index.html", TemplateKind::Html),
        ("{\"a\": 1}", "index.html", TemplateKind::Html),
        ("\u{feff}<!doctype html><p>ä", "index.html", TemplateKind::Html),
        ("<p><%= name %></p>", "index.html", TemplateKind::Ejs),
        ("<!doctype html><pre>\n\\documentclass{article}</pre>", "index.html", TemplateKind::Html),
        ("about <p>\\documentclass</p>", "index.html", TemplateKind::Html),
        ("\\documentation", "index.html", TemplateKind::Html),
        ("\\documentclass{article}", "index.tex", TemplateKind::Latex),
        ("\u{feff}\\documentclass{article}", "index.tex", TemplateKind::Latex),
        ("% a letter\r\n  \\documentstyle{letter}", "index.tex", TemplateKind::Latex),
        ("\\RequirePackage{x}\\documentclass{article}", "index.tex", TemplateKind::Latex),
        ("<% const a = 1 %>\n\\documentclass{article}", "index.tex", TemplateKind::Latex),
    ];
    for (text, entry, kind) in cases {
        let upload = Bytes::copy_from_slice(text.as_bytes());
        let package = Package::read(&upload, &limits()).unwrap();
        assert_eq!((package.entry.as_str(), package.kind), (entry, kind), "{text:?}");
        assert_eq!(paths(&package), [entry]);
        assert_eq!(package.files[entry].as_ptr(), upload.as_ptr(), "{text:?} was copied");
        assert!(Package::is_quick(&upload));
    }
    let line = "x\\documentclass".repeat(300_000);
    assert_eq!(read(format!("   {line}")).unwrap().kind, TemplateKind::Html, "each line is looked at once");
    let latin = read(&b"<p>\xe4 is not UTF-8</p>"[..]).unwrap();
    assert_eq!(latin.kind, TemplateKind::Html, "the assembler reads it");
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    for (text, kind) in [("\u{feff}<p>", TemplateKind::Html), ("\u{feff}<p><%= a %>", TemplateKind::Ejs)] {
        assert_eq!(read(wide(text)).unwrap().kind, kind);
        assert_eq!(read(archive(&[("index.html", &wide(text)[..])])).unwrap().kind, kind);
    }
    let sentence = refused(wide("\u{feff}\\documentclass{article}"));
    assert_says(&sentence, "LaTeX in UTF-16");
    assert_says(&sentence, "save it as UTF-8");
}

#[test]
fn what_is_no_template_is_refused_by_name_with_the_remedy() {
    let mut tar = vec![b'a'; 600];
    tar[257..262].copy_from_slice(b"ustar");
    let cases: [(&[u8], &str, &str); 13] = [
        (b"", "is empty", "upload a page"),
        (b"%PDF-1.7 words", "a PDF", "upload a page"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "a damaged old Office file", "save it anew as .docx"),
        (b"\x1f\x8b\x08\0", "a gzip archive", "as a zip archive"),
        (b"Rar!\x1a\x07\x01\0", "a RAR archive", "as a zip archive"),
        (b"7z\xbc\xaf\x27\x1c\0", "a 7-Zip archive", "as a zip archive"),
        (b"BZh91AY", "a bzip2 archive", "as a zip archive"),
        (&tar, "a tar archive", "as a zip archive"),
        (b"\x89PNG\r\n\x1a\n\0", "a picture (PNG)", "upload a page"),
        (b"\xff\xfe\0\0<\0\0\0", "text in UTF-32", "save it as UTF-8"),
        (b"<?xml version=\"1.0\"?>\n<office:document a", "a flat OpenDocument file", "save it as .odt"),
        (b"<p>\0</p>", "no text, for it has NUL bytes", "upload a page"),
        (b"\x7fELF\x02\x01\x01\0PK\x05\x06", "no text, for it has NUL bytes", "upload a page"),
    ];
    for (upload, what, remedy) in cases {
        let sentence = refused(Bytes::copy_from_slice(upload));
        assert_says(&sentence, what);
        assert_says(&sentence, remedy);
    }
}

#[test]
fn an_office_file_is_kept_whole() {
    let kinds = [
        ("word/document.xml", "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml", "docx"),
        ("word/document.xml", "vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml", "docx"),
        ("word/document.xml", "vnd.ms-word.document.macroEnabled.main+xml", "docx"),
        ("xl/workbook.xml", "vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml", "xlsx"),
        ("xl/workbook.xml", "vnd.ms-excel.sheet.macroEnabled.main+xml", "xlsx"),
        ("ppt/p.xml", "vnd.openxmlformats-officedocument.presentationml.presentation.main+xml", "pptx"),
        ("ppt/p.xml", "vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml", "pptx"),
    ];
    for (part, content_type, name) in kinds {
        let upload = Bytes::from(office(part, content_type));
        assert!(!Package::is_quick(&upload));
        let package = Package::read(&upload, &limits()).unwrap();
        let entry = format!("index.{name}");
        assert_eq!((package.entry.as_str(), package.kind.name()), (entry.as_str(), name));
        assert_eq!(package.files[&entry].as_ptr(), upload.as_ptr(), "not even copied");
        // An archive of nothing but that file, in a folder.
        let boxed = archive(&[("box/Letter.DOCX", &upload[..])]);
        let package = read(boxed).unwrap();
        assert_eq!((package.entry.as_str(), package.kind.name()), ("Letter.DOCX", name));
        assert_eq!(package.files["Letter.DOCX"], upload);
    }
    let wide: Vec<u8> = "<Types ContentType=\"application/vnd.ms-word.document.macroEnabled.main+xml\"/>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let package = read(archive(&[("[Content_Types].xml", &wide[..])])).unwrap();
    assert_eq!(package.kind, TemplateKind::Docx, "XML in UTF-16");
    let other = office("index.html", "vnd.ms-visio.drawing.main+xml");
    assert_eq!(read(other).unwrap().entry, "index.html", "an archive like any other");
}

#[test]
fn what_is_named_as_an_office_file_and_is_none_is_refused() {
    let cut = docx().split_off(40);
    let sentence = refused(archive(&[("letter.docx", &cut[..])]));
    assert!(
        sentence.starts_with("the archive's 'letter.docx' is no Office file; save it anew"),
        "{sentence}"
    );
    let tight = TemplatesConfig { archive_entries_limit: 1, ..limits() };
    let boxed = Bytes::from(archive(&[("letter.docx", &docx()[..])]));
    let sentence = Package::read(&boxed, &tight).unwrap_err().0;
    assert!(
        sentence.ends_with(
            "(inside it, the archive has 2 entries, more than 1 (templates.archive_entries_limit); \
             leave out what the template does not need, as sources and node_modules)"
        ),
        "{sentence}"
    );
    let types = b"<Override ContentType=\"application/vnd.ms-excel.sheet.macroEnabled.main+xml\"/>";
    let sentence = refused(archive(&[("book/[Content_Types].xml", &types[..]), ("book/index.html", PAGE)]));
    assert_says(&sentence, "together with the folder it lay in; upload the Office file itself");
}

#[test]
fn the_entry_is_a_known_name_or_the_only_file_that_could_be_it() {
    let cases: [(&[Named], &str, TemplateKind); 10] = [
        (&[("index.html", PAGE), ("main.tex", b"x"), ("a.html", PAGE)], "index.html", TemplateKind::Html),
        (&[("index.html", b"<%= a %>"), ("index.ejs", b"x")], "index.html", TemplateKind::Ejs),
        (&[("index.html", b"")], "index.html", TemplateKind::Html),
        (&[("index.ejs", b"no tag"), ("index.tex", b"x")], "index.ejs", TemplateKind::Ejs),
        (&[("index.tex", b"\\input{a}"), ("main.tex", b"x")], "index.tex", TemplateKind::Latex),
        (&[("main.tex", b"x"), ("a.tex", b"x"), ("logo.png", b"\x89PNG")], "main.tex", TemplateKind::Latex),
        (&[("Invoice.HTM", PAGE), ("a/index.html", PAGE), ("x.css", b"")], "Invoice.HTM", TemplateKind::Html),
        (&[("letter.ejs", b"x"), ("parts/row.ejs", b"x")], "letter.ejs", TemplateKind::Ejs),
        (&[("wrap/index.html", PAGE), ("wrap/a/x.css", b"")], "index.html", TemplateKind::Html),
        (&[("index.html/index.html", PAGE)], "index.html", TemplateKind::Html),
    ];
    for (files, entry, kind) in cases {
        let package = read(archive(files)).unwrap();
        assert_eq!((package.entry.as_str(), package.kind), (entry, kind), "{files:?}");
        assert_eq!(package.files.len(), files.len());
    }
}

#[test]
fn the_entry_of_the_jobs_kind_goes_before_others() {
    let docx = docx();
    let cases: [(&[Named], &str); 4] = [
        (&[("index.docx", &docx), ("index.html", PAGE)], "index.docx"),
        (&[("Letter.dotx", &docx), ("index.html", PAGE)], "Letter.dotx"),
        (&[("Letter.docx", &docx), ("prices.xlsx", b"x"), ("a.html", PAGE)], "Letter.docx"),
        (&[("index.html", PAGE), ("a/index.docx", &docx)], "index.html"),
    ];
    for (files, entry) in cases {
        let upload = Bytes::from(archive(files));
        let package = Package::read_for(Some(TemplateKind::Docx), &upload, &limits()).unwrap();
        assert_eq!(package.entry, entry);
    }
    let cases: [(&[Named], &str); 4] = [
        (&[], "holds no files; pack index.docx and what belongs"),
        (
            &[("a/index.docx", &docx), ("b/index.html", PAGE)],
            "no index.docx at its top; it has index.docx in 'a'",
        ),
        (&[("logo.png", b"x")], "no index.docx at its top, only 'logo.png'; put the document there"),
        (&[("a.docx", &docx), ("b.docx", &docx)], "no index.docx at its top, and more than one"),
    ];
    for (files, words) in cases {
        let upload = Bytes::from(archive(files));
        let sentence = Package::read_for(Some(TemplateKind::Docx), &upload, &limits()).unwrap_err().0;
        assert_says(&sentence, words);
    }
}

#[test]
fn only_xml_parts_of_an_office_file_count_for_the_ratio_limit() {
    let types = b"<Override ContentType=\"application/vnd.ms-word.document.macroEnabled.main+xml\"/>";
    let zeros = vec![0; 3 << 20];
    let with = |name: &str| {
        Bytes::from(raw::write(&[deflated("[Content_Types].xml", types), deflated(name, &zeros)]))
    };
    for name in ["word/media/i.emf", "word/media/white.bmp", "word/embeddings/a.bin", "word/fonts/a.odttf"] {
        assert!(read(with(name)).is_ok(), "{name}");
        let small = TemplatesConfig { archive_bytes_limit: 2 << 20, ..limits() };
        let sentence = Package::read(&with(name), &small).unwrap_err().0;
        assert_says(&sentence, "archive_bytes_limit");
        assert_says(&sentence, "Compress Pictures");
    }
    for name in ["word/document.xml", "word/_rels/document.XML.RELS"] {
        let sentence = refused(with(name));
        assert_says(&sentence, "archive_ratio_limit");
        assert_says(&sentence, "anew in Office");
    }
}

#[test]
fn an_archive_without_an_entry_says_what_it_has_instead() {
    let inner = archive(&[("index.html", PAGE)]);
    let cases: [(&[Named], &str); 10] = [
        (
            &[("a.docx", b"x"), ("b.xlsx", b"x")],
            "'b.xlsx'; rename the one that is it to index.docx or index.xlsx",
        ),
        (&[], "the archive holds no files"),
        (&[("folder/", b"")], "the archive holds no files"),
        (
            &[("a.html", PAGE), ("b.ejs", PAGE)],
            "more than one file that could be the template: 'a.html', 'b.ejs'",
        ),
        (
            &[("package.json", b"{}"), ("a/b/index.html", PAGE), ("dist/index.html", PAGE)],
            "no index.html at its top; it has index.html in 'dist': pack what that folder holds",
        ),
        (&[("a/b/index.html", PAGE)], "it has index.html in 'b'"),
        (&[("site.zip", &inner)], "no index.html at its top, only 'site.zip'; put the page there"),
        (
            &[("1", b""), ("2", b""), ("3", b""), ("4", b""), ("5", b""), ("6", b"")],
            "only '1', '2', '3', '4', '5' and 1 more",
        ),
        (&[("index.html", b"%PDF-1.4")], "the archive's 'index.html' is a PDF; upload a page"),
        (&[("index.html", &inner)], "the archive's 'index.html' is itself an archive"),
    ];
    for (files, words) in cases {
        assert_says(&refused(archive(files)), words);
    }
}
