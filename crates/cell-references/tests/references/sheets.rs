//! References to other sheets, renamed, repeated and dropped ones.

use cell_references::{Error, Formula, Meaning, Moves, Origin, Place, Sheet, SheetCopy, Workbook, Written};

use crate::support::{moves, place};

const NAMES: &[&str] = &["Sum", "Data", "It's", "Region", "Gone", "Q5"];

fn copy(name: &str, blocks: &str) -> SheetCopy {
    let renamed = Vec::new();
    SheetCopy { name: name.to_owned(), moves: moves(blocks), renamed }
}

/// `Data` grows by two rows, `It's` is renamed, of `Region` there are two with two and four rows, and `Gone` is dropped.
fn workbook() -> Workbook {
    let mut south = copy("South", "3*4");
    south.renamed.push(("Sales".to_owned(), "Sales_2".to_owned()));
    let copies = [
        vec![copy("Sum", "3*2")],
        vec![copy("Data", "3*3")],
        vec![copy("It's me", "")],
        vec![copy("North", "3*2"), south],
        vec![],
        vec![copy("Q5", "")],
    ];
    let sheet = |(name, copies): (&&str, _)| Sheet { name: (*name).to_owned(), copies };
    Workbook { sheets: NAMES.iter().zip(copies).map(sheet).collect() }
}

fn written(origin: Option<Origin>, text: &str) -> String {
    let mut out = String::new();
    let formula = Formula::parse(text, NAMES, Meaning::Value);
    formula.write(&workbook(), origin, &mut out).unwrap();
    out
}

#[test]
fn references_follow_other_sheets() {
    let cases = [
        ("Data!A5+A5", "Data!A7+A6"),
        ("data!A5+DATA!A1", "data!A7+DATA!A1"),
        ("SUM(Data!$A$3:$A$3)", "SUM(Data!$A$3:$A$5)"),
        ("SUM(Data!A3)+Data!A3", "SUM(Data!A3:A5)+Data!A5"),
        ("SUM(Data!3:4)+SUM(Data!C:D)", "SUM(Data!3:6)+SUM(Data!C:D)"),
        ("Data!A3:Data!A4", "Data!A3:Data!A6"),
        ("'Data'!A5", "'Data'!A7"),
        ("'It''s'!A1*'it''s'!$B$2", "'It''s me'!A1*'It''s me'!$B$2"),
        ("'It''s'!Rate", "'It''s me'!Rate"),
        ("'It''s'!#REF!", "'It''s me'!#REF!"),
        ("Gone!A1+SUM(Gone!A:A)", "#REF!+SUM(#REF!)"),
        ("Data!A1048576+SUM('It''s'!A1048576)", "#REF!+SUM('It''s me'!A1048576)"),
        ("Gone!Rate", "#REF!"),
        // One of several sheets: the last; as one of any number of arguments all.
        ("Region!A5*2", "South!A8*2"),
        ("SUM(Region!B5)", "SUM(North!B6,South!B8)"),
        ("SUM(Region!B3)", "SUM(North!B3:B4,South!B3:B6)"),
        ("SUM(Region!B3:B4,1)", "SUM(North!B3:B5,South!B3:B7,1)"),
        ("VLOOKUP(1,Region!A3:B3,2)", "VLOOKUP(1,South!A3:B6,2)"),
        // Over several sheets.
        ("SUM(Data:Region!A5)", "SUM(Data:South!A5:A8)"),
        ("SUM('Data:It''s'!A1)", "SUM('Data:It''s me'!A1)"),
        ("SUM(Q5:Q5!A1)+Q5:Q5", "SUM(Q5:Q5!A1)+Q6:Q6"),
        ("SUM(Sum:Data!A1)", "SUM(Sum:Data!A1)"),
        ("SUM(Sum:Data!A5)", "SUM(Sum:Data!A6:A7)"),
        ("SUM(Region:Gone!A1)", "SUM(North:South!A1)"),
        ("SUM(Gone:Gone!A1)", "SUM(#REF!)"),
        // Sheets of other workbooks, and of none.
        ("[1]Data!A5+'[2]Data'!A5+[1]!Rate", "[1]Data!A5+'[2]Data'!A5+[1]!Rate"),
        ("'C:\\x\\[b.xlsx]Data'!A5", "'C:\\x\\[b.xlsx]Data'!A5"),
        ("[0]Data!A5+[0]!Rate", "[0]Data!A7+[0]!Rate"),
        ("[1]Data:Sum!A5", "[1]Data:Sum!A5"),
        ("Other!A5", "Other!A5"),
        ("Other:Data!A5", "Other:Data!A5"),
    ];
    for (formula, expected) in cases {
        assert_eq!(written(Some(Origin::default()), formula), expected, "{formula}");
    }
}

#[test]
fn a_copy_of_a_sheet_means_itself() {
    let workbook = workbook();
    let at = |copy: usize, turns: &str| {
        let place = place(&workbook.sheets[3].copies[copy].moves, turns);
        Some(Origin { sheet: 3, copy, place, ..Origin::default() })
    };
    assert_eq!(written(at(0, "0.1"), "A3+Region!B3+SUM(Region!B3:B3)"), "A4+North!B4+SUM(North!B4:B4)");
    assert_eq!(written(at(1, "0.3"), "A3+Region!B3+Data!A5"), "A6+South!B6+Data!A7");
    assert_eq!(written(at(1, ""), "SUM(Sales[Amount])+ROWS(sales)"), "SUM(Sales_2[Amount])+ROWS(Sales_2)");
    assert_eq!(written(at(0, ""), "SUM(Sales[Amount])"), "SUM(Sales[Amount])");
    assert_eq!(written(Some(Origin::default()), "SUM(Sales[Amount])"), "SUM(Sales[Amount])");
}

#[test]
fn without_an_origin_only_named_sheets_follow() {
    assert_eq!(written(None, "Data!$A$5+A5"), "Data!$A$7+A5");
}

#[test]
fn names_are_quoted_where_they_could_be_something_else() {
    let cases = [
        ("North", "North!A1"),
        ("Nörd_2.b", "Nörd_2.b!A1"),
        ("North & South", "'North & South'!A1"),
        ("O'Hara", "'O''Hara'!A1"),
        ("2024", "'2024'!A1"),
        ("Q1", "'Q1'!A1"),
        ("R1C1", "'R1C1'!A1"),
        ("c", "'c'!A1"),
        ("true", "'true'!A1"),
        ("売上", "売上!A1"),
        ("a-b", "'a-b'!A1"),
    ];
    for (name, expected) in cases {
        let sheet = |name: &str, copy: &str| Sheet {
            name: name.to_owned(),
            copies: vec![SheetCopy { name: copy.to_owned(), ..SheetCopy::default() }],
        };
        let workbook = Workbook { sheets: vec![sheet("Own", "Own"), sheet("T", name)] };
        let mut out = String::new();
        let formula = Formula::parse("T!A1", &["Own", "T"], Meaning::Value);
        formula.write(&workbook, Some(Origin::default()), &mut out).unwrap();
        assert_eq!(out, expected);
        // What was written is read again as that sheet.
        let again = Formula::parse(&out, &["Own", name], Meaning::Value);
        let back = Workbook { sheets: vec![sheet("Own", "Own"), sheet(name, "Back")] };
        let mut text = String::new();
        again.write(&back, Some(Origin::default()), &mut text).unwrap();
        assert_eq!(text, "Back!A1", "{out}");
    }
}

#[test]
fn many_sheets_name_the_limit_they_pass() {
    let write = |sheets: usize, formula: &str, name: &str| {
        let copy = |number| SheetCopy { name: format!("{name}{number}"), ..SheetCopy::default() };
        let copies = (0..sheets).map(copy).collect();
        let workbook = Workbook {
            sheets: vec![
                Sheet { name: "Own".to_owned(), copies: vec![SheetCopy::default()] },
                Sheet { name: "T".to_owned(), copies },
            ],
        };
        let parsed = Formula::parse(formula, &["Own", "T"], Meaning::Value);
        let origin = Origin { place: Place::default(), ..Origin::default() };
        let mut out = String::new();
        parsed.write(&workbook, Some(origin), &mut out).map(|_| out)
    };
    assert!(write(255, "SUM(T!A1)", "Sheet_").unwrap().ends_with(",Sheet_254!A1)"));
    let error = write(256, "SUM(T!A1)", "Sheet_").unwrap_err();
    assert_eq!(error, Error::Arguments { sheets: 256 });
    assert!(error.to_string().contains("255"), "{error}");
    let error = write(250, "SUM(T!A1)", "A sheet whose name is long: ").unwrap_err();
    assert!(matches!(error, Error::FormulaLength { needed: 8_193.. }), "{error}");
    assert!(error.to_string().contains("8192"), "{error}");
}

#[test]
fn moves_that_nobody_made_leave_all_where_it_is() {
    let workbook = Workbook::of_one("Sum", Moves::default());
    let mut out = String::new();
    let formula = Formula::parse("Sum!A1+$B2:C$3+D:D", NAMES, Meaning::Value);
    assert_eq!(formula.write(&workbook, Some(Origin::default()), &mut out), Ok(Written::default()));
    assert_eq!(out, formula.text());
}
