//! How wide the text may be at a place: the cell's width, or the page's without its margins, or the column's.

use super::{Id, Kind, NONE, Part};
use crate::word::attribute::attribute;

/// Twentieths of a point: what Word measures pages in.
pub(crate) type Twips = u64;

/// The left and the right margin of a cell together, where its table says nothing else (ECMA-376 part 1, 17.4.42).
const CELL_MARGINS: Twips = 216;

/// Where the sections of a part end, and how wide the text is in each.
pub(crate) type Sections = Vec<(usize, Option<Twips>)>;

impl Part {
    /// The width of the text at the element `at`; `None` where the part does not say it, as in a header.
    pub(crate) fn text_width(&self, at: Id, sections: &Sections) -> Option<Twips> {
        for id in self.path(at) {
            match self.kind(id) {
                Kind::Cell => {
                    let width = self.child(id, "tcPr").and_then(|properties| self.child(properties, "tcW"));
                    let width = width.and_then(|width| self.width(width));
                    return width.map(|width| width.saturating_sub(CELL_MARGINS)).filter(|&width| width > 0);
                }
                // The width of a text box is in the drawing around it, in many forms.
                Kind::Box => return None,
                Kind::Paragraph
                | Kind::Run
                | Kind::Text
                | Kind::Code
                | Kind::Value
                | Kind::Table
                | Kind::Row
                | Kind::Control
                | Kind::ControlContent
                | Kind::ControlProperties
                | Kind::ParagraphProperties
                | Kind::Properties
                | Kind::MoveFrom
                | Kind::Other => {}
            }
        }
        let begin = self.element(at)?.range().start;
        sections.get(sections.partition_point(|&(end, _)| end < begin))?.1
    }

    /// The sections of the part.
    pub(crate) fn sections(&self) -> Sections {
        let all = (0..).map_while(|id| Some((id, self.element(id)?)));
        let found = all.filter(|&(id, element)| element.kind == Kind::Other && self.local(id) == "sectPr");
        found.map(|(id, element)| (element.range().start, self.section_width(id))).collect()
    }

    fn section_width(&self, section: Id) -> Option<Twips> {
        let size = self.child(section, "pgSz").and_then(|size| self.number(size, "w"))?;
        let margins = self.child(section, "pgMar");
        let margin = |name: &str| margins.and_then(|margins| self.number(margins, name)).unwrap_or_default();
        let text = size.checked_sub(margin("left") + margin("right") + margin("gutter"))?;
        let columns = self.child(section, "cols");
        let count = columns.and_then(|columns| self.number(columns, "num")).unwrap_or(1).clamp(1, 45);
        let space = columns.and_then(|columns| self.number(columns, "space")).unwrap_or(720);
        let width = text.saturating_sub(space * (count - 1)) / count;
        (width > 0).then_some(width)
    }

    /// A width in twips; `None` for one in percent or none.
    fn width(&self, id: Id) -> Option<Twips> {
        let tag = self.element(id).and_then(|element| self.xml.get(element.start_tag()))?;
        let kind = attribute(tag, "type").and_then(|kind| tag.get(kind.value));
        if kind.is_none_or(|kind| kind == b"dxa") { self.number(id, "w") } else { None }
    }

    fn number(&self, id: Id, name: &str) -> Option<Twips> {
        let tag = self.element(id).and_then(|element| self.xml.get(element.start_tag()))?;
        let value = attribute(tag, name).and_then(|value| tag.get(value.value))?;
        std::str::from_utf8(value).ok()?.parse().ok().filter(|&number| number <= 31_680)
    }

    /// The child of this name, without the dialect's prefix.
    pub(crate) fn child(&self, of: Id, local: &str) -> Option<Id> {
        if of == NONE {
            return None;
        }
        self.children(of).find(|&id| self.local(id) == local)
    }

    /// The element's name without the dialect's prefix; empty where it has another.
    pub(crate) fn local(&self, id: Id) -> &str {
        self.name(id).strip_prefix(&self.prefix).unwrap_or_default()
    }
}
