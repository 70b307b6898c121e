//! The old drawings (VML) that show comments and controls ([MS-OI29500] 2.1.1782, ECMA-376 part 4, 19.4): a copy of a comment's
//! note for each turn.

use std::collections::BTreeSet;

use cell_references::{Cell, LAST_COLUMN, LAST_ROW, Meaning, Place, Range};

use crate::book::{At, Book, Sheet, first_of};
use crate::error::Error;
use crate::report::Report;
use crate::xml::{Document, Edits, Reading, rewritten};

/// What is before the number in a shape's id.
const ID: &str = "_x0000_s";

/// How many numbers of shapes belong to one entry of `idmap`.
const CLUSTER: u32 = 1_024;

/// Rewrites a VML drawing: notes of comments get a copy for each turn, controls move.
///
/// # Errors
/// [`Error::Xml`], [`Error::Many`] for more notes than the limit, [`Error::Formula`].
pub fn vml(xml: &[u8], book: &Book<'_>, at: At, report: &mut Report) -> Result<Vec<u8>, Error> {
    let document = Document::read(xml, Reading { is_loose: true, ..book.reading() })?;
    let sheet = book.sheet(at)?;
    let mut edits = Edits::default();
    let shapes: Vec<usize> = (0..document.len()).filter(|&index| document.name(index) == "shape").collect();
    let number = |index: &usize| document.value(*index, "id")?.strip_prefix(ID)?.parse::<u32>().ok();
    let mut next = shapes.iter().filter_map(number).max().unwrap_or(CLUSTER);
    let (mut notes, mut clusters) = (0, BTreeSet::new());
    for index in shapes {
        let Some(data) = document.child(index, "ClientData") else { continue };
        let Some(note) = Note::read(&document, data) else {
            control(&document, data, &sheet, &mut edits, report)?;
            continue;
        };
        let mut text = String::new();
        for (turn, (_, now)) in sheet.moves.turns(note.cell).enumerate() {
            notes += 1;
            sheet.check(notes, "comments")?;
            let piece = rewritten(&document, index, |edits| {
                note.set(&document, first_of(now), edits);
                if turn > 0 {
                    next = next.saturating_add(1);
                    clusters.insert(next / CLUSTER);
                    edits.set(&document, index, "id", &format!("{ID}{next}"));
                    edits.unset_foreign(&document, index, "spid");
                }
            });
            book.take(&piece)?;
            text.push_str(&piece);
        }
        edits.replace(document.elements[index].whole.clone(), text);
    }
    for index in (0..document.len()).filter(|&index| document.name(index) == "idmap") {
        let known = document.value(index, "data").unwrap_or_default();
        let known = known.split(',').filter_map(|number| number.trim().parse().ok());
        let mut all: BTreeSet<u32> = known.collect();
        let before = all.len();
        all.append(&mut clusters);
        if all.len() > before {
            let all: Vec<String> = all.iter().map(u32::to_string).collect();
            edits.set(&document, index, "data", &all.join(","));
        }
    }
    Ok(edits.into_part(&document))
}

/// The note of a comment.
struct Note {
    cell: Range,
    row: usize,
    column: usize,
    /// Where it is drawn.
    anchor: Option<(usize, Anchor)>,
}

/// Left column and offset, top row and offset, right column and offset, bottom row and offset, all counted from 0.
type Anchor = [i64; 8];

impl Note {
    fn read(document: &Document<'_>, data: usize) -> Option<Self> {
        let (row, column) = (document.child(data, "Row")?, document.child(data, "Column")?);
        let line = |index: usize, limit: u32| {
            document.text(index).trim().parse::<u32>().ok().filter(|&line| line < limit).map(|line| line + 1)
        };
        let cell = Cell { row: line(row, LAST_ROW)?, column: line(column, LAST_COLUMN)? };
        Some(Self { cell: cell.into(), row, column, anchor: anchor(document, data) })
    }

    /// Draws it as far from its cell as it was.
    fn set(&self, document: &Document<'_>, now: Range, edits: &mut Edits) {
        edits.set_text(document, self.row, &(now.rows.first - 1).to_string());
        edits.set_text(document, self.column, &(now.columns.first - 1).to_string());
        if let Some((index, anchor)) = &self.anchor {
            set_anchor(document, *index, moved(*anchor, self.cell, now), edits);
        }
    }
}

/// A control moves to the first turn of the blocks around it, with the formulas that tie it to cells.
fn control(
    document: &Document<'_>,
    data: usize,
    sheet: &Sheet<'_>,
    edits: &mut Edits,
    report: &mut Report,
) -> Result<(), Error> {
    let mut place = Place::default();
    if let Some((index, anchor)) = anchor(document, data) {
        let line = |line: i64, limit: u32| u32::try_from(line).unwrap_or_default().min(limit - 1) + 1;
        let cell = Cell { row: line(anchor[2], LAST_ROW), column: line(anchor[0], LAST_COLUMN) };
        place = sheet.first_place(cell.into());
        if let Some(now) = sheet.moves.range(cell.into(), place) {
            set_anchor(document, index, moved(anchor, cell.into(), first_of(now)), edits);
        }
    }
    for index in document.children(data) {
        let meaning = match document.name(index) {
            "FmlaRange" => Meaning::Cells,
            "FmlaLink" | "FmlaGroup" | "FmlaTxbx" | "FmlaPict" => Meaning::Value,
            _ => continue,
        };
        let text = document.text(index);
        let now = sheet.formula(&text, (meaning, place), report, "a control")?;
        if now != text {
            edits.set_text(document, index, &now);
        }
    }
    Ok(())
}

fn anchor(document: &Document<'_>, data: usize) -> Option<(usize, Anchor)> {
    let index = document.child(data, "Anchor")?;
    let text = document.text(index);
    let mut numbers = text.split(',').map(|number| number.trim().parse::<i64>());
    let mut anchor = Anchor::default();
    for place in &mut anchor {
        *place = numbers.next()?.ok()?;
    }
    Some((index, anchor))
}

fn moved(mut anchor: Anchor, from: Range, to: Range) -> Anchor {
    let by = |to: u32, from: u32| i64::from(to) - i64::from(from);
    let (rows, columns) = (by(to.rows.first, from.rows.first), by(to.columns.first, from.columns.first));
    for (place, by, limit) in
        [(0, columns, LAST_COLUMN), (2, rows, LAST_ROW), (4, columns, LAST_COLUMN), (6, rows, LAST_ROW)]
    {
        anchor[place] = (anchor[place] + by).clamp(0, i64::from(limit) - 1);
    }
    anchor
}

fn set_anchor(document: &Document<'_>, index: usize, anchor: Anchor, edits: &mut Edits) {
    edits.set_text(document, index, &anchor.map(|number| number.to_string()).join(", "));
}
