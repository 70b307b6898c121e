//! What formulas mean that stand beside a list, or look out of it: the whole list, their own row, the row before.

use super::book::{Sheet, book};
use super::limits::SHEET;
use super::read::{Book, Value};
use crate::support::{part, try_fill};

pub const DATA: &str = "{\"items\":[{\"n\":\"Ink\",\"q\":2,\"p\":4.5},{\"n\":\"Paper\",\"q\":3,\"p\":12},{\"n\":\"Pen\",\"q\":1,\"p\":1.25}],\
     \"groups\":[{\"g\":\"A\",\"xs\":[1,2]},{\"g\":\"B\",\"xs\":[3]}],\"one\":[{\"q\":7,\"p\":8}],\"none\":[],\"months\":[1,2]}";

/// The formulas of a filled sheet by their cells, and what was warned of.
pub fn formulas(rows: &str) -> (Vec<String>, Vec<String>) {
    let sheets = [Sheet::new("S").rows("A1", rows), Sheet::new("Other").rows("A1", "1|2\n3|4")];
    let filled = try_fill(book(&sheets, &[]), DATA, "{}").unwrap_or_else(|error| panic!("{rows}: {error}"));
    let read = Book::read(&filled.file);
    let cells = read.sheet("S").expect("it is there").iter();
    let shown = cells
        .filter_map(|(at, cell)| Some(format!("{}={}", super::read::address(*at), cell.formula.as_ref()?)));
    (shown.collect(), filled.warnings)
}

pub fn check(cases: &[(&str, &[&str])]) {
    for (rows, expected) in cases {
        assert_eq!(formulas(rows).0, *expected, "{rows}");
    }
}

#[test]
fn a_list_of_cells_beside_a_section_is_all_of_its_rows() {
    check(&[
        (
            "n|q\n{#items}{n}|{q}{/items}||=SUM(B2:B2)|=SUM(B2)|=COUNTA(A$2:A$2)",
            &["D2=SUM(B2:B4)", "E2=SUM(B2:B4)", "F2=COUNTA(A$2:A$4)"],
        ),
        // Left of the opening tag, and between texts.
        ("=SUM(C1)|x|{#items}{q}|{/items}|=MAX(C1:C1)|y", &["A1=SUM(C1:C3)", "E1=MAX(C1:C3)"]),
        // In the last row of several, where it stands beside the last turn.
        (
            "h\n{#items}{n}|{q}\n|{p}{/items}|=SUM(B2)|=COUNT(B3)\n|=SUM(B2)",
            &["C7=SUM(B2,B4,B6)", "D7=COUNT(B3,B5,B7)", "B8=SUM(B2,B4,B6)"],
        ),
        // Other functions, another spelling, the sheet's own name, two lists below each other.
        (
            "{#items}{n}|{q}{/items}|=SUMIF(A1,\"Ink\",B1)|=SUMPRODUCT(B1*B1)|=average( S!B1 )\n{#months}{.}|{/months}|=SUM(A2:A2)+SUM(B1)",
            &[
                "C1=SUMIF(A1:A3,\"Ink\",B1:B3)",
                "D1=SUMPRODUCT(B1:B3*B1:B3)",
                "E1=average( S!B1:B3 )",
                "C4=SUM(A4:A5)+SUM(B1:B3)",
            ],
        ),
        // Beside a list in a group it is the group's rows, also in the group's own row.
        (
            "{#groups}{g}\n|{#xs}{.}|{/xs}|=SUM(B2)\n|=SUM(B2)|{/groups}",
            &["D2=SUM(B2:B3)", "D3=SUM(B2:B3)", "B4=SUM(B2:B3)", "D6=SUM(B6)", "B7=SUM(B6)"],
        ),
        ("{#groups}{g}|{#xs}{.}|{/xs}|=SUM(B1)|{/groups}", &["D1=SUM(B1:B2)", "D2=SUM(B1:B2)", "D3=SUM(B3)"]),
        // The only argument of a list, though others stand before the list, and a list of the row's list.
        (
            "{#items}{n}|{q}{/items}|=SUBTOTAL(9,B1)|=TEXTJOIN(\", \",TRUE,A1)|=MAX( SUM( B1 ) ,0)|=COUNTIF(B1,\">1\")",
            &[
                "C1=SUBTOTAL(9,B1:B3)",
                "D1=TEXTJOIN(\", \",TRUE,A1:A3)",
                "E1=MAX( SUM( B1:B3 ) ,0)",
                "F1=COUNTIF(B1:B3,\">1\")",
            ],
        ),
        // A table in which a value is looked up, its rows and columns, in a group as well.
        (
            "{#items}{n}|{q}|{p}{/items}|=VLOOKUP(\"Ink\",A1:C1,3,FALSE)|=INDEX(A1:C1,2,3)|=DSUM(A1:C1,2,$J$5:$J$6)|=ROWS(A1:C1)|=MATCH(\"Ink\",A1:A1,0)",
            &[
                "D1=VLOOKUP(\"Ink\",A1:C3,3,FALSE)",
                "E1=INDEX(A1:C3,2,3)",
                "F1=DSUM(A1:C3,2,$J$7:$J$8)",
                "G1=ROWS(A1:C3)",
                "H1=MATCH(\"Ink\",A1:A3,0)",
            ],
        ),
        (
            "{#groups}{g}\n|{#xs}{.}|x{/xs}|=XLOOKUP(1,B2:B2,B2:C2)|=SUM(OFFSET(B2:C2,0,1))\n|{/groups}",
            &[
                "D2=XLOOKUP(1,B2:B3,B2:C3)",
                "E2=SUM(OFFSET(B2:C3,0,1))",
                "D3=XLOOKUP(1,B2:B3,B2:C3)",
                "E3=SUM(OFFSET(B2:C3,0,1))",
                "D6=XLOOKUP(1,B6:B6,B6:C6)",
                "E6=SUM(OFFSET(B6:C6,0,1))",
            ],
        ),
        // A list without items keeps its row.
        ("{#none}{q}|{/none}|=SUM(A1)|=SUM(A1:A1)", &["C1=SUM(A1)", "D1=SUM(A1:A1)"]),
    ]);
}

#[test]
fn a_sparkline_and_a_list_to_choose_from_beside_a_section_have_all_of_its_rows() {
    let behind = "<dataValidations count=\"2\"><dataValidation type=\"list\" sqref=\"D2\"><formula1>B2:B2</formula1></dataValidation>\
         <dataValidation type=\"list\" sqref=\"B2\"><formula1>A2:B2</formula1></dataValidation></dataValidations>\
         <extLst><ext uri=\"{05C60535-1F16-4fd2-B633-F4F36F0B64E0}\" xmlns:x14=\"x\" xmlns:xm=\"y\"><x14:sparklineGroups><x14:sparklineGroup><x14:sparklines>\
         <x14:sparkline><xm:f>S!B2:B2</xm:f><xm:sqref>D2</xm:sqref></x14:sparkline><x14:sparkline><xm:f>S!A2:B2</xm:f><xm:sqref>E2</xm:sqref></x14:sparkline>\
         </x14:sparklines></x14:sparklineGroup></x14:sparklineGroups></ext></extLst>";
    let sheet =
        Sheet { behind: behind.to_owned(), ..Sheet::new("S").rows("A1", "n|q\n{#items}{n}|{q}{/items}") };
    let file = try_fill(book(&[sheet], &[]), DATA, "{}").expect("it is filled").file;
    let sheet = part(&file, SHEET);
    for expected in [
        "sqref=\"D2\"><formula1>B2:B4</formula1>",
        "sqref=\"B2:B4\"><formula1>A2:B2</formula1>",
        "<xm:f>S!B2:B4</xm:f><xm:sqref>D2</xm:sqref>",
        "<xm:f>S!A2:B2</xm:f><xm:sqref>E2</xm:sqref>",
    ] {
        assert!(sheet.contains(expected), "{expected} is not in {sheet}");
    }
}

#[test]
fn a_formula_beside_a_section_that_takes_a_value_of_its_own_row_is_there_in_each_turn() {
    check(&[
        ("{#items}{n}|{q}|{p}{/items}|=B1*C1|unit", &["D1=B1*C1", "D2=B2*C2", "D3=B3*C3"]),
        // Left of the opening tag.
        ("=C1*2|x|{#items}{q}|{/items}", &["A1=C1*2", "A2=C2*2", "A3=C3*2"]),
        // What takes its value in turn, a row's total, and a sum below.
        (
            "{#items}{n}|{q}|{p}{/items}|=B1*C1|=ROUND(D1*1.19,2)|=SUM(B1:C1)|=PRODUCT(B1,C1)|=SUM(D1)\n|||=SUM(D1)",
            &[
                "D1=B1*C1",
                "E1=ROUND(D1*1.19,2)",
                "F1=SUM(B1:C1)",
                "G1=PRODUCT(B1,C1)",
                "H1=SUM(D1:D3)",
                "D2=B2*C2",
                "E2=ROUND(D2*1.19,2)",
                "F2=SUM(B2:C2)",
                "G2=PRODUCT(B2,C2)",
                "D3=B3*C3",
                "E3=ROUND(D3*1.19,2)",
                "F3=SUM(B3:C3)",
                "G3=PRODUCT(B3,C3)",
                "D4=SUM(D1:D3)",
            ],
        ),
        // A share of all, and a value that does not move along.
        (
            "{#items}{n}|{q}{/items}|=B1/SUM(B$1:B$1)|=$B1|=B$1|=$Z$1",
            &[
                "C1=B1/SUM(B$1:B$3)",
                "D1=$B1",
                "E1=B$3",
                "F1=$Z$1",
                "C2=B2/SUM(B$1:B$3)",
                "D2=$B2",
                "C3=B3/SUM(B$1:B$3)",
                "D3=$B3",
            ],
        ),
    ]);
}

#[test]
fn a_cell_beside_another_argument_is_the_turns_value() {
    check(&[
        // Beside another argument a cell is a value: a number, a cell with `$`, a text, a condition, what is calculated.
        (
            "{#one}{n}|{q}{/one}|=MAX(B1,0)|=MIN(100, S!B1 )|=PRODUCT(B1,$I$1)|=CONCAT(A1,\"-2026\")|=AND(B1>0,B1<9)|=IF(SUM(B1,-2)>0,1,2)",
            &[
                "C1=MAX(B1,0)",
                "D1=MIN(100, S!B1 )",
                "E1=PRODUCT(B1,$I$1)",
                "F1=CONCAT(A1,\"-2026\")",
                "G1=AND(B1>0,B1<9)",
                "H1=IF(SUM(B1,-2)>0,1,2)",
            ],
        ),
        ("{#items}{q}|{/items}|=MAX(A1,0)", &["C1=MAX(A1,0)", "C2=MAX(A2,0)", "C3=MAX(A3,0)"]),
        (
            "=MIN(C1,2)|{#items}{n}|{q}|{/items}|=CONCAT(B1,\"-\")|=SUBTOTAL(9,C1,2)",
            &[
                "A1=MIN(C1,2)",
                "E1=CONCAT(B1,\"-\")",
                "F1=SUBTOTAL(9,C1,2)",
                "A2=MIN(C2,2)",
                "E2=CONCAT(B2,\"-\")",
                "F2=SUBTOTAL(9,C2,2)",
                "A3=MIN(C3,2)",
                "E3=CONCAT(B3,\"-\")",
                "F3=SUBTOTAL(9,C3,2)",
            ],
        ),
        (
            "{#groups}{g}|{#xs}{.}|{/xs}|=MAX(B1,0)|{/groups}",
            &["D1=MAX(B1,0)", "D2=MAX(B2,0)", "D3=MAX(B3,0)"],
        ),
        // Values of a row that are counted, ordered or added by a condition, and a sum of products.
        (
            "{#items}{n}|{q}|{p}{/items}|=COUNTIF(B1:C1,\">2\")|=LARGE(B1:C1,1)|=SUMIF(B$9:C$9,1,B1:C1)|=SUMPRODUCT(B1:C1,$B$9:$C$9)|=SUM((B1:C1))",
            &[
                "D1=COUNTIF(B1:C1,\">2\")",
                "E1=LARGE(B1:C1,1)",
                "F1=SUMIF(B$11:C$11,1,B1:C1)",
                "G1=SUMPRODUCT(B1:C1,$B$11:$C$11)",
                "H1=SUM((B1:C1))",
                "D2=COUNTIF(B2:C2,\">2\")",
                "E2=LARGE(B2:C2,1)",
                "F2=SUMIF(B$11:C$11,1,B2:C2)",
                "G2=SUMPRODUCT(B2:C2,$B$11:$C$11)",
                "H2=SUM((B2:C2))",
                "D3=COUNTIF(B3:C3,\">2\")",
                "E3=LARGE(B3:C3,1)",
                "F3=SUMIF(B$11:C$11,1,B3:C3)",
                "G3=SUMPRODUCT(B3:C3,$B$11:$C$11)",
                "H3=SUM((B3:C3))",
            ],
        ),
    ]);
}

#[test]
fn a_formula_beside_the_last_row_or_in_a_group_belongs_to_that_turn() {
    check(&[
        // In the last row of several, and in a group, whose own row it stands in.
        ("{#items}{n}\n|{q}|{p}{/items}|=B2*C2", &["D2=B2*C2", "D4=B4*C4", "D6=B6*C6"]),
        (
            "{#groups}{g}\n|{#xs}{.}|{/xs}|=B2*10\n|{/groups}|=A1",
            &["D2=B2*10", "D3=B3*10", "D6=B6*10", "C7=A5"],
        ),
        (
            "{#groups}{g}|{#xs}{.}|{/xs}|=B1&A1|{/groups}|=B1*2|=A1",
            &["D1=B1&A1", "F1=B1*2", "G1=A1", "D2=B2&A2", "F2=B2*2", "G2=A2", "D3=B3&A3", "F3=B3*2", "G3=A3"],
        ),
        // Beside a condition that drops the row it goes with it.
        ("{#none.length}{n}|{/none.length}|=A1\nx|=1", &["B1=1"]),
        // Another sheet's row is not its own.
        ("{#items}{q}|{/items}|=Other!A1", &["C1=Other!A1"]),
    ]);
}

#[test]
fn a_formula_beside_a_section_that_names_its_row_of_a_table_is_there_in_each_turn() {
    let rows =
        "n|q|p|line|all\n{#items}{n}|{q}|{p}{/items}|=T[[#This Row],[q]]*T[[#This Row],[p]]|=SUM(T[q])";
    let mut sheet = Sheet::new("S").rows("A1", rows);
    sheet.table = Some(("T", "A1:E2", &["n", "q", "p", "line", "all"], None));
    let filled = try_fill(book(&[sheet], &[]), DATA, "{}").expect("it is filled");
    let read = Book::read(&filled.file);
    let formula = |cell: &str| read.cell("S", cell).and_then(|cell| cell.formula.clone());
    for row in 2..=4 {
        let line = "T[[#This Row],[q]]*T[[#This Row],[p]]".to_owned();
        assert_eq!(formula(&format!("D{row}")), Some(line), "row {row}");
    }
    assert_eq!(["E2", "E3", "E4"].map(formula), [Some("SUM(T[q])".to_owned()), None, None]);
}

#[test]
fn a_balance_goes_on_from_the_row_before() {
    check(&[
        ("date|in|100\n{#items}{n}|{q}|=C1+B2|{/items}", &["C2=C1+B2", "C3=C2+B3", "C4=C3+B4"]),
        // The sheet's name, a list, a column with a `$`, all rows above.
        (
            "a|b|c|d|e\n{#items}{q}|=S!B1+A2|=SUM(C1,A2)|=$D1+1|=SUM(E$1:E1)|=SUM(F1:F1)|{/items}",
            &[
                "B2=S!B1+A2",
                "C2=SUM(C1,A2)",
                "D2=$D1+1",
                "E2=SUM(E$1:E1)",
                "F2=SUM(F1:F1)",
                "B3=S!B2+A3",
                "C3=SUM(C2,A3)",
                "D3=$D2+1",
                "E3=SUM(E$1:E2)",
                "F3=SUM(F2:F2)",
                "B4=S!B3+A4",
                "C4=SUM(C3,A4)",
                "D4=$D3+1",
                "E4=SUM(E$1:E3)",
                "F4=SUM(F3:F3)",
            ],
        ),
        // Right of the closing tag, where it belongs to the turn.
        ("|0\n{-rows items}{q}{/items}|=B1+A2", &["B2=B1+A2", "B3=B2+A3", "B4=B3+A4"]),
        // A row of several: the row above if something stands there, or else the same row of the turn before.
        (
            "h|0|0\n{#items}{q}|=B1+A2|=C1+A2\n{n}||=C2*2|{/items}",
            &[
                "B2=B1+A2", "C2=C1+A2", "C3=C2*2", "B4=B2+A4", "C4=C3+A4", "C5=C4*2", "B6=B4+A6", "C6=C5+A6",
                "C7=C6*2",
            ],
        ),
        // What stands in the last row outside of the section is there with the last turn alone.
        (
            "h|q||0\n{#items}{n}|{q}||=D1+B2\nnote|{/items}||=SUM(D2)",
            &["D2=D1+B2", "D4=D2+B4", "D6=D4+B6", "D7=SUM(D2,D4,D6)"],
        ),
        ("h|q||0\n{#items}{n}|{q}||=D1+B2\nnote|{/items}||end", &["D2=D1+B2", "D4=D2+B4", "D6=D4+B6"]),
        (
            "h|q||0\n{#items}{n}|{q}||=D1+B2\nnote|{/items}||=B3&D2",
            &["D2=D1+B2", "D3=B3&D2", "D4=D3+B4", "D5=B5&D4", "D6=D5+B6", "D7=B7&D6"],
        ),
        (
            "{#groups}{g}|q||0\n{#xs}{.}|1||=D1+B2\nnote|{/xs}||=SUM(D2)\n|{/groups}",
            &["D2=D1+B2", "D4=D2+B4", "D5=SUM(D2,D4)", "D8=D7+B8", "D9=SUM(D8)"],
        ),
        // In a group it begins anew from the group's head, or goes on where both begin in one row.
        ("{#groups}{g}|0\n{#xs}{.}|=B1+A2|{/xs}\nend|{/groups}", &["B2=B1+A2", "B3=B2+A3", "B6=B5+A6"]),
        ("h|0\n{#groups}{#xs}{.}|=B1+A2|{/xs}|{/groups}", &["B2=B1+A2", "B3=B2+A3", "B4=B3+A4"]),
        // Rows that a condition drops are passed over.
        ("h|0\n{#items}{#q > 1}{q}|=B1+A2|{/q > 1}|{/items}", &["B2=B1+A2", "B3=B2+A3"]),
        // A list below a list.
        (
            "0|0\n{#items}{q}|=B1+A2|{/items}\n{#months}{.}|=B2+A3|{/months}\n|=B3",
            &["B2=B1+A2", "B3=B2+A3", "B4=B3+A4", "B5=B4+A5", "B6=B5+A6", "B7=B6"],
        ),
        // With a `$` it is the same cell.
        ("|0\n{#items}{q}|=B$1+A2|{/items}", &["B2=B$1+A2", "B3=B$1+A3", "B4=B$1+A4"]),
    ]);
}

#[test]
fn an_address_outside_of_the_rows_stays_and_is_told_once() {
    let (made, told) = formulas(
        "rate|2|3\n{#items}{q}|=A2*B$1+C1|=SUM(B1:B2)|=VLOOKUP(A2,Other!A1:B2,2)|=A2*$B$1*Other!A:A|{/items}\n|x",
    );
    assert_eq!(
        made[4..8],
        ["B3=A3*B$1+C1", "C3=SUM(B1:B3)", "D3=VLOOKUP(A3,Other!A1:B2,2)", "E3=A3*$B$1*Other!A:A"]
    );
    assert_eq!(
        told,
        [
            "S!B2: C1 is outside of the repeated rows, so it is the same in each of them; write C$1 to say so",
            "S!C2: B1:B2 is outside of the repeated rows, so it is the same in each of them; write B$1:B2 to say so",
            "S!D2: Other!A1:B2 is outside of the repeated rows, so it is the same in each of them; write Other!A$1:B$2 to say so",
        ]
    );
    // One row alone asks nothing, nor does a group's own row or a copy of the sheet.
    for rows in [
        "rate|2\n{#one}{q}|=A2*B1|{/one}",
        "{#groups}{g}|=A1\n{#xs}{.}|=A2&A1|{/xs}\n|{/groups}",
        "rate|2\n{#items}{q}|=A2*B$1|{/items}|=B1",
        "1|{#items}{q}|{/items}\nx|=A1",
    ] {
        assert_eq!(formulas(rows).1, Vec::<String>::new(), "{rows}");
    }
    let many = format!("1|2\n{{#items}}{{q}}{}|{{/items}}", "|=A1".repeat(7));
    let told = formulas(&many).1;
    assert_eq!(told.len(), 6, "{told:?}");
    assert_eq!(told[5], "S: 2 more formulas name cells outside of what is repeated without a $");
    let twice = "1|2\n{#items}{q}|=A1|{/items}|{:sheet months}";
    assert_eq!(
        formulas_of_copies(twice),
        ["S!B2: A1 is outside of the repeated rows, so it is the same in each of them; write A$1 to say so"]
    );
}

fn formulas_of_copies(rows: &str) -> Vec<String> {
    let filled = try_fill(book(&[Sheet::new("S").rows("A1", rows)], &[]), DATA, "{}").expect("it is filled");
    assert_eq!(Book::read(&filled.file).sheets.len(), 2);
    filled.warnings
}

#[test]
fn what_is_no_formula_beside_a_section_stands_once() {
    let sheets = [Sheet::new("S").rows("A1", "left|{#items}{q}|{p}{/items}|=B1*C1|unit|5")];
    let file = try_fill(book(&sheets, &[]), DATA, "{}").expect("it is filled").file;
    let read = Book::read(&file);
    let texts = |column: &str| {
        (1..=3)
            .map(|row| read.cell("S", &format!("{column}{row}")).map(|cell| cell.value.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(texts("A"), [Some(Value::Text("left".to_owned())), None, None]);
    assert_eq!(texts("E"), [Some(Value::Text("unit".to_owned())), None, None]);
    assert_eq!(texts("F"), [Some(Value::Number(5.0)), None, None]);
}
