//! Sheets that programs format to their edges: empty rows down to the last one, whole rows and columns that are merged, named and watched.

use super::book::{Sheet, book};
use super::limits::{SHEET, changed};
use super::names::between;
use crate::support::{part, try_fill};

const XS: &str = "{\"xs\":[\"Ink\",\"Paper\",\"Pen\"]}";
const LIST: &str = "n|q\n{#xs}{.}|x|{/xs}";

/// A list of three rows below a heading, with these rows behind it.
fn with_rows(rows: &str) -> Vec<u8> {
    changed(&book(&[Sheet::new("S").rows("A1", LIST)], &[]), SHEET, |xml| {
        xml.replace("</sheetData>", &format!("{rows}</sheetData>"))
    })
}

#[test]
fn empty_rows_at_the_end_of_a_sheet_fall_off_it() {
    for (name, rows) in [
        ("a row with a height", "<row r=\"1048576\" ht=\"12.8\" customHeight=\"1\"></row>"),
        ("a row without anything", "<row r=\"1048576\"/>"),
        (
            "cells with formats alone",
            "<row r=\"1048575\" s=\"1\" customFormat=\"1\"><c r=\"A1048575\" s=\"1\"/></row>\
             <row r=\"1048576\"><c r=\"A1048576\" s=\"1\"/><c r=\"XFD1048576\" s=\"1\"></c></row>",
        ),
        (
            "cells with empty values",
            "<row r=\"1048576\"><c r=\"A1048576\"><v></v></c><c r=\"B1048576\" t=\"str\"><v/></c>\
             <c r=\"C1048576\" t=\"inlineStr\"><is><t></t></is></c><c r=\"D1048576\" t=\"inlineStr\"><is/></c></row>",
        ),
        (
            "another program's letters and blanks",
            "<row r=\"1048576\" hidden=\"1\">\n  <c r=\"A1048576\" t=\"inlineStr\">\n<is>\n<t/>\n</is>\n</c>\n</row>",
        ),
    ] {
        let file = try_fill(with_rows(rows), XS, "{}").unwrap_or_else(|error| panic!("{name}: {error}")).file;
        let sheet = part(&file, SHEET);
        assert_eq!(between(&sheet, "<is><t>", "</t>")[2..], ["Ink", "x", "Paper", "x", "Pen", "x"], "{name}");
        assert!(!sheet.contains("r=\"1048577\"") && !sheet.contains("A1048577"), "{name}: {sheet}");
    }
}

#[test]
fn empty_columns_at_the_end_of_a_sheet_fall_off_it() {
    let sheet = Sheet::new("S").rows("A1", "a|{-columns xs}{.}|b\n|{/xs}");
    let file = changed(&book(&[sheet], &[]), SHEET, |xml| {
        xml.replacen("</row>", "<c r=\"XFC1\" s=\"1\"/><c r=\"XFD1\" s=\"1\"/></row>", 1)
    });
    let file = try_fill(file, XS, "{}").expect("it is filled").file;
    let sheet = part(&file, SHEET);
    assert_eq!(between(&sheet, "<is><t>", "</t>"), ["a", "Ink", "Paper", "Pen", "b"]);
    assert!(!sheet.contains("XFE"), "{sheet}");
}

#[test]
fn what_a_row_says_does_not_fall_off() {
    for rows in [
        "<row r=\"1048576\"><c r=\"A1048576\"><v>0</v></c></row>",
        "<row r=\"1048575\"><c r=\"A1048575\" t=\"inlineStr\"><is><r><t>x</t></r></is></c></row><row r=\"1048576\"/>",
        "<row r=\"1048576\"><c r=\"A1048576\"><f>1+1</f></c></row>",
    ] {
        let why = try_fill(with_rows(rows), XS, "{}").expect_err(rows).to_string();
        assert!(why.contains("and Excel allows 1048576"), "{rows}: {why}");
    }
}

#[test]
fn whole_rows_and_columns_are_written_by_their_corners() {
    let behind = "<autoFilter ref=\"A1:XFD2\"/><mergeCells count=\"3\"><mergeCell ref=\"A4:XFD4\"/><mergeCell ref=\"6:6\"/>\
         <mergeCell ref=\"C7:XFD8\"/></mergeCells>\
         <conditionalFormatting sqref=\"A5:XFD5 A2:XFD2\"><cfRule type=\"expression\" priority=\"1\"><formula>$A5=1</formula></cfRule></conditionalFormatting>\
         <conditionalFormatting sqref=\"E:E\"><cfRule type=\"expression\" priority=\"2\"><formula>E1=1</formula></cfRule></conditionalFormatting>\
         <dataValidations count=\"2\"><dataValidation type=\"list\" sqref=\"9:9\"><formula1>$4:$4</formula1></dataValidation>\
         <dataValidation type=\"whole\" sqref=\"B10:B1048576\"><formula1>COUNTA(A:A)</formula1></dataValidation></dataValidations>\
         <hyperlinks><hyperlink ref=\"A4:XFD4\" location=\"S!4:4\"/></hyperlinks>";
    let sheet = Sheet { behind: behind.to_owned(), ..Sheet::new("S").rows("A1", LIST) };
    let names = [("Row", "S!$4:$4"), ("Columns", "S!$A:$C"), ("Corners", "S!$A$4:$XFD$4")];
    let file = changed(&book(&[sheet], &names), "xl/workbook.xml", |xml| {
        let area =
            "<definedName name=\"_xlnm.Print_Area\" localSheetId=\"0\">S!$A$1:$XFD$4,S!$6:$7</definedName>";
        xml.replace("<definedNames>", &format!("<definedNames>{area}"))
    });
    let file = try_fill(file, XS, "{}").expect("it is filled").file;
    let (sheet, main) = (part(&file, SHEET), part(&file, "xl/workbook.xml"));
    for (part, expected) in [
        (&sheet, "<autoFilter ref=\"A1:XFD4\"/>"),
        (&sheet, "<mergeCell ref=\"A6:XFD6\"/><mergeCell ref=\"A8:XFD8\"/><mergeCell ref=\"C9:XFD10\"/>"),
        (&sheet, "sqref=\"A7:XFD7 A2:XFD4\""),
        (&sheet, "sqref=\"E:E\""),
        (&sheet, "sqref=\"A11:XFD11\"><formula1>$6:$6<"),
        (&sheet, "sqref=\"B12:B1048576\"><formula1>COUNTA(A:A)<"),
        (&sheet, "<hyperlink ref=\"A6:XFD6\" location=\"S!6:6\"/>"),
        (&main, "name=\"Row\">S!$6:$6<"),
        (&main, "name=\"Columns\">S!$A:$C<"),
        (&main, "name=\"Corners\">S!$A$6:$XFD$6<"),
        (&main, "localSheetId=\"0\">S!$A$1:$XFD$6,S!$8:$9<"),
    ] {
        assert!(part.contains(expected), "{expected} is not in {part}");
    }
}

#[test]
fn whole_columns_move_with_the_columns_before_them() {
    let behind = "<mergeCells count=\"1\"><mergeCell ref=\"A5:XFD5\"/></mergeCells>\
         <conditionalFormatting sqref=\"D:D\"><cfRule type=\"expression\" priority=\"1\"><formula>D1=1</formula></cfRule></conditionalFormatting>\
         <dataValidations count=\"1\"><dataValidation type=\"whole\" sqref=\"B1:B1048576\"><formula1>1</formula1></dataValidation></dataValidations>";
    let sheet =
        Sheet { behind: behind.to_owned(), ..Sheet::new("S").rows("A1", "a|{-columns xs}{.}|b\n|{/xs}") };
    let file = try_fill(book(&[sheet], &[("All", "S!$D:$D")]), XS, "{}").expect("it is filled").file;
    let sheet = part(&file, SHEET);
    for expected in ["<mergeCell ref=\"A5:XFD5\"/>", "sqref=\"F1:F1048576\"", "sqref=\"B1:D1048576\""] {
        assert!(sheet.contains(expected), "{expected} is not in {sheet}");
    }
    assert!(part(&file, "xl/workbook.xml").contains("S!$F:$F<"));
}
