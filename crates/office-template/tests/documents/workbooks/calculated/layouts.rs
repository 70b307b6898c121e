//! One list, and formulas over it from everywhere around it: below, above, beside, on another sheet, with rows between.

use super::super::book::Sheet;
use super::super::read::Value;
use super::{ITEMS, Work};

/// Rows above the list, rows between the list and the formulas; whether these stand above the list or on another sheet.
struct Layout {
    name: &'static str,
    above: u32,
    between: u32,
    formulas: Formulas,
}

#[derive(PartialEq)]
enum Formulas {
    Below,
    Above,
    Elsewhere,
}

const LAYOUTS: [Layout; 5] = [
    Layout { name: "close", above: 0, between: 0, formulas: Formulas::Below },
    Layout { name: "lower", above: 3, between: 1, formulas: Formulas::Below },
    Layout { name: "apart", above: 1, between: 4, formulas: Formulas::Below },
    Layout { name: "before", above: 40, between: 0, formulas: Formulas::Above },
    Layout { name: "else", above: 2, between: 0, formulas: Formulas::Elsewhere },
];

/// A formula over the list, and its value: `@` is the list's sheet, `#` its row, `^` the row of its heads, `~` the row below it, `%` a row further
/// below with a 100 in column K.
const FORMULAS: [(&str, Meant); 27] = [
    ("SUM(@D#)", Meant::Total(1.0)),
    ("SUM(@D#:D#)", Meant::Total(1.0)),
    ("SUM(@D^:D~)", Meant::Total(1.0)),
    ("SUM(@$D$#:$D$#)*@$I$1", Meant::Total(0.5)),
    ("SUM(@D#)+@K%", Meant::Plus(100.0)),
    ("SUBTOTAL(9,@D#:D#)", Meant::Total(1.0)),
    ("SUMPRODUCT(@B#:B#,@C#:C#)", Meant::Total(1.0)),
    ("SUMPRODUCT((@B#:B#>1)*@D#:D#)", Meant::Of(|rows| rows.filter(|row| row.1 > 1.0).map(line).sum())),
    ("AVERAGE(@B#:B#)", Meant::Of(|rows| rows.map(|row| row.1).sum::<f64>() / 4.0)),
    ("COUNT(@B#)", Meant::Of(|rows| rows.map(|_| 1.0).sum())),
    ("COUNTA(@A#:A#)", Meant::Of(|rows| rows.map(|_| 1.0).sum())),
    ("ROWS(@A#:B#)", Meant::Of(|rows| rows.map(|_| 1.0).sum())),
    ("MAX(@C#)-MIN(@C#:C#)", Meant::Of(|_| 13.0 - 5.0)),
    (
        "VLOOKUP(\"pad\",@A#:D#,4,FALSE)",
        Meant::Of(|mut rows| rows.find(|row| row.0 == "pad").map_or(0.0, line)),
    ),
    (
        "INDEX(@D#:D#,MATCH(\"cup\",@A#:A#,0))",
        Meant::Of(|mut rows| rows.find(|row| row.0 == "cup").map_or(0.0, line)),
    ),
    ("SUMIF(@A#:A#,\"pen\",@D#:D#)", Meant::Of(|mut rows| rows.find(|row| row.0 == "pen").map_or(0.0, line))),
    ("SUMIFS(@D#:D#,@B#:B#,\">1\",@C#:C#,\"<10\")", Meant::Of(|rows| rows.take(2).map(line).sum())),
    ("COUNTIF(@C#:C#,\">6\")", Meant::Of(|rows| rows.filter(|row| row.2 > 6.0).map(|_| 1.0).sum())),
    ("LARGE(@D#:D#,2)", Meant::Of(|_| 21.0)),
    ("RANK(52,@D#:D#)", Meant::Of(|_| 1.0)),
    ("@D#*2", Meant::Of(|rows| rows.last().map_or(0.0, line) * 2.0)),
    ("@$D$#", Meant::Of(|rows| rows.last().map_or(0.0, line))),
    ("@E#", Meant::Total(1.0)),
    ("IF(SUM(@B#)>9,\"many\",\"few\")", Meant::Text("many")),
    ("@A#&\"!\"", Meant::Text("cup!")),
    ("SUM(@B:B)", Meant::Of(|rows| rows.map(|row| row.1).sum())),
    ("SUM(@D#:D#,@C#:C#)", Meant::Of(|rows| rows.map(|row| line(row) + row.2).sum())),
];

type Row = &'static (&'static str, f64, f64);

enum Meant {
    /// The total of the list, times something.
    Total(f64),
    Plus(f64),
    Of(fn(std::slice::Iter<'static, (&'static str, f64, f64)>) -> f64),
    Text(&'static str),
}

fn line(row: Row) -> f64 {
    row.1 * row.2
}

fn total() -> f64 {
    ITEMS.iter().map(line).sum()
}

pub fn work() -> Work {
    let mut work = Work::default();
    for layout in &LAYOUTS {
        add(&mut work, layout);
    }
    work
}

fn add(work: &mut Work, layout: &Layout) {
    let head = layout.above + 1;
    let list = head + 1;
    let below = list + 1 + layout.between;
    let grown = u32::try_from(ITEMS.len() - 1).expect("a few");
    let mut sheet = Sheet::new(layout.name).rows(&format!("A{head}"), &format!(
        "Name|Qty|Price|Line|Running|Share\n\
         {{#items}}{{name}}|{{qty}}|{{price}}|=B{list}*C{list}|=SUM(D${list}:D{list})|=D{list}/SUM(D${list}:D${list})|{{/items}}"
    ));
    sheet.set("I1", "0.5");
    let constant = below + 40;
    sheet.set(&format!("K{constant}"), "100");
    let mut other = Sheet::new(&format!("{} formulas", layout.name));
    // They stand in column H: whole columns of the list hold no sums.
    let (first, moved, of) = match layout.formulas {
        Formulas::Below => (below, below + grown, String::new()),
        Formulas::Above => (2, 2, String::new()),
        Formulas::Elsewhere => (1, 1, format!("{}!", layout.name)),
    };
    let where_to = if layout.formulas == Formulas::Elsewhere { &mut other } else { &mut sheet };
    let where_name = where_to.name.clone();
    for (index, (formula, meant)) in (0..).zip(&FORMULAS) {
        let written = [
            ("@", of.clone()),
            ("#", list.to_string()),
            ("^", head.to_string()),
            ("~", (list + 1).to_string()),
            ("%", constant.to_string()),
        ]
        .iter()
        .fold((*formula).to_owned(), |text, (sign, value)| text.replace(sign, value));
        where_to.set(&format!("H{}", first + index), format!("={written}"));
        let value = match meant {
            Meant::Total(times) => (total() * times).into(),
            Meant::Plus(more) => (total() + more).into(),
            Meant::Of(of) => of(ITEMS.iter()).into(),
            Meant::Text(text) => Value::from(*text),
        };
        work.expect(&where_name, format!("H{}", moved + index), written, value);
    }
    let mut running = 0.0;
    for (index, row) in (0..).zip(&ITEMS) {
        running += line(row);
        let at = list + index;
        work.expect(layout.name, format!("D{at}"), "the line", line(row));
        work.expect(layout.name, format!("E{at}"), "a running total", running);
        work.expect(layout.name, format!("F{at}"), "a share", line(row) / total());
    }
    work.expect(layout.name, format!("K{}", constant + grown), "what stands below", 100.0);
    work.sheets.push(sheet);
    if layout.formulas == Formulas::Elsewhere {
        work.sheets.push(other);
    }
}
