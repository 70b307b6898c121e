//! Ranges without a formula: merged cells, lists of areas, anchors.

use cell_references::{Cell, Lines, Place, Range};

use crate::support::{EVERYTHING, moves, place, range};

fn areas(blocks: &str, list: &str) -> String {
    Range::write_list(&moves(blocks).areas(&Range::parse_list(list).unwrap(), 100))
}

fn copies(blocks: &str, text: &str) -> String {
    Range::write_list(&moves(blocks).copies(range(text)).collect::<Vec<_>>())
}

#[test]
fn lists_of_areas_cover_what_their_cells_became_and_nothing_else() {
    let cases = [
        ("", "A1:B2 D4", "A1:B2 D4"),
        ("3*3", "A3:F3", "A3:F5"),
        ("3*3", "A1:F2 D4 A2:A4", "A1:F2 D6 A2:A6"),
        ("3-4*3", "A3:F3", "A3:F3 A5:F5 A7:F7"),
        ("3-4*3", "A3:F4", "A3:F8"),
        ("3-4*3", "A2:A3", "A2:A3 A5 A7"),
        ("3*0", "A3:F3 B4", "B3"),
        ("3-5*2 /0:4*3,2", "E4", "E4:E6 E9:E10"),
        ("3-5*2 /0:4*3,0", "E4:E5", "E4:E7 E9"),
        ("3-4*2 C-D*2", "C3", "C3 C5 E3 E5"),
        ("3*2", "C:D", "C1:D1048576"),
        ("3*2", "3:4", "A3:XFD5"),
        ("3*2", "A3:XFD3", "A3:XFD4"),
        ("A3:B3*3", "A3:C3", "A3:B5 C3"),
    ];
    for (blocks, list, expected) in cases {
        assert_eq!(areas(blocks, list), expected, "{list} with {blocks}");
    }
}

#[test]
fn a_list_that_would_be_too_long_is_the_range_around_it() {
    let moves = moves("3-4*1000");
    assert_eq!(Range::write_list(&moves.areas(&[range("A3:B3")], 100)), "A3:B2001");
    assert_eq!(moves.areas(&[range("A3:B3")], 1000).len(), 1000);
}

#[test]
fn what_stands_for_itself_has_a_copy_a_turn() {
    let cases = [
        ("", "A1:B1", "A1:B1"),
        ("3*3", "A3:B3", "A3:B3 A4:B4 A5:B5"),
        ("3*3", "A5:B6", "A7:B8"),
        ("3*0", "A3:B3", ""),
        ("3*0", "A2:B3", "A2:B2"),
        ("3*3", "A2:B3", "A2:B5"),
        ("3-4*2", "A3:A4", "A3:A4 A5:A6"),
        ("3-5*2 /0:4*3,0", "A3:A5", "A3:A7 A8:A9"),
        ("3-5*2 /0:4*3,0", "B4:C4", "B4:C4 B5:C5 B6:C6"),
        ("3*2 C*2", "C3", "C3 D3 C4 D4"),
        ("3*2 C-D*2", "B3:D3", "B3:F3 B4:F4"),
        ("A3:B3*3", "A3:B3", "A3:B3 A4:B4 A5:B5"),
        ("A3:B3*3", "B3:C3", "B3:C5"),
        ("A3:B3*3", "A3", "A3 A4 A5"),
    ];
    for (blocks, text, expected) in cases {
        assert_eq!(copies(blocks, text), expected, "{text} with {blocks}");
    }
}

#[test]
fn ranges_are_read_as_they_are_written() {
    for text in ["A1", "A1:B2", "XFD1048576", "AZ10:BA11"] {
        assert_eq!(range(text).to_string(), text);
    }
    // Not every program reads whole rows and columns in attributes as formulas have them.
    for (text, corners) in [("B2:B2", "B2"), ("A:C", "A1:C1048576"), ("1:3", "A1:XFD3")] {
        assert_eq!(range(text).to_string(), corners);
    }
    assert_eq!(range("$B$2:$A$1"), range("A1:B2"));
    assert_eq!(EVERYTHING.to_string(), "A1:XFD1048576");
    assert_eq!(range("1:1048576"), EVERYTHING);
    for text in ["", "A", "1", "A0", "A1048577", "XFE1", "A1:", "A1:B", "A1 ", "Sheet1!A1", "A1:B2:C3"] {
        assert_eq!(Range::parse(text), None, "{text}");
    }
    assert_eq!(Range::parse_list("A1 x"), None);
    assert_eq!(Range::parse_list(" ").unwrap(), []);
}

#[test]
fn a_cell_is_where_its_turn_is() {
    let moves = moves("3-4*3 C*2");
    let inside = place(&moves, "0.1 1.1");
    let cell =
        |row: u32, column: u32, place: Place| moves.cell(Cell { row, column }, place).unwrap().to_string();
    assert_eq!(cell(4, 3, inside), "D6");
    assert_eq!(cell(4, 3, Place::default()), "D8");
    assert_eq!(cell(9, 4, Place::default()), "E13");
    let whole = Range { rows: Lines { first: 3, last: 4 }, columns: Lines::ALL_COLUMNS };
    assert_eq!(moves.range(whole, inside).unwrap().to_string(), "A5:XFD6");
}
