//! A chart of the document, filled from data: its series in the chart's own part, and the same in the workbook that Word shows
//! for it.
//!
//! ```text
//! data ──read──▶ Chart ──table──▶ columns of cells ──series──▶ the chart's part
//!                                        └──────────workbook──▶ its workbook
//! ```

pub(crate) mod data;
mod pieces;
mod series;
mod sheet;
mod styles;
mod table;
mod unseen;
mod workbook;

use crate::error::Error;
use crate::package::{Package, Relation};
use crate::written::Refusal;
use data::Chart;
use pieces::Layout;
use table::Table;
pub(crate) use unseen::list;
use workbook::Workbook;

/// The fault for a chart's data outside of a chart.
pub(crate) const MISPLACED: &str = "it is the data of a chart; let the tag stand in the title or in the alternative text of a chart of the document, which it fills";

/// The fault for data of a chart whose kind came with Office 2016.
pub(crate) const LATER: &str = "it is the data of a chart, and charts of this kind (waterfall, treemap, sunburst, funnel, histogram, box and \
    whisker, map) are not filled; take a column, bar, line, pie, area, scatter, bubble or radar chart";

/// The namespaces of charts.
const NAMESPACES: [&str; 2] =
    ["http://schemas.openxmlformats.org/drawingml/2006/chart", "http://purl.oclc.org/ooxml/drawingml/chart"];

/// The name taken for the sheet where the chart has no workbook that can be read.
const SHEET: &str = "Sheet1";

/// The fault for a chart that two tags fill.
pub(crate) const TWICE: &str =
    "the chart has data already; let one tag give them, in its title or in its alternative text";

/// What a chart draws its values over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Categories,
    Points,
    Bubbles,
}

/// The namespace prefix of a chart's part, with its colon; `None` for other parts.
pub(crate) fn prefix(xml: &[u8]) -> Option<String> {
    let (name, tag) = pieces::root(xml)?;
    let prefix = name.strip_suffix("chartSpace")?;
    NAMESPACES
        .iter()
        .any(|namespace| memchr::memmem::find(tag, namespace.as_bytes()).is_some())
        .then(|| prefix.to_owned())
}

/// Whether a part is a chart of a kind that came with Office 2016.
pub(crate) fn is_of_later_kind(xml: &[u8]) -> bool {
    pieces::root(xml).is_some_and(|(_, tag)| memchr::memmem::find(tag, b"/drawing/2014/chartex").is_some())
}

/// Fills the charts whose data are in alternative texts, in other parts; returns the faulty tags' numbers and messages.
pub(crate) fn fill_waiting(package: &mut Package<'_>) -> Result<Vec<(usize, String)>, Error> {
    let mut faults = Vec::new();
    for (name, (number, chart)) in std::mem::take(&mut package.charts) {
        if package.titled.contains(&name) {
            faults.push((number, TWICE.to_owned()));
            continue;
        }
        let Some(xml) = package.part(&name)? else {
            package.warnings.push(&format!("the data of a chart are nowhere: the file has no {name}"));
            continue;
        };
        match filled(&chart, (&name, &xml), package) {
            Ok(filled) => package.put(&name, filled)?,
            Err(refusal) => faults.extend(refusal.fault()?.map(|message| (number, message))),
        }
    }
    Ok(faults)
}

/// The chart's part `name`, filled; its workbook is filled with it.
pub(crate) fn filled(
    chart: &Chart,
    (name, xml): (&str, &[u8]),
    package: &mut Package<'_>,
) -> Result<Vec<u8>, Refusal> {
    let layout = Layout::read(name, xml)?;
    let table = Table::new(chart, layout.kind()?)?;
    let sheet = match package.related(name, Relation::Package)? {
        Some(workbook) => edited(&table, &workbook, package)?,
        None if package.is_workbook() => unseen::added(&table, package),
        None => SHEET.to_owned(),
    };
    let filled = series::written(chart, &table, (&layout, xml), (&sheet, package.room()))?;
    let filled = filled.map(|series| crate::package::xml::replaced(xml, &series));
    filled.ok_or_else(|| package.full().into())
}

/// Fills the workbook in the part `name`; returns the name of its sheet.
fn edited(table: &Table, name: &str, package: &mut Package<'_>) -> Result<String, Error> {
    let Some(file) = package.part(name)? else { return Ok(SHEET.to_owned()) };
    let opened = Workbook::open(&file, package.unpacking());
    let edited = opened.and_then(|workbook| {
        let sheet = workbook.sheet().to_owned();
        Ok((sheet, workbook.filled(table, package.unpacking())?))
    });
    match edited {
        Ok((sheet, content)) => {
            package.put(name, content)?;
            Ok(sheet)
        }
        // The chart shows its data all the same: Word reads the workbook only when somebody edits them.
        Err(Error::NotOffice(why)) => {
            package.warnings.push(&format!("the data of a chart are not in its workbook {name}: {why}"));
            Ok(SHEET.to_owned())
        }
        Err(error) => Err(error),
    }
}
