//! Workbooks in a short notation.

use cell_references::{Area, Block, Cell, Lines, Moves, Range, Sheet, SheetCopy, Workbook};
use workbook_parts::{At, Book, Report, worksheet};

pub const LIMIT: usize = 100_000;
pub const FIRST: At = At { sheet: 0, copy: 0 };
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

/// Reads blocks: `3-5*2` rows 3 to 5 twice, `C-D*3` columns, `A3:B4*2` cells, `/0:4*3,0` rows within block 0.
pub fn moves(text: &str) -> Moves {
    let blocks: Vec<Block> = text.split_ascii_whitespace().map(block).collect();
    Moves::new(&blocks, Cell { row: 60, column: 20 }).unwrap()
}

fn block(text: &str) -> Block {
    let (parent, rest) = match text.strip_prefix('/') {
        Some(rest) => rest.split_once(':').map(|(parent, rest)| (parent.parse().ok(), rest)).unwrap(),
        None => (None, text),
    };
    let (area, counts) = rest.split_once('*').unwrap();
    let counts = counts.split(',').map(|count| count.parse().unwrap()).collect();
    let (first, last) = area.split_once(['-', ':']).unwrap_or((area, area));
    let range = Range::parse(&format!("{first}:{last}")).unwrap();
    let area = if area.contains(':') {
        Area::Cells(range)
    } else if range.columns == Lines::ALL_COLUMNS {
        Area::Rows(range.rows)
    } else {
        Area::Columns(range.columns)
    };
    Block { area, parent, counts }
}

/// A workbook whose first sheet has these blocks, and whose second, `Data`, has those.
pub fn workbook(first: &str, second: &str) -> Workbook {
    let sheet = |name: &str, blocks: &str| Sheet { name: name.to_owned(), copies: vec![copy(name, blocks)] };
    Workbook { sheets: vec![sheet("Items", first), sheet("Data", second)] }
}

pub fn copy(name: &str, blocks: &str) -> SheetCopy {
    SheetCopy { name: name.to_owned(), moves: moves(blocks), renamed: Vec::new() }
}

/// A worksheet with these elements before and behind its cells.
pub fn sheet(head: &str, tail: &str) -> String {
    format!(
        "<worksheet xmlns=\"{MAIN}\">{head}<sheetData><row r=\"1\"><c r=\"A1\"/></row></sheetData>{tail}</worksheet>"
    )
}

/// The rewritten head and tail, and the report.
pub fn moved(blocks: &str, (head, tail): (&str, &str)) -> (String, String, Report) {
    moved_in(&workbook(blocks, ""), FIRST, (head, tail))
}

pub fn moved_in(workbook: &Workbook, at: At, (head, tail): (&str, &str)) -> (String, String, Report) {
    let mut report = Report::default();
    let xml = sheet(head, tail);
    let written =
        worksheet(xml.as_bytes(), &Book::new(workbook, LIMIT), at, (&[], &|_| false), &mut report).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let head = text(written.head).replace(&format!("<worksheet xmlns=\"{MAIN}\">"), "");
    (head, text(written.tail).replace("</worksheet>", ""), report)
}

/// The head of a sheet with these blocks.
pub fn head(blocks: &str, head: &str) -> String {
    moved(blocks, (head, "")).0
}

/// The tail of a sheet with these blocks.
pub fn tail(blocks: &str, tail: &str) -> String {
    moved(blocks, ("", tail)).1
}
