//! Workbooks that become pages: ranges that reach to the edges of a sheet end with its cells.

use office_template::bounded_for_pages;

use super::book::{Sheet, book};
use super::limits::{SHEET, changed};
use super::names::between;
use crate::support::{docx, p, part, try_fill};

const XS: &str = "{\"xs\":[\"Ink\",\"Paper\",\"Pen\"]}";

/// A sheet of three used columns and six used rows with these merged cells.
fn merged(ranges: &[&str]) -> Vec<u8> {
    let merges: String = ranges.iter().map(|range| format!("<mergeCell ref=\"{range}\"/>")).collect();
    let behind = format!("<mergeCells count=\"{}\">{merges}</mergeCells>", ranges.len());
    book(&[Sheet { behind, ..Sheet::new("S").rows("A1", "a|b|c\n|\n|\nd\n|\n|e") }], &[])
}

/// The merged cells of the bounded workbook; `None` where it stays as it is.
fn bounded(file: &[u8]) -> Option<Vec<String>> {
    Some(between(&part(&bounded_for_pages(file)?, SHEET), "mergeCell ref=\"", "\""))
}

#[test]
fn merged_cells_that_reach_to_the_edges_end_with_the_cells_that_say_something() {
    for (ranges, expected) in [
        (&["A4:XFD4"][..], &["A4:C4"][..]),
        (&["4:4", "A5:XFC5"], &["A4:C4", "A5:C5"]),
        (&["A1:A1048576"], &["A1:A6"]),
        (&["B:C"], &["B1:C6"]),
        (&["A8:XFD1048576", "E1:XFD2"], &["A8:C8", "E1:E2"]),
        // Merged cells that are on a page anyway are used ones, too.
        (&["A2:H2", "A4:XFD4"], &["A2:H2", "A4:H4"]),
    ] {
        let now = bounded(&merged(ranges)).unwrap_or_default();
        assert_eq!(now, expected, "{ranges:?}");
    }
    for ranges in [&[][..], &["A1:C1"], &["A2:Z2", "B3:B900"]] {
        assert_eq!(bounded(&merged(ranges)), None, "{ranges:?}");
    }
}

#[test]
fn what_is_merged_in_each_turn_of_a_list_is_bounded_in_each() {
    let behind =
        "<mergeCells count=\"2\"><mergeCell ref=\"A2:XFD2\"/><mergeCell ref=\"A4:XFD4\"/></mergeCells>";
    let sheet =
        Sheet { behind: behind.to_owned(), ..Sheet::new("S").rows("A1", "n|q\n{-rows xs}{.}{/}\n|\nx") };
    let filled = try_fill(book(&[sheet], &[]), XS, "{}").expect("it is filled").file;
    let merges = between(&part(&filled, SHEET), "mergeCell ref=\"", "\"");
    assert_eq!(
        merges,
        ["A2:XFD2", "A3:XFD3", "A4:XFD4", "A6:XFD6"],
        "the workbook keeps its author's ranges"
    );
    assert_eq!(bounded(&filled).expect("it is bounded"), ["A2:B2", "A3:B3", "A4:B4", "A6:B6"]);
}

#[test]
fn links_of_whole_rows_and_columns_end_with_the_cells() {
    let link = |range: &str| format!("<hyperlink ref=\"{range}\" location=\"S!A1\"/>");
    for (range, expected) in [
        ("A4:XFD4", Some("A4:C4")),
        ("B:B", Some("B1:B6")),
        ("A1:XFD1048576", Some("A1:C6")),
        ("A1:C6", None),
    ] {
        let links = format!("</mergeCells><hyperlinks>{}</hyperlinks>", link(range));
        let file = changed(&merged(&["A1:B1"]), SHEET, |xml| xml.replace("</mergeCells>", &links));
        let now = bounded_for_pages(&file).map(|file| between(&part(&file, SHEET), "hyperlink ref=\"", "\""));
        assert_eq!(now, expected.map(|range| vec![range.to_owned()]), "{range}");
    }
}

#[test]
fn a_merged_text_has_room_for_itself() {
    let text = "A heading that is wider than the three columns of the table below it";
    let said = |file: Vec<u8>| bounded(&file).expect("it is bounded");
    let file = changed(&merged(&["A4:XFD4"]), SHEET, |xml| xml.replace(">d<", &format!(">{text}<")));
    assert_eq!(said(file.clone()), ["A4:I4"]);
    // Wide columns hold it.
    let wide = changed(&file, SHEET, |xml| {
        xml.replace(
            "<sheetData>",
            "<cols><col min=\"1\" max=\"3\" width=\"30.5\" customWidth=\"1\"/></cols><sheetData>",
        )
    });
    assert_eq!(said(wide), ["A4:C4"]);
    // A text of many lines is not laid out in one.
    let long = changed(&file, SHEET, |xml| xml.replace(text, &text.repeat(100)));
    assert_eq!(said(long), ["A4:Q4"]);
}

#[test]
fn other_programs_sheets_are_bounded_and_other_files_stay() {
    // Prefixes, line breaks, cells without addresses, values that are empty, formats to the edges.
    let file = changed(&merged(&["A4:XFD4"]), SHEET, |xml| {
        let (head, _) = xml.split_once("<worksheet").expect("a sheet");
        let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
        format!(
            "{head}<x:worksheet xmlns:x='{main}'>\n<x:sheetData><x:row><x:c><x:v>1</x:v></x:c><x:c><x:f>A1+1</x:f></x:c></x:row>\
             <x:row r='4'><x:c t='s'><x:v>7</x:v></x:c><x:c r='XFD4' s='1'><x:v></x:v></x:c></x:row>\n<x:row r='1048576'/></x:sheetData>\n\
             <x:mergeCells>\n<x:mergeCell\n ref='A4:XFD4'></x:mergeCell></x:mergeCells></x:worksheet>"
        )
    });
    let bounded = bounded_for_pages(&file).expect("it is bounded");
    assert!(part(&bounded, SHEET).contains("<x:mergeCell\n ref='A4:B4'>"), "{}", part(&bounded, SHEET));
    for other in [
        docx(&p("A4:XFD4")),
        b"PK\x03\x04".to_vec(),
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(),
        Vec::new(),
    ] {
        assert_eq!(bounded_for_pages(&other), None);
    }
}

#[test]
fn a_formulas_letters_are_not_the_text_of_its_cell() {
    let formula = format!("<f>{}</f><v>7</v>", "1+".repeat(65) + "1");
    let file = changed(&merged(&["A1:XFD1"]), SHEET, |xml| {
        let (head, rest) = xml.split_once("<c r=\"A1\"").expect("a cell");
        let (_, rest) = rest.split_once("</c>").expect("its end");
        format!("{head}<c r=\"A1\">{formula}</c>{rest}")
    });
    assert_eq!(bounded(&file), Some(vec!["A1:C1".to_owned()]));
}

#[test]
fn a_sheet_and_links_that_are_called_as_an_element_do_not_hide_what_is_merged() {
    let link = "</mergeCells><hyperlinks><hyperlink ref=\"A1\" location=\"sheetData!A1\" display=\"sheetData\"/>\
        <hyperlink ref=\"A2\" display=\"sheetData>\" tooltip=\"x:sheetData/\"/></hyperlinks>";
    let file = changed(&merged(&["A4:XFD4"]), SHEET, |xml| xml.replace("</mergeCells>", link));
    assert_eq!(bounded(&file), Some(vec!["A4:C4".to_owned()]));
}

#[test]
fn rows_behind_the_last_one_are_not_used() {
    let rows = "<row r=\"4294967295\"><c><v>1</v></c></row><row><c><v>2</v></c></row></sheetData>";
    let file = changed(&merged(&["A1:A1048576"]), SHEET, |xml| xml.replace("</sheetData>", rows));
    assert_eq!(bounded(&file), Some(vec!["A1:A6".to_owned()]));
}
