//! The series of a chart's part: each looks like the template's series of the same index, further ones like the first series in
//! the group of the template's last.

use std::fmt::Write as _;
use std::ops::Range;

use super::Chart;
use super::pieces::{Group, Layout, prefix};
use super::table::{Cell, Places, Table, letters, sheet_number};
use crate::error::quoted;
use crate::forms::colour::colour;
use crate::package::entries::Entry;
use crate::package::xml::escaped;
use crate::package::xml::replaced;

/// Elements with a series' data.
const DATA: [&str; 5] = ["cat", "val", "xVal", "yVal", "bubbleSize"];

/// Elements of a series that come behind its data.
const BEHIND: [&str; 4] = ["smooth", "shape", "bubble3D", "extLst"];

/// Elements with a series' colours.
const COLOURED: [&str; 2] = ["spPr", "marker"];

/// How many accent colours a theme has.
const ACCENTS: usize = 6;

const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
const STRICT_DRAWING: &str = "http://purl.oclc.org/ooxml/drawingml/main";

/// Pieces of a part, with what takes their places.
pub(super) type Edits = Vec<(Range<usize>, String)>;

/// The edits of the chart's part; `None` where its series would be more than `room` bytes.
pub(super) fn written(
    chart: &Chart,
    table: &Table,
    (layout, xml): (&Layout, &[u8]),
    (sheet, room): (&str, usize),
) -> Result<Option<Edits>, String> {
    let mut series: Vec<String> = layout.groups.iter().map(|_| String::new()).collect();
    let mut length = 0_usize;
    let last = layout.series.last().map_or(0, |pattern| pattern.group);
    let sheet = escaped(&in_formula(sheet));
    for (index, (given, places)) in chart.series.iter().zip(&table.series).enumerate() {
        let own = layout.series.get(index);
        let at = own.map_or(last, |own| own.group);
        let Some(group) = layout.groups.get(at) else { continue };
        let pattern = own.or_else(|| layout.series.iter().find(|pattern| pattern.group == at));
        let heading = table.columns.get(places.along).map_or("", |column| &column.heading);
        let writer = Writer {
            table,
            layout,
            xml,
            sheet: &sheet,
            group,
            pattern: pattern.map(|pattern| pattern.element),
            is_copy: own.is_none(),
            colour: given
                .color
                .as_deref()
                .filter(|given| !given.trim().is_empty())
                .map(hexadecimal)
                .transpose()?,
            index,
            name: given.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(heading),
        };
        let written = writer.series(*places);
        length = length.saturating_add(written.len());
        if length > room {
            return Ok(None);
        }
        if let Some(series) = series.get_mut(at) {
            series.push_str(&written);
        }
    }
    let removed = layout.series.iter().filter_map(|pattern| layout.elements.get(pattern.element));
    let mut edits: Edits = removed.map(|element| (element.whole.clone(), String::new())).collect();
    edits.extend(layout.groups.iter().zip(series).map(|(group, series)| (group.at..group.at, series)));
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    Ok(Some(edits))
}

fn hexadecimal(given: &str) -> Result<String, String> {
    colour(given.trim()).ok_or_else(|| {
        format!("{:?} is no colour for a series; write it as CSS does, as in \"#1F77B4\"", quoted(given))
    })
}

struct Writer<'a> {
    table: &'a Table,
    layout: &'a Layout,
    xml: &'a [u8],
    /// The sheet's name as formulas write it, escaped.
    sheet: &'a str,
    group: &'a Group,
    pattern: Option<usize>,
    /// The template has no series of this index.
    is_copy: bool,
    /// Six hexadecimal digits.
    colour: Option<String>,
    index: usize,
    name: &'a str,
}

impl Writer<'_> {
    fn series(&self, places: Places) -> String {
        let c = &self.group.prefix;
        let pattern = self.pattern.and_then(|at| self.layout.elements.get(at));
        let begin =
            pattern.map_or_else(|| format!("<{c}ser>"), |pattern| self.text(pattern.tag.clone()).to_owned());
        let mut out =
            format!("{begin}<{c}idx val=\"{0}\"/><{c}order val=\"{0}\"/>{1}", self.index, self.title(places));
        let children: Vec<&Entry> = self
            .pattern
            .map(|at| self.layout.children(at))
            .unwrap_or_default()
            .into_iter()
            .filter_map(|at| self.layout.elements.get(at))
            .collect();
        if let Some(colour) =
            self.colour.as_deref().filter(|_| children.iter().all(|child| child.name != "spPr"))
        {
            out.push_str(&self.looks(colour));
        }
        let mut data = Some(self.data(places, &children));
        for child in children {
            let name = child.name.as_str();
            if DATA.contains(&name) || BEHIND.contains(&name) {
                out.extend(data.take());
            }
            if !DATA.contains(&name) && !["idx", "order", "tx"].contains(&name) {
                out.push_str(&self.piece(child));
            }
        }
        out.extend(data);
        let _ = write!(out, "</{c}ser>");
        out
    }

    fn text(&self, range: Range<usize>) -> &str {
        self.xml.get(range).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    fn title(&self, places: Places) -> String {
        let c = &self.group.prefix;
        let (sheet, column, name) = (self.sheet, letters(places.along), escaped(self.name));
        format!(
            "<{c}tx><{c}strRef><{c}f>{sheet}!${column}$1</{c}f><{c}strCache><{c}ptCount val=\"1\"/><{c}pt idx=\"0\"><{c}v>{name}</{c}v>\
             </{c}pt></{c}strCache></{c}strRef></{c}tx>"
        )
    }

    /// The series' data; numbers keep the template's format unless the data give one.
    fn data(&self, places: Places, children: &[&Entry]) -> String {
        let c = &self.group.prefix;
        let (across, along) = match self.table.kind {
            super::Kind::Categories => ("cat", "val"),
            super::Kind::Points | super::Kind::Bubbles => ("xVal", "yVal"),
        };
        let mut out = String::new();
        let all = [(across, Some(places.across)), (along, Some(places.along)), ("bubbleSize", places.size)];
        for (name, column) in all {
            let Some(column) = column else { continue };
            let given =
                self.table.columns.get(column).and_then(|column| column.format.as_deref()).map(escaped);
            let format =
                given.or_else(|| self.format(name, children)).unwrap_or_else(|| "General".to_owned());
            let _ = write!(out, "<{c}{name}>{}</{c}{name}>", self.reference(column, name != "cat", &format));
        }
        out
    }

    /// The template's number format, still escaped.
    fn format(&self, name: &str, children: &[&Entry]) -> Option<String> {
        let child = children.iter().find(|child| child.name == name)?;
        let (_, format) =
            { self.layout.within(&child.whole) }.find(|(_, element)| element.name == "formatCode")?;
        let inner = self.text(format.tag.end..format.whole.end);
        inner.rfind('<').and_then(|at| inner.get(..at)).map(str::to_owned)
    }

    /// A reference to a column of the sheet, with a copy of the column's values.
    fn reference(&self, index: usize, takes_numbers: bool, format: &str) -> String {
        let c = &self.group.prefix;
        let (sheet, letters, rows) = (self.sheet, letters(index), self.table.rows);
        let end = if rows > 1 { format!(":${letters}${}", rows + 1) } else { String::new() };
        let formula = format!("<{c}f>{sheet}!${letters}$2{end}</{c}f>");
        let column = self.table.columns.get(index);
        let is_number = takes_numbers || column.is_some_and(super::table::Column::is_of_numbers);
        let mut points = format!("<{c}ptCount val=\"{rows}\"/>");
        for (at, cell) in column.map(|column| column.cells.iter()).into_iter().flatten().enumerate() {
            let said = match cell {
                Cell::Empty => continue,
                Cell::Number(number) => sheet_number(*number),
                Cell::Text(text) => escaped(text),
            };
            let _ = write!(points, "<{c}pt idx=\"{at}\"><{c}v>{said}</{c}v></{c}pt>");
        }
        if is_number {
            format!(
                "<{c}numRef>{formula}<{c}numCache><{c}formatCode>{format}</{c}formatCode>{points}</{c}numCache></{c}numRef>"
            )
        } else {
            format!("<{c}strRef>{formula}<{c}strCache>{points}</{c}strCache></{c}strRef>")
        }
    }

    /// The shape properties with this colour, for a series whose pattern has none.
    fn looks(&self, colour: &str) -> String {
        let c = &self.group.prefix;
        let is_strict = memchr::memmem::find(self.xml, STRICT_DRAWING.as_bytes()).is_some();
        let namespace = if is_strict { STRICT_DRAWING } else { DRAWING };
        let own = format!(" xmlns:a=\"{namespace}\"");
        let fill = |own: &str| format!("<a:solidFill{own}><a:srgbClr val=\"{colour}\"/></a:solidFill>");
        let is_line = ["line", "radar", "scatter"].iter().any(|kind| self.group.name.starts_with(kind));
        let looks = if is_line {
            format!("<a:ln{own} w=\"28575\" cap=\"rnd\">{}<a:round/></a:ln>", fill(""))
        } else {
            fill(&own)
        };
        format!("<{c}spPr>{looks}</{c}spPr>")
    }

    /// A piece of the template's series, in the colours of this one.
    fn piece(&self, child: &Entry) -> String {
        let mut edits = Vec::new();
        let is_coloured = COLOURED.contains(&child.name.as_str());
        for (at, element) in self.layout.within(&child.whole) {
            match element.name.as_str() {
                // A copy without its own id: Word would take two series with the same id for one.
                "ext" if self.is_copy && self.layout.child(at, "uniqueId").is_some() => {
                    edits.push((element.whole.clone(), String::new()));
                }
                "solidFill" if is_coloured => {
                    let inner = self.layout.children(at).first().and_then(|&at| self.layout.elements.get(at));
                    if let (Some(colour), Some(inner)) = (&self.colour, inner) {
                        let a = prefix(self.xml, element);
                        edits.push((inner.whole.clone(), format!("<{a}srgbClr val=\"{colour}\"/>")));
                    }
                }
                "schemeClr" if is_coloured && self.is_copy && self.colour.is_none() => {
                    let own = element.value("val");
                    if own.starts_with("accent") {
                        let accent = format!("accent{}", self.index % ACCENTS + 1);
                        edits.push((
                            element.tag.clone(),
                            self.text(element.tag.clone()).replacen(own, &accent, 1),
                        ));
                    }
                }
                _ => {}
            }
        }
        let relative = |(range, piece): (Range<usize>, String)| {
            (range.start - child.whole.start..range.end - child.whole.start, piece)
        };
        let edits: Edits = edits.into_iter().map(relative).collect();
        let piece = replaced(self.xml.get(child.whole.clone()).unwrap_or_default(), &edits);
        String::from_utf8_lossy(&piece).into_owned()
    }
}

/// A sheet's name as formulas write it.
fn in_formula(sheet: &str) -> String {
    // A name that could be a cell's, such as A1 or R1C1, must be quoted.
    let is_plain = sheet.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && sheet.chars().all(|letter| letter.is_ascii_alphanumeric())
        && sheet.trim_end_matches(|letter: char| letter.is_ascii_digit()).len() > 3;
    if is_plain { sheet.to_owned() } else { format!("'{}'", sheet.replace('\'', "''")) }
}
