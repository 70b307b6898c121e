//! Tables.

use crate::model::{
    Block, Border, Borders, Cell, Extent, Frame, Inline, Role, Row, Stroke, Table, Twips, Vertical,
};

use super::grid::{Content, Grid, Slot};
use super::paragraph::{ends_open, justification};
use super::xml::{self, Properties};
use super::{Place, TABLE_DEPTH, Writer, plain};

/// Left and right in a cell that says nothing else.
const PADDING: Twips = 108;
/// About the width of a character.
const CHARACTER: Twips = 125;
/// No column is narrower.
const NARROWEST: Twips = 240;

impl Writer<'_> {
    /// Writes a table, and answers whether there was one to write.
    pub(super) fn table(&mut self, table: &Table, place: &Place) -> bool {
        if table.rows.is_empty() {
            return false;
        }
        if place.depth >= TABLE_DEPTH {
            self.warn("tables stand too deep in each other; the innermost were left out".to_owned());
            return false;
        }
        let grid = Grid::new(table);
        if grid.overfull {
            self.warn("a table in the HTML has more than the 63 columns that Word can have; further cells share the last one".to_owned());
        }
        let (widths, total) = widths(table, &grid, place.width);
        self.tag("tbl");
        let properties = self.table_properties(table, total).within(&self.prefix, "tblPr");
        self.push(&properties);
        self.tag("tblGrid");
        for width in &widths {
            let column = self.element("gridCol", &[("w", &width.to_string())]);
            self.push(&column);
        }
        self.end("tblGrid");
        for (row, slots) in table.rows.iter().zip(&grid.rows) {
            self.row(row, slots, &widths, place);
        }
        self.end("tbl");
        true
    }

    fn table_properties(&mut self, table: &Table, total: Option<Twips>) -> Properties {
        let mut properties = Properties::new(xml::TABLE);
        if table.frame != Frame::None {
            let style = self.style(Role::Table);
            properties.set("tblStyle", self.element("tblStyle", &[("val", &style)]));
        }
        if table.right_to_left {
            properties.set("bidiVisual", self.element("bidiVisual", &[]));
        }
        let (kind, width) = match (table.width, total) {
            (Some(Extent::Percent(percent)), _) => ("pct", percent.clamp(1, 100) * 50),
            (_, Some(total)) => ("dxa", u32::try_from(total).unwrap_or(0)),
            (_, None) => ("auto", 0),
        };
        properties.set("tblW", self.element("tblW", &[("w", &width.to_string()), ("type", kind)]));
        if let Some(alignment) = table.alignment {
            let value = match justification(alignment, table.right_to_left) {
                "both" => "left",
                other => other,
            };
            properties.set("jc", self.element("jc", &[("val", value)]));
        }
        if let Some(borders) = self.table_borders(table.frame) {
            properties.set("tblBorders", borders);
        }
        if let Some(padding) = table.padding {
            properties.set("tblCellMar", self.margins("tblCellMar", padding));
        }
        let head = table.rows.first().is_some_and(|row| row.header);
        let (value, head) = if head { ("0420", "1") } else { ("0400", "0") };
        let look = [
            ("val", value),
            ("firstRow", head),
            ("lastRow", "0"),
            ("firstColumn", "0"),
            ("lastColumn", "0"),
            ("noHBand", "0"),
            ("noVBand", "1"),
        ];
        properties.set("tblLook", self.element("tblLook", &look));
        properties
    }

    fn table_borders(&self, frame: Frame) -> Option<String> {
        let none = Border { stroke: Stroke::None, width: 0, colour: None };
        let (outside, inside) = match frame {
            Frame::Styled => return None,
            Frame::None => (none, none),
            Frame::All(border) => (border, border),
            Frame::Outside(border) => (border, none),
        };
        let all =
            Borders { top: Some(outside), left: Some(outside), bottom: Some(outside), right: Some(outside) };
        Some(self.borders("tblBorders", &all, &[("insideH", inside), ("insideV", inside)], 0))
    }

    fn margins(&self, name: &str, padding: Twips) -> String {
        let width = padding.to_string();
        let sides: String = ["top", "left", "bottom", "right"]
            .iter()
            .map(|side| self.element(side, &[("w", &width), ("type", "dxa")]))
            .collect();
        format!("<{0}{name}>{sides}</{0}{name}>", self.prefix)
    }

    fn row(&mut self, row: &Row, slots: &[Slot], widths: &[Twips], place: &Place) {
        let mut properties = Properties::new(xml::ROW);
        if row.header {
            properties.set("cantSplit", self.element("cantSplit", &[]));
            properties.set("tblHeader", self.element("tblHeader", &[]));
        }
        if let Some(height) = row.height {
            properties
                .set("trHeight", self.element("trHeight", &[("val", &height.clamp(0, 14_400).to_string())]));
        }
        self.tag("tr");
        let properties = properties.within(&self.prefix, "trPr");
        self.push(&properties);
        for slot in slots {
            let width = widths.get(slot.start..slot.end).map_or(0, |widths| widths.iter().sum());
            self.cell(slot, width, place);
        }
        self.end("tr");
    }

    fn cell(&mut self, slot: &Slot, width: Twips, place: &Place) {
        let mut properties = Properties::new(xml::CELL);
        properties.set("tcW", self.element("tcW", &[("w", &width.to_string()), ("type", "dxa")]));
        let columns = slot.end - slot.start;
        if columns > 1 {
            properties.set("gridSpan", self.element("gridSpan", &[("val", &columns.to_string())]));
        }
        let blocks: Vec<&[Block]> = match &slot.content {
            Content::Cells { cells, spans_rows } => {
                if *spans_rows {
                    properties.set("vMerge", self.element("vMerge", &[("val", "restart")]));
                }
                if let Some(cell) = cells.first() {
                    self.cell_look(&mut properties, cell);
                }
                cells.iter().map(|cell| cell.blocks.as_slice()).collect()
            }
            Content::Covered(cell) => {
                properties.set("vMerge", self.element("vMerge", &[("val", "continue")]));
                self.cell_look(&mut properties, cell);
                Vec::new()
            }
            Content::Empty => Vec::new(),
        };
        self.tag("tc");
        let properties = properties.within(&self.prefix, "tcPr");
        self.push(&properties);
        let inner = Place { width: (width - 2 * PADDING).max(NARROWEST), depth: place.depth + 1 };
        let mut open = true;
        for blocks in blocks {
            let start = self.out.len();
            let table_last = self.blocks(blocks, &inner);
            open = (open && self.out.len() == start)
                || table_last
                || (ends_open(blocks) && self.out.len() == start);
        }
        if open {
            self.empty_paragraph();
        }
        self.end("tc");
    }

    fn cell_look(&self, properties: &mut Properties, cell: &Cell) {
        if cell.borders != Borders::default() {
            properties.set("tcBorders", self.borders("tcBorders", &cell.borders, &[], 0));
        }
        if let Some(background) = cell.background {
            properties.set("shd", self.shading(background));
        }
        if cell.no_wrap {
            properties.set("noWrap", self.element("noWrap", &[]));
        }
        if let Some(padding) = cell.padding {
            properties.set("tcMar", self.margins("tcMar", padding));
        }
        let vertical = match cell.vertical {
            Some(Vertical::Top) => "top",
            Some(Vertical::Middle) => "center",
            Some(Vertical::Bottom) => "bottom",
            None => return,
        };
        properties.set("vAlign", self.element("vAlign", &[("val", vertical)]));
    }
}

/// The widths of a table's columns, and its own if it has one in twips.
///
/// What is said of widths counts first; the rest is shared by how much text the columns have, as browsers do.
fn widths(table: &Table, grid: &Grid, room: Twips) -> (Vec<Twips>, Option<Twips>) {
    let natural = natural(grid, room);
    let wanted = match table.width {
        Some(Extent::Twips(twips)) => Some(twips.clamp(NARROWEST, room)),
        Some(Extent::Percent(percent)) => Some(share(room, percent.clamp(1, 100))),
        None => None,
    };
    let said: Vec<Option<Twips>> = grid
        .widths
        .iter()
        .map(|width| match (*width)? {
            Extent::Twips(twips) => Some(twips.clamp(NARROWEST, room)),
            Extent::Percent(percent) => Some(share(wanted.unwrap_or(room), percent.clamp(1, 100))),
        })
        .collect();
    let any_said = said.iter().any(Option::is_some);
    let fixed: Twips = said.iter().flatten().sum();
    let free: Twips = said.iter().zip(&natural).filter(|(said, _)| said.is_none()).map(|(_, one)| one).sum();
    let total = wanted.unwrap_or((fixed + free).min(room));
    let rest = (total - fixed).max(0);
    let columns: Vec<Twips> = said
        .iter()
        .zip(&natural)
        .map(|(said, natural)| said.unwrap_or_else(|| scale(*natural, rest, free)))
        .collect();
    let sum: Twips = columns.iter().sum();
    let columns: Vec<Twips> = if wanted.is_some() || sum > room {
        columns.iter().map(|one| scale(*one, total, sum).max(1)).collect()
    } else {
        columns
    };
    let total = columns.iter().sum();
    (columns, (wanted.is_some() || any_said).then_some(total))
}

/// How wide the columns would be if nothing were broken.
fn natural(grid: &Grid, room: Twips) -> Vec<Twips> {
    let most = usize::try_from(room / CHARACTER).unwrap_or(80).max(1);
    let mut found: Vec<Twips> = vec![NARROWEST; grid.columns];
    let mut wide = Vec::new();
    for slot in grid.rows.iter().flatten() {
        let Content::Cells { cells, .. } = &slot.content else { continue };
        let count = cells.iter().map(|cell| longest(&cell.blocks, most)).max().unwrap_or(0);
        let width = Twips::try_from(count).unwrap_or(1) * CHARACTER + 3 * PADDING;
        match found.get_mut(slot.start).filter(|_| slot.end - slot.start == 1) {
            Some(column) => *column = width.max(*column),
            None => wide.push((slot.start, slot.end, width)),
        }
    }
    // What spans columns only widens them if together they are too narrow.
    for (start, end, width) in wide {
        let sum: Twips = found.iter().take(end).skip(start).sum();
        if sum < width {
            found.iter_mut().take(end).skip(start).for_each(|one| *one = scale(*one, width, sum));
        }
    }
    found
}

/// The characters of the longest line, at most `most`.
fn longest(blocks: &[Block], most: usize) -> usize {
    let lengths = blocks.iter().map(|block| match block {
        Block::Paragraph(paragraph) => {
            paragraph
                .inlines
                .split(|inline| matches!(inline, Inline::LineBreak))
                .map(|line| plain(line, most))
                .max()
                .unwrap_or(0)
                + if paragraph.item.is_some() { 6 } else { 0 }
        }
        Block::Table(table) => {
            let cells = table.rows.first().map_or(&[][..], |row| &row.cells);
            cells.iter().map(|cell| longest(&cell.blocks, most) + 3).sum()
        }
        Block::Rule | Block::PageBreak => 0,
    });
    lengths.max().unwrap_or(0).min(most)
}

fn share(whole: Twips, percent: u32) -> Twips {
    scale(whole, Twips::try_from(percent).unwrap_or(100), 100)
}

/// `value` × `numerator` / `denominator`.
fn scale(value: Twips, numerator: Twips, denominator: Twips) -> Twips {
    let product = i64::from(value) * i64::from(numerator) / i64::from(denominator.max(1));
    Twips::try_from(product).unwrap_or(Twips::MAX / 100)
}
