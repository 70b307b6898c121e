//! Tables of texts and slides.

use std::fmt::Write as _;

use roxmltree::Node;

use crate::css::{points, written};
use crate::html::Declarations;
use crate::limits::Error;
use crate::look::Look;
use crate::writer::Writer;
use crate::xml::{attribute, count, name};

/// What a style repeats more often than this is no table.
const COLUMNS: usize = 1_000;

impl Writer<'_, '_> {
    /// A table.
    pub(crate) fn table(&mut self, table: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        self.enter(out)?;
        let style = attribute(table, "table", "style-name").unwrap_or_default();
        let mut columns = Vec::new();
        self.columns(table, &mut columns);
        let whole: f64 = columns.iter().flatten().sum();
        let own =
            self.styles.property("table", style, "table-properties", ("style", "width")).and_then(points);
        let width = own.unwrap_or(whole);
        let mut look = Declarations::default();
        look.add("border-collapse", "collapse");
        if width > 0.0 {
            look.add("width", &written(width));
        }
        look.add("max-width", "100%");
        match self.styles.property("table", style, "table-properties", ("table", "align")) {
            Some("center") => look.add("margin", "0 auto"),
            Some("right") => look.add("margin", "0 0 0 auto"),
            Some(_) | None => {}
        }
        out.push_str("<table");
        look.write(out);
        out.push_str(">\n");
        write_columns(&columns, whole, out);
        let head: Vec<_> =
            table.children().filter(|one| name(*one) == ("table", "table-header-rows")).collect();
        if !head.is_empty() {
            out.push_str("<thead>\n");
            for rows in head {
                self.rows(rows, "th", out)?;
            }
            out.push_str("</thead>\n");
        }
        out.push_str("<tbody>\n");
        self.rows(table, "td", out)?;
        out.push_str("</tbody>\n</table>\n");
        self.leave();
        Ok(())
    }

    /// The widths of the columns, in points.
    fn columns(&self, parent: Node<'_, '_>, columns: &mut Vec<Option<f64>>) {
        for node in parent.children() {
            match name(node) {
                ("table", "table-column") => {
                    let style = attribute(node, "table", "style-name").unwrap_or_default();
                    let property = ("style", "column-width");
                    let width =
                        self.styles.property("table-column", style, "table-column-properties", property);
                    let width = width.and_then(points).filter(|width| *width > 0.0);
                    let room = COLUMNS.saturating_sub(columns.len());
                    columns
                        .extend(std::iter::repeat_n(width, count(node, "number-columns-repeated").min(room)));
                }
                ("table", "table-columns" | "table-header-columns" | "table-column-group")
                    if columns.len() < COLUMNS =>
                {
                    self.columns(node, columns);
                }
                _ => {}
            }
        }
    }

    fn rows(&mut self, parent: Node<'_, '_>, tag: &str, out: &mut String) -> Result<(), Error> {
        self.enter(out)?;
        for node in parent.children() {
            match name(node) {
                ("table", "table-row") => self.row(node, tag, out)?,
                ("table", "table-rows" | "table-row-group") => self.rows(node, tag, out)?,
                _ => {}
            }
        }
        self.leave();
        Ok(())
    }

    fn row(&mut self, row: Node<'_, '_>, tag: &str, out: &mut String) -> Result<(), Error> {
        out.push_str("<tr>");
        let default = attribute(row, "table", "default-cell-style-name").unwrap_or_default();
        for cell in row.children().filter(|one| name(*one) == ("table", "table-cell")) {
            let repeated = count(cell, "number-columns-repeated").min(COLUMNS);
            for _ in 0..repeated {
                let style = attribute(cell, "table", "style-name").unwrap_or(default);
                let look = self.styles.declared("table-cell", style);
                self.cell(cell, &look, tag, out)?;
                self.check(out)?;
            }
        }
        out.push_str("</tr>\n");
        self.check(out)
    }

    fn cell(&mut self, cell: Node<'_, '_>, look: &Look, tag: &str, out: &mut String) -> Result<(), Error> {
        let mut style = cell_style(look);
        if tag == "th" {
            style.add("font-weight", "normal");
            style.add("text-align", "start");
        }
        if !look.css.contains_key("vertical-align") {
            style.add("vertical-align", "top");
        }
        let _ = write!(out, "<{tag}");
        if tag == "th" {
            out.push_str(" scope=\"col\"");
        }
        spans(cell, out);
        let mut inner = String::new();
        match self.only_line(cell) {
            // Most cells hold one line, which needs no element of its own.
            Some(line) => {
                if let Some(paragraph) = self.paragraph_parts(line, false, &mut inner)? {
                    style.join(&paragraph.style);
                    out.push_str(&paragraph.attributes);
                    inner.push_str(&paragraph.inner);
                }
            }
            None => self.blocks(cell, &mut inner)?,
        }
        style.write(out);
        let _ = write!(out, ">{inner}</{tag}>");
        Ok(())
    }

    /// The paragraph of a cell that holds nothing else, and no distance around it.
    fn only_line<'a, 'i>(&self, cell: Node<'a, 'i>) -> Option<Node<'a, 'i>> {
        let mut children = cell.children().filter(Node::is_element);
        let only = children.next().filter(|one| name(*one) == ("text", "p"))?;
        let look =
            self.styles.effective("paragraph", attribute(only, "text", "style-name").unwrap_or_default());
        let far = |points: Option<f64>| points.is_some_and(|points| points > 0.0);
        (children.next().is_none() && !far(look.above) && !far(look.below) && !far(look.left)).then_some(only)
    }
}

/// `colspan` and `rowspan`.
pub fn spans(cell: Node<'_, '_>, out: &mut String) {
    for (name, long) in [("colspan", "number-columns-spanned"), ("rowspan", "number-rows-spanned")] {
        let number = count(cell, long).min(65_534);
        if number > 1 {
            let _ = write!(out, " {name}=\"{number}\"");
        }
    }
}

/// A cell's borders, paddings and background.
fn cell_style(look: &Look) -> Declarations {
    const SIDES: [&str; 4] = ["border-top", "border-right", "border-bottom", "border-left"];
    let mut style = Declarations::default();
    let first = look.css.get("border-top");
    let alike = first.is_some() && SIDES.iter().all(|side| look.css.get(side) == first);
    if let Some(border) = first.filter(|_| alike) {
        style.add("border", border);
    }
    for (name, value) in &look.css {
        if !(alike && name.starts_with("border")) && *name != "white-space" {
            style.add(name, value);
        }
    }
    style
}

fn write_columns(columns: &[Option<f64>], whole: f64, out: &mut String) {
    if whole <= 0.0 || columns.len() < 2 {
        return;
    }
    out.push_str("<colgroup>");
    for width in columns {
        let share = (width.unwrap_or(0.0) / whole * 1000.0).round() / 10.0;
        let _ = write!(out, "<col style=\"width:{share}%\">");
    }
    out.push_str("</colgroup>\n");
}
