//! Which of the new lines a reference means: of the blocks around the formula the own turn, of all others every turn.

use std::ops::Range;

use super::{Axis, Spot};
use crate::address::Lines;

/// Which turns a reference means.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct View {
    /// Of the blocks around this spot its own turns are meant.
    spot: Option<Spot>,
    /// Of this block all turns are meant, even if it is around the spot.
    pub open: Option<usize>,
}

impl Axis {
    /// The view from a spot. A `$` on a line that a block around the spot has means all turns of that block.
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

    fn first_in(&self, strip: usize, turns: Range<u32>, lines: Lines, view: View) -> Option<u32> {
        if turns.is_empty() {
            return None;
        }
        let (mut line, mut found) = (lines.first, None::<u32>);
        let children = &self.strips[strip].children;
        let from = children.partition_point(|child| self.strips[*child].lines.last < line);
        for child in children.iter().skip(from).copied() {
            let inner = self.strips[child].lines;
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

    fn last_in(&self, strip: usize, turns: Range<u32>, lines: Lines, view: View) -> Option<u32> {
        if turns.is_empty() {
            return None;
        }
        let (mut line, mut found) = (lines.last, None::<u32>);
        let children = &self.strips[strip].children;
        let till = children.partition_point(|child| self.strips[*child].lines.first <= line);
        for child in children.iter().take(till).rev().copied() {
            let inner = self.strips[child].lines;
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

    /// The turns of an inner block that are meant, and the view within them.
    fn meant(&self, child: usize, outer: &Range<u32>, view: View) -> (Range<u32>, View) {
        let all = self.strips[child].turns.run(outer.clone());
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
        let turns = self.strips[strip].turns.count();
        (0..turns).map(move |turn| (strip > 0).then_some(Spot { strip, turn }))
    }

    /// All that the lines became, seen from a spot, without what came between: at most one more than `at_most` parts.
    pub fn parts(&self, lines: Lines, spot: Option<Spot>, at_most: usize) -> Vec<Lines> {
        let mut parts = Vec::new();
        self.parts_in((0, 0), lines, spot, &mut |part| {
            match parts.last_mut() {
                Some(Lines { last, .. }) if *last + 1 == part.first => *last = part.last,
                _ => parts.push(part),
            }
            parts.len() <= at_most
        });
        parts
    }

    /// The same within a turn of a block. False once `found` has said that it has enough.
    fn parts_in(
        &self,
        (strip, turn): (usize, u32),
        lines: Lines,
        spot: Option<Spot>,
        found: &mut impl FnMut(Lines) -> bool,
    ) -> bool {
        let mut line = lines.first;
        let own = |first: u32, last: u32, found: &mut dyn FnMut(Lines) -> bool| {
            first > last || {
                let place = self.position(strip, turn, first);
                found(Lines { first: place, last: place.saturating_add(last - first) })
            }
        };
        let children = &self.strips[strip].children;
        let from = children.partition_point(|child| self.strips[*child].lines.last < line);
        for child in children.iter().skip(from).copied() {
            let inner = &self.strips[child];
            let Some(part) = inner.lines.common(Lines { first: line, last: lines.last }) else { break };
            if !own(line, part.first - 1, found) {
                return false;
            }
            let is_enough = match self.own_turn(spot, child) {
                Some(turn) => !self.parts_in((child, turn), part, spot, found),
                // All turns of a whole block follow each other.
                None if part == inner.lines => {
                    let (first, lines) = (inner.turns.begins[turn as usize], inner.turns.lines_in(turn));
                    lines > 0 && !found(Lines { first, last: first.saturating_add(lines - 1) })
                }
                None => {
                    let mut turns = inner.turns.run(turn..turn + 1);
                    !turns.all(|turn| self.parts_in((child, turn), part, spot, found))
                }
            };
            if is_enough {
                return false;
            }
            line = inner.lines.last + 1;
            if line > lines.last {
                return true;
            }
        }
        own(line, lines.last, found)
    }

    /// Whether the lines are partly in a block around the spot, and partly not.
    pub fn crosses(&self, lines: Lines, spot: Option<Spot>) -> bool {
        let parent = |at: &usize| Some(self.strips[*at].parent);
        let around = std::iter::successors(spot.map(|spot| spot.strip), parent).take_while(|at| *at > 0);
        let mut blocks = around.map(|at| self.strips[at].lines);
        blocks.any(|block| block.meets(lines) && !block.holds(lines))
    }

    /// Whether the lines stay together for sure: no block is among them but those around the spot.
    pub fn is_plain(&self, lines: Lines, spot: Option<Spot>) -> bool {
        let mut strip = 0;
        loop {
            let children = &self.strips[strip].children;
            let at = children.partition_point(|child| self.strips[*child].lines.last < lines.first);
            let Some(child) = children.get(at).copied().filter(|it| self.strips[*it].lines.meets(lines))
            else {
                return true;
            };
            if !self.strips[child].lines.holds(lines) || self.own_turn(spot, child).is_none() {
                return false;
            }
            strip = child;
        }
    }
}
