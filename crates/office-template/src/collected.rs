//! The tags of a template, collected while its parts are read for an outline.

use serde::Serialize;

use crate::error::{Fault, Spot};
use crate::lexer::{Expression, Tag};
use crate::program::code;
use crate::tags::{Tags, list};

/// Most tags that are listed; further ones are only counted.
const TAGS: usize = 5_000;

/// How deep sections are nested at most: as deep as the parser of [`Outline::steps`](crate::Outline::steps) reads.
const DEPTH: usize = 50;

/// A tag of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineTag {
    /// The part's name, such as `word/document.xml`; in a presentation its slide, such as `slide 3`.
    pub part: String,
    /// The paragraph in the part, counted from 1.
    pub paragraph: usize,
    /// What it is: `value`, `section`, `otherwise`, `end`, `image`, `qr`, `barcode`, `html`, `xml`, `delimiters`, or a command's
    /// name.
    pub kind: &'static str,
    /// As its author wrote it; a long one is cut.
    pub shown: String,
    /// Where it is in its part; `None` for a tag of a cell.
    pub(crate) spot: Option<Spot>,
    /// The text around it, for faults; empty where nothing can be said of it.
    pub(crate) around: String,
}

impl OutlineTag {
    /// A fault of the tag.
    pub fn fault(&self, message: &str) -> Fault {
        let fault = Fault::new(&self.part, self.paragraph, &self.shown, message);
        Fault { message: format!("{}{}", fault.message, self.around), ..fault }
    }
}

/// The tags and their steps, collected while the parts are read.
#[derive(Default)]
pub(crate) struct Collected {
    pub tags: Vec<OutlineTag>,
    pub count: usize,
    pub steps: Vec<Step>,
}

/// An expression; of a section also those inside of it.
#[derive(Serialize)]
pub(crate) struct Step {
    tag: usize,
    kind: &'static str,
    text: String,
    code: String,
    filters: Vec<Call>,
    body: Vec<Step>,
}

#[derive(Serialize)]
struct Call {
    name: String,
    codes: Vec<String>,
}

impl Collected {
    pub(crate) fn add(&mut self, name: &str, tags: &Tags) {
        let first = self.count;
        self.count += tags.all.len();
        let room = TAGS.saturating_sub(self.tags.len());
        self.tags.extend(tags.all.iter().take(room).map(|placed| OutlineTag {
            part: name.to_owned(),
            paragraph: placed.number,
            kind: kind(&placed.tag),
            shown: placed.shown.clone(),
            spot: Some(placed.spot()),
            around: String::new(),
        }));
        self.nest(tags.all.iter().map(|placed| &placed.tag), first);
    }

    /// Adds tags of cells: the cell, the tag, and its text as the author wrote it.
    pub(crate) fn add_cells(&mut self, cells: &[(String, &Tag, &str)]) {
        let first = self.count;
        self.count += cells.len();
        let room = TAGS.saturating_sub(self.tags.len());
        self.tags.extend(cells.iter().take(room).map(|(cell, tag, shown)| OutlineTag {
            part: cell.clone(),
            paragraph: 0,
            kind: kind(tag),
            shown: (*shown).to_owned(),
            spot: None,
            around: String::new(),
        }));
        self.nest(cells.iter().map(|(_, tag, _)| *tag), first);
    }

    /// How many steps there are outside of all sections.
    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Makes these steps the body of a section over `list`, whose tag has the number `tag`.
    pub(crate) fn nest_in(&mut self, steps: std::ops::Range<usize>, (tag, list): (usize, &Expression)) {
        let body = self.steps.splice(steps.clone(), []).collect();
        self.steps.insert(steps.start, Step { tag, body, ..of_expression("section", list) });
    }

    /// Moves the steps from the index `from` on into the section whose opening tag has the number `tag`.
    pub(crate) fn move_into(&mut self, from: usize, tag: usize) {
        let moved = self.steps.split_off(from.min(self.steps.len()));
        match section(&mut self.steps, tag) {
            Some(section) => section.body.extend(moved),
            None => self.steps.extend(moved),
        }
    }

    /// Adds the steps of a part's tags, the first of which has the number `first`. A section that is never closed goes on to the
    /// part's end.
    fn nest<'t>(&mut self, tags: impl Iterator<Item = &'t Tag>, first: usize) {
        let mut open: Vec<Step> = Vec::new();
        for (number, tag) in (first..).zip(tags) {
            if let Tag::End(_) = tag {
                self.close(&mut open);
                continue;
            }
            let is_section = list(tag).is_some();
            for step in steps(tag) {
                open.push(Step { tag: number, ..step });
                if !is_section || open.len() > DEPTH {
                    self.close(&mut open);
                }
            }
        }
        while !open.is_empty() {
            self.close(&mut open);
        }
    }

    fn close(&mut self, open: &mut Vec<Step>) {
        let Some(step) = open.pop() else { return };
        open.last_mut().map_or(&mut self.steps, |around| &mut around.body).push(step);
    }
}

/// The step of the section whose opening tag has this number.
fn section(steps: &mut [Step], tag: usize) -> Option<&mut Step> {
    for step in steps {
        if step.tag == tag {
            return Some(step);
        }
        if let Some(found) = section(&mut step.body, tag) {
            return Some(found);
        }
    }
    None
}

fn kind(tag: &Tag) -> &'static str {
    match tag {
        Tag::Value(_) => "value",
        Tag::Section(..) => "section",
        Tag::Otherwise(_) => "otherwise",
        Tag::End(_) => "end",
        Tag::Image(_) => "image",
        Tag::Qr(_) => "qr",
        Tag::Barcode(_) => "barcode",
        Tag::Html(_) => "html",
        Tag::Xml(_) => "xml",
        Tag::Command(command, _) => command.name,
        Tag::Slides(_) => "slides",
        Tag::Sheet(_) => "sheet",
        Tag::Delimiters(_) => "delimiters",
    }
}

/// One for each expression of the tag.
fn steps(tag: &Tag) -> Vec<Step> {
    match tag {
        Tag::Section(expression, _)
        | Tag::Otherwise(expression)
        | Tag::Value(expression)
        | Tag::Image(expression)
        | Tag::Qr(expression)
        | Tag::Barcode(expression)
        | Tag::Html(expression)
        | Tag::Xml(expression) => vec![of_expression(kind(tag), expression)],
        Tag::Command(command, arguments) => {
            arguments.iter().map(|text| of_text(command.name, text)).collect()
        }
        Tag::End(_) | Tag::Slides(_) | Tag::Sheet(_) | Tag::Delimiters(_) => Vec::new(),
    }
}

fn of_expression(kind: &'static str, expression: &Expression) -> Step {
    let filters = expression.filters.iter().map(|filter| Call {
        name: filter.name.clone(),
        codes: filter.arguments.iter().map(|argument| code(argument)).collect(),
    });
    Step { filters: filters.collect(), ..of_text(kind, &expression.text) }
}

fn of_text(kind: &'static str, text: &str) -> Step {
    Step { tag: 0, kind, text: text.to_owned(), code: code(text), filters: Vec::new(), body: Vec::new() }
}
