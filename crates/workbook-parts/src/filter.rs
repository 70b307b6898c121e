//! The columns of a filter, of a sheet or a table (ECMA-376 part 1, 18.3.2.7).

use cell_references::{Cell, Place, Range};

use crate::book::Sheet;
use crate::xml::Document;

/// The number of a filter's column in the result, counted from the filter's first one; `None` if the column was dropped.
pub(crate) fn column(document: &Document<'_>, index: usize, sheet: &Sheet<'_>) -> Option<String> {
    let filter = document.elements[index].parent?;
    let range = Range::parse(&document.value(filter, "ref")?)?;
    let number = document.number(index, "colId")?;
    let column = Cell { row: range.rows.first, column: range.columns.first.saturating_add(number) };
    let now = |range: Range| sheet.moves.range(range, Place::default());
    let (column, range) = (now(column.into())?, now(range)?);
    Some(column.columns.first.saturating_sub(range.columns.first).to_string())
}
