//! What formulas mean above and below repeated columns, and by what is left of them: their own column, the column before.

use super::book::{Sheet, book};
use super::formulas::{check, formulas};
use super::limits::SHEET;
use super::names::between;
use crate::support::{part, try_fill};

#[test]
fn a_formula_above_or_below_columns_that_takes_a_value_of_its_own_column_is_there_in_each_turn() {
    check(&[
        // Below the closing tag: a value, a column's total, what takes its value in turn.
        (
            "m|{-columns months}{.}|all\na|{/months}\nb|=B1*2|x\nt|=SUM(B1:B2)\nu|=ROUND(B3,2)+1",
            &["B3=B1*2", "C3=C1*2", "B4=SUM(B1:B2)", "C4=SUM(C1:C2)", "B5=ROUND(B3,2)+1", "C5=ROUND(C3,2)+1"],
        ),
        // Above the opening tag, and one beside other arguments.
        (
            "x|=B3*2\ny|=MAX(B3,0)\nn|{-columns months}{.}{/months}",
            &["B1=B3*2", "C1=C3*2", "B2=MAX(B3,0)", "C2=MAX(C3,0)"],
        ),
        // All columns: a list of one row, a table to look up in; and values that do not move along.
        (
            "m|{-columns months}{.}{/months}\nt|=SUM(B1)\nu|=COUNTA(B1:B1)\nv|=$B1*2\nw|=Other!B1",
            &["B2=SUM(B1:C1)", "B3=COUNTA(B1:C1)", "B4=$C1*2", "B5=Other!B1"],
        ),
        // Several columns, with a total right of them.
        (
            "{-columns items}{n}|{q}\n|{/items}\n=A1|=B1*2|=SUM(A1:B1)",
            &["A3=A1", "B3=B1*2", "C3=C1", "D3=D1*2", "E3=E1", "F3=F1*2", "G3=SUM(A1:F1)"],
        ),
        // In a repeated row below a heading of columns.
        (
            "n|{-columns months}{.}{/months}|sum\n{#items}{n}|=B$1*10|=SUM(B2:B2)|{/items}",
            &[
                "B2=B$1*10",
                "C2=C$1*10",
                "D2=SUM(B2:C2)",
                "B3=B$1*10",
                "C3=C$1*10",
                "D3=SUM(B3:C3)",
                "B4=B$1*10",
                "C4=C$1*10",
                "D4=SUM(B4:C4)",
            ],
        ),
        // Columns in columns: of the inner ones, and of the outer ones alone.
        (
            "h|{-columns groups}{g}|\n|0|{-columns xs}{.}{/xs}\n||{/groups}\n|=B1|=C2*2\n||=C3&1",
            &["B4=B1", "C4=C2*2", "D4=D2*2", "E4=E1", "F4=F2*2", "C5=C3&1", "F5=F3&1"],
        ),
        // A list without items keeps its column.
        ("{-columns none}{q}|x\n{/none}\n=A1*2", &["A3=A1*2"]),
    ]);
}

#[test]
fn cells_below_columns_are_in_their_order() {
    let rows = "{-columns items}{n}|{q}|{p}\n||{/items}\n=A1|x|=C1*2\n|y|=C3";
    let file = try_fill(book(&[Sheet::new("S").rows("A1", rows)], &[]), super::formulas::DATA, "{}")
        .expect("it is filled")
        .file;
    let sheet = part(&file, SHEET);
    let cells: Vec<String> =
        between(&sheet, "<c r=\"", "\"").into_iter().filter(|cell| !cell.ends_with('1')).collect();
    assert_eq!(cells, ["A3", "B3", "C3", "D3", "F3", "G3", "I3", "B4", "C4", "F4", "I4"], "{sheet}");
    assert_eq!(
        between(&sheet, "<is><t>", "</t>").iter().filter(|text| *text == "x" || *text == "y").count(),
        2
    );
}

#[test]
fn a_balance_of_columns_goes_on_from_the_column_before() {
    check(&[
        ("x|{-columns items}{q}\n0|=A2+B1\n|{/items}", &["B2=A2+B1", "C2=B2+C1", "D2=C2+D1"]),
        // Below the closing tag, and all columns so far.
        (
            "x|{-columns items}{q}{/items}\n0|=A2+B1\n0|=SUM($A3:A3)+B1\n0|=S!A$4+B1",
            &[
                "B2=A2+B1",
                "C2=B2+C1",
                "D2=C2+D1",
                "B3=SUM($A3:A3)+B1",
                "C3=SUM($A3:B3)+C1",
                "D3=SUM($A3:C3)+D1",
                "B4=S!A$4+B1",
                "C4=S!B$4+C1",
                "D4=S!C$4+D1",
            ],
        ),
        // Cells to the right.
        ("x|{-right items}{q}\n0|=A2+B1\n|{/items}", &["B2=A2+B1", "C2=B2+C1", "D2=C2+D1"]),
        // Of several columns the last one if something stands there, or else the formula's own.
        (
            "x|{-columns months}{.}|5\n0|=A2+B1|=B2*2\n0|=A3+B1\n||{/months}",
            &["B2=A2+B1", "C2=B2*2", "D2=C2+D1", "E2=D2*2", "B3=A3+B1", "D3=B3+D1"],
        ),
        // In a group it begins anew.
        (
            "h|{-columns groups}{g}|\n|0|{-columns xs}{.}{/xs}\n|0|=B3+C2\n||{/groups}",
            &["C3=B3+C2", "D3=C3+D2", "F3=E3+F2"],
        ),
        // Rows and columns: the row above and the column before.
        (
            "0|{-columns months}{.}|x\n{#items}{q}|=A2+B1|{/items}\n|{/months}",
            &["B2=A2+B1", "C2=B2+C1", "B3=A3+B2", "C3=B3+C2", "B4=A4+B3", "C4=B4+C3"],
        ),
        // With a `$` it is the same cell.
        ("0|{-columns months}{.}{/months}\n|=$A1+B1", &["B2=$A1+B1", "C2=$A1+C1"]),
    ]);
}

#[test]
fn an_address_outside_of_the_columns_stays_and_is_told_once() {
    let told = |cell: &str, written: &str, what: &str, fixed: &str| {
        format!(
            "S!{cell}: {written} is outside of the repeated {what}, so it is the same in each of them; write {fixed} to say so"
        )
    };
    for (rows, made, warned) in [
        (
            "rate|x|{-columns months}{.}\n2|3|=A2*C1+$B2\n||{/months}",
            &["C2=A2*C1+$B2", "D2=A2*D1+$B2"][..],
            told("C2", "A2", "columns", "$A2"),
        ),
        // Below the section, to its right, on another sheet.
        (
            "x|{-columns months}{.}{/months}|7\ny|=B1*C1",
            &["B2=B1*D1", "C2=C1*D1"],
            told("B2", "C1", "columns", "$C1"),
        ),
        (
            "x|{-columns months}{.}\ny|=VLOOKUP(B1,Other!A1:B2,2)\n|{/months}",
            &["B2=VLOOKUP(B1,Other!A1:B2,2)", "C2=VLOOKUP(C1,Other!A1:B2,2)"],
            told("B2", "Other!A1:B2", "columns", "Other!$A1:$B2"),
        ),
        // Above the section: it is there once.
        (
            "|5\nx|{-columns months}{.}\ny|=B1*B2\n|{/months}",
            &["B3=B1*B2", "C3=B1*C2"],
            told("B3", "B1", "columns", "$B1"),
        ),
    ] {
        assert_eq!(formulas(rows), (made.iter().map(ToString::to_string).collect(), vec![warned]), "{rows}");
    }
    let both = "9|{-columns months}{.}|\n{#items}{n}|=A1*2|{/items}\n|{/months}";
    assert_eq!(formulas(both).1, [told("B2", "A1", "rows and columns", "$A$1")]);
    // One column alone asks nothing, nor does what is in the section or held by a `$`.
    for rows in [
        "2|{-columns one}{q}\nx|=A1*B1\n|{/one}",
        "2|{-columns months}{.}\nx|=$A1*B1\n|{/months}",
        "x|{-columns months}{.}{/months}\ny|=B1*2\nz|=B2+B1",
        "2|3|{-columns months}{.}{/months}\nx|=A1",
    ] {
        assert_eq!(formulas(rows).1, Vec::<String>::new(), "{rows}");
    }
}
