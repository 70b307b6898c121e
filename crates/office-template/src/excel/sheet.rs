//! A sheet as the template has it: its rows and cells, and the bytes of its part that they take (ECMA-376 part 1, 18.3.1).

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use cell_references::{self as references, Formula, Meaning};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::calculated::{Calculated, Spelled};
use super::tree::{Link, Tagged};
use crate::error::Error;
use crate::limits::Limit;
use crate::unfilled::letter;
use crate::word::attribute::{attributes, unescaped, value};

/// A sheet's cells.
pub(super) struct Sheet {
    pub xml: Vec<u8>,
    /// The namespace prefix of its elements with its colon, as `x:`; mostly empty.
    pub prefix: String,
    pub rows: Vec<Row>,
    pub cells: Vec<Cell>,
    /// The byte behind `</sheetData>`.
    pub behind: usize,
    /// The first cell of a data table (What-If Analysis), of which the values are kept and not the formula.
    pub data_table: Option<references::Cell>,
    /// The links whose addresses have tags, by their first cells.
    pub links: BTreeMap<references::Cell, Link>,
}

/// A row that is written in the part.
pub(super) struct Row {
    pub number: u32,
    /// Its attributes but `r` and `spans`, each with a blank before it.
    pub kept: String,
    /// Its cells, as indices of `Sheet::cells`.
    pub cells: Range<usize>,
}

/// A cell.
pub(super) struct Cell {
    pub row: u32,
    pub column: u32,
    /// Its attributes but `r`, `t` and `vm`, each with a blank before it.
    pub kept: String,
    /// The number of its format.
    pub style: u32,
    pub content: Content,
    /// How many sections of rows, nested in each other, hold it.
    pub depth: usize,
    /// The sections of columns that hold it, outermost first; as blocks, once the sheet is planned.
    pub columns: Vec<usize>,
}

/// What is in a cell.
pub(super) enum Content {
    Empty,
    /// Its type (`t`), and the bytes of its `<v>`.
    Value(String, Range<usize>),
    /// The bytes of its `<is>`.
    Inline(Range<usize>),
    Formula(Box<Calculated>),
    Tagged(Box<Tagged>),
}

impl Content {
    /// How many bytes of the part it takes, where these are looked at.
    fn bytes(&self) -> usize {
        match self {
            Self::Value(_, range) | Self::Inline(range) => range.len(),
            Self::Empty | Self::Formula(_) | Self::Tagged(_) => 0,
        }
    }
}

impl Sheet {
    /// Reads a sheet. `names` are those of all sheets of the workbook. `left` (elements that may still be read, of the limit
    /// `elements`) and `formulas` (bytes of shared formulas that may be parsed for each of their cells) become less.
    pub(super) fn read(
        (part, xml): (&str, Vec<u8>),
        names: &[String],
        (elements, left, formulas): (&Limit, &mut u64, &mut usize),
    ) -> Result<Self, Error> {
        let broken = |why: &str| {
            Error::NotOffice(format!("{part} cannot be read: {why}; save the file anew in Excel"))
        };
        let mut xml = xml;
        if xml.starts_with(b"\xef\xbb\xbf") {
            xml.drain(..3);
        }
        if std::str::from_utf8(&xml).is_err() {
            return Err(broken("it is not written in UTF-8"));
        }
        let mut scanner = Scanner::new(names, (left, formulas));
        let many = || Error::limit(elements, "the template has more elements than the limit");
        let prefix = scanner.scan(&xml);
        let prefix = prefix.map_err(|why| if scanner.is_full { many() } else { broken(&why) })?;
        let Scanner { rows, cells, behind, data_table, .. } = scanner;
        Ok(Self { xml, prefix, rows, cells, behind, data_table, links: BTreeMap::new() })
    }

    /// The last row and the last column that have something in a cell. Programs format empty rows down to the sheet's last one;
    /// when rows are inserted above, these fall off its end, as in Excel.
    pub(super) fn used(&self) -> references::Cell {
        let (mut row, mut column) = (1, 1);
        for cell in self.cells.iter().filter(|cell| self.says_something(cell)) {
            row = row.max(cell.row);
            column = column.max(cell.column);
        }
        references::Cell { row, column }
    }

    /// The cells of a row.
    pub(super) fn of_row(&self, number: u32) -> &[Cell] {
        let row = self.rows.binary_search_by_key(&number, |row| row.number).ok();
        let cells = row.and_then(|row| self.rows.get(row)).map(|row| row.cells.clone());
        cells.and_then(|cells| self.cells.get(cells)).unwrap_or_default()
    }

    /// Whether something stands in any cell of a range. `left` (rows, cells and bytes that may still be looked at) becomes less;
    /// when it is used up, every range counts as filled.
    pub(super) fn is_filled(&self, range: references::Range, left: &std::cell::Cell<u64>) -> bool {
        let from = self.rows.partition_point(|row| row.number < range.rows.first);
        let mut rows = self.rows.iter().skip(from).take_while(|row| row.number <= range.rows.last);
        let is_over = |effort: usize| {
            left.set(left.get().saturating_sub(effort as u64));
            left.get() == 0
        };
        rows.any(|row| {
            let cells = self.cells.get(row.cells.clone()).unwrap_or_default();
            let first = cells.partition_point(|cell| cell.column < range.columns.first);
            let mut cells = cells.iter().skip(first).take_while(|cell| cell.column <= range.columns.last);
            is_over(1) || cells.any(|cell| is_over(1 + cell.content.bytes()) || self.says_something(cell))
        })
    }

    fn says_something(&self, cell: &Cell) -> bool {
        match &cell.content {
            Content::Empty => false,
            Content::Value(_, range) | Content::Inline(range) => {
                let element = self.xml.get(range.clone()).unwrap_or_default();
                let mut texts = element.split(|byte| *byte == b'<');
                texts.any(|text| text.splitn(2, |byte| *byte == b'>').nth(1).is_some_and(is_text))
            }
            Content::Formula(_) | Content::Tagged(_) => true,
        }
    }
}

fn is_text(bytes: &[u8]) -> bool {
    !bytes.trim_ascii().is_empty()
}

/// A formula as the part has it.
#[derive(Default)]
struct Written {
    text: String,
    kind: String,
    range: String,
    number: String,
    kept: String,
}

/// One pass over a sheet's part.
struct Scanner<'s> {
    names: &'s [String],
    left: &'s mut u64,
    formulas: &'s mut usize,
    rows: Vec<Row>,
    cells: Vec<Cell>,
    /// The shared formulas by their `si`, with the row and the column of the cell that has the text.
    shared: BTreeMap<String, (Arc<Formula>, u32, u32)>,
    kind: String,
    formula: Option<Written>,
    value: Option<Range<usize>>,
    inline: Option<Range<usize>>,
    is_in_formula: bool,
    is_in_data: bool,
    /// The limit of elements is passed.
    is_full: bool,
    behind: usize,
    data_table: Option<references::Cell>,
}

impl<'s> Scanner<'s> {
    fn new(names: &'s [String], (left, formulas): (&'s mut u64, &'s mut usize)) -> Self {
        Self {
            names,
            left,
            formulas,
            rows: Vec::new(),
            cells: Vec::new(),
            shared: BTreeMap::new(),
            kind: String::new(),
            formula: None,
            value: None,
            inline: None,
            is_in_formula: false,
            is_in_data: false,
            is_full: false,
            behind: 0,
            data_table: None,
        }
    }

    /// Reads the part; the namespace prefix of its elements.
    fn scan(&mut self, xml: &[u8]) -> Result<String, String> {
        let mut reader = Reader::from_reader(xml);
        let (mut prefix, mut has_cells, mut from, mut depth) = (None, false, 0, 0_u32);
        loop {
            let event = reader.read_event().map_err(|error| {
                format!("its XML is broken at byte {} ({error})", reader.error_position())
            })?;
            let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            match event {
                Event::Start(tag) => {
                    self.count()?;
                    depth += 1;
                    let name = tag.name();
                    let name = name.as_ref();
                    if prefix.is_none() {
                        let at = memchr::memchr(b':', name).map_or(0, |at| at + 1);
                        let text = String::from_utf8_lossy(name.get(..at).unwrap_or_default());
                        prefix = Some(text.into_owned());
                    }
                    if depth == 2 && tag.local_name().as_ref() == b"sheetData" {
                        has_cells = true;
                        self.is_in_data = true;
                    } else if self.is_in_data {
                        self.begin(&tag, from..end)?;
                    }
                }
                Event::Empty(tag) => {
                    self.count()?;
                    if depth == 1 && tag.local_name().as_ref() == b"sheetData" {
                        has_cells = true;
                        self.behind = end;
                    } else if self.is_in_data {
                        self.begin(&tag, from..end)?;
                        self.end(tag.local_name().as_ref(), end);
                    }
                }
                Event::End(tag) => {
                    depth = depth.saturating_sub(1);
                    if depth == 1 && tag.local_name().as_ref() == b"sheetData" {
                        self.is_in_data = false;
                        self.behind = end;
                    } else if self.is_in_data {
                        self.end(tag.local_name().as_ref(), end);
                    }
                }
                Event::Text(text) if self.is_in_formula => self.push(&String::from_utf8_lossy(&text)),
                Event::CData(text) if self.is_in_formula => self.push(&String::from_utf8_lossy(&text)),
                Event::GeneralRef(reference) if self.is_in_formula => {
                    if let Some(letter) = letter(&reference) {
                        self.push(letter.encode_utf8(&mut [0; 4]));
                    }
                }
                Event::DocType(_) => {
                    return Err("it has a document type (<!DOCTYPE), which is refused".to_owned());
                }
                Event::Eof => break,
                Event::Text(_)
                | Event::CData(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::GeneralRef(_) => {}
            }
            from = end;
        }
        let no_cells = || "it has no cells (<sheetData>)".to_owned();
        has_cells.then(|| prefix.unwrap_or_default()).ok_or_else(no_cells)
    }

    fn push(&mut self, text: &str) {
        if let Some(formula) = &mut self.formula {
            formula.text.push_str(text);
        }
    }

    fn count(&mut self) -> Result<(), String> {
        self.is_full = *self.left == 0;
        *self.left = self.left.checked_sub(1).ok_or_else(String::new)?;
        Ok(())
    }

    fn begin(&mut self, tag: &BytesStart<'_>, place: Range<usize>) -> Result<(), String> {
        match tag.local_name().as_ref() {
            b"row" => {
                let above = self.rows.last().map_or(0, |row| row.number);
                let number = value(tag, "r").parse().unwrap_or(above + 1);
                if number <= above || number > references::LAST_ROW {
                    return Err(format!("row {number} stands behind row {above}"));
                }
                let at = self.cells.len();
                self.rows.push(Row { number, kept: kept(tag, &["r", "spans"]), cells: at..at });
            }
            b"c" => {
                let Some(row) = self.rows.last() else {
                    return Err("a cell stands outside of a row".to_owned());
                };
                let before =
                    self.cells.get(row.cells.clone()).and_then(<[Cell]>::last).map_or(0, |cell| cell.column);
                let given = references::Range::parse(&value(tag, "r"));
                let column = given.map_or(before + 1, |range| range.columns.first);
                if column <= before || column > references::LAST_COLUMN {
                    return Err(format!("cells of row {} are not in their order", row.number));
                }
                self.kind = value(tag, "t");
                let style = value(tag, "s").parse().unwrap_or_default();
                let (row, kept) = (row.number, kept(tag, &["r", "t", "vm"]));
                let (content, depth, columns) = (Content::Empty, 0, Vec::new());
                self.cells.push(Cell { row, column, kept, style, content, depth, columns });
            }
            b"f" => {
                self.formula = Some(Written {
                    text: String::new(),
                    kind: value(tag, "t"),
                    range: value(tag, "ref"),
                    number: value(tag, "si"),
                    kept: kept(tag, &["t", "ref", "si"]),
                });
                self.is_in_formula = true;
            }
            b"v" => self.value = Some(place),
            b"is" => self.inline = Some(place),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &[u8], end: usize) {
        match name {
            b"f" => self.is_in_formula = false,
            b"v" => {
                if let Some(value) = &mut self.value {
                    value.end = end;
                }
            }
            b"is" => {
                if let Some(inline) = &mut self.inline {
                    inline.end = end;
                }
            }
            b"c" => {
                let content = self.content();
                if let Some(cell) = self.cells.last_mut() {
                    cell.content = content;
                }
                let count = self.cells.len();
                if let Some(row) = self.rows.last_mut() {
                    row.cells.end = count;
                }
            }
            _ => {}
        }
    }

    fn content(&mut self) -> Content {
        let (formula, value, inline) = (self.formula.take(), self.value.take(), self.inline.take());
        let kind = std::mem::take(&mut self.kind);
        if let Some(calculated) = formula.and_then(|written| self.calculated(written)) {
            return Content::Formula(Box::new(calculated));
        }
        match (inline, value) {
            (Some(inline), _) => Content::Inline(inline),
            (None, Some(value)) => Content::Value(kind, value),
            (None, None) => Content::Empty,
        }
    }

    /// The formula of the cell that ends here. Of a shared formula only the first cell has the text; of a data table only the
    /// values are kept.
    fn calculated(&mut self, written: Written) -> Option<Calculated> {
        let Written { text, kind, range, number, kept } = written;
        let (row, column) = self.cells.last().map(|cell| (cell.row, cell.column))?;
        if kind == "shared" {
            if let Some((first, first_row, first_column)) =
                self.shared.get(&number).filter(|_| text.is_empty())
            {
                let by =
                    |to: u32, from: u32| i32::try_from(i64::from(to) - i64::from(from)).unwrap_or_default();
                let shift = (by(row, *first_row), by(column, *first_column));
                let formula = Spelled::As(Arc::clone(first), shift);
                // Hazard: a long formula that a million cells share would take gigabytes if it was parsed for each. Beyond the
                // budget a cell keeps the shift alone, and its formula is parsed when it is written.
                let formula = match self.formulas.checked_sub(first.text().len()) {
                    Some(left) => {
                        *self.formulas = left;
                        Spelled::Own(formula.formula(self.names).into_owned())
                    }
                    None => formula,
                };
                return Some(Calculated::new(formula, None));
            }
            let formula = Arc::new(Formula::parse(&text, self.names, Meaning::Value));
            self.shared.insert(number, (Arc::clone(&formula), row, column));
            return Some(Calculated::new(Spelled::As(formula, (0, 0)), None));
        }
        if kind == "dataTable" {
            self.data_table.get_or_insert(references::Cell { row, column });
            return None;
        }
        if text.is_empty() {
            return None;
        }
        let formula = Formula::parse(&text, self.names, Meaning::Value);
        let array = (kind == "array").then(|| references::Range::parse(&range).map(|range| (range, kept)));
        Some(Calculated::new(Spelled::Own(formula), array.flatten()))
    }
}

/// The attributes of a tag but these, as they are written, each with a blank before it.
fn kept(tag: &BytesStart<'_>, but: &[&str]) -> String {
    let tag = [b"<", &**tag].concat();
    let mut kept = String::new();
    for attribute in attributes(&tag) {
        let piece =
            |range: Range<usize>| String::from_utf8_lossy(tag.get(range).unwrap_or_default()).into_owned();
        let name = piece(attribute.name.clone());
        if !but.contains(&name.trim_end()) {
            kept.push(' ');
            kept.push_str(piece(attribute.whole).trim_start());
        }
    }
    kept
}

/// The number of the shared string that a value names.
pub(super) fn shared_number(xml: &[u8], value: &Range<usize>) -> Option<usize> {
    let text = std::str::from_utf8(xml.get(value.clone())?).ok()?;
    let (_, inner) = text.split_once('>')?;
    unescaped(inner.split('<').next()?).trim().parse().ok()
}
