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

/// Whether a line is meant from a place: of the blocks around both the same turn, but any turn of a block that is open, and of
/// what is in it.
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
    let is_it = |label: &Label| lines.has(label.0) && is_meant(&label.1, place, open);
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
            Area::Cells(range) | Area::Right(range) => range.rows,
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
                Area::Cells(range) | Area::Right(range) => range.columns.has(column),
            })
        };
        (COLUMNS.first..=COLUMNS.last).map(rows).collect()
    }

    fn open(&self, place: &[(usize, u32)], line: u32, is_pinned: bool) -> Option<usize> {
        let holds = |id: &usize| self.lines(*id).has(line);
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

/// A sheet with what the model says of it.
struct World {
    sheet: Sheet,
    moves: Moves,
    /// The rows below each column of the template.
    rows: Vec<Vec<Label>>,
    columns: Vec<Label>,
}

/// A reference to some lines, with or without `$` at its first and its last one, and the place it is in.
struct Ends {
    lines: Lines,
    pins: [bool; 2],
    path: Vec<(usize, u32)>,
    open: [Option<usize>; 2],
}

impl Ends {
    fn new(sheet: &Sheet, path: &[(usize, u32)], lines: Lines, pins: [bool; 2]) -> Self {
        let open = [sheet.open(path, lines.first, pins[0]), sheet.open(path, lines.last, pins[1])];
        Self { lines, pins, path: path.to_vec(), open }
    }

    /// The first and the last line of what became of a part of them.
    fn found(&self, labels: &[Label], part: Lines) -> Option<Lines> {
        let first = *meant(labels, part, &self.path, self.open[0]).first()?;
        Some(Lines { first, last: *meant(labels, part, &self.path, self.open[1]).last()? })
    }
}

impl World {
    fn new(random: &mut Random) -> Self {
        let mut sheet = random.sheet();
        let moves = Moves::new(&sheet.blocks, Cell { row: ROWS.last, column: COLUMNS.last }).unwrap();
        let rows = sheet.rows();
        let columns = sheet.labels(COLUMNS, |area| matches!(area, Area::Columns(_)));
        Self { sheet, moves, rows, columns }
    }

    fn has_cells(&self) -> bool {
        self.sheet.blocks.iter().any(|block| matches!(block.area, Area::Cells(_)))
    }

    /// What becomes of each column's part; together the range around all of them.
    fn expected(&self, rows: &Ends, columns: &Ends) -> Option<Range> {
        let around =
            |one: Lines, other: Lines| Lines::new(one.first.min(other.first), one.last.max(other.last));
        let part = |column: u32| {
            let part = if self.has_cells() { Lines::new(column, column) } else { columns.lines };
            Some(Range {
                rows: rows.found(&self.rows[column as usize - 1], rows.lines)?,
                columns: columns.found(&self.columns, part)?,
            })
        };
        (columns.lines.first..=columns.lines.last).filter_map(part).reduce(|one, other| Range {
            rows: around(one.rows, other.rows),
            columns: around(one.columns, other.columns),
        })
    }

    fn check_range(&self, place: Place, rows: &Ends, columns: &Ends) {
        let text = |range: Range| {
            let first = corner((range.rows.first, rows.pins[0]), (range.columns.first, columns.pins[0]));
            let last = corner((range.rows.last, rows.pins[1]), (range.columns.last, columns.pins[1]));
            format!("ROWS({first}:{last})")
        };
        let formula = text(Range { rows: rows.lines, columns: columns.lines });
        let wanted = self.expected(rows, columns).map_or("ROWS(#REF!)".to_owned(), text);
        let found = written(&self.moves, place, &formula, Meaning::Value).0;
        assert_eq!(
            found, wanted,
            "{formula} at {:?} {:?}, {:#?}",
            rows.path, columns.path, self.sheet.blocks
        );
    }

    /// A sum covers all cells that are meant, each once, and no other, if these are not too many ranges, and it does
    /// not lead out of an own block.
    fn check_sum(&self, place: Place, rows: &Ends, columns: &Ends) {
        let formula = format!("SUM({})", Range { rows: rows.lines, columns: columns.lines });
        let (out, told) = written(&self.moves, place, &formula, Meaning::Value);
        let mut expected = BTreeSet::new();
        for column in columns.lines.first..=columns.lines.last {
            let labels = &self.rows[column as usize - 1];
            let rows = meant(labels, rows.lines, &rows.path, None);
            for column in meant(&self.columns, Lines::new(column, column), &columns.path, None) {
                expected.extend(rows.iter().map(|row| (*row, column)));
            }
        }
        let crosses = |ends: &Ends| {
            ends.path.iter().map(|step| self.sheet.lines(step.0)).any(|block| {
                block.meets(ends.lines) && !(block.has(ends.lines.first) && block.has(ends.lines.last))
            })
        };
        if told.widened > 0 || crosses(rows) || crosses(columns) {
            return;
        }
        let list = out.strip_prefix("SUM(").and_then(|rest| rest.strip_suffix(')')).unwrap();
        let ranges: Vec<_> = list.split(',').filter_map(Range::parse).collect();
        assert_eq!(ranges.is_empty(), out == "SUM(#REF!)", "{out}");
        assert_eq!(cells(&ranges), expected, "{formula} became {out}, {:#?}", self.sheet.blocks);
    }

    /// One cell: where a function takes a range all that it became; elsewhere the last, or with a `$` the first in the own block.
    fn check_cell(&self, place: Place, rows: &Ends, columns: &Ends) {
        let has_column = |id: &usize| match self.sheet.blocks[*id].area {
            Area::Rows(_) | Area::Columns(_) => true,
            Area::Cells(range) | Area::Right(range) => {
                range.columns.first <= columns.lines.first && columns.lines.last <= range.columns.last
            }
        };
        let pick = |lines: Lines, open: Option<usize>| if open.is_some() { lines.first } else { lines.last };
        let cell = |row: u32, column: u32| corner((row, rows.pins[0]), (column, columns.pins[0]));
        let [one, all] = match self.expected(rows, columns) {
            None => ["#REF!".to_owned(), "ROWS(#REF!)".to_owned()],
            Some(Range { rows: found, columns: across }) => {
                let first = cell(found.first, across.first);
                let last = cell(found.last, across.last);
                let one = cell(pick(found, rows.open[0].filter(has_column)), pick(across, columns.open[0]));
                [one, if first == last { format!("ROWS({first})") } else { format!("ROWS({first}:{last})") }]
            }
        };
        let old = cell(rows.lines.first, columns.lines.first);
        let found = |formula: &str| written(&self.moves, place, formula, Meaning::Value).0;
        assert_eq!(found(&old), one, "{old} at {:?} {:?}, {:#?}", rows.path, columns.path, self.sheet.blocks);
        assert_eq!(found(&format!("ROWS({old})")), all, "{old}, {:#?}", self.sheet.blocks);
    }
}

fn check(seed: u64) {
    let mut random = Random(seed | 1);
    let world = World::new(&mut random);
    for _ in 0..8 {
        let band = random.below(COLUMNS.last) as usize;
        let row_path = path_of(&mut random, &world.rows[band]);
        let column_path = path_of(&mut random, &world.columns);
        let place = enter(&world.moves, enter(&world.moves, Place::default(), row_path), column_path);

        let (rows, columns) = (random.lines(ROWS), random.lines(COLUMNS));
        // Where cells move, each column is asked for itself, and a `$` before one would make a difference that nobody needs.
        let mut pin = |may_be: bool| random.chance() && may_be;
        let (row_pins, column_pins) =
            ([pin(true), pin(true)], [pin(!world.has_cells()), pin(!world.has_cells())]);
        let ends = |path, lines, pins| Ends::new(&world.sheet, path, lines, pins);
        world.check_range(place, &ends(row_path, rows, row_pins), &ends(column_path, columns, column_pins));
        world.check_sum(place, &ends(row_path, rows, [false; 2]), &ends(column_path, columns, [false; 2]));
        let first = |lines: Lines| Lines::new(lines.first, lines.first);
        world.check_cell(
            place,
            &ends(row_path, first(rows), [row_pins[0]; 2]),
            &ends(column_path, first(columns), [column_pins[0]; 2]),
        );
        check_areas(&world.moves, Range { rows, columns }, (&world.rows, &world.columns));
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
    assert_eq!(cells(&moves.areas(&[range], usize::MAX)), expected, "areas of {range}");
}

/// The cells of ranges that do not overlap.
fn cells(ranges: &[Range]) -> BTreeSet<(u32, u32)> {
    let mut cells = BTreeSet::new();
    for range in ranges {
        for row in range.rows.first..=range.rows.last {
            for column in range.columns.first..=range.columns.last {
                assert!(cells.insert((row, column)), "{ranges:?} cover a cell twice");
            }
        }
    }
    cells
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn references_cover_what_the_model_says(seed in any::<u64>()) {
        check(seed);
    }
}
