//! The workbook's own part: its defined names, which sheet is shown, and that it is to be recalculated (ECMA-376 part 1,
//! 18.2.27).

use cell_references::{Formula, Meaning, Origin};

use crate::book::Book;
use crate::error::Error;
use crate::report::Report;
use crate::xml::{Document, Edits, rewritten};

/// The elements before `calcPr`, from the nearest.
const BEFORE_CALCULATION: [&str; 4] = ["definedNames", "externalReferences", "functionGroups", "sheets"];

/// Rewrites the workbook's part, all but its list of sheets. The caller puts the copies of a sheet one behind the other in the
/// place of their sheet. [`Workbook::sheets`](cell_references::Workbook::sheets) must have all sheets of that list, also those of
/// charts, because names and views refer to sheets by their index.
///
/// # Errors
/// [`Error::Xml`], [`Error::Formula`].
pub fn workbook(xml: &[u8], book: &Book<'_>, report: &mut Report) -> Result<Vec<u8>, Error> {
    let document = Document::read(xml, book.reading())?;
    let mut edits = Edits::default();
    let mut begins = Vec::with_capacity(book.names.len());
    let mut count = 0;
    for sheet in &book.workbook.sheets {
        begins.push(count);
        count += sheet.copies.len();
    }
    let seen = seen(&document, book);
    let mut has_calculation = false;
    for index in 0..document.len() {
        match document.name(index) {
            "definedNames" => {
                let names = defined_names(&document, index, (book, &begins), report)?;
                edits.fill(&document, index, names);
            }
            "workbookView" => {
                for name in ["activeTab", "firstSheet"] {
                    let number = document.number(index, name);
                    let before = begins.get(number.unwrap_or_default() as usize).copied().unwrap_or_default();
                    // For a dropped sheet, the one that is in its place, or the last. Excel opens no file on a hidden sheet, so a
                    // visible one is taken.
                    let mut now = before.min(count.saturating_sub(1));
                    if name == "activeTab" {
                        let next = seen.iter().find(|&&at| at >= now).or(seen.last());
                        now = next.copied().unwrap_or(now);
                    }
                    if number.is_some() || now > 0 && name == "activeTab" {
                        edits.set(&document, index, name, &now.to_string());
                    }
                }
            }
            "calcPr" => {
                has_calculation = true;
                edits.set(&document, index, "fullCalcOnLoad", "1");
            }
            _ => {}
        }
    }
    if !has_calculation {
        let prefix = document.qualified(0).rsplit_once(':').map(|(prefix, _)| format!("{prefix}:"));
        let before = BEFORE_CALCULATION.iter().find_map(|name| document.child(0, name));
        let behind =
            before.map_or(document.elements[0].tag.end, |before| document.elements[before].whole.end);
        let prefix = prefix.unwrap_or_default();
        edits.replace(behind..behind, format!("<{prefix}calcPr fullCalcOnLoad=\"1\"/>"));
    }
    Ok(edits.into_part(&document))
}

/// The numbers of the sheets that are not hidden, in the result.
fn seen(document: &Document<'_>, book: &Book<'_>) -> Vec<usize> {
    let list = (0..document.len()).filter(|&index| document.name(index) == "sheet");
    let sheets = { list }.zip(&book.workbook.sheets).flat_map(|(index, sheet)| {
        let state = document.value(index, "state").unwrap_or_default();
        sheet.copies.iter().map(move |_| matches!(&*state, "hidden" | "veryHidden"))
    });
    sheets.enumerate().filter(|(_, is_hidden)| !is_hidden).map(|(at, _)| at).collect()
}

/// The names, those of a sheet for each of its copies.
fn defined_names(
    document: &Document<'_>,
    list: usize,
    (book, begins): (&Book<'_>, &[usize]),
    report: &mut Report,
) -> Result<String, Error> {
    let mut out = String::new();
    for index in document.children(list) {
        let name = document.value(index, "name").unwrap_or_default();
        let formula = Formula::parse(&document.text(index), &book.names, Meaning::Cells);
        let told = || format!("the name '{name}'");
        let Some(sheet) = document.number(index, "localSheetId").map(|sheet| sheet as usize) else {
            let now =
                if formula.is_constant() { None } else { Some(book.formula(&formula, None, report, told)?) };
            out.push_str(&rewritten(document, index, |edits| {
                if let Some(now) = now.filter(|now| now != formula.text()) {
                    edits.set_text(document, index, &now);
                }
            }));
            continue;
        };
        let copies = book.workbook.sheets.get(sheet).map_or(0, |sheet| sheet.copies.len());
        for copy in 0..copies {
            let origin = Origin { sheet, copy, ..Origin::default() };
            let mut told_here = Report::default();
            let now = book.formula(&formula, Some(origin), &mut told_here, told)?;
            // A print area without cells is dropped and reported; a filter's range is dropped with its filter.
            if told_here.lost.count > 0 && name.starts_with("_xlnm.") {
                report.dropped.add(usize::from(name != "_xlnm._FilterDatabase"), told);
                continue;
            }
            report.lost.add(told_here.lost.count, told);
            report.widened.add(told_here.widened.count, told);
            let piece = rewritten(document, index, |edits| {
                let number = begins.get(sheet).copied().unwrap_or_default() + copy;
                edits.set(document, index, "localSheetId", &number.to_string());
                if now != formula.text() {
                    edits.set_text(document, index, &now);
                }
            });
            book.take(&piece)?;
            out.push_str(&piece);
        }
    }
    Ok(out)
}
