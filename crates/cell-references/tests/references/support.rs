//! Blocks and places in a short notation, and formulas written with them.

use cell_references::{
    Area, Block, Cell, Error, Formula, LAST_COLUMN, LAST_ROW, Lines, Meaning, Moves, Origin, Place, Range,
    Workbook, Written,
};

/// Reads blocks: `3-5*2` rows 3 to 5 twice, `C-D*3` columns, `A3:B4*2` cells; `/0` before one says that it is within block 0, and
/// then it has a count for each turn: `/0:4*3,0`.
pub fn blocks(text: &str) -> Vec<Block> {
    text.split_ascii_whitespace().map(block).collect()
}

fn block(text: &str) -> Block {
    let (parent, rest) = match text.strip_prefix('/') {
        Some(rest) => rest.split_once(':').map(|(parent, rest)| (parent.parse().ok(), rest)).unwrap(),
        None => (None, text),
    };
    let (area, counts) = rest.split_once('*').unwrap();
    let counts = if counts.is_empty() { Vec::new() } else { numbers(counts) };
    let area = if area.contains(':') {
        Area::Cells(Range::parse(area).unwrap())
    } else {
        let (first, last) = area.split_once('-').unwrap_or((area, area));
        let range = Range::parse(&format!("{first}:{last}")).unwrap();
        if first.starts_with(|sign: char| sign.is_ascii_digit()) {
            Area::Rows(range.rows)
        } else {
            Area::Columns(range.columns)
        }
    };
    Block { area, parent, counts }
}

fn numbers(text: &str) -> Vec<u32> {
    text.split(',').map(|number| number.parse().unwrap()).collect()
}

/// The moves of such blocks, on a sheet of which twenty rows and columns are used.
pub fn moves(text: &str) -> Moves {
    try_moves(text, Cell { row: 20, column: 20 }).unwrap()
}

pub fn try_moves(text: &str, used: Cell) -> Result<Moves, Error> {
    Moves::new(&blocks(text), used)
}

/// Reads a place: `0.1 2.0` is turn 1 of block 0, and in it turn 0 of block 2.
pub fn place(moves: &Moves, text: &str) -> Place {
    text.split_ascii_whitespace().fold(Place::default(), |place, step| {
        let (block, turn) = step.split_once('.').unwrap();
        moves.turn(place, block.parse().unwrap(), turn.parse().unwrap()).expect("there is such a turn")
    })
}

/// The formula as it is written in a workbook of one sheet, and how many references were lost or widened.
pub fn written(moves: &Moves, place: Place, text: &str, meaning: Meaning) -> (String, Written) {
    let workbook = Workbook::of_one("Sheet1", moves.clone());
    let mut out = String::new();
    let origin = Origin { place, ..Origin::default() };
    let told = Formula::parse(text, &["Sheet1"], meaning).write(&workbook, Some(origin), &mut out).unwrap();
    (out, told)
}

pub fn range(text: &str) -> Range {
    Range::parse(text).unwrap()
}

pub const EVERYTHING: Range =
    Range { rows: Lines { first: 1, last: LAST_ROW }, columns: Lines { first: 1, last: LAST_COLUMN } };
