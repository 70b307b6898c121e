//! A workbook that becomes pages: merged cells and links that reach far beyond what its cells say end with that.
//!
//! Hazard: LibreOffice lays merged cells with a text out whole, a row (`A6:XFD6`) as 16,384 columns on 1,800 pages, and it looks for
//! a text in each cell of a link. Both take longer than a job may. Print areas, formats and rules of whole rows cost it nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range as Bytes;

use cell_references::{Cell, LAST_COLUMN, LAST_ROW, Lines, Range};
use memchr::{memchr2, memmem, memrchr};
use quick_xml::Reader;
use quick_xml::events::Event;

use super::parts::{self, Strings};
use super::text::runs;
use crate::container;
use crate::error::Error;
use crate::family::Family;
use crate::limits::{Limit, Limits};
use crate::listing::listing;
use crate::package::packer::Content;
use crate::package::xml::replaced;
use crate::word::attribute::{attribute, unescaped, value};

/// How many columns and rows a range may have beyond the cells that say something. A page has some ten and some fifty.
const COLUMNS_BEYOND: u32 = 100;
const ROWS_BEYOND: u32 = 5_000;

/// How many columns a text may take beyond the used ones. A longer one is wrapped, or goes on over several pages.
const TEXT_COLUMNS: u32 = 16;

/// How many characters fit into a column of Excel's default width.
const COLUMN_CHARACTERS: f64 = 8.0;

/// The largest workbook that is looked at, unpacked: its sheets are in memory then.
const UNPACKED_BYTES: u64 = 1 << 30;

/// How many elements of the workbook's part and of its shared texts are looked at. Hazard: each is kept in memory, many times as large
/// as it is written.
const ELEMENTS: u64 = 4_000_000;

/// How many bytes before a name are looked at for its tag's `<`. Prefixes have a few letters.
const PREFIX_BYTES: usize = 64;

/// The file was within the service's limits when it was filled; these bound what is looked at.
const LIMITS: Limits = {
    const NONE: Limit = Limit { value: u64::MAX, name: "" };
    Limits {
        entries: NONE,
        unpacked_bytes: Limit { value: UNPACKED_BYTES, name: "" },
        ratio: NONE,
        depth: NONE,
        elements: Limit { value: ELEMENTS, name: "" },
        attributes: NONE,
        tags: NONE,
        items: NONE,
        slides: NONE,
        own_parts: NONE,
        output_bytes: NONE,
    }
};

/// The workbook in which no merged cells and no links reach far beyond the cells that say something. `None` where none do, or where
/// the file cannot be read: whoever opens it says why.
pub fn bounded_for_pages(file: &[u8]) -> Option<Vec<u8>> {
    bounded(file).ok().flatten()
}

fn bounded(file: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let mut archive = container::open(file, &LIMITS)?;
    let found = listing(&mut archive, &LIMITS)?;
    if found.family != Family::Excel {
        return Ok(None);
    }
    let (mut room, mut left) = (LIMITS.unpacked_bytes.value, LIMITS.elements.value);
    let book = parts::listing((&mut archive, &found.main), (&mut room, &mut left), &LIMITS)?;
    let sheets = book.sheets.iter().filter_map(|sheet| sheet.part.as_ref());
    let sheets = sheets.map(|(name, xml)| (name, xml, Sheet::read(xml)));
    let sheets: Vec<_> = sheets.filter(|(.., sheet)| sheet.has_large()).collect();
    if sheets.is_empty() {
        return Ok(None);
    }
    let strings = Strings::read(book.strings, (&mut left, &LIMITS))?;
    let names = container::entries_by_name(&archive);
    let index = |name: &str| names.get(&name.to_ascii_lowercase()).copied();
    let mut changed = BTreeMap::new();
    for (name, xml, sheet) in sheets {
        let edits = sheet.clipped(&strings);
        if let Some(index) = index(name).filter(|_| !edits.is_empty()) {
            changed.insert(index, Content::Plain(replaced(xml, &edits)));
        }
    }
    if changed.is_empty() {
        return Ok(None);
    }
    container::write(&mut archive, (changed, &BTreeSet::new()), &[]).map(Some)
}

/// A change to the text of a part.
type Edit = (Bytes<usize>, String);

/// The start tags of a name in a part, without their prefix: where each begins, and its bytes.
fn tags<'x>(xml: &'x [u8], name: &'x str) -> impl Iterator<Item = (usize, &'x [u8])> {
    memmem::find_iter(xml, name.as_bytes()).filter_map(move |at| {
        let begin = tag_of(xml, (at, name))?;
        // No tag has a `<` in it: what is looked at for its end is looked at once.
        let end = at + memchr2(b'<', b'>', xml.get(at..)?)?;
        let is_start = xml.get(begin + 1) != Some(&b'/') && xml.get(end) == Some(&b'>');
        is_start.then(|| xml.get(begin..=end)).flatten().map(|tag| (begin, tag))
    })
}

/// Where the tag of a name at byte `at` begins; `None` where the name is a text or a piece of another name.
fn tag_of(xml: &[u8], (at, name): (usize, &str)) -> Option<usize> {
    let behind = xml.get(at + name.len())?;
    let from = at.saturating_sub(PREFIX_BYTES);
    let begin = from + memrchr(b'<', xml.get(from..at)?)?;
    let before = xml.get(begin + 1..at)?;
    let prefix = before.strip_prefix(b"/").unwrap_or(before);
    let is_prefix = |it: &[u8]| !it.iter().any(|byte| byte.is_ascii_whitespace() || b"/>\"'=".contains(byte));
    let is_tag = prefix.is_empty() || prefix.strip_suffix(b":").is_some_and(is_prefix);
    (is_tag && (behind.is_ascii_whitespace() || matches!(behind, b'>' | b'/'))).then_some(begin)
}

/// Whether a range may reach far beyond the cells of its sheet.
fn is_large(range: Range) -> bool {
    range.rows.count() > ROWS_BEYOND || range.columns.count() > COLUMNS_BEYOND
}

/// A worksheet: its part up to the end of its cells, and its merged cells and links with the places of their attributes.
struct Sheet<'x> {
    cells: &'x [u8],
    merged: Vec<(Bytes<usize>, Range)>,
    links: Vec<(Bytes<usize>, Range)>,
}

impl<'x> Sheet<'x> {
    fn read(xml: &'x [u8]) -> Self {
        // A sheet may be called so, and links may lead there.
        let name = "sheetData";
        let mut all = memmem::rfind_iter(xml, name.as_bytes());
        let behind = all.find(|&at| tag_of(xml, (at, name)).is_some()).unwrap_or_default();
        let (cells, tail) = xml.split_at(behind);
        let ranges = |name: &str| -> Vec<(Bytes<usize>, Range)> {
            let ranges = tags(tail, name).filter_map(|(begin, tag)| {
                let place = attribute(tag, "ref")?.value;
                let range = Range::parse(&unescaped(&String::from_utf8_lossy(tag.get(place.clone())?)))?;
                Some((behind + begin + place.start..behind + begin + place.end, range))
            });
            ranges.collect()
        };
        Self { cells, merged: ranges("mergeCell"), links: ranges("hyperlink") }
    }

    /// Whether any of its merged cells and links may reach far beyond its cells.
    fn has_large(&self) -> bool {
        self.merged.iter().chain(&self.links).any(|(_, range)| is_large(*range))
    }

    /// What its cells say. Those that are merged with them are used, too.
    fn said(&self) -> Said {
        let (large, others): (Vec<Range>, Vec<Range>) =
            self.merged.iter().map(|(_, range)| *range).partition(|range| is_large(*range));
        let mut said = Said::read(self.cells, &large);
        for range in others {
            said.used = said.used.max_of(range.rows.last, range.columns.last);
        }
        said
    }

    /// The ranges that reach far beyond its cells, clipped.
    fn clipped(&self, strings: &Strings) -> Vec<Edit> {
        let (said, widths) = (self.said(), Widths::read(self.cells));
        let mut counts = BTreeMap::new();
        let merged = self.merged.iter().filter(|(_, range)| is_large(*range));
        let merged = merged.map(|(place, range)| {
            let corner = range.first_cell();
            // The text of merged cells does not go on beside them.
            let last = said.characters(corner, strings, &mut counts);
            let last = last.map(|count| widths.last_for(corner.column, count));
            (place, *range, said.used.max_of(0, last.unwrap_or_default()))
        });
        let links = self.links.iter().filter(|(_, range)| is_large(*range));
        let links = links.map(|(place, range)| (place, *range, said.used));
        let mut edits: Vec<Edit> = merged
            .chain(links)
            .filter_map(|(place, range, used)| {
                let now = clipped(range, used);
                (now != range).then(|| (place.clone(), now.to_string()))
            })
            .collect();
        edits.sort_by_key(|(place, _)| place.start);
        edits
    }
}

/// A range that ends with the used cells if it reaches far beyond them.
fn clipped(range: Range, used: Used) -> Range {
    let clip = |lines: Lines, used: u32, beyond: u32| {
        let last = used.max(lines.first);
        if lines.last > last.saturating_add(beyond) { Lines::new(lines.first, last) } else { lines }
    };
    Range {
        rows: clip(range.rows, used.row, ROWS_BEYOND),
        columns: clip(range.columns, used.column, COLUMNS_BEYOND),
    }
}

/// The last row and the last column that are used.
#[derive(Clone, Copy)]
struct Used {
    row: u32,
    column: u32,
}

impl Used {
    fn max_of(self, row: u32, column: u32) -> Self {
        Self { row: self.row.max(row), column: self.column.max(column) }
    }
}

/// What the cells of a sheet say.
struct Said {
    used: Used,
    /// The texts of the first cells of merges: how many characters they have, or the number of a shared text.
    texts: BTreeMap<Cell, Text>,
}

#[derive(Clone, Copy)]
enum Text {
    Characters(usize),
    Shared(usize),
}

impl Said {
    /// Reads the bytes up to the end of the cells, or to where they are broken.
    fn read(xml: &[u8], merged: &[Range]) -> Self {
        let corners: BTreeSet<Cell> = merged.iter().map(|range| range.first_cell()).collect();
        let mut said = Self { used: Used { row: 1, column: 1 }, texts: BTreeMap::new() };
        let mut reader = Reader::from_reader(xml);
        let (mut now, mut is_said) = (Cell { row: 0, column: 0 }, false);
        let (mut text, mut is_shared, mut has_formula) = (String::new(), false, false);
        while let Ok(event) = reader.read_event() {
            let (tag, is_open) = match event {
                Event::Start(tag) => (tag, true),
                Event::Empty(tag) => (tag, false),
                Event::Text(piece) if is_said => {
                    text.push_str(&String::from_utf8_lossy(&piece));
                    continue;
                }
                Event::GeneralRef(_) if is_said => {
                    text.push('&');
                    continue;
                }
                Event::End(tag) => {
                    match tag.local_name().as_ref() {
                        b"v" | b"t" => is_said = false,
                        b"c" => said.add(now, (&text, is_shared, has_formula), corners.contains(&now)),
                        _ => {}
                    }
                    continue;
                }
                Event::Eof => break,
                Event::Text(_)
                | Event::CData(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::DocType(_)
                | Event::GeneralRef(_) => continue,
            };
            match tag.local_name().as_ref() {
                b"row" => {
                    let next = now.row.saturating_add(1);
                    now = Cell { row: value(&tag, "r").parse().unwrap_or(next), column: 0 };
                }
                b"c" => {
                    let place = Range::parse(&value(&tag, "r"));
                    let next = Cell { column: now.column + 1, ..now };
                    now = place.map_or(next, Range::first_cell);
                    is_shared = value(&tag, "t") == "s";
                    text.clear();
                    has_formula = false;
                }
                b"v" | b"t" => is_said = is_open,
                // Its letters are not what the cell shows.
                b"f" => has_formula = true,
                _ => {}
            }
        }
        said
    }

    fn add(&mut self, cell: Cell, (text, is_shared, has_formula): (&str, bool, bool), is_corner: bool) {
        let is_empty = text.trim().is_empty() && !has_formula;
        if is_empty || cell.row > LAST_ROW || cell.column > LAST_COLUMN {
            return;
        }
        self.used = self.used.max_of(cell.row, cell.column);
        if is_corner {
            let shared = text.trim().parse().ok().filter(|_| is_shared);
            let said = shared.map_or_else(|| Text::Characters(text.chars().count()), Text::Shared);
            self.texts.insert(cell, said);
        }
    }

    /// How many characters a cell's text has, without line breaks. `counts` remembers those of shared texts by their numbers.
    fn characters(
        &self,
        cell: Cell,
        strings: &Strings,
        counts: &mut BTreeMap<usize, usize>,
    ) -> Option<usize> {
        Some(match self.texts.get(&cell)? {
            Text::Characters(count) => *count,
            Text::Shared(number) => *counts.entry(*number).or_insert_with(|| {
                runs(strings.get(*number)).iter().map(|run| run.text.chars().count()).sum()
            }),
        })
    }
}

/// The widths of columns, in characters, in their order.
struct Widths(Vec<(Lines, f64)>);

impl Widths {
    fn read(head: &[u8]) -> Self {
        let widths = tags(head, "col").filter_map(|(_, tag)| {
            let text = |name: &str| {
                let value = attribute(tag, name).and_then(|it| tag.get(it.value))?;
                Some(String::from_utf8_lossy(value).trim().to_owned())
            };
            let lines = Lines::new(text("min")?.parse().ok()?, text("max")?.parse().ok()?);
            Some((lines, text("width")?.parse::<f64>().ok()?))
        });
        let mut widths: Vec<(Lines, f64)> = widths.collect();
        widths.sort_by_key(|(lines, _)| lines.first);
        Self(widths)
    }

    /// The last of the columns from `first` on that so many characters take.
    fn last_for(&self, first: u32, characters: usize) -> u32 {
        let mut left = f64::from(u32::try_from(characters).unwrap_or(u32::MAX));
        let last = first.saturating_add(TEXT_COLUMNS);
        let mut columns = first..last;
        let column = columns.find(|column| {
            let behind = self.0.partition_point(|(lines, _)| lines.first <= *column);
            let own = behind.checked_sub(1).and_then(|at| self.0.get(at));
            let own = own.filter(|(lines, _)| *column <= lines.last);
            left -= own.map_or(COLUMN_CHARACTERS, |(_, width)| *width);
            left <= 0.0
        });
        column.unwrap_or(last)
    }
}
