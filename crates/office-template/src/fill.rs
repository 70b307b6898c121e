//! Writes a part: its tree with the tags replaced by their answers.

mod asides;
mod blocks;
mod bookmarks;
mod chart;
mod comments;
mod dependents;
mod slide;
mod turns;
mod value;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use memchr::memmem;

use crate::answer::{Answer, Content, Form};
use crate::chart::data::Chart;
use crate::error::{Error, TagFaults};
use crate::files::Files;
use crate::forms::{self, Place};
use crate::include;
use crate::limits::Limit;
use crate::mark::{Coloured, Mark};
use crate::marks::{Marks, Reach};
use crate::package::Package;
use crate::plan::{Around, Node, Slot};
use crate::source::Source;
use crate::stale_fields::marked;
use crate::tags::TEXT_ONLY;
use crate::writing::Writing;
use crate::written::{Refusal, Written};
use bookmarks::Names;
use dependents::Chosen;
pub(crate) use dependents::finish as finish_dependents;
use turns::Turn;

pub(crate) struct Filler<'a, 'p> {
    source: Source<'a>,
    package: &'a mut Package<'p>,
    files: &'a mut dyn Files,
    /// Tags whose answers cannot be written, by their numbers, and why.
    pub faults: TagFaults,
    out: Vec<u8>,
    /// The most bytes that `out` may have.
    room: usize,
    limit: &'a Limit,
    /// The end of what was last copied from the part.
    copied: usize,
    /// Places of ids, bookmarks and numbers in the part that have been written: later copies leave them out or get new ones.
    written: HashSet<usize>,
    /// The same places in the order in which they were written.
    order: Vec<usize>,
    /// The turns of sections that are being written, the outermost first.
    turns: Vec<Turn>,
    /// How many turns there have been.
    turn: u64,
    /// The names and ids of dependents that have been chosen and not written yet, by their indices.
    chosen: BTreeMap<usize, Chosen>,
    /// Its bookmarks.
    names: Names,
    /// The id of the last paragraph of the comment that is being written, and its place in the part.
    paragraph: Option<(Range<usize>, String)>,
    /// A copy of the part has been written before, so all numbers in it are new.
    is_again: bool,
    /// The numbers of the lists of a note or a header, which begin again with each of them; `None` in other parts.
    own_lists: Option<BTreeMap<String, Option<String>>>,
    /// The lists of an included document that have been used.
    used_lists: HashSet<String>,
    /// Where in `out` a paragraph continues behind content that was put between paragraphs.
    reopened: Vec<usize>,
    /// The relationships of addresses with tags, by their places in the part.
    addresses: BTreeMap<usize, String>,
    /// Whether the check box that is being written is ticked.
    is_ticked: bool,
    marks: Marks,
    /// The offset in `out` of the last mark of a text's colour, and the mark's number.
    colour: Option<(usize, usize)>,
    /// The chart's data, where the part is a chart that is filled from them, and the tag that gave them.
    chart: Option<(usize, Chart)>,
}

impl<'a, 'p> Filler<'a, 'p> {
    pub(crate) fn new(
        source: Source<'a>,
        limit: &'a Limit,
        (package, files): (&'a mut Package<'p>, &'a mut dyn Files),
    ) -> Self {
        Self {
            source,
            room: package.room(),
            package,
            files,
            faults: TagFaults::default(),
            out: Vec::with_capacity(source.xml.len()),
            limit,
            copied: 0,
            written: HashSet::new(),
            order: Vec::new(),
            turns: Vec::new(),
            turn: 0,
            chosen: BTreeMap::new(),
            names: Names::default(),
            paragraph: None,
            is_again: false,
            own_lists: None,
            used_lists: HashSet::new(),
            reopened: Vec::new(),
            addresses: BTreeMap::new(),
            is_ticked: false,
            marks: Marks::default(),
            colour: None,
            chart: None,
        }
    }

    /// Writes the part's tree; takes one of `answers` for each tag outside of sections.
    pub(crate) fn part<'b>(
        &mut self,
        nodes: &[Node],
        answers: &mut impl Iterator<Item = &'b Answer<'b>>,
    ) -> Result<Vec<u8>, Error> {
        self.nodes(nodes, answers)?;
        let whole = self.finished();
        let whole = self.charted(whole)?;
        let whole = self.marks.applied(whole, self.source, self.package)?;
        let repeats = self.is_again || self.turn > 0;
        Ok(if self.source.is_included { whole } else { marked(whole, self.source.prefix, repeats) })
    }

    fn nodes<'b>(
        &mut self,
        nodes: &[Node],
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) -> Result<(), Error> {
        for node in nodes {
            match node {
                Node::Raw(range) => self.raw(range.clone()),
                Node::Owned(text) => self.out.extend_from_slice(text.as_bytes()),
                Node::First(range) => self.first(range),
                Node::Number(range) => {
                    if self.is_first(range.start) {
                        self.raw(range.clone());
                    } else {
                        let number = self.package.number();
                        self.out.extend_from_slice(number.to_string().as_bytes());
                    }
                }
                Node::Content(slot) => match answers.next() {
                    Some(Answer::Text(text)) => self.text(slot, text)?,
                    Some(Answer::Content(content)) => self.content(slot, content)?,
                    Some(Answer::List(copies)) => self.include(slot, copies)?,
                    Some(Answer::Null | Answer::Truth(_) | Answer::Number(_)) | None => return Err(misfit()),
                },
                Node::Address(address) => self.address(address, answers)?,
                Node::AddressAgain(place) => self.address_again(*place),
                Node::Tick(_) => match answers.next() {
                    Some(Answer::List(copies)) => self.is_ticked = !copies.is_empty(),
                    _ => return Err(misfit()),
                },
                Node::Ticked(on, off) => {
                    let written = if self.is_ticked { on } else { off };
                    self.out.extend_from_slice(written.as_bytes());
                }
                Node::Reference(reference) => self.reference(reference, answers)?,
                Node::List(list) => self.list_number(list)?,
                Node::Shape(range) => self.shape_id(range.clone()),
                Node::Bookmark(bookmark) => self.bookmark(bookmark),
                Node::BookmarkName(name) => self.bookmark_name(name)?,
                Node::Section(tag, body, lists) => match answers.next() {
                    Some(Answer::List(copies)) => self.section((*tag, body, lists), copies)?,
                    _ => return Err(misfit()),
                },
                Node::Paragraph(empty) => {
                    if !self.ends_with(b"p") && !self.ends_with(b"sdt") {
                        self.out.extend_from_slice(empty.as_bytes());
                    }
                }
                Node::Holder(child, body) => self.holder(child, body, answers)?,
            }
            self.check_room()?;
        }
        Ok(())
    }

    /// Writes a picture, a link, a table …: in the tag's run, between runs or between paragraphs.
    fn content(&mut self, slot: &Slot, content: &Content<'_>) -> Result<(), Error> {
        if content.form == Form::Chart {
            return self.chart(slot, content);
        }
        match slot.writing {
            Writing::Shape => return self.picture(slot, content),
            Writing::SlideRun => return self.on_slide(slot, content),
            Writing::Run
            | Writing::DrawingRun
            | Writing::Attribute
            | Writing::Element
            | Writing::Code(_)
            | Writing::CodeAttribute(_)
            | Writing::Address
            | Writing::Tick => {}
        }
        if !slot.writing.is_run() {
            self.fault(slot.tag, TEXT_ONLY.to_owned());
            return Ok(());
        }
        let xml: &'a [u8] = self.source.xml;
        let text = |range: &Range<usize>| {
            xml.get(range.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
        };
        let place = Place {
            source: self.source,
            run_properties: text(&slot.run_properties),
            paragraph_properties: text(&slot.paragraph_properties),
            width: slot.width,
            is_in_cell: slot.is_in_cell,
        };
        let written = forms::write(content, &place, (&mut *self.package, &mut *self.files));
        self.put(slot, written)
    }

    /// Writes an included document, filled.
    fn include(&mut self, slot: &Slot, copies: &[Answer<'_>]) -> Result<(), Error> {
        let document = self.source.includes.get(&slot.tag).and_then(|&at| self.source.documents.get(at));
        let (Some(document), [Answer::List(answers)]) = (document, copies) else { return Err(misfit()) };
        let stage = include::stage(document, self.source.name, self.package);
        let source = Source { is_included: true, ..document.part.source((&stage, false), self.source) };
        let mut filler = Filler::new(source, self.limit, (&mut *self.package, &mut *self.files));
        let mut answers = answers.iter();
        let out = filler.part(&document.part.nodes, &mut answers)?;
        self.faults.append(filler.faults);
        if answers.next().is_some() {
            return Err(misfit());
        }
        let written = include::inserted(&out, document, (self.source, &stage), self.package);
        self.put(slot, written)
    }

    /// Puts what a form wrote into the tag's place.
    fn put(&mut self, slot: &Slot, written: Result<Written, Refusal>) -> Result<(), Error> {
        let written = match written {
            Ok(written) => written,
            Err(refusal) => {
                if let Some(message) = refusal.fault()? {
                    self.fault(slot.tag, message);
                }
                return Ok(());
            }
        };
        let written = match written {
            Written::Mark(mark @ Mark::Contents(_)) => self.placeholder(mark),
            Written::Nothing
            | Written::Run(_)
            | Written::Inline(_)
            | Written::Blocks { .. }
            | Written::Mark(_) => written,
        };
        let is_placed = match written {
            Written::Nothing => Some(()),
            Written::Mark(mark) => slot.run.as_ref().map(|_| self.mark(mark)),
            Written::Run(xml) => slot.run.as_ref().map(|_| self.in_run(slot, &xml)),
            Written::Inline(xml) => match &slot.run {
                Some(run) => Some(self.between_runs(run, &xml)?),
                None => None,
            },
            Written::Blocks(xml) => match (&slot.run, &slot.paragraph) {
                (Some(run), Some(paragraph)) => Some(self.between_paragraphs((run, paragraph), &xml)?),
                _ => None,
            },
        };
        if is_placed.is_none() {
            let message = "it cannot stand here; let it stand in plain text".to_owned();
            self.fault(slot.tag, message);
        }
        self.check_room()
    }

    /// Writes a mark amid the run's text.
    fn mark(&mut self, mark: Mark) {
        let is_of_text = matches!(mark, Mark::Colour(_, Coloured::Text));
        let number = self.marks.add(mark, self.source.xml);
        if is_of_text {
            self.colour = Some((self.out.len(), number));
        }
        self.out.extend_from_slice(self.marks.written(number, Reach::Here).as_bytes());
    }

    /// A paragraph with a mark, replaced by content between paragraphs when the part is complete.
    fn placeholder(&mut self, mark: Mark) -> Written {
        let number = self.marks.add(mark, self.source.xml);
        let prefix = self.source.prefix;
        let xml = format!("<{prefix}p>{}</{prefix}p>", self.marks.written(number, Reach::Here));
        Written::Blocks(xml)
    }

    /// Adds a fault of the tag with this index in the part.
    fn fault(&mut self, tag: usize, message: String) {
        self.faults.push((self.source.first + tag, message));
    }

    fn between_runs(&mut self, run: &Around, xml: &str) -> Result<(), Error> {
        self.out.extend_from_slice(run.end.as_bytes());
        self.out.extend_from_slice(xml.as_bytes());
        self.again(&run.begin)
    }

    /// Begins again the elements that were ended. Their numbers count as written before, so they get new ones.
    fn again(&mut self, nodes: &[Node]) -> Result<(), Error> {
        let numbers = nodes
            .iter()
            .filter_map(|node| if let Node::Number(range) = node { Some(range.start) } else { None });
        for number in numbers {
            self.is_first(number);
        }
        self.nodes(nodes, &mut std::iter::empty())
    }

    /// Writes a table or a row, or leaves it out if none of its children are left. Word does not open a document that has a table
    /// without rows or a row without cells.
    fn holder<'b>(
        &mut self,
        child: &str,
        body: &[Node],
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) -> Result<(), Error> {
        let (begin, count) = (self.out.len(), self.order.len());
        self.nodes(body, answers)?;
        let child = format!("<{}{child}", self.source.prefix);
        if memmem::find(self.out.get(begin..).unwrap_or_default(), child.as_bytes()).is_none() {
            self.out.truncate(begin);
            for place in self.order.drain(count..) {
                self.written.remove(&place);
            }
            self.keep_reopened(begin);
        }
        Ok(())
    }

    /// Whether this place of the part is written for the first time.
    fn is_first(&mut self, place: usize) -> bool {
        let is_first = !self.is_again && self.written.insert(place);
        if is_first {
            self.order.push(place);
        }
        is_first
    }

    fn raw(&mut self, range: Range<usize>) {
        let xml: &'a [u8] = self.source.xml;
        let piece = xml.get(range.clone()).unwrap_or_default();
        // Word joins adjacent tables. These were apart in the template, so they are kept apart.
        if range.start != self.copied && self.begins_with_table(piece) {
            self.part_tables();
        }
        self.copied = range.end;
        self.out.extend_from_slice(piece);
    }

    /// An empty paragraph, where a table would follow a table.
    fn part_tables(&mut self) {
        if self.ends_with(b"tbl") {
            for piece in ["<", self.source.prefix, "p></", self.source.prefix, "p>"] {
                self.out.extend_from_slice(piece.as_bytes());
            }
        }
    }

    /// Whether what has been written ends with an element of this name.
    fn ends_with(&self, local: &[u8]) -> bool {
        ends_with(&self.out, self.source.prefix, local)
    }

    fn begins_with_table(&self, piece: &[u8]) -> bool {
        let name = piece.trim_ascii_start().strip_prefix(b"<");
        let behind = name
            .and_then(|name| name.strip_prefix(self.source.prefix.as_bytes()))
            .and_then(|local| local.strip_prefix(b"tbl"));
        behind.and_then(<[u8]>::first).is_some_and(|byte| !byte.is_ascii_alphanumeric())
    }

    fn check_room(&self) -> Result<(), Error> {
        if self.out.len() > self.room {
            return Err(Error::limit(self.limit, "the filled document becomes larger than the limit"));
        }
        Ok(())
    }

    /// What has been written, without paragraphs that were left empty.
    fn finished(&mut self) -> Vec<u8> {
        let hollow = self.hollow_paragraphs();
        let out = std::mem::take(&mut self.out);
        if hollow.is_empty() {
            return out;
        }
        let mut kept = Vec::with_capacity(out.len());
        let mut from = 0;
        for (range, markers) in hollow {
            kept.extend_from_slice(out.get(from..range.start).unwrap_or_default());
            kept.extend(markers);
            from = from.max(range.end);
        }
        kept.extend_from_slice(out.get(from..).unwrap_or_default());
        kept
    }
}

/// Whether `written` ends with an element of this name.
pub(crate) fn ends_with(written: &[u8], prefix: &str, local: &[u8]) -> bool {
    let mut written = written.trim_ascii_end();
    // Skip marks: they are processing instructions, not elements.
    while written.ends_with(b"?>") {
        let begin = memchr::memrchr(b'<', written).unwrap_or_default();
        written = written.get(..begin).unwrap_or_default().trim_ascii_end();
    }
    let last = memchr::memrchr(b'<', written).and_then(|at| written.get(at + 1..)).unwrap_or_default();
    let (is_end, name) = last.strip_prefix(b"/").map_or((false, last), |name| (true, name));
    let name = name.strip_prefix(prefix.as_bytes()).and_then(|name| name.strip_prefix(local));
    let behind = name.unwrap_or_default();
    matches!(behind, [b'>' | b'/' | b' ', ..]) && (is_end || behind.ends_with(b"/>"))
}

pub(crate) fn misfit() -> Error {
    Error::Answer("what the program answered is not this template's".to_owned())
}
