//! Finds the tags of a sheet: in its cells, its name, its headers and footers.

use std::collections::{BTreeMap, BTreeSet};

use cell_references::Cell;

use super::headers::{self, Header};
use super::links::{self, LinkTag};
use super::parts::Strings;
use super::plan::Text;
use super::sheet::{Content, Sheet, shared_number};
use super::tags::{Found, Place};
use super::text::{self, Run};
use super::tree::Title;
use crate::error::{Error, Fault};
use crate::lexer::{Delimiters, Tag, Token, lex};
use crate::limits::Limits;
use crate::program::{Step, step};
use crate::read::Reading;

/// Looks for the tags of a sheet.
pub(super) struct Finder<'r, 'f> {
    pub delimiters: Delimiters,
    pub found: Vec<Found>,
    pub faults: Vec<Fault>,
    pub reading: &'r mut Reading<'f>,
    pub limits: &'r Limits,
}

impl Finder<'_, '_> {
    fn take(&mut self) -> Result<(), Error> {
        let many = || Error::limit(&self.limits.tags, "the template has more tags than the limit");
        self.reading.tags_left = self.reading.tags_left.checked_sub(1).ok_or_else(many)?;
        Ok(())
    }

    /// The pieces of a sheet's name, and the steps of its tags.
    pub(super) fn title(
        &mut self,
        name: &str,
        first: usize,
        places: &mut Vec<Place>,
    ) -> Result<(Vec<Title>, Vec<Step>), Error> {
        let mut steps = Vec::new();
        let title = self.pieces(name, ("the name of a sheet", name), (first, places), &mut steps)?;
        Ok((title, steps))
    }

    /// The headers and footers of a sheet that have tags.
    pub(super) fn headers(
        &mut self,
        sheet: &Sheet,
        name: &str,
        (first, places): (usize, &mut Vec<Place>),
        steps: &mut Vec<Step>,
    ) -> Result<Vec<Header>, Error> {
        let mut found = Vec::new();
        for (range, text) in headers::texts(&sheet.xml, sheet.behind) {
            let before = steps.len();
            let first = first + places.len();
            let pieces = self.pieces(&text, ("a header or footer", name), (first, &mut *places), steps)?;
            if steps.len() > before {
                found.push(Header { range, pieces });
            }
        }
        Ok(found)
    }

    /// The pieces of a sheet's name, header or footer; adds the steps of its tags. `first` is the number of its first tag.
    fn pieces(
        &mut self,
        text: &str,
        (what, sheet): (&str, &str),
        (first, places): (usize, &mut Vec<Place>),
        steps: &mut Vec<Step>,
    ) -> Result<Vec<Title>, Error> {
        let (mut title, mut from, before) = (Vec::new(), 0, steps.len());
        let cell = format!("{what} ({sheet})");
        for Token { range, tag, source, .. } in lex(text, &mut self.delimiters.clone()) {
            self.take()?;
            let shown = text.get(range.clone()).unwrap_or(&source).to_owned();
            match tag {
                Ok(Tag::Value(value)) => {
                    title.push(Title::Text(text.get(from..range.start).unwrap_or_default().to_owned()));
                    let tag = first + steps.len() - before;
                    title.push(Title::Value { tag, at: steps.len() });
                    steps.push(step("value", tag, &value));
                    if let Some(outline) = &mut self.reading.outline {
                        outline.add_cells(&[(cell.clone(), &Tag::Value(value), shown.as_str())]);
                    }
                    places.push(Place { cell: cell.clone(), shown });
                    from = range.end;
                }
                Ok(_) => {
                    self.faults.push(Fault::new(&cell, 0, &shown, &format!("{what} has values alone; write what depends on the data as one, as in {{paid ? \"yes\" : \"no\"}}")));
                }
                Err(message) => self.faults.push(Fault::new(&cell, 0, &shown, &message)),
            }
        }
        title.push(Title::Text(text.get(from..).unwrap_or_default().to_owned()));
        Ok(title)
    }

    /// The cells with tags of a sheet.
    pub(super) fn texts(
        &mut self,
        sheet: &mut Sheet,
        (name, dates, addresses): (&str, &BTreeSet<u32>, &BTreeMap<String, String>),
        (strings, tagged): (&Strings, &mut BTreeSet<usize>),
    ) -> Result<Vec<Text>, Error> {
        let mut texts = Vec::new();
        let mut links = links::find(sheet, addresses, &self.delimiters);
        let mut linked = BTreeMap::new();
        for (index, cell) in sheet.cells.iter().enumerate() {
            let mut number = None;
            let xml = match &cell.content {
                Content::Value(kind, value) if kind == "s" => {
                    number = shared_number(&sheet.xml, value);
                    number.map(|number| strings.get(number)).unwrap_or_default()
                }
                Content::Inline(range) => sheet.xml.get(range.clone()).unwrap_or_default(),
                Content::Empty | Content::Value(..) | Content::Formula(_) | Content::Tagged(_) => &[],
            };
            let begin = self.found.len();
            let mut runs = Vec::new();
            if self.may_have_tags(xml) {
                runs = text::runs(xml);
                self.tags(&runs, (index, cell.row, cell.column), name)?;
            }
            let has_tags = self.found.len() > begin;
            if has_tags {
                tagged.extend(number);
            }
            let at = Cell { row: cell.row, column: cell.column };
            if let Some((link, tags)) = links.remove(&at) {
                self.link(tags, (index, at, name), begin)?;
                linked.insert(at, link);
            }
            if self.found.len() > begin {
                let is_date = dates.contains(&cell.style);
                let tags = begin..self.found.len();
                texts.push(Text { cell: index, runs, tags, is_date, is_link_alone: !has_tags });
            }
        }
        sheet.links = linked;
        Ok(texts)
    }

    /// Adds the tags of a cell's link among its own, which begin at `begin`: where all sections are open that the cell opens or
    /// closes, so that the link sees their data.
    fn link(
        &mut self,
        tags: Vec<LinkTag>,
        (cell, at, name): (usize, Cell, &str),
        begin: usize,
    ) -> Result<(), Error> {
        let own = self.found.get(begin..).unwrap_or_default();
        let mut place = begin + in_sections(own);
        for (shown, tag) in tags {
            self.take()?;
            match tag {
                Ok(tag) => {
                    let Cell { row, column } = at;
                    let (at, section) = (0..0, None);
                    self.found.insert(
                        place,
                        Found { cell, row, column, at, tag, shown, section, is_of_link: true },
                    );
                    place += 1;
                }
                Err(why) => self.faults.push(Fault::new(&format!("{name}!{at}"), 0, &shown, &why)),
            }
        }
        Ok(())
    }

    fn may_have_tags(&self, xml: &[u8]) -> bool {
        let first = self.delimiters.start.as_bytes().first().copied().unwrap_or(b'{');
        memchr::memchr3(first, b'{', b'&', xml).is_some()
    }

    fn tags(
        &mut self,
        runs: &[Run],
        (cell, row, column): (usize, u32, u32),
        name: &str,
    ) -> Result<(), Error> {
        let text: String = runs.iter().map(|run| run.text.as_str()).collect();
        let mut delimiters = self.delimiters.clone();
        for token in lex(&text, &mut delimiters) {
            self.take()?;
            let shown = token.shown();
            let place = format!("{name}!{}", Cell { row, column });
            match token.tag.and_then(in_cell) {
                Ok(tag) => {
                    let (at, section) = (token.range, None);
                    let found = Found { cell, row, column, at, tag, shown, section, is_of_link: false };
                    self.found.push(found);
                }
                Err(message) => self.faults.push(Fault::new(&place, 0, &shown, &message)),
            }
        }
        self.delimiters = delimiters;
        Ok(())
    }
}

/// The index among a cell's tags at which all sections of rows are open that the cell opens or closes.
fn in_sections(tags: &[Found]) -> usize {
    let (mut open, mut place): (Vec<usize>, _) = (Vec::new(), None);
    for (at, found) in tags.iter().enumerate() {
        let tag = &found.tag;
        if matches!(tag, Tag::Section(_, Some(_))) {
            // It is of rows or columns, also where it ends in the same cell.
            (place, open) = (Some(at + 1), Vec::new());
        } else if matches!(tag, Tag::Section(..) | Tag::Otherwise(_)) {
            open.push(at);
        } else if matches!(tag, Tag::End(_)) && open.pop().is_none() {
            return place.unwrap_or(at);
        }
    }
    open.last().map(|at| at + 1).or(place).unwrap_or(tags.len())
}

/// What a cell can hold, for messages.
const CELL: &str = "a cell has values, pictures, sections and {:sheet list}";

/// The remedy for `{:link}` in a cell.
const LINK: &str = "write the tag into the address of the cell's own link, or the address into a cell and =HYPERLINK(A2, \"text\") into another";

/// Refuses tags that a cell cannot hold.
fn in_cell(tag: Tag) -> Result<Tag, String> {
    match &tag {
        Tag::Value(_)
        | Tag::Section(..)
        | Tag::Otherwise(_)
        | Tag::End(_)
        | Tag::Sheet(_)
        | Tag::Image(_)
        | Tag::Qr(_)
        | Tag::Barcode(_)
        | Tag::Delimiters(_) => Ok(tag),
        Tag::Command(command, _) if command.name == "link" => Err(format!("{CELL}; {LINK}")),
        Tag::Slides(_) => {
            Err("it repeats a slide of a presentation; a sheet is repeated by {:sheet list}".to_owned())
        }
        Tag::Html(_) | Tag::Xml(_) => {
            Err(format!("{CELL}; print its words as a value, {{x}}, in a cell of the wanted format"))
        }
        Tag::Command(..) => Err(format!(
            "{CELL}; colours are those of the cell or of a conditional format, pages break where the sheet says"
        )),
    }
}
