//! The workbook's own part.

use cell_references::Workbook;
use workbook_parts::{Book, Report};

use crate::support::{LIMIT, copy, workbook};

fn part(views: &str, names: &str, rest: &str) -> String {
    format!(
        "<workbook><fileVersion appName=\"xl\"/><bookViews>{views}</bookViews><sheets><sheet name=\"Items\" sheetId=\"1\" r:id=\"rId1\"/>\
         <sheet name=\"Data\" sheetId=\"2\" r:id=\"rId2\"/></sheets>{names}{rest}<extLst/></workbook>"
    )
}

fn names(all: &[(&str, &str, &str)]) -> String {
    let name = |(name, rest, formula): &(&str, &str, &str)| {
        format!("<definedName name=\"{name}\"{rest}>{formula}</definedName>")
    };
    format!("<definedNames>{}</definedNames>", all.iter().map(name).collect::<Vec<_>>().concat())
}

fn written(workbook: &Workbook, xml: &str) -> (String, Report) {
    let mut report = Report::default();
    let book = Book::new(workbook, LIMIT);
    let bytes = workbook_parts::workbook(xml.as_bytes(), &book, &mut report).unwrap();
    (String::from_utf8(bytes).unwrap(), report)
}

const CALCULATION: &str = "<calcPr fullCalcOnLoad=\"1\" calcId=\"191029\"/>";

#[test]
fn names_grow_and_the_workbook_is_recalculated() {
    let before = names(&[
        ("Prices", "", "Items!$C$3"),
        ("_xlchart.v1.0", " hidden=\"1\"", "Data!$B$3:$B$6"),
        ("Series", "", "OFFSET(Items!$D$3,,,COUNTIF(Items!$D$3:$D$999,\"&lt;&gt;\"))"),
        ("_xlnm.Print_Area", " localSheetId=\"0\"", "Items!$A$1:$F$4"),
        ("_xlnm.Print_Titles", " localSheetId=\"0\"", "Items!$A:$B,Items!$1:$2"),
        ("Rate", "", "0.19"),
    ]);
    let after = names(&[
        ("Prices", "", "Items!$C$3:$C$7"),
        ("_xlchart.v1.0", " hidden=\"1\"", "Data!$B$4:$B$7"),
        ("Series", "", "OFFSET(Items!$D$3,,,COUNTIF(Items!$D$3:$D$1003,\"&lt;&gt;\"))"),
        ("_xlnm.Print_Area", " localSheetId=\"0\"", "Items!$A$1:$F$8"),
        ("_xlnm.Print_Titles", " localSheetId=\"0\"", "Items!$A:$B,Items!$1:$2"),
        ("Rate", "", "0.19"),
    ]);
    let (xml, report) =
        written(&workbook("3*5", "1*2"), &part("<workbookView/>", &before, "<calcPr calcId=\"191029\"/>"));
    assert_eq!(xml, part("<workbookView/>", &after, CALCULATION));
    assert_eq!(report, Report::default());
    let (xml, _) = written(&workbook("", ""), &part("", &names(&[("Rate", "", "1")]), ""));
    assert_eq!(xml, part("", &names(&[("Rate", "", "1")]), "<calcPr fullCalcOnLoad=\"1\"/>"));
}

#[test]
fn names_of_a_sheet_are_those_of_each_of_its_copies() {
    let mut workbook = workbook("", "2*3");
    workbook.sheets[0].copies = vec![copy("North", "3*2"), copy("It's South", "3*4")];
    let before = names(&[
        ("_xlnm.Print_Area", " localSheetId=\"0\"", "Items!$A$1:$F$4"),
        ("_xlnm._FilterDatabase", " localSheetId=\"1\" hidden=\"1\"", "Data!$A$1:$C$2"),
    ]);
    let after = names(&[
        ("_xlnm.Print_Area", " localSheetId=\"0\"", "North!$A$1:$F$5"),
        ("_xlnm.Print_Area", " localSheetId=\"1\"", "'It''s South'!$A$1:$F$7"),
        ("_xlnm._FilterDatabase", " localSheetId=\"2\" hidden=\"1\"", "Data!$A$1:$C$4"),
    ]);
    let view = |tab: u32| format!("<workbookView activeTab=\"{tab}\" firstSheet=\"0\"/>");
    let (xml, _) = written(&workbook, &part(&view(1), &before, ""));
    assert_eq!(xml, part(&view(2), &after, "<calcPr fullCalcOnLoad=\"1\"/>"));

    workbook.sheets[0].copies = Vec::new();
    let before = names(&[
        ("_xlnm.Print_Area", " localSheetId=\"0\"", "Items!$A$1:$F$4"),
        ("Gone", "", "Items!$A$1"),
        ("_xlnm.Print_Area", " localSheetId=\"1\"", "Data!$A$2"),
    ]);
    workbook.sheets[1].copies = vec![copy("Data", "2*0")];
    let (xml, report) = written(&workbook, &part(&view(1), &before, ""));
    assert_eq!(xml, part(&view(0), &names(&[("Gone", "", "#REF!")]), "<calcPr fullCalcOnLoad=\"1\"/>"));
    let told = [
        "a reference is #REF!, for all of its cells are gone: the name 'Gone'",
        "left out: the name '_xlnm.Print_Area'",
    ];
    assert_eq!(report.sentences(), told);
}
