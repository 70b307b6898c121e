//! Turns a sheet's tags into steps of the program, blocks of rows and columns, and the pieces of the cells that are written.

use cell_references::{Area, Block, Cell as At, Lines, Moves};

use super::frame::{All, Frame, section_step};
use super::joined::{Joined, Named};
use super::layout;
use super::outside;
use super::sheet::{Cell, Content, Sheet};
use super::tags::{Found, Of, Section};
use super::text::Run;
use super::tree::{Item, Piece, Pieces, Plan, Rows, Slot, Tagged};
use crate::error::Fault;
use crate::lexer::{Expression, Tag};
use crate::program::{Step, content, step};

/// A cell with tags: its index among the sheet's cells, its runs, and the indices of its tags.
pub(super) struct Text {
    pub cell: usize,
    pub runs: Vec<Run>,
    pub tags: std::ops::Range<usize>,
    /// Whether the cell shows dates.
    pub is_date: bool,
    /// Only its link has tags: its own text stays as it is.
    pub is_link_alone: bool,
}

/// Makes the plan of a sheet whose tags have been paired. `first` is the number of its first tag.
pub(super) struct Planner<'p> {
    pub found: &'p [Found],
    pub sections: &'p [Section],
    pub first: usize,
    named: Named<'p>,
    pub faults: Vec<Fault>,
    frames: Vec<Frame>,
    /// The open sections within a cell's text: their numbers, steps and pieces.
    inline: Vec<(usize, Vec<Step>, Vec<Piece>)>,
    /// For each section of rows, the index of its answer in the scope around it.
    slots: Vec<usize>,
    /// The slots of the link of the cell that is being planned.
    linked: Vec<Slot>,
}

impl<'p> Planner<'p> {
    pub(super) fn new(
        found: &'p [Found],
        sections: &'p [Section],
        (first, named): (usize, Named<'p>),
    ) -> Self {
        let slots = vec![0; sections.len()];
        Self {
            found,
            sections,
            first,
            named,
            faults: Vec::new(),
            frames: vec![Frame::default()],
            inline: Vec::new(),
            slots,
            linked: Vec::new(),
        }
    }

    fn all(&self) -> All<'p> {
        (self.sections, self.found, self.first)
    }

    /// The plan; `names` are the steps of the sheet's name, which come first.
    pub(super) fn plan(
        mut self,
        sheet: &mut Sheet,
        texts: Vec<Text>,
        names: Vec<Step>,
    ) -> (Plan, Joined, Vec<Fault>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.steps = names;
        }
        self.place_cells(sheet);
        let (areas, rows) = self.areas();
        let fault = self.fault(&areas);
        // Hazard: each of thousands of sections that overlap would parse all formulas in its columns.
        let joined = if fault.is_none() {
            Joined::find(sheet, (self.found, self.sections), |number| self.around(number), self.named)
        } else {
            Joined::none(self.sections.len())
        };
        joined.deepen(sheet);
        for text in texts {
            let Some(cell) = sheet.cells.get(text.cell) else { continue };
            let (row, columns, at) = (cell.row, cell.columns.clone(), text.cell);
            let (place, is_kept) = (At { row, column: cell.column }, text.is_link_alone);
            let content = self.cell(text, (row, &columns));
            if let Some(cell) = sheet.cells.get_mut(at).filter(|_| !is_kept) {
                cell.content = content;
            }
            if let Some(link) = sheet.links.get_mut(&place) {
                link.slots = std::mem::take(&mut self.linked);
            }
        }
        let mut frame = self.frames.pop().unwrap_or_default();
        frame.close((&[], 0), self.all());
        let numbers = self.numbers();
        let around: Vec<_> = (0..numbers.len()).map(|number| self.around(number)).collect();
        let items = self.items(sheet, (0, sheet.rows.len()), None, (&numbers, &around, &joined));
        outside::note(sheet, &items, ((self.sections, self.found), &joined, self.named));
        self.faults.extend(fault);
        for cell in &mut sheet.cells {
            cell.columns
                .iter_mut()
                .for_each(|number| *number = numbers.get(*number).copied().flatten().unwrap_or_default());
        }
        (Plan { steps: frame.steps, items, areas, rows }, joined, self.faults)
    }

    /// Notes in each cell which sections of rows and columns hold it.
    fn place_cells(&self, sheet: &mut Sheet) {
        for (number, section) in self.sections.iter().enumerate() {
            let Some((open, close)) = self.ends(section) else { continue };
            let first = sheet.cells.partition_point(|cell| cell.row < open.row);
            for cell in sheet.cells.iter_mut().skip(first).take_while(|cell| cell.row <= close.row) {
                match section.of {
                    Of::Text => break,
                    Of::Rows => cell.depth += usize::from(is_between(cell, open, close)),
                    Of::Columns | Of::Right => {
                        if (open.column..=close.column).contains(&cell.column) {
                            cell.columns.push(number);
                        }
                    }
                }
            }
        }
    }

    fn ends(&self, section: &Section) -> Option<(&'p Found, &'p Found)> {
        Some((self.found.get(section.open)?, self.found.get(section.close)?))
    }

    /// What is written into a cell.
    fn cell(&mut self, text: Text, place: (u32, &[usize])) -> Content {
        let found: &'p [Found] = self.found;
        let tags = found.get(text.tags.clone()).unwrap_or_default();
        let all: String = text.runs.iter().map(|run| run.text.as_str()).collect();
        let mut rest = String::new();
        let mut from = 0;
        for tag in tags.iter().filter(|tag| !tag.is_of_link) {
            rest.push_str(all.get(from..tag.at.start).unwrap_or_default());
            from = tag.at.end;
        }
        rest.push_str(all.get(from..).unwrap_or_default());
        let is_text = |found: &Found| {
            !found.is_of_link && matches!(found.tag, Tag::Value(_))
                || found.tag.is_picture()
                || found
                    .section
                    .and_then(|number| self.sections.get(number))
                    .is_some_and(|section| section.of == Of::Text)
        };
        let is_alone = rest.trim().is_empty() && tags.iter().filter(|tag| is_text(tag)).count() == 1;
        let mut pieces = Vec::new();
        let mut from = 0;
        for (index, tag) in (text.tags.start..).zip(tags) {
            if let (true, Tag::Value(value)) = (tag.is_of_link, &tag.tag) {
                let id = self.first + index;
                let slot = self.add(id, step("value", id, value), place);
                self.linked.push(slot);
                continue;
            }
            self.text(&mut pieces, (&text.runs, from..tag.at.start));
            from = tag.at.end;
            let run = run_at(&text.runs, tag.at.start).0;
            let kind = is_alone.then_some(if text.is_date { "day" } else { "cell" });
            self.tag((index, tag), (&mut pieces, run), (kind, place));
        }
        self.text(&mut pieces, (&text.runs, from..all.len()));
        let value = is_alone.then(|| {
            pieces
                .iter()
                .find_map(|piece| if let Piece::Value(_, slot) = piece { Some(slot.clone()) } else { None })
        });
        let is_empty = rest.trim().is_empty()
            && !tags.iter().any(is_text)
            && !pieces.iter().any(|piece| matches!(piece, Piece::Nothing(_)));
        let content = match value.flatten() {
            Some(slot) => Pieces::Value(slot),
            None if is_empty => return Content::Empty,
            None => Pieces::Text(pieces),
        };
        let runs = text.runs.into_iter().map(|run| run.properties).collect();
        Content::Tagged(Box::new(Tagged { runs, content }))
    }

    /// Text of the template, in its runs.
    fn text(&mut self, pieces: &mut Vec<Piece>, (runs, range): (&[Run], std::ops::Range<usize>)) {
        let pieces = self.inline.last_mut().map_or(pieces, |(_, _, pieces)| pieces);
        let mut begin = 0;
        for (number, run) in runs.iter().enumerate() {
            let end = begin + run.text.len();
            let part = range.start.max(begin)..range.end.min(end);
            if part.start < part.end {
                let text = run.text.get(part.start - begin..part.end - begin).unwrap_or_default();
                pieces.push(Piece::Text(number, text.to_owned()));
            }
            begin = end;
        }
    }

    fn tag(
        &mut self,
        (index, found): (usize, &'p Found),
        (pieces, run): (&mut Vec<Piece>, usize),
        (kind, place): (Option<&'static str>, (u32, &[usize])),
    ) {
        let id = self.first + index;
        let section = found.section.and_then(|number| Some((number, self.sections.get(number)?)));
        match (&found.tag, section) {
            (Tag::Value(value), _) => {
                let (kind, value) = typed(kind, value);
                let slot = self.add(id, step(kind, id, &value), place);
                let piece = Piece::Value(run, slot);
                self.inline.last_mut().map_or(pieces, |(_, _, pieces)| pieces).push(piece);
            }
            (tag, _) if tag.is_picture() => {
                // A picture is drawn over its cell, so it cannot be a piece of a text.
                let step = content(tag, id).filter(|_| kind.is_some());
                let Some(step) = step else {
                    let message = "a picture stands alone in its cell, with nothing around its tag; give the text another cell";
                    let cell = At { row: found.row, column: found.column };
                    self.faults.push(Fault::new(&cell.to_string(), 0, &found.shown, message));
                    return;
                };
                let slot = self.add(id, step, place);
                pieces.push(Piece::Value(run, slot));
            }
            (Tag::Section(..) | Tag::Otherwise(_), Some((number, section))) => match section.of {
                Of::Text => self.inline.push((number, Vec::new(), Vec::new())),
                Of::Rows => self.frames.push(Frame::default()),
                Of::Columns | Of::Right => pieces.push(Piece::Nothing(self.open_columns(id, place))),
            },
            (Tag::End(_), Some((number, section))) => match section.of {
                Of::Text => {
                    let Some((_, body, inner)) = self.inline.pop() else { return };
                    let Some(step) = self.section_step(section, body, "section") else { return };
                    let slot = self.add(self.first + section.open, step, place);
                    let piece = Piece::Section(slot, inner);
                    self.inline.last_mut().map_or(pieces, |(_, _, pieces)| pieces).push(piece);
                }
                Of::Rows => {
                    let Some(mut frame) = self.frames.pop() else { return };
                    frame.close((&[], 0), self.all());
                    let Some(step) = self.section_step(section, frame.steps, "rows") else { return };
                    let all = self.all();
                    let Some(around) = self.frames.last_mut() else { return };
                    around.close((&[], 0), all);
                    if let Some(slot) = self.slots.get_mut(number) {
                        *slot = around.steps.len();
                    }
                    around.steps.push(step);
                }
                Of::Columns | Of::Right => {}
            },
            _ => {}
        }
    }

    /// Opens the sections of columns around a cell that are not open yet; the slot of the next step in the innermost one.
    fn open_columns(&mut self, tag: usize, (row, columns): (u32, &[usize])) -> Slot {
        let depth = self.frames.len() - 1;
        let all = self.all();
        let Some(frame) = self.frames.last_mut() else {
            return Slot { tag, depth, columns: Vec::new(), at: 0 };
        };
        frame.close((columns, row), all);
        for &number in columns.iter().skip(frame.columns.len()) {
            frame.columns.push((number, row, Vec::new()));
        }
        let (columns, at) = frame.slots();
        Slot { tag, depth, columns, at }
    }

    fn section_step(&self, section: &Section, body: Vec<Step>, kind: &'static str) -> Option<Step> {
        section_step(section, (self.found, self.first), body, kind)
    }

    /// Adds a step to the innermost open scope: of a text, of columns or of rows.
    fn add(&mut self, tag: usize, step: Step, (row, columns): (u32, &[usize])) -> Slot {
        let depth = self.frames.len() - 1;
        if let Some((_, steps, _)) = self.inline.last_mut() {
            steps.push(step);
            return Slot { tag, depth, columns: Vec::new(), at: steps.len() - 1 };
        }
        let slot = self.open_columns(tag, (row, columns));
        if let Some(frame) = self.frames.last_mut() {
            frame.columns.last_mut().map_or(&mut frame.steps, |(_, _, steps)| steps).push(step);
        }
        slot
    }

    /// The sections' numbers among the blocks, those of rows first; a section of text has none.
    fn numbers(&self) -> Vec<Option<usize>> {
        let of_rows = self.sections.iter().filter(|section| section.of == Of::Rows).count();
        let (mut rows, mut columns) = (0, of_rows);
        let number = |section: &Section| {
            let next = match section.of {
                Of::Text => return None,
                Of::Rows => &mut rows,
                Of::Columns | Of::Right => &mut columns,
            };
            *next += 1;
            Some(*next - 1)
        };
        self.sections.iter().map(number).collect()
    }

    /// The sections of rows directly in this one, or in none.
    fn children(&self, of: Option<usize>, around: &[Option<usize>]) -> Vec<usize> {
        let is_child = |(number, outer): (usize, &Option<usize>)| {
            let is_of_rows = self.sections.get(number).is_some_and(|section| section.of == Of::Rows);
            (is_of_rows && *outer == of).then_some(number)
        };
        around.iter().enumerate().filter_map(is_child).collect()
    }

    /// The innermost section around this one that grows in the same direction.
    fn around(&self, number: usize) -> Option<usize> {
        let section = self.sections.get(number)?;
        let is_across = |of: Of| matches!(of, Of::Columns | Of::Right);
        let (begin, end) = self.ends(section)?;
        (0..number).rev().find(|&outer| {
            self.sections.get(outer).is_some_and(|outer| match (section.of, outer.of) {
                (Of::Rows, Of::Rows) => outer.open < section.open && section.close < outer.close,
                (inner, around) if is_across(inner) && is_across(around) => {
                    self.ends(outer).is_some_and(|(first, last)| {
                        first.row <= begin.row
                            && end.row <= last.row
                            && first.column <= begin.column
                            && end.column <= last.column
                    })
                }
                _ => false,
            })
        })
    }

    fn areas(&self) -> (Vec<(Area, Option<usize>)>, usize) {
        let numbers = self.numbers();
        let mut areas: Vec<(usize, Area, Option<usize>)> = Vec::new();
        for (number, section) in self.sections.iter().enumerate() {
            let (Some(Some(block)), Some(cells)) = (numbers.get(number), section.area(self.found)) else {
                continue;
            };
            let area = match section.of {
                Of::Text => continue,
                Of::Rows => Area::Rows(cells.rows),
                Of::Columns => Area::Columns(cells.columns),
                Of::Right => Area::Right(cells),
            };
            let parent = self.around(number).and_then(|around| numbers.get(around).copied().flatten());
            areas.push((*block, area, parent));
        }
        areas.sort_by_key(|(block, ..)| *block);
        let rows = self.sections.iter().filter(|section| section.of == Of::Rows).count();
        (areas.into_iter().map(|(_, area, parent)| (area, parent)).collect(), rows)
    }

    fn items(
        &self,
        sheet: &Sheet,
        (mut row, end): (usize, usize),
        of: Option<usize>,
        (numbers, around, joined): (&[Option<usize>], &[Option<usize>], &Joined),
    ) -> Vec<Item> {
        let mut items = Vec::new();
        for number in self.children(of, around) {
            let Some((open, close)) = self.sections.get(number).and_then(|section| self.ends(section)) else {
                continue;
            };
            let begin = sheet.rows.partition_point(|row| row.number < open.row).max(row);
            let behind = sheet.rows.partition_point(|row| row.number <= close.row).min(end);
            items.extend((row..begin).map(Item::Row));
            let rows = sheet.rows.get(begin..behind).unwrap_or_default();
            let cells = rows.iter().flat_map(|row| sheet.cells.get(row.cells.clone()).unwrap_or_default());
            let is_foreign = |cell: &Cell| {
                !is_between(cell, open, close)
                    && !joined.has(number, cell)
                    && !matches!(cell.content, Content::Empty)
            };
            items.push(Item::Block(Rows {
                block: numbers.get(number).copied().flatten().unwrap_or_default(),
                slot: self.slots.get(number).copied().unwrap_or_default(),
                lines: Lines::new(open.row, close.row),
                is_shared: { cells }.any(is_foreign),
                items: self.items(sheet, (begin, behind), Some(number), (numbers, around, joined)),
            }));
            row = behind;
        }
        items.extend((row..end).map(Item::Row));
        items
    }

    /// Lays the blocks out as if each was there once. What fails then (sections that overlap, say) fails with all data: it is a
    /// fault of the template.
    fn fault(&self, areas: &[(Area, Option<usize>)]) -> Option<Fault> {
        let once = |&(area, parent): &(Area, Option<usize>)| Block { area, parent, counts: vec![1] };
        let blocks: Vec<Block> = areas.iter().map(once).collect();
        let error = Moves::new(&blocks, At { row: 1, column: 1 }).err()?;
        let numbers = self.numbers();
        let open = |block: usize| {
            let number = numbers.iter().position(|number| *number == Some(block))?;
            self.found.get(self.sections.get(number)?.open)
        };
        Some(layout::fault(&error, open))
    }
}

/// The kind of a value's step, and its expression without a last filter that this kind replaces (`formula`, `date`).
fn typed(kind: Option<&'static str>, value: &Expression) -> (&'static str, Expression) {
    let Some(kind) = kind else { return ("value", value.clone()) };
    let is_last =
        |name: &str| value.filters.last().is_some_and(|last| last.name == name && last.arguments.is_empty());
    let without = || {
        let mut value = value.clone();
        value.filters.pop();
        value
    };
    if is_last("formula") {
        return ("formula", without());
    }
    if kind == "day" && is_last("date") {
        return (kind, without());
    }
    (kind, value.clone())
}

/// The index of the run that has byte `at` of the whole text, and where the run begins.
fn run_at(runs: &[Run], at: usize) -> (usize, usize) {
    let mut begin = 0;
    for (number, run) in runs.iter().enumerate() {
        if at < begin + run.text.len() {
            return (number, begin);
        }
        begin += run.text.len();
    }
    (runs.len().saturating_sub(1), begin)
}

/// Whether a cell is between two tags in reading order, or has one of them.
fn is_between(cell: &Cell, open: &Found, close: &Found) -> bool {
    (open.row, open.column) <= (cell.row, cell.column) && (cell.row, cell.column) <= (close.row, close.column)
}
