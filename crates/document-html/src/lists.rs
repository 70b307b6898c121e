//! Lists: what stands before each item, and how deep it stands.

use std::fmt::Write as _;

use roxmltree::Node;

use crate::counters::{Counters, LEVELS};
use crate::css::{points, written};
use crate::html::{attribute as write_attribute, escaped};
use crate::limits::Error;
use crate::numbers::number_text;
use crate::writer::Writer;
use crate::xml::{attribute, child, name};

/// An item stands deeper than another one from here on, in points.
const STEP: f64 = 9.0;

/// What stands before an item.
#[derive(Debug, Clone, PartialEq)]
enum Mark {
    /// A bullet, by its CSS.
    Bullet(String),
    /// A number that HTML counts by itself: its `type`.
    Number(&'static str, u32),
    /// A text of ours.
    Label(String),
    /// Nothing.
    None,
}

struct Item<'a, 'i> {
    left: f64,
    mark: Mark,
    nodes: Vec<Node<'a, 'i>>,
}

/// What a list has come to.
#[derive(Default)]
struct Count<'a, 'i> {
    counters: Counters,
    items: Vec<Item<'a, 'i>>,
}

/// A list that is being written.
struct Open {
    left: f64,
    tag: &'static str,
    kind: String,
    next: u32,
}

impl Writer<'_, '_> {
    /// Lists that follow each other.
    pub(crate) fn lists(&mut self, lists: &[Node<'_, '_>], out: &mut String) -> Result<(), Error> {
        let mut items = Vec::new();
        for list in lists {
            items.extend(self.list_items(*list)?);
        }
        let mut open = Vec::new();
        for item in &items {
            self.item(item, &mut open, out)?;
        }
        close(&mut open, 0, out);
        Ok(())
    }

    /// The items of one list, its nested ones among them.
    fn list_items<'a, 'i>(&mut self, list: Node<'a, 'i>) -> Result<Vec<Item<'a, 'i>>, Error> {
        let style = attribute(list, "text", "style-name").unwrap_or_default();
        let continued = attribute(list, "text", "continue-list");
        let before = match continued {
            Some(id) => self.numbers.by_list.get(id),
            None if attribute(list, "text", "continue-numbering") == Some("true") => {
                self.numbers.by_style.get(style)
            }
            None => None,
        };
        let mut count = Count { counters: before.copied().unwrap_or_default(), items: Vec::new() };
        self.level_items(list, (style, 0), &mut count)?;
        let id = list.attributes().find(|one| one.name() == "id").map(|one| one.value());
        for id in id.into_iter().chain(continued) {
            self.numbers.by_list.insert(id.to_owned(), count.counters);
        }
        self.numbers.by_style.insert(style.to_owned(), count.counters);
        // The first item tells where the list stands, the levels how deep the others are below it.
        let shift = count.items.first().map_or(0.0, |item| self.left_of_item(item, style) - item.left);
        count.items.iter_mut().for_each(|item| item.left += shift);
        Ok(count.items)
    }

    fn level_items<'a, 'i>(
        &mut self,
        list: Node<'a, 'i>,
        (style, level): (&str, usize),
        count: &mut Count<'a, 'i>,
    ) -> Result<(), Error> {
        self.enter("")?;
        let style = attribute(list, "text", "style-name").unwrap_or(style);
        for item in list.children().filter(|one| matches!(name(*one), ("text", "list-item" | "list-header")))
        {
            let mut nodes = Vec::new();
            let mut marked = name(item) == ("text", "list-header");
            for node in item.children().filter(Node::is_element) {
                if name(node) == ("text", "list") {
                    self.add_item((item, std::mem::take(&mut nodes)), (style, level), &mut marked, count);
                    self.level_items(node, (style, level + 1), count)?;
                } else {
                    nodes.push(node);
                }
            }
            self.add_item((item, nodes), (style, level), &mut marked, count);
        }
        self.leave();
        Ok(())
    }

    /// Adds a part of an item; its second part, behind a list within it, has no mark.
    fn add_item<'a, 'i>(
        &self,
        (item, nodes): (Node<'a, 'i>, Vec<Node<'a, 'i>>),
        (style, level): (&str, usize),
        marked: &mut bool,
        count: &mut Count<'a, 'i>,
    ) {
        if nodes.is_empty() {
            return;
        }
        let start = attribute(item, "text", "start-value").and_then(|one| one.parse().ok());
        let mark = if std::mem::replace(marked, true) {
            Mark::None
        } else {
            self.mark(style, level, start, &mut count.counters)
        };
        #[expect(clippy::cast_precision_loss, reason = "ten levels at most")]
        let left = level.min(LEVELS) as f64 * 2.0 * STEP;
        count.items.push(Item { left, mark, nodes });
    }

    /// Counts an item and says what stands before it.
    fn mark(&self, style: &str, level: usize, start: Option<u32>, counters: &mut Counters) -> Mark {
        let Some(definition) = self.level(style, level) else { return Mark::Bullet(String::new()) };
        let first = |definition| {
            attribute(definition, "text", "start-value").and_then(|one| one.parse().ok()).unwrap_or(1_u32)
        };
        if let Some(counter) = counters.get_mut(level) {
            *counter = Some(match (start, *counter) {
                (Some(start), _) => start,
                (None, None) => first(definition),
                (None, Some(before)) => before.saturating_add(1),
            });
        }
        counters.iter_mut().skip(level + 1).for_each(|deeper| *deeper = None);
        match name(definition) {
            ("text", "list-level-style-bullet") => {
                Mark::Bullet(bullet(attribute(definition, "text", "bullet-char").unwrap_or_default()))
            }
            ("text", "list-level-style-number" | "outline-level-style") => {
                self.number(style, level, definition, *counters)
            }
            _ => Mark::Bullet(String::new()),
        }
    }

    fn level(&self, style: &str, level: usize) -> Option<Node<'_, '_>> {
        let wanted = (level + 1).to_string();
        self.styles
            .list(style)?
            .children()
            .find(|one| attribute(*one, "text", "level") == Some(wanted.as_str()))
    }

    fn number(&self, style: &str, level: usize, definition: Node<'_, '_>, counters: Counters) -> Mark {
        let format = attribute(definition, "style", "num-format").unwrap_or_default();
        let value = counters.get(level).copied().flatten().unwrap_or(1);
        let own = format!("%{}%", level + 1);
        let part = |name| attribute(definition, "style", name).unwrap_or_default();
        let composed = || format!("{}{own}{}", part("num-prefix"), part("num-suffix"));
        let pattern = attribute(definition, "loext", "num-list-format").map_or_else(composed, str::to_owned);
        let plain = pattern.strip_prefix(&own).is_some_and(|rest| matches!(rest.trim(), "" | "." | ")"));
        if let (true, Some(kind)) = (plain, html_type(format)) {
            return Mark::Number(kind, value);
        }
        let mut label = pattern;
        for (place, counter) in counters.iter().enumerate().take(level + 1) {
            let format =
                self.level(style, place).and_then(|one| attribute(one, "style", "num-format")).unwrap_or("1");
            label = label.replace(&format!("%{}%", place + 1), &number_text(counter.unwrap_or(1), format));
        }
        let label = label.trim();
        if label.is_empty() { Mark::None } else { Mark::Label(label.to_owned()) }
    }

    /// Where an item stands, in points: as its paragraph says, or the list.
    fn left_of_item(&self, item: &Item<'_, '_>, style: &str) -> f64 {
        let paragraph =
            item.nodes.first().and_then(|one| attribute(*one, "text", "style-name")).unwrap_or_default();
        let listed = || {
            let properties = child(self.level(style, 0)?, "style", "list-level-properties")?;
            let alignment = child(properties, "style", "list-level-label-alignment")?;
            attribute(alignment, "fo", "margin-left").and_then(points)
        };
        let own = self.styles.declared("paragraph", paragraph).left.filter(|left| *left > 0.0);
        own.or_else(listed).unwrap_or(0.0)
    }

    fn item(&mut self, item: &Item<'_, '_>, open: &mut Vec<Open>, out: &mut String) -> Result<(), Error> {
        let nodes: Vec<_> =
            item.nodes.iter().copied().filter(|node| !self.is_hidden_paragraph(*node)).collect();
        let Some((first, others)) = nodes.split_first() else { return Ok(()) };
        if name(*first) == ("text", "h") {
            close(open, 0, out);
            self.label = match &item.mark {
                Mark::Label(label) => Some(escaped(label) + "&emsp;"),
                Mark::Number(kind, value) => Some(number_text(*value, kind) + ".&emsp;"),
                Mark::Bullet(_) | Mark::None => None,
            };
            self.all_blocks(&nodes, out)?;
            self.label = None;
            return Ok(());
        }
        open_item(item, open, out);
        let style = attribute(*first, "text", "style-name").unwrap_or_default();
        let mut attributes = String::new();
        let mut inner = String::new();
        if let Mark::Label(label) = &item.mark {
            self.label = Some(escaped(label) + "&ensp;");
        }
        if name(*first) == ("text", "p") {
            if let Some(mut paragraph) = self.paragraph_parts(*first, false, &mut inner)? {
                if self.styles.effective("paragraph", style).contextual != Some(true) {
                    let (above, below) = paragraph.margins;
                    paragraph.style.add("margin", &format!("{} 0 {}", written(above), written(below)));
                }
                if matches!(item.mark, Mark::Label(_) | Mark::None) {
                    paragraph.style.add("list-style-type", "none");
                }
                attributes.push_str(&paragraph.attributes);
                paragraph.style.write(&mut attributes);
                inner.push_str(&paragraph.inner);
            }
        } else {
            self.all_blocks(std::slice::from_ref(first), &mut inner)?;
        }
        // What took no label leaves none for what comes behind.
        self.label = None;
        let _ = write!(out, "{attributes}>{inner}");
        self.all_blocks(others, out)
    }

    fn is_hidden_paragraph(&self, node: Node<'_, '_>) -> bool {
        let style = attribute(node, "text", "style-name").unwrap_or_default();
        matches!(name(node), ("text", "p" | "h"))
            && self.styles.effective("paragraph", style).hidden == Some(true)
    }
}

/// Closes and opens lists until the item can be written, and begins it.
fn open_item(item: &Item<'_, '_>, open: &mut Vec<Open>, out: &mut String) {
    while open.len() > 1 && open.last().is_some_and(|list| list.left - item.left > STEP) {
        let depth = open.len() - 1;
        close(open, depth, out);
    }
    let (tag, kind, value) = match &item.mark {
        Mark::Bullet(kind) => ("ul", kind.clone(), None),
        Mark::Number(kind, value) => ("ol", (*kind).to_owned(), Some(*value)),
        Mark::Label(_) => ("ol", "-".to_owned(), None),
        Mark::None => {
            open.last().map_or(("ul", String::new(), None), |list| (list.tag, list.kind.clone(), None))
        }
    };
    let deeper = open.last().is_none_or(|list| item.left - list.left > STEP);
    if !deeper && open.last().is_some_and(|list| list.tag != tag || list.kind != kind) {
        let depth = open.len() - 1;
        close(open, depth, out);
    } else if !deeper {
        out.push_str("</li>\n");
    }
    if deeper
        || open.last().is_none_or(|list| list.tag != tag || list.kind != kind || item.left - list.left > STEP)
    {
        open_list((tag, &kind, value), item.left, open, out);
    }
    out.push_str("<li");
    if let Some((list, value)) = open.last_mut().zip(value) {
        if list.next != value {
            let _ = write!(out, " value=\"{value}\"");
        }
        list.next = value.saturating_add(1);
    }
}

fn open_list(
    (tag, kind, value): (&'static str, &str, Option<u32>),
    left: f64,
    open: &mut Vec<Open>,
    out: &mut String,
) {
    let _ = write!(out, "\n<{tag}");
    match (tag, kind) {
        ("ol", "-") => write_attribute("style", "margin:0;list-style-type:none", out),
        ("ol", _) => {
            if kind != "1" {
                write_attribute("type", kind, out);
            }
            if let Some(value) = value.filter(|value| *value != 1) {
                let _ = write!(out, " start=\"{value}\"");
            }
            write_attribute("style", "margin:0", out);
        }
        _ if kind.is_empty() => write_attribute("style", "margin:0", out),
        _ => write_attribute("style", &format!("margin:0;list-style-type:{kind}"), out),
    }
    out.push_str(">\n");
    open.push(Open { left, tag, kind: kind.to_owned(), next: value.unwrap_or(1) });
}

/// Closes lists until `depth` of them are open.
fn close(open: &mut Vec<Open>, depth: usize, out: &mut String) {
    while open.len() > depth {
        if let Some(list) = open.pop() {
            let _ = writeln!(out, "</li>\n</{}>", list.tag);
        }
    }
}

/// What CSS calls a bullet; empty for the usual one.
fn bullet(character: &str) -> String {
    match character.chars().next() {
        Some('o' | '◦' | '○') => "circle".to_owned(),
        Some('■' | '▪' | '\u{f0a7}' | '\u{f06e}') => "square".to_owned(),
        Some(dash @ ('–' | '—' | '-' | '→' | '✓' | '➢' | '*' | '✔')) => format!("'{dash} '"),
        Some(_) | None => String::new(),
    }
}

fn html_type(format: &str) -> Option<&'static str> {
    ["1", "a", "A", "i", "I"].into_iter().find(|one| *one == format)
}
