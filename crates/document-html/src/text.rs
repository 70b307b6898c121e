//! Blocks, paragraphs and what stands in a line.

use std::fmt::Write as _;

use roxmltree::Node;

use crate::css::written;
use crate::html::{Declarations, attribute as write_attribute, escape, escaped, is_harmless, open_run};
use crate::limits::Error;
use crate::look::{Look, side};
use crate::writer::{Writer, place, text_of};
use crate::xml::{attribute, child, name};

/// Headings, by their levels.
const TAGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];

/// What a paragraph is made of, before it is known what element it becomes.
pub struct Paragraph {
    /// How it differs from what stands around it.
    pub style: Declarations,
    /// Points above and below.
    pub margins: (f64, f64),
    /// Other attributes, written.
    pub attributes: String,
    /// What is in it.
    pub inner: String,
}

impl Writer<'_, '_> {
    /// The blocks below a node.
    pub(crate) fn blocks(&mut self, parent: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        let children: Vec<_> = parent.children().filter(Node::is_element).collect();
        self.all_blocks(&children, out)
    }

    /// Blocks one after the other.
    pub(crate) fn all_blocks(&mut self, nodes: &[Node<'_, '_>], out: &mut String) -> Result<(), Error> {
        self.enter(out)?;
        let mut rest = nodes;
        while let Some((first, others)) = rest.split_first() {
            if name(*first) == ("text", "list") {
                // Word's nested lists are often lists side by side, which only their indents make one.
                let run = rest.iter().take_while(|one| name(**one) == ("text", "list")).count();
                let (lists, others) = rest.split_at(run);
                self.lists(lists, out)?;
                rest = others;
            } else {
                self.block(*first, out)?;
                rest = others;
            }
        }
        self.leave();
        Ok(())
    }

    fn block(&mut self, node: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        match name(node) {
            ("text", "p") => self.paragraph(node, "p", out),
            ("text", "h") => self.heading(node, out),
            ("table", "table") => self.table(node, out),
            ("text", "section") if attribute(node, "text", "display") == Some("none") => Ok(()),
            ("text", "section" | "index-body" | "index-title" | "numbered-paragraph") => {
                self.blocks(node, out)
            }
            (
                "text",
                "table-of-content" | "alphabetical-index" | "bibliography" | "illustration-index"
                | "object-index" | "table-index" | "user-index",
            ) => {
                let outside = std::mem::replace(&mut self.in_index, true);
                let written = self.blocks(node, out);
                self.in_index = outside;
                written
            }
            ("draw", _) | ("dr3d", "scene") => {
                // What is anchored to a page stands in no paragraph.
                let (mut line, look) = (String::new(), Look::default());
                let outside = std::mem::take(&mut self.above);
                self.drawing(node, &look, &mut line)?;
                let above = std::mem::replace(&mut self.above, outside);
                out.push_str(&above);
                if !line.is_empty() {
                    let _ = writeln!(out, "<div>{line}</div>");
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn heading(&mut self, node: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        let level: usize =
            attribute(node, "text", "outline-level").and_then(|one| one.parse().ok()).unwrap_or(1);
        self.paragraph(node, TAGS.get(level.clamp(1, 6) - 1).unwrap_or(&"h6"), out)
    }

    /// A paragraph or a heading as an element of its own.
    pub(crate) fn paragraph(&mut self, node: Node<'_, '_>, tag: &str, out: &mut String) -> Result<(), Error> {
        let Some(mut paragraph) = self.paragraph_parts(node, tag != "p", out)? else { return Ok(()) };
        let (above, below) = paragraph.margins;
        let left = self.left_of(node);
        let mut margin = format!("{} 0 {}", written(above), written(below));
        if left > 0.0 {
            let _ = write!(margin, " {}", written(left));
        }
        paragraph.style.add("margin", if above + below + left > 0.0 { &margin } else { "0" });
        let _ = write!(out, "<{tag}{}", paragraph.attributes);
        paragraph.style.write(out);
        let inner = if paragraph.inner.is_empty() { "&nbsp;" } else { &paragraph.inner };
        let _ = writeln!(out, ">{inner}</{tag}>");
        self.check(out)
    }

    /// How far a paragraph stands from the left, in points.
    pub(crate) fn left_of(&self, node: Node<'_, '_>) -> f64 {
        let style = attribute(node, "text", "style-name").unwrap_or_default();
        // Beyond this there is no room for text on a telephone.
        self.styles.effective("paragraph", style).left.unwrap_or(0.0).clamp(0.0, 144.0)
    }

    /// What a paragraph is made of; nothing for one that shows nothing. What must stand above it is written.
    pub(crate) fn paragraph_parts(
        &mut self,
        node: Node<'_, '_>,
        heading: bool,
        out: &mut String,
    ) -> Result<Option<Paragraph>, Error> {
        let look =
            self.styles.effective("paragraph", attribute(node, "text", "style-name").unwrap_or_default());
        if look.hidden == Some(true) {
            return Ok(None);
        }
        let outside = std::mem::take(&mut self.above);
        let mut inner = self.label.take().unwrap_or_default();
        self.line(node, &look, &mut inner)?;
        let above = std::mem::replace(&mut self.above, outside);
        out.push_str(&above);
        if inner.is_empty() && !above.is_empty() {
            return Ok(None);
        }
        let mut attributes = String::new();
        if look.from_right == Some(true) {
            write_attribute("dir", "rtl", &mut attributes);
        }
        if let Some(language) = look.language.as_deref().filter(|_| look.language != self.base.language) {
            write_attribute("lang", language, &mut attributes);
        }
        let margins = (look.above.unwrap_or(0.0).max(0.0), look.below.unwrap_or(0.0).max(0.0));
        Ok(Some(Paragraph { style: self.difference(&look, heading), margins, attributes, inner }))
    }

    /// What a paragraph's look says that the element around everything does not.
    fn difference(&self, look: &Look, heading: bool) -> Declarations {
        let mut style = Declarations::default();
        for (name, value) in &look.css {
            let around = self.base.css.get(name).map(String::as_str);
            match *name {
                "margin-right" => {}
                "text-align" => {
                    let usual = if look.from_right == Some(true) { "right" } else { "left" };
                    let around = around.filter(|value| *value != "start").map_or(usual, side);
                    if side(value) != around {
                        style.add(name, side(value));
                    }
                }
                _ if around == Some(value) => {}
                _ => style.add(name, value),
            }
        }
        if let Some(size) = look.size.filter(|_| heading || look.size != self.base.size) {
            style.add("font-size", &written(size));
        }
        let flag = |one: Option<bool>| one == Some(true);
        if heading || flag(look.bold) != flag(self.base.bold) {
            style.add("font-weight", if flag(look.bold) { "bold" } else { "normal" });
        }
        if flag(look.italic) != flag(self.base.italic) {
            style.add("font-style", if flag(look.italic) { "italic" } else { "normal" });
        }
        if flag(look.underlined) || flag(look.struck) {
            style.add("text-decoration", if flag(look.underlined) { "underline" } else { "line-through" });
        }
        style
    }

    /// What stands in a line, below a node; `look` is what holds there.
    pub(crate) fn line(&mut self, parent: Node<'_, '_>, look: &Look, out: &mut String) -> Result<(), Error> {
        self.enter(out)?;
        for node in parent.children() {
            if self.in_index && name(node) == ("text", "tab") && is_page_number(node) {
                break;
            }
            self.inline(node, look, out)?;
        }
        self.leave();
        Ok(())
    }

    fn inline(&mut self, node: Node<'_, '_>, look: &Look, out: &mut String) -> Result<(), Error> {
        if node.is_text() {
            escape(node.text().unwrap_or_default(), out);
            return Ok(());
        }
        match name(node) {
            ("text", "span") => self.run(node, look, out),
            ("text", "a") => self.link(node, look, out),
            ("draw", _) | ("dr3d", "scene") => self.drawing(node, look, out),
            ("text", "s") => {
                let count = attribute(node, "text", "c").and_then(|one| one.parse().ok()).unwrap_or(1_usize);
                // The first may break the line, as a blank does.
                out.push_str(if out.is_empty() { "&nbsp;" } else { " " });
                out.push_str(&"&nbsp;".repeat(count.clamp(1, 200) - 1));
                Ok(())
            }
            ("text", "tab") => {
                out.push_str("&emsp;");
                Ok(())
            }
            ("text", "line-break") => {
                out.push_str("<br>");
                Ok(())
            }
            ("text", "bookmark" | "bookmark-start" | "reference-mark" | "reference-mark-start") => {
                if let Some(id) = attribute(node, "text", "name").and_then(|name| self.target(name)) {
                    let _ = write!(out, "<a id=\"{id}\"></a>");
                }
                Ok(())
            }
            ("text", "note") => self.note(node, out),
            ("text", "ruby") => self.ruby(node, look, out),
            // Remarks, marks of changes, what is hidden, and numbers of pages, of which there are none.
            ("", _)
            | ("office", "annotation" | "annotation-end")
            | (
                "text",
                "change"
                | "change-start"
                | "change-end"
                | "hidden-text"
                | "hidden-paragraph"
                | "page-number"
                | "page-count"
                | "soft-page-break"
                | "ruby-text"
                | "alphabetical-index-mark"
                | "toc-mark"
                | "user-index-mark",
            ) => Ok(()),
            // A field stands there as what it shows.
            _ => self.line(node, look, out),
        }
    }

    fn run(&mut self, node: Node<'_, '_>, look: &Look, out: &mut String) -> Result<(), Error> {
        let style = attribute(node, "text", "style-name").unwrap_or_default();
        let declared = self.styles.declared("text", style);
        if declared.hidden == Some(true) {
            return Ok(());
        }
        let own = declared.without(look);
        let ends = open_run(&own, out);
        self.line(node, &look.with(&own), out)?;
        for end in ends {
            out.push_str(end);
        }
        Ok(())
    }

    pub(crate) fn link(&mut self, node: Node<'_, '_>, look: &Look, out: &mut String) -> Result<(), Error> {
        let address = attribute(node, "xlink", "href").unwrap_or_default();
        let inside = place(address).and_then(|place| self.target(place)).map(|id| format!("#{id}"));
        let address = inside.or_else(|| is_harmless(address).then(|| address.to_owned()));
        let Some(address) = address else { return self.line(node, look, out) };
        out.push_str("<a");
        write_attribute("href", &address, out);
        out.push('>');
        self.line(node, look, out)?;
        out.push_str("</a>");
        Ok(())
    }

    fn note(&mut self, node: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        self.note_count += 1;
        let number = self.note_count;
        let citation = child(node, "text", "note-citation").map(text_of).unwrap_or_default();
        let citation = escaped(&citation);
        let _ =
            write!(out, "<sup><a id=\"note-{number}-place\" href=\"#note-{number}\">{citation}</a></sup>");
        let Some(body) = child(node, "text", "note-body") else { return Ok(()) };
        let back = format!("<a id=\"note-{number}\" href=\"#note-{number}-place\">{citation}</a> ");
        let (label, above) = (self.label.replace(back), std::mem::take(&mut self.above));
        let mut text = String::new();
        self.blocks(body, &mut text)?;
        (self.label, self.above) = (label, above);
        self.notes.push_str(&text);
        self.check(out)
    }

    fn ruby(&mut self, node: Node<'_, '_>, look: &Look, out: &mut String) -> Result<(), Error> {
        out.push_str("<ruby>");
        if let Some(base) = child(node, "text", "ruby-base") {
            self.line(base, look, out)?;
        }
        let reading = child(node, "text", "ruby-text").map(text_of).unwrap_or_default();
        let _ = write!(out, "<rp>(</rp><rt>{}</rt><rp>)</rp></ruby>", escaped(&reading));
        Ok(())
    }
}

/// What stands behind a tab in a table of contents and is but a number.
fn is_page_number(tab: Node<'_, '_>) -> bool {
    let rest: String = tab.next_siblings().skip(1).map(text_of).collect();
    rest.trim().chars().all(|one| one.is_ascii_digit() || matches!(one, 'i' | 'v' | 'x' | 'l' | 'c'))
}
