//! A formula, read once and written for each place that it comes to.

use std::slice;

use crate::address::{Range, Reference};
use crate::error::{ARGUMENTS, Error, FORMULA_CHARACTERS};
use crate::functions::Takes;
use crate::moves::{List, Place, Single};
use crate::reader::{Content, Role, Slot, Target, slots};
use crate::shared;
use crate::workbook::{Origin, Sheet, SheetCopy, Workbook, push_sheets};

/// How many ranges a reference may become where a function takes any number of them. More would be unreadable, and come near
/// Excel's limits of a formula.
const RANGES: usize = 60;

/// What is written for a reference without cells.
const LOST: &str = "#REF!";

/// What a formula is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A value, as in a cell, a conditional format or a validation by formula: a reference to one cell means one cell.
    Value,
    /// Cells, as in a chart's series, a print area, a list to choose from, a sparkline, or most defined names: a reference to one
    /// cell that was repeated means all that it became.
    Cells,
}

/// A formula, with or without the `=` before it, read once: what may change in it is known, and it can be written for any place.
///
/// Everything but the references that moved is written byte for byte as it was.
#[derive(Debug, Clone)]
pub struct Formula {
    text: String,
    slots: Vec<Slot>,
}

/// How many references of a formula were lost or widened when it was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// References that are lost: all their cells were dropped, and `#REF!` is in their stead.
    pub lost: usize,
    /// References of a function like `SUM` whose cells are apart in more than sixty places, so that one range was written around
    /// all of them and what is between.
    pub widened: usize,
}

/// What happened to a reference.
#[derive(Clone, Copy)]
enum Fate {
    Found,
    Widened,
    Lost,
}

/// The sheet that a reference is to.
struct Seen<'a> {
    /// Its name in the template.
    name: &'a str,
    /// Those of its copies that are meant.
    copies: &'a [SheetCopy],
    /// The place of the formula, if it is in this copy.
    place: Option<Place>,
}

impl Formula {
    /// Reads a formula. `sheets` are the names of the template's sheets, in the order of [`Workbook::sheets`]; a sheet that is
    /// not among them, and one of another workbook, stays as it is written. No text is refused: what is not understood is kept.
    pub fn parse<S: AsRef<str>>(text: &str, sheets: &[S], meaning: Meaning) -> Self {
        let whole = match meaning {
            Meaning::Value => Takes::Value,
            Meaning::Cells => Takes::Range,
        };
        Self { text: text.to_owned(), slots: slots(text, sheets, whole) }
    }

    /// The formula as it was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Whether nothing in it could change: then it is the same everywhere.
    pub fn is_constant(&self) -> bool {
        self.slots.is_empty()
    }

    /// Appends the formula as it is at its place in the result. Without an origin (the workbook's defined names) a reference that
    /// names no sheet stays.
    ///
    /// # Errors
    /// [`Error::FormulaLength`] and [`Error::Arguments`], where sheets that were repeated make it longer than Excel reads. What
    /// was appended till then stays.
    pub fn write(
        &self,
        workbook: &Workbook,
        origin: Option<Origin>,
        out: &mut String,
    ) -> Result<Written, Error> {
        let (begin, mut at, mut written) = (out.len(), 0, Written::default());
        for slot in &self.slots {
            out.push_str(&self.text[at..slot.start]);
            let start = out.len();
            match self.write_slot(slot, workbook, origin, out)? {
                Fate::Found => {}
                Fate::Widened => written.widened += 1,
                Fate::Lost => {
                    // Excel would keep the sheet's name before it, which LibreOffice does not read.
                    out.truncate(start);
                    out.push_str(LOST);
                    written.lost += 1;
                }
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
        Ok(written)
    }

    /// The formula moved by some rows and columns, as the cells of a shared formula have it: what has no `$` moves along. What
    /// would be off the sheet becomes `#REF!`.
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

    fn write_slot(
        &self,
        slot: &Slot,
        workbook: &Workbook,
        origin: Option<Origin>,
        out: &mut String,
    ) -> Result<Fate, Error> {
        let own = origin.and_then(|origin| Some((origin, workbook.copy_at(origin)?)));
        let is_own = |sheet: usize| own.filter(|(origin, _)| origin.sheet == sheet);
        let seen = match slot.sheet {
            Target::Own => own.map(|(origin, copy)| Seen {
                name: &copy.name,
                copies: slice::from_ref(copy),
                place: Some(origin.place),
            }),
            Target::Sheet(sheet) => workbook.sheets.get(sheet).map(|it| match is_own(sheet) {
                None => Seen { name: &it.name, copies: &it.copies, place: None },
                Some((origin, copy)) => {
                    Seen { name: &it.name, copies: slice::from_ref(copy), place: Some(origin.place) }
                }
            }),
            Target::Sheets(first, last) => {
                let sheets = workbook.sheets.get(first..=last).unwrap_or_default();
                return Ok(self.write_sheets(slot, sheets, out));
            }
            Target::Elsewhere => None,
        };
        let Some(seen) = seen else {
            out.push_str(&self.text[slot.start..slot.end]);
            return Ok(Fate::Found);
        };
        if let (Content::Reference(reference, _), Some(origin)) = (slot.content, origin)
            && let Some(copy) = seen.copies.last().filter(|_| seen.place.is_some())
            && let Some(range) = origin.before(&reference, &copy.moves)
        {
            self.write_sheet(slot, seen.name, copy, out);
            return Ok(write_reference(&reference, range, &self.text[slot.body..slot.end], out));
        }
        if let (Content::Reference(reference, role), Some((origin, own))) = (slot.content, own)
            && let Some(shared) = shared::shared(&reference, (origin, &own.moves), seen.place.is_some())
        {
            let Some(copy) = seen.copies.last() else { return Ok(Fate::Lost) };
            let place = seen.place.unwrap_or_default();
            let found = copy.moves.reference_in(&reference, place, (single(role), shared.is_along));
            let Some(found) = found else { return Ok(Fate::Lost) };
            self.write_sheet(slot, seen.name, copy, out);
            shared.reference.at(shared.moved(found)).write(out);
            return Ok(Fate::Found);
        }
        if let Content::Reference(reference, Role::List) = slot.content {
            return self.write_list(slot, &reference, &seen, out);
        }
        let Some(copy) = seen.copies.last() else { return Ok(Fate::Lost) };
        self.write_sheet(slot, seen.name, copy, out);
        Ok(self.write_body(slot, copy, seen.place, out))
    }

    /// Writes the sheet's name and `!`, if it is named: as it was written if the sheet has that name still.
    fn write_sheet(&self, slot: &Slot, name: &str, copy: &SheetCopy, out: &mut String) {
        if slot.sheet == Target::Own || name == copy.name {
            out.push_str(&self.text[slot.start..slot.body]);
        } else {
            push_sheets(out, &copy.name, None);
        }
    }

    /// Writes a reference where a function takes any number of ranges: an argument for each sheet and each range that it became.
    fn write_list(
        &self,
        slot: &Slot,
        reference: &Reference,
        seen: &Seen<'_>,
        out: &mut String,
    ) -> Result<Fate, Error> {
        let sheets = seen.copies.len();
        if sheets > ARGUMENTS {
            return Err(Error::Arguments { sheets });
        }
        let (begin, mut fate) = (out.len(), Fate::Found);
        let old = &self.text[slot.body..slot.end];
        for copy in seen.copies {
            let mut push = |range: Range| {
                if out.len() > begin {
                    out.push(',');
                }
                self.write_sheet(slot, seen.name, copy, out);
                write_reference(reference, range, old, out);
            };
            let list =
                copy.moves.list(reference, seen.place.unwrap_or_default(), RANGES / sheets.min(RANGES));
            match list {
                List::Lost => {}
                List::One(range) => push(range),
                List::Many(ranges) => ranges.into_iter().for_each(push),
                List::Around(range) => {
                    push(range);
                    fate = Fate::Widened;
                }
            }
        }
        Ok(if out.len() > begin { fate } else { Fate::Lost })
    }

    /// Writes what follows the sheet: the reference or the name, seen from a place in this copy, or from another sheet.
    fn write_body(&self, slot: &Slot, copy: &SheetCopy, place: Option<Place>, out: &mut String) -> Fate {
        let old = &self.text[slot.body..slot.end];
        match slot.content {
            Content::Reference(reference, role) => {
                let found = copy.moves.reference(&reference, place.unwrap_or_default(), single(role));
                found.map_or(Fate::Lost, |range| write_reference(&reference, range, old, out))
            }
            Content::Name => {
                let is_it =
                    |renamed: &&(String, String)| place.is_some() && renamed.0.eq_ignore_ascii_case(old);
                let renamed = copy.renamed.iter().find(is_it);
                out.push_str(renamed.map_or(old, |(_, new)| new));
                Fate::Found
            }
        }
    }

    /// Writes a reference over several sheets: from the first to the last that is left, with the smallest range that holds what
    /// it became on all of them.
    fn write_sheets(&self, slot: &Slot, sheets: &[Sheet], out: &mut String) -> Fate {
        let copies = || sheets.iter().flat_map(|sheet| &sheet.copies);
        let (Some(first), Some(last)) = (copies().next(), copies().next_back()) else { return Fate::Lost };
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
            return Fate::Found;
        };
        let places =
            copies().filter_map(|copy| copy.moves.reference(&reference, Place::default(), single(role)));
        let around = places.reduce(Range::around);
        around.map_or(Fate::Lost, |range| write_reference(&reference, range, old, out))
    }
}

fn single(role: Role) -> Single {
    match role {
        Role::One => Single::One,
        Role::All | Role::Table | Role::List => Single::Grow,
        Role::Begin => Single::First,
        Role::End => Single::Last,
    }
}

fn write_reference(reference: &Reference, range: Range, old: &str, out: &mut String) -> Fate {
    if range == reference.range() {
        out.push_str(old);
    } else {
        reference.at(range).write(out);
    }
    Fate::Found
}
