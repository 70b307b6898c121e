//! What a template has in it, told without filling it: its tags, and their expressions in the sections that they stand in.

use serde::Serialize;

use crate::Template;
use crate::error::{Error, Faults};
use crate::family::Family;
use crate::files::Files;
use crate::lexer::{Delimiters, Expression, Tag};
use crate::limits::Limits;
use crate::program::code;
use crate::read::Reading;
use crate::tags::{Tags, list};
use crate::unfilled::of_program;

/// So many tags are told; of the others only how many there are.
const TAGS: usize = 5_000;

/// Sections inside of sections, as deep as the parser of [`Outline::steps`] goes.
const DEPTH: usize = 50;

/// What is in a template.
#[derive(Debug)]
pub struct Outline {
    /// Its tags that can be read, part by part in the order in which they stand there.
    pub tags: Vec<OutlineTag>,
    /// How many there are beside these.
    pub more: usize,
    /// The expressions of all of them, nested as their sections are: JSON, an array of
    /// `{ tag, kind, text, code, filters: [{ name, codes }], body: […] }`. `tag` is the place in [`tags`](Outline::tags), which may be one
    /// of those beside them; `kind` is `section` where the body stands for each item.
    pub steps: String,
    /// What is wrong with it.
    pub faults: Faults,
    /// What its author should know, in sentences.
    pub warnings: Vec<String>,
}

/// A tag of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineTag {
    /// The part's name, as `word/document.xml`; of a presentation which slide's it is, as `slide 3`.
    pub part: String,
    /// The paragraph in the part, counted from 1.
    pub paragraph: usize,
    /// What it is: `value`, `section`, `otherwise`, `end`, `image`, `qr`, `barcode`, `html`, `xml`, `delimiters`, or a command's name.
    pub kind: &'static str,
    /// As its author wrote it; a long one is cut.
    pub shown: String,
}

/// What is collected while the parts are read.
#[derive(Default)]
pub(crate) struct Collected {
    tags: Vec<OutlineTag>,
    count: usize,
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Step {
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

impl Template {
    /// What is in a Word file that is a template: all that can be told of it, whatever is wrong with its tags.
    ///
    /// # Errors
    ///
    /// As [`Template::read`], but for [`Error::Tags`].
    pub fn outline(
        file: Vec<u8>,
        delimiters: Option<Delimiters>,
        limits: &Limits,
        files: &mut dyn Files,
    ) -> Result<Outline, Error> {
        let mut reading = Reading::new(limits, files);
        reading.outline = Some(Collected::default());
        let program = Family::likely(&file);
        let template =
            Self::find(file, delimiters, limits, &mut reading).map_err(|error| of_program(error, program))?;
        let Collected { tags, count, steps } = reading.outline.unwrap_or_default();
        let steps = serde_json::to_string(&steps).map_err(|error| Error::Answer(error.to_string()))?;
        let more = count - tags.len();
        let (faults, count) = reading.faults.into_parts();
        Ok(Outline { tags, more, steps, faults: Faults::new(faults, count), warnings: template.warnings })
    }
}

impl Collected {
    /// Adds the tags of the part `name`.
    pub(crate) fn add(&mut self, name: &str, tags: &Tags) {
        let first = self.count;
        self.count += tags.all.len();
        let room = TAGS.saturating_sub(self.tags.len());
        self.tags.extend(tags.all.iter().take(room).map(|placed| OutlineTag {
            part: name.to_owned(),
            paragraph: placed.number,
            kind: kind(&placed.tag),
            shown: placed.shown.clone(),
        }));
        self.nest(tags.all.iter().map(|placed| &placed.tag), first);
    }

    /// Adds tags of cells: where each stands, and as its author wrote it.
    pub(crate) fn add_cells(&mut self, cells: &[(String, &Tag, &str)]) {
        let first = self.count;
        self.count += cells.len();
        let room = TAGS.saturating_sub(self.tags.len());
        self.tags.extend(cells.iter().take(room).map(|(cell, tag, shown)| OutlineTag {
            part: cell.clone(),
            paragraph: 0,
            kind: kind(tag),
            shown: (*shown).to_owned(),
        }));
        self.nest(cells.iter().map(|(_, tag, _)| *tag), first);
    }

    /// How many steps there are outside of all sections.
    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Makes the steps from here to there the body of a section that goes over `list`: the tag of this number.
    pub(crate) fn nest_in(&mut self, steps: std::ops::Range<usize>, (tag, list): (usize, &Expression)) {
        let body = self.steps.splice(steps.clone(), []).collect();
        self.steps.insert(steps.start, Step { tag, body, ..of_expression("section", list) });
    }

    /// The steps of a part's tags, the first of which has the number `first`. A section that is never closed goes on to the part's end.
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
