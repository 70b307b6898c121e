//! Moves the references of a workbook to where their cells are, after rows, columns or blocks of cells of its sheets were
//! repeated or dropped. It knows positions and formulas alone: it reads no files and no XML, and calculates nothing.
//!
//! ```text
//! blocks, counts ──Moves::new──▶ Moves (a sheet) ──┐
//!                                                  ├─ Workbook ──┐
//! names of the copies of each sheet ───────────────┘             ├──write──▶ the formula where it now stands
//! text ──parse──▶ Formula (its references found, once) ──────────┘
//! ```
//!
//! ```
//! use cell_references::{Area, Block, Cell, Formula, Lines, Meaning, Moves, Origin, Place, Workbook};
//!
//! // Row 3 is repeated for four items, row 4 is the total.
//! let items = Block { area: Area::Rows(Lines::new(3, 3)), parent: None, counts: vec![4] };
//! let moves = Moves::new(&[items], Cell { row: 4, column: 6 })?;
//! let second_item = moves.turn(Place::default(), 0, 1).unwrap();
//! let workbook = Workbook::of_one("Invoice", moves);
//! let write = |text: &str, place: Place| {
//!     let mut out = String::new();
//!     let formula = Formula::parse(text, &["Invoice"], Meaning::Value);
//!     formula.write(&workbook, Some(Origin { place, ..Origin::default() }), &mut out).map(|_| out)
//! };
//! assert_eq!(write("C3*D3", second_item)?, "C4*D4");
//! assert_eq!(write("SUM(E$3:E3)", second_item)?, "SUM(E$3:E4)");
//! assert_eq!(write("SUM(E3)*B1", Place::default())?, "SUM(E3:E6)*B1");
//! # Ok::<(), cell_references::Error>(())
//! ```
//!
//! # Which cells a reference means
//!
//! A cell of a block becomes several. The place of the formula decides which of them it means ([`Moves`]); every reference is
//! moved once, from the template's cells to those of the result, never by one block after the other.
//!
//! | the reference | becomes | why |
//! |---|---|---|
//! | to a cell outside of all blocks, from anywhere | that cell, where it is now | a rate or a lookup table is the same from each turn; it does not move along from turn to turn as when Excel fills down |
//! | without `$`, to the cell directly above a formula in the first row of its block, or down to it (`SUM(C$1:C2)` in `C3`) | from the second turn on the cell that [`Origin::above`] names | a running balance begins with the row above and goes on with the turn before |
//! | the same to the cell directly left (`SUM($B3:B3)` in `C3`) | the cell that [`Origin::left`] names | a balance of columns goes on to the right |
//! | within the own turn | the own turn's cell | `C3*D3` of a row |
//! | a range, to a block that the formula is not in | from the first turn to the last, with what is between | as Excel does when rows are inserted within a range |
//! | the same as an argument of a function that takes any number of ranges (`SUM(E4:E4)`) | the cells without what is between: `SUM(E4:E6,E9:E10)`. More than sixty ranges are one again, and [`Written::widened`] counts it | a sum over groups must not count their subtotals |
//! | a range out of the own block, or through it (`SUM(E2:E3)`, `SUM(E$2:E3)`) | from the one cell to the other, with what is between | a running total from the head on |
//! | one cell, to a block that the formula is not in, as a whole argument of a function that takes ranges (`SUM(E3)`) | as a range would | an author sees one row and means the list |
//! | one cell as the first argument of `OFFSET` | the first turn's cell | the calculated range begins there |
//! | one cell, to a block that the formula is not in, elsewhere (`E3*2`) | the last turn's cell | the closing balance; a range would be an error there |
//! | `E$3:E3` in the own block | from the first turn to the own | a running total. `$` holds on to the first turn (as the begin of a range) or the last one (as its end) of the innermost block that holds formula and cell |
//! | `E$3:E$3` in the own block | all turns within the outer one's | a share of the total |
//! | `E$3` in the own block | the first turn; as an argument that takes ranges all turns | as a copied `$` stays |
//! | to several cells, some of which are dropped | what is left | as Excel does when rows are deleted |
//! | to cells that are all dropped | `#REF!`, and [`Written::lost`] counts it | as Excel does. For the `SUM` of an empty list to be 0, the caller gives the block one empty turn |
//! | to a sheet that became several | from within a copy: that copy. `SUM(T!B9)` from outside: `SUM(North!B9,South!B9)`; elsewhere the last copy | as with rows |
//! | `First:Last!A1` | from the first to the last that is left, the smallest range that holds the cell's places on all of them | a 3-D reference has one range for all sheets |
//!
//! The place of a formula is that of its own cell; of a conditional format or validation, that of the first cell of its `sqref`,
//! in the first turn of the blocks around it. All turns share that formula ([`Origin::shared`]): addresses outside of the blocks get
//! a `$`, so that they mean the same in each turn. Another workbook's cells, structured references and names stay as they are, but for
//! tables with another name in a copy of their sheet ([`SheetCopy::renamed`]).
//!
//! # Units and limits
//!
//! Rows and columns are counted from 1, turns and blocks from 0. A sheet has 1,048,576 rows and 16,384 columns, a formula 8,192
//! characters, a function 255 arguments (Microsoft, "Excel specifications and limits"); blocks and their turns are bounded by
//! [`BLOCKS`] and [`TURNS`]. Passing one of them is an [`Error`] that says so. A turn costs 8 bytes, and 8 more for each block in
//! it; a formula is parsed once and then written without further memory than its text.

mod address;
mod axis;
mod blocks;
mod error;
mod formula;
mod functions;
mod mentions;
mod moves;
mod reader;
mod shared;
mod workbook;

pub use address::{Cell, LAST_COLUMN, LAST_ROW, Lines, Range};
pub use blocks::{Area, Block};
pub use error::{ARGUMENTS, BLOCKS, Error, FORMULA_CHARACTERS, TURNS};
pub use formula::{Formula, Meaning, Written};
pub use mentions::Mention;
pub use moves::{Moves, Once, Place};
pub use workbook::{Before, Origin, Sheet, SheetCopy, Workbook};
