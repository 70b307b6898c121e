//! Pivot tables: where their data come from, and where they are (ECMA-376 part 1, 18.10).

use cell_references::{Cell, Place, Range};

use crate::book::{At, Book};
use crate::error::Error;
use crate::report::Report;
use crate::xml::{Document, Edits};

/// Cells that are named by a range and a sheet's name.
pub(crate) struct Source {
    range: Option<String>,
    sheet: Option<String>,
}

/// What became of the cells that an element names by `ref` and `sheet`. None if they are gone.
pub(crate) fn source(document: &Document<'_>, index: usize, book: &Book<'_>) -> Option<Source> {
    let unchanged = Source { range: None, sheet: None };
    // An id is that of a relationship to another workbook, whose cells stay.
    if document.foreign(index, "id").is_some() {
        return Some(unchanged);
    }
    let Some(name) = document.value(index, "sheet") else { return Some(unchanged) };
    let Some(number) = book.names.iter().position(|it| it.to_lowercase() == name.to_lowercase()) else {
        return Some(unchanged);
    };
    let copy = book.workbook.sheets[number].copies.last()?;
    let sheet = Some(copy.name.clone());
    let Some(range) = document.value(index, "ref").and_then(|text| Range::parse(&text)) else {
        return Some(Source { range: None, sheet });
    };
    let now = copy.moves.range(range, Place::default())?;
    Some(Source { range: (now != range).then(|| now.to_string()), sheet })
}

impl Source {
    pub fn set(&self, document: &Document<'_>, index: usize, edits: &mut Edits) {
        for (name, value) in [("ref", &self.range), ("sheet", &self.sheet)] {
            if let Some(value) = value {
                edits.set(document, index, name, value);
            }
        }
    }
}

/// Rewrites the definition of a pivot cache: its source grows, and it is refreshed when the file is opened. Its records stay as
/// they are until then.
///
/// # Errors
/// [`Error::Xml`].
pub fn pivot_cache(xml: &[u8], book: &Book<'_>, report: &mut Report) -> Result<Vec<u8>, Error> {
    let document = Document::read(xml, book.reading())?;
    let mut edits = Edits::default();
    for index in 0..document.len() {
        match document.name(index) {
            "pivotCacheDefinition" if index == 0 => edits.set(&document, 0, "refreshOnLoad", "1"),
            "worksheetSource" | "rangeSet" => match source(&document, index, book) {
                Some(source) => source.set(&document, index, &mut edits),
                None => report.lost.add(1, || "the source of a pivot table".to_owned()),
            },
            _ => {}
        }
    }
    Ok(edits.into_part(&document))
}

/// Rewrites a pivot table: it begins where its first cell is now, and is as large as it was.
///
/// # Errors
/// [`Error::Xml`].
pub fn pivot_table(xml: &[u8], book: &Book<'_>, at: At, report: &mut Report) -> Result<Vec<u8>, Error> {
    let document = Document::read(xml, book.reading())?;
    let sheet = book.sheet(at)?;
    let mut edits = Edits::default();
    for index in (0..document.len()).filter(|&index| document.name(index) == "location") {
        let Some(range) = document.value(index, "ref").and_then(|text| Range::parse(&text)) else { continue };
        let Some(now) = sheet.moves.range(range, Place::default()) else {
            report.lost.add(1, || sheet.told("the place of a pivot table"));
            continue;
        };
        let first = now.first_cell();
        let last = Cell {
            row: first.row + (range.rows.last - range.rows.first),
            column: first.column + (range.columns.last - range.columns.first),
        };
        edits.set(&document, index, "ref", &Range::new(first, last).to_string());
    }
    Ok(edits.into_part(&document))
}
