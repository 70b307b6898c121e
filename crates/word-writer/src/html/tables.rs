//! Tables: rows and cells as they are met.

use crate::model::{
    Alignment, Block, Border, Cell, Colour, Extent, Frame, Row, Stroke, Table, Twips, Vertical,
};

use super::colour;
use super::css;
use super::look::{Look, alignment};
use super::own::{Own, vertical};
use super::tree::Element;

/// Word's columns; more cells of a row than these go into the last of them.
pub const MOST_COLUMNS: usize = 63;

/// A `table` that is being read.
pub struct OpenTable {
    table: Table,
    /// The rows of `tfoot`, which stand last wherever they are written.
    foot: Vec<Row>,
    row: Option<OpenRow>,
    section: Section,
    /// So many frames were open when it began: its rows and cells are met with as many.
    pub frame: usize,
    background: Option<Colour>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Head,
    Body,
    Foot,
}

struct OpenRow {
    row: Row,
    background: Option<Colour>,
    vertical: Option<Vertical>,
    headers_only: bool,
}

impl OpenTable {
    /// Begins a table.
    pub fn new(element: &Element, look: &Look, own: &Own, frame: usize) -> Self {
        let table = Table {
            width: dimension(element, "width"),
            alignment: place(element, own),
            right_to_left: look.right_to_left,
            frame: lines(element, own),
            padding: element
                .attribute("cellpadding")
                .and_then(css::length)
                .map(|one| one.twips(0.0).clamp(0, 1440)),
            ..Table::default()
        };
        let background = element.attribute("bgcolor").and_then(colour::attribute).or(own.background);
        Self { table, foot: Vec::new(), row: None, section: Section::Body, frame, background }
    }

    /// Begins `thead`, `tbody` or `tfoot`.
    pub fn section(&mut self, name: &str) {
        self.end_row();
        self.section = match name {
            "thead" => Section::Head,
            "tfoot" => Section::Foot,
            _ => Section::Body,
        };
    }

    /// Ends it.
    pub fn end_section(&mut self) {
        self.end_row();
        let rows = if self.section == Section::Foot { &mut self.foot } else { &mut self.table.rows };
        if let Some(row) = rows.last_mut() {
            row.last_of_section = true;
        }
        self.section = Section::Body;
    }

    /// A `col`.
    pub fn column(&mut self, element: &Element) {
        let span = element.attribute("span").and_then(|one| one.trim().parse().ok()).unwrap_or(1_usize);
        let room = MOST_COLUMNS.saturating_sub(self.table.columns.len());
        let width = dimension(element, "width");
        self.table.columns.extend(std::iter::repeat_n(width, span.clamp(1, room.max(1)).min(room)));
    }

    /// Begins a row.
    pub fn begin_row(&mut self, element: &Element, own: &Own) {
        self.end_row();
        let height = match dimension(element, "height") {
            Some(Extent::Twips(twips)) => Some(twips),
            Some(Extent::Percent(_)) | None => None,
        };
        self.row = Some(OpenRow {
            row: Row { height, ..Row::default() },
            background: element.attribute("bgcolor").and_then(colour::attribute).or(own.background),
            vertical: element.attribute("valign").and_then(vertical).or(own.vertical),
            headers_only: true,
        });
    }

    /// Ends a row.
    pub fn end_row(&mut self) {
        let Some(OpenRow { mut row, headers_only, .. }) = self.row.take() else { return };
        if row.cells.is_empty() {
            return;
        }
        let first = self.table.rows.is_empty();
        row.header = match self.section {
            Section::Head => first || self.table.rows.iter().all(|row| row.header),
            Section::Body => first && headers_only,
            Section::Foot => false,
        };
        match self.section {
            Section::Head | Section::Body => self.table.rows.push(row),
            Section::Foot => self.foot.push(row),
        }
    }

    /// A cell, but for what it contains.
    pub fn cell(&self, element: &Element, own: &Own) -> Cell {
        let span = |name| {
            let written = element.attribute(name).map(str::trim);
            written.and_then(|one| one.parse::<u32>().ok()).unwrap_or(1)
        };
        let row = self.row.as_ref();
        let nowrap =
            element.attribute("nowrap").is_some() || property(element, "white-space") == Some("nowrap");
        Cell {
            column_span: span("colspan").min(1000),
            row_span: span("rowspan").min(65_534),
            width: dimension(element, "width"),
            vertical: own
                .vertical
                .or_else(|| element.attribute("valign").and_then(vertical))
                .or(row.and_then(|row| row.vertical)),
            background: own
                .background
                .or_else(|| element.attribute("bgcolor").and_then(colour::attribute))
                .or(row.and_then(|row| row.background))
                .or(self.background),
            borders: own.borders,
            padding: own.padding.map(|one| one.clamp(0, 1440)),
            no_wrap: nowrap,
            blocks: Vec::new(),
        }
    }

    /// Adds a finished cell.
    pub fn push(&mut self, cell: Cell, header: bool) {
        let row = self.row.get_or_insert_with(|| OpenRow {
            row: Row::default(),
            background: None,
            vertical: None,
            headers_only: true,
        });
        row.headers_only &= header;
        let full = row.row.cells.len() >= MOST_COLUMNS;
        match row.row.cells.last_mut().filter(|_| full) {
            Some(last) => last.blocks.extend(cell.blocks),
            None => row.row.cells.push(cell),
        }
    }

    /// What the caption contains.
    pub fn caption(&mut self, blocks: Vec<Block>) {
        self.table.caption.extend(blocks);
    }

    /// The finished table.
    pub fn finish(mut self) -> Table {
        self.end_row();
        self.table.rows.append(&mut self.foot);
        if self.table.rows.iter().all(|row| row.header) {
            for row in &mut self.table.rows {
                row.header = false;
            }
        }
        self.table
    }
}

/// A declaration of an element's style.
fn property<'a>(element: &'a Element, name: &str) -> Option<&'a str> {
    let style = css::declarations(element.attribute("style")?);
    style.into_iter().rev().find(|(one, _)| one == name).map(|(_, value)| value)
}

/// A width or height, from the style or the attribute.
pub fn dimension(element: &Element, name: &str) -> Option<Extent> {
    property(element, name).and_then(css::extent).or_else(|| css::extent(element.attribute(name)?))
}

fn place(element: &Element, own: &Own) -> Option<Alignment> {
    if own.centred { Some(Alignment::Centre) } else { element.attribute("align").and_then(alignment) }
}

/// Which lines a table has: those of the style unless it says otherwise. A table that only arranges has none.
fn lines(element: &Element, own: &Own) -> Frame {
    let single = |width: Twips| Border { stroke: Stroke::Single, width: border_eighths(width), colour: None };
    if let Some(border) = element.attribute("border").and_then(|one| one.trim().parse::<Twips>().ok()) {
        return match (border, own.borders.top) {
            (..=0, _) => Frame::None,
            (_, Some(styled)) if styled.stroke != Stroke::None => {
                Frame::All(Border { width: styled.width, ..styled })
            }
            (width, _) => Frame::All(single(width.min(1))),
        };
    }
    match own.borders.top {
        Some(border) if border.stroke == Stroke::None => Frame::None,
        Some(border) => Frame::Outside(border),
        None if matches!(element.attribute("role"), Some("presentation" | "none")) => Frame::None,
        None => Frame::Styled,
    }
}

fn border_eighths(pixels: Twips) -> u32 {
    u32::try_from(pixels.clamp(1, 8)).unwrap_or(1) * 4
}
