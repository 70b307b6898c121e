//! Sheets of a workbook: a heading and a table each, without what is hidden.

use std::fmt::Write as _;

use roxmltree::Node;

use crate::css::{points, written};
use crate::html::{Declarations, escaped};
use crate::limits::Error;
use crate::look::Look;
use crate::writer::{Writer, text_of};
use crate::xml::{attribute, count, name};

/// More rows than these that are alike are not written: between two tables of a sheet there may be a million empty ones.
const ALIKE: usize = 100;
/// Characters of a text that may run over the cells beside it, which here widens its column.
const SHORT: usize = 60;
/// Excel has as many.
const COLUMNS: usize = 16_384;

/// Columns that are alike, up to the place behind them.
struct Columns<'a> {
    end: usize,
    hidden: bool,
    width: Option<f64>,
    style: &'a str,
}

/// Rows that are alike.
struct Rows<'a, 'i> {
    row: Node<'a, 'i>,
    count: usize,
    hidden: bool,
    head: bool,
    /// The place behind the last cell that shows anything.
    used: usize,
}

/// A sheet's cells.
struct Grid<'a, 'i> {
    columns: Vec<Columns<'a>>,
    /// As far as one of them is used.
    rows: Vec<Rows<'a, 'i>>,
}

impl Writer<'_, '_> {
    /// All sheets that are shown.
    pub(crate) fn sheets(&mut self, body: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        for sheet in body.children().filter(|one| name(*one) == ("table", "table")) {
            let style = attribute(sheet, "table", "style-name").unwrap_or_default();
            if self.styles.property("table", style, "table-properties", ("table", "display")) == Some("false")
            {
                continue;
            }
            let title = escaped(attribute(sheet, "table", "name").unwrap_or_default());
            let from_right =
                self.styles.property("table", style, "table-properties", ("style", "writing-mode"));
            let direction = if from_right == Some("rl-tb") { " dir=\"rtl\"" } else { "" };
            let _ = write!(
                out,
                "<section{direction}>\n<h1 style=\"font-size:14pt;margin:12pt 0 6pt\">{title}</h1>\n"
            );
            self.sheet(sheet, out)?;
            out.push_str("</section>\n");
        }
        Ok(())
    }

    fn sheet(&mut self, sheet: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        let mut columns = Vec::new();
        self.sheet_columns(sheet, &mut columns);
        let mut rows = Vec::new();
        self.sheet_rows(sheet, false, &mut rows)?;
        let last = rows.iter().rposition(|row| row.used > 0).map_or(0, |last| last + 1);
        let below = rows.split_off(last);
        let mut drawings = String::new();
        let grid = Grid { columns, rows };
        if !grid.rows.is_empty() {
            out.push_str("<div style=\"overflow-x:auto\">\n<table cellspacing=\"0\" cellpadding=\"3\"");
            grid.write_columns(out);
            for place in 0..grid.rows.len() {
                self.sheet_row(&grid, place, &mut drawings, out)?;
            }
            out.push_str("</table>\n</div>\n");
        }
        for row in below {
            row.row.children().try_for_each(|cell| self.sheet_drawings(cell, &mut drawings))?;
        }
        for shapes in sheet.children().filter(|one| name(*one) == ("table", "shapes")) {
            self.sheet_drawings(shapes, &mut drawings)?;
        }
        out.push_str(&drawings);
        self.check(out)
    }

    fn sheet_columns<'a>(&self, parent: Node<'a, '_>, columns: &mut Vec<Columns<'a>>) {
        for node in parent.children() {
            match name(node) {
                ("table", "table-column") => {
                    let style = attribute(node, "table", "style-name").unwrap_or_default();
                    let property = ("style", "column-width");
                    let width =
                        self.styles.property("table-column", style, "table-column-properties", property);
                    let start = columns.last().map_or(0, |one| one.end);
                    columns.push(Columns {
                        end: start.saturating_add(count(node, "number-columns-repeated")),
                        hidden: is_hidden(node),
                        width: width.and_then(points).filter(|width| *width > 0.0),
                        style: attribute(node, "table", "default-cell-style-name").unwrap_or("Default"),
                    });
                }
                ("table", "table-columns" | "table-header-columns" | "table-column-group") => {
                    self.sheet_columns(node, columns);
                }
                _ => {}
            }
        }
    }

    fn sheet_rows<'a, 'i>(
        &mut self,
        parent: Node<'a, 'i>,
        head: bool,
        rows: &mut Vec<Rows<'a, 'i>>,
    ) -> Result<(), Error> {
        self.enter("")?;
        for node in parent.children() {
            match name(node) {
                ("table", "table-row") => rows.push(Rows {
                    row: node,
                    count: count(node, "number-rows-repeated"),
                    hidden: is_hidden(node),
                    head,
                    used: self.used_cells(node),
                }),
                ("table", "table-header-rows") => self.sheet_rows(node, true, rows)?,
                ("table", "table-rows" | "table-row-group") => self.sheet_rows(node, head, rows)?,
                _ => {}
            }
        }
        self.leave();
        Ok(())
    }

    /// The place behind the last cell of a row that has content, or a background or border of its own.
    fn used_cells(&self, row: Node<'_, '_>) -> usize {
        let (mut place, mut used) = (0_usize, 0);
        for cell in row.children().filter(Node::is_element) {
            let repeated = count(cell, "number-columns-repeated");
            let end = place.saturating_add(repeated).min(COLUMNS);
            let filled = cell.children().any(|one| name(one) == ("text", "p"));
            let style = attribute(cell, "table", "style-name").unwrap_or_default();
            // A line below the whole sheet is no cell of it.
            if filled || (repeated <= ALIKE && self.is_seen(style)) {
                used = end;
            }
            place = end;
        }
        used
    }

    fn is_seen(&self, style: &str) -> bool {
        let look = self.styles.declared("table-cell", style);
        look.css.keys().any(|name| *name == "background-color" || name.starts_with("border"))
    }

    fn sheet_row(
        &mut self,
        grid: &Grid<'_, '_>,
        place: usize,
        drawings: &mut String,
        out: &mut String,
    ) -> Result<(), Error> {
        let Some(row) = grid.rows.get(place) else { return Ok(()) };
        if row.hidden {
            // What is anchored there is shown all the same.
            return row.row.children().try_for_each(|cell| self.sheet_drawings(cell, drawings));
        }
        for _ in 0..row.count.min(ALIKE) {
            out.push_str("<tr valign=\"bottom\">");
            if row.used == 0 {
                out.push_str("<td>&nbsp;</td>");
            }
            let mut column_place = 0_usize;
            for cell in row.row.children().filter(Node::is_element) {
                let covered = name(cell) == ("table", "covered-table-cell");
                if !covered && name(cell) != ("table", "table-cell") {
                    continue;
                }
                for _ in 0..count(cell, "number-columns-repeated").min(COLUMNS) {
                    if column_place >= row.used {
                        break;
                    }
                    let column = grid.column(column_place);
                    if !covered && !column.is_some_and(|column| column.hidden) {
                        let style = column.map_or("Default", |column| column.style);
                        let spans = grid.spans(cell, place, column_place);
                        self.sheet_cell(cell, style, (row.head, &spans), out)?;
                    }
                    column_place += 1;
                }
                self.sheet_drawings(cell, drawings)?;
            }
            out.push_str("</tr>\n");
            self.check(out)?;
        }
        Ok(())
    }

    fn sheet_cell(
        &mut self,
        cell: Node<'_, '_>,
        default: &str,
        (head, spans): (bool, &str),
        out: &mut String,
    ) -> Result<(), Error> {
        let look =
            self.styles.effective("table-cell", attribute(cell, "table", "style-name").unwrap_or(default));
        let tag = if head { "th" } else { "td" };
        let _ = write!(out, "<{tag}{}{spans}", if head { " scope=\"col\"" } else { "" });
        let kind = attribute(cell, "office", "value-type");
        let number = kind.is_some_and(|kind| !matches!(kind, "string" | "boolean"));
        let wraps = look.css.get("white-space").is_some_and(|one| one == "normal");
        let mut style = self.sheet_style(&look, number, head);
        if !number && (wraps || text_of(cell).chars().nth(SHORT).is_some()) {
            style.add("white-space", "normal");
        }
        style.write(out);
        out.push('>');
        let mut first = true;
        for paragraph in cell.children().filter(|one| name(*one) == ("text", "p")) {
            if !std::mem::take(&mut first) {
                out.push_str("<br>");
            }
            self.line(paragraph, &look, out)?;
        }
        let _ = write!(out, "</{tag}>");
        Ok(())
    }

    fn sheet_style(&self, look: &Look, number: bool, head: bool) -> Declarations {
        let mut style = Declarations::default();
        for (name, value) in &look.css {
            let padding = name.starts_with("padding");
            if self.base.css.get(name) != Some(value)
                && !padding
                && *name != "white-space"
                && *value != "start"
            {
                style.add(name, value);
            }
        }
        let aligned = look.css.contains_key("text-align");
        if !aligned && (number || head) {
            style.add("text-align", if number { "right" } else { "start" });
        }
        if look.size != self.base.size
            && let Some(size) = look.size
        {
            style.add("font-size", &written(size));
        }
        let flag = |one: Option<bool>| one == Some(true);
        if flag(look.bold) || head {
            style.add("font-weight", if flag(look.bold) { "bold" } else { "normal" });
        }
        if flag(look.italic) {
            style.add("font-style", "italic");
        }
        if flag(look.underlined) || flag(look.struck) {
            style.add("text-decoration", if flag(look.underlined) { "underline" } else { "line-through" });
        }
        style
    }

    /// Pictures and charts lie over cells; here they stand below the table.
    fn sheet_drawings(&mut self, parent: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        for drawing in parent.children().filter(|one| name(*one).0 == "draw") {
            let outside = std::mem::take(&mut self.above);
            let mut line = String::new();
            self.drawing(drawing, &Look::default(), &mut line)?;
            let above = std::mem::replace(&mut self.above, outside);
            out.push_str(&above);
            if !line.is_empty() {
                let _ = write!(out, "<div style=\"margin:8pt 0\">{line}</div>\n");
            }
        }
        Ok(())
    }
}

fn is_hidden(node: Node<'_, '_>) -> bool {
    matches!(attribute(node, "table", "visibility"), Some("collapse" | "filter"))
}

impl<'a> Grid<'a, '_> {
    fn column(&self, place: usize) -> Option<&Columns<'a>> {
        self.columns.get(self.columns.partition_point(|one| one.end <= place))
    }

    /// The rest of the table's tag, and its columns.
    fn write_columns(&self, out: &mut String) {
        let used = self.rows.iter().map(|row| row.used).max().unwrap_or(0);
        let shown = (0..used).filter_map(|place| self.column(place)).filter(|one| !one.hidden);
        let widths: Vec<_> = shown.map(|column| column.width.unwrap_or(48.0)).collect();
        let mut style = Declarations::default();
        style.add("border-collapse", "collapse");
        style.add("width", &format!("{}pt", widths.iter().sum::<f64>().round()));
        style.add("white-space", "nowrap");
        style.write(out);
        out.push_str(">\n<colgroup>");
        for width in widths {
            let _ = write!(out, "<col style=\"width:{}\">", written(width));
        }
        out.push_str("</colgroup>\n");
    }

    /// `colspan` and `rowspan`, of the columns and rows that are shown.
    fn spans(&self, cell: Node<'_, '_>, row: usize, column: usize) -> String {
        let wide = count(cell, "number-columns-spanned").min(COLUMNS);
        let tall = count(cell, "number-rows-spanned");
        let mut out = String::new();
        let hidden = |place: &usize| self.column(*place).is_some_and(|one| one.hidden);
        let columns =
            if wide > 1 { (column..column + wide).filter(|place| !hidden(place)).count() } else { 1 };
        let rows = if tall > 1 { self.shown_rows(row, tall) } else { 1 };
        for (name, number) in [("colspan", columns), ("rowspan", rows)] {
            if number > 1 {
                let _ = write!(out, " {name}=\"{number}\"");
            }
        }
        out
    }

    /// How many of so many rows are written.
    fn shown_rows(&self, first: usize, count: usize) -> usize {
        let (mut left, mut shown) = (count, 0_usize);
        for rows in self.rows.iter().skip(first) {
            let taken = rows.count.min(left);
            shown += if rows.hidden { 0 } else { taken.min(ALIKE) };
            left -= taken;
            if left == 0 {
                break;
            }
        }
        shown
    }
}
