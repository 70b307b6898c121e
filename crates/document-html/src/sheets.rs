//! Sheets of a workbook: a heading and a table each, without what is hidden.

use std::fmt::Write as _;

use roxmltree::Node;

use crate::css::written;
use crate::drawings::is_drawing;
use crate::grid::{ALIKE, Grid, Veiled, cells, is_covered};
use crate::html::{Declarations, escaped};
use crate::limits::Error;
use crate::look::{Look, side};
use crate::writer::{Writer, text_of};
use crate::xml::{attribute, name};

/// Characters of a text that may run over the cells beside it, which here widens its column.
const SHORT: usize = 60;

impl Writer<'_, '_> {
    /// All sheets that are shown.
    pub(crate) fn sheets(&mut self, body: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        let sheets = body.children().filter(|one| name(*one) == ("table", "table"));
        for (number, sheet) in sheets.enumerate() {
            let style = attribute(sheet, "table", "style-name").unwrap_or_default();
            if self.styles.property("table", style, "table-properties", ("table", "display")) == Some("false")
            {
                continue;
            }
            let title = escaped(attribute(sheet, "table", "name").unwrap_or_default());
            let mode = self.styles.property("table", style, "table-properties", ("style", "writing-mode"));
            self.from_right = mode == Some("rl-tb");
            let direction = if self.from_right { " dir=\"rtl\"" } else { "" };
            let _ = writeln!(
                out,
                "<section{direction}>\n<h1 style=\"font-size:14pt;margin:12pt 0 6pt\">{title}</h1>"
            );
            self.sheet(number, sheet, out)?;
            out.push_str("</section>\n");
        }
        Ok(())
    }

    fn sheet(&mut self, number: usize, sheet: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        let grid = self.grid(sheet)?;
        self.find_pictures(number, sheet, &grid);
        let mut drawings = String::new();
        if grid.written > 0 {
            out.push_str("<div style=\"overflow-x:auto\">\n<table cellspacing=\"0\" cellpadding=\"3\"");
            grid.write_columns(out);
            for place in 0..grid.written {
                self.sheet_row(&grid, place, &mut drawings, out)?;
            }
            out.push_str("</table>\n</div>\n");
        }
        for row in grid.rows.iter().skip(grid.written) {
            row.row.children().try_for_each(|cell| self.sheet_drawings(cell, &mut drawings))?;
        }
        for shapes in sheet.children().filter(|one| name(*one) == ("table", "shapes")) {
            self.sheet_drawings(shapes, &mut drawings)?;
        }
        out.push_str(&drawings);
        self.check(out)
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
        for number in (row.start..).take(row.count.min(ALIKE)) {
            out.push_str("<tr valign=\"bottom\">");
            if row.used == 0 {
                out.push_str("<td>&nbsp;</td>");
            }
            for (columns, cell) in cells(row.row) {
                for column in columns.start..columns.end.min(row.used) {
                    if grid.hides_column(column) {
                        continue;
                    }
                    let shown = if is_covered(cell) {
                        grid.veiled(number, column)
                    } else {
                        Some(Veiled { cell, place: (place, column) })
                    };
                    if let Some(Veiled { cell, place }) = shown {
                        let style = grid.column(place.1).map_or("Default", |column| column.style);
                        let spans = grid.spans(cell, place);
                        self.sheet_cell(cell, style, (row.head, &spans), out)?;
                    }
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
            let value = if *name == "text-align" { side(value) } else { value };
            let is_usual = value == "left" && !self.from_right;
            if self.base.css.get(name).map(String::as_str) != Some(value)
                && !padding
                && *name != "white-space"
                && !is_usual
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
        for drawing in parent.children().filter(|one| is_drawing(*one)) {
            let outside = std::mem::take(&mut self.above);
            let mut line = String::new();
            self.drawing(drawing, &Look::default(), &mut line)?;
            let above = std::mem::replace(&mut self.above, outside);
            out.push_str(&above);
            if !line.is_empty() {
                let _ = writeln!(out, "<div style=\"margin:8pt 0\">{line}</div>");
            }
        }
        Ok(())
    }
}
