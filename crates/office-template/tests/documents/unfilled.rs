//! Files that are taken as they are: nothing of them changes but what no document keeps, and their tags are told.

use std::path::PathBuf;

use office_template::{Error, Family, Limit, Limits, unfilled};

use crate::support::{entries, limits, part, zipped};

const RELATIONS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const MACROS: &str = "http://schemas.microsoft.com/office/2006/relationships/vbaProject";

/// A file with this content type of its main part, and these parts beside.
fn file(main: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let is_macro = |(name, _): &(&str, &str)| *name == "vbaProject.bin";
    let macros = "<Default Extension=\"bin\" ContentType=\"application/vnd.ms-office.vbaProject\"/>";
    let macros = if parts.iter().any(is_macro) { macros } else { "" };
    let list = format!(
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">{macros}\
         <Override PartName=\"/main.xml\" ContentType=\"application/vnd.{main}.main+xml\"/></Types>"
    );
    let mut all = vec![("[Content_Types].xml", list.as_bytes()), ("main.xml", b"<main/>".as_slice())];
    all.extend(parts.iter().map(|(name, content)| (*name, content.as_bytes())));
    zipped(&all)
}

const WORKBOOK: &str = "openxmlformats-officedocument.spreadsheetml.sheet";
const SLIDES: &str = "openxmlformats-officedocument.presentationml.presentation";

#[test]
fn a_file_without_macros_stays_byte_for_byte_what_it_was() {
    for (main, family) in [(WORKBOOK, Family::Excel), (SLIDES, Family::PowerPoint)] {
        let before =
            file(main, &[("xl/sharedStrings.xml", "<sst><si><t>plain {1, 2} {} {'a'}</t></si></sst>")]);
        let taken = unfilled(before.clone(), family, &limits()).expect("it is taken");
        assert_eq!(taken.file, before);
        assert_eq!((taken.tags, taken.first, taken.warnings), (0, None, Vec::new()));
    }
}

#[test]
fn tags_are_counted_over_runs_cells_slides_and_notes() {
    let strings = "<sst><si><r><t>{cust</t></r><r><t>omer.name}</t></r></si><si><t>{#items}{name}{/items}</t></si></sst>";
    let sheet = "<worksheet><c><is><t>&#123;total | money}</t></is></c><c><f>{1,2}</f></c></worksheet>";
    let parts = [("xl/sharedStrings.xml", strings), ("xl/worksheets/sheet1.xml", sheet)];
    let taken = unfilled(file(WORKBOOK, &parts), Family::Excel, &limits()).expect("it is taken");
    assert_eq!((taken.tags, taken.first.as_deref()), (5, Some("{customer.name}")));

    let slide = "<p:sld><a:p><a:r><a:t>Dear {{na</a:t></a:r><a:r><a:t>me}}</a:t></a:r></a:p></p:sld>";
    let layout = "<p:sldLayout><a:p><a:r><a:t>{prompt}</a:t></a:r></a:p></p:sldLayout>";
    let parts = [("ppt/slides/slide1.xml", slide), ("ppt/slideLayouts/slideLayout1.xml", layout)];
    let taken = unfilled(file(SLIDES, &parts), Family::PowerPoint, &limits()).expect("it is taken");
    assert_eq!((taken.tags, taken.first.as_deref()), (1, Some("{{name}}")));

    let content = "<office:text><text:h>{title}</text:h><text:p>for <text:span>{na</text:span>me}</text:p></office:text>";
    let kind = "application/vnd.oasis.opendocument.text";
    let odt = zipped(&[("mimetype", kind.as_bytes()), ("content.xml", content.as_bytes())]);
    let taken = unfilled(odt.clone(), Family::OpenDocument, &limits()).expect("it is taken");
    assert_eq!((taken.file == odt, taken.tags, taken.first.as_deref()), (true, 2, Some("{title}")));

    // There are headers and footers, which Microsoft's looks have none of.
    let styles = "<office:master-styles><style:footer><text:p>{page.foot}</text:p></style:footer></office:master-styles>";
    let odt = zipped(&[("mimetype", kind.as_bytes()), ("styles.xml", styles.as_bytes())]);
    let taken = unfilled(odt, Family::OpenDocument, &limits()).expect("it is taken");
    assert_eq!((taken.tags, taken.first.as_deref()), (1, Some("{page.foot}")));
    let parts = [("xl/styles.xml", "<styleSheet><si>{not.a.text}</si></styleSheet>")];
    assert_eq!(unfilled(file(WORKBOOK, &parts), Family::Excel, &limits()).expect("it is taken").tags, 0);
}

#[test]
fn tags_beyond_the_limit_are_reported_from_as_many_as_it_allows() {
    let counted = |cells: usize| {
        let strings = format!("<sst>{}</sst>", "<si><t>{a}</t></si>".repeat(cells));
        let few = Limits { tags: Limit { value: 3, ..limits().tags }, ..limits() };
        let parts = [("xl/sharedStrings.xml", strings.as_str())];
        unfilled(file(WORKBOOK, &parts), Family::Excel, &few).expect("it is taken").tags
    };
    assert_eq!([counted(2), counted(3), counted(4), counted(900)], [2, 3, 4, 4]);
}

#[test]
fn macros_are_left_out_and_templates_and_shows_become_plain_files() {
    let relations = format!(
        "<Relationships xmlns=\"{RELATIONS}\"><Relationship Id=\"rId1\" Type=\"{MACROS}\" Target=\"vbaProject.bin\"/>\
         </Relationships>"
    );
    let parts = [("_rels/main.xml.rels", relations.as_str()), ("vbaProject.bin", "macros")];
    for (main, family, plain) in [
        ("ms-excel.sheet.macroEnabled", Family::Excel, WORKBOOK),
        ("ms-excel.template.macroEnabled", Family::Excel, WORKBOOK),
        ("ms-powerpoint.slideshow.macroEnabled", Family::PowerPoint, SLIDES),
        ("openxmlformats-officedocument.presentationml.template", Family::PowerPoint, SLIDES),
    ] {
        let taken = unfilled(file(main, &parts), family, &limits()).expect("it is taken");
        let names: Vec<_> = entries(&taken.file).into_iter().map(|(name, _)| name).collect();
        assert!(!names.iter().any(|name| name.contains("vba")), "{names:?}");
        let list = part(&taken.file, "[Content_Types].xml");
        assert!(
            list.contains(&format!("application/vnd.{plain}.main+xml")) && !list.contains("vba"),
            "{list}"
        );
        assert!(!part(&taken.file, "_rels/main.xml.rels").contains("vba"));
        let [warning] = &taken.warnings[..] else { panic!("{:?}", taken.warnings) };
        assert!(warning.contains("macros") && warning.ends_with("no document has any"), "{warning}");
    }
}

#[test]
fn what_cannot_be_taken_is_refused_in_the_programs_own_words() {
    let list = "<Types><Override PartName=\"/xl/macrosheets/sheet1.xml\" ContentType=\"application/vnd.ms-excel.macrosheet+xml\"/>\
         <Override PartName=\"/main.xml\" ContentType=\"application/vnd.ms-excel.sheet.macroEnabled.main+xml\"/></Types>";
    let sheets = zipped(&[("[Content_Types].xml", list.as_bytes()), ("main.xml", b"<x/>")]);
    let refused = |file: Vec<u8>, limits: &Limits| match unfilled(file, Family::Excel, limits) {
        Err(Error::NotOffice(sentence) | Error::Limit(sentence)) => sentence,
        other => panic!("{other:?}"),
    };
    let sentence = refused(sheets, &limits());
    assert!(sentence.contains("macro sheet of Excel 4 (/xl/macrosheets/sheet1.xml)"), "{sentence}");
    let broken = zipped(&[("[Content_Types].xml", b"<Types><Override")]);
    let sentence = refused(broken, &limits());
    assert!(sentence.ends_with("save the file anew in Excel") && !sentence.contains("Word"), "{sentence}");
    let few = Limits { entries: Limit { name: "test.entries", value: 1 }, ..limits() };
    assert!(refused(file(WORKBOOK, &[]), &few).contains("test.entries = 1"));
    let texts = "<si><t>{a}</t></si>".repeat(200_000);
    let texts = file(WORKBOOK, &[("xl/sharedStrings.xml", &texts)]);
    let small = Limits { unpacked_bytes: Limit { name: "test.unpacked", value: 1 << 20 }, ..limits() };
    assert!(refused(texts.clone(), &small).contains("test.unpacked"));
    let wide = Limits { ratio: Limit { name: "test.ratio", value: 100_000 }, ..limits() };
    let taken = unfilled(texts, Family::Excel, &wide).expect("it is taken");
    assert_eq!(taken.tags, 5001, "more than the limit of tags are not counted to the end");
}

#[test]
fn real_workbooks_and_presentations_are_taken_and_stay_what_they_were() {
    let given = std::env::var_os("PLATEN_CORPUS").filter(|given| !given.is_empty() && given != "none");
    let Some(folder) = given.map(PathBuf::from) else {
        eprintln!("NOT TESTED: real workbooks and presentations, for PLATEN_CORPUS names no folder of them");
        return;
    };
    let (mut files, mut with_tags) = (0, 0);
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let family = match path.extension().and_then(|extension| extension.to_str()) {
                Some("xlsx") => Family::Excel,
                Some("pptx") => Family::PowerPoint,
                _ if path.is_dir() => {
                    folders.push(path);
                    continue;
                }
                _ => continue,
            };
            let before = std::fs::read(&path).expect("a file");
            let taken = unfilled(before.clone(), family, &limits());
            let taken = taken.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(taken.file == before || !taken.warnings.is_empty(), "{}", path.display());
            files += 1;
            with_tags += usize::from(taken.tags > 0);
        }
    }
    // Most are templates of a library whose tags are ours, or much like ours.
    assert!(files > 0 && with_tags * 2 > files, "{with_tags} of {files} have tags");
    println!("{files} taken, {with_tags} with tags");
}
