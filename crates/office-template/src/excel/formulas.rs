//! Writes the formula of a cell, as it is in the turns of the sections around it.

use std::collections::BTreeMap;

use cell_references::{Before, Cell as At, Origin, Place, Range};

use super::calculated::{Calculated, Outside};
use super::outside::{is_filled, is_filled_across};
use super::sheet::Cell;
use super::write::{Writer, columns_of};
use crate::error::Error;
use crate::package::Package;

/// The remedy where a formula would be too long.
const SIMPLER: &str = "let it refer to cells that are one range when they are repeated";

/// For how many formulas of a sheet it is said that they name cells outside of their section.
const FORMULAS_TOLD: usize = 5;

/// Warns of formulas whose addresses outside of their section stay the same in each turn.
pub(super) fn warn(sheet: &str, outside: &BTreeMap<At, String>, package: &mut Package<'_>) {
    for (cell, told) in outside.iter().take(FORMULAS_TOLD) {
        package.warnings.push(&format!("{sheet}!{cell}: {told}"));
    }
    if let Some(more) = outside.len().checked_sub(FORMULAS_TOLD).filter(|more| *more > 0) {
        let formulas = if more == 1 { "formula names" } else { "formulas name" };
        package
            .warnings
            .push(&format!("{sheet}: {more} more {formulas} cells outside of what is repeated without a $"));
    }
}

impl Writer<'_, '_> {
    pub(super) fn formula(
        &mut self,
        calculated: &Calculated,
        cell: &Cell,
        (place, turns): (Place, &[u32]),
    ) -> Result<(), Error> {
        let mut text = String::new();
        let (sheet, copy) = self.at;
        let at = At { row: cell.row, column: cell.column };
        // A formula beside a section sees all of its turns, though it is written in one of them.
        let beside = self.turns.get(cell.depth);
        let seen = beside.map_or(place, |(rows, ..)| self.moves.outside(place, rows.block));
        let above = if calculated.is_above { self.before(cell, seen) } else { None };
        let left = if calculated.is_left { self.before_left(cell, (seen, turns)) } else { None };
        let origin = Origin { sheet, copy, place: seen, above, left, shared: None };
        if let Some(outside) = &calculated.outside
            && self.is_again(outside, cell, turns)
            && !self.told.outside.contains_key(&at)
        {
            self.told.outside.insert(at, outside.told.to_string());
        }
        let formula = calculated.formula.formula(self.names);
        let written = formula.write(self.workbook, Some(origin), &mut text);
        let name = || self.workbook.sheets.get(sheet).map_or("", |sheet| sheet.name.as_str());
        let written =
            written.map_err(|error| Error::Limit(format!("{}!{at}: {error}; {SIMPLER}", name())))?;
        if written.lost > 0 {
            self.told.lost += written.lost;
            if self.told.lost_at.is_none() {
                self.told.lost_at = Some(format!("{}!{at}", name()));
            }
        }
        self.output.open("f");
        if let Some((range, kept)) = &calculated.array {
            let now = self.moves.range(*range, place).unwrap_or(*range);
            let size = |range: &Range| {
                (range.rows.last - range.rows.first, range.columns.last - range.columns.first)
            };
            if size(&now) != size(range) && self.told.torn_at.is_none() {
                self.told.torn_at = Some(format!("{}!{at}", name()));
            }
            self.output.push(&format!(" t=\"array\" ref=\"{now}\"{kept}"));
        }
        self.output.push(">");
        self.output.shown(&text, false);
        self.output.close("f");
        Ok(())
    }

    /// What a formula means by the cell above it, which is not in its section: in the first turn that cell, then the turn before.
    /// Of that its last row, if something of the section stands there in the formula's column, or else the formula's own cell.
    fn before(&self, cell: &Cell, place: Place) -> Option<Before> {
        let around = self.turns.get(..cell.depth)?.iter().enumerate().rev();
        let mut that_begin_here = around.take_while(|(_, (rows, ..))| rows.lines.first == cell.row);
        let (number, (rows, turn, _)) = that_begin_here.find(|(_, (_, turn, _))| *turn > 0)?;
        let last = At { row: rows.lines.last, column: cell.column };
        let row = if is_filled(self.sheet, last, number) { last.row } else { cell.row };
        let outer = self.moves.outside(place, rows.block);
        let turn = self.moves.turn(outer, rows.block, turn.checked_sub(1)?);
        let row = turn.and_then(|turn| self.moves.row(row, turn));
        // A turn without rows, which a condition dropped, is passed over.
        let row = row.or_else(|| self.now.row.checked_sub(1))?;
        let written = At { row: cell.row.checked_sub(1)?, column: cell.column };
        Some(Before { written, now: At { row, column: self.now.column } })
    }

    /// The same of the cell left of it, for sections of columns.
    fn before_left(&self, cell: &Cell, (place, turns): (Place, &[u32])) -> Option<Before> {
        let around = cell.columns.iter().zip(turns).enumerate().rev();
        let around = around.filter_map(|(number, (&block, &turn))| {
            Some((number, block, turn, columns_of(self.areas.get(block)?.0)?))
        });
        let mut that_begin_here = around.take_while(|(.., columns)| columns.first == cell.column);
        let (number, block, turn, columns) = that_begin_here.find(|(_, _, turn, _)| *turn > 0)?;
        let last = At { row: cell.row, column: columns.last };
        let is_filled = is_filled_across(self.sheet, last, number);
        let meant = At { row: cell.row, column: if is_filled { last.column } else { cell.column } };
        let outer = self.moves.outside(place, block);
        let turn = self.moves.turn(outer, block, turn.checked_sub(1)?);
        let column = turn.and_then(|turn| self.moves.cell(meant, turn)).map(|cell| cell.column);
        let column = column.or_else(|| self.now.column.checked_sub(1))?;
        let written = At { row: cell.row, column: cell.column.checked_sub(1)? };
        Some(Before { written, now: At { row: self.now.row, column } })
    }

    /// Whether a formula is written for another turn than the first one of the sections that an address is outside of.
    fn is_again(&self, outside: &Outside, cell: &Cell, turns: &[u32]) -> bool {
        let is_in_rows = || self.turns.iter().take(cell.depth).any(|(_, turn, _)| *turn > 0);
        let is_in_columns = || turns.iter().take(cell.columns.len()).any(|turn| *turn > 0);
        (outside.of_rows && is_in_rows()) || (outside.of_columns && is_in_columns())
    }
}
