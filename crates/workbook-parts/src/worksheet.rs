//! A worksheet but its cells: the elements before and behind `<sheetData>` (ECMA-376 part 1, 18.3.1.99).

mod areas;
mod lists;
mod merges;
mod view;

pub use lists::HYPERLINKS;

use cell_references::Range;

use crate::book::{At, Book, Fate, Sheet};
use crate::control;
use crate::drawing;
use crate::error::Error;
use crate::filter;
use crate::report::Report;
use crate::xml::{Document, Edits, Element, Reading};

/// A worksheet but its cells.
#[derive(Debug)]
pub struct Worksheet {
    /// The bytes before `<sheetData>`.
    pub head: Vec<u8>,
    /// The bytes behind it.
    pub tail: Vec<u8>,
}

/// Elements that are left out when all of their children are.
const CONTAINERS: [&str; 14] = [
    "cellWatches",
    "conditionalFormattings",
    "dataConsolidate",
    "dataRefs",
    "dataValidations",
    "ext",
    "extLst",
    "ignoredErrors",
    "protectedRanges",
    "scenario",
    "scenarios",
    "smartTags",
    "sparklineGroups",
    "tableParts",
];

/// Those of them that have a `count` of their children.
const COUNTED: [&str; 4] = ["dataRefs", "dataValidations", "scenario", "tableParts"];

/// Rewrites a worksheet but its cells. What refers to one of the relationships `dropped` is left out: a table or drawing that is
/// gone, a link that the caller writes anew. `is_filled` says whether something stands in any cell of a range of the template.
///
/// # Errors
/// [`Error::Xml`] and [`Error::Missing`] for what is no worksheet, [`Error::Many`] for a list beyond the limit,
/// [`Error::Formula`].
pub fn worksheet(
    xml: &[u8],
    book: &Book<'_>,
    at: At,
    (dropped, is_filled): (&[&str], &dyn Fn(Range) -> bool),
    report: &mut Report,
) -> Result<Worksheet, Error> {
    let document = Document::read(xml, Reading { skipped: Some("sheetData"), ..book.reading() })?;
    let cells = (0..document.len())
        .find(|&index| document.name(index) == "sheetData")
        .ok_or(Error::Missing("sheetData"))?;
    let sheet = book.sheet(at)?;
    let gone = vec![false; document.len()];
    let mut writer =
        Writer { document: &document, sheet, dropped, is_filled, report, edits: Edits::default(), gone };
    for index in 0..document.len() {
        let parent = document.elements[index].parent;
        if parent.is_some_and(|parent| writer.gone[parent]) {
            writer.gone[index] = true;
        } else if !writer.gone[index] {
            writer.element(index)?;
        }
    }
    writer.drop_empty();
    let Element { whole, .. } = &document.elements[cells];
    let (head, tail) = writer.edits.around(document.xml, whole.clone());
    Ok(Worksheet { head: head.into_bytes(), tail: tail.into_bytes() })
}

/// A worksheet that is being rewritten.
struct Writer<'a, 'r> {
    document: &'a Document<'a>,
    sheet: Sheet<'a>,
    dropped: &'a [&'a str],
    is_filled: &'a dyn Fn(Range) -> bool,
    report: &'r mut Report,
    edits: Edits,
    /// Elements that are left out.
    gone: Vec<bool>,
}

impl Writer<'_, '_> {
    fn element(&mut self, index: usize) -> Result<(), Error> {
        let document = self.document;
        let is_copy = self.sheet.at.copy > 0;
        if !self.dropped.is_empty()
            && document.foreign(index, "id").is_some_and(|id| self.dropped.contains(&&*id))
        {
            self.leave_out(index);
            return Ok(());
        }
        match document.name(index) {
            "worksheet" if is_copy => self.edits.unset_foreign(document, index, "uid"),
            // The name by which macros know the sheet; a copy has none.
            "sheetPr" if is_copy => self.edits.unset(document, index, "codeName"),
            "dimension" => match self.sheet.range(&document.value(index, "ref").unwrap_or_default()) {
                Fate::Stays => {}
                Fate::Moved(range) => self.edits.set(document, index, "ref", &range),
                Fate::Gone => self.edits.set(document, index, "ref", "A1"),
            },
            "sheetView" | "customSheetView" => self.view(index),
            "pane" => self.pane(index),
            "selection" => self.selection(index),
            "pivotSelection" => self.leave_out(index),
            "cols" => self.columns(index)?,
            "mergeCells" => self.merges(index)?,
            "conditionalFormatting" => self.rule(index, true, "a conditional format")?,
            "dataValidation" => self.rule(index, true, "a validation")?,
            "protectedRange" => self.rule(index, false, "a protected range")?,
            "ignoredError" => self.rule(index, false, "an ignored error")?,
            "sparklines" => self.sparklines(index)?,
            // The dates below all sparklines of a group.
            "f" if document.parent_name(index) == "sparklineGroup" => self.dates(index)?,
            "hyperlinks" => self.hyperlinks(index)?,
            "rowBreaks" => self.breaks(index, true)?,
            "colBreaks" => self.breaks(index, false)?,
            "filterColumn" => match filter::column(document, index, &self.sheet) {
                Some(number) => self.edits.set(document, index, "colId", &number),
                None => self.leave_out(index),
            },
            "autoFilter" | "sortState" | "sortCondition" => {
                let now = self.sheet.range(&document.value(index, "ref").unwrap_or_default());
                self.apply(index, "ref", now);
            }
            "dataRef" => self.source(index),
            "inputCells" | "cellWatch" | "cellSmartTags" => {
                let now = self.sheet.cell(&document.value(index, "r").unwrap_or_default());
                self.apply(index, "r", now);
            }
            "scenarios" => {
                let list = document.value(index, "sqref");
                if let Some(ranges) = list.and_then(|list| Range::parse_list(&list)) {
                    match self.sheet.areas(&ranges, |_| false, self.report, "scenarios") {
                        Fate::Stays => {}
                        Fate::Moved(areas) => self.edits.set(document, index, "sqref", &areas),
                        Fate::Gone => self.edits.unset(document, index, "sqref"),
                    }
                }
            }
            "controlPr" => {
                control::tied((document, index), &self.sheet, &mut self.edits, self.report)?;
            }
            // Of a control or an embedded object.
            "anchor" => drawing::moved_in_place(document, index, &self.sheet, &mut self.edits),
            _ => {}
        }
        Ok(())
    }

    fn leave_out(&mut self, index: usize) {
        self.gone[index] = true;
        self.edits.remove(self.document, index);
    }

    fn apply(&mut self, index: usize, attribute: &str, now: Fate) {
        match now {
            Fate::Stays => {}
            Fate::Moved(text) => self.edits.set(self.document, index, attribute, &text),
            Fate::Gone => self.leave_out(index),
        }
    }

    /// Leaves out the containers that have become empty, and corrects the counts of the others.
    fn drop_empty(&mut self) {
        let document = self.document;
        let (mut had, mut has) = (vec![0_usize; document.len()], vec![0_usize; document.len()]);
        for index in (0..document.len()).rev() {
            let name = document.name(index);
            if !self.gone[index] && has[index] < had[index] {
                if has[index] == 0 && CONTAINERS.contains(&name) {
                    self.leave_out(index);
                } else if COUNTED.contains(&name) {
                    self.edits.set(document, index, "count", &has[index].to_string());
                }
            }
            if let Some(parent) = document.elements[index].parent {
                had[parent] += 1;
                has[parent] += usize::from(!self.gone[index]);
            }
        }
    }
}
