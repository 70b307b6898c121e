//! Cells and ranges, and how they are written: `B7`, `A1:C3`, `A:C`, `1:3`, and lists of them.

use std::fmt::{self, Write as _};

/// The last row of a sheet (ECMA-376 part 1, 18.17.2.3.1 names no bound; Microsoft, "Excel specifications and limits").
pub const LAST_ROW: u32 = 1_048_576;

/// The last column of a sheet, `XFD`.
pub const LAST_COLUMN: u32 = 16_384;

/// A cell: row and column, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// From 1 to [`LAST_ROW`].
    pub row: u32,
    /// From 1 to [`LAST_COLUMN`].
    pub column: u32,
}

/// Rows or columns, the first and the last of them, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lines {
    /// The first.
    pub first: u32,
    /// The last: not before the first.
    pub last: u32,
}

/// A rectangle of cells. Whole columns have all rows, whole rows all columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// Its rows.
    pub rows: Lines,
    /// Its columns.
    pub columns: Lines,
}

impl Lines {
    /// All rows of a sheet.
    pub const ALL_ROWS: Self = Self { first: 1, last: LAST_ROW };
    /// All columns of a sheet.
    pub const ALL_COLUMNS: Self = Self { first: 1, last: LAST_COLUMN };

    /// From the one to the other, in whichever order they come.
    pub fn new(one: u32, other: u32) -> Self {
        Self { first: one.min(other), last: one.max(other) }
    }

    pub(crate) fn holds(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    /// Whether a line is one of them.
    pub fn has(self, line: u32) -> bool {
        self.first <= line && line <= self.last
    }

    /// Whether they share a line with others.
    pub fn meets(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    pub(crate) fn common(self, other: Self) -> Option<Self> {
        let (first, last) = (self.first.max(other.first), self.last.min(other.last));
        (first <= last).then_some(Self { first, last })
    }

    pub(crate) fn around(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    /// How many they are.
    pub fn count(self) -> u32 {
        self.last - self.first + 1
    }
}

impl Range {
    /// The rectangle between two corners.
    pub fn new(one: Cell, other: Cell) -> Self {
        Self { rows: Lines::new(one.row, other.row), columns: Lines::new(one.column, other.column) }
    }

    /// Reads `B7`, `A1:C3`, `A:C` or `1:3`; `$` and the order of the corners do not matter.
    pub fn parse(text: &str) -> Option<Self> {
        let (reference, length) = Reference::read(text.as_bytes(), 0)?;
        (length == text.len()).then(|| reference.range())
    }

    /// Reads the list of a `sqref` attribute, `A1:B2 D4` (ECMA-376 part 1, 18.18.76). None if any of it is no range.
    pub fn parse_list(text: &str) -> Option<Vec<Self>> {
        text.split_ascii_whitespace().map(Self::parse).collect()
    }

    /// Writes a list as a `sqref` attribute has it.
    pub fn write_list(ranges: &[Self]) -> String {
        let mut text = String::new();
        for range in ranges {
            let gap = if text.is_empty() { "" } else { " " };
            // Writing into a String does not fail.
            let _ = write!(text, "{gap}{range}");
        }
        text
    }

    /// The cell in its first row and column.
    pub fn first_cell(self) -> Cell {
        Cell { row: self.rows.first, column: self.columns.first }
    }

    pub(crate) fn around(self, other: Self) -> Self {
        Self { rows: self.rows.around(other.rows), columns: self.columns.around(other.columns) }
    }

    pub(crate) fn holds(self, other: Self) -> bool {
        self.rows.holds(other.rows) && self.columns.holds(other.columns)
    }

    /// The same with rows and columns exchanged.
    pub(crate) fn turned(self) -> Self {
        Self { rows: self.columns, columns: self.rows }
    }
}

impl Cell {
    /// The same with row and column exchanged.
    pub(crate) fn turned(self) -> Self {
        Self { row: self.column, column: self.row }
    }
}

impl From<Cell> for Range {
    fn from(cell: Cell) -> Self {
        Self::new(cell, cell)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", Range::from(*self))
    }
}

/// Whole rows and columns are written by their corners too, `A6:XFD6`: attributes with cells (`ref`, `sqref`) are read so by every
/// program, and as `6:6` by some alone.
impl fmt::Display for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |lines: Lines| Some(Side { lines, first_is_fixed: false, last_is_fixed: false });
        let is_single = self.rows.count() == 1 && self.columns.count() == 1;
        let mut text = String::new();
        Reference { rows: side(self.rows), columns: side(self.columns), is_single }.write(&mut text);
        formatter.write_str(&text)
    }
}

/// The rows or columns of a reference, and which of them have a `$`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Side {
    pub lines: Lines,
    pub first_is_fixed: bool,
    pub last_is_fixed: bool,
}

/// A reference as it is written. Whole columns have no rows, whole rows no columns; one of the two is always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reference {
    pub rows: Option<Side>,
    pub columns: Option<Side>,
    /// Written without a colon.
    pub is_single: bool,
}

/// A corner: a column, a row, or both, and whether each has a `$`.
#[derive(Clone, Copy)]
struct Corner {
    column: Option<(u32, bool)>,
    row: Option<(u32, bool)>,
}

impl Reference {
    /// Reads the longest reference that begins at `at`: the reference, and where it ends. `None` if it goes on as a longer word,
    /// a call or a sheet's name.
    pub fn read(text: &[u8], at: usize) -> Option<(Self, usize)> {
        let (first, end) = Corner::read(text, at)?;
        let second = (text.get(end) == Some(&b':')).then(|| Corner::read(text, end + 1)).flatten();
        if let Some((second, end)) = second
            && first.is_like(second)
        {
            return Some((Self::between(first, second), end));
        }
        let is_cell = first.row.is_some() && first.column.is_some();
        is_cell.then(|| (Self { is_single: true, ..Self::between(first, first) }, end))
    }

    fn between(one: Corner, other: Corner) -> Self {
        Self { rows: side(one.row, other.row), columns: side(one.column, other.column), is_single: false }
    }

    /// The cells that it names.
    pub fn range(&self) -> Range {
        Range {
            rows: self.rows.map_or(Lines::ALL_ROWS, |side| side.lines),
            columns: self.columns.map_or(Lines::ALL_COLUMNS, |side| side.lines),
        }
    }

    /// The same with rows and columns exchanged.
    pub fn turned(&self) -> Self {
        Self { rows: self.columns, columns: self.rows, ..*self }
    }

    /// The same reference with its `$`, for other cells. One cell that became several is a range.
    pub fn at(&self, range: Range) -> Self {
        let rows = self.rows.map(|side| Side { lines: range.rows, ..side });
        let columns = self.columns.map(|side| Side { lines: range.columns, ..side });
        let is_single = self.is_single && range.rows.count() == 1 && range.columns.count() == 1;
        Self { rows, columns, is_single }
    }

    /// Moves what has no `$`. `None` if it would be off the sheet then.
    pub fn shifted(&self, rows: i32, columns: i32) -> Option<Self> {
        let side = |side: Option<Side>, by: i32, limit: u32| match side {
            None => Some(None),
            Some(side) => side.shifted(by, limit).map(Some),
        };
        Some(Self {
            rows: side(self.rows, rows, LAST_ROW)?,
            columns: side(self.columns, columns, LAST_COLUMN)?,
            ..*self
        })
    }

    pub fn write(&self, out: &mut String) {
        self.write_corner(out, false);
        if !self.is_single {
            out.push(':');
            self.write_corner(out, true);
        }
    }

    fn write_corner(&self, out: &mut String, is_last: bool) {
        let mut corner = |side: Side, put: fn(&mut String, u32)| {
            let (line, is_fixed) = if is_last {
                (side.lines.last, side.last_is_fixed)
            } else {
                (side.lines.first, side.first_is_fixed)
            };
            if is_fixed {
                out.push('$');
            }
            put(out, line);
        };
        if let Some(side) = self.columns {
            corner(side, push_column);
        }
        if let Some(side) = self.rows {
            corner(side, push_number);
        }
    }
}

impl Side {
    fn shifted(self, by: i32, limit: u32) -> Option<Self> {
        let line = |line: u32, is_fixed: bool| {
            let moved = if is_fixed { Some(line) } else { line.checked_add_signed(by) };
            moved.filter(|line| (1..=limit).contains(line))
        };
        let first = (line(self.lines.first, self.first_is_fixed)?, self.first_is_fixed);
        let last = (line(self.lines.last, self.last_is_fixed)?, self.last_is_fixed);
        side(Some(first), Some(last))
    }
}

fn side(one: Option<(u32, bool)>, other: Option<(u32, bool)>) -> Option<Side> {
    let (one, other) = (one?, other?);
    let (first, last) = if one.0 <= other.0 { (one, other) } else { (other, one) };
    Some(Side {
        lines: Lines { first: first.0, last: last.0 },
        first_is_fixed: first.1,
        last_is_fixed: last.1,
    })
}

impl Corner {
    fn read(text: &[u8], at: usize) -> Option<(Self, usize)> {
        let (column, middle) = part(text, at, u8::is_ascii_alphabetic, column_number);
        let (row, end) = part(text, middle, u8::is_ascii_digit, row_number);
        let goes_on = text.get(end).is_some_and(|&byte| is_word(byte) || matches!(byte, b'$' | b'(' | b'!'));
        ((column.is_some() || row.is_some()) && !goes_on).then_some((Self { column, row }, end))
    }

    fn is_like(self, other: Self) -> bool {
        self.column.is_some() == other.column.is_some() && self.row.is_some() == other.row.is_some()
    }
}

/// Reads an optional `$` and the signs of one kind behind it: the number that they make with its `$`, and where it ends; `None`
/// and `at` if they make none.
fn part(
    text: &[u8],
    at: usize,
    is_sign: fn(&u8) -> bool,
    number: fn(&[u8]) -> Option<u32>,
) -> (Option<(u32, bool)>, usize) {
    let is_fixed = text.get(at) == Some(&b'$');
    let start = at + usize::from(is_fixed);
    let rest = text.get(start..).unwrap_or_default();
    let signs = rest.iter().take(8).take_while(|sign| is_sign(sign)).count();
    match rest.get(..signs).and_then(number) {
        Some(line) => (Some((line, is_fixed)), start + signs),
        None => (None, at),
    }
}

/// `A` is 1, `XFD` the last; None for what is no column.
fn column_number(letters: &[u8]) -> Option<u32> {
    let number = (1..=3).contains(&letters.len()).then(|| {
        letters
            .iter()
            .fold(0, |number, letter| number * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1)
    })?;
    (number <= LAST_COLUMN).then_some(number)
}

/// None for what is no row; a row is not written with zeros before it.
fn row_number(digits: &[u8]) -> Option<u32> {
    let number = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    (digits.first().is_some_and(|digit| *digit != b'0') && number <= LAST_ROW).then_some(number)
}

/// Whether a byte may be part of a name, as all beyond ASCII may (ECMA-376 part 1, 18.17.2.5).
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'\\' | b'?') || byte >= 0x80
}

fn push_column(out: &mut String, mut column: u32) {
    let mut letters = ['A'; 7];
    let mut at = letters.len();
    while column > 0 && at > 0 {
        column -= 1;
        at -= 1;
        letters[at] = char::from(b'A' + u8::try_from(column % 26).unwrap_or_default());
        column /= 26;
    }
    out.extend(letters.iter().skip(at));
}

fn push_number(out: &mut String, number: u32) {
    // Writing into a String does not fail.
    let _ = write!(out, "{number}");
}
