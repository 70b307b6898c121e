//! What references become: blocks, the place of the formula, the formula, and what is written.

use cell_references::Meaning;

use crate::support::{moves, place, written};

/// Blocks, place, formula, what is expected.
type Case = (&'static str, &'static str, &'static str, &'static str);

const ROWS: &[Case] = &[
    // Nothing is repeated.
    ("", "", "A1+$B$2*SUM(C3:D4)", "A1+$B$2*SUM(C3:D4)"),
    ("3*1", "0.0", "C3*D3+A1+A9", "C3*D3+A1+A9"),
    // Outside of the rows: above stays, below moves.
    ("3*4", "", "A2+A4", "A2+A7"),
    ("3*4", "", "$A$2+$A$4", "$A$2+$A$7"),
    ("3*4", "", "E10*2", "E13*2"),
    ("3-4*3", "", "E5", "E9"),
    ("3-4*0", "", "E5", "E3"),
    // The own turn.
    ("3*3", "0.0", "F3*G3", "F3*G3"),
    ("3*3", "0.1", "F3*G3", "F4*G4"),
    ("3*3", "0.2", "H3*100", "H5*100"),
    ("3-4*3", "0.2", "B3+B4", "B7+B8"),
    ("3*3", "0.2", "A$1*F3*G3", "A$1*F5*G5"),
    ("3*3", "0.2", "$A1*F3", "$A1*F5"),
    ("3*3", "0.1", "SUM(F3:H3)", "SUM(F4:H4)"),
    ("3*3", "0.1", "F2+F3+F4", "F2+F4+F6"),
    ("3*3", "0.1", "SUM(F3:F4)", "SUM(F4:F6)"),
    ("3*3", "0.1", "VLOOKUP(A3,J10:K19,2,FALSE)", "VLOOKUP(A4,J12:K21,2,FALSE)"),
    // A range over the rows grows.
    ("3*3", "", "SUM(E3:E3)", "SUM(E3:E5)"),
    ("3*3", "", "AVERAGE(E3:E4)", "AVERAGE(E3:E6)"),
    ("3*3", "", "MIN(E2:E4)", "MIN(E2:E6)"),
    ("3*3", "", "SUM(E1:E2)", "SUM(E1:E2)"),
    ("3*3", "", "SUM(E7,E8)", "SUM(E9,E10)"),
    ("4-5*3", "", "SUM(E4:E4,1)", "SUM(E4:E4,E6:E6,E8:E8,1)"),
    ("4-5*3", "", "SUM($E$4)", "SUM($E$4,$E$6,$E$8)"),
    ("4-5*3", "", "SUMIF(E4:E4,1)", "SUMIF(E4:E8,1)"),
    ("4-5*3", "", "SUM((E4:E4))", "SUM((E4:E8))"),
    ("4-5*61", "", "SUM(E4:E4)", "SUM(E4:E124)"),
    ("4-5*6", "", "SUM(E4:E5)", "SUM(E4:E15)"),
    ("4-5*6", "", "SUM(E5:E4)", "SUM(E4:E15)"),
    ("3*3", "", "SUM($E$3:$E$3)", "SUM($E$3:$E$5)"),
    ("3*3", "", "SUM(E3:$F$3)", "SUM(E3:$F$5)"),
    // One cell that was repeated: where a function takes ranges it is all of them.
    ("3*3", "", "SUM(E3)", "SUM(E3:E5)"),
    ("3*3", "", "sum( E3 )", "sum( E3:E5 )"),
    ("3*3", "", "SUM(E3,F3)/COUNT($E$3)", "SUM(E3:E5,F3:F5)/COUNT($E$3:$E$5)"),
    ("3*3", "", "SUMIF(A3,B3,E3)", "SUMIF(A3:A5,B5,E3:E5)"),
    ("3*3", "", "COUNTIFS(A3,B3,C3,D3)", "COUNTIFS(A3:A5,B5,C3:C5,D5)"),
    ("3*3", "", "OFFSET($A$3,,,COUNTIF($A$3:$A$99,1))", "OFFSET($A$3,,,COUNTIF($A$3:$A$101,1))"),
    ("3*3", "0.1", "OFFSET(A3,1,B3)", "OFFSET(A4,1,B4)"),
    ("3*3", "", "OFFSET(A3*1,A3,0)", "OFFSET(A5*1,A5,0)"),
    ("3*3", "", "VLOOKUP(A3,A3,1)", "VLOOKUP(A5,A3:A5,1)"),
    ("3*3", "", "SUMPRODUCT(E3*F3)", "SUMPRODUCT(E3:E5*F3:F5)"),
    ("3*3", "", "SUMPRODUCT((E3>1)*ABS(F3))", "SUMPRODUCT((E3:E5>1)*ABS(F3:F5))"),
    ("3*3", "", "_xlfn._xlws.FILTER(A3,B3>1)", "_xlfn._xlws.FILTER(A3:A5,B3:B5>1)"),
    ("3*3", "", "SUM((E3,F3))", "SUM((E3:E5,F3:F5))"),
    ("3*3", "", "SUM(E3 D3:F3)", "SUM(E5 D3:F5)"),
    // Elsewhere it is the last one.
    ("3*3", "", "10+E3", "10+E5"),
    ("3*3", "", "SUM(E3*2)", "SUM(E5*2)"),
    ("3*3", "", "IF(E3>0,$E$3,\"E3\")", "IF(E5>0,$E$5,\"E3\")"),
    ("3*3", "", "SUM(@E3)", "SUM(@E5)"),
    ("3*3", "", "SUM(E3#)", "SUM(E5#)"),
    ("3*3", "", "SUM(E3:INDEX(E:E,9))", "SUM(E3:INDEX(E:E,9))"),
    ("3*3", "", "SUM(INDEX(E:E,1):E3)", "SUM(INDEX(E:E,1):E5)"),
    // A `$` in the own row: running totals, shares, the first row.
    ("3*4", "0.0", "SUM(E$3:E3)", "SUM(E$3:E3)"),
    ("3*4", "0.2", "SUM(E$3:E3)", "SUM(E$3:E5)"),
    ("3*4", "0.2", "SUM(E3:E$3)", "SUM(E5:E$6)"),
    ("3*4", "0.2", "E3/SUM(E$3:E$3)", "E5/SUM(E$3:E$6)"),
    ("3*4", "0.2", "E3/SUM(E$3)", "E5/SUM(E$3:E$6)"),
    ("3*4", "0.2", "E3/E$3", "E5/E$3"),
    ("3*4", "0.2", "SUM(E$2:E3)", "SUM(E$2:E5)"),
    ("3*4", "0.1", "SUM(E$3:E$5)", "SUM(E$3:E$8)"),
    ("3-4*3", "0.1", "SUM(E$3:E4)", "SUM(E$3:E6)"),
    // Nothing is left, or less.
    ("3*0", "", "SUM(E3:E3)", "SUM(#REF!)"),
    ("3*0", "", "E3+E4", "#REF!+E3"),
    ("3*0", "", "SUM(E2:E4)", "SUM(E2:E3)"),
    ("3*0", "", "SUM(E3:E4)", "SUM(E3:E3)"),
    ("3*0", "", "SUM(E2:E3)", "SUM(E2:E2)"),
    ("3-5*0 6*0", "", "SUM(E4:E7)", "SUM(E3:E3)"),
    ("3-5*0 6*0", "", "SUM(E4:E6)", "SUM(#REF!)"),
    ("3*0", "", "3:3", "#REF!"),
    // Whole columns and rows.
    ("3*4", "", "SUM(E:E)", "SUM(E:E)"),
    ("3*4", "", "SUM($A:C)", "SUM($A:C)"),
    ("3*4", "", "SUM(3:3)+SUM($5:$6)", "SUM(3:6)+SUM($8:$9)"),
    ("3*4", "0.1", "SUM(3:3)", "SUM(4:4)"),
    ("3*4", "", "SUM(A1:XFD5)", "SUM(A1:XFD8)"),
    ("3*4", "", "A4:A1048576", "A7:A1048576"),
    ("3*4", "", "A1048576", "#REF!"),
    // From one block to another: all of it.
    ("3*2 6*3", "0.1", "SUM(B6)+C3", "SUM(B7:B9)+C4"),
    ("3*2 6*3", "1.2", "SUM(B3:B3)*C6", "SUM(B3:B4)*C9"),
    ("3*2 6*3", "1.2", "B3*C6", "B4*C9"),
    ("3*2 6*3", "", "SUM(B3:B6)", "SUM(B3:B9)"),
];

const NESTED: &[Case] = &[
    // A group with a head (3), rows (4) and a foot (5), twice: with three rows and with two.
    ("3-5*2 /0:4*3,2", "", "SUM(E4:E4)+ROWS(E4:E4)", "SUM(E4:E6,E9:E10)+ROWS(E4:E10)"),
    ("3-5*2 /0:4*3,2", "", "E6", "E12"),
    ("3-5*2 /0:4*3,2", "0.0", "SUM(E4)", "SUM(E4:E6)"),
    ("3-5*2 /0:4*3,2", "0.1", "SUM(E4)", "SUM(E9:E10)"),
    ("3-5*2 /0:4*3,2", "0.1", "SUM(E3:E5)", "SUM(E8:E11)"),
    ("3-5*2 /0:4*3,2", "0.1", "E4*2", "E10*2"),
    ("3-5*2 /0:4*3,2", "0.1 1.0", "E4/E5", "E9/E11"),
    ("3-5*2 /0:4*3,2", "0.0 1.2", "E3*E4+$A$1", "E3*E6+$A$1"),
    ("3-5*2 /0:4*3,2", "0.1 1.1", "SUM(E$4:E4)", "SUM(E$9:E10)"),
    ("3-5*2 /0:4*3,2", "0.1 1.0", "E4/SUM(E$4:E$4)", "E9/SUM(E$9:E$10)"),
    ("3-5*2 /0:4*3,2", "0.1 1.1", "SUM(E$3:E4)", "SUM(E$3:E10)"),
    ("3-5*2 /0:4*3,2", "0.1", "SUM(E$5:E5)", "SUM(E$7:E11)"),
    // A group without rows.
    ("3-5*2 /0:4*0,2", "0.0", "SUM(E4:E4)", "SUM(#REF!)"),
    ("3-5*2 /0:4*0,2", "0.0", "SUM(E3:E5)", "SUM(E3:E4)"),
    ("3-5*2 /0:4*0,2", "", "SUM(E4:E4)", "SUM(E6:E7)"),
    ("3-5*2 /0:4*2,0", "", "E4", "E5"),
    ("3-5*2 /0:4*0,0", "", "E4+E6", "#REF!+E7"),
    // A sum of the groups' sums.
    ("3-5*2 /0:4*3,2", "", "SUM(E5)", "SUM(E7,E11)"),
    ("3-5*2 /0:4*3,2", "0.1", "E5/SUM(E$5:E$5)", "E11/SUM(E$7:E$11)"),
    ("3-5*2 /0:4*3,2", "", "SUBTOTAL(9,E4:E5)", "SUBTOTAL(9,E4:E7,E9:E11)"),
    // Out of the own block and through it: one range.
    ("3-5*2 /0:4*3,2", "0.1", "SUM(E2:E6)", "SUM(E2:E12)"),
    // A condition on a repeated row: the second of three is left out.
    ("3*3 /0:3*1,0,1", "", "SUM(E3:E3)+E4", "SUM(E3:E4)+E5"),
    ("3*3 /0:3*1,0,1", "0.2 1.0", "D3*E3", "D4*E4"),
    // Three levels.
    ("2-6*2 /0:3-5*2,1 /1:4*1,2,3", "", "SUM(A4)+A7", "SUM(A4,A7:A8,A13:A15)+A18"),
    ("2-6*2 /0:3-5*2,1 /1:4*1,2,3", "0.0 1.1", "SUM(A4:A4)", "SUM(A7:A8)"),
    ("2-6*2 /0:3-5*2,1 /1:4*1,2,3", "0.1 1.0 2.1", "A2+A3+A4+A5+A6", "A11+A12+A14+A16+A17"),
    // What an inner block has first is not what comes first: the first turn has no row 4.
    ("3-5*2 /0:4*0,1", "", "SUM(E4:E5)+ROWS(E4:E5)", "SUM(E4:E4,E6:E7)+ROWS(E4:E7)"),
];

const COLUMNS_AND_CELLS: &[Case] = &[
    ("D*3", "", "10+G4", "10+I4"),
    ("D*3", "", "10+B4", "10+B4"),
    ("D*3", "", "10+D4", "10+F4"),
    ("D*3", "0.1", "SUM(D5:D6)", "SUM(E5:E6)"),
    ("D*3", "0.2", "A$1*D5*$D6", "A$1*F5*$D6"),
    ("D*3", "", "SUM(D4:E4)", "SUM(D4:G4)"),
    ("D*3", "", "SUM(D:D)+SUM($E:$F)", "SUM(D:F)+SUM($G:$H)"),
    ("D*3", "", "SUM(4:4)", "SUM(4:4)"),
    ("D*0", "", "SUM(C4:E4)+SUM(D:D)", "SUM(C4:D4)+SUM(#REF!)"),
    ("D*3", "0.2", "SUM($D5:D5)", "SUM($D5:F5)"),
    ("D*3", "", "A1:XFD1", "A1:XFD1"),
    ("Z*3", "", "AA1+Z1+Y1", "AC1+AB1+Y1"),
    // A matrix: rows and columns.
    ("3*2 C*3", "0.1 1.2", "C3*$A3*C$1", "E4*$A4*E$1"),
    ("3*2 C*3", "0.1", "SUM(C3)", "SUM(C4:E4)"),
    ("3*2 C*3", "1.1", "SUM(C3:C3)", "SUM(D3:D4)"),
    ("3*2 C*3", "", "SUM(C3)", "SUM(C3:E4)"),
    ("3*2 C*3", "", "C3+D4", "E4+F5"),
    ("3*2 C*3", "0.1 1.2", "SUM($C3:C3)/SUM(C$3:C$3)", "SUM($C4:E4)/SUM(E$3:E$4)"),
    // Cells that move only what is below them.
    ("A3:B3*4", "", "A5+B5+C5", "A8+B8+C5"),
    ("A3:B3*4", "", "SUM(A3)+SUM(C3)", "SUM(A3:A6)+SUM(C3)"),
    ("A3:B3*4", "0.2", "A3*B3+C3", "A5*B5+C3"),
    ("A3:B3*4", "", "SUM(A3:C3)", "SUM(A3:B6,C3:C3)"),
    ("A3:B3*4", "", "SUM(B5:C5)+ROWS(B5:C5)", "SUM(B8:B8,C5:C5)+ROWS(B5:C8)"),
    ("A3:B3*0", "", "SUM(A3:C3)+A3", "SUM(C3:C3)+#REF!"),
    ("A3:B3*4", "", "SUM(5:5)", "SUM(5:8)"),
    ("A3:B3*4 D3:E3*2", "0.3", "A3+SUM(D3)+D4", "A6+SUM(D3:D4)+D5"),
    ("A3:B3*4 D3:E3*2", "1.1", "SUM(D$3:D3)+A4", "SUM(D$3:D4)+A7"),
    ("A3:B6*2 /0:A4:B4*2,1", "0.1", "SUM(A4)+A6", "SUM(A9)+A11"),
    ("2*2 A5:B5*3", "1.1", "SUM(A5:A5)+C5+A2", "SUM(A7:A7)+C6+A3"),
    ("A3:B6*3 A8:A8*2", "", "A8+B8", "A17+B16"),
];

fn check(cases: &[Case]) {
    for (blocks, at, formula, expected) in cases {
        let moves = moves(blocks);
        let (out, told) = written(&moves, place(&moves, at), formula, Meaning::Value);
        assert_eq!(out, *expected, "{formula} at {at:?} with {blocks:?}");
        assert_eq!(told.lost, expected.matches("#REF!").count(), "lost of {formula}");
    }
}

#[test]
fn references_follow_rows() {
    check(ROWS);
}

#[test]
fn references_follow_blocks_in_blocks() {
    check(NESTED);
}

#[test]
fn references_follow_columns_and_cells() {
    check(COLUMNS_AND_CELLS);
}

#[test]
fn a_sum_of_too_many_parts_is_reported() {
    let told = |blocks: &str| {
        written(&moves(blocks), cell_references::Place::default(), "SUM(E4,E5)", Meaning::Value)
    };
    assert_eq!(told("4-5*60").1.widened, 0);
    let (out, told) = told("4-5*61");
    assert_eq!((out.as_str(), told.widened, told.lost), ("SUM(E4:E124,E5:E125)", 2, 0));
}

#[test]
fn a_formula_for_cells_means_all_that_a_cell_became() {
    let moves = moves("3*3 C*2");
    let cells = |text: &str| written(&moves, place(&moves, ""), text, Meaning::Cells).0;
    assert_eq!(cells("Sheet1!$B$3"), "Sheet1!$B$3:$B$5");
    assert_eq!(cells("Sheet1!$C$3:$C$3"), "Sheet1!$C$3:$D$5");
    assert_eq!(cells("Sheet1!$A:$A,Sheet1!$1:$3"), "Sheet1!$A:$A,Sheet1!$1:$5");
    assert_eq!(cells("=$B$3"), "=$B$3:$B$5");
    assert_eq!(cells("$B$3+1"), "$B$5+1");
}

#[test]
fn a_place_is_where_a_formula_of_the_workbook_finds_none() {
    let moves = moves("3-5*2 /0:4*3,0");
    let outer = moves.turn(cell_references::Place::default(), 0, 1).unwrap();
    assert!(moves.turn(outer, 1, 0).is_none(), "the second turn has no inner one");
    assert!(
        moves.turn(cell_references::Place::default(), 1, 0).is_none(),
        "no inner turn without an outer one"
    );
    assert!(moves.turn(cell_references::Place::default(), 7, 0).is_none());
    assert_eq!(moves.cell(cell_references::Cell { row: 5, column: 2 }, outer).unwrap().to_string(), "B9");
}
