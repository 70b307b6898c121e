//! Where the cells of one sheet are after its blocks were repeated or dropped.

mod once;

pub use once::Once;

use crate::address::{Cell, LAST_COLUMN, LAST_ROW, Lines, Range, Reference};
use crate::axis::{Axis, Spot};
use crate::blocks::{Block, are_turned, bands_of, check_layout, check_turns, specs, turned};
use crate::error::Error;

/// Where the cells of one sheet are after its blocks were repeated or dropped.
///
/// A cell of a block is in as many places as the block has turns. Which of them a reference means depends on the [`Place`] of its
/// formula:
///
/// * Of the blocks around both the place and the cell, the place's own turn is meant.
/// * Of all other blocks around the cell, all turns are meant, and what is between them: the smallest range that holds all.
///
/// Where only some columns moved ([`Area::Cells`](crate::Area::Cells)), the smallest range that holds all that became of the
/// cells.
#[derive(Debug, Clone)]
pub struct Moves {
    /// Rows and columns are exchanged here, because cells grow to the right.
    is_turned: bool,
    columns: Axis,
    bands: Vec<Band>,
    /// Cells that are not repeated with the blocks that they are beside.
    once: Vec<Once>,
}

/// Columns (of the template) whose cells all move alike.
#[derive(Debug, Clone)]
struct Band {
    columns: Lines,
    rows: Axis,
}

/// Where a formula or an object is: in which turn of which blocks. The default is outside of all blocks.
///
/// It belongs to the [`Moves`] that made it ([`Moves::turn`]); with those of another sheet it means nothing, and may panic.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    /// The band's number, and the spot there.
    rows: Option<(usize, Spot)>,
    columns: Option<Spot>,
}

impl Default for Moves {
    /// Everything stays.
    fn default() -> Self {
        let columns = Axis::still(Lines::ALL_COLUMNS);
        let bands = vec![Band { columns: Lines::ALL_COLUMNS, rows: Axis::still(Lines::ALL_ROWS) }];
        Self { is_turned: false, columns, bands, once: Vec::new() }
    }
}

impl Moves {
    /// Lays out the blocks of a sheet whose used cells end at `used` (its last row and last column, before anything moves).
    ///
    /// # Errors
    /// [`Error::Rows`] and [`Error::Columns`] where the used cells would not fit into a sheet any more; the others where the
    /// blocks cannot be expanded. They name blocks by their index in the list.
    pub fn new(blocks: &[Block], used: Cell) -> Result<Self, Error> {
        check_turns(blocks)?;
        let is_turned = are_turned(blocks)?;
        let used = if is_turned { used.turned() } else { used };
        let blocks = if is_turned { &turned(blocks) } else { blocks };
        check_layout(blocks)?;
        let Range { rows: all_rows, columns: all_columns } = sheet(is_turned);
        let to_repeat = |block: &Block| block.area.columns_to_repeat();
        let columns = Axis::new(all_columns, &specs(blocks, to_repeat), None)?;
        let mut bands: Vec<Band> = Vec::new();
        for band in bands_of(blocks, all_columns) {
            let to_repeat = specs(blocks, |block| block.area.rows_to_repeat(band));
            let rows = Axis::new(all_rows, &to_repeat, bands.first().map(|first| &first.rows))?;
            bands.push(Band { columns: band, rows });
        }
        let end = |axis: &Axis, used: u32| axis.end(used.max(axis.last_of_blocks()));
        let across = end(&columns, used.column);
        let down = bands.iter().map(|band| end(&band.rows, used.row)).max().unwrap_or_default();
        let (rows, columns_needed) = if is_turned { (across, down) } else { (down, across) };
        if columns_needed > u64::from(LAST_COLUMN) {
            return Err(Error::Columns { needed: columns_needed });
        }
        if rows > u64::from(LAST_ROW) {
            return Err(Error::Rows { needed: rows });
        }
        Ok(Self { is_turned, columns, bands, once: Vec::new() })
    }

    /// The range with rows and columns exchanged where the layout has them so.
    fn laid(&self, range: Range) -> Range {
        if self.is_turned { range.turned() } else { range }
    }

    /// The place without its turn of a block: in the turn of the block around that.
    pub fn outside(&self, place: Place, block: usize) -> Place {
        if self.columns.has(block) {
            return Place { columns: place.columns.map(|spot| self.columns.outside(spot, block)), ..place };
        }
        let outside = |(number, spot): (usize, Spot)| (number, self.bands[number].rows.outside(spot, block));
        Place { rows: place.rows.map(outside), ..place }
    }

    /// How many turns a block has within the turns that the place is in.
    fn count(&self, place: Place, block: usize) -> Option<u32> {
        let of_columns = self.columns.turns_in(place.columns, block);
        let mut bands = (0..).zip(&self.bands);
        of_columns.or_else(|| {
            bands.find_map(|(number, band)| band.rows.turns_in(self.spot_in(place, number), block))
        })
    }

    /// Goes into a turn (from 0) of a block, within the turn of the block around it that `place` is in. None where there is no
    /// such turn.
    pub fn turn(&self, place: Place, block: usize, turn: u32) -> Option<Place> {
        if let Some(spot) = self.columns.enter(place.columns, block, turn) {
            return Some(Place { columns: Some(spot), ..place });
        }
        let mut bands = (0..).zip(&self.bands);
        bands.find_map(|(number, band)| {
            let spot = band.rows.enter(self.spot_in(place, number), block, turn)?;
            Some(Place { rows: Some((number, spot)), ..place })
        })
    }

    /// Where a cell is, seen from a place: within its own turn usually. None if it was dropped. Of several, the last one.
    pub fn cell(&self, cell: Cell, place: Place) -> Option<Cell> {
        let range = self.range(cell.into(), place)?;
        Some(Cell { row: range.rows.last, column: range.columns.last })
    }

    /// Where a row is, seen from a place, even if some of its cells are not repeated. None if it was dropped. Where only some
    /// columns moved, that of the first column.
    pub fn row(&self, row: u32, place: Place) -> Option<u32> {
        let range = self.laid(Cell { row, column: 1 }.into());
        Some(self.laid(self.find(range, place, [None; 4])?).rows.last)
    }

    /// What a range became, seen from a place. None if all its cells were dropped.
    pub fn range(&self, range: Range, place: Place) -> Option<Range> {
        let range = self.laid(range);
        Some(self.laid(self.find(range, self.seen(range, place), [None; 4])?))
    }

    /// The copies of a range that is an object of its own, as merged cells, a hyperlink, a comment and a drawing's anchor are:
    /// one for each turn of the innermost blocks around all of it, grown by the blocks within it.
    pub fn copies(&self, range: Range) -> impl Iterator<Item = Range> {
        self.turns(range).map(|(_, copy)| copy)
    }

    /// The same with the places of the copies, for formulas that belong to them.
    pub fn turns(&self, range: Range) -> impl Iterator<Item = (Place, Range)> {
        let range = self.laid(range);
        let mut last = None;
        self.places(range).filter_map(move |place| {
            let place = self.seen(range, place);
            let copy = self.find(range, place, [None; 4])?;
            // Cells that are not repeated are found anew from each turn, always in the same place.
            (last.replace(copy) != Some(copy)).then(|| (place, self.laid(copy)))
        })
    }

    /// A place for each turn of the innermost blocks around a range of the layout.
    fn places(&self, range: Range) -> impl Iterator<Item = Place> + use<> {
        let number = self.bands.iter().position(|band| band.columns.meets(range.columns)).unwrap_or_default();
        let met = || self.bands.iter().filter(|band| band.columns.meets(range.columns));
        let rows = self.bands[number].rows.copies(range.rows, &|id| met().all(|band| band.rows.has(id)));
        let columns = self.columns.copies(range.columns, &|_| true);
        rows.flat_map(move |row| {
            let rows = row.map(|spot| (number, spot));
            columns.clone().map(move |columns| Place { rows, columns })
        })
    }

    /// What ranges became, without the cells that came between, as conditional formats and validations need it (`sqref`). If that
    /// makes more than `at_most` ranges of one, the smallest that holds all of them is taken. Ranges that were dropped are left
    /// out.
    pub fn areas(&self, ranges: &[Range], at_most: usize) -> Vec<Range> {
        let around = |range: Range| self.range(range, Place::default()).into_iter().collect::<Vec<_>>();
        let areas = |range: &Range| self.parts(*range, at_most).unwrap_or_else(|| around(*range));
        ranges.iter().flat_map(areas).collect()
    }

    /// The same of one range; None if it became more than so many.
    pub fn parts(&self, range: Range, at_most: usize) -> Option<Vec<Range>> {
        let range = self.laid(range);
        let parts = self.areas_of(range, self.seen(range, Place::default()), at_most)?;
        Some(parts.into_iter().map(|part| self.laid(part)).collect())
    }

    /// What a range became, seen from a place, without the cells that came between. None if these are more than so many ranges.
    fn areas_of(&self, range: Range, place: Place, at_most: usize) -> Option<Vec<Range>> {
        let Range { rows: all_rows, columns: all_columns } = sheet(self.is_turned);
        let parts = |axis: &Axis, lines: Lines, all: Lines, spot: Option<Spot>| {
            if lines == all { vec![all] } else { axis.parts(lines, spot, at_most) }
        };
        let mut areas: Vec<Range> = Vec::new();
        for (number, band) in self.met(range) {
            let Some(columns) = band.columns.common(range.columns) else { continue };
            let rows = parts(&band.rows, range.rows, all_rows, self.spot_in(place, number));
            for columns in parts(&self.columns, columns, all_columns, place.columns) {
                for area in rows.iter().filter_map(|rows| self.on_sheet(*rows, columns)) {
                    let is_beside =
                        |it: &Range| it.rows == area.rows && it.columns.last + 1 == area.columns.first;
                    match areas.iter().position(is_beside) {
                        Some(beside) => areas[beside].columns.last = area.columns.last,
                        None if areas.len() < at_most => areas.push(area),
                        None => return None,
                    }
                }
            }
        }
        Some(areas)
    }

    /// What a reference became, seen from a place, where a function takes any number of ranges. A reference that leads out of a
    /// block around the place, or by a `$` to other turns of it, stays one range from its first cell to its last.
    pub(crate) fn list(&self, reference: &Reference, place: Place, at_most: usize) -> List {
        let Some(around) = self.reference(reference, place, Single::Grow) else { return List::Lost };
        let reference = &if self.is_turned { reference.turned() } else { *reference };
        if self.once_of(reference.range()).is_some() {
            return List::One(around);
        }
        let laid = |areas: Vec<Range>| areas.into_iter().map(|area| self.laid(area)).collect();
        let (range, [rows, columns]) = (reference.range(), pins(reference));
        let is_one = |axis: &Axis, lines: Lines, spot: Option<Spot>, pins: [Option<u32>; 2]| {
            axis.crosses(lines, spot) || pins.iter().any(|pin| axis.view(spot, *pin).open.is_some())
        };
        let bands = (0..).zip(&self.bands).filter(|(_, band)| band.columns.meets(range.columns));
        let mut met = bands.map(|(number, band)| (&band.rows, self.spot_in(place, number)));
        let is_plain = self.columns.is_plain(range.columns, place.columns)
            && met.clone().count() == 1
            && met.clone().all(|(axis, spot)| axis.is_plain(range.rows, spot));
        if is_plain
            || is_one(&self.columns, range.columns, place.columns, columns)
            || met.any(|(axis, spot)| is_one(axis, range.rows, spot, rows))
        {
            return List::One(around);
        }
        match self.areas_of(range, place, at_most) {
            None => List::Around(around),
            // A reference to whole rows cannot be written as parts of rows.
            Some(areas)
                if reference.columns.is_none()
                    && areas.iter().any(|it| it.columns != self.laid(around).columns) =>
            {
                List::Around(around)
            }
            Some(areas) if areas.len() > 1 => List::Many(laid(areas)),
            Some(_) => List::One(around),
        }
    }

    /// What a reference became, seen from a place.
    pub(crate) fn reference(&self, reference: &Reference, place: Place, single: Single) -> Option<Range> {
        self.reference_in(reference, place, (single, false))
    }

    /// The same; `is_along`: cells that are not repeated are those beside the place.
    pub(crate) fn reference_in(
        &self,
        reference: &Reference,
        place: Place,
        (single, is_along): (Single, bool),
    ) -> Option<Range> {
        let reference = &if self.is_turned { reference.turned() } else { *reference };
        let range = reference.range();
        let once = if is_along { None } else { self.once_of(range) };
        let seen = once.map_or(place, |once| self.turn_of(once, place));
        let [rows, columns] = if once.is_some() { [[None; 2]; 2] } else { pins(reference) };
        let found = self.find(range, seen, [rows[0], rows[1], columns[0], columns[1]])?;
        if !reference.is_single || single == Single::Grow {
            return Some(self.laid(found));
        }
        // A `$` within the own block means its first turn; of other blocks the last turn is meant.
        let number = self.bands.iter().position(|band| band.columns.holds(range.columns)).unwrap_or_default();
        let own_rows =
            self.bands[number].rows.own_block(self.spot_in(place, number), range.rows.first).is_some();
        let own_columns = self.columns.own_block(place.columns, range.columns.first).is_some();
        let pick = |lines: Lines, is_first: bool| {
            if is_first { Lines::new(lines.first, lines.first) } else { Lines::new(lines.last, lines.last) }
        };
        let is_first = |pinned: Option<u32>, is_own: bool| match single {
            Single::First => true,
            Single::Last => false,
            Single::One | Single::Grow => pinned.is_some() && is_own,
        };
        Some(self.laid(Range {
            rows: pick(found.rows, is_first(rows[0], own_rows)),
            columns: pick(found.columns, is_first(columns[0], own_columns)),
        }))
    }

    /// Whether a place is in a block of rows, and in one of columns.
    pub(crate) fn grows_at(&self, place: Place) -> [bool; 2] {
        let of_bands = place.rows.is_some_and(|(_, spot)| spot.is_in_block());
        let of_columns = place.columns.is_some_and(Spot::is_in_block);
        if self.is_turned { [of_columns, of_bands] } else { [of_bands, of_columns] }
    }

    /// Whether a block around a place has a row, or a column.
    pub(crate) fn has_line(&self, place: Place, line: u32, is_row: bool) -> bool {
        if is_row == self.is_turned {
            return self.columns.own_block(place.columns, line).is_some();
        }
        let of_band = |(number, spot): (usize, Spot)| self.bands[number].rows.own_block(Some(spot), line);
        place.rows.and_then(of_band).is_some()
    }

    /// The smallest range that holds what is left. `pinned` are the lines with a `$`: first and last row, first and last column.
    fn find(&self, range: Range, place: Place, pinned: [Option<u32>; 4]) -> Option<Range> {
        let find = |axis: &Axis, lines: Lines, all: Lines, spot: Option<Spot>, pinned: [Option<u32>; 2]| {
            if lines == all {
                return Some(all);
            }
            let first = axis.first(lines, axis.view(spot, pinned[0]))?;
            let last = axis.last(lines, axis.view(spot, pinned[1]))?;
            Some(Lines { first, last })
        };
        let Range { rows: all_rows, columns: all_columns } = sheet(self.is_turned);
        let mut found = None::<Range>;
        for (number, band) in self.met(range) {
            let Some(columns) = band.columns.common(range.columns) else { continue };
            let columns = find(&self.columns, columns, all_columns, place.columns, [pinned[2], pinned[3]]);
            let spot = self.spot_in(place, number);
            let rows = find(&band.rows, range.rows, all_rows, spot, [pinned[0], pinned[1]]);
            let part = rows.zip(columns).and_then(|(rows, columns)| self.on_sheet(rows, columns));
            found = match (found, part) {
                (Some(found), Some(part)) => Some(found.around(part)),
                (found, part) => found.or(part),
            };
        }
        found
    }

    /// The bands that have cells of a range. Where cells grow to the right, a whole column is looked up in the last band alone:
    /// cells of other rows that moved do not move the column.
    fn met(&self, range: Range) -> impl Iterator<Item = (usize, &Band)> {
        let is_whole = self.is_turned && range.columns == Lines::ALL_ROWS;
        let first = if is_whole { self.bands.len() - 1 } else { 0 };
        let met = move |(_, band): &(usize, &Band)| band.columns.meets(range.columns);
        self.bands.iter().enumerate().skip(first).filter(met)
    }

    /// The spot of a place in another band: blocks of whole rows are in all of them.
    fn spot_in(&self, place: Place, band: usize) -> Option<Spot> {
        let (number, spot) = place.rows?;
        if number == band {
            return Some(spot);
        }
        self.bands[band].rows.translate(&self.bands.get(number)?.rows, spot)
    }

    /// What is beyond the sheet's end is cut off, as Excel does it when rows are inserted above a range that goes to the end.
    fn on_sheet(&self, rows: Lines, columns: Lines) -> Option<Range> {
        let all = sheet(self.is_turned);
        Some(Range { rows: rows.common(all.rows)?, columns: columns.common(all.columns)? })
    }
}

/// All cells of a sheet.
fn sheet(is_turned: bool) -> Range {
    let all = Range { rows: Lines::ALL_ROWS, columns: Lines::ALL_COLUMNS };
    if is_turned { all.turned() } else { all }
}

/// What is meant by a reference to one cell that is in several places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Single {
    /// The last of them; with a `$`, in a block around the formula, the first one.
    One,
    /// All.
    Grow,
    /// The first.
    First,
    /// The last.
    Last,
}

/// What became of a reference where a function takes any number of ranges.
pub(crate) enum List {
    /// Nothing is left.
    Lost,
    One(Range),
    Many(Vec<Range>),
    /// The ranges would be too many: this one is around them and what is between them.
    Around(Range),
}

/// The first and last row and the first and last column, where they have a `$`.
fn pins(reference: &Reference) -> [[Option<u32>; 2]; 2] {
    [reference.rows, reference.columns].map(|side| {
        side.map_or([None; 2], |side| {
            let first = side.first_is_fixed.then_some(side.lines.first);
            [first, side.last_is_fixed.then_some(side.lines.last)]
        })
    })
}
