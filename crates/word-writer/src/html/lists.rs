//! Lists: which one an item belongs to, on which level, and what stands before it.

use std::collections::HashMap;

use crate::model::{Level, List, Marker};

use super::css;
use super::tree::{Element, Id, Tree};

/// Word's levels of a list.
const LEVELS: u8 = 9;
/// Beyond so many lists, further ones go on with the numbers of the one they would have branched off.
const MOST: usize = 1000;

/// The lists of a text while it is read.
#[derive(Default)]
pub struct Lists {
    drafts: Vec<[Option<Level>; LEVELS as usize]>,
    /// Lists of Word's clipboard, by the names they have there.
    word: HashMap<String, usize>,
}

/// An `ol` or `ul` that is being read.
#[derive(Clone, Copy)]
pub struct OpenList {
    /// Of [`crate::model::Document::lists`].
    pub list: usize,
    /// 0 to 8.
    pub level: u8,
    marker: Marker,
    start: u32,
    /// So many cells were open when it began.
    pub frame: usize,
}

/// An `li` that is being read.
#[derive(Clone, Copy)]
pub struct OpenItem {
    /// Of [`crate::model::Document::lists`].
    pub list: usize,
    /// 0 to 8.
    pub level: u8,
    /// Its number or bullet has not been written.
    pub awaits_marker: bool,
    /// It has a checkbox that became its bullet.
    pub task: bool,
    /// It contains a list already.
    nested: bool,
    /// So many cells were open when it began.
    pub frame: usize,
}

impl Lists {
    /// The lists, all levels told.
    pub fn finish(self) -> Vec<List> {
        self.drafts.iter().map(|draft| List { levels: complete(draft) }).collect()
    }

    /// Begins an `ol` or `ul`, within an item or not.
    pub fn open(
        &mut self,
        element: &Element,
        name: &str,
        parent: Option<&mut OpenItem>,
        frame: usize,
    ) -> OpenList {
        let level = parent.as_ref().map_or(0, |item| (item.level + 1).min(LEVELS - 1));
        let marker =
            list_marker(element).unwrap_or(if name == "ol" { Marker::Decimal } else { bullet(level) });
        let start = element.attribute("start").and_then(number).unwrap_or(1);
        let list = match parent {
            Some(item) => {
                let again = std::mem::replace(&mut item.nested, true);
                self.place(item.list, level, Level { marker, start }, again)
            }
            None => self.begin(None, level, Level { marker, start }),
        };
        OpenList { list, level, marker, start, frame }
    }

    /// Begins an `li`; one outside of any list is of a list of its own.
    pub fn item(
        &mut self,
        (tree, id): (&Tree, Id),
        element: &Element,
        open: Option<&mut OpenList>,
        frame: usize,
    ) -> OpenItem {
        let mut alone = OpenList { list: usize::MAX, level: 0, marker: Marker::Disc, start: 1, frame };
        let open = open.unwrap_or(&mut alone);
        if open.list == usize::MAX {
            open.list = self.begin(None, 0, Level { marker: Marker::Disc, start: 1 });
        }
        let deeper = quill_indent(element);
        let level = open.level.saturating_add(deeper).min(LEVELS - 1);
        let state = task(tree, id, element);
        let usual = if open.marker == Marker::Decimal { numbered(deeper) } else { open.marker };
        let marker = state.or_else(|| item_marker(element, deeper)).unwrap_or(usual);
        let start = if level == open.level { open.start } else { 1 };
        if let Some(value) = element.attribute("value").and_then(number).filter(|_| counts(marker)) {
            open.list = self.begin(Some(open.list), level, Level { marker, start: value });
            // What follows goes on from there.
            open.start = if level == open.level { value } else { open.start };
        }
        let list = match element.attribute("value") {
            Some(_) => open.list,
            None => self.place(open.list, level, Level { marker, start }, false),
        };
        OpenItem { list, level, awaits_marker: true, task: state.is_some(), nested: false, frame }
    }

    /// An item as Word puts it on the clipboard: a paragraph whose style names list and level.
    pub fn word_item(&mut self, tree: &Tree, id: Id, element: &Element, frame: usize) -> Option<OpenItem> {
        let (_, value) = css::declarations(element.attribute("style")?)
            .into_iter()
            .find(|(name, _)| name == "mso-list")?;
        let mut parts = value.split_ascii_whitespace();
        let name = parts.next()?;
        let level: u8 = parts.next()?.strip_prefix("level")?.parse().ok()?;
        let level = level.clamp(1, LEVELS) - 1;
        let key = format!("{name} {}", parts.next().unwrap_or_default());
        let marker = word_marker(tree, id);
        let list = match self.word.get(&key) {
            Some(&list) => list,
            None => self.begin(None, level, Level { marker, start: 1 }),
        };
        self.word.entry(key).or_insert(list);
        let list = self.place(list, level, Level { marker, start: 1 }, false);
        Some(OpenItem { list, level, awaits_marker: true, task: false, nested: false, frame })
    }

    /// The list in which `level` is so: the same, if it is or was not told, else one branched off.
    fn place(&mut self, list: usize, level: u8, wanted: Level, again: bool) -> usize {
        let Some(slot) = self.drafts.get_mut(list).and_then(|draft| draft.get_mut(usize::from(level))) else {
            return list;
        };
        match slot {
            None => *slot = Some(wanted),
            Some(present) if *present == wanted && (!again || !counts(wanted.marker)) => {}
            Some(_) => return self.begin(Some(list), level, wanted),
        }
        list
    }

    fn begin(&mut self, like: Option<usize>, level: u8, first: Level) -> usize {
        if self.drafts.len() >= MOST {
            return like.unwrap_or(MOST - 1);
        }
        let mut draft = like.and_then(|list| self.drafts.get(list)).copied().unwrap_or_default();
        for (place, slot) in draft.iter_mut().enumerate() {
            match place.cmp(&usize::from(level)) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => *slot = Some(first),
                std::cmp::Ordering::Greater => *slot = None,
            }
        }
        self.drafts.push(draft);
        self.drafts.len() - 1
    }
}

fn complete(draft: &[Option<Level>]) -> Vec<Level> {
    let counting = draft.iter().flatten().next().is_some_and(|level| counts(level.marker));
    let usual = |place: usize| {
        let level = u8::try_from(place).unwrap_or(0);
        Level { marker: if counting { numbered(level) } else { bullet(level) }, start: 1 }
    };
    draft.iter().enumerate().map(|(place, level)| level.unwrap_or_else(|| usual(place))).collect()
}

/// Whether it is a number.
pub fn counts(marker: Marker) -> bool {
    match marker {
        Marker::None
        | Marker::Disc
        | Marker::Circle
        | Marker::Square
        | Marker::Unchecked
        | Marker::Checked => false,
        Marker::Decimal
        | Marker::DecimalZero
        | Marker::LowerLetter
        | Marker::UpperLetter
        | Marker::LowerRoman
        | Marker::UpperRoman => true,
    }
}

fn bullet(level: u8) -> Marker {
    match level {
        0 => Marker::Disc,
        1 => Marker::Circle,
        _ => Marker::Square,
    }
}

fn numbered(level: u8) -> Marker {
    match level % 3 {
        0 => Marker::Decimal,
        1 => Marker::LowerLetter,
        _ => Marker::LowerRoman,
    }
}

fn number(value: &str) -> Option<u32> {
    value.trim().parse::<u32>().ok().filter(|&number| number <= 32_767)
}

/// What `type` and `list-style-type` say.
fn list_marker(element: &Element) -> Option<Marker> {
    let style = css::declarations(element.attribute("style").unwrap_or_default());
    let styled = style
        .iter()
        .filter(|(name, _)| name == "list-style-type" || name == "list-style")
        .find_map(|(_, value)| css::parts(value).find_map(named_marker));
    styled.or_else(|| match element.attribute("type")?.trim() {
        "1" => Some(Marker::Decimal),
        "a" => Some(Marker::LowerLetter),
        "A" => Some(Marker::UpperLetter),
        "i" => Some(Marker::LowerRoman),
        "I" => Some(Marker::UpperRoman),
        other => named_marker(other),
    })
}

fn named_marker(value: &str) -> Option<Marker> {
    match value.to_ascii_lowercase().as_str() {
        "none" => Some(Marker::None),
        "disc" => Some(Marker::Disc),
        "circle" => Some(Marker::Circle),
        "square" => Some(Marker::Square),
        "decimal" => Some(Marker::Decimal),
        "decimal-leading-zero" => Some(Marker::DecimalZero),
        "lower-alpha" | "lower-latin" | "lower-greek" => Some(Marker::LowerLetter),
        "upper-alpha" | "upper-latin" => Some(Marker::UpperLetter),
        "lower-roman" => Some(Marker::LowerRoman),
        "upper-roman" => Some(Marker::UpperRoman),
        _ => None,
    }
}

fn item_marker(element: &Element, deeper: u8) -> Option<Marker> {
    match element.attribute("data-list") {
        Some("ordered") => Some(numbered(deeper)),
        Some("bullet") => Some(bullet(deeper)),
        Some(_) | None => list_marker(element),
    }
}

fn quill_indent(element: &Element) -> u8 {
    let classes = element.attribute("class").unwrap_or_default();
    classes.split_ascii_whitespace().find_map(|one| one.strip_prefix("ql-indent-")?.parse().ok()).unwrap_or(0)
}

/// Whether it is a task, done or not: Quill and `TipTap` say it by an attribute, others by a checkbox at its beginning.
fn task(tree: &Tree, id: Id, element: &Element) -> Option<Marker> {
    let marker = |done: bool| if done { Marker::Checked } else { Marker::Unchecked };
    match (element.attribute("data-list"), element.attribute("data-checked")) {
        (Some("checked"), _) | (_, Some("true")) => return Some(Marker::Checked),
        (Some("unchecked"), _) | (_, Some("false")) => return Some(Marker::Unchecked),
        _ => {}
    }
    let mut place = id;
    for _ in 0..4 {
        let blank = |id: &Id| match tree.node(*id).map(|node| &node.data) {
            Some(super::tree::Data::Text(text)) => text.trim_ascii().is_empty(),
            Some(super::tree::Data::Nothing) => true,
            Some(super::tree::Data::Element(_)) | None => false,
        };
        place = tree.children(place).take(8).find(|id| !blank(id))?;
        let first = tree.element(place)?;
        if is_checkbox(first) {
            return Some(marker(first.attribute("checked").is_some()));
        }
    }
    None
}

/// Whether it is a checkbox.
pub fn is_checkbox(element: &Element) -> bool {
    element.name() == Some("input")
        && element.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
}

/// The marker that Word has put as text into a span that a browser is told to pass over.
fn word_marker(tree: &Tree, id: Id) -> Marker {
    let mut place = Some(id);
    for _ in 0..8 {
        let Some(first) = place.and_then(|one| tree.node(one)?.first) else { break };
        if let Some(super::tree::Data::Text(text)) = tree.node(first).map(|node| &node.data) {
            let text = text.trim();
            return match text.as_bytes() {
                [b'0'..=b'9', ..] => Marker::Decimal,
                [b'i' | b'v' | b'x', b'.' | b')' | b'i' | b'v' | b'x', ..] => Marker::LowerRoman,
                [b'I' | b'V' | b'X', b'.' | b')' | b'I' | b'V' | b'X', ..] => Marker::UpperRoman,
                [b'a'..=b'z', b'.' | b')', ..] => Marker::LowerLetter,
                [b'A'..=b'Z', b'.' | b')', ..] => Marker::UpperLetter,
                _ => Marker::Disc,
            };
        }
        place = Some(first);
    }
    Marker::Disc
}
