//! Colours of text, cells and rows.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::edits::Edits;
use super::{Coloured, Mark, Marks, Reach, unreadable};
use crate::error::Error;
use crate::forms::{with_cell_property, with_property};

/// `xml` with its marks replaced by colours; `None` where these add more than `room` bytes.
pub(super) fn applied(
    xml: &[u8],
    marks: &Marks,
    prefix: &str,
    room: usize,
) -> Result<Option<Vec<u8>>, Error> {
    let mut walk = Walk {
        xml,
        prefix,
        edits: Edits::default(),
        open: Vec::new(),
        paragraphs: Vec::new(),
        around: None,
        runs: Vec::new(),
        rows: Vec::new(),
    };
    let mut reader = Reader::from_reader(xml);
    let mut from = 0;
    loop {
        let event = reader.read_event().map_err(|error| unreadable(&error))?;
        let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        match event {
            Event::Start(tag) => walk.begin(walk.name(tag.name().as_ref()), from, end),
            Event::Empty(tag) => {
                walk.begin(walk.name(tag.name().as_ref()), from, end);
                walk.end(end, true);
            }
            Event::End(_) => walk.end(end, false),
            Event::PI(instruction) => {
                if let Some((Mark::Colour(colour, what), reach)) = marks.read(&instruction) {
                    walk.mark(colour, *what, reach, from..end);
                }
            }
            Event::Eof => break,
            Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
        if walk.edits.added > room {
            return Ok(None);
        }
        from = end;
    }
    Ok(Some(walk.edits.applied(xml)))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Paragraph,
    Run,
    RunProperties,
    Text,
    Row,
    Cell,
    CellProperties,
    Other,
}

/// An open run: the offset of its content, its properties, and its colour from the beginning.
struct Run<'c> {
    content: usize,
    properties: Range<usize>,
    colour: Option<&'c str>,
}

#[derive(Default)]
struct Row<'c> {
    colour: Option<&'c str>,
    cells: Vec<Cell<'c>>,
}

/// A cell: the offset of its content, its properties, and its own colour.
struct Cell<'c> {
    content: usize,
    properties: Range<usize>,
    colour: Option<&'c str>,
}

struct Walk<'c> {
    xml: &'c [u8],
    prefix: &'c str,
    edits: Edits,
    open: Vec<(Name, usize)>,
    /// The current colour of each open paragraph.
    paragraphs: Vec<Option<&'c str>>,
    /// The colour of content that was put between paragraphs.
    around: Option<&'c str>,
    runs: Vec<Run<'c>>,
    rows: Vec<Row<'c>>,
}

impl<'c> Walk<'c> {
    fn name(&self, name: &[u8]) -> Name {
        match name.strip_prefix(self.prefix.as_bytes()) {
            Some(b"p") => Name::Paragraph,
            Some(b"r") => Name::Run,
            Some(b"rPr") => Name::RunProperties,
            Some(b"t") => Name::Text,
            Some(b"tr") => Name::Row,
            Some(b"tc") => Name::Cell,
            Some(b"tcPr") => Name::CellProperties,
            _ => Name::Other,
        }
    }

    fn begin(&mut self, name: Name, from: usize, end: usize) {
        match name {
            Name::Paragraph => self.paragraphs.push(None),
            Name::Run => {
                let colour = self.paragraphs.last().copied().flatten().or(self.around);
                self.runs.push(Run { content: end, properties: 0..0, colour });
            }
            Name::Row => self.rows.push(Row::default()),
            Name::Cell => {
                if let Some(row) = self.rows.last_mut() {
                    row.cells.push(Cell { content: end, properties: 0..0, colour: None });
                }
            }
            Name::RunProperties | Name::CellProperties | Name::Text | Name::Other => {}
        }
        self.open.push((name, from));
    }

    fn end(&mut self, end: usize, is_empty: bool) {
        let Some((name, from)) = self.open.pop() else { return };
        let parent = self.open.last().map_or(Name::Other, |&(parent, _)| parent);
        match name {
            Name::Paragraph => {
                self.paragraphs.pop();
            }
            Name::Run => {
                if let Some(run) = self.runs.pop()
                    && let Some(colour) = run.colour.filter(|_| !is_empty)
                {
                    let properties = self.coloured(&run.properties, colour);
                    self.edits.replace(place(&run.properties, run.content), properties);
                }
            }
            Name::RunProperties if parent == Name::Run => {
                if let Some(run) = self.runs.last_mut() {
                    run.properties = from..end;
                }
            }
            Name::CellProperties if parent == Name::Cell => {
                if let Some(cell) = self.rows.last_mut().and_then(|row| row.cells.last_mut()) {
                    cell.properties = from..end;
                }
            }
            Name::Row => {
                for cell in self.rows.pop().into_iter().flat_map(Row::coloured) {
                    self.shade(&cell);
                }
            }
            Name::RunProperties | Name::CellProperties | Name::Cell | Name::Text | Name::Other => {}
        }
    }

    fn mark(&mut self, colour: &'c str, what: Coloured, reach: Reach, range: Range<usize>) {
        let mut text = String::new();
        let row = self.rows.last_mut();
        match (what, reach) {
            (Coloured::Cell, _) => {
                if let Some(cell) = row.and_then(|row| row.cells.last_mut()) {
                    cell.colour = Some(colour);
                }
            }
            (Coloured::Row, _) => {
                if let Some(row) = row {
                    row.colour = Some(colour);
                }
            }
            (Coloured::Text, Reach::From) => self.around = Some(colour),
            (Coloured::Text, Reach::To) => self.around = None,
            (Coloured::Text, Reach::Here) => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    *paragraph = Some(colour);
                    text = self.parted(colour);
                }
            }
        }
        self.edits.replace(range, text);
    }

    /// Ends the run amid its text and begins it again in this colour.
    fn parted(&self, colour: &str) -> String {
        let (Some((Name::Text, _)), Some(run)) = (self.open.last(), self.runs.last()) else {
            return String::new();
        };
        let prefix = self.prefix;
        let properties = self.coloured(&run.properties, colour);
        format!("</{prefix}t></{prefix}r><{prefix}r>{properties}<{prefix}t xml:space=\"preserve\">")
    }

    fn text(&self, range: &Range<usize>) -> &'c str {
        self.xml.get(range.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    fn coloured(&self, properties: &Range<usize>, colour: &str) -> String {
        let prefix = self.prefix;
        let element = format!("<{prefix}color {prefix}val=\"{colour}\"/>");
        with_property(self.text(properties), prefix, &element)
    }

    fn shade(&mut self, cell: &Cell<'c>) {
        let Some(colour) = cell.colour else { return };
        let prefix = self.prefix;
        let element =
            format!("<{prefix}shd {prefix}val=\"clear\" {prefix}color=\"auto\" {prefix}fill=\"{colour}\"/>");
        let properties = with_cell_property(self.text(&cell.properties), prefix, &element);
        self.edits.replace(place(&cell.properties, cell.content), properties);
    }
}

impl<'c> Row<'c> {
    /// Its cells with their colours; a cell's own goes before the row's.
    fn coloured(self) -> impl Iterator<Item = Cell<'c>> {
        let colour = self.colour;
        self.cells.into_iter().map(move |cell| Cell { colour: cell.colour.or(colour), ..cell })
    }
}

/// The range of the properties; empty, at the content's beginning, where there are none.
fn place(properties: &Range<usize>, content: usize) -> Range<usize> {
    if properties.is_empty() { content..content } else { properties.clone() }
}
