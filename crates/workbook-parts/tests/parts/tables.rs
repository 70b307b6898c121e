//! Tables, with the parts of Excel's own files.

use cell_references::{Cell, Workbook};
use workbook_parts::{At, Book, Called, Report, Table, table};

use crate::support::{FIRST, LIMIT, copy, workbook};

/// As Excel wrote it, with a total and a formula.
const TABLE: &str = "<table xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
    xmlns:xr=\"http://schemas.microsoft.com/office/spreadsheetml/2014/revision\" id=\"1\" xr:uid=\"{0B54B0CB-D0C7-994C-8BB2-DE569D4AB470}\" \
    name=\"Tabla1\" displayName=\"Tabla1\" ref=\"C2:E4\" totalsRowCount=\"1\"><autoFilter ref=\"C2:E3\"><filterColumn colId=\"1\"/></autoFilter>\
    <tableColumns count=\"3\"><tableColumn id=\"1\" name=\"Name\"/><tableColumn id=\"2\" name=\"{col2}\" totalsRowFunction=\"sum\"/>\
    <tableColumn id=\"3\" name=\"Age\"><calculatedColumnFormula>Tabla1[[#This Row],[Name]]*D3+$B$9</calculatedColumnFormula>\
    <totalsRowFormula>SUM(E3)</totalsRowFormula></tableColumn></tableColumns><tableStyleInfo name=\"TableStyleMedium2\"/></table>";

fn grown(workbook: &Workbook, at: At, id: Option<u32>) -> (Option<Table>, Report) {
    let mut report = Report::default();
    let heading = |cell: Cell| match cell.column {
        4 => Some("Last\nname".to_owned()),
        5 => Some("name".to_owned()),
        _ => None,
    };
    let book = Book::new(workbook, LIMIT);
    let called = Called { id, heading: &heading };
    let table = table(TABLE.as_bytes(), &book, at, called, &mut report).unwrap();
    (table, report)
}

fn text(table: Option<Table>) -> String {
    String::from_utf8(table.unwrap().xml).unwrap()
}

#[test]
fn a_table_grows_with_its_rows_and_its_columns_are_called_as_their_cells() {
    let (table, report) = grown(&workbook("3*3", ""), FIRST, None);
    let headings: Vec<String> =
        table.as_ref().unwrap().headings.iter().map(|(_, name)| name.clone()).collect();
    assert_eq!(headings, ["Name", "Last\nname", "name2"]);
    let xml = text(table);
    for piece in [
        "ref=\"C2:E6\" totalsRowCount=\"1\"><autoFilter ref=\"C2:E5\"><filterColumn colId=\"1\"/>",
        "<tableColumn id=\"2\" name=\"Last_x000a_name\" totalsRowFunction=\"sum\"/>",
        "<calculatedColumnFormula>Tabla1[[#This Row],[Name]]*D3+$B$11</calculatedColumnFormula>",
        "<totalsRowFormula>SUM(E3:E5)</totalsRowFormula>",
    ] {
        assert!(xml.contains(piece), "{piece} in {xml}");
    }
    assert_eq!(report, Report::default());
}

#[test]
fn a_table_has_a_column_for_each_that_it_became() {
    let (table, _) = grown(&workbook("D*3 3*2", ""), FIRST, None);
    let table = table.unwrap();
    let names: Vec<_> = table.headings.iter().map(|(cell, name)| format!("{cell} {name}")).collect();
    assert_eq!(names, ["C2 Name", "D2 Last\nname", "E2 name2", "F2 {col2}", "G2 Age"]);
    let xml = text(Some(table));
    for piece in [
        "ref=\"C2:G5\"",
        "<tableColumns count=\"5\">",
        "<tableColumn id=\"4\" name=\"name2\"",
        "<tableColumn id=\"5\" ",
    ] {
        assert!(xml.contains(piece), "{piece} in {xml}");
    }
}

#[test]
fn a_copy_of_a_table_is_another_one() {
    let mut workbook = workbook("", "");
    let renamed = vec![("Tabla1".to_owned(), "Tabla1_2".to_owned())];
    workbook.sheets[0].copies.push(cell_references::SheetCopy { renamed, ..copy("North", "3*2") });
    let (table, _) = grown(&workbook, At { sheet: 0, copy: 1 }, Some(7));
    let xml = text(table);
    assert!(xml.contains(" id=\"7\" name=\"Tabla1_2\" displayName=\"Tabla1_2\" ref=\"C2:E5\""), "{xml}");
    assert!(xml.contains("<calculatedColumnFormula>Tabla1_2[[#This Row],[Name]]*D3+$B$10<"), "{xml}");
}

#[test]
fn a_table_without_rows_keeps_an_empty_one_and_one_without_a_heading_goes() {
    let (table, report) = grown(&workbook("3*0", ""), FIRST, None);
    let xml = text(table);
    assert!(xml.contains("ref=\"C2:E3\"") && !xml.contains("totalsRowCount"), "{xml}");
    assert_eq!(report.sentences(), ["left out: all rows of table 'Tabla1' on 'Items'"]);
    let (table, report) = grown(&workbook("2*0", ""), FIRST, None);
    assert!(table.is_none());
    assert_eq!(report.sentences(), ["left out: table 'Tabla1' on 'Items'"]);
}
