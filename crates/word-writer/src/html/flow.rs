//! Characters and blocks in the order they are met: blanks are collapsed, paragraphs begin and end.

use std::rc::Rc;

use crate::model::{Block, Inline, Item, Link, Paragraph, Picture, Role, RunLook, Spacing, Twips};

use super::lists::OpenItem;
use super::look::{Look, WhiteSpace};

/// Where what is read goes.
pub struct Flow {
    /// The blocks of the text, and of every cell that is open.
    pub frames: Vec<Vec<Block>>,
    /// The items that are open.
    pub items: Vec<OpenItem>,
    /// The link that is open: its address and title.
    pub link: Option<(String, Option<String>)>,
    /// No block has been met.
    pub inline: bool,
    /// The space above the next paragraph.
    pub before: Option<Twips>,
    open: Option<Open>,
}

/// A paragraph that is being read.
struct Open {
    paragraph: Paragraph,
    /// The link that goes on in it.
    link: Option<Link>,
    /// A blank that is written if something follows it on the line.
    blank: Option<Rc<RunLook>>,
    /// The blank stands before the link that is open.
    blank_before_link: bool,
    /// Nothing but kept blanks stands on the line.
    line_start: bool,
}

impl Flow {
    /// With one frame.
    pub fn new() -> Self {
        Self {
            frames: vec![Vec::new()],
            items: Vec::new(),
            link: None,
            inline: true,
            before: None,
            open: None,
        }
    }

    /// Adds a block that is no paragraph.
    pub fn push(&mut self, block: Block) {
        self.close();
        self.inline = false;
        if let Some(frame) = self.frames.last_mut() {
            frame.push(block);
        }
    }

    /// So many blocks stand in the innermost frame.
    pub fn len(&self) -> usize {
        self.frames.last().map_or(0, Vec::len)
    }

    /// The last paragraph of the innermost frame, if it stands after so many blocks.
    pub fn last_paragraph(&mut self, after: usize) -> Option<&mut Paragraph> {
        match self.frames.last_mut()?.get_mut(after..)?.last_mut()? {
            Block::Paragraph(paragraph) => Some(paragraph),
            Block::Table(_) | Block::Rule | Block::PageBreak => None,
        }
    }

    /// The item that a paragraph would stand in.
    pub fn item(&mut self) -> Option<&mut OpenItem> {
        let frame = self.frames.len();
        self.items.last_mut().filter(|item| item.frame == frame)
    }

    /// The marker of an item that has shown nothing yet gets a paragraph of its own.
    pub fn show_marker(&mut self, look: &Look) {
        if self.item().is_some_and(|item| item.awaits_marker) {
            self.open(look);
            self.close();
        }
    }

    fn open(&mut self, look: &Look) -> &mut Open {
        let item = self.item().map(|item| {
            let marked = std::mem::take(&mut item.awaits_marker);
            Item { list: item.list, level: item.level, marked }
        });
        let before = &mut self.before;
        self.open.get_or_insert_with(|| {
            let role = if item.is_some() && look.role == Role::Normal { Role::ListItem } else { look.role };
            let paragraph = Paragraph {
                role,
                item,
                alignment: look.alignment,
                right_to_left: look.right_to_left,
                indent: look.indent,
                spacing: Spacing { before: before.take(), after: None, line: look.line },
                background: look.background,
                borders: look.borders,
                page_break_before: false,
                keep_with_next: false,
                inlines: Vec::new(),
            };
            Open { paragraph, link: None, blank: None, blank_before_link: false, line_start: true }
        })
    }

    /// Ends the open paragraph. A line break at its end shows nothing, as in a browser.
    pub fn close(&mut self) {
        self.close_link();
        let Some(mut open) = self.open.take() else { return };
        if matches!(open.paragraph.inlines.last(), Some(Inline::LineBreak)) {
            open.paragraph.inlines.pop();
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.push(Block::Paragraph(open.paragraph));
        }
    }

    /// Ends the link in the open paragraph.
    pub fn close_link(&mut self) {
        if let Some(open) = &mut self.open {
            open.paragraph.inlines.extend(open.link.take().map(Inline::Link));
        }
    }

    fn add(&mut self, look: &Look, inline: Inline) {
        let link = self.link.clone();
        let open = self.open(look);
        let target = match link {
            None => &mut open.paragraph.inlines,
            Some((url, title)) => {
                &mut open.link.get_or_insert_with(|| Link { url, title, inlines: Vec::new() }).inlines
            }
        };
        match (target.last_mut(), inline) {
            (Some(Inline::Text { text, look }), Inline::Text { text: more, look: same })
                if Rc::ptr_eq(look, &same) || *look == same =>
            {
                text.push_str(&more);
            }
            (_, inline) => target.push(inline),
        }
    }

    /// Adds characters.
    pub fn text(&mut self, text: &str, look: &Look) {
        match look.white_space {
            WhiteSpace::Keep => self.kept(text, look, false),
            WhiteSpace::Lines => self.kept(text, look, true),
            WhiteSpace::Collapse => self.collapsed(text, look),
        }
    }

    fn collapsed(&mut self, text: &str, look: &Look) {
        let mut shown = String::new();
        for (place, word) in text.split(is_blank).enumerate() {
            if place > 0 {
                if shown.is_empty() {
                    self.blank(look);
                } else if !shown.ends_with(' ') {
                    shown.push(' ');
                }
            }
            if shown.is_empty() && !word.is_empty() {
                self.write_blank(look);
            }
            shown.push_str(word);
        }
        if shown.is_empty() {
            return;
        }
        let trailing = shown.ends_with(' ');
        if trailing {
            shown.pop();
        }
        self.add(look, Inline::Text { text: shown, look: Rc::clone(&look.run) });
        self.open(look).line_start = false;
        if trailing {
            self.blank(look);
        }
    }

    /// Keeps a blank for what may follow on the line.
    fn blank(&mut self, look: &Look) {
        if let Some(open) = self.open.as_mut().filter(|open| !open.line_start && open.blank.is_none()) {
            open.blank = Some(Rc::clone(&look.run));
            open.blank_before_link = false;
        }
    }

    /// Begins a link.
    pub fn open_link(&mut self, url: String, title: Option<String>) {
        self.link = Some((url, title));
        if let Some(open) = &mut self.open {
            open.blank_before_link = open.blank.is_some();
        }
    }

    fn write_blank(&mut self, look: &Look) {
        let Some(open) = self.open.as_mut() else { return };
        let Some(blank) = open.blank.take() else { return };
        let link = if open.blank_before_link { self.link.take() } else { None };
        self.add(look, Inline::Text { text: " ".into(), look: blank });
        self.link = link.or(self.link.take());
    }

    fn kept(&mut self, text: &str, look: &Look, collapse: bool) {
        for (place, line) in text.split('\n').enumerate() {
            if place > 0 {
                self.line_break(look);
            }
            if collapse {
                self.collapsed(line, look);
                continue;
            }
            for (place, part) in line.split('\t').enumerate() {
                self.write_blank(look);
                if place > 0 {
                    self.add(look, Inline::Tab);
                }
                if !part.is_empty() {
                    self.add(look, Inline::Text { text: part.to_owned(), look: Rc::clone(&look.run) });
                    self.open(look).line_start = false;
                }
            }
        }
    }

    /// Begins a new line of the paragraph.
    pub fn line_break(&mut self, look: &Look) {
        self.add(look, Inline::LineBreak);
        let open = self.open(look);
        (open.blank, open.line_start) = (None, true);
    }

    /// Adds a picture.
    pub fn picture(&mut self, picture: Picture, look: &Look) {
        self.write_blank(look);
        self.add(look, Inline::Picture(picture));
        self.open(look).line_start = false;
    }
}

/// What CSS collapses: not the no-break space, nor those of Unicode.
fn is_blank(one: char) -> bool {
    matches!(one, ' ' | '\t' | '\n' | '\r' | '\u{C}')
}
