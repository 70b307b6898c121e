//! Charts: the ranges that they draw (ECMA-376 part 1, 21.2; charts of 2016: [MS-ODRAWXML] 2.24).

use cell_references::{Meaning, Place, Range};

use crate::book::{At, Book};
use crate::error::Error;
use crate::report::Report;
use crate::xml::{Document, Edits};

/// What a chart remembers of its cells.
const REMEMBERED: [&str; 5] = ["strCache", "multiLvlStrCache", "dlblRangeCache", "lvl", "v"];

/// The elements with the cells of a series, which may be several areas of a sheet.
const REFERENCES: [&str; 3] = ["numRef", "strRef", "multiLvlStrRef"];

/// Rewrites a chart at a place of its sheet ([`ChartAt::place`](crate::ChartAt::place)). What it remembers of this workbook's
/// cells is dropped: they have other values now, and Excel and `LibreOffice` read them when they open the file. Another
/// workbook's values are kept.
///
/// # Errors
/// [`Error::Xml`], [`Error::Formula`].
pub fn chart(
    xml: &[u8],
    book: &Book<'_>,
    at: At,
    place: Place,
    report: &mut Report,
) -> Result<Vec<u8>, Error> {
    let document = Document::read(xml, book.reading())?;
    let sheet = book.sheet(at)?;
    let mut edits = Edits::default();
    for index in 0..document.len() {
        if !matches!(document.name(index), "f" | "sqref") {
            continue;
        }
        let Some(reference) = document.elements[index].parent else { continue };
        let text = document.text(index);
        // A series' name and a title show one cell.
        let is_title = document.name(reference) == "txData" || document.parent_name(reference) == "tx";
        let meaning = if is_title { Meaning::Value } else { Meaning::Cells };
        let now =
            if REFERENCES.contains(&document.name(reference)) && !is_title && is_of_one_sheet(&text, book) {
                // Written as a sum's argument: so the cells do not include what is between them, as the other rows of a block.
                let sum =
                    sheet.formula(&format!("SUM({text})"), (Meaning::Value, place), report, "a chart")?;
                let cells = sum.strip_prefix("SUM").unwrap_or(&sum);
                let one = cells.strip_prefix('(').and_then(|cells| cells.strip_suffix(')'));
                one.filter(|one| !one.contains(',')).unwrap_or(cells).to_owned()
            } else {
                sheet.formula(&text, (meaning, place), report, "a chart")?
            };
        if now != text {
            edits.set_text(&document, index, &now);
        }
        if !is_of_another(&text, book) {
            forget(&document, reference, &mut edits);
        }
    }
    Ok(edits.into_part(&document))
}

/// Whether a formula is one reference to a sheet that is there once: a series has cells of one sheet.
fn is_of_one_sheet(formula: &str, book: &Book<'_>) -> bool {
    let Some((sheet, cells)) = formula.rsplit_once('!') else { return false };
    let name = sheet.trim_matches('\'').replace("''", "'").to_lowercase();
    let number = book.names.iter().position(|known| known.to_lowercase() == name);
    let copies = number.and_then(|number| book.workbook.sheets.get(number)).map(|sheet| sheet.copies.len());
    copies == Some(1) && !formula.contains(['(', ',']) && Range::parse(&cells.replace('$', "")).is_some()
}

/// Whether a formula is of another workbook, as `[1]Sheet1!A1`, or of a sheet that the template has not. The workbook itself is
/// `[0]`.
fn is_of_another(formula: &str, book: &Book<'_>) -> bool {
    let Some((sheet, _)) = formula.rsplit_once('!').filter(|(sheet, _)| *sheet != "[0]") else {
        return formula.contains('[') && !formula.contains("[0]");
    };
    let sheet = sheet.trim_matches('\'').replace("''", "'").to_lowercase();
    !formula.contains('(') && book.names.iter().all(|name| name.to_lowercase() != sheet)
}

/// Leaves out the values that are remembered beside a reference, but keeps how numbers are shown.
fn forget(document: &Document<'_>, reference: usize, edits: &mut Edits) {
    for child in document.children(reference) {
        let name = document.name(child);
        if REMEMBERED.contains(&name) {
            edits.remove(document, child);
        } else if name == "numCache" {
            let values = document.children(child).filter(|&at| matches!(document.name(at), "ptCount" | "pt"));
            values.for_each(|value| edits.remove(document, value));
        }
    }
}
