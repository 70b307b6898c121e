//! Rewrites the parts that name cells of a sheet, once these have moved: tables, drawings, charts, comments, pivot tables.

use std::collections::BTreeMap;

use cell_references::Cell;
use workbook_parts::{self as parts, At, Book as Moved, Called, Report};

use super::copies::{copied, owned};
use crate::content_types::Kinds;
use crate::error::Error;
use crate::package::{Package, Relationship, resolved};

/// What the sheet itself must change because of its other parts.
#[derive(Default)]
pub(super) struct Followed {
    /// The relationships of tables that are gone.
    pub dropped: Vec<String>,
    /// What the headings of tables say.
    pub headings: BTreeMap<Cell, String>,
}

/// What is needed to rewrite the parts of all sheets.
pub(super) struct Follower<'w> {
    pub book: Moved<'w>,
    pub kinds: Kinds,
    pub report: Report,
    /// The largest number that a table has.
    pub tables: u32,
}

/// The error for a part that cannot be rewritten.
pub(super) fn failed(part: &str, error: &parts::Error, package: &Package<'_>) -> Error {
    match error {
        parts::Error::Xml(_) | parts::Error::Missing(_) => Error::NotOffice(format!("{part}: {error}")),
        parts::Error::Room => package.full(),
        parts::Error::Elements(_) => package.many_elements(part),
        parts::Error::NoSheet { .. } | parts::Error::Many { .. } | parts::Error::Formula { .. } => {
            Error::Limit(error.to_string())
        }
    }
}

impl Follower<'_> {
    /// Rewrites the parts of the sheet in the part `sheet`; `heading` says what a cell shows.
    pub(super) fn sheet(
        &mut self,
        (sheet, at): (&str, At),
        heading: &dyn Fn(Cell) -> Option<String>,
        package: &mut Package<'_>,
    ) -> Result<Followed, Error> {
        let mut followed = Followed::default();
        for one in package.relationships_of(sheet)?.to_vec() {
            let Some((name, xml)) = target(sheet, &one, package)? else { continue };
            self.book.set_room(package.room());
            let failed = |error: parts::Error| failed(&name, &error, package);
            let (book, report) = (&self.book, &mut self.report);
            let written = match one.kind.rsplit('/').next().unwrap_or_default() {
                "table" => {
                    let id = (at.copy > 0).then(|| {
                        self.tables += 1;
                        self.tables
                    });
                    let table = parts::table(&xml, book, at, Called { id, heading }, report);
                    let Some(table) = table.map_err(failed)? else {
                        followed.dropped.push(one.id.clone());
                        continue;
                    };
                    followed.headings.extend(table.headings);
                    table.xml
                }
                "drawing" => {
                    self.drawing((&name, &xml), at, package)?;
                    continue;
                }
                "vmlDrawing" => parts::vml(&xml, book, at, report).map_err(failed)?,
                "comments" => parts::comments(&xml, book, at).map_err(failed)?,
                "threadedComment" => parts::threaded_comments(&xml, book, at).map_err(failed)?,
                "ctrlProp" => parts::control(&xml, book, at, report).map_err(failed)?,
                "pivotTable" => parts::pivot_table(&xml, book, at, report).map_err(failed)?,
                _ => continue,
            };
            put(&name, written, &xml, package)?;
        }
        package.forget(sheet, &followed.dropped)?;
        Ok(followed)
    }

    /// A drawing with its charts: a chart that is there more than once has a part for each.
    fn drawing(
        &mut self,
        (name, xml): (&str, &[u8]),
        at: At,
        package: &mut Package<'_>,
    ) -> Result<(), Error> {
        let drawing = parts::drawing(xml, &self.book, at, &mut self.report);
        let drawing = drawing.map_err(|error| failed(name, &error, package))?;
        let relations = package.relationships_of(name)?.to_vec();
        let mut originals: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for chart in &drawing.charts {
            let Some(one) = relations.iter().find(|one| one.id == chart.from) else { continue };
            let Some((part, xml)) = target(name, one, package)? else { continue };
            let xml = originals.entry(part.clone()).or_insert(xml).clone();
            let own = if chart.id == chart.from {
                part.clone()
            } else {
                let all = owned(&part, package)?;
                let copy = copied(&all, &self.kinds, package)?;
                package.relate_by((name, &chart.id), &one.kind, &copy)?;
                copy
            };
            let written = parts::chart(&xml, &self.book, at, chart.place, &mut self.report);
            let written = written.map_err(|error| failed(&part, &error, package))?;
            put(&own, written, &[], package)?;
        }
        put(name, drawing.xml, xml, package)
    }
}

/// The name and the bytes of the part that a relationship refers to.
pub(super) fn target(
    part: &str,
    one: &Relationship,
    package: &mut Package<'_>,
) -> Result<Option<(String, Vec<u8>)>, Error> {
    let Some(name) = resolved(part, &one.target).filter(|_| !one.is_external) else { return Ok(None) };
    Ok(package.part(&name)?.map(|xml| (name, xml)))
}

/// Puts a part if it has changed.
pub(super) fn put(
    name: &str,
    written: Vec<u8>,
    before: &[u8],
    package: &mut Package<'_>,
) -> Result<(), Error> {
    if written == before { Ok(()) } else { package.put(name, written) }
}
