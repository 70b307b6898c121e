//! Slides: a picture of each, and its text.

use std::fmt::Write as _;

use roxmltree::Node;

use crate::html::{attribute as write_attribute, escaped};
use crate::limits::Error;
use crate::pictures;
use crate::writer::Writer;
use crate::xml::{attribute, child, name};

impl Writer<'_, '_> {
    /// All slides that are shown. `drawn` are their pictures, in order.
    pub(crate) fn slides(
        &mut self,
        body: Node<'_, '_>,
        drawn: &[Vec<u8>],
        out: &mut String,
    ) -> Result<(), Error> {
        let pages = body.children().filter(|one| name(*one) == ("draw", "page"));
        let shown: Vec<_> = pages.filter(|page| !self.is_hidden(*page)).collect();
        // A picture of another slide would be worse than none.
        let fit = shown.len() == drawn.len();
        self.missing += if fit { 0 } else { shown.len() };
        for (place, page) in shown.iter().enumerate() {
            let picture = drawn.get(place).filter(|_| fit).and_then(|bytes| pictures::address(bytes));
            self.missing += usize::from(fit && picture.is_none());
            self.slide(*page, place + 1, picture.as_deref(), out)?;
        }
        Ok(())
    }

    fn is_hidden(&self, page: Node<'_, '_>) -> bool {
        let style = attribute(page, "draw", "style-name").unwrap_or_default();
        let property = ("presentation", "visibility");
        self.styles.property("drawing-page", style, "drawing-page-properties", property) == Some("hidden")
    }

    fn slide(
        &mut self,
        page: Node<'_, '_>,
        number: usize,
        picture: Option<&str>,
        out: &mut String,
    ) -> Result<(), Error> {
        let title = page.children().find(|one| class(*one) == Some("title"));
        let heading =
            title.map(spoken).filter(|text| !text.is_empty()).unwrap_or_else(|| format!("Slide {number}"));
        let heading = escaped(&heading);
        let _ =
            writeln!(out, "<section style=\"margin:0 0 24pt\">\n<h2 style=\"margin:0 0 6pt\">{heading}</h2>");
        if let Some(picture) = picture {
            out.push_str("<figure style=\"margin:0\"><img");
            write_attribute("src", picture, out);
            let _ = write!(out, " alt=\"Slide {number}: {heading}\" width=\"960\"");
            out.push_str(" style=\"display:block;width:100%;max-width:960px;height:auto;border:1px solid #d0d0d0\"></figure>\n");
        }
        let mut text = String::new();
        for frame in page.children().filter(Node::is_element) {
            let left_out = matches!(
                class(frame),
                Some("title" | "page-number" | "date-time" | "footer" | "header" | "notes")
            );
            if !left_out && name(frame) != ("presentation", "notes") {
                self.texts(frame, &mut text)?;
            }
        }
        fold("Text of the slide", &text, out);
        let mut notes = String::new();
        if let Some(page) = child(page, "presentation", "notes") {
            for frame in page.children().filter(|one| class(*one) == Some("notes")) {
                self.texts(frame, &mut notes)?;
            }
        }
        fold("Notes", &notes, out);
        out.push_str("</section>\n");
        self.check(out)
    }

    /// The text of whatever is drawn, without how it looks.
    fn texts(&mut self, node: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        self.enter(out)?;
        match name(node) {
            ("text", "p" | "h") => {
                let text = spoken(node);
                if !text.is_empty() {
                    let mut line = String::new();
                    self.plain_line(node, &mut line)?;
                    let _ = writeln!(out, "<p style=\"margin:0 0 4pt\">{line}</p>");
                }
            }
            ("text", "list") => self.plain_list(node, out)?,
            ("table", "table") => self.plain_table(node, out)?,
            ("office", "annotation") | ("draw", "image" | "object" | "object-ole" | "page-thumbnail") => {}
            ("svg", "desc" | "title") if !spoken(node).is_empty() => {
                let _ = writeln!(out, "<p style=\"margin:0 0 4pt\"><i>{}</i></p>", escaped(&spoken(node)));
            }
            _ => {
                for inner in node.children().filter(Node::is_element) {
                    self.texts(inner, out)?;
                }
            }
        }
        self.leave();
        Ok(())
    }

    fn plain_list(&mut self, list: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        if spoken(list).is_empty() {
            return Ok(());
        }
        out.push_str("<ul style=\"margin:0\">\n");
        for item in list.children().filter(|one| matches!(name(*one), ("text", "list-item" | "list-header")))
        {
            // An item that only carries a deeper list has no mark.
            let bare =
                item.children().find(Node::is_element).is_some_and(|one| name(one) == ("text", "list"));
            out.push_str(if bare { "<li style=\"list-style-type:none\">" } else { "<li>" });
            for inner in item.children().filter(Node::is_element) {
                match name(inner) {
                    ("text", "p" | "h") => self.plain_line(inner, out)?,
                    _ => self.texts(inner, out)?,
                }
            }
            out.push_str("</li>\n");
        }
        out.push_str("</ul>\n");
        Ok(())
    }

    fn plain_table(&mut self, table: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        out.push_str("<table style=\"border-collapse:collapse\">\n");
        self.plain_rows(table, out)?;
        out.push_str("</table>\n");
        Ok(())
    }

    /// The rows of a table; those of a table within one of its cells are that cell's to write.
    fn plain_rows(&mut self, parent: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        self.enter(out)?;
        for row in parent.children() {
            match name(row) {
                ("table", "table-row") => self.plain_row(row, out)?,
                ("table", "table-header-rows" | "table-rows" | "table-row-group") => {
                    self.plain_rows(row, out)?;
                }
                _ => {}
            }
        }
        self.leave();
        Ok(())
    }

    fn plain_row(&mut self, row: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        out.push_str("<tr>");
        for cell in row.children().filter(|one| name(*one) == ("table", "table-cell")) {
            out.push_str("<td");
            crate::tables::spans(cell, out);
            out.push_str(" style=\"border:1px solid #d0d0d0;padding:2pt 6pt\">");
            for inner in cell.children().filter(Node::is_element) {
                self.texts(inner, out)?;
            }
            out.push_str("</td>");
        }
        out.push_str("</tr>\n");
        self.check(out)
    }

    /// A line's text with its links, and nothing else of it: white on a dark slide would be invisible here.
    fn plain_line(&mut self, node: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        self.enter(out)?;
        for inner in node.children() {
            match name(inner) {
                ("text", "a") => {
                    let address = attribute(inner, "xlink", "href").unwrap_or_default();
                    let text = escaped(&spoken(inner));
                    if crate::html::is_harmless(address) {
                        out.push_str("<a");
                        write_attribute("href", address, out);
                        let _ = write!(out, ">{text}</a>");
                    } else {
                        out.push_str(&text);
                    }
                }
                ("text", "line-break") => out.push_str("<br>"),
                ("text", "tab") => out.push_str("&emsp;"),
                ("text", "s") => out.push(' '),
                ("text", "page-number") | ("office", "annotation") => {}
                ("", _) => crate::html::escape(inner.text().unwrap_or_default(), out),
                _ => self.plain_line(inner, out)?,
            }
        }
        self.leave();
        Ok(())
    }
}

/// What a frame of a slide is for.
fn class<'a>(frame: Node<'a, '_>) -> Option<&'a str> {
    attribute(frame, "presentation", "class")
}

/// A text that may be opened.
fn fold(name: &str, text: &str, out: &mut String) {
    if !text.is_empty() {
        let _ =
            writeln!(out, "<details style=\"margin:6pt 0 0\"><summary>{name}</summary>\n{text}</details>");
    }
}

/// All text of a node, its paragraphs and lines apart from each other.
fn spoken(node: Node<'_, '_>) -> String {
    let mut text = String::new();
    for one in node.descendants() {
        match name(one) {
            ("text", "p" | "h" | "line-break" | "tab" | "s") => text.push(' '),
            _ if one.is_text() => text.push_str(one.text().unwrap_or_default()),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
