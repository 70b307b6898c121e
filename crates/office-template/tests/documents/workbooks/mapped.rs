//! Any workbook with any list of rows: every cell and every reference is where a model of a few lines says.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::book::{Sheet, book};
use super::read::{Address, Book, address, read_address};
use crate::support::try_fill;

/// Rows that are repeated.
#[derive(Debug, Clone, Copy)]
struct List {
    first: u32,
    last: u32,
    times: u32,
}

impl List {
    /// The first and the last row that a row has become; in a turn of the list it is that turn's.
    fn rows(self, row: u32, turn: Option<u32>) -> (u32, u32) {
        let grown = |turns: u32| row + turns * (self.last + 1 - self.first);
        match (row, turn) {
            (row, _) if row < self.first => (row, row),
            (row, _) if row > self.last => (grown(self.times - 1), grown(self.times - 1)),
            (_, Some(turn)) => (grown(turn), grown(turn)),
            (_, None) => (row, grown(self.times - 1)),
        }
    }

    /// Where a cell is, in each turn that it has.
    fn turns(self, row: u32) -> Vec<(Option<u32>, u32)> {
        if (self.first..=self.last).contains(&row) {
            (0..self.times).map(|turn| (Some(turn), self.rows(row, Some(turn)).0)).collect()
        } else {
            vec![(None, self.rows(row, None).0)]
        }
    }

    /// Where the cell is that a formula means by the one directly above it, outside of the list: in the turn before, its last row if
    /// something stands in the formula's column there. `None` where that is not what it means.
    fn before(
        self,
        place: Address,
        above: Address,
        (turn, is_filled): (Option<u32>, bool),
    ) -> Option<String> {
        let turn = turn?.checked_sub(1)?;
        let is_it = place.0 == self.first && above == (place.0 - 1, place.1);
        let row = if is_filled { self.last } else { self.first };
        is_it.then(|| address((self.rows(row, Some(turn)).0, place.1)))
    }

    fn cell(self, (row, column): Address, turn: Option<u32>) -> String {
        address((self.rows(row, turn).1, column))
    }

    fn range(self, (from, to): (Address, Address), turn: Option<u32>) -> String {
        let (from, to) = ((self.rows(from.0, turn).0, from.1), (self.rows(to.0, turn).1, to.1));
        format!("{}:{}", address(from), address(to))
    }
}

/// A formula's place and what it means: one cell, or a range.
type Formula = (Address, Address, Option<Address>);

/// Cells between the columns of the list's tags.
fn cell() -> impl Strategy<Value = Address> {
    (1..12_u32, 2..7_u32)
}

fn range() -> impl Strategy<Value = (Address, Address)> {
    (cell(), cell()).prop_map(|(one, other)| {
        ((one.0.min(other.0), one.1.min(other.1)), (one.0.max(other.0), one.1.max(other.1)))
    })
}

fn formulas() -> impl Strategy<Value = Vec<Formula>> {
    let one = (cell(), range(), any::<bool>())
        .prop_map(|(place, (from, to), is_range)| (place, from, is_range.then_some(to)));
    prop::collection::vec(one, 1..12)
}

fn lists() -> impl Strategy<Value = List> {
    (2..8_u32, 0..3_u32, 1..5_u32).prop_map(|(first, more, times)| List { first, last: first + more, times })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_reference_is_where_the_model_says(
        list in lists(), formulas in formulas(), named in range(), watched in range(), merged in range()
    ) {
        check(list, &formulas, named, watched, merged);
    }
}

fn shown((from, to): (Address, Address)) -> String {
    format!("{}:{}", address(from), address(to))
}

fn check(
    list: List,
    formulas: &[Formula],
    named: (Address, Address),
    watched: (Address, Address),
    merged: (Address, Address),
) {
    let mut sheet = Sheet::new("S");
    sheet.set(&format!("A{}", list.first), "{#xs}");
    sheet.set(&format!("H{}", list.last), "{/xs}");
    let mut places = BTreeSet::new();
    // The later of two formulas in one cell is none.
    let formulas: Vec<&Formula> = formulas.iter().filter(|(place, ..)| places.insert(*place)).collect();
    for (place, from, to) in &formulas {
        let meant = to
            .map_or_else(|| format!("={}+0", address(*from)), |to| format!("=ROWS({})", shown((*from, to))));
        sheet.set(&address(*place), meant);
    }
    // Cells that are merged are all of the list, or none of them.
    let is_in = |row: u32| (list.first..=list.last).contains(&row);
    let is_whole = is_in(merged.0.0) == is_in(merged.1.0)
        && (is_in(merged.0.0) || !(merged.0.0..=merged.1.0).any(is_in));
    let is_merged = is_whole && merged.0 != merged.1;
    if is_merged {
        sheet.behind = format!("<mergeCells count=\"1\"><mergeCell ref=\"{}\"/></mergeCells>", shown(merged));
    }
    let watching = format!(
        "<conditionalFormatting sqref=\"{}\"><cfRule type=\"expression\" priority=\"1\"><formula>TRUE</formula></cfRule>\
         </conditionalFormatting><dataValidations count=\"1\"><dataValidation type=\"whole\" sqref=\"{}\"><formula1>1</formula1>\
         <formula2>2</formula2></dataValidation></dataValidations>",
        shown(watched),
        shown(watched)
    );
    sheet.behind.push_str(&watching);
    let absolute = |(row, column): Address| {
        let text = address((row, column));
        let digits = text.find(|letter: char| letter.is_ascii_digit()).expect("a row");
        format!("${}${}", &text[..digits], &text[digits..])
    };
    let name = format!("S!{}:{}", absolute(named.0), absolute(named.1));
    let data = format!("{{\"xs\":[{}]}}", vec!["1"; list.times as usize].join(","));
    let filled = try_fill(book(&[sheet], &[("Named", &name)]), &data, "{}").expect("it is filled").file;
    let made = Book::read(&filled);

    let expected = meant(list, &formulas, &places);
    let written = made.sheet("S").expect("it is there").iter();
    let written: BTreeSet<_> =
        written.filter_map(|(place, cell)| Some((address(*place), cell.formula.clone()?))).collect();
    assert_eq!(written, expected);

    let moved = list.range(named, None);
    let (from, to) = moved.split_once(':').expect("a range");
    let name = format!("S!{}:{}", absolute(read_address(from)), absolute(read_address(to)));
    assert_eq!(lines(&made, " definedName "), [format!("Named={name}")]);

    let mut expected: Vec<String> = Vec::new();
    if is_merged {
        let copies = if is_in(merged.0.0) { list.times } else { 1 };
        expected.extend((0..copies).map(|turn| format!("ref={}", list.range(merged, Some(turn)))));
    }
    expected.sort();
    assert_eq!(lines(&made, " mergeCell "), expected);

    let mut cells = BTreeSet::new();
    for row in watched.0.0..=watched.1.0 {
        for (_, row) in list.turns(row) {
            cells.extend((watched.0.1..=watched.1.1).map(|column| (row, column)));
        }
    }
    for kind in [" conditionalFormatting ", " dataValidation "] {
        let areas = lines(&made, kind).join(" ").replace("sqref=", "");
        assert_eq!(areas.split_whitespace().flat_map(expanded).collect::<BTreeSet<_>>(), cells, "{kind}");
    }
}

/// The formulas of the result, by their cells. `places` are those that have one in the template.
fn meant(list: List, formulas: &[&Formula], places: &BTreeSet<Address>) -> BTreeSet<(String, String)> {
    let mut expected = BTreeSet::new();
    for (place, from, to) in formulas {
        for (turn, row) in list.turns(place.0) {
            let is_filled = places.contains(&(list.last, place.1));
            let before = list.before(*place, *from, (turn, is_filled));
            let meant = to.map_or_else(
                || format!("{}+0", before.clone().unwrap_or_else(|| list.cell(*from, turn))),
                |to| match before.as_ref().filter(|_| to == *from) {
                    Some(before) => format!("ROWS({before}:{before})"),
                    None => format!("ROWS({})", list.range((*from, to), turn)),
                },
            );
            expected.insert((address((row, place.1)), meant));
        }
    }
    expected
}

/// What elements of a kind refer to.
fn lines(book: &Book, kind: &str) -> Vec<String> {
    let found = book.references.iter().filter_map(|line| Some(line.split_once(kind)?.1.to_owned()));
    found.collect()
}

/// The cells of a range.
fn expanded(range: &str) -> Vec<Address> {
    let (from, to) = range.split_once(':').unwrap_or((range, range));
    let (from, to) = (read_address(from), read_address(to));
    (from.0..=to.0).flat_map(|row| (from.1..=to.1).map(move |column| (row, column))).collect()
}
