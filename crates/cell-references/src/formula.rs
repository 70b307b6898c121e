//! A formula, read once and written for each place that it comes to.

use crate::address::{Range, Reference};
use crate::error::{ARGUMENTS, Error, FORMULA_CHARACTERS};
use crate::functions::Takes;
use crate::moves::{Place, Single};
use crate::reader::{Content, Role, Slot, Target, slots};
use crate::workbook::{Origin, Sheet, SheetCopy, Workbook, push_sheets};

/// What is written for a reference without cells.
const LOST: &str = "#REF!";

/// What a formula is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A value, as in a cell, a conditional format or a validation by formula: a reference to one cell means one cell.
    Value,
    /// Cells, as in a chart's series, a print area, a list to choose from, a sparkline, or most defined names: a reference to one cell that was
    /// repeated means all that it became.
    Cells,
}

/// A formula without its `=`, read once: what may change in it is known, and it can be written for any place.
///
/// Everything but the references that moved is written byte for byte as it was.
#[derive(Debug, Clone)]
pub struct Formula {
    text: String,
    slots: Vec<Slot>,
}

impl Formula {
    /// Reads a formula. `sheets` are the names of the template's sheets, in the order of [`Workbook::sheets`]; a sheet that is not among them, and
    /// one of another workbook, stays as it is written. No text is refused: what is not understood is kept.
    #[must_use]
    pub fn parse<S: AsRef<str>>(text: &str, sheets: &[S], meaning: Meaning) -> Self {
        let whole = match meaning {
            Meaning::Value => Takes::Value,
            Meaning::Cells => Takes::Range,
        };
        Self { text: text.to_owned(), slots: slots(text, sheets, whole) }
    }

    /// The formula as it was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing in it could change: then it is the same everywhere.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.slots.is_empty()
    }

    /// Appends the formula as it is where it now stands, and says how many of its references are lost: all their cells were dropped, and `#REF!`
    /// is written in their stead. Without an origin (the workbook's defined names) a reference that names no sheet stays.
    ///
    /// # Errors
    /// [`Error::FormulaLength`] and [`Error::Arguments`], where sheets that were repeated make it longer than Excel reads. What was appended
    /// till then stays.
    pub fn write(
        &self,
        workbook: &Workbook,
        origin: Option<Origin>,
        out: &mut String,
    ) -> Result<usize, Error> {
        let (begin, mut at, mut lost) = (out.len(), 0, 0);
        for slot in &self.slots {
            out.push_str(&self.text[at..slot.start]);
            let start = out.len();
            if !self.write_slot(slot, workbook, origin, out)? {
                // Excel would keep the sheet's name before it, which LibreOffice does not read.
                out.truncate(start);
                out.push_str(LOST);
                lost += 1;
            }
            at = slot.end;
        }
        out.push_str(&self.text[at..]);
        if out.len() - begin > FORMULA_CHARACTERS.max(self.text.len()) {
            let needed = out[begin..].chars().count();
            if needed > FORMULA_CHARACTERS.max(self.text.chars().count()) {
                return Err(Error::FormulaLength { needed });
            }
        }
        Ok(lost)
    }

    /// The formula as it is some rows down and columns to the right: what has no `$` moves along, as in a shared formula, whose cells have the
    /// first one's formula so. What would leave the sheet becomes `#REF!`.
    #[must_use]
    pub fn shifted(&self, rows: i32, columns: i32) -> String {
        let (mut out, mut at) = (String::with_capacity(self.text.len() + 8), 0);
        for slot in &self.slots {
            let Content::Reference(reference, _) = slot.content else { continue };
            out.push_str(&self.text[at..slot.start]);
            match reference.shifted(rows, columns) {
                Some(shifted) if shifted == reference => out.push_str(&self.text[slot.start..slot.end]),
                Some(shifted) => {
                    out.push_str(&self.text[slot.start..slot.body]);
                    shifted.write(&mut out);
                }
                None => out.push_str(LOST),
            }
            at = slot.end;
        }
        out.push_str(&self.text[at..]);
        out
    }

    /// False if the reference is lost.
    fn write_slot(
        &self,
        slot: &Slot,
        workbook: &Workbook,
        origin: Option<Origin>,
        out: &mut String,
    ) -> Result<bool, Error> {
        let own = origin.and_then(|origin| Some((origin, workbook.copy_at(origin)?)));
        let found = match (slot.sheet, own) {
            (Target::Elsewhere, _) | (Target::Own, None) => None,
            (Target::Own, Some((origin, copy))) => {
                return Ok(self.write_body(slot, copy, Some(origin.place), out));
            }
            (Target::Sheet(sheet), Some((origin, copy))) if origin.sheet == sheet => {
                self.write_sheet(slot, workbook.sheets.get(sheet), copy, out);
                return Ok(self.write_body(slot, copy, Some(origin.place), out));
            }
            (Target::Sheet(sheet), _) => workbook.sheets.get(sheet),
            (Target::Sheets(first, last), _) => {
                let sheets = workbook.sheets.get(first..=last).unwrap_or_default();
                return Ok(self.write_sheets(slot, sheets, out));
            }
        };
        let Some(sheet) = found else {
            out.push_str(&self.text[slot.start..slot.end]);
            return Ok(true);
        };
        if let (Content::Reference(reference, Role::List), [_, _, ..]) = (slot.content, &*sheet.copies) {
            return write_list(&reference, sheet, out);
        }
        let Some(copy) = sheet.copies.last() else { return Ok(false) };
        self.write_sheet(slot, Some(sheet), copy, out);
        Ok(self.write_body(slot, copy, None, out))
    }

    /// The sheet's name and `!`: as it was written if the sheet is called so still.
    fn write_sheet(&self, slot: &Slot, sheet: Option<&Sheet>, copy: &SheetCopy, out: &mut String) {
        if sheet.is_some_and(|sheet| sheet.name == copy.name) {
            out.push_str(&self.text[slot.start..slot.body]);
        } else {
            push_sheets(out, &copy.name, None);
        }
    }

    /// What follows the sheet: the reference or the name, seen from a place in this copy, or from another sheet. False if the reference is lost.
    fn write_body(&self, slot: &Slot, copy: &SheetCopy, place: Option<Place>, out: &mut String) -> bool {
        let old = &self.text[slot.body..slot.end];
        match slot.content {
            Content::Reference(reference, role) => {
                let found = copy.moves.reference(&reference, place.unwrap_or_default(), single(role));
                write_reference(&reference, found, old, out)
            }
            Content::Name => {
                let is_it =
                    |renamed: &&(String, String)| place.is_some() && renamed.0.eq_ignore_ascii_case(old);
                let renamed = copy.renamed.iter().find(is_it);
                out.push_str(renamed.map_or(old, |(_, new)| new));
                true
            }
        }
    }

    /// A reference over several sheets: from the first to the last that is left, to the smallest range that holds what it became on each.
    fn write_sheets(&self, slot: &Slot, sheets: &[Sheet], out: &mut String) -> bool {
        let copies = || sheets.iter().flat_map(|sheet| &sheet.copies);
        let (Some(first), Some(last)) = (copies().next(), copies().next_back()) else { return false };
        let (old_first, old_last) = (sheets.first(), sheets.last());
        let is_same = |sheet: Option<&Sheet>, copy: &SheetCopy| sheet.is_some_and(|it| it.name == copy.name);
        if is_same(old_first, first) && is_same(old_last, last) {
            out.push_str(&self.text[slot.start..slot.body]);
        } else {
            push_sheets(out, &first.name, (first.name != last.name).then_some(&*last.name));
        }
        let old = &self.text[slot.body..slot.end];
        let Content::Reference(reference, role) = slot.content else {
            out.push_str(old);
            return true;
        };
        let places =
            copies().filter_map(|copy| copy.moves.reference(&reference, Place::default(), single(role)));
        write_reference(&reference, places.reduce(Range::around), old, out)
    }
}

fn single(role: Role) -> Single {
    match role {
        Role::One => Single::One,
        Role::All | Role::List => Single::Grow,
        Role::Begin => Single::First,
        Role::End => Single::Last,
    }
}

fn write_reference(reference: &Reference, range: Option<Range>, old: &str, out: &mut String) -> bool {
    match range {
        Some(range) if range == reference.range() => out.push_str(old),
        Some(range) => reference.at(range).write(out),
        None => {}
    }
    range.is_some()
}

/// A reference to a sheet of which there are several now, as an argument each.
fn write_list(reference: &Reference, sheet: &Sheet, out: &mut String) -> Result<bool, Error> {
    if sheet.copies.len() > ARGUMENTS {
        return Err(Error::Arguments { sheets: sheet.copies.len() });
    }
    let begin = out.len();
    for copy in &sheet.copies {
        let Some(range) = copy.moves.reference(reference, Place::default(), Single::Grow) else { continue };
        if out.len() > begin {
            out.push(',');
        }
        push_sheets(out, &copy.name, None);
        reference.at(range).write(out);
    }
    Ok(out.len() > begin)
}
