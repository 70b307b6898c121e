//! Controls of a form: the cells that they are tied to (ECMA-376 part 1, 18.3.1.20; [MS-XLSX] 2.6.73).

use cell_references::{Meaning, Place};

use crate::book::{At, Book, Sheet};
use crate::error::Error;
use crate::report::Report;
use crate::xml::{Document, Edits};

/// The attributes with formulas, of a control's own part and of the worksheet's list of them.
const FORMULAS: [(&str, Meaning); 6] = [
    ("fmlaLink", Meaning::Value),
    ("fmlaGroup", Meaning::Value),
    ("fmlaTxbx", Meaning::Value),
    ("fmlaRange", Meaning::Cells),
    ("linkedCell", Meaning::Value),
    ("listFillRange", Meaning::Cells),
];

/// Rewrites the part of a control: it is there once, outside of all blocks.
///
/// # Errors
/// [`Error::Xml`], [`Error::Formula`].
pub fn control(xml: &[u8], book: &Book<'_>, at: At, report: &mut Report) -> Result<Vec<u8>, Error> {
    let document = Document::read(xml, book.reading())?;
    let mut edits = Edits::default();
    tied((&document, 0), &book.sheet(at)?, &mut edits, report)?;
    Ok(edits.into_part(&document))
}

/// Moves the cells that an element names.
pub(crate) fn tied(
    (document, index): (&Document<'_>, usize),
    sheet: &Sheet<'_>,
    edits: &mut Edits,
    report: &mut Report,
) -> Result<(), Error> {
    for (name, meaning) in FORMULAS {
        let Some(text) = document.value(index, name).filter(|text| !text.is_empty()) else { continue };
        let now = sheet.formula(&text, (meaning, Place::default()), report, "a control")?;
        edits.set(document, index, name, &now);
    }
    Ok(())
}
