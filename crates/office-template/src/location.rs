//! Where a tag stands, in words by which its author finds it: the heading above it, its row and column, the text around it.
//!
//! Faults and warnings are rare, so nothing is kept for them while a template is read and filled: the file is read once more.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::collected::OutlineTag;
use crate::content_types::TextPart;
use crate::error::{Fault, Spot, quoted};
use crate::family::Family;
use crate::files::NoFiles;
use crate::include::{self, Opened};
use crate::limits::Limits;
use crate::powerpoint;
use crate::read::{self, Reading};
use crate::source::Document;
use crate::styles::Styles;
use crate::word::{Dialect, Id, Kind, Part, Place};

/// How many characters of the text before a tag are quoted, and of that behind it.
const AROUND_CHARACTERS: usize = 30;

/// How many characters before and behind a tag are looked at: some of them are no text.
const LOOKED_AT_CHARACTERS: usize = 300;

/// The name of Word's style for the title of a document, which is a heading here.
const TITLE: &str = "title";

/// The parts of a template with their headings and tables.
pub(crate) struct Locator {
    parts: Vec<Located>,
}

struct Located {
    title: String,
    part: Part,
    /// The paragraphs that are headings, by their indices.
    headings: Vec<usize>,
    tables: Tables,
}

/// The numbers of tables, rows and cells, from 1: of tables in the part, of rows in their table, of cells in their row.
#[derive(Default)]
struct Tables {
    count: usize,
    numbers: BTreeMap<Id, usize>,
}

impl Locator {
    /// Reads the texts of a file of this family that has been read before. `are_given`: the caller gave delimiters, as before.
    pub(crate) fn read(file: &[u8], family: Family, are_given: bool, limits: &Limits) -> Self {
        let mut files = NoFiles;
        // In a workbook the names of cells tell the places.
        let is_of_cells = family == Family::Excel;
        let read = (!is_of_cells)
            .then(|| read::texts(file, are_given, limits, &mut Reading::new(limits, &mut files)).ok())
            .flatten();
        let (texts, styles) = read.unwrap_or_default();
        let located = |(text, part): (TextPart, Part)| Located::new((text.title, part), &styles);
        Self { parts: texts.into_iter().map(located).collect() }
    }

    /// Adds the text of an included document.
    pub(crate) fn add(&mut self, document: &Document, are_given: bool, limits: &Limits) {
        let Document { name, file, .. } = document;
        let mut files = NoFiles;
        let mut reading = Reading::new(limits, &mut files);
        // Read as it was for its tags: the addresses of its links are no texts.
        let Ok(Opened { part, .. }) = include::open(file, &mut reading.unpacked_left, limits) else { return };
        let read = read::texts(file, are_given, limits, &mut reading);
        let styles = read.map(|(_, styles)| styles).unwrap_or_default();
        self.parts.push(Located::new((name.clone(), part), &styles));
    }

    /// Adds to a fault where its tag is, if anything can be said of it.
    pub(crate) fn locate(&self, fault: &mut Fault) {
        let mut told = Vec::new();
        told.extend(self.told(&fault.part, fault.spot.take()));
        if let Some((shown, spot)) = fault.other.take() {
            told.extend(self.told(&fault.part, Some(spot)).map(|other| format!("{shown}: {other}")));
        }
        if !told.is_empty() {
            fault.message = format!("{} ({})", fault.message, told.join("; "));
        }
    }

    /// Adds to a tag where it is.
    pub(crate) fn locate_tag(&self, tag: &mut OutlineTag) {
        let told = self.told(&tag.part, tag.spot.take());
        tag.around = told.map(|told| format!(" ({told})")).unwrap_or_default();
    }

    fn told(&self, title: &str, spot: Option<Spot>) -> Option<String> {
        let (index, range) = spot?;
        self.parts.iter().find(|part| part.title == title)?.of(index, range)
    }
}

impl Located {
    fn new((title, part): (String, Part), styles: &Styles) -> Self {
        let all = part.paragraphs.iter().enumerate();
        let headings = all
            .filter(|(_, text)| text.place == Place::Paragraph && is_heading(&part, styles, text.element))
            .filter(|(_, text)| !plain(&text.text).is_empty());
        let headings = headings.map(|(index, _)| index).collect();
        let tables = Tables::of(&part);
        Self { title, part, headings, tables }
    }

    /// Where a tag is: `under "Terms", row 3, column 2: "the total of {x} is"`.
    fn of(&self, index: usize, range: Range<usize>) -> Option<String> {
        let paragraph = self.part.paragraphs.get(index)?;
        let mut told = Vec::new();
        let above = self.headings.partition_point(|&heading| heading < index).checked_sub(1);
        let above = above.and_then(|at| self.part.paragraphs.get(*self.headings.get(at)?));
        if let Some(heading) = above {
            told.push(format!("under \"{}\"", quoted(&plain(&heading.text))));
        }
        let cell = self.cell(paragraph.element);
        told.extend(cell.clone());
        let tag = beginning(&plain(paragraph.text.get(range.clone())?));
        let before = ending(&plain(last_letters(paragraph.text.get(..range.start)?)));
        let behind = beginning(&plain(first_letters(paragraph.text.get(range.end..)?)));
        if before.is_empty() && behind.is_empty() {
            // Alone in its paragraph, it is found by the text above.
            let all = self.part.paragraphs.get(..index).unwrap_or_default().iter().rev();
            let mut texts = all.filter(|text| text.place == Place::Paragraph).map(|text| plain(&text.text));
            let text = texts.find(|text| !text.is_empty()).filter(|_| cell.is_none() && above.is_none());
            told.extend(text.map(|text| format!("below \"{}\"", ending(&text))));
        } else {
            told.push(format!("in \"{before}{tag}{behind}\""));
        }
        (!told.is_empty()).then(|| told.join(", "))
    }

    /// The row and column around an element, and the table's number where there are several.
    fn cell(&self, element: Id) -> Option<String> {
        let around = |kind: Kind| self.part.path(element).find(|&id| self.part.kind(id) == kind);
        let number = |id: Option<Id>| self.tables.numbers.get(&id?).copied();
        let (row, column) = (number(around(Kind::Row))?, number(around(Kind::Cell))?);
        let table = number(around(Kind::Table)).filter(|_| self.tables.count > 1);
        let of_table = table.map(|number| format!(" of table {number}")).unwrap_or_default();
        Some(format!("row {row}, column {column}{of_table}"))
    }
}

impl Tables {
    fn of(part: &Part) -> Self {
        let mut tables = Self::default();
        let mut counts: BTreeMap<Id, usize> = BTreeMap::new();
        for (index, element) in part.elements.iter().enumerate() {
            let Ok(id) = Id::try_from(index) else { break };
            if element.kind == Kind::Table {
                tables.count += 1;
                tables.numbers.insert(id, tables.count);
            }
            let kinds = [(Kind::Row, Kind::Table), (Kind::Cell, Kind::Row)];
            let around = kinds.into_iter().find(|(kind, _)| *kind == element.kind).map(|(_, around)| around);
            let Some(around) = around else { continue };
            // Rows and cells may stand in content controls.
            let Some(around) = part.path(id).find(|&id| part.kind(id) == around) else { continue };
            let count = counts.entry(around).or_default();
            *count += 1;
            tables.numbers.insert(id, *count);
        }
        tables
    }
}

/// Whether a paragraph is a heading, or the title of a slide.
fn is_heading(part: &Part, styles: &Styles, paragraph: Id) -> bool {
    match part.dialect {
        Dialect::Slide => powerpoint::is_title(part, paragraph),
        Dialect::Drawing | Dialect::Properties => false,
        Dialect::Word => {
            let value = |name: &str| part.property(paragraph, name).and_then(|id| part.val(id));
            let own = value("outlineLvl").and_then(|level| level.parse::<u8>().ok());
            let style = value("pStyle").unwrap_or_default();
            let is_title = || styles.get(style).is_some_and(|style| style.name == TITLE);
            own.map_or_else(|| styles.level(style).is_some() || is_title(), |level| level < 9)
        }
    }
}

/// The text in one line, without what is no text.
fn plain(text: &str) -> String {
    let is_text =
        |letter: &char| !letter.is_control() && !matches!(letter, '\u{fffc}' | '\u{ad}' | '\u{2029}');
    let shown: String = text
        .chars()
        .map(|letter| if letter == '\n' || letter == '\t' { ' ' } else { letter })
        .filter(is_text)
        .collect();
    // The blanks at its ends part it from the tag.
    let inner = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let blank = |is: bool| if is && !inner.is_empty() { " " } else { "" };
    let (first, last) = (shown.starts_with(char::is_whitespace), shown.ends_with(char::is_whitespace));
    format!("{}{inner}{}", blank(first), blank(last))
}

/// The end of a text that is looked at: a paragraph of many tags would be read as a whole for each of them.
fn last_letters(text: &str) -> &str {
    text.char_indices()
        .rev()
        .nth(LOOKED_AT_CHARACTERS)
        .map_or(text, |(at, _)| text.get(at..).unwrap_or_default())
}

fn first_letters(text: &str) -> &str {
    text.char_indices().nth(LOOKED_AT_CHARACTERS).map_or(text, |(at, _)| text.get(..at).unwrap_or_default())
}

/// The last words of a text.
fn ending(text: &str) -> String {
    let count = text.chars().count();
    let Some(more) = count.checked_sub(AROUND_CHARACTERS).filter(|&more| more > 0) else {
        return text.trim_start().to_owned();
    };
    let end: String = text.chars().skip(more).collect();
    // A word that was cut is left out, unless it is all that there is.
    let whole = end.split_once(' ').map_or(end.as_str(), |(_, rest)| rest);
    format!("…{}", if whole.trim().is_empty() { &end } else { whole })
}

/// The first words of a text.
fn beginning(text: &str) -> String {
    if text.chars().count() <= AROUND_CHARACTERS {
        return text.trim_end().to_owned();
    }
    let begin: String = text.chars().take(AROUND_CHARACTERS).collect();
    let whole = begin.rsplit_once(' ').map_or(begin.as_str(), |(rest, _)| rest);
    format!("{}…", if whole.trim().is_empty() { &begin } else { whole })
}
