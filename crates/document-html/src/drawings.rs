//! Pictures, text boxes and drawings.

use std::fmt::Write as _;

use roxmltree::Node;

use crate::css::{border, colour, points, written};
use crate::html::{Declarations, attribute as write_attribute};
use crate::limits::Error;
use crate::look::Look;
use crate::writer::{Writer, text_of};
use crate::xml::{attribute, child, name};

/// What is drawn without a frame.
const SHAPES: [&str; 13] = [
    "custom-shape",
    "rect",
    "ellipse",
    "circle",
    "line",
    "polyline",
    "polygon",
    "regular-polygon",
    "path",
    "connector",
    "measure",
    "caption",
    "scene",
];

impl Writer<'_, '_> {
    /// Whatever is drawn: a picture is written into the line, a box with text above it.
    pub(crate) fn drawing(&mut self, node: Node<'_, '_>, look: &Look, out: &mut String) -> Result<(), Error> {
        match name(node) {
            ("draw", "a") => self.link(node, look, out),
            ("draw", "frame") => self.frame(node, out),
            ("draw", "g") => self.group(node, out),
            ("draw" | "dr3d", shape) if SHAPES.contains(&shape) => self.shape(node, out),
            _ => Ok(()),
        }
    }

    fn frame(&mut self, frame: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        if let Some(text) = child(frame, "draw", "text-box") {
            return self.text_box(frame, text);
        }
        if let Some(table) = child(frame, "table", "table") {
            let mut text = String::new();
            self.table(table, &mut text)?;
            self.above.push_str(&text);
            return Ok(());
        }
        self.picture(frame, out)
    }

    /// A box with text: its border and background, floating where it has text beside it.
    fn text_box(&mut self, frame: Node<'_, '_>, text: Node<'_, '_>) -> Result<(), Error> {
        let above = std::mem::take(&mut self.above);
        let mut inner = String::new();
        self.blocks(text, &mut inner)?;
        self.above = above;
        if inner.is_empty() {
            return Ok(());
        }
        let mut style = Declarations::default();
        let property = |name| self.graphic(frame, name);
        let line = property(("fo", "border")).and_then(border);
        let stroke = || {
            let drawn = property(("draw", "stroke")).is_some_and(|stroke| stroke != "none");
            property(("svg", "stroke-color"))
                .filter(|_| drawn)
                .and_then(colour)
                .map(|colour| format!("1pt solid {colour}"))
        };
        let line = line.or_else(stroke);
        let filled = property(("draw", "fill")) == Some("solid");
        let fill = property(("draw", "fill-color"))
            .filter(|_| filled)
            .or_else(|| property(("fo", "background-color")));
        let fill = fill.and_then(colour);
        if line.is_some() || fill.is_some() {
            style.add("padding", "4pt 8pt");
        }
        if let Some(line) = line {
            style.add("border", &line);
        }
        if let Some(fill) = fill {
            style.add("background-color", &fill);
        }
        if let Some(width) = size(frame, "width") {
            style.add("width", &written(width));
            style.add("max-width", "100%");
            style.add("box-sizing", "border-box");
        }
        self.float(frame, &mut style);
        self.above.push_str("<div");
        let mut written = String::new();
        style.write(&mut written);
        let _ = writeln!(self.above, "{written}>\n{inner}</div>");
        Ok(())
    }

    /// A drawing by itself. One with text is a box with that text.
    fn shape(&mut self, shape: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        if has_text(shape) { self.text_box(shape, shape) } else { self.picture(shape, out) }
    }

    /// Drawings that belong together are one picture, where LibreOffice drew it.
    fn group(&mut self, group: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        if let Some(address) = self.drawn.of(group) {
            let text = alternative(group).unwrap_or_else(|| spaced_text(group));
            self.image(group, &address, &text, out);
            return Ok(());
        }
        self.enter(out)?;
        for node in group.children().filter(|one| is_drawing(*one)) {
            self.drawing(node, &Look::default(), out)?;
        }
        self.leave();
        Ok(())
    }

    fn picture(&mut self, frame: Node<'_, '_>, out: &mut String) -> Result<(), Error> {
        let text = alternative(frame).unwrap_or_default();
        if let Some(address) = self.address(frame)? {
            self.image(frame, &address, &text, out);
        } else {
            // A picture of another host was never fetched; what it shows is said where its author has said it.
            self.missing += 1;
            crate::html::escape(&text, out);
        }
        self.check(out)
    }

    /// The picture of a frame, as an address: that of the package, or that which LibreOffice drew.
    pub(crate) fn address(&mut self, frame: Node<'_, '_>) -> Result<Option<String>, Error> {
        let mut outside = false;
        if child(frame, "draw", "object").is_none() {
            for image in frame.children().filter(|one| name(*one) == ("draw", "image")) {
                let path = attribute(image, "xlink", "href").unwrap_or_default();
                outside |= path.contains("://");
                if let Some(address) = self.packed(path)? {
                    return Ok(Some(address));
                }
            }
        }
        Ok(if outside { None } else { self.drawn.of(frame) })
    }

    fn image(&mut self, frame: Node<'_, '_>, address: &str, text: &str, out: &mut String) {
        let mut style = Declarations::default();
        style.add("max-width", "100%");
        style.add("height", "auto");
        self.float(frame, &mut style);
        out.push_str("<img");
        write_attribute("src", address, out);
        write_attribute("alt", text, out);
        // Of a picture that is cut the proportions are not those of its frame.
        let cut = self.graphic(frame, ("fo", "clip")).is_some_and(is_cut);
        for (name, wanted) in [("width", true), ("height", !cut)] {
            if let Some(points) = size(frame, name).filter(|_| wanted) {
                let _ = write!(out, " {name}=\"{}\"", (points / 0.75).round());
            }
        }
        style.write(out);
        out.push('>');
    }

    /// At which side it stands, if text stands at the other one.
    fn float(&self, frame: Node<'_, '_>, style: &mut Declarations) {
        let in_line = attribute(frame, "text", "anchor-type").is_none_or(|one| one == "as-char");
        if in_line
            || !matches!(
                self.graphic(frame, ("style", "wrap")),
                Some("left" | "right" | "parallel" | "dynamic" | "biggest")
            )
        {
            return;
        }
        let middle = self.styles.text_width().unwrap_or(450.0) / 2.0;
        let beyond = attribute(frame, "svg", "x").and_then(points).is_some_and(|left| left > middle - 36.0);
        match self.graphic(frame, ("style", "horizontal-pos")) {
            Some("right" | "outside") => style.add("float", "right"),
            Some("from-left" | "from-inside") | None if beyond => style.add("float", "right"),
            Some("center") => return,
            Some(_) | None => style.add("float", "left"),
        }
        style.add("margin", "0 8pt 8pt");
    }

    pub(crate) fn graphic(&self, frame: Node<'_, '_>, property: (&str, &str)) -> Option<&str> {
        let style = attribute(frame, "draw", "style-name").unwrap_or_default();
        self.styles.property("graphic", style, "graphic-properties", property)
    }
}

/// Whether an element, as LibreOffice calls it, is drawn and no picture of the package shows it.
pub fn is_only_drawn(element: &str) -> bool {
    let drawn = element.strip_prefix("draw:").or_else(|| element.strip_prefix("dr3d:"));
    drawn.is_some_and(|name| matches!(name, "object" | "object-ole" | "g") || SHAPES.contains(&name))
}

/// Whether an element is one of what is drawn.
pub fn is_drawing(node: Node<'_, '_>) -> bool {
    name(node).0 == "draw" || name(node) == ("dr3d", "scene")
}

fn size(frame: Node<'_, '_>, name: &str) -> Option<f64> {
    attribute(frame, "svg", name).and_then(points).filter(|size| *size > 0.0)
}

/// What the author says a picture shows.
pub fn alternative(frame: Node<'_, '_>) -> Option<String> {
    let text = |local| child(frame, "svg", local).map(text_of).filter(|text| !text.trim().is_empty());
    text("desc").or_else(|| text("title"))
}

fn has_text(node: Node<'_, '_>) -> bool {
    let paragraphs = node.children().filter(|one| matches!(name(*one), ("text", "p" | "list")));
    paragraphs.map(text_of).any(|text| !text.trim().is_empty())
}

fn spaced_text(node: Node<'_, '_>) -> String {
    let paragraphs = node.descendants().filter(|one| name(*one) == ("text", "p")).map(text_of);
    let texts: Vec<_> = paragraphs.filter(|text| !text.trim().is_empty()).collect();
    texts.join(" · ")
}

/// `rect(0in, 0in, 0.2in, 0in)`.
fn is_cut(value: &str) -> bool {
    let inside = value.trim_start_matches("rect(").trim_end_matches(')');
    inside.split([',', ' ']).filter_map(points).any(|side| side != 0.0)
}
