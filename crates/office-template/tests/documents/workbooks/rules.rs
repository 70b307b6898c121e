//! Conditional formats and validations in a list and beside it: each turn has its own view.

use super::book::{Sheet, book};
use super::formulas::DATA;
use super::limits::SHEET;
use super::names::between;
use crate::support::{part, try_fill};

/// The areas and the formulas of rules of a filled sheet, each from its areas and its formula in the template.
fn rules(rows: &str, rules: &[(&str, &str)], is_validation: bool) -> Vec<(String, String)> {
    let rule = |(areas, formula): &(&str, &str)| {
        let formula = formula.replace('<', "&lt;").replace('>', "&gt;");
        if is_validation {
            let kind = if formula.contains(':') || formula.starts_with('"') { "list" } else { "whole" };
            format!(
                "<dataValidation type=\"{kind}\" sqref=\"{areas}\"><formula1>{formula}</formula1></dataValidation>"
            )
        } else {
            format!(
                "<conditionalFormatting sqref=\"{areas}\"><cfRule type=\"expression\" priority=\"1\"><formula>{formula}</formula></cfRule></conditionalFormatting>"
            )
        }
    };
    let all: String = rules.iter().map(rule).collect();
    let behind = if is_validation { format!("<dataValidations>{all}</dataValidations>") } else { all };
    let sheets =
        [Sheet { behind, ..Sheet::new("S").rows("A1", rows) }, Sheet::new("Other").rows("A1", "1|2\n3|4")];
    let file =
        try_fill(book(&sheets, &[]), DATA, "{}").unwrap_or_else(|error| panic!("{rows}: {error}")).file;
    let sheet = part(&file, SHEET);
    let formulas = between(&sheet, if is_validation { "<formula1>" } else { "<formula>" }, "</formula");
    let shown = |text: String| text.replace("&lt;", "<").replace("&gt;", ">");
    between(&sheet, "sqref=\"", "\"").into_iter().zip(formulas.into_iter().map(shown)).collect()
}

/// A list in A2 and B2 of three items, beside it a formula in C2, a number in G2, and a row below.
const LIST: &str = "n|q|c\n{#items}{n}|{q}{/items}|=B2*2||||5\nsum|=SUM(B2)";

fn check(rows: &str, is_validation: bool, cases: &[(&str, &str, &str, &str)]) {
    let given: Vec<_> = cases.iter().map(|(areas, formula, ..)| (*areas, *formula)).collect();
    let made = rules(rows, &given, is_validation);
    for ((areas, formula, now, becomes), made) in cases.iter().zip(&made) {
        assert_eq!(*made, ((*now).to_owned(), (*becomes).to_owned()), "{areas}: {formula} on {rows}");
    }
    assert_eq!(made.len(), cases.len());
}

#[test]
fn a_conditional_format_beside_a_list_is_that_of_each_row() {
    check(
        LIST,
        false,
        &[
            // A value of its own row: beside the tag, over a formula of the turns, over several cells, left and right.
            ("D2", "B2>2", "D2:D4", "B2>2"),
            ("C2", "C2>4", "C2:C4", "C2>4"),
            ("D2:F2", "$B2>$H$1", "D2:F4", "$B2>$H$1"),
            ("A2:F2", "MAX($B2:$C2)>3", "A2:F4", "MAX($B2:$C2)>3"),
            // Nothing stands in the cells, so their format goes on.
            ("E2", "ISBLANK(E2)", "E2:E4", "ISBLANK(E2)"),
            ("E2", "TRUE", "E2:E4", "TRUE"),
            // What stands once is looked at once, and sees the whole list.
            ("G2", "G2<9", "G2", "G2<9"),
            ("G2", "G2<SUM(B2:B2)", "G2", "G2<SUM(B2:B4)"),
            ("G2", "B2>2", "G2:G4", "B2>2"),
            ("D2", "SUM(B2)>3", "D2", "SUM(B2:B4)>3"),
        ],
    );
    // In the first and in the last row of several.
    check(
        "n|q\nx|{#items}{n}\n{q}{/items}|y",
        false,
        &[
            ("C3", "A3>2", "C3 C5 C7", "A3>2"),
            ("C3", "C3=\"\"", "C3 C5 C7", "C3=\"\""),
            ("A2", "B2=\"Ink\"", "A2 A4 A6", "B2=\"Ink\""),
            ("B3", "B3=1", "B7", "B7=1"),
        ],
    );
    check(
        "{#groups}{g}\n{#xs}{.}|{/xs}\n|{/groups}",
        false,
        &[("C2", "A2>1", "C2:C3 C6", "A2>1"), ("C1", "A1=\"A\"", "C1 C5", "A1=\"A\"")],
    );
}

#[test]
fn a_conditional_format_means_the_same_cells_outside_of_the_list_in_each_row() {
    check(
        LIST,
        false,
        &[
            ("B2", "B2>F9", "B2:B4", "B2>F$11"),
            ("B2", "B2>H1", "B2:B4", "B2>H$1"),
            ("D2", "B2>Other!A1", "D2:D4", "B2>Other!A$1"),
            ("A2:B2", "COUNTIF(Other!A1:B2,A2)>0", "A2:B4", "COUNTIF(Other!A$1:B$2,A2)>0"),
            ("B2", "B2>$B3/2", "B2:B4", "B2>$B3/2"),
            // The row before and the row behind move along.
            ("A2:B2", "$A2=$A1", "A2:B4", "$A2=$A1"),
            ("A2:B2", "$A2<>$A3", "A2:B4", "$A2<>$A3"),
            ("A2", "COUNTIF(A$1:A1,A2)>0", "A2:A4", "COUNTIF(A$1:A1,A2)>0"),
            // All rows.
            ("B2", "COUNTIF(B$2:B$2,B2)>1", "B2:B4", "COUNTIF(B$2:B$4,B2)>1"),
            // A rule below the list.
            ("B3", "B3>A9", "B5", "B5>A11"),
        ],
    );
}

#[test]
fn a_validation_beside_a_list_is_that_of_each_row() {
    check(
        LIST,
        true,
        &[
            ("D2", "\"Yes,No\"", "D2:D4", "\"Yes,No\""),
            ("D2:E2", "$B2", "D2:E4", "$B2"),
            ("D2", "$A$1:$B$1", "D2:D4", "$A$1:$B$1"),
            ("E2", "A2:B2", "E2:E4", "A2:B2"),
            ("B2", "Other!A1:A2", "B2:B4", "Other!A$1:A$2"),
            // A list to choose from is the whole list.
            ("D2", "B2:B2", "D2", "B2:B4"),
            ("G2", "9", "G2", "9"),
        ],
    );
}

#[test]
fn rules_above_and_below_columns_are_those_of_each_column() {
    check(
        "x|{-columns months}{.}|y\n|{/months}\nsum|=B1*2\n||\n|7",
        false,
        &[
            ("B3", "B3>2", "B3:C3", "B3>2"),
            ("B4", "B1>1", "B4:C4", "B1>1"),
            ("B4:B4", "TRUE", "B4:C4", "TRUE"),
            ("B5", "B5>2", "B5", "B5>2"),
            ("B1", "B1>A5", "B1:C1", "B1>$A5"),
            ("B1", "B1>A1", "B1:C1", "B1>A1"),
            ("B1:B2", "B1>Other!B1", "B1:C2", "B1>Other!$B1"),
        ],
    );
}
