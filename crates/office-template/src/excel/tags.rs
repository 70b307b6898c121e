//! The tags of a sheet, paired to sections of text, rows, columns, or cells to the right.

use std::ops::Range;

use cell_references::{Lines, Range as Cells};

use crate::error::Fault;
use crate::lexer::Tag;
use crate::tags::{SECTION_DEPTH, list, too_deep};

/// Where a tag is and how it is written, for messages.
pub(crate) struct Place {
    /// Its cell, as `Sheet1!B7`.
    pub cell: String,
    pub shown: String,
}

/// A tag in a cell.
pub(super) struct Found {
    /// The index of its cell.
    pub cell: usize,
    pub row: u32,
    pub column: u32,
    /// The bytes of the cell's text that it takes.
    pub at: Range<usize>,
    pub tag: Tag,
    pub shown: String,
    /// The number of the section that it opens or closes.
    pub section: Option<usize>,
    /// It is in the address of the cell's link, not in the cell's text.
    pub is_of_link: bool,
}

/// What a section repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// The text of one cell.
    Text,
    /// Rows, from that of the opening tag to that of the closing one.
    Rows,
    /// Columns, likewise.
    Columns,
    /// The cells between the tags, to the right.
    Right,
}

/// The indices of a section's two tags.
pub(super) struct Section {
    pub open: usize,
    pub close: usize,
    pub of: Of,
}

impl Section {
    /// The cells of its two tags and between them, as a rectangle.
    pub fn area(&self, found: &[Found]) -> Option<Cells> {
        let (open, close) = (found.get(self.open)?, found.get(self.close)?);
        let (rows, columns) = (Lines::new(open.row, close.row), Lines::new(open.column, close.column));
        Some(Cells { rows, columns })
    }
}

/// A section whose closing tag has not come yet.
struct Open {
    /// The index of its opening tag.
    at: usize,
    /// What its closing tag may call it.
    names: [String; 2],
    /// Whether it repeats columns, or cells to the right: such sections may be open side by side.
    is_across: bool,
}

impl Open {
    fn new(at: usize, found: &Found) -> Self {
        let names = list(&found.tag).map(|list| [blanks(&list.text), blanks(&list.whole)]);
        let is_across = matches!(&found.tag, Tag::Section(_, Some(name)) if ["columns", "right"].contains(&name.as_str()));
        Self { at, names: names.unwrap_or_default(), is_across }
    }
}

/// Pairs the tags of a sheet: the sections in the order of their opening tags, and the faults.
pub(super) fn pair(found: &mut [Found], place: impl Fn(&Found) -> String) -> (Vec<Section>, Vec<Fault>) {
    let (mut sections, mut faults, mut open): (Vec<Section>, Vec<Fault>, Vec<Open>) = Default::default();
    for index in 0..found.len() {
        let Some(one) = found.get(index) else { break };
        let fault = |message: &str| Fault::new(&place(one), 0, &one.shown, message);
        match &one.tag {
            Tag::Section(..) | Tag::Otherwise(_) => {
                let new = Open::new(index, one);
                let around = open.iter().filter(|open| !open.is_across).count();
                if !new.is_across && around == SECTION_DEPTH {
                    faults.push(fault(&too_deep()));
                }
                open.push(new);
            }
            Tag::End(name) => {
                let name = name.as_deref().map(blanks);
                let at = match &name {
                    None => innermost(&open, found, one),
                    Some(name) => open.iter().rposition(|open| open.names.contains(name)),
                };
                let Some(at) = at else {
                    faults.push(fault(match (name, open.is_empty()) {
                        (Some(_), false) => "no open section is called so; write what the opening tag says, or {/}",
                        _ => "no section is open here that it could close; open one before it, {#x}, or take it out",
                    }));
                    continue;
                };
                let opening = open.remove(at).at;
                let of = found.get(opening).map(|opening| kind(opening, one));
                match of {
                    Some(Ok(of)) => sections.push(Section { open: opening, close: index, of }),
                    Some(Err(message)) => faults.push(fault(message)),
                    None => {}
                }
            }
            Tag::Value(_)
            | Tag::Image(_)
            | Tag::Qr(_)
            | Tag::Barcode(_)
            | Tag::Html(_)
            | Tag::Xml(_)
            | Tag::Command(..)
            | Tag::Slides(_)
            | Tag::Sheet(_)
            | Tag::Delimiters(_) => {}
        }
    }
    for one in open.iter().filter_map(|open| found.get(open.at)) {
        faults.push(Fault::new(
            &place(one),
            0,
            &one.shown,
            "the section is never closed on its sheet; write {/} behind what is repeated",
        ));
    }
    sections.sort_by_key(|section| section.open);
    for (number, section) in sections.iter().enumerate() {
        for at in [section.open, section.close] {
            if let Some(one) = found.get_mut(at) {
                one.section = Some(number);
            }
        }
    }
    faults.extend(crossing(found, &sections, &place));
    faults.extend(deepest(found, &sections).map(|one| Fault::new(&place(one), 0, &one.shown, &too_deep())));
    (sections, faults)
}

/// The section that `{/}` closes: the innermost one; of sections of columns side by side, the one that begins in the same column.
fn innermost(open: &[Open], found: &[Found], close: &Found) -> Option<usize> {
    let behind = open.iter().enumerate().rev().take_while(|(_, open)| open.is_across);
    let is_own = |open: &Open| found.get(open.at).is_some_and(|open| open.column == close.column);
    let own = { behind }.find(|(_, open)| is_own(open)).map(|(at, _)| at);
    own.or_else(|| open.len().checked_sub(1))
}

fn kind(open: &Found, close: &Found) -> Result<Of, &'static str> {
    let name = if let Tag::Section(_, name) = &open.tag { name.as_deref() } else { None };
    match name {
        None if open.cell == close.cell => Ok(Of::Text),
        None | Some("rows") => Ok(Of::Rows),
        Some("columns" | "right") if close.column < open.column => Err(
            "columns go from left to right: the closing tag stands left of the opening one; put it right of it, or into the same column",
        ),
        Some("columns") => Ok(Of::Columns),
        Some("right") => Ok(Of::Right),
        Some(_) => Err("what can be named in a workbook is rows, columns and right, as in {-rows x}"),
    }
}

/// Faults of sections that cross each other, and of two sections of rows in the same row, where both cannot grow. A section has
/// one fault at most.
fn crossing(found: &[Found], sections: &[Section], place: impl Fn(&Found) -> String) -> Vec<Fault> {
    let is_across = |of: Of| matches!(of, Of::Columns | Of::Right);
    let closed = sections.iter().filter(|section| section.of == Of::Rows).map(|section| section.close);
    let mut closed: Vec<usize> = closed.collect();
    closed.sort_unstable();
    // The closing tags of the open sections, the innermost one last: it is the first to close.
    let (mut faults, mut around): (Vec<Fault>, Vec<usize>) = Default::default();
    for one in sections.iter().filter(|section| !is_across(section.of)) {
        let Some(begin) = found.get(one.open) else { continue };
        while around.last().is_some_and(|&close| close < one.open) {
            around.pop();
        }
        let is_torn = around.last().is_some_and(|&close| close < one.close);
        let above = closed.get(..closed.partition_point(|&close| close < one.open)).and_then(<[_]>::last);
        let beside = above.and_then(|&close| found.get(close));
        let beside = beside.filter(|end| one.of == Of::Rows && end.row == begin.row);
        if !is_torn {
            around.push(one.close);
        }
        let message = match beside {
            _ if is_torn => "sections do not cross: what is opened in another is closed in it".to_owned(),
            Some(end) => {
                let other = end.section.and_then(|number| found.get(sections.get(number)?.open));
                let other = other.map_or_else(String::new, |open| format!(", that of {}", place(open)));
                format!(
                    "two lists cannot grow in the same rows{other} and this one; put them below each other, or on two sheets"
                )
            }
            None => continue,
        };
        faults.push(Fault::new(&place(begin), 0, &begin.shown, &message));
    }
    faults
}

/// The opening tag of the first section of columns that is nested too deep.
fn deepest<'f>(found: &'f [Found], sections: &[Section]) -> Option<&'f Found> {
    let of_columns = sections.iter().filter(|section| matches!(section.of, Of::Columns | Of::Right));
    let ends: Vec<_> = of_columns
        .filter_map(|section| Some((found.get(section.open)?, found.get(section.close)?)))
        .collect();
    let is_in = |one: &Found, (open, close): &(&Found, &Found)| {
        (open.row..=close.row).contains(&one.row) && (open.column..=close.column).contains(&one.column)
    };
    // The section itself is counted, too.
    let is_deep = |one: &Found| ends.iter().filter(|ends| is_in(one, ends)).count() > SECTION_DEPTH;
    ends.iter().map(|(open, _)| *open).find(|open| is_deep(open))
}

/// A text with one blank for each run of blanks.
fn blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
