//! The tags of a part, where they stand in its XML, and which of them open and close a section together.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::error::{Fault, quoted};
use crate::lexer::{Command, Delimiters, Expression, Tag, Token, lex};
use crate::word::{Id, Paragraph, Part, PieceKind};

/// Sections inside of sections: the program's answer is as deep, and is read by a parser that goes no deeper.
pub(crate) const SECTION_DEPTH: usize = 50;

/// A tag in its place.
pub(crate) struct Placed {
    /// The place of its paragraph in [`Part::paragraphs`].
    pub paragraph: usize,
    /// The bytes of the paragraph's text that it takes.
    pub text: Range<usize>,
    /// The same in the part: the pieces that are taken out.
    pub cuts: Vec<Range<usize>>,
    /// The element that the first of them stands in.
    pub element: Id,
    /// As its author wrote it.
    pub shown: String,
    delimiters: Delimiters,
    /// It opens or closes a section that begins and ends in its paragraph.
    pub is_inline: bool,
    pub tag: Tag,
}

impl Placed {
    /// Where the tag begins in the part.
    pub(crate) fn at(&self) -> usize {
        self.cuts.first().map_or(0, |cut| cut.start)
    }
}

/// A section's two tags, by their places among the part's.
pub(crate) struct Pair {
    pub open: usize,
    pub close: usize,
}

/// The tags of a part.
#[derive(Default)]
pub(crate) struct Tags {
    /// In the order in which they stand in the part.
    pub all: Vec<Placed>,
    /// In the order of their opening tags.
    pub pairs: Vec<Pair>,
    /// The same by their paragraphs.
    by_paragraph: BTreeMap<usize, Vec<usize>>,
    /// The `w:t` that tags are taken out of.
    pub touched: BTreeSet<Id>,
    pub faults: Vec<Fault>,
}

/// Finds the tags of `part`, which is called `name`; `None` where there are more than `left`, faulty ones among them.
pub(crate) fn find(part: &Part, name: &str, delimiters: &Delimiters, left: &mut usize) -> Option<Tags> {
    let mut delimiters = delimiters.clone();
    let mut tags = Tags::default();
    for (index, paragraph) in part.paragraphs.iter().enumerate() {
        for token in lex(&paragraph.text, &mut delimiters) {
            *left = left.checked_sub(1)?;
            match token.tag.clone().and_then(buildable) {
                Ok(tag) => tags.add(place(paragraph, index, token, tag)),
                Err(message) => {
                    tags.faults.push(Fault::new(name, index + 1, &token.shown(), &message));
                }
            }
        }
    }
    // A text box stands inside of a paragraph, whose text has been read as a whole before.
    tags.all.sort_by_key(Placed::at);
    for (index, placed) in tags.all.iter().enumerate() {
        tags.by_paragraph.entry(placed.paragraph).or_default().push(index);
    }
    tags.pair(name);
    Some(tags)
}

/// What this version can fill; what it cannot is said, never dropped.
fn buildable(tag: Tag) -> Result<Tag, String> {
    let what = match &tag {
        Tag::Value(_)
        | Tag::Section(..)
        | Tag::Otherwise(_)
        | Tag::End(_)
        | Tag::Delimiters(_)
        | Tag::Xml(_) => return Ok(tag),
        Tag::Command(Command { name: "link" | "pagebreak" | "color" | "toc" | "include", .. }, _) => {
            return Ok(tag);
        }
        Tag::Image(_) => "a picture ({%…})".to_owned(),
        Tag::Qr(_) => "a code ({%qr …})".to_owned(),
        Tag::Barcode(_) => "a code ({%barcode …})".to_owned(),
        Tag::Html(_) => "rich text ({~…})".to_owned(),
        Tag::Command(command, _) => format!("the command {:?}", command.name),
    };
    Err(format!("{what} is not supported by this version"))
}

/// The tag in its place, and the elements that it is taken out of.
fn place(paragraph: &Paragraph, index: usize, token: Token, tag: Tag) -> (Placed, Vec<Id>) {
    let shown = token.shown();
    let Token { range: text, delimiters, .. } = token;
    let mut placed = Placed {
        paragraph: index,
        text: text.clone(),
        cuts: Vec::new(),
        element: 0,
        shown,
        delimiters,
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
    (placed, touched)
}

impl Tags {
    fn add(&mut self, (placed, touched): (Placed, Vec<Id>)) {
        self.touched.extend(touched);
        self.all.push(placed);
    }

    /// Which closing tag belongs to which opening one.
    fn pair(&mut self, name: &str) {
        let mut open: Vec<usize> = Vec::new();
        for index in 0..self.all.len() {
            let Some(placed) = self.all.get(index) else { continue };
            match &placed.tag {
                Tag::Section(..) | Tag::Otherwise(_) => {
                    if open.len() == SECTION_DEPTH {
                        let message = format!("sections go no deeper than {SECTION_DEPTH}");
                        self.report(index, name, &message);
                    }
                    open.push(index);
                }
                Tag::End(closed) => {
                    let closed = closed.clone();
                    let Some(opening) = open.pop() else {
                        self.report(index, name, "no section is open here that it could close");
                        continue;
                    };
                    if let Some(message) = self.mismatch(opening, closed.as_deref()) {
                        self.report(index, name, &message);
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

    fn mismatch(&self, opening: usize, closed: Option<&str>) -> Option<String> {
        let placed = self.all.get(opening)?;
        let list = list(&placed.tag)?;
        let closed = blanks(closed?);
        if closed == blanks(&list.text) || closed == blanks(&list.whole) {
            return None;
        }
        Some(format!(
            "it stands where {} of paragraph {} is to be closed, by {}",
            placed.shown,
            placed.paragraph + 1,
            self.closing(opening, &list.text)
        ))
    }

    pub(crate) fn report(&mut self, index: usize, name: &str, message: &str) {
        if let Some(placed) = self.all.get(index) {
            self.faults.push(Fault::new(name, placed.paragraph + 1, &placed.shown, message));
        }
    }
}

/// What a section goes over.
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
        | Tag::Delimiters(_) => None,
    }
}

/// The text with one blank where there are some, and none around `|`.
fn blanks(text: &str) -> String {
    let pieces = text.split('|').map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" "));
    pieces.collect::<Vec<_>>().join("|")
}
