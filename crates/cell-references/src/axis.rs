//! One direction of a sheet: where its rows (or its columns) are after the blocks were repeated.
//!
//! ```text
//! old lines      1 2 [3 4 (5) 6] 7          a block of 3–6, in it one of 5
//! counts         block: 2;  inner: 3, 0      one count a turn of the block around it
//! new lines      1 2 [3 4 (5)(6)(7) 8] [9 10 11] 12
//! ```
//!
//! The turns of a block are numbered in one sequence over all turns of the outer block. So those of successive outer turns are
//! successive, too, and "all turns of the inner block within these turns of the outer one" is a range of numbers. A turn costs 8
//! bytes, and 8 more for each block in it.

mod find;

use std::ops::Range;
use std::sync::Arc;

use crate::address::Lines;
use crate::error::Error;

/// A block as this direction sees it.
pub(crate) struct Spec<'a> {
    pub id: usize,
    pub lines: Lines,
    pub parent: Option<usize>,
    pub counts: &'a [u32],
    /// It has all columns, so its turns are the same in each band of columns.
    pub is_alike: bool,
}

/// A block; the first one is the sheet itself, with one turn.
#[derive(Debug, Clone)]
struct Strip {
    /// None is the sheet.
    id: Option<usize>,
    lines: Lines,
    parent: usize,
    /// From the first to the last; they do not overlap.
    children: Vec<usize>,
    turns: Arc<Turns>,
}

/// The turns of a block, laid out.
#[derive(Debug, Default)]
struct Turns {
    /// For each turn of the outer block, how many turns of this one come before it; at the end, the number of all.
    runs: Vec<u32>,
    /// Which turn of the outer block each turn is in.
    outer: Vec<u32>,
    /// The new line that the first turn within each turn of the outer block begins at, or would begin at.
    begins: Vec<u32>,
    /// For each turn, how many lines the turns before it have; at the end, those of all.
    sizes: Vec<u32>,
}

/// Where a formula is in this direction: the innermost block around it and its turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    strip: usize,
    turn: u32,
}

impl Spot {
    /// Whether it is in a block, and not in the sheet alone.
    pub fn is_in_block(self) -> bool {
        self.strip > 0
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Axis {
    strips: Vec<Strip>,
}

impl Axis {
    /// No block: everything stays.
    pub fn still(all: Lines) -> Self {
        let turns =
            Turns { runs: vec![0, 1], outer: vec![0], begins: vec![all.first], sizes: vec![0, all.last] };
        let sheet = Strip { id: None, lines: all, parent: 0, children: Vec::new(), turns: Arc::new(turns) };
        Self { strips: vec![sheet] }
    }

    /// Lays the blocks out; outer ones come before inner ones. Turns that are the same in the axis `alike` are shared with it.
    pub fn new(all: Lines, specs: &[Spec<'_>], alike: Option<&Self>) -> Result<Self, Error> {
        let mut axis = Self::still(all);
        for spec in specs {
            let known = alike.filter(|_| spec.is_alike).and_then(|alike| {
                let index = alike.index(Some(spec.id))?;
                Some(Arc::clone(&alike.strips[index].turns))
            });
            axis.add(spec, known)?;
        }
        axis.measure();
        axis.place();
        Ok(axis)
    }

    fn add(&mut self, spec: &Spec<'_>, known: Option<Arc<Turns>>) -> Result<(), Error> {
        let index = self.strips.len();
        let parent = self.index(spec.parent).unwrap_or_default();
        let (outer, strips) = (&self.strips[parent], &self.strips);
        if spec.counts.len() != outer.turns.outer.len() {
            let (counts, turns) = (spec.counts.len(), outer.turns.outer.len());
            return Err(Error::Counts { block: spec.id, counts, turns });
        }
        let at = outer.children.partition_point(|child| strips[*child].lines.last < spec.lines.first);
        self.strips[parent].children.insert(at, index);
        self.strips.push(Strip {
            id: Some(spec.id),
            lines: spec.lines,
            parent,
            children: Vec::new(),
            turns: known.unwrap_or_else(|| Arc::new(Turns::new(spec.counts))),
        });
        Ok(())
    }

    /// Counts the lines of each turn, from the innermost blocks outward. Shared turns are counted already.
    fn measure(&mut self) {
        for index in (0..self.strips.len()).rev() {
            let strip = &self.strips[index];
            if index > 0 && !strip.turns.sizes.is_empty() {
                continue;
            }
            let mut sizes = Vec::with_capacity(strip.turns.outer.len() + 1);
            let mut sum = 0u32;
            sizes.push(sum);
            for turn in 0..strip.turns.count() {
                let grown: i64 = strip.children.iter().map(|child| self.strips[*child].growth(turn)).sum();
                let lines = i64::from(strip.lines.count()) + grown;
                sum = sum.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
                sizes.push(sum);
            }
            self.strips[index].set(|turns| turns.sizes = sizes);
        }
    }

    /// Sets where the turns begin, from the outermost blocks inward.
    fn place(&mut self) {
        for index in 0..self.strips.len() {
            let strip = &self.strips[index];
            let (first, turns) = (strip.lines.first, Arc::clone(&strip.turns));
            let children = strip.children.clone();
            let mut grown = vec![0i64; turns.outer.len()];
            for child in children {
                let child = &mut self.strips[child];
                let mut begins = Vec::with_capacity(grown.len());
                for (turn, grown) in (0..turns.count()).zip(&mut grown) {
                    let old = i64::from(turns.begin(turn)) + i64::from(child.lines.first - first);
                    begins.push(u32::try_from(old + *grown).unwrap_or(u32::MAX));
                    *grown += child.growth(turn);
                }
                if child.turns.begins.is_empty() {
                    child.set(|turns| turns.begins = begins);
                }
            }
        }
    }

    /// The new place of a line in a turn of its block; no inner block has the line.
    fn position(&self, strip: usize, turn: u32, line: u32) -> u32 {
        let strip = &self.strips[strip];
        let above = strip.children.partition_point(|child| self.strips[*child].lines.last < line);
        let (begin, after) = match above.checked_sub(1).and_then(|above| strip.children.get(above)) {
            None => (strip.turns.begin(turn), strip.lines.first),
            Some(child) => {
                let child = &self.strips[*child];
                let begin = child.turns.begins[turn as usize];
                (begin.saturating_add(child.turns.lines_in(turn)), child.lines.last + 1)
            }
        };
        begin.saturating_add(line - after)
    }

    /// The new place of a line that no block goes beyond; it may be off the sheet.
    pub fn end(&self, line: u32) -> u64 {
        let strips = self.strips[0].children.iter().map(|child| &self.strips[*child]);
        let grown: i64 = strips.filter(|strip| strip.lines.last <= line).map(|strip| strip.growth(0)).sum();
        u64::try_from(i64::from(line) + grown).unwrap_or_default()
    }

    /// The last line of all blocks; 0 without any.
    pub fn last_of_blocks(&self) -> u32 {
        let last = |strip: &Strip| strip.lines.last;
        self.strips.iter().skip(1).map(last).max().unwrap_or_default()
    }

    /// Whether a block grows in this direction, here.
    pub fn has(&self, id: usize) -> bool {
        self.index(Some(id)).is_some()
    }

    fn index(&self, id: Option<usize>) -> Option<usize> {
        self.strips.binary_search_by_key(&id, |strip| strip.id).ok()
    }

    /// The spot in a turn of a block, within the outer turn that `spot` is in. `None` if there is no such block or turn here.
    pub fn enter(&self, spot: Option<Spot>, id: usize, turn: u32) -> Option<Spot> {
        let strip = self.index(Some(id))?;
        let outer = self.own_turn(spot, self.strips[strip].parent)?;
        let run = self.strips[strip].turns.run(outer..outer + 1);
        let turn = run.start.checked_add(turn).filter(|turn| *turn < run.end)?;
        Some(Spot { strip, turn })
    }

    /// The spot without its turn of a block: in the turn around that.
    pub fn outside(&self, spot: Spot, id: usize) -> Spot {
        let Some(strip) = self.index(Some(id)) else { return spot };
        let parent = self.strips[strip].parent;
        let is_inside = self.own_turn(Some(spot), strip).is_some();
        match self.own_turn(Some(spot), parent).filter(|_| is_inside) {
            Some(turn) => Spot { strip: parent, turn },
            None => spot,
        }
    }

    /// How many turns a block has within the outer turn that `spot` is in. `None` if there is no such block here.
    pub fn turns_in(&self, spot: Option<Spot>, id: usize) -> Option<u32> {
        let strip = self.index(Some(id))?;
        let outer = self.own_turn(spot, self.strips[strip].parent)?;
        let run = self.strips[strip].turns.run(outer..outer + 1);
        Some(run.end - run.start)
    }

    /// The spot of the axis `other` in this one, where the same block has another index.
    pub fn translate(&self, other: &Self, spot: Spot) -> Option<Spot> {
        let strip = self.index(other.strips[spot.strip].id)?;
        Some(Spot { strip, ..spot })
    }

    /// The turn of a block that a spot is in; `None` outside of the block.
    fn own_turn(&self, spot: Option<Spot>, strip: usize) -> Option<u32> {
        let Spot { strip: mut at, mut turn } = spot.unwrap_or(Spot { strip: 0, turn: 0 });
        while at > strip {
            turn = self.strips[at].turns.outer[turn as usize];
            at = self.strips[at].parent;
        }
        (at == strip).then_some(turn)
    }
}

impl Strip {
    /// By how many lines this is longer than it was, in a turn of the block around it.
    fn growth(&self, outer: u32) -> i64 {
        i64::from(self.turns.lines_in(outer)) - i64::from(self.lines.count())
    }

    /// Changes turns that are not shared yet.
    fn set(&mut self, change: impl FnOnce(&mut Turns)) {
        if let Some(turns) = Arc::get_mut(&mut self.turns) {
            change(turns);
        }
    }
}

impl Turns {
    fn new(counts: &[u32]) -> Self {
        let mut turns = Self { runs: vec![0], ..Self::default() };
        for (outer, count) in (0..).zip(counts) {
            turns.outer.extend((0..*count).map(|_| outer));
            turns.runs.push(turns.count() + count);
        }
        turns
    }

    fn count(&self) -> u32 {
        self.runs.last().copied().unwrap_or_default()
    }

    /// The turns within some turns of the outer block.
    fn run(&self, outer: Range<u32>) -> Range<u32> {
        self.runs[outer.start as usize]..self.runs[outer.end as usize]
    }

    /// Lines of all turns within a turn of the outer block.
    fn lines_in(&self, outer: u32) -> u32 {
        let run = self.run(outer..outer + 1);
        self.sizes[run.end as usize] - self.sizes[run.start as usize]
    }

    /// The new line that a turn begins at.
    fn begin(&self, turn: u32) -> u32 {
        let outer = self.outer[turn as usize] as usize;
        let before = self.sizes[turn as usize] - self.sizes[self.runs[outer] as usize];
        self.begins[outer].saturating_add(before)
    }
}
