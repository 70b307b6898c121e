//! Counts how often each block of a sheet is there, by the answers.

use std::collections::BTreeMap;

use cell_references::{Area, Block};

use super::sheet::{Content, Sheet};
use super::tree::{Item, Piece, Pieces, Plan, Rows, Slot};
use crate::answer::Answer;
use crate::error::Error;
use crate::fill::misfit;

/// The answers that the tags of one turn see.
#[derive(Clone, Copy)]
pub(super) enum Scope<'a> {
    Answers(&'a [Answer<'a>]),
    /// The one turn that an empty list has: all its tags are blank.
    Empty,
    /// The one turn of a false condition whose rows have cells outside of it: they are written for these, and its own cells are
    /// empty.
    Hollow,
}

/// The turns of a section.
pub(super) enum Turns<'a> {
    Copies(&'a [Answer<'a>]),
    One(Scope<'a>),
}

impl<'a> Scope<'a> {
    /// The answer at an index; `None` in an empty turn.
    pub(super) fn get(self, at: usize) -> Result<Option<&'a Answer<'a>>, Error> {
        match self {
            Self::Answers(answers) => answers.get(at).map(Some).ok_or_else(misfit),
            Self::Empty | Self::Hollow => Ok(None),
        }
    }

    /// The turns of a section of rows.
    pub(super) fn turns(self, rows: &Rows) -> Result<Turns<'a>, Error> {
        Ok(match self.get(rows.slot)? {
            None => Turns::One(self),
            Some(Answer::Null) => Turns::One(Scope::Empty),
            Some(Answer::List(copies)) if copies.is_empty() && rows.is_shared => Turns::One(Scope::Hollow),
            Some(Answer::List(copies)) => Turns::Copies(copies),
            Some(_) => return Err(misfit()),
        })
    }
}

impl<'a> Turns<'a> {
    pub(super) fn count(&self) -> u32 {
        match self {
            Self::Copies(copies) => u32::try_from(copies.len()).unwrap_or(u32::MAX),
            Self::One(_) => 1,
        }
    }

    /// The scope of one turn.
    pub(super) fn scope(&self, turn: u32) -> Result<Scope<'a>, Error> {
        match self {
            Self::Copies(copies) => match copies.get(turn as usize) {
                Some(Answer::List(answers)) => Ok(Scope::Answers(answers)),
                _ => Err(misfit()),
            },
            Self::One(scope) => Ok(*scope),
        }
    }
}

/// The blocks of a sheet whose answers are `scope`.
pub(super) fn blocks(sheet: &Sheet, plan: &Plan, scope: Scope<'_>) -> Result<Vec<Block>, Error> {
    let mut counter = Counter {
        sheet,
        rows: vec![Vec::new(); plan.rows],
        columns: BTreeMap::new(),
        has_columns: plan.areas.len() > plan.rows,
    };
    counter.items(&plan.items, &mut vec![scope])?;
    let Counter { rows, columns, .. } = counter;
    let mut blocks: Vec<Block> = Vec::with_capacity(plan.areas.len());
    let mut rows = rows.into_iter();
    let mut paths: Vec<Vec<Vec<u32>>> = Vec::new();
    for (number, &(area, parent)) in plan.areas.iter().enumerate() {
        if let Area::Rows(_) = area {
            blocks.push(Block { area, parent, counts: rows.next().unwrap_or_default() });
            continue;
        }
        let outer = parent.and_then(|parent| paths.get(parent.checked_sub(plan.rows)?).cloned());
        let (mut counts, mut own) = (Vec::new(), Vec::new());
        for path in outer.unwrap_or_else(|| vec![Vec::new()]) {
            let count = columns.get(&(number, path.clone())).copied().unwrap_or_default();
            counts.push(count);
            own.extend((0..count).map(|turn| [path.as_slice(), &[turn]].concat()));
        }
        paths.push(own);
        blocks.push(Block { area, parent, counts });
    }
    Ok(blocks)
}

/// Counts the turns of blocks.
struct Counter<'s> {
    sheet: &'s Sheet,
    /// For each section of rows, how many turns it has in each turn of the section around it.
    rows: Vec<Vec<u32>>,
    /// For sections of columns, by their numbers and the turns around them, the most turns that any row has.
    columns: BTreeMap<(usize, Vec<u32>), u32>,
    has_columns: bool,
}

impl Counter<'_> {
    fn items(&mut self, items: &[Item], stack: &mut Vec<Scope<'_>>) -> Result<(), Error> {
        for item in items {
            match item {
                Item::Row(row) if self.has_columns => self.row(*row, stack)?,
                Item::Row(_) => {}
                Item::Block(rows) => self.block(rows, stack)?,
            }
        }
        Ok(())
    }

    fn block(&mut self, rows: &Rows, stack: &mut Vec<Scope<'_>>) -> Result<(), Error> {
        let scope = stack.last().copied().unwrap_or(Scope::Empty);
        let turns = scope.turns(rows)?;
        if let Some(counts) = self.rows.get_mut(rows.block) {
            counts.push(turns.count());
        }
        let is_plain = !self.has_columns && rows.items.iter().all(|item| matches!(item, Item::Row(_)));
        if is_plain {
            return Ok(());
        }
        for turn in 0..turns.count() {
            stack.push(turns.scope(turn)?);
            self.items(&rows.items, stack)?;
            stack.pop();
        }
        Ok(())
    }

    fn row(&mut self, row: usize, stack: &[Scope<'_>]) -> Result<(), Error> {
        let sheet = self.sheet;
        let cells =
            sheet.rows.get(row).and_then(|row| sheet.cells.get(row.cells.clone())).unwrap_or_default();
        for cell in cells.iter().filter(|cell| !cell.columns.is_empty()) {
            let Content::Tagged(tagged) = &cell.content else { continue };
            match &tagged.content {
                Pieces::Value(slot) => self.slot(slot, &cell.columns, stack)?,
                Pieces::Text(pieces) => {
                    for piece in pieces {
                        if let Piece::Value(_, slot) | Piece::Section(slot, _) | Piece::Nothing(slot) = piece
                        {
                            self.slot(slot, &cell.columns, stack)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn slot(&mut self, slot: &Slot, blocks: &[usize], stack: &[Scope<'_>]) -> Result<(), Error> {
        let scope = stack.get(slot.depth).copied().unwrap_or(Scope::Empty);
        self.columns((&slot.columns, blocks), scope, &mut Vec::new())
    }

    fn columns(
        &mut self,
        (slots, blocks): (&[usize], &[usize]),
        scope: Scope<'_>,
        path: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let (Some((slot, slots)), Some((&block, blocks))) = (slots.split_first(), blocks.split_first())
        else {
            return Ok(());
        };
        let (count, copies) = match scope.get(*slot)? {
            None | Some(Answer::Null) => (1, None),
            Some(Answer::List(copies)) => (u32::try_from(copies.len()).unwrap_or(u32::MAX), Some(copies)),
            Some(_) => return Err(misfit()),
        };
        let most = self.columns.entry((block, path.clone())).or_default();
        *most = count.max(*most);
        if slots.is_empty() {
            return Ok(());
        }
        for turn in 0..count {
            let inner = match copies.and_then(|copies| copies.get(turn as usize)) {
                Some(Answer::List(answers)) => Scope::Answers(answers),
                _ => Scope::Empty,
            };
            path.push(turn);
            self.columns((slots, blocks), inner, path)?;
            path.pop();
        }
        Ok(())
    }
}
