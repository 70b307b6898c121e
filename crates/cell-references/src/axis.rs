//! One direction of a sheet: where its rows (or its columns) are after the blocks were repeated.
//!
//! ```text
//! old lines      1 2 [3 4 (5) 6] 7          a block of 3–6, in it one of 5
//! counts         block: 2;  inner: 3, 0      one count a turn of the block around it
//! new lines      1 2 [3 4 (5)(6)(7) 8] [9 10 11] 12
//! ```
//!
//! Turns of a block are numbered through, whatever turn of the outer block they are in, so those of successive outer turns are successive, too,
//! and "all turns of the inner block within these turns of the outer one" is a range of numbers. Each turn costs 16 bytes.

use std::ops::Range as Turns;

use crate::address::Lines;
use crate::error::Error;

/// A block as this direction sees it.
pub(crate) struct Spec<'a> {
    pub id: usize,
    pub lines: Lines,
    pub parent: Option<usize>,
    pub counts: &'a [u32],
}

/// A block with its turns laid out; the first one is the sheet itself, with one turn.
#[derive(Debug, Clone)]
struct Strip {
    /// None is the sheet.
    id: Option<usize>,
    lines: Lines,
    parent: usize,
    /// From the first to the last; they do not overlap.
    children: Vec<usize>,
    /// Turns of this block before each turn of the outer one, and all of them at the end.
    runs: Vec<u32>,
    /// Which turn of the outer block each turn is in.
    outer: Vec<u32>,
    /// The new line that each turn begins at. Beyond the sheet if the sheet is too small.
    starts: Vec<u32>,
    /// Lines of all turns before each turn, and of all at the end.
    sizes: Vec<u32>,
}

/// Where a formula stands in this direction: the innermost block around it and its turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    strip: usize,
    turn: u32,
}

/// Which turns a reference means.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct View {
    /// Own turns are meant of the blocks around this.
    pub spot: Option<Spot>,
    /// But of this block all turns.
    open: Option<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Axis {
    strips: Vec<Strip>,
}

impl Axis {
    /// No block: everything stays.
    pub fn still(all: Lines) -> Self {
        let sheet = Strip {
            id: None,
            lines: all,
            parent: 0,
            children: Vec::new(),
            runs: vec![0, 1],
            outer: vec![0],
            starts: vec![all.first],
            sizes: vec![0, all.last],
        };
        Self { strips: vec![sheet] }
    }

    /// Lays the blocks out; outer ones come before inner ones.
    pub fn new(all: Lines, specs: &[Spec<'_>]) -> Result<Self, Error> {
        let mut axis = Self::still(all);
        for spec in specs {
            axis.add(spec)?;
        }
        axis.measure();
        axis.place();
        Ok(axis)
    }

    fn add(&mut self, spec: &Spec<'_>) -> Result<(), Error> {
        let index = self.strips.len();
        let parent = self.index(spec.parent).unwrap_or_default();
        let outer = &self.strips[parent];
        if spec.counts.len() != outer.outer.len() {
            let (counts, turns) = (spec.counts.len(), outer.outer.len());
            return Err(Error::Counts { block: spec.id, counts, turns });
        }
        let strips = &self.strips;
        if let Some(other) = outer.children.iter().find(|other| strips[**other].lines.meets(spec.lines)) {
            return Err(Error::Overlap { first: strips[*other].id.unwrap_or_default(), second: spec.id });
        }
        let at = outer.children.partition_point(|child| strips[*child].lines.last < spec.lines.first);
        let (mut runs, mut outers) = (vec![0], Vec::new());
        let mut turns = 0;
        for (turn, count) in (0..).zip(spec.counts) {
            turns += count;
            runs.push(turns);
            outers.extend((0..*count).map(|_| turn));
        }
        self.strips[parent].children.insert(at, index);
        self.strips.push(Strip {
            id: Some(spec.id),
            lines: spec.lines,
            parent,
            children: Vec::new(),
            runs,
            outer: outers,
            starts: Vec::new(),
            sizes: Vec::new(),
        });
        Ok(())
    }

    /// How many lines each turn has, from the innermost blocks outward.
    fn measure(&mut self) {
        for index in (0..self.strips.len()).rev() {
            let strip = &self.strips[index];
            let mut sizes = Vec::with_capacity(strip.outer.len() + 1);
            let mut sum = 0u32;
            sizes.push(sum);
            for turn in 0..strip.turns() {
                let grown: i64 = strip.children.iter().map(|child| self.growth(*child, turn)).sum();
                let lines = i64::from(strip.lines.count()) + grown;
                sum = sum.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
                sizes.push(sum);
            }
            self.strips[index].sizes = sizes;
        }
    }

    /// Where each turn begins, from the outermost blocks inward.
    fn place(&mut self) {
        for index in 1..self.strips.len() {
            let strip = &self.strips[index];
            let mut starts = Vec::with_capacity(strip.outer.len());
            for outer in 0..self.strips[strip.parent].turns() {
                let run = strip.run(outer..outer + 1);
                let first = self.position(strip.parent, outer, strip.lines.first);
                let before = strip.sizes[run.start as usize];
                starts.extend(
                    run.map(|turn| first.saturating_add(strip.sizes[turn as usize].saturating_sub(before))),
                );
            }
            self.strips[index].starts = starts;
        }
    }

    /// By how many lines a block is longer than it was, in a turn of the block around it.
    fn growth(&self, child: usize, outer: u32) -> i64 {
        let child = &self.strips[child];
        let run = child.run(outer..outer + 1);
        let lines = child.sizes[run.end as usize].saturating_sub(child.sizes[run.start as usize]);
        i64::from(lines) - i64::from(child.lines.count())
    }

    /// Where a line is that is in no inner block (or would begin one), in a turn.
    fn position(&self, strip: usize, turn: u32, line: u32) -> u32 {
        let strip = &self.strips[strip];
        let above = strip.children.iter().take_while(|child| self.strips[**child].lines.last < line);
        let grown: i64 = above.map(|child| self.growth(*child, turn)).sum();
        let old = i64::from(strip.starts[turn as usize]) + i64::from(line - strip.lines.first);
        u32::try_from(old + grown).unwrap_or(u32::MAX)
    }

    /// The place of a line behind all blocks, or of the end of what is before it. May be beyond the sheet.
    pub fn end(&self, line: u32) -> u64 {
        let sheet = &self.strips[0];
        let grown =
            sheet.children.iter().map(|child| &self.strips[*child]).filter(|it| it.lines.last <= line);
        let grown: i64 = grown
            .map(|strip| {
                i64::from(strip.sizes.last().copied().unwrap_or_default()) - i64::from(strip.lines.count())
            })
            .sum();
        u64::try_from(i64::from(line) + grown).unwrap_or_default()
    }

    /// The last line that a block has, if there are any.
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

    /// A turn of a block within the outer turn that one stands in. None if there is no such block or turn here.
    pub fn enter(&self, spot: Option<Spot>, id: usize, turn: u32) -> Option<Spot> {
        let strip = self.index(Some(id))?;
        let outer = self.own_turn(spot, self.strips[strip].parent)?;
        let run = self.strips[strip].run(outer..outer + 1);
        let turn = run.start.checked_add(turn).filter(|turn| *turn < run.end)?;
        Some(Spot { strip, turn })
    }

    /// The same place as another direction's spot: blocks have other indices there.
    pub fn translate(&self, other: &Self, spot: Spot) -> Option<Spot> {
        let strip = self.index(other.strips[spot.strip].id)?;
        Some(Spot { strip, ..spot })
    }

    /// The turn of a block that one stands in.
    fn own_turn(&self, spot: Option<Spot>, strip: usize) -> Option<u32> {
        let Spot { strip: mut at, mut turn } = spot.unwrap_or(Spot { strip: 0, turn: 0 });
        while at > strip {
            turn = self.strips[at].outer[turn as usize];
            at = self.strips[at].parent;
        }
        (at == strip).then_some(turn)
    }

    /// The view from a spot; with a `$` on a line of a block around it, of that block all turns.
    pub fn view(&self, spot: Option<Spot>, pinned: Option<u32>) -> View {
        let open = pinned.and_then(|line| self.own_block(spot, line));
        View { spot, open }
    }

    /// The innermost block that holds both the spot and the line.
    pub fn own_block(&self, spot: Option<Spot>, line: u32) -> Option<usize> {
        let mut at = spot?.strip;
        while at > 0 {
            let strip = &self.strips[at];
            if strip.lines.holds(Lines { first: line, last: line }) {
                return Some(at);
            }
            at = strip.parent;
        }
        None
    }

    /// The first place of all that is left of the lines.
    pub fn first(&self, lines: Lines, view: View) -> Option<u32> {
        self.first_in(0, 0..1, lines, view)
    }

    /// The last place of all that is left of the lines.
    pub fn last(&self, lines: Lines, view: View) -> Option<u32> {
        self.last_in(0, 0..1, lines, view)
    }

    fn first_in(&self, strip: usize, turns: Turns<u32>, lines: Lines, view: View) -> Option<u32> {
        if turns.is_empty() {
            return None;
        }
        let (mut line, mut found) = (lines.first, None::<u32>);
        for child in self.strips[strip].children.iter().copied() {
            let inner = self.strips[child].lines;
            if inner.last < line {
                continue;
            }
            if inner.first > line {
                break;
            }
            let (turns, view) = self.meant(child, &turns, view);
            let part = Lines { first: line, last: lines.last.min(inner.last) };
            found = found.into_iter().chain(self.first_in(child, turns, part, view)).min();
            line = inner.last + 1;
            if line > lines.last {
                return found;
            }
        }
        // A line of the block itself: every turn has it, so nothing behind it comes first.
        let own = self.position(strip, turns.start, line);
        Some(found.map_or(own, |found| found.min(own)))
    }

    fn last_in(&self, strip: usize, turns: Turns<u32>, lines: Lines, view: View) -> Option<u32> {
        if turns.is_empty() {
            return None;
        }
        let (mut line, mut found) = (lines.last, None::<u32>);
        for child in self.strips[strip].children.iter().rev().copied() {
            let inner = self.strips[child].lines;
            if inner.first > line {
                continue;
            }
            if inner.last < line {
                break;
            }
            let (turns, view) = self.meant(child, &turns, view);
            let part = Lines { first: lines.first.max(inner.first), last: line };
            found = found.into_iter().chain(self.last_in(child, turns, part, view)).max();
            if inner.first <= lines.first {
                return found;
            }
            line = inner.first - 1;
        }
        let own = self.position(strip, turns.end - 1, line);
        Some(found.map_or(own, |found| found.max(own)))
    }

    /// The turns of an inner block that are meant, and how one looks on from there.
    fn meant(&self, child: usize, outer: &Turns<u32>, view: View) -> (Turns<u32>, View) {
        let all = self.strips[child].run(outer.clone());
        if view.open == Some(child) {
            return (all, View::default());
        }
        match self.own_turn(view.spot, child) {
            Some(turn) => (turn..turn + 1, view),
            None => (all, view),
        }
    }

    /// One spot for each copy of the lines: each turn of the innermost block that holds them all. None is the sheet itself.
    pub fn copies(
        &self,
        lines: Lines,
        is_meant: &dyn Fn(usize) -> bool,
    ) -> impl Iterator<Item = Option<Spot>> + Clone + use<> {
        let (mut strip, mut inner) = (0, Some(0));
        while let Some(at) = inner {
            strip = at;
            inner = self.strips[at].children.iter().copied().find(|child| {
                let child = &self.strips[*child];
                child.lines.holds(lines) && child.id.is_some_and(is_meant)
            });
        }
        let turns = self.strips[strip].turns();
        (0..turns).map(move |turn| (strip > 0).then_some(Spot { strip, turn }))
    }

    /// All that the lines became, without what came between: at most one more than `at_most` parts.
    pub fn parts(&self, lines: Lines, at_most: usize) -> Vec<Lines> {
        let mut parts = Vec::new();
        self.parts_in(0, 0, lines, &mut |part| {
            match parts.last_mut() {
                Some(Lines { last, .. }) if *last + 1 == part.first => *last = part.last,
                _ => parts.push(part),
            }
            parts.len() <= at_most
        });
        parts
    }

    /// False once it was told that enough was found.
    fn parts_in(&self, strip: usize, turn: u32, lines: Lines, found: &mut impl FnMut(Lines) -> bool) -> bool {
        let mut line = lines.first;
        let own = |first: u32, last: u32, found: &mut dyn FnMut(Lines) -> bool| {
            first > last || {
                let place = self.position(strip, turn, first);
                found(Lines { first: place, last: place.saturating_add(last - first) })
            }
        };
        for child in self.strips[strip].children.iter().copied() {
            let inner = &self.strips[child];
            let Some(part) = inner.lines.common(Lines { first: line, last: lines.last }) else { continue };
            if !own(line, part.first - 1, found)
                || !inner.run(turn..turn + 1).all(|turn| self.parts_in(child, turn, part, found))
            {
                return false;
            }
            line = inner.lines.last + 1;
            if line > lines.last {
                return true;
            }
        }
        own(line, lines.last, found)
    }
}

impl Strip {
    fn turns(&self) -> u32 {
        self.runs.last().copied().unwrap_or_default()
    }

    /// The turns within some turns of the outer block.
    fn run(&self, outer: Turns<u32>) -> Turns<u32> {
        self.runs[outer.start as usize]..self.runs[outer.end as usize]
    }
}
