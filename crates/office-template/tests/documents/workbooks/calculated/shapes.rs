//! Blocks of rows, rows in rows, columns, conditions, tables and names, and formulas that mean them.

use super::super::book::Sheet;
use super::{GROUPS, ITEMS, Work};

fn prices() -> f64 {
    ITEMS.iter().map(|row| row.2).sum()
}

fn lines() -> f64 {
    ITEMS.iter().map(|row| row.1 * row.2).sum()
}

fn values() -> impl Iterator<Item = (&'static str, f64)> {
    GROUPS.iter().flat_map(|(name, values)| values.iter().map(move |value| (*name, *value)))
}

fn all() -> f64 {
    values().map(|(_, value)| value).sum()
}

/// Rows in all their shapes, a sheet each.
pub fn rows() -> Work {
    let mut work = Work::default();
    for add in [block, groups, one_row, two_lists, lookups, conditions, arrays] {
        add(&mut work);
    }
    work
}

/// An item has four rows.
fn block(work: &mut Work) {
    work.sheets.push(Sheet::new("block").rows(
        "A1",
        "head
         {#items}{name}|{qty}
         price|{price}
         line|=B2*B3
         {/items}
         all|=SUM(B4)|=SUM(B4:B4)|=B4|=AVERAGE(B2:B2)|=MAX(B3)|=COUNT(B2,B3)",
    ));
    for (index, item) in (0..).zip(&ITEMS) {
        work.expect("block", format!("B{}", 4 + 4 * index), "B2*B3", item.1 * item.2);
    }
    for (cell, value) in
        [("B18", lines()), ("C18", lines()), ("D18", 52.0), ("E18", 2.5), ("F18", 13.0), ("G18", 8.0)]
    {
        work.expect("block", cell, "over the blocks", value);
    }
}

/// Rows in blocks of rows, with subtotals that no total counts.
fn groups(work: &mut Work) {
    work.sheets.push(Sheet::new("groups").rows(
        "A1",
        "{#groups}{name}
         {#rows}|{v}|=B2*10|=SUM(B$2:B2)|=B2/B3|=B2/B4|{/rows}
         sub|=SUM(B2)|=SUM(C2:C2)||||{/groups}
         all|=SUM(B3)|=SUM(B2:B2)|=SUM(C3)-SUM(C2)|=B3",
    ));
    let mut row = 1;
    for (_, values) in &GROUPS {
        let (sum, mut running) = (values.iter().sum::<f64>(), 0.0);
        for value in *values {
            row += 1;
            running += value;
            work.expect("groups", format!("C{row}"), "B2*10", value * 10.0);
            work.expect("groups", format!("D{row}"), "SUM(B$2:B2), of the group", running);
            work.expect("groups", format!("E{row}"), "B2/B3, of the group", value / sum);
            work.expect("groups", format!("F{row}"), "B2/B4, of all", value / all());
        }
        row += 1;
        work.expect("groups", format!("B{row}"), "SUM(B2)", sum);
        work.expect("groups", format!("C{row}"), "SUM(C2:C2)", sum * 10.0);
        row += 1;
    }
    for (column, value) in [("B", all()), ("C", all()), ("D", 0.0), ("E", 32.0)] {
        work.expect("groups", format!("{column}{row}"), "over the groups", value);
    }
}

/// Lists in lists, all in one row.
fn one_row(work: &mut Work) {
    work.sheets.push(Sheet::new("one row").rows(
        "A2",
        "{#groups}{name}|{#rows}{v}|=B2*2|{/rows}|{/groups}
         all|=SUM(B2)|=SUM(C2:C2)|=COUNTIF(A2:A2,\"south\")",
    ));
    let mut row = 2;
    for (name, value) in values() {
        work.expect("one row", format!("A{row}"), "the group", name);
        work.expect("one row", format!("C{row}"), "B2*2", value * 2.0);
        row += 1;
    }
    for (column, value) in [("B", all()), ("C", all() * 2.0), ("D", 3.0)] {
        work.expect("one row", format!("{column}{row}"), "over all", value);
    }
}

/// Two lists below each other; the lower one's rows mean the upper one.
fn two_lists(work: &mut Work) {
    work.sheets.push(Sheet::new("two lists").rows(
        "A1",
        "{#items}{name}|{price}|{/items}
         sum|=SUM(B1)|=SUM(B3)
         {#groups}{name}|=B$2+SUM(B1:B1)|=B4|{/groups}
         sum|=SUM(B3)|=SUM(B1:B3)",
    ));
    work.expect("two lists", "B5", "SUM(B1)", prices());
    work.expect("two lists", "C5", "SUM(B3), below", prices() * 6.0);
    for row in 6..9 {
        work.expect("two lists", format!("B{row}"), "B$2+SUM(B1:B1)", prices() * 2.0);
        work.expect("two lists", format!("C{row}"), "B4", prices() * 6.0);
    }
    work.expect("two lists", "B9", "SUM(B3)", prices() * 6.0);
    work.expect("two lists", "C9", "SUM(B1:B3)", prices() * 8.0);
}

/// Rows of one sheet look up those of another.
fn lookups(work: &mut Work) {
    work.sheets.push(Sheet::new("Price list").rows("B4", "{#items}{name}|{price}|{/items}\nend|1"));
    work.sheets.push(Sheet::new("lookups").rows(
        "A1",
        "{#items}{name}|=VLOOKUP(A1,'Price list'!B4:C4,2,FALSE)|=SUMIF('Price list'!B:B,A1,'Price list'!C:C)|='Price list'!$C$5|\
         =C1/SUM('Price list'!C4:C4)|{/items}
         sum|=SUM(B1)-SUM('Price list'!C4)|='Price list'!C4|=SUM('Price list'!C4:C5)",
    ));
    for (row, item) in (1..).zip(&ITEMS) {
        work.expect("lookups", format!("B{row}"), "VLOOKUP", item.2);
        work.expect("lookups", format!("C{row}"), "SUMIF", item.2);
        work.expect("lookups", format!("D{row}"), "a cell below the other list", 1.0);
        work.expect("lookups", format!("E{row}"), "a share of the other list", item.2 / prices());
    }
    for (cell, value) in [("B5", 0.0), ("C5", 13.0), ("D5", prices() + 1.0)] {
        work.expect("lookups", cell, "over the other list", value);
    }
}

/// Rows that are dropped, and a list without items.
fn conditions(work: &mut Work) {
    work.sheets.push(Sheet::new("conditions").rows(
        "A1",
        "{#no}dropped|5|{/no}
         {#yes}kept|7|{/yes}
         sum|=SUM(B1:B2)|=B2*2|=SUM(B4)
         {^no}otherwise|11|{/no}",
    ));
    for (cell, value) in [("B1", 7.0), ("B2", 7.0), ("C2", 14.0), ("D2", 11.0), ("B3", 11.0)] {
        work.expect("conditions", cell, "rows are dropped", value);
    }
    work.sheets.push(
        Sheet::new("none")
            .rows("A1", "{#none}{name}|{qty}|{/none}\nsum|=SUM(B1)|=COUNT(B1:B1)|=SUM(B1)+B3\n|3"),
    );
    for (cell, value) in [("B2", 0.0), ("C2", 0.0), ("D2", 3.0)] {
        work.expect("none", cell, "a list without items is a blank row", value);
    }
}

/// Formulas of arrays, below and in the list.
fn arrays(work: &mut Work) {
    work.sheets.push(Sheet::new("arrays").rows(
        "A1",
        "{#items}{name}|{qty}|{price}|{=SUM(B1:B1*C1:C1)}|{=SUM((B$1:B$1>B1)*1)}|{/items}
         |{=SUM(B1:B1*C1:C1)}|{=MAX(IF(B1:B1<4,C1:C1))}",
    ));
    for (row, item) in (1..).zip(&ITEMS) {
        work.expect("arrays", format!("D{row}"), "an array of the own row", item.1 * item.2);
        let more = ITEMS.iter().filter(|other| other.1 > item.1).count();
        work.expect(
            "arrays",
            format!("E{row}"),
            "an array of all rows",
            f64::from(u32::try_from(more).expect("few")),
        );
    }
    work.expect("arrays", "B5", "an array over the list", lines());
    work.expect("arrays", "C5", "an array over the list", 11.0);
}

/// A table that grows, with its total and its own references, and names for cells.
pub fn tables_and_names() -> Work {
    let mut work = Work::default();
    let mut table = Sheet::new("table").rows(
        "B3",
        "Name|Qty|Price|Line
         {#items}{name}|{qty}|{price}|=Sales[[#This Row],[Qty]]*Sales[[#This Row],[Price]]|{/items}
         Total||| =SUBTOTAL(109,Sales[Line])
         below|=SUM(E4)|=SUM(Sales[Line])",
    );
    table.table = Some(("Sales", "B3:E5", &["Name", "Qty", "Price", "Line"], Some("sum")));
    work.sheets.push(table);
    for (row, item) in (4..).zip(&ITEMS) {
        work.expect("table", format!("E{row}"), "[#This Row]", item.1 * item.2);
    }
    for (cell, value) in [("E8", lines()), ("C9", lines()), ("D9", lines())] {
        work.expect("table", cell, "over the table", value);
    }
    work.sheets.push(Sheet::new("uses").rows(
        "A1",
        "=SUM(Sales[Line])
         =SUM(Sales[Qty])*2
         =VLOOKUP(\"pad\",Sales[],3,FALSE)
         =ROWS(Sales[Name])
         =INDEX(Sales[Price],4)
         =Sales[[#Totals],[Line]]
         =SUM(Prices)
         =SUM(Prices)*Rate
         =COUNT(Prices)
         =INDEX(Prices,3)
         =SUM(Last)
         =SUM(Both)",
    ));
    let expected = [
        lines(),
        20.0,
        11.0,
        4.0,
        13.0,
        lines(),
        prices(),
        prices() / 2.0,
        4.0,
        11.0,
        prices(),
        prices() + 10.0,
    ];
    for (row, value) in (1..).zip(expected) {
        work.expect("uses", format!("A{row}"), "a name or a table", value);
    }
    work.sheets.push(
        Sheet::new("names").rows("A1", "|0.5\n{#items}{name}|{qty}|{price}|{/items}\n|=SUM(Prices)-SUM(C2)"),
    );
    work.expect("names", "B6", "SUM(Prices)-SUM(C2)", 0.0);
    work.names = vec![
        ("Both", "names!$B$2:$C$2"),
        ("Last", "names!$C$2"),
        ("Prices", "names!$C$2:$C$2"),
        ("Rate", "names!$B$1"),
    ];
    work
}

/// Columns, alone and with rows.
pub fn columns() -> Work {
    let mut work = Work::default();
    work.sheets.push(Sheet::new("columns").rows(
        "A1",
        "name|{-columns items}{name}|all
         qty|{qty}|=SUM(B2)
         price|{price}|=SUM(B3:B3)
         line|=B2*B3|=SUM(B4:B4)|=B4
         running|=SUM($B4:B4)
         share|=B4/C4
         |{/items}
         =SUM(B2)|=SUM(B4:B4)",
    ));
    let mut running = 0.0;
    for (column, item) in ["B", "C", "D", "E"].into_iter().zip(&ITEMS) {
        let line = item.1 * item.2;
        running += line;
        work.expect("columns", format!("{column}4"), "B2*B3", line);
        work.expect("columns", format!("{column}5"), "SUM($B4:B4)", running);
        work.expect("columns", format!("{column}6"), "B4/C4", line / lines());
    }
    for (cell, value) in [("F2", 10.0), ("F3", prices()), ("F4", lines()), ("G4", 52.0), ("A8", 10.0)] {
        work.expect("columns", cell, "over the columns", value);
    }
    matrix(&mut work);
    to_the_right(&mut work);
    work
}

/// Columns and rows that cross.
fn matrix(work: &mut Work) {
    work.sheets.push(Sheet::new("matrix").rows(
        "A1",
        "|{-columns months}{.}|sum
         {#groups}{name}|{rows.length * ($index + 1)}|=SUM(B2:B2)|=B2/B3|{/groups}
         all|=SUM(B2:B2)|=SUM(B2:B2)|=SUM(C2)
         |{/months}",
    ));
    for (row, (_, values)) in (2..).zip(&GROUPS) {
        let count = f64::from(u32::try_from(values.len()).expect("few"));
        for (column, month) in ["B", "C", "D"].into_iter().zip([1.0, 2.0, 3.0]) {
            work.expect("matrix", format!("{column}{row}"), "where both cross", count * month);
            work.expect("matrix", format!("{column}5"), "SUM(B2:B2), of a column", 6.0 * month);
        }
        work.expect("matrix", format!("E{row}"), "SUM(B2:B2), of a row", count * 6.0);
    }
    work.expect("matrix", "D1", "a month", "Mar");
    work.expect("matrix", "E5", "SUM(B2:B2), of all", 36.0);
    work.expect("matrix", "F5", "SUM(C2)", 36.0);
}

/// Cells that grow to the right, in their rows alone.
fn to_the_right(work: &mut Work) {
    work.sheets.push(Sheet::new("right").rows(
        "A1",
        "price|{-right items}{price}|=D8
         qty|{qty}|=SUM(B2)
         line|=B1*B2|=SUM(B3:B3)|=SUM($B3:B3)
         |{/items}
         =SUM(B3)+B5|7|=B3",
    ));
    let sheet = work.sheets.last_mut().expect("it was added");
    sheet.set("D8", "5");
    for (column, item) in ["B", "C", "D", "E"].into_iter().zip(&ITEMS) {
        work.expect("right", format!("{column}3"), "B1*B2", item.1 * item.2);
    }
    for (cell, value) in [
        ("F1", 5.0),
        ("F2", 10.0),
        ("F3", lines()),
        ("G3", lines()),
        ("A5", lines() + 7.0),
        ("B5", 7.0),
        ("C5", 52.0),
        ("D8", 5.0),
    ] {
        work.expect("right", cell, "beside and below", value);
    }
}

/// A sheet for each item, and formulas between the sheets.
pub fn sheets() -> Work {
    let mut work = Work::default();
    work.sheets.push(Sheet::new("{name}").rows(
        "A1",
        "{:sheet groups}{name}|=total!B1
         {#rows}|{v}|{/rows}
         sum|=SUM(B2)|=B3/total!A1",
    ));
    work.sheets.push(Sheet::new("total").rows(
        "A1",
        "=SUM('{name}'!B3)|5
         =SUM('{name}'!B2:B2)
         ='{name}'!B3",
    ));
    for ((name, values), row) in GROUPS.iter().zip([4, 5, 3]) {
        let sum: f64 = values.iter().sum();
        work.expect(name, "B1", "another sheet's cell", 5.0);
        work.expect(name, format!("B{row}"), "SUM(B2), of its own sheet", sum);
        work.expect(name, format!("C{row}"), "a share of all sheets", sum / all());
    }
    for (cell, value) in [("A1", all()), ("A2", all()), ("A3", 32.0)] {
        work.expect("total", cell, "over all sheets", value);
    }
    work
}
