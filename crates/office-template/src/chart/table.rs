//! A chart's data as the sheet has them: columns of cells under their headings.

use std::collections::BTreeSet;

use super::Kind;
use super::data::{Chart, Name, Series, Value};
use crate::error::quoted;

/// Most cells of a chart's sheet; each is written twice, to the chart and to its workbook.
const CELLS: usize = 250_000;

/// Most series of a chart, as in Excel.
const SERIES: usize = 255;

/// The columns; the first has the categories or the X values.
pub(super) struct Table {
    pub kind: Kind,
    pub columns: Vec<Column>,
    /// How many rows are under the headings.
    pub rows: usize,
    /// In which columns the series are.
    pub series: Vec<Places>,
}

pub(super) struct Column {
    /// Empty where the sheet's own heading is kept.
    pub heading: String,
    pub cells: Vec<Cell>,
    /// How Excel shows its numbers.
    pub format: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Empty,
    Number(f64),
    Text(String),
}

/// The columns of a series.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub across: usize,
    pub along: usize,
    pub size: Option<usize>,
}

impl Column {
    fn of_numbers(heading: &str, numbers: impl Iterator<Item = Option<f64>>) -> Self {
        let cells = numbers.map(|number| number.map_or(Cell::Empty, Cell::Number)).collect();
        Self { heading: heading.to_owned(), cells, format: None }
    }

    /// Whether it has numbers and no text.
    pub(super) fn is_of_numbers(&self) -> bool {
        let has_text = self.cells.iter().any(|cell| matches!(cell, Cell::Text(_)));
        !has_text && self.cells.iter().any(|cell| matches!(cell, Cell::Number(_)))
    }
}

impl Table {
    /// The table of a chart of this kind; an error where the data do not fit it or pass a limit.
    pub(super) fn new(chart: &Chart, kind: Kind) -> Result<Self, String> {
        if chart.series.len() > SERIES {
            return Err(format!(
                "a chart has at most {SERIES} series, and not {}; give it fewer",
                chart.series.len()
            ));
        }
        let mut table = match kind {
            Kind::Categories => over_categories(chart)?,
            Kind::Points | Kind::Bubbles => over_points(chart, kind)?,
        };
        table.rows = table.columns.iter().map(|column| column.cells.len()).max().unwrap_or_default();
        if table.rows.saturating_mul(table.columns.len()) > CELLS {
            return Err(format!(
                "a chart has at most {CELLS} cells in its sheet; give it fewer values or series"
            ));
        }
        table.name_columns();
        Ok(table)
    }

    /// Makes the headings unique: Excel calls a table with two equal ones damaged.
    fn name_columns(&mut self) {
        let mut known = BTreeSet::new();
        for (index, column) in self.columns.iter_mut().enumerate().skip(1) {
            let heading = column.heading.replace(['\n', '\r', '\t'], " ");
            let heading = if heading.trim().is_empty() { format!("Series {index}") } else { heading };
            let mut name = heading.clone();
            let mut number = 1;
            while !known.insert(name.to_lowercase()) {
                number += 1;
                name = format!("{heading} {number}");
            }
            column.heading = name;
        }
    }
}

fn over_categories(chart: &Chart) -> Result<Table, String> {
    let Some(names) = &chart.categories else {
        let message =
            "the chart has no categories; give them as \"categories\": { \"names\": [\"Q1\", \"Q2\"] }";
        return Err(message.to_owned());
    };
    let is_text = names.iter().flatten().any(|name| matches!(name, Name::Text(_)));
    let cell = |name: &Option<Name>| match name {
        None => Cell::Empty,
        Some(Name::Number(number)) if is_text => Cell::Text(sheet_number(*number)),
        Some(Name::Number(number)) => Cell::Number(*number),
        Some(Name::Text(text)) => Cell::Text(text.clone()),
    };
    let cells = names.iter().map(cell).collect();
    let mut columns = vec![Column { heading: String::new(), cells, format: chart.format.clone() }];
    let mut places = Vec::new();
    for series in &chart.series {
        if series.values.len() > names.len() {
            let (name, values, names) = (series.shown(), series.values.len(), names.len());
            return Err(format!(
                "the series {name} has {values} values for {names} categories; give each value a category"
            ));
        }
        let mut numbers = Vec::with_capacity(series.values.len());
        for value in &series.values {
            numbers.push(match value {
                None => None,
                Some(Value::Number(number)) => Some(*number),
                Some(Value::Point(..)) => {
                    let name = series.shown();
                    return Err(format!("a value of the series {name} is an object; a chart of this kind takes numbers, one for each category"));
                }
            });
        }
        places.push(Places { across: 0, along: columns.len(), size: None });
        columns.push(Column::of_numbers(series.heading(), numbers.into_iter()));
    }
    Ok(Table { kind: Kind::Categories, columns, rows: 0, series: places })
}

type Points = Vec<Point>;

/// X, Y and size.
type Point = (f64, Option<f64>, Option<f64>);

fn over_points(chart: &Chart, kind: Kind) -> Result<Table, String> {
    let points: Vec<Points> =
        chart.series.iter().map(|series| series.points(kind)).collect::<Result<_, _>>()?;
    let is_ascending =
        |points: &Points| points.windows(2).all(|pair| matches!(pair, [one, other] if one.0 < other.0));
    // A common column has each X value once, in order. If any series' points go back, each series gets its own column.
    let common = points.iter().all(is_ascending).then(|| {
        let mut across: Vec<f64> = points.iter().flatten().map(|point| point.0).collect();
        across.sort_by(f64::total_cmp);
        across.dedup();
        across
    });
    let mut table = Table { kind, columns: Vec::new(), rows: 0, series: Vec::new() };
    if let Some(common) = &common {
        if common.len().saturating_mul(points.len()) > CELLS {
            return Err(format!(
                "a chart has at most {CELLS} cells in its sheet; give it fewer values or series"
            ));
        }
        table.columns.push(Column::of_numbers("", common.iter().copied().map(Some)));
    }
    for (series, points) in chart.series.iter().zip(&points) {
        table.add(series.heading(), points, common.as_deref());
    }
    if table.columns.is_empty() {
        table.columns.push(Column::of_numbers("", std::iter::empty()));
    }
    Ok(table)
}

impl Table {
    fn add(&mut self, heading: &str, points: &Points, common: Option<&[f64]>) {
        let spread = |of: fn(&Point) -> Option<f64>| match common {
            None => points.iter().map(of).collect::<Vec<_>>(),
            Some(common) => {
                let mut spread = vec![None; common.len()];
                for point in points {
                    let at = common.partition_point(|&across| across < point.0);
                    if let Some(cell) = spread.get_mut(at) {
                        *cell = of(point);
                    }
                }
                spread
            }
        };
        let across = if common.is_some() {
            0
        } else {
            self.columns
                .push(Column::of_numbers(&format!("{heading} X"), points.iter().map(|point| Some(point.0))));
            self.columns.len() - 1
        };
        let along = self.columns.len();
        self.columns.push(Column::of_numbers(heading, spread(|point| point.1).into_iter()));
        let size = (self.kind == Kind::Bubbles).then(|| {
            let sizes = spread(|point| point.2).into_iter();
            self.columns.push(Column::of_numbers(&format!("{heading} Size"), sizes));
            along + 1
        });
        self.series.push(Places { across, along, size });
    }
}

impl Series {
    fn heading(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    fn shown(&self) -> String {
        quoted(&format!("{:?}", self.heading()))
    }

    /// Its points without those that are `null`.
    fn points(&self, kind: Kind) -> Result<Points, String> {
        let written = if kind == Kind::Bubbles {
            "{ \"x\": 1, \"y\": 2, \"size\": 3 }"
        } else {
            "{ \"x\": 1, \"y\": 2 }"
        };
        let point = |value: &Value| match *value {
            Value::Point(Some(across), along, size) if kind == Kind::Points || size.is_some() => {
                Ok((across, along, size))
            }
            Value::Point(..) | Value::Number(_) => {
                let name = self.shown();
                Err(format!(
                    "a value of the series {name} is no point; in a chart of this kind it is written {written}"
                ))
            }
        };
        self.values.iter().flatten().map(point).collect()
    }
}

/// A number as a sheet writes it: with an exponent if it is very large or small.
pub(super) fn sheet_number(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-7..1e15).contains(&size) { format!("{number:E}") } else { number.to_string() }
}

/// A column's name, counted from 0: A, B, … Z, AA.
pub(super) fn letters(column: usize) -> String {
    const LETTERS: &[u8; 26] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut name = Vec::new();
    let mut left = column + 1;
    while left > 0 {
        name.insert(0, LETTERS.get((left - 1) % LETTERS.len()).copied().unwrap_or(b'A'));
        left = (left - 1) / LETTERS.len();
    }
    name.into_iter().map(char::from).collect()
}
