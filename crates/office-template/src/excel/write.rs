//! Writes the cells of a sheet one after the other; none is held in memory once it is written.

use std::collections::BTreeMap;

use cell_references::{Area, Cell as At, Lines, Moves, Place, Range, Workbook};

use super::counts::Scope;
use super::days;
use super::output::Output;
use super::pictures::Wish;
use super::sheet::{Cell, Content, Row, Sheet};
use super::text::{CHARACTERS, add, long, shielded};
use super::tree::{Item, Link, Piece, Pieces, Rows, Slot, Tagged};
use crate::answer::Answer;
use crate::error::{Error, TagFaults};
use crate::fill::misfit;

/// Faults and losses found while a sheet was written.
#[derive(Default)]
pub(super) struct Told {
    /// Tags whose answers cannot be written, by their numbers.
    pub faults: TagFaults,
    /// References that are lost, and the first cell with one.
    pub lost: usize,
    pub lost_at: Option<String>,
    /// The first array formula that is repeated with only some of its cells.
    pub torn_at: Option<String>,
    /// Links beyond the number that Excel allows on a sheet.
    pub links_beyond: usize,
    /// Formulas of the template whose addresses outside of their section stay the same in each turn, and what is to be said.
    pub outside: BTreeMap<At, String>,
    /// Days that are not shown as others are.
    pub days: days::Told,
}

/// Writes the rows of a copy of a sheet.
pub(super) struct Writer<'a, 'p> {
    pub sheet: &'a Sheet,
    pub workbook: &'a Workbook,
    /// The names of the template's sheets.
    pub names: &'a [&'a str],
    pub moves: &'a Moves,
    /// Which sheet, and which copy of it.
    pub at: (usize, usize),
    pub is_1904: bool,
    /// The blocks of cells, each with the one around it; `has_columns` says whether any of them grows to the right.
    pub areas: &'a [(Area, Option<usize>)],
    pub has_columns: bool,
    pub output: Output<'a, 'p>,
    /// The cell that is being written.
    pub now: At,
    pub told: Told,
    /// The scopes of the open sections of rows, outermost first; the first is the sheet's own.
    pub stack: Vec<Scope<'a>>,
    /// The texts of table headings, which are written in the place of their cells' content.
    pub headings: &'a BTreeMap<At, String>,
    /// Collects the texts of the cells that are written, if it is there.
    pub shown: Option<BTreeMap<At, String>>,
    /// The open sections of rows, each with its turn, counted from 0, and how many turns it has.
    pub turns: Vec<(&'a Rows, u32, u32)>,
    /// The pictures that are to be drawn over cells.
    pub wishes: Vec<Wish<'a>>,
    /// The links of cells whose addresses have tags.
    pub links: Vec<CopiedLink<'a>>,
}

/// A copy of a link.
pub(super) struct CopiedLink<'a> {
    pub range: Range,
    pub address: String,
    pub link: &'a Link,
}

/// Where a cell is: in the template, in the result, and in which turns of the sections around it.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub cell: At,
    pub now: At,
    pub place: Place,
}

impl<'a> Writer<'a, '_> {
    /// Writes rows and blocks from the top to the bottom.
    pub(super) fn items(&mut self, items: &'a [Item], place: Place) -> Result<(), Error> {
        for item in items {
            match item {
                Item::Row(row) => self.row(*row, place)?,
                Item::Block(rows) => self.block(rows, place)?,
            }
        }
        Ok(())
    }

    fn block(&mut self, rows: &'a Rows, place: Place) -> Result<(), Error> {
        let scope = self.stack.last().copied().unwrap_or(Scope::Empty);
        let turns = scope.turns(rows)?;
        let count = turns.count();
        for turn in 0..count {
            let Some(place) = self.moves.turn(place, rows.block, turn) else { return Err(misfit()) };
            self.stack.push(turns.scope(turn)?);
            self.turns.push((rows, turn, count));
            self.items(&rows.items, place)?;
            self.turns.pop();
            self.stack.pop();
        }
        Ok(())
    }

    fn row(&mut self, row: usize, place: Place) -> Result<(), Error> {
        let sheet: &'a Sheet = self.sheet;
        let Some(row) = sheet.rows.get(row) else { return Ok(()) };
        let Some(now) = self.moves.row(row.number, place) else { return Ok(()) };
        let Row { kept, cells, .. } = row;
        self.output.open("row");
        self.output.push(" r=\"");
        self.output.number(now);
        self.output.push("\"");
        self.output.push(kept);
        self.output.push(">");
        let cells = sheet.cells.get(cells.clone()).unwrap_or_default();
        self.cells(cells, (now, 0, None), (place, Some(place)), &mut Vec::new())?;
        self.output.close("row");
        self.output.settle()
    }

    /// Writes cells of a row, those of a section of columns in each of its turns. Those above or below a section are written in its
    /// first turn; in the others only their formats are, so that borders and colours of the row continue. The cells are in so many
    /// sections (`level`), the innermost one is `around`. `place` is where they are written, `own` what their formulas see: `None`
    /// writes formats alone.
    fn cells(
        &mut self,
        mut cells: &'a [Cell],
        (row, level, around): (u32, usize, Option<usize>),
        (place, own): (Place, Option<Place>),
        turns: &mut Vec<u32>,
    ) -> Result<(), Error> {
        while let Some(first) = cells.first() {
            let block = if self.has_columns { self.block_at(first, level, around) } else { None };
            let Some((block, columns)) = block else {
                match own {
                    Some(own) => self.cell(first, row, own, turns)?,
                    None => self.format(first, row, place),
                }
                cells = cells.get(1..).unwrap_or_default();
                continue;
            };
            let (inside, others) = cells.split_at(cells.partition_point(|cell| cell.column <= columns.last));
            cells = others;
            let is_own = |cell: &Cell| cell.columns.get(level) == Some(&block);
            let mut turn = 0;
            while let Some(place) = self.moves.turn(place, block, turn) {
                turns.push(turn);
                for run in inside.chunk_by(|one, other| is_own(one) == is_own(other)) {
                    let (level, own) = if run.first().is_some_and(is_own) {
                        (level + 1, own.map(|_| place))
                    } else {
                        (level, own.filter(|_| turn == 0))
                    };
                    self.cells(run, (row, level, Some(block)), (place, own), turns)?;
                }
                turns.pop();
                turn += 1;
            }
        }
        Ok(())
    }

    /// The section of columns that a cell is in, or above or below: the outermost one within the first `level` ones.
    fn block_at(&self, cell: &Cell, level: usize, around: Option<usize>) -> Option<(usize, Lines)> {
        let Some(&block) = cell.columns.get(level) else { return self.block_of(cell.column, around) };
        let (area, _) = self.areas.get(block)?;
        columns_of(*area).map(|columns| (block, columns))
    }

    /// The section of columns that has `column` and is directly in `around`.
    fn block_of(&self, column: u32, around: Option<usize>) -> Option<(usize, Lines)> {
        self.areas.iter().enumerate().find_map(|(block, (area, parent))| match area {
            Area::Columns(columns) => {
                let is_meant = *parent == around && columns.has(column);
                is_meant.then_some((block, *columns))
            }
            Area::Rows(_) | Area::Cells(_) | Area::Right(_) => None,
        })
    }

    /// Writes an empty cell with its format.
    fn format(&mut self, cell: &Cell, row: u32, place: Place) {
        if cell.style == 0 {
            return;
        }
        // The cell itself has a place in the first turn alone; its column has one in each turn.
        let column = Range { rows: Lines::ALL_ROWS, columns: Lines::new(cell.column, cell.column) };
        if let Some(now) = self.moves.range(column, place) {
            self.open(now.columns.last, row, &cell.kept);
            self.output.push("/>");
        }
    }

    /// Begins a cell; its start tag stays open for the type.
    fn open(&mut self, column: u32, row: u32, kept: &str) {
        self.output.open("c");
        self.output.push(" r=\"");
        self.output.column(column);
        self.output.number(row);
        self.output.push("\"");
        self.output.push(kept);
    }

    fn cell(&mut self, cell: &'a Cell, row: u32, place: Place, turns: &[u32]) -> Result<(), Error> {
        let at = At { row: cell.row, column: cell.column };
        let is_here = self.is_here(cell);
        let scope = self.stack.get(cell.depth).copied().unwrap_or(Scope::Empty);
        let is_hollow = matches!(scope, Scope::Hollow);
        let is_gone = !is_here || is_hollow;
        let is_empty = is_gone || matches!(cell.content, Content::Empty);
        let link = if self.sheet.links.is_empty() || is_gone { None } else { self.sheet.links.get(&at) };
        if is_empty && cell.style == 0 && link.is_none() {
            return Ok(());
        }
        let Some(column) = self.column(at, place) else { return Ok(()) };
        if let Some(link) = link {
            self.link(link, turns, (At { row, column }, place))?;
        }
        self.open(column, row, &cell.kept);
        if is_empty {
            self.output.push("/>");
            return Ok(());
        }
        self.now = At { row, column };
        if let Some(heading) = self.headings.get(&self.now) {
            self.inline(heading, true);
            return Ok(());
        }
        match &cell.content {
            Content::Empty => return Ok(()),
            Content::Value(kind, value) => {
                self.output.kind(kind);
                self.raw(value.clone());
            }
            Content::Inline(range) => {
                self.output.kind("inlineStr");
                self.raw(range.clone());
            }
            Content::Formula(calculated) => {
                self.output.push(">");
                self.formula(calculated, cell, (place, turns))?;
            }
            Content::Tagged(tagged) => {
                return self.tagged(tagged, turns, Spot { cell: at, now: At { row, column }, place });
            }
        }
        self.output.close("c");
        Ok(())
    }

    /// Which column a cell is in now.
    fn column(&self, at: At, place: Place) -> Option<u32> {
        if self.has_columns { self.moves.cell(at, place).map(|cell| cell.column) } else { Some(at.column) }
    }

    /// Whether a cell is written in the current turns. One in the rows of a section, but outside of it, is written once: with the
    /// last turn if it is in the last of several rows, else with the first. Beside a nested section of one row it is written in
    /// each turn.
    fn is_here(&self, cell: &Cell) -> bool {
        let Some((outer, ..)) = self.turns.get(cell.depth) else { return true };
        let is_one_row = outer.lines.first == outer.lines.last;
        if is_one_row && cell.depth > 0 {
            return true;
        }
        let is_last = !is_one_row && cell.row == outer.lines.last;
        let others = self.turns.iter().skip(cell.depth);
        others.clone().all(|(_, turn, count)| if is_last { turn + 1 == *count } else { *turn == 0 })
    }

    /// The answer at a slot, in the turns of the sections of columns around it.
    pub(super) fn answer(&self, slot: &Slot, turns: &[u32]) -> Result<Option<&'a Answer<'a>>, Error> {
        let mut scope = self.stack.get(slot.depth).copied().unwrap_or(Scope::Empty);
        for (at, turn) in slot.columns.iter().zip(turns) {
            scope = match scope.get(*at)? {
                Some(Answer::List(copies)) => match copies.get(*turn as usize) {
                    Some(Answer::List(answers)) => Scope::Answers(answers),
                    Some(_) => return Err(misfit()),
                    // Another row has more columns: this one has nothing there.
                    None => Scope::Hollow,
                },
                None | Some(Answer::Null) => Scope::Empty,
                Some(_) => return Err(misfit()),
            };
        }
        scope.get(slot.at)
    }

    fn tagged(&mut self, tagged: &'a Tagged, turns: &[u32], here: Spot) -> Result<(), Error> {
        let pieces = match &tagged.content {
            Pieces::Value(slot) => {
                let answer = self.answer(slot, turns)?;
                self.value(answer, slot.tag, here);
                return Ok(());
            }
            Pieces::Text(pieces) => pieces,
        };
        let mut texts: Vec<(usize, String)> = Vec::new();
        self.texts(pieces, (None, turns), &mut texts)?;
        if texts.iter().all(|(_, text)| text.is_empty()) {
            self.show("");
            self.output.push("/>");
            return Ok(());
        }
        let characters: usize = texts.iter().map(|(_, text)| text.chars().count()).sum();
        if characters > CHARACTERS {
            let tag = pieces.iter().find_map(|piece| match piece {
                Piece::Value(_, slot) | Piece::Section(slot, _) => Some(slot.tag),
                Piece::Text(..) | Piece::Nothing(_) => None,
            });
            self.told.faults.push((tag.unwrap_or_default(), long(characters)));
        }
        if self.shown.is_some() {
            let whole: String = texts.iter().map(|(_, text)| text.as_str()).collect();
            self.show(&workbook_parts::decoded(&whole));
        }
        self.output.kind("inlineStr");
        self.output.open("is");
        self.output.push(">");
        let is_rich = tagged.runs.iter().any(|properties| !properties.is_empty());
        for (run, text) in &texts {
            if is_rich {
                self.output.open("r");
                self.output.push(">");
                self.output.push(tagged.runs.get(*run).map_or("", String::as_str));
            }
            self.output.text(text, false);
            if is_rich {
                self.output.close("r");
            }
        }
        self.output.close("is");
        self.output.close("c");
        Ok(())
    }

    /// Adds the texts of `pieces` with their runs. `scope` are the answers of the section of text that the pieces are in.
    fn texts(
        &mut self,
        pieces: &'a [Piece],
        (scope, turns): (Option<&'a [Answer<'a>]>, &[u32]),
        texts: &mut Vec<(usize, String)>,
    ) -> Result<(), Error> {
        for piece in pieces {
            let (run, answer, tag) = match piece {
                Piece::Nothing(_) => continue,
                Piece::Text(run, text) => {
                    add(texts, *run, text);
                    continue;
                }
                Piece::Value(run, slot) => (*run, self.found(slot, (scope, turns))?, slot.tag),
                Piece::Section(slot, inner) => {
                    if let Some(Answer::List(copies)) = self.found(slot, (scope, turns))? {
                        for copy in copies {
                            let Answer::List(answers) = copy else { return Err(misfit()) };
                            self.texts(inner, (Some(answers), turns), texts)?;
                        }
                    }
                    continue;
                }
            };
            match answer {
                None | Some(Answer::Null) => {}
                Some(Answer::Text(text)) => add(texts, run, &shielded(text)),
                Some(_) => {
                    self.told.faults.push((
                        tag,
                        "nothing but text can stand beside other text; give it a cell of its own".to_owned(),
                    ));
                }
            }
        }
        Ok(())
    }

    fn found(
        &self,
        slot: &Slot,
        (scope, turns): (Option<&'a [Answer<'a>]>, &[u32]),
    ) -> Result<Option<&'a Answer<'a>>, Error> {
        match scope {
            Some(answers) => answers.get(slot.at).map(Some).ok_or_else(misfit),
            None => self.answer(slot, turns),
        }
    }
}

/// The columns of a block that grows to the right.
pub(super) fn columns_of(area: Area) -> Option<Lines> {
    match area {
        Area::Columns(columns) | Area::Right(Range { columns, .. }) => Some(columns),
        Area::Rows(_) | Area::Cells(_) => None,
    }
}
