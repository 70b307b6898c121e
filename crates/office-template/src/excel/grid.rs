//! How wide and how high the cells of a sheet are (ECMA-376 part 1, 18.3.1.13), in English metric units.

use std::collections::HashMap;

use cell_references::Lines;

use super::sheet::Sheet;
use crate::error::Error;
use crate::package::entries::entries;
use crate::word::attribute::value_in;

/// The width of a digit in Excel's default font, in pixels: widths of columns are counted in digits.
const DIGIT_PIXELS: f64 = 7.0;
/// The default width of a column, in pixels.
const COLUMN_PIXELS: f64 = 64.0;
/// The default height of a row, in points.
const ROW_POINTS: f64 = 15.0;
/// English metric units in a pixel, of which there are 96 an inch: what a length without a unit is.
pub(super) const EMU_PER_PIXEL: f64 = 9_525.0;
const EMU_PER_POINT: f64 = 12_700.0;

/// The sizes of a sheet's columns, as they are in the result, and of its rows, as they are in the template.
pub(super) struct Grid {
    columns: Vec<(Lines, f64)>,
    column: f64,
    rows: HashMap<u32, f64>,
    row: f64,
}

impl Grid {
    /// Reads the columns from `head`, the bytes before the cells in the result, and the rows from the template.
    pub(super) fn read(part: &str, head: &[u8], sheet: &Sheet) -> Result<Self, Error> {
        let mut grid = Self {
            columns: Vec::new(),
            column: COLUMN_PIXELS * EMU_PER_PIXEL,
            rows: HashMap::new(),
            row: ROW_POINTS * EMU_PER_POINT,
        };
        for one in entries(part, head)? {
            let number = |name: &str| one.value(name).parse::<f64>().ok().filter(|number| *number > 0.0);
            match one.name.as_str() {
                "sheetFormatPr" => {
                    grid.column = number("defaultColWidth").map_or(grid.column, width);
                    grid.row = number("defaultRowHeight").map_or(grid.row, |points| points * EMU_PER_POINT);
                }
                "col" => {
                    let line = |name: &str| one.value(name).parse::<u32>().ok();
                    if let (Some(min), Some(max), Some(own)) = (line("min"), line("max"), number("width")) {
                        grid.columns.push((Lines::new(min, max), width(own)));
                    }
                }
                _ => {}
            }
        }
        grid.columns.sort_unstable_by_key(|(lines, _)| *lines);
        for row in &sheet.rows {
            let height = value_in(format!("<row{}>", row.kept).as_bytes(), "ht");
            if let Some(points) = height.parse::<f64>().ok().filter(|points| *points > 0.0) {
                grid.rows.insert(row.number, points * EMU_PER_POINT);
            }
        }
        Ok(grid)
    }

    fn column(&self, column: u32) -> f64 {
        let at = self.columns.partition_point(|(lines, _)| lines.last < column);
        self.columns
            .get(at)
            .filter(|(lines, _)| lines.first <= column)
            .map_or(self.column, |(_, width)| *width)
    }

    fn row(&self, row: u32) -> f64 {
        self.rows.get(&row).copied().unwrap_or(self.row)
    }

    pub(super) fn width(&self, columns: Lines) -> f64 {
        (columns.first..=columns.last).map(|column| self.column(column)).sum()
    }

    /// The height of the rows `now` of the result, which come from the rows `template`.
    pub(super) fn height(&self, template: Lines, now: Lines) -> f64 {
        heights(self, template, now).map(|(_, height)| height).sum()
    }

    /// The column, counted from 0, that is `left` behind the begin of `columns`, and how far into it that is.
    pub(super) fn column_at(&self, columns: Lines, left: f64) -> (u32, f64) {
        at((columns.first..=columns.last).map(|column| (column, self.column(column))), left)
    }

    /// The same of rows.
    pub(super) fn row_at(&self, template: Lines, now: Lines, top: f64) -> (u32, f64) {
        at(heights(self, template, now), top)
    }
}

/// Rows of the result with their heights. Where these are more than the template's, the others are as high as its last.
fn heights(grid: &Grid, template: Lines, now: Lines) -> impl Iterator<Item = (u32, f64)> + '_ {
    let old = (template.first..=template.last).chain(std::iter::repeat(template.last));
    (now.first..=now.last).zip(old).map(|(row, old)| (row, grid.row(old)))
}

fn at(lines: impl Iterator<Item = (u32, f64)>, mut distance: f64) -> (u32, f64) {
    let mut last = (0, 0.0);
    for (line, size) in lines {
        last = (line.saturating_sub(1), distance);
        if distance < size {
            break;
        }
        distance -= size;
    }
    last
}

/// A column's width in digits as English metric units, in whole pixels.
fn width(digits: f64) -> f64 {
    let rounding = (128.0 / DIGIT_PIXELS).trunc();
    ((256.0 * digits + rounding) / 256.0 * DIGIT_PIXELS).trunc() * EMU_PER_PIXEL
}
