//! Tables (ECMA-376 part 1, 18.5.1.2): they grow with their rows and columns.

use std::collections::HashMap;

use cell_references::{Cell, LAST_COLUMN, LAST_ROW, Lines, Meaning, Place, Range};

use crate::book::{At, Book, Sheet};
use crate::error::Error;
use crate::filter;
use crate::letters::{decoded, encoded};
use crate::report::Report;
use crate::xml::{Document, Edits, rewritten};

/// A table's part, rewritten.
#[derive(Debug)]
pub struct Table {
    /// The part.
    pub xml: Vec<u8>,
    /// What the cells of its heading must say, in its columns' order. Hazard: Excel takes a file for damaged if a column has
    /// another name than its heading.
    pub headings: Vec<(Cell, String)>,
}

/// The number and the headings of a table in the result; its name is in
/// [`SheetCopy::renamed`](cell_references::SheetCopy::renamed).
#[derive(Clone, Copy)]
pub struct Called<'a> {
    /// Its new number in the workbook, if it must get one, as a copy does.
    pub id: Option<u32>,
    /// What a cell of its heading shows in the result; None where that is as in the template.
    pub heading: &'a dyn Fn(Cell) -> Option<String>,
}

/// Rewrites a table. None if its heading is gone: the rest is no table.
///
/// # Errors
/// [`Error::Xml`] and [`Error::Missing`] for what is no table, [`Error::Formula`].
pub fn table(
    xml: &[u8],
    book: &Book<'_>,
    at: At,
    called: Called<'_>,
    report: &mut Report,
) -> Result<Option<Table>, Error> {
    let document = Document::read(xml, book.reading())?;
    let sheet = book.sheet(at)?;
    let range = document.value(0, "ref").and_then(|text| Range::parse(&text)).ok_or(Error::Missing("ref"))?;
    let name = document.value(0, "displayName").unwrap_or_default();
    let lines = |name: &str, usual: u32| document.number(0, name).unwrap_or(usual).min(1);
    let layout = Layout { range, header: lines("headerRowCount", 1), totals: lines("totalsRowCount", 0) };
    let Some(now) = layout.now(&sheet) else {
        report.dropped.add(1, || sheet.told(&format!("table '{name}'")));
        return Ok(None);
    };
    let mut writer = Writer { document: &document, sheet, layout, now, report, edits: Edits::default() };
    writer.head(called.id, &name);
    let mut headings = Vec::new();
    for index in 1..document.len() {
        match document.name(index) {
            "autoFilter" => writer.filter(index),
            "sortState" | "sortCondition" => writer.sort(index),
            "filterColumn" => match filter::column(&document, index, &sheet) {
                Some(number) => writer.edits.set(&document, index, "colId", &number),
                None => writer.edits.remove(&document, index),
            },
            "tableColumns" => headings = writer.columns(index, called.heading)?,
            _ => {}
        }
    }
    let xml = writer.edits.into_part(&document);
    Ok(Some(Table { xml, headings }))
}

/// The rows of a table in the template.
#[derive(Clone, Copy)]
struct Layout {
    range: Range,
    header: u32,
    totals: u32,
}

/// The same in the result.
#[derive(Clone, Copy)]
struct Now {
    range: Range,
    /// Whether no row of data is left. Excel knows no table without one, so the row of the totals, or the one below the heading,
    /// is taken for an empty row of data.
    is_empty: bool,
}

impl Layout {
    fn now(self, sheet: &Sheet<'_>) -> Option<Now> {
        let rows = self.range.rows;
        let find = |rows: Lines| sheet.moves.range(Range { rows, ..self.range }, Place::default());
        let mut range = find(rows)?;
        if self.header > 0 {
            find(Lines::new(rows.first, rows.first))?;
        }
        let data = self.data()?;
        let is_empty = find(data).is_none();
        if is_empty && self.totals == 0 {
            range.rows.last = (range.rows.last + 1).min(LAST_ROW);
        }
        Some(Now { range, is_empty })
    }

    fn data(self) -> Option<Lines> {
        let Lines { first, last } = self.range.rows;
        (first + self.header + self.totals <= last)
            .then(|| Lines::new(first + self.header, last - self.totals))
    }
}

/// A column of the template that a column of the result is a copy of.
struct Owner {
    child: usize,
    column: u32,
    copy: usize,
}

struct Writer<'a, 'r> {
    document: &'a Document<'a>,
    sheet: Sheet<'a>,
    layout: Layout,
    now: Now,
    report: &'r mut Report,
    edits: Edits,
}

impl Writer<'_, '_> {
    fn head(&mut self, id: Option<u32>, name: &str) {
        let (document, sheet, edits) = (self.document, self.sheet, &mut self.edits);
        edits.set(document, 0, "ref", &self.now.range.to_string());
        if let Some(id) = id {
            edits.set(document, 0, "id", &id.to_string());
        }
        let mut renamed = sheet.copy.renamed.iter();
        if let Some((_, new)) = renamed.find(|(old, _)| old.to_lowercase() == name.to_lowercase()) {
            edits.set(document, 0, "name", new);
            edits.set(document, 0, "displayName", new);
        }
        if sheet.at.copy > 0 {
            edits.unset_foreign(document, 0, "uid");
        }
        if self.now.is_empty {
            self.report.dropped.add(1, || sheet.told(&format!("all rows of table '{name}'")));
            if self.layout.totals > 0 {
                edits.unset(document, 0, "totalsRowCount");
                edits.set(document, 0, "totalsRowShown", "0");
            }
        }
    }

    /// The filter has all rows but that of the totals.
    fn filter(&mut self, index: usize) {
        let mut range = self.now.range;
        if !self.now.is_empty {
            range.rows.last -= self.layout.totals;
        }
        self.edits.set(self.document, index, "ref", &range.to_string());
    }

    fn sort(&mut self, index: usize) {
        let range = self.document.value(index, "ref").and_then(|text| Range::parse(&text));
        let now = range.map(|range| self.sheet.moves.range(range, Place::default()));
        match now {
            Some(Some(now)) => self.edits.set(self.document, index, "ref", &now.to_string()),
            Some(None) => self.edits.remove(self.document, index),
            None => {}
        }
    }

    /// Writes a column for each that a column became.
    fn columns(
        &mut self,
        index: usize,
        heading: &dyn Fn(Cell) -> Option<String>,
    ) -> Result<Vec<(Cell, String)>, Error> {
        let (document, all) = (self.document, self.now.range.columns);
        let children: Vec<usize> = document.children(index).collect();
        let numbers = children.iter().filter_map(|&child| document.number(child, "id"));
        let mut next = numbers.max().unwrap_or_default();
        // Which column of the template each is, and which of its copies.
        let mut owners: HashMap<u32, Owner> = HashMap::new();
        for (number, &child) in (0..).zip(&children) {
            let column = self.layout.range.columns.first.saturating_add(number).min(LAST_COLUMN);
            let range = Range { rows: Lines::ALL_ROWS, columns: Lines::new(column, column) };
            let parts = self.sheet.moves.parts(range, LAST_COLUMN as usize).unwrap_or_default();
            let lines = parts.into_iter().flat_map(|part| part.columns.first..=part.columns.last);
            owners.extend(lines.enumerate().map(|(copy, line)| (line, Owner { child, column, copy })));
        }
        let (mut text, mut headings, mut names) = (String::new(), Vec::new(), HashMap::new());
        let mut before = children.first().copied().ok_or(Error::Missing("columns"))?;
        for column in all.first..=all.last {
            // A column that came between those of the table belongs to it, too: it has a name and no formulas.
            let owner = owners.get(&column);
            let (child, copy) = owner.map_or((before, 1), |owner| (owner.child, owner.copy));
            before = child;
            let cell = Cell { row: self.now.range.rows.first, column };
            let own = document.value(child, "name").unwrap_or_default();
            let shown = (self.layout.header > 0).then(|| heading(cell)).flatten();
            let name = unique(&shown.unwrap_or_else(|| decoded(&own)), &mut names);
            let mut edits = Edits::default();
            edits.set(document, child, "name", &encoded(&name));
            if copy > 0 {
                next += 1;
                edits.set(document, child, "id", &next.to_string());
                edits.unset_foreign(document, child, "uid");
            }
            for at in document.within(child) {
                let is_total = match document.name(at) {
                    "calculatedColumnFormula" => false,
                    "totalsRowFormula" => true,
                    _ => continue,
                };
                // Without rows the formula of a row names cells that are gone.
                match owner.filter(|_| !self.now.is_empty) {
                    Some(owner) => self.formula(at, owner, is_total, &mut edits)?,
                    None => edits.remove(document, at),
                }
            }
            let piece = rewritten(document, child, |all| *all = edits);
            self.sheet.book.take(&piece)?;
            text.push_str(&piece);
            headings.push((cell, name));
        }
        self.edits.set(document, index, "count", &all.count().to_string());
        self.edits.replace(document.elements[index].inner.clone(), text);
        if self.layout.header == 0 {
            headings.clear();
        }
        Ok(headings)
    }

    /// Writes a column's formula as the first row of data has it, that of the totals as their row has it.
    fn formula(
        &mut self,
        index: usize,
        owner: &Owner,
        is_total: bool,
        edits: &mut Edits,
    ) -> Result<(), Error> {
        let document = self.document;
        let rows = self.layout.range.rows;
        let row = if is_total { rows.last } else { self.layout.data().map_or(rows.last, |data| data.first) };
        let cell = Cell { row, column: owner.column };
        let place =
            self.sheet.moves.turns(cell.into()).nth(owner.copy).map(|(place, _)| place).unwrap_or_default();
        let text = document.text(index);
        let now = self.sheet.formula(&text, (Meaning::Value, place), self.report, "a table's column")?;
        if now != text {
            edits.set_text(document, index, &now);
        }
        Ok(())
    }
}

/// A name that no column has yet, as Excel makes it: with a number behind. `names` are those that are taken, and the last number
/// of each.
fn unique(name: &str, names: &mut HashMap<String, u32>) -> String {
    // An empty heading becomes Column1; the name without a number is not used.
    let (name, known) = if name.is_empty() { ("Column", Some(0)) } else { (name, None) };
    let key = name.to_lowercase();
    let Some(mut number) = names.get(&key).copied().or(known) else {
        names.insert(key, 1);
        return name.to_owned();
    };
    loop {
        number += 1;
        let candidate = format!("{name}{number}");
        if !names.contains_key(&candidate.to_lowercase()) {
            names.insert(key, number);
            names.insert(candidate.to_lowercase(), 1);
            return candidate;
        }
    }
}
