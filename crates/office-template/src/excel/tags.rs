//! The tags of a sheet, and which two of them are a section of what.

use std::ops::Range;

use crate::error::Fault;
use crate::lexer::{Expression, Tag};

/// A tag in a cell.
pub(super) struct Found {
    /// The place of its cell.
    pub cell: usize,
    pub row: u32,
    pub column: u32,
    /// The bytes of the cell's text that it takes.
    pub at: Range<usize>,
    pub tag: Tag,
    pub shown: String,
    /// The number of the section that it opens or closes.
    pub section: Option<usize>,
}

/// What a section is of.
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

/// A section's two tags, by their places.
pub(super) struct Section {
    pub open: usize,
    pub close: usize,
    pub of: Of,
}

/// Pairs the tags of a sheet; tells what is wrong with them. Sections are in the order of their opening tags.
pub(super) fn pair(found: &mut [Found], place: impl Fn(&Found) -> String) -> (Vec<Section>, Vec<Fault>) {
    let (mut sections, mut faults, mut open): (Vec<Section>, Vec<Fault>, Vec<usize>) = Default::default();
    for index in 0..found.len() {
        let Some(one) = found.get(index) else { break };
        let fault = |message: &str| Fault::new(&place(one), 0, &one.shown, message);
        match &one.tag {
            Tag::Section(..) | Tag::Otherwise(_) => open.push(index),
            Tag::End(name) => {
                let at = match name {
                    None => innermost(&open, found, one),
                    Some(name) => open.iter().rposition(|&at| is_of(found.get(at), name)),
                };
                let Some(at) = at else {
                    faults.push(fault(match (name, open.last().and_then(|&at| found.get(at))) {
                        (Some(_), Some(_)) => "no open section is called so",
                        _ => "no section is open here that it could close",
                    }));
                    continue;
                };
                let opening = open.remove(at);
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
    for one in open.iter().filter_map(|&at| found.get(at)) {
        faults.push(Fault::new(&place(one), 0, &one.shown, "the section is never closed on its sheet"));
    }
    sections.sort_by_key(|section| section.open);
    for (number, section) in sections.iter().enumerate() {
        for at in [section.open, section.close] {
            if let Some(one) = found.get_mut(at) {
                one.section = Some(number);
            }
        }
    }
    faults.extend(crossing(found, &sections, place));
    (sections, faults)
}

/// The section that a tag without a name closes: the innermost one, and of columns side by side the one that begins in its own column.
fn innermost(open: &[usize], found: &[Found], close: &Found) -> Option<usize> {
    let of_columns = |found: &Found| matches!(&found.tag, Tag::Section(_, Some(name)) if ["columns", "right"].contains(&name.as_str()));
    let behind = open.iter().rev().take_while(|&&at| found.get(at).is_some_and(of_columns));
    let is_own = |&at: &usize| found.get(at).is_some_and(|open| open.column == close.column);
    let own = behind.copied().find(is_own).and_then(|at| open.iter().position(|&other| other == at));
    own.or_else(|| open.len().checked_sub(1))
}

fn kind(open: &Found, close: &Found) -> Result<Of, &'static str> {
    let name = if let Tag::Section(_, name) = &open.tag { name.as_deref() } else { None };
    match name {
        None if open.cell == close.cell => Ok(Of::Text),
        None | Some("rows") => Ok(Of::Rows),
        Some("columns" | "right") if close.column < open.column => {
            Err("columns go from left to right: the closing tag stands left of the opening one")
        }
        Some("columns") => Ok(Of::Columns),
        Some("right") => Ok(Of::Right),
        Some(_) => Err("what can be named in a workbook is rows, columns and right"),
    }
}

/// Sections of one direction stand in each other or behind each other, in rows of their own.
fn crossing(found: &[Found], sections: &[Section], place: impl Fn(&Found) -> String) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, one) in sections.iter().enumerate() {
        for other in sections.iter().skip(number + 1) {
            let is_across = |of: Of| matches!(of, Of::Columns | Of::Right);
            let ends = |section: &Section| Some((found.get(section.open)?, found.get(section.close)?));
            let (Some((_, end)), Some((begin, _))) = (ends(one), ends(other)) else { continue };
            if is_across(one.of) || is_across(other.of) {
                continue;
            }
            let is_torn = other.open < one.close && one.close < other.close;
            let is_beside =
                one.close < other.open && one.of == Of::Rows && other.of == Of::Rows && end.row == begin.row;
            if is_torn || is_beside {
                let message = if is_torn {
                    "sections do not cross: what is opened in another is closed in it"
                } else {
                    "two lists cannot grow in the same rows; put them below each other, or on two sheets"
                };
                faults.push(Fault::new(&place(begin), 0, &begin.shown, message));
            }
        }
    }
    faults
}

fn is_of(opening: Option<&Found>, name: &str) -> bool {
    let blanks = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let list = opening.and_then(|one| list(&one.tag));
    list.is_some_and(|list| [&list.text, &list.whole].iter().any(|text| blanks(text) == blanks(name)))
}

/// What a section goes over.
pub(super) fn list(tag: &Tag) -> Option<&Expression> {
    match tag {
        Tag::Section(list, _) | Tag::Otherwise(list) => Some(list),
        Tag::Value(_)
        | Tag::End(_)
        | Tag::Image(_)
        | Tag::Qr(_)
        | Tag::Barcode(_)
        | Tag::Html(_)
        | Tag::Xml(_)
        | Tag::Command(..)
        | Tag::Slides(_)
        | Tag::Sheet(_)
        | Tag::Delimiters(_) => None,
    }
}
