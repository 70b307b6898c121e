//! Blocks that cannot be expanded, and limits.

use cell_references::{Area, Block, Cell, Error, Lines, Moves};

use crate::support::try_moves;

#[test]
fn blocks_that_cannot_be_expanded_are_named() {
    let cases = [
        ("3-5*2 4-6*2", Error::Overlap { first: 0, second: 1 }),
        ("3-5*2 4*2", Error::Overlap { first: 0, second: 1 }),
        ("3*2 3*2", Error::Overlap { first: 0, second: 1 }),
        ("C-D*2 D-E*2", Error::Overlap { first: 0, second: 1 }),
        ("3-5*2 A4:B4*2", Error::Overlap { first: 0, second: 1 }),
        ("A3:B4*2 B4:C5*2", Error::Overlap { first: 0, second: 1 }),
        ("3-9*1 /0:4-5*1 /0:5-6*1", Error::Overlap { first: 1, second: 2 }),
        ("A3:B3*2 9*2", Error::Torn { above: 0, below: 1 }),
        ("9*2 A3:B3*2", Error::Torn { above: 1, below: 0 }),
        ("A3:B3*2 B5:C5*2", Error::Torn { above: 0, below: 1 }),
        ("3-5*2 /0:5-6*1,1", Error::Parent { block: 1, parent: 0 }),
        ("3-5*2 /0:C*1,1", Error::Parent { block: 1, parent: 0 }),
        ("A3:B5*2 /0:A4:A4*1,1", Error::Parent { block: 1, parent: 0 }),
        ("/0:3*1", Error::Parent { block: 0, parent: 0 }),
        ("/1:3*1 3-4*1", Error::Parent { block: 0, parent: 1 }),
        ("3*1,2", Error::Counts { block: 0, counts: 2, turns: 1 }),
        ("3*", Error::Counts { block: 0, counts: 0, turns: 1 }),
        ("3-5*2 /0:4*1", Error::Counts { block: 1, counts: 1, turns: 2 }),
        ("3*1048574", Error::Rows { needed: 1_048_577 }),
        ("3-4*600000", Error::Rows { needed: 1_200_002 }),
        ("3*4294967295", Error::Rows { needed: 4_294_967_295 }),
        ("3-4*2 /0:3*4294967295,4294967295", Error::Rows { needed: 8_589_934_590 }),
        ("C*16383", Error::Columns { needed: 16_386 }),
        ("C*4294967295", Error::Columns { needed: 4_294_967_295 }),
        ("A3:B3*1048574", Error::Rows { needed: 1_048_577 }),
    ];
    for (blocks, expected) in cases {
        assert_eq!(try_moves(blocks, Cell { row: 4, column: 4 }).map(|_| ()), Err(expected), "{blocks}");
    }
}

#[test]
fn a_sheet_may_be_full() {
    // Two rows above, one below.
    assert!(try_moves("3*1048573", Cell { row: 4, column: 1 }).is_ok());
    let found = try_moves("3*1048574", Cell { row: 4, column: 1 }).map(|_| ());
    assert_eq!(found, Err(Error::Rows { needed: 1_048_577 }));
    // Nothing below.
    assert!(try_moves("3*1048574", Cell { row: 1, column: 1 }).is_ok());
    assert!(try_moves("C*16382", Cell { row: 1, column: 3 }).is_ok());
}

#[test]
fn errors_name_the_limit() {
    let text = |blocks: &str| try_moves(blocks, Cell { row: 4, column: 4 }).unwrap_err().to_string();
    assert_eq!(text("3*1048575"), "the sheet would need 1048578 rows, and Excel allows 1048576");
    assert_eq!(
        text(&"3*1 ".repeat(1_001)),
        "the sheet has 1001 blocks that are repeated or dropped, and 1000 are allowed"
    );
    let many: Vec<_> = (1..10).map(|row| format!("{row}*1000000")).collect();
    assert_eq!(
        text(&many.join(" ")),
        "the blocks of the sheet are repeated 9000000 times or more, and 8388608 times are allowed"
    );
    assert_eq!(text("C*16384"), "the sheet would need 16387 columns, and Excel allows 16384");
}

#[test]
fn areas_that_are_none_are_refused() {
    for area in [
        Area::Rows(Lines { first: 0, last: 1 }),
        Area::Rows(Lines { first: 5, last: 4 }),
        Area::Rows(Lines { first: 5, last: 1_048_577 }),
        Area::Columns(Lines { first: 1, last: 16_385 }),
    ] {
        let block = Block { area, parent: None, counts: vec![1] };
        let found = Moves::new(&[block], Cell { row: 1, column: 1 }).map(|_| ());
        assert_eq!(found, Err(Error::Area { block: 0 }), "{area:?}");
    }
}
