//! What is called by a text of the data: columns of tables, which Excel wants to be called as their headings say, and sheets.

use super::book::{Sheet, book};
use super::limits::changed;
use crate::support::{entries, part, try_fill, zipped};

const SHEET: &str = "xl/worksheets/sheet1.xml";
const TABLE: &str = "xl/tables/table1.xml";

/// What stands between two texts, each time.
pub fn between(xml: &str, begin: &str, end: &str) -> Vec<String> {
    let pieces = xml.split(begin).skip(1).filter_map(|rest| rest.split_once(end));
    pieces.map(|(found, _)| found.to_owned()).collect()
}

#[test]
fn a_column_of_a_table_is_called_as_its_heading_says_whatever_the_data_are() {
    for rows in ["{h}|{i}\n{#xs}1|2{/xs}", "{#once}{h}|{i}\n3|4{/once}"] {
        let mut sheet = Sheet::new("S").rows("A1", rows);
        sheet.table = Some(("T", "A1:B2", &["{h}", "{i}"], None));
        for (data, cells, names) in [
            ("null, \"i\": true", ["Column1", "TRUE"], ["Column1", "TRUE"]),
            ("\"\", \"i\": \"column1\"", ["Column1", "column12"], ["Column1", "column12"]),
            ("\"\\u0001Jan\", \"i\": 5", ["Jan", "5"], ["Jan", "5"]),
            ("\"_x0041_\", \"i\": \"a\\r\\nb\"", ["_x005F_x0041_", "a\nb"], ["_x005F_x0041_", "a_x000a_b"]),
        ] {
            let data = format!("{{\"xs\": [1], \"once\": [1], \"h\": {data}}}");
            let file =
                try_fill(book(std::slice::from_ref(&sheet), &[]), &data, "{}").expect("it is filled").file;
            let xml = part(&file, SHEET).replace(" xml:space=\"preserve\"", "");
            assert_eq!(
                between(&xml, "<is><t>", "</t>").get(..2),
                Some(&cells.map(str::to_owned)[..]),
                "{xml}"
            );
            assert_eq!(between(&part(&file, TABLE), " name=\"", "\"")[1..], names, "{data}");
        }
    }
}

#[test]
fn a_sheet_has_a_name_that_no_other_has() {
    let sheet = Sheet::new("{name}").rows("A1", "{:sheet xs}{name}");
    let names = |xs: &[&str]| {
        let xs: Vec<String> = xs.iter().map(|name| format!("{{\"name\": \"{name}\"}}")).collect();
        let data = format!("{{\"xs\": [{}]}}", xs.join(","));
        let file = try_fill(book(std::slice::from_ref(&sheet), &[]), &data, "{}")
            .map_err(|error| error.to_string())?;
        Ok::<_, String>(between(&part(&file.file, "xl/workbook.xml"), "<sheet name=\"", "\""))
    };
    assert_eq!(names(&["a", "A", "a (2)", "a"]).expect("names"), ["a", "A (2)", "a (2) (2)", "a (3)"]);
    // A letter beyond the first 65,536 counts twice in Excel.
    let long = "\u{1f600}".repeat(15);
    assert_eq!(names(&[&long, &long]).expect("names")[1], format!("{} (2)", "\u{1f600}".repeat(13)));
    assert_eq!(names(&["a"; 900]).expect("names").last().map(String::as_str), Some("a (900)"));
    for (name, told) in [
        ("a\u{ffff}", "ffff"),
        (
            "Q1/Q2",
            "has '/' in it, which Excel does not allow; nor [ ] : * ? / \\; write another letter, as in {name.replaceAll",
        ),
        ("[x", "has '[' in it"),
        (&"x".repeat(32), "has 32 characters, and Excel allows 31; shorten it, as in {name.slice(0, 31)}"),
        (" ", "would be empty; say what it is then"),
        ("'x", "begins or ends with an apostrophe"),
        ("history", "Excel keeps the name History for itself"),
    ] {
        let why = names(&["a", name]).expect_err(name);
        assert!(why.starts_with("the name of a sheet ({name}), {name}: ") && why.contains(told), "{why}");
    }
}

#[test]
fn a_workbook_keeps_a_sheet_that_is_not_hidden_and_is_opened_on_it() {
    let sheets = [Sheet::new("Seen").rows("A1", "{:sheet xs}"), Sheet::new("Hidden"), Sheet::new("Last")];
    let hidden = |count: usize| {
        changed(&book(&sheets[..count], &[]), "xl/workbook.xml", |xml| {
            xml.replace("name=\"Hidden\"", "name=\"Hidden\" state=\"hidden\"")
                .replace("<sheets>", "<bookViews><workbookView/></bookViews><sheets>")
        })
    };
    let filled =
        |file, data| try_fill(file, data, "{}").map(|filled| filled.file).map_err(|error| error.to_string());
    assert!(filled(hidden(2), "{\"xs\": []}").expect_err("none is left").contains("not hidden"));
    let file = filled(hidden(3), "{\"xs\": []}").expect("one is left");
    assert!(part(&file, "xl/workbook.xml").contains("<workbookView activeTab=\"1\"/>"));
    let file = filled(hidden(2), "{\"xs\": [1]}").expect("one is left");
    assert!(part(&file, "xl/workbook.xml").contains("<workbookView/>"));
}

#[test]
fn a_text_that_has_tags_before_other_delimiters_alone_stays_where_it_is_shown() {
    let file = book(&[Sheet::new("S").rows("A1", "{x}\nnow {=[[ ]]=}\n{x}\n[[x]]")], &[]);
    let file = with_strings(&file);
    let file = try_fill(file, "{\"x\": \"y\"}", "{}").expect("it is filled").file;
    let xml = part(&file, SHEET);
    assert!(xml.contains("<c r=\"A3\" t=\"s\"><v>0</v></c>"), "{xml}");
    assert!(part(&file, "xl/sharedStrings.xml").contains("<t>{x}</t>"));
}

/// The text {x} of a file's sheet as a shared one.
fn with_strings(file: &[u8]) -> Vec<u8> {
    let file =
        changed(file, SHEET, |xml| xml.replace("t=\"inlineStr\"><is><t>{x}</t></is>", "t=\"s\"><v>0</v>"));
    let file = changed(&file, "xl/_rels/workbook.xml.rels", |xml| {
        linked(&xml, "sharedStrings", "sharedStrings.xml")
    });
    with_parts(&file, &[("xl/sharedStrings.xml", "<sst><si><t>{x}</t></si></sst>")])
}

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Relationships with another one.
pub fn linked(xml: &str, kind: &str, target: &str) -> String {
    let link = format!("<Relationship Id=\"rId9\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>");
    xml.replace("</Relationships>", &format!("{link}</Relationships>"))
}

pub fn with_parts(file: &[u8], more: &[(&str, &str)]) -> Vec<u8> {
    let all = entries(file);
    let mut parts: Vec<(&str, &[u8])> =
        all.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    parts.extend(more.iter().map(|(name, content)| (*name, content.as_bytes())));
    zipped(&parts)
}

#[test]
fn a_title_above_columns_in_columns_stands_above_the_first_of_them() {
    let sheet = Sheet::new("S").rows("A1", "x|Plan\n|{-columns xs}{.}\n|{-columns xs}{.}{/}\n|{/}");
    let file = try_fill(book(&[sheet], &[]), "{\"xs\": [1, 2, 3]}", "{}").expect("it is filled").file;
    let xml = part(&file, SHEET);
    assert!(xml.contains("<c r=\"B1\" t=\"inlineStr\"><is><t>Plan"), "{xml}");
}
