//! Random sheets, random blocks, random references, against a model that writes every line of the result down.

use std::collections::BTreeSet;

use cell_references::{Area, Block, Cell, Lines, Meaning, Moves, Place, Range};
use proptest::prelude::*;

use crate::support::written;

/// The used part of the template.
const ROWS: Lines = Lines { first: 1, last: 14 };
const COLUMNS: Lines = Lines { first: 1, last: 8 };

/// A line of the result: which line of the template it is, and in which turns of which blocks.
type Label = (u32, Vec<(usize, u32)>);

/// The model: lines one after the other; at the begin of a block its turns, each the same way.
fn expand(
    sheet: &Sheet,
    lines: Lines,
    parent: Option<usize>,
    path: &[(usize, u32)],
    seen: &mut [usize],
) -> Vec<Label> {
    let (mut labels, mut line) = (Vec::new(), lines.first);
    while line <= lines.last {
        let begins = |id: &usize| sheet.lines(*id).first == line && sheet.blocks[*id].parent == parent;
        let Some(id) = sheet.current.iter().copied().find(begins) else {
            labels.push((line, path.to_vec()));
            line += 1;
            continue;
        };
        let count = sheet.blocks[id].counts[seen[id]];
        seen[id] += 1;
        for turn in 0..count {
            let path = [path, &[(id, turn)]].concat();
            labels.extend(expand(sheet, sheet.lines(id), Some(id), &path, seen));
        }
        line = sheet.lines(id).last + 1;
    }
    labels
}

/// Whether a line is meant from a place: of the blocks around both the same turn, but any turn of a block that is open, and of what is in it.
fn is_meant(path: &[(usize, u32)], place: &[(usize, u32)], open: Option<usize>) -> bool {
    for (there, here) in path.iter().zip(place) {
        if there.0 != here.0 || Some(there.0) == open {
            return true;
        }
        if there.1 != here.1 {
            return false;
        }
    }
    true
}

/// The new lines that became of the old ones.
fn meant(labels: &[Label], lines: Lines, place: &[(usize, u32)], open: Option<usize>) -> BTreeSet<u32> {
    let is_it =
        |label: &Label| (lines.first..=lines.last).contains(&label.0) && is_meant(&label.1, place, open);
    (1..).zip(labels).filter(|(_, label)| is_it(label)).map(|(line, _)| line).collect()
}

struct Sheet {
    blocks: Vec<Block>,
    /// Those that the model is expanding: one direction, one column.
    current: Vec<usize>,
}

impl Sheet {
    fn lines(&self, id: usize) -> Lines {
        match self.blocks[id].area {
            Area::Rows(lines) | Area::Columns(lines) => lines,
            Area::Cells(range) => range.rows,
        }
    }

    fn labels(&mut self, all: Lines, is_here: impl Fn(Area) -> bool) -> Vec<Label> {
        self.current = (0..self.blocks.len()).filter(|id| is_here(self.blocks[*id].area)).collect();
        expand(self, all, None, &[], &mut vec![0; self.blocks.len()])
    }

    /// The rows below each column of the template.
    fn rows(&mut self) -> Vec<Vec<Label>> {
        let rows = |column: u32| {
            self.labels(ROWS, |area| match area {
                Area::Rows(_) => true,
                Area::Columns(_) => false,
                Area::Cells(range) => (range.columns.first..=range.columns.last).contains(&column),
            })
        };
        (COLUMNS.first..=COLUMNS.last).map(rows).collect()
    }

    fn open(&self, place: &[(usize, u32)], line: u32, is_pinned: bool) -> Option<usize> {
        let holds = |id: &usize| (self.lines(*id).first..=self.lines(*id).last).contains(&line);
        place.iter().rev().map(|step| step.0).find(holds).filter(|_| is_pinned)
    }
}

struct Random(u64);

impl Random {
    /// From 0 to less than `bound` (xorshift, Marsaglia 2003).
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 >> 33).unwrap() % bound
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn lines(&mut self, within: Lines) -> Lines {
        let mut line = || within.first + self.below(within.last - within.first + 1);
        Lines::new(line(), line())
    }

    /// Blocks side by side, some with blocks in them.
    fn blocks(
        &mut self,
        blocks: &mut Vec<Block>,
        within: Lines,
        parent: Option<usize>,
        area: &dyn Fn(Lines) -> Area,
    ) {
        let depth = std::iter::successors(parent, |parent| blocks[*parent].parent).count();
        let mut line = within.first + self.below(3);
        while line <= within.last && depth < 3 {
            let lines = Lines { first: line, last: within.last.min(line + self.below(4)) };
            let turns = parent.map_or(1, |parent| blocks[parent].counts.iter().sum());
            let counts = (0..turns).map(|_| self.below(4)).collect();
            blocks.push(Block { area: area(lines), parent, counts });
            self.blocks(blocks, lines, Some(blocks.len() - 1), area);
            line = lines.last + 1 + self.below(3);
        }
    }

    /// Whole rows and columns; or whole rows, and below them cells side by side.
    fn sheet(&mut self) -> Sheet {
        let mut blocks = Vec::new();
        let has_cells = self.chance();
        let rows = if has_cells { Lines { first: 1, last: 5 } } else { ROWS };
        self.blocks(&mut blocks, rows, None, &Area::Rows);
        if has_cells {
            for (first, last) in [(1, 2), (4, 4), (5, 7)] {
                let columns = Lines { first, last };
                let rows = Lines { first: 6, last: ROWS.last };
                self.blocks(&mut blocks, rows, None, &|rows| Area::Cells(Range { rows, columns }));
            }
        }
        self.blocks(&mut blocks, COLUMNS, None, &Area::Columns);
        Sheet { blocks, current: Vec::new() }
    }
}

fn path_of<'a>(random: &mut Random, labels: &'a [Label]) -> &'a [(usize, u32)] {
    let at = random.below(u32::try_from(labels.len().max(1)).unwrap());
    labels.get(at as usize).map_or(&[], |label| &label.1)
}

fn enter(moves: &Moves, place: Place, path: &[(usize, u32)]) -> Place {
    path.iter()
        .fold(place, |place, (block, turn)| moves.turn(place, *block, *turn).expect("the turn is there"))
}

/// A corner with its `$`.
fn corner(row: (u32, bool), column: (u32, bool)) -> String {
    let cell = Cell { row: row.0, column: column.0 }.to_string();
    let split = cell.find(|sign: char| sign.is_ascii_digit()).unwrap();
    let dollar = |is_pinned: bool| if is_pinned { "$" } else { "" };
    format!("{}{}{}{}", dollar(column.1), &cell[..split], dollar(row.1), &cell[split..])
}

fn check(seed: u64) {
    let mut random = Random(seed | 1);
    let mut sheet = random.sheet();
    let moves = Moves::new(&sheet.blocks, Cell { row: ROWS.last, column: COLUMNS.last }).unwrap();
    let rows = sheet.rows();
    let columns = sheet.labels(COLUMNS, |area| matches!(area, Area::Columns(_)));
    for _ in 0..8 {
        let band = random.below(COLUMNS.last) as usize;
        let row_path = path_of(&mut random, &rows[band]).to_vec();
        let column_path = path_of(&mut random, &columns).to_vec();
        let place = enter(&moves, enter(&moves, Place::default(), &row_path), &column_path);

        let (old_rows, old_columns) = (random.lines(ROWS), random.lines(COLUMNS));
        // Where cells move, each column is asked for itself, and a `$` before one would make a difference that nobody needs.
        let has_cells = sheet.blocks.iter().any(|block| matches!(block.area, Area::Cells(_)));
        let pins =
            [random.chance(), random.chance(), random.chance() && !has_cells, random.chance() && !has_cells];
        let row_open =
            [sheet.open(&row_path, old_rows.first, pins[0]), sheet.open(&row_path, old_rows.last, pins[1])];
        let column_open = [
            sheet.open(&column_path, old_columns.first, pins[2]),
            sheet.open(&column_path, old_columns.last, pins[3]),
        ];
        // What becomes of each column's part; together the range around all of them.
        let mut expected = None::<Range>;
        for column in old_columns.first..=old_columns.last {
            let part = if has_cells { Lines::new(column, column) } else { old_columns };
            let labels = &rows[column as usize - 1];
            let ends = (
                meant(labels, old_rows, &row_path, row_open[0]).first().copied(),
                meant(labels, old_rows, &row_path, row_open[1]).last().copied(),
                meant(&columns, part, &column_path, column_open[0]).first().copied(),
                meant(&columns, part, &column_path, column_open[1]).last().copied(),
            );
            let (Some(first), Some(last), Some(left), Some(right)) = ends else { continue };
            let part = Range { rows: Lines { first, last }, columns: Lines { first: left, last: right } };
            let around =
                |one: Lines, other: Lines| Lines::new(one.first.min(other.first), one.last.max(other.last));
            expected = Some(expected.map_or(part, |it| Range {
                rows: around(it.rows, part.rows),
                columns: around(it.columns, part.columns),
            }));
        }
        let text = |range: Range| {
            let first = corner((range.rows.first, pins[0]), (range.columns.first, pins[2]));
            let last = corner((range.rows.last, pins[1]), (range.columns.last, pins[3]));
            format!("SUM({first}:{last})")
        };
        let formula = text(Range { rows: old_rows, columns: old_columns });
        let wanted = expected.map_or("SUM(#REF!)".to_owned(), text);
        let found = written(&moves, place, &formula, Meaning::Value).0;
        assert_eq!(
            found, wanted,
            "seed {seed}: {formula} at {row_path:?} {column_path:?}, {:#?}",
            sheet.blocks
        );
        check_areas(&moves, Range { rows: old_rows, columns: old_columns }, (&rows, &columns));
    }
}

/// A list of areas covers what became of its cells, each once, and nothing else.
fn check_areas(moves: &Moves, range: Range, (rows, columns): (&[Vec<Label>], &[Label])) {
    let mut expected = BTreeSet::new();
    for column in range.columns.first..=range.columns.last {
        for new_column in meant(columns, Lines::new(column, column), &[], None) {
            let rows = meant(&rows[column as usize - 1], range.rows, &[], None);
            expected.extend(rows.into_iter().map(|row| (row, new_column)));
        }
    }
    let mut found = BTreeSet::new();
    for area in moves.areas(&[range], usize::MAX) {
        for row in area.rows.first..=area.rows.last {
            for column in area.columns.first..=area.columns.last {
                assert!(found.insert((row, column)), "{range} covers a cell twice");
            }
        }
    }
    assert_eq!(found, expected, "areas of {range}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn references_cover_what_the_model_says(seed in any::<u64>()) {
        check(seed);
    }
}
