//! The tags of a part: their places in its XML, and which of them open and close a section together.

mod asides;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::error::{Fault, Spot, quoted};
use crate::lexer::{Delimiters, Expression, Tag, Token, lex};
use crate::powerpoint;
use crate::word::{Dialect, Id, Paragraph, Part, PieceKind, Place};
use crate::writing::Writing;
use asides::Aside;

/// How deep sections may be nested: the program's answer is nested as deep, and its parser has a limit.
pub(crate) const SECTION_DEPTH: usize = 50;

/// A tag and its place.
pub(crate) struct Placed {
    /// The index of its paragraph in [`Part::paragraphs`].
    pub paragraph: usize,
    /// The same in the whole part, where the part is a piece of one.
    whole: usize,
    /// The bytes of the paragraph's text that it takes.
    pub text: Range<usize>,
    /// The paragraph's number for faults: from 1, or 0 outside of paragraphs.
    pub number: usize,
    /// The ranges that the tag takes in the part, or in an address as it is written; these are removed.
    pub cuts: Vec<Range<usize>>,
    /// The element around the first of them.
    pub element: Id,
    /// As its author wrote it.
    pub shown: String,
    delimiters: Delimiters,
    pub writing: Writing,
    /// The offset in the part at which it begins.
    begin: usize,
    /// It opens or closes a section that begins and ends in its paragraph.
    pub is_inline: bool,
    pub tag: Tag,
}

impl Placed {
    /// The offset in the part at which the tag begins.
    pub(crate) fn at(&self) -> usize {
        self.begin
    }

    /// Where it is in its part.
    pub(crate) fn spot(&self) -> Spot {
        (self.whole, self.text.clone())
    }
}

/// The indices of a section's two tags in the part.
pub(crate) struct Pair {
    pub open: usize,
    pub close: usize,
}

#[derive(Default)]
pub(crate) struct Tags {
    /// In the order of the part.
    pub all: Vec<Placed>,
    /// In the order of their opening tags.
    pub pairs: Vec<Pair>,
    /// The indices of tags, by their paragraphs.
    by_paragraph: BTreeMap<usize, Vec<usize>>,
    /// The elements, such as `w:t`, that tags are removed from.
    pub touched: BTreeSet<Id>,
    pub faults: Vec<Fault>,
}

/// Finds the tags of `part`, which faults call `name`; `None` where there are more than `left`, faulty ones included.
pub(crate) fn find(part: &Part, name: &str, delimiters: &Delimiters, left: &mut usize) -> Option<Tags> {
    let mut delimiters = delimiters.clone();
    let mut tags = Tags::default();
    let mut ticked = BTreeSet::new();
    for (index, paragraph) in part.paragraphs.iter().enumerate() {
        let found = match paragraph.place {
            Place::Paragraph => in_runs(part.dialect, paragraph, &mut delimiters, *left),
            // Both the title and the tag of a check box may hold a tag; the first one is used.
            Place::Tick(of) if ticked.contains(&of) => continue,
            Place::Attribute
            | Place::Element
            | Place::Code
            | Place::CodeAttribute
            | Place::Address { .. }
            | Place::Tick(_) => asides::read((part.dialect, paragraph), &delimiters),
        };
        for Aside { token, writing, tag } in found {
            *left = left.checked_sub(1)?;
            if let Place::Tick(of) = paragraph.place {
                ticked.insert(of);
            }
            match tag {
                Ok(tag) => {
                    let (placed, touched) = place((index, paragraph), token, (writing, tag));
                    tags.add((Placed { whole: part.index_in_whole(index), ..placed }, touched));
                }
                Err(message) => {
                    let fault = Fault::new(name, paragraph.number, &token.shown(), &message);
                    let whole = part.index_in_whole(index);
                    tags.faults.push(Fault { spot: Some((whole, token.range)), ..fault });
                }
            }
        }
    }
    // A text box is inside of a paragraph whose whole text comes first, so the tags are not in order yet.
    tags.all.sort_by_key(Placed::at);
    for (index, placed) in tags.all.iter().enumerate() {
        tags.by_paragraph.entry(placed.paragraph).or_default().push(index);
    }
    tags.pair(name);
    if part.dialect == Dialect::Slide {
        powerpoint::check(part, name, &mut tags);
    }
    Some(tags)
}

/// The tags in the runs of a paragraph, and at most one more than `left`.
fn in_runs(dialect: Dialect, paragraph: &Paragraph, delimiters: &mut Delimiters, left: usize) -> Vec<Aside> {
    let tokens = lex(&paragraph.text, delimiters).take(left.saturating_add(1));
    let read = |token: Token| {
        let tag = token.tag.clone();
        let (writing, tag) = match dialect {
            Dialect::Word | Dialect::Properties => (Writing::Run, tag.and_then(of_word)),
            Dialect::Drawing => (Writing::DrawingRun, tag.and_then(drawable)),
            Dialect::Slide => powerpoint::on_slide(tag),
        };
        Aside { token, writing, tag }
    };
    tokens.map(read).collect()
}

/// Refuses tags that paragraphs of Word cannot have.
fn of_word(tag: Tag) -> Result<Tag, String> {
    match tag {
        Tag::Slides(_) => Err("it repeats a slide of a presentation, and this is a text of Word".to_owned()),
        Tag::Sheet(_) => Err("it repeats a sheet of a workbook, and this is a text of Word".to_owned()),
        Tag::Value(_)
        | Tag::Section(..)
        | Tag::Otherwise(_)
        | Tag::End(_)
        | Tag::Image(_)
        | Tag::Qr(_)
        | Tag::Barcode(_)
        | Tag::Html(_)
        | Tag::Xml(_)
        | Tag::Command(..)
        | Tag::Delimiters(_) => Ok(tag),
    }
}

/// The message for sections that are nested too deep.
pub(crate) fn too_deep() -> String {
    format!(
        "sections go no deeper than {SECTION_DEPTH}; let one go over all items, as in {{#a.flatMap(x => x.rows)}}"
    )
}

/// The message for anything but text where only text is possible.
pub(crate) const TEXT_ONLY: &str = "nothing but text can stand here: values, and sections of text";

/// Refuses tags that paragraphs of drawings cannot have.
fn drawable(tag: Tag) -> Result<Tag, String> {
    match &tag {
        Tag::Value(_) | Tag::Section(_, None) | Tag::Otherwise(_) | Tag::End(_) | Tag::Delimiters(_) => {
            Ok(tag)
        }
        Tag::Section(_, Some(_))
        | Tag::Image(_)
        | Tag::Qr(_)
        | Tag::Barcode(_)
        | Tag::Html(_)
        | Tag::Xml(_)
        | Tag::Command(..)
        | Tag::Slides(_)
        | Tag::Sheet(_) => Err(TEXT_ONLY.to_owned()),
    }
}

/// The tag with its place, and the elements that it is removed from.
fn place(
    (index, paragraph): (usize, &Paragraph),
    token: Token,
    (writing, tag): (Writing, Tag),
) -> (Placed, Vec<Id>) {
    let shown = token.shown();
    let Token { range: text, delimiters, .. } = token;
    let mut placed = Placed {
        paragraph: index,
        whole: index,
        text: text.clone(),
        number: paragraph.number,
        cuts: Vec::new(),
        element: paragraph.element,
        shown,
        delimiters,
        writing,
        begin: 0,
        is_inline: false,
        tag,
    };
    let mut touched = Vec::new();
    let first = paragraph.pieces.partition_point(|piece| piece.text.end <= text.start);
    for piece in paragraph.pieces.iter().skip(first).take_while(|piece| piece.text.start < text.end) {
        let cut = match piece.kind {
            PieceKind::Object => continue,
            PieceKind::Character => piece.raw.clone(),
            PieceKind::Text => {
                let begin = text.start.saturating_sub(piece.text.start);
                let end = text.end.min(piece.text.end) - piece.text.start;
                piece.raw.start + begin..piece.raw.start + end
            }
        };
        if placed.cuts.is_empty() {
            placed.element = piece.element;
        }
        touched.push(piece.element);
        placed.cuts.push(cut);
    }
    placed.begin = match &paragraph.place {
        Place::Address { id, .. } => id.start,
        Place::Paragraph
        | Place::Attribute
        | Place::Element
        | Place::Code
        | Place::CodeAttribute
        | Place::Tick(_) => placed.cuts.first().map_or(0, |cut| cut.start),
    };
    (placed, touched)
}

impl Tags {
    fn add(&mut self, (placed, touched): (Placed, Vec<Id>)) {
        self.touched.extend(touched);
        self.all.push(placed);
    }

    /// Finds the opening tag of each closing one.
    fn pair(&mut self, name: &str) {
        let mut open: Vec<usize> = Vec::new();
        for index in 0..self.all.len() {
            let Some(placed) = self.all.get(index) else { continue };
            match &placed.tag {
                Tag::Section(..) | Tag::Otherwise(_) => {
                    if open.len() == SECTION_DEPTH {
                        let message = too_deep();
                        self.report(index, name, &message);
                    }
                    open.push(index);
                }
                Tag::End(closed) => {
                    let closed = closed.clone();
                    let Some(opening) = open.pop() else {
                        self.report(
                            index,
                            name,
                            "no section is open here that it could close; open one before it, or take it out",
                        );
                        continue;
                    };
                    if let Some(message) = self.mismatch(opening, &open, closed.as_deref()) {
                        self.report_both((index, opening), name, &message);
                    }
                    self.mark_inline(opening, index);
                    self.pairs.push(Pair { open: opening, close: index });
                }
                Tag::Value(_)
                | Tag::Image(_)
                | Tag::Qr(_)
                | Tag::Barcode(_)
                | Tag::Html(_)
                | Tag::Xml(_)
                | Tag::Command(..)
                | Tag::Slides(_)
                | Tag::Sheet(_)
                | Tag::Delimiters(_) => {}
            }
        }
        for index in open {
            let Some(expression) = self.all.get(index).and_then(|placed| list(&placed.tag)) else { continue };
            let message =
                format!("the section is never closed; {} is missing", self.closing(index, &expression.text));
            self.report(index, name, &message);
        }
        self.pairs.sort_by_key(|pair| pair.open);
    }

    /// The tags of a paragraph, in their order.
    pub(crate) fn of(&self, paragraph: usize) -> impl Iterator<Item = &Placed> {
        self.by_paragraph.get(&paragraph).into_iter().flatten().filter_map(|&index| self.all.get(index))
    }

    fn mark_inline(&mut self, open: usize, close: usize) {
        let paragraph = |index: usize| self.all.get(index).map(|placed| placed.paragraph);
        if paragraph(open) == paragraph(close) {
            for index in [open, close] {
                if let Some(placed) = self.all.get_mut(index) {
                    placed.is_inline = true;
                }
            }
        }
    }

    /// The tag that would close the one at `index`.
    fn closing(&self, index: usize, text: &str) -> String {
        let delimiters = self.all.get(index).map(|placed| placed.delimiters.clone()).unwrap_or_default();
        format!("{}/{}{}", delimiters.start, quoted(text), delimiters.end)
    }

    /// The message for a closing tag whose text is not that of the section `opening`; `around` are the sections around that one.
    fn mismatch(&self, opening: usize, around: &[usize], closed: Option<&str>) -> Option<String> {
        let placed = self.all.get(opening)?;
        let list = list(&placed.tag)?;
        let closed = blanks(closed?);
        let is_of = |list: &Expression| closed == blanks(&list.text) || closed == blanks(&list.whole);
        if is_of(list) {
            return None;
        }
        let is_crossing = around.iter().filter_map(|&index| self::list(&self.all.get(index)?.tag)).any(is_of);
        let why = if is_crossing {
            "; sections do not cross, and of columns side by side each that is repeated needs a table of its own"
        } else {
            ""
        };
        Some(format!(
            "it stands where {} of paragraph {} is to be closed, by {}{why}",
            placed.shown,
            placed.number,
            self.closing(opening, &list.text)
        ))
    }

    /// Reports a tag for what its message says of another one.
    pub(crate) fn report_both(&mut self, (index, other): (usize, usize), name: &str, message: &str) {
        self.report(index, name, message);
        let other = self.all.get(other).map(|placed| (placed.shown.clone(), placed.spot()));
        if let Some(fault) = self.faults.last_mut() {
            fault.other = other;
        }
    }

    pub(crate) fn report(&mut self, index: usize, name: &str, message: &str) {
        if let Some(placed) = self.all.get(index) {
            let fault = Fault::new(name, placed.number, &placed.shown, message);
            self.faults.push(Fault { spot: Some(placed.spot()), ..fault });
        }
    }
}

pub(crate) fn list(tag: &Tag) -> Option<&Expression> {
    match tag {
        Tag::Section(list, _) | Tag::Otherwise(list) => Some(list),
        Tag::Value(_)
        | Tag::End(_)
        | Tag::Image(_)
        | Tag::Qr(_)
        | Tag::Barcode(_)
        | Tag::Html(_)
        | Tag::Xml(_)
        | Tag::Command(..)
        | Tag::Slides(_)
        | Tag::Sheet(_)
        | Tag::Delimiters(_) => None,
    }
}

/// The text with single blanks, and none around `|`, for comparing.
fn blanks(text: &str) -> String {
    let pieces = text.split('|').map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" "));
    pieces.collect::<Vec<_>>().join("|")
}
