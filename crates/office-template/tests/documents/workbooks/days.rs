//! Dates in cells that are formatted as dates: Excel's numbers, from its first day on, and texts before.

use super::book::{Sheet, book};
use super::limits::{SHEET, changed};
use super::names::{between, linked, with_parts};
use crate::support::{part, try_fill};

const STYLES: &str =
    "<styleSheet><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>";

/// What the cells of a row say, each formatted as a date, and what was warned of.
fn filled(rows: &str, data: &str, is_1904: bool) -> (Vec<String>, Vec<String>) {
    let file = changed(&book(&[Sheet::new("S").rows("A1", rows)], &[]), SHEET, |xml| {
        xml.replace("<c r=", "<c s=\"1\" r=")
    });
    let file = changed(&file, "xl/_rels/workbook.xml.rels", |xml| linked(&xml, "styles", "styles.xml"));
    let file = changed(&file, "xl/workbook.xml", |xml| {
        let since = if is_1904 { "<workbookPr date1904=\"1\"/><sheets>" } else { "<sheets>" };
        xml.replace("<sheets>", since)
    });
    let file = with_parts(&file, &[("xl/styles.xml", STYLES)]);
    let filled = try_fill(file, data, "{}").unwrap_or_else(|error| panic!("{rows}: {error}"));
    let cells = between(&part(&filled.file, SHEET), "<c r=\"", "</c>");
    let cells = cells.iter().filter_map(|cell| {
        let number = cell.split_once("<v>").map(|(_, rest)| rest.trim_end_matches("</v>"));
        let text = cell.split_once("<t>").map(|(_, rest)| rest.trim_end_matches("</t></is>"));
        number.or(text).map(str::to_owned)
    });
    (cells.collect(), filled.warnings)
}

#[test]
fn a_date_has_the_number_that_excel_gives_it_or_is_a_text_with_a_warning() {
    let data = "{\"a\":\"1900-01-01\",\"b\":\"1900-02-28\",\"c\":\"1900-03-01\",\"d\":\"1900-01-01T12:00\",\"e\":\"2026-03-16T18:00\",\
         \"f\":\"1899-12-31\",\"g\":\"1899-12-30T09:30\",\"h\":\"1815-12-10\",\"i\":\"9999-12-31\"}";
    let (cells, told) = filled("{a}|{b}|{c}|{d}|{e}|{f}|{g}|{h}|{i}", data, false);
    assert_eq!(
        cells,
        ["1", "59", "61", "1.5", "46097.75", "1899-12-31", "1899-12-30T09:30:00", "1815-12-10", "2958465"]
    );
    assert_eq!(
        told,
        [
            "S!F1: 1899-12-31 (and 2 more) is none of the days of this workbook, 1900 to 9999: its cell has a text, and formulas do not calculate with it",
            "S!A1: 1900-01-01 (and 2 more) is before 1900-03-01: Excel shows it, and LibreOffice, which makes PDF and pictures, the day before",
        ]
    );
}

#[test]
fn a_workbook_that_counts_from_1904_has_no_days_before() {
    let data = "{\"a\":\"1904-01-01\",\"b\":\"1903-12-31\",\"c\":\"1900-01-01\",\"d\":\"2026-03-16\"}";
    let (cells, told) = filled("{a}|{b}|{c}|{d}", data, true);
    assert_eq!(cells, ["0", "1903-12-31", "1900-01-01", "44635"]);
    assert_eq!(
        told,
        [
            "S!B1: 1903-12-31 (and 1 more) is none of the days of this workbook, 1904 to 9999: its cell has a text, and formulas do not calculate with it"
        ]
    );
}

#[test]
fn dates_of_a_list_are_told_once() {
    let days: Vec<String> = (1..=9).map(|day| format!("\"1899-12-0{day}\"")).collect();
    let (cells, told) = filled("h\n{#xs}{.}|{/xs}", &format!("{{\"xs\":[{}]}}", days.join(",")), false);
    assert_eq!(cells.last().map(String::as_str), Some("1899-12-09"));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("S!A2: 1899-12-01 (and 8 more) "), "{told:?}");
    // Words beside it make it a text, as any value.
    let (cells, told) = filled("on {a}", "{\"a\":\"1899-12-31\"}", false);
    assert_eq!((cells, told), (vec!["on 1899-12-31".to_owned()], Vec::new()));
}
