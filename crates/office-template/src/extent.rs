//! What a section repeats, which follows from the places of its two tags: text, paragraphs, rows or a column.

mod column;
mod item;

use std::collections::{BTreeMap, BTreeSet};

use column::Grid;
pub(crate) use item::list;

use crate::error::quoted;
use crate::lexer::Tag;
use crate::styles::Styles;
use crate::tags::{Pair, Placed, Tags};
use crate::word::{Id, Kind, NONE, Part};

/// Elements that a tag may name to be repeated: wherever the format allows one of them, it allows any number and none.
const NAMED: [(&str, Kind); 9] = [
    ("w:p", Kind::Paragraph),
    ("w:tr", Kind::Row),
    ("w:tc", Kind::Cell),
    ("w:tbl", Kind::Table),
    ("w:r", Kind::Run),
    ("a:p", Kind::Paragraph),
    ("a:tr", Kind::Row),
    ("a:tc", Kind::Cell),
    ("a:r", Kind::Run),
];

const MANY: &str = "repeat columns, and the tables with such sections have too many rows";

/// What a section repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What is between the tags; the elements around each tag are split, up to and without the given one.
    Between(Id, Id),
    /// From the first paragraph to the last one.
    Paragraphs(Id, Id),
    /// From the first element to the last one, rows as a rule.
    Elements(Id, Id),
    /// A table's column: its piece of the grid and of each row, each repeated by itself.
    Column(Vec<Id>),
}

/// What was found about tables and paragraphs, kept so that it is found once for all sections.
struct Known<'a> {
    part: &'a Part,
    styles: &'a Styles,
    tags: &'a Tags,
    grids: BTreeMap<Id, Grid>,
    lists: BTreeMap<usize, Option<&'a str>>,
    /// How many pieces of columns may still be repeated.
    cuts_left: &'a mut usize,
}

/// The extents of the part's sections, in the order of `tags.pairs`; `None` where there is a fault. Each piece of a column is
/// taken from `cuts_left`.
pub(crate) fn extents(
    (part, styles): (&Part, &Styles),
    name: &str,
    tags: &mut Tags,
    cuts_left: &mut usize,
) -> Vec<Option<Extent>> {
    let mut extents = Vec::with_capacity(tags.pairs.len());
    let mut faults = Vec::new();
    let both = |pair: &Pair| Some((tags.all.get(pair.open)?, tags.all.get(pair.close)?));
    let (grids, lists) = (BTreeMap::new(), BTreeMap::new());
    let mut known = Known { part, styles, tags, grids, lists, cuts_left };
    for (index, pair) in tags.pairs.iter().enumerate() {
        let found = both(pair).map(|(opening, closing)| known.extent(opening, closing));
        extents.push(match found.transpose() {
            Ok(extent) => extent,
            Err(why) => {
                faults.push((index, why));
                None
            }
        });
    }
    known.divide_paragraphs(&mut extents);
    for (index, (pair, slot)) in tags.pairs.iter().zip(&mut extents).enumerate() {
        let why = both(pair)
            .zip(slot.as_ref())
            .and_then(|((opening, closing), extent)| torn(part, opening, closing, extent));
        if let Some(why) = why {
            faults.push((index, why));
            *slot = None;
        }
    }
    for (index, why) in faults {
        let Some(&Pair { open, close }) = tags.pairs.get(index) else { continue };
        let Some(closing) = tags.all.get(close) else { continue };
        let message = format!("it and {} of paragraph {} {why}", closing.shown, closing.number);
        tags.report_both((open, close), name, &message);
    }
    extents
}

impl Known<'_> {
    fn extent(&mut self, opening: &Placed, closing: &Placed) -> Result<Extent, String> {
        let part = self.part;
        if let Tag::Section(_, Some(element)) = &opening.tag {
            return named(part, opening, closing, element);
        }
        let common = common(part, opening.element, closing.element);
        if opening.paragraph == closing.paragraph {
            let paragraph = part.paragraphs.get(opening.paragraph).map(|paragraph| paragraph.element);
            let is_item =
                item::is_all(part, self.tags, opening, closing) && self.list(opening.paragraph).is_some();
            let item = paragraph.filter(|_| is_item);
            return Ok(item.map_or(Extent::Between(common, common), |item| Extent::Paragraphs(item, item)));
        }
        let (first, last) = (below(part, opening.element, common), below(part, closing.element, common));
        match (part.kind(first), part.kind(last)) {
            (Kind::Paragraph, Kind::Paragraph) => Ok(Extent::Paragraphs(first, last)),
            // Different cells of a row, which may be wrapped in content controls.
            (one, other) if [one, other].contains(&Kind::Cell) || part.kind(common) == Kind::Row => {
                let row = part.path(common).find(|&id| part.kind(id) == Kind::Row);
                row.map(|row| Extent::Elements(row, row))
                    .ok_or_else(|| "stand in cells without a row".to_owned())
            }
            (Kind::Row, Kind::Row | Kind::Control) | (Kind::Control, Kind::Row) => {
                self.rows(opening, closing, (first, last))
            }
            (Kind::Control, Kind::Control) if part.kind(common) == Kind::Table => {
                self.rows(opening, closing, (first, last))
            }
            (one, other) => {
                let place = |kind| {
                    let places = [(Kind::Table, "a table"), (Kind::Control, "a content control")];
                    places.into_iter().find(|(place, _)| *place == kind).map(|(_, name)| name)
                };
                let place = place(one).or_else(|| place(other)).unwrap_or("a text box");
                Err(format!("must stand both inside or both outside of {place}"))
            }
        }
    }

    /// Rows of a table, from the first to the last; the column, where both tags are in the same one and enclose all rows.
    fn rows(
        &mut self,
        opening: &Placed,
        closing: &Placed,
        (first, last): (Id, Id),
    ) -> Result<Extent, String> {
        let part = self.part;
        let rows = Extent::Elements(first, last);
        let Some(table) = part.path(first).find(|&id| part.kind(id) == Kind::Table) else { return Ok(rows) };
        let cell = |tag: &Placed| {
            let inside = part.path(tag.element).take_while(|&id| id != table);
            inside.filter(|&id| part.kind(id) == Kind::Cell).last()
        };
        let (Some(one), Some(other)) = (cell(opening), cell(closing)) else { return Ok(rows) };
        let grid = self.grids.entry(table).or_insert_with(|| Grid::of(part, table));
        if !grid.is_column(one, other) {
            return Ok(rows);
        }
        *self.cuts_left = self.cuts_left.checked_sub(grid.height()).ok_or(MANY)?;
        grid.column(one).map(Extent::Column)
    }

    /// The list that the paragraph of this number is an item of.
    fn list(&mut self, paragraph: usize) -> Option<&str> {
        let (part, styles) = (self.part, self.styles);
        let element = part.paragraphs.get(paragraph)?.element;
        *self.lists.entry(paragraph).or_insert_with(|| item::list(part, styles, element))
    }

    /// Whether both tags are in items of the same list.
    fn is_of_list(&mut self, pair: &Pair) -> bool {
        let mut list = |index: usize| {
            let paragraph = self.tags.all.get(index)?.paragraph;
            self.list(paragraph).map(str::to_owned)
        };
        let opening = list(pair.open);
        opening.is_some() && opening == list(pair.close)
    }

    /// Paragraphs, and items of a list, are repeated whole where nothing but blanks is outside of the tags. Otherwise only what
    /// is between the tags is repeated, and so for every other section with a tag in one of these paragraphs: the two extents
    /// would overlap else.
    fn divide_paragraphs(&mut self, extents: &mut [Option<Extent>]) {
        let (part, tags) = (self.part, self.tags);
        let mut by_paragraph: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let paragraphs = |index: usize| {
            let pair = tags.pairs.get(index);
            let both = pair.into_iter().flat_map(|pair| [pair.open, pair.close]);
            both.filter_map(|tag| tags.all.get(tag)).map(|placed| placed.paragraph)
        };
        let mut shared = Vec::new();
        for (index, (pair, extent)) in tags.pairs.iter().zip(extents.iter()).enumerate() {
            if matches!(extent, Some(Extent::Paragraphs(..))) {
                for paragraph in paragraphs(index) {
                    by_paragraph.entry(paragraph).or_default().push(index);
                }
                // `Known::extent` has checked already that an item is all of its paragraph.
                let is_item = tags.all.get(pair.open).is_some_and(|placed| placed.is_inline);
                let is_clean =
                    || is_clean(part, tags, pair.open, true) && is_clean(part, tags, pair.close, false);
                if !is_item && !is_clean() {
                    shared.push(index);
                }
            }
        }
        let mut divided: Vec<usize> = shared
            .into_iter()
            .filter(|&index| {
                let is_alone = paragraphs(index).all(|paragraph| {
                    by_paragraph.get(&paragraph).is_some_and(|all| all.iter().all(|&other| other == index))
                });
                !is_alone || !tags.pairs.get(index).is_some_and(|pair| self.is_of_list(pair))
            })
            .collect();
        while let Some(index) = divided.pop() {
            let Some(extent) = extents.get_mut(index) else { continue };
            let &mut Some(Extent::Paragraphs(first, last)) = extent else { continue };
            *extent = Some(Extent::Between(first, last));
            for paragraph in paragraphs(index) {
                divided.extend(by_paragraph.remove(&paragraph).unwrap_or_default());
            }
        }
    }
}

/// `{-w:tr list}`: the element of that name around each of the tags.
fn named(part: &Part, opening: &Placed, closing: &Placed, name: &str) -> Result<Extent, String> {
    let own = if part.dialect.is_drawn() { "a:" } else { "w:" };
    let of_dialect = || NAMED.iter().filter(|(known, _)| known.starts_with(own));
    let Some(&(_, kind)) = of_dialect().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = of_dialect().map(|&(known, _)| known).collect();
        return Err(format!("cannot repeat a <{}>; what can be named is {}", quoted(name), known.join(", ")));
    };
    let around = |tag: &Placed| part.path(tag.element).find(|&id| part.kind(id) == kind);
    let (Some(first), Some(last)) = (around(opening), around(closing)) else {
        return Err(format!("do not both stand in a <{name}>"));
    };
    let parent = |id| part.element(id).map_or(NONE, |element| element.parent);
    if parent(first) == parent(last) {
        return Ok(Extent::Elements(first, last));
    }
    Err(format!("stand in a <{name}> each, but these do not stand side by side"))
}

/// The innermost element around both.
fn common(part: &Part, one: Id, other: Id) -> Id {
    let around: BTreeSet<Id> = part.path(one).collect();
    part.path(other).find(|id| around.contains(id)).unwrap_or(0)
}

/// The child of `above` that contains `id`; `above` where `id` is `above` itself.
fn below(part: &Part, id: Id, above: Id) -> Id {
    part.path(id).take_while(|&id| id != above).last().unwrap_or(above)
}

/// Why an extent cannot be repeated, where it would tear a field or an element that cannot be split.
fn torn(part: &Part, opening: &Placed, closing: &Placed, extent: &Extent) -> Option<String> {
    const BOTH: &str = "must stand both inside or both outside of";
    let range = |id| part.element(id).map_or(0..0, crate::word::Element::range);
    let is_torn = |begin, end| part.fields.around(begin) != part.fields.around(end);
    let is_torn = match *extent {
        Extent::Between(first, last) => {
            for (tag, above) in [(opening, first), (closing, last)] {
                let mut cut = part.path(tag.element).take_while(|&id| id != above);
                if let Some(id) = cut.find(|&id| !part.is_divisible(id)) {
                    return Some(format!("{BOTH} a <{}>", part.name(id)));
                }
            }
            is_torn(opening.at(), closing.at())
        }
        Extent::Paragraphs(first, last) | Extent::Elements(first, last) => {
            is_torn(range(first).start, range(last).end)
        }
        Extent::Column(ref pieces) => pieces.iter().any(|&id| is_torn(range(id).start, range(id).end)),
    };
    is_torn.then(|| format!("{BOTH} a field, as a page number is one, or a table of contents"))
}

/// Whether the paragraph has only blanks and tags of sections before the tag, or behind it.
fn is_clean(part: &Part, tags: &Tags, index: usize, is_before: bool) -> bool {
    let Some(placed) = tags.all.get(index) else { return false };
    let Some(paragraph) = part.paragraphs.get(placed.paragraph) else { return false };
    let range = if is_before { 0..placed.text.start } else { placed.text.end..paragraph.text.len() };
    is_blank(part, tags, placed.paragraph, range)
}

/// Whether a range of a paragraph's text holds nothing but blanks and tags of sections that end in other paragraphs.
pub(crate) fn is_blank(part: &Part, tags: &Tags, paragraph: usize, range: std::ops::Range<usize>) -> bool {
    let Some(text) = part.paragraphs.get(paragraph).map(|paragraph| paragraph.text.as_str()) else {
        return false;
    };
    let mut at = range.start;
    for placed in tags.of(paragraph) {
        if placed.text.start < range.start || placed.text.end > range.end {
            continue;
        }
        if placed.tag.has_content() || placed.is_inline || !is_white(text, at..placed.text.start) {
            return false;
        }
        at = placed.text.end;
    }
    is_white(text, at..range.end)
}

fn is_white(text: &str, range: std::ops::Range<usize>) -> bool {
    text.get(range)
        .is_some_and(|text| text.chars().all(|letter| letter.is_whitespace() || letter == '\u{ad}'))
}
