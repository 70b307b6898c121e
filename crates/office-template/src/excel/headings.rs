//! The headings of tables. Hazard: Excel takes a file for damaged if a table's column has another name than the cell of its
//! heading.

use std::collections::{BTreeMap, BTreeSet};

use cell_references::{Cell, Place, Range};

use super::book::BookSheet;
use super::counts::Scope;
use super::follow::target;
use super::tree::Item;
use super::write::Writer;
use crate::error::Error;
use crate::package::Package;
use crate::package::entries::entries;

/// The tables of a workbook. Their names and numbers are unique in it, so tables on further copies of a sheet get new ones.
pub(super) struct Tables {
    /// By the numbers of their sheets.
    names: BTreeMap<usize, Vec<String>>,
    /// All names, in lower case.
    taken: BTreeSet<String>,
    /// The largest number of a table.
    pub largest: u32,
}

impl Tables {
    pub(super) fn read(sheets: &[BookSheet], package: &mut Package<'_>) -> Result<Self, Error> {
        let mut tables = Self { names: BTreeMap::new(), taken: BTreeSet::new(), largest: 0 };
        for (number, sheet) in sheets.iter().enumerate() {
            let Some(part) = &sheet.part else { continue };
            for (name, xml) in of(part, package)? {
                let Some(table) = entries(&name, &xml)?.into_iter().next() else { continue };
                let name = table.value("displayName").to_owned();
                tables.largest = tables.largest.max(table.value("id").parse().unwrap_or_default());
                tables.taken.insert(name.to_lowercase());
                tables.names.entry(number).or_default().push(name);
            }
        }
        Ok(tables)
    }

    /// The names of a sheet's tables in a further copy: old and new.
    pub(super) fn renamed(&mut self, sheet: usize) -> Vec<(String, String)> {
        let names = self.names.get(&sheet).cloned().unwrap_or_default();
        let taken = &mut self.taken;
        let rename = |name: String| {
            let mut number = 2_u32;
            while !taken.insert(format!("{name}_{number}").to_lowercase()) {
                number += 1;
            }
            let new = format!("{name}_{number}");
            (name, new)
        };
        names.into_iter().map(rename).collect()
    }
}

/// The parts of a sheet's tables.
fn of(part: &str, package: &mut Package<'_>) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let mut tables = Vec::new();
    for one in package.relationships_of(part)?.to_vec() {
        if one.kind.ends_with("/table") {
            tables.extend(target(part, &one, package)?);
        }
    }
    Ok(tables)
}

/// The texts of the cells with tags in the first rows of tables, by their cells in the result.
pub(super) fn shown<'a>(
    writer: &mut Writer<'a, '_>,
    items: &'a [Item],
    (part, package): (&str, &mut Package<'_>),
) -> Result<BTreeMap<Cell, String>, Error> {
    let mut rows = BTreeSet::new();
    for (name, xml) in of(part, package)? {
        let table = entries(&name, &xml)?.into_iter().next();
        rows.extend(table.and_then(|table| Range::parse(table.value("ref"))).map(|range| range.rows.first));
    }
    if rows.is_empty() {
        return Ok(BTreeMap::new());
    }
    writer.shown = Some(BTreeMap::new());
    first_turns(writer, items, (Place::default(), &rows))?;
    writer.output.clear();
    // Faults are found again when the whole sheet is written.
    writer.told = super::write::Told::default();
    Ok(writer.shown.take().unwrap_or_default())
}

/// Writes these rows, of blocks those of the first turn alone: a table's heading is the first of its rows.
fn first_turns<'a>(
    writer: &mut Writer<'a, '_>,
    items: &'a [Item],
    (place, rows): (Place, &BTreeSet<u32>),
) -> Result<(), Error> {
    for item in items {
        match item {
            Item::Row(row) => {
                let number = writer.sheet.rows.get(*row).map(|row| row.number);
                if number.is_some_and(|number| rows.contains(&number)) {
                    writer.items(std::slice::from_ref(item), place)?;
                }
            }
            Item::Block(block) => {
                if rows.range(block.lines.first..=block.lines.last).next().is_none() {
                    continue;
                }
                let turns = writer.stack.last().copied().unwrap_or(Scope::Empty).turns(block)?;
                let Some(place) = writer.moves.turn(place, block.block, 0) else { continue };
                writer.stack.push(turns.scope(0)?);
                writer.turns.push((block, 0, turns.count()));
                first_turns(writer, &block.items, (place, rows))?;
                writer.turns.pop();
                writer.stack.pop();
            }
        }
    }
    Ok(())
}
