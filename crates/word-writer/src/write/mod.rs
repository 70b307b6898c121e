//! The model as `WordprocessingML`.

mod grid;
mod paragraph;
mod run;
mod table;
pub(crate) mod xml;

use std::collections::HashMap;

use crate::model::{Block, Document, Inline, Level, Paragraph, Picture, Role, Twips};
pub use xml::RUN as RUN_PROPERTIES;
use xml::{Properties, element};

/// What the written text needs besides itself.
pub trait Package {
    /// The relationship id of a link to `url`.
    ///
    /// # Errors
    ///
    /// Why there is none, in words that end a sentence: it becomes plain text.
    fn link(&mut self, url: &str) -> Result<String, String>;

    /// The `w:drawing` element of a picture.
    ///
    /// # Errors
    ///
    /// Why there is none, in words that end a sentence: its text is written instead.
    fn picture(&mut self, picture: &Picture) -> Result<String, String>;

    /// The number (`w:numId`) of a new list with these levels, which are at most nine.
    fn list(&mut self, levels: &[Level]) -> u32;

    /// The id of the style that the document has for a role, or gets for it.
    fn style(&mut self, role: Role) -> String;
}

/// Where the text will stand.
#[derive(Debug, Clone, Copy)]
pub struct Base<'a> {
    /// The namespace prefix of `WordprocessingML`, without its colon; may be empty.
    pub prefix: &'a str,
    /// The namespace prefix of relationships, without its colon.
    pub relationships: &'a str,
    /// The children of the place's `w:rPr`.
    pub run: Option<&'a str>,
    /// The children of the place's `w:pPr`.
    pub paragraph: Option<&'a str>,
    /// The size of text that nothing says the size of.
    pub half_points: u32,
    /// The width of the place.
    pub width: Twips,
}

impl Default for Base<'_> {
    fn default() -> Self {
        Self { prefix: "w", relationships: "r", run: None, paragraph: None, half_points: 22, width: 9026 }
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text.
    pub content: Content,
    /// What could not be taken over, in sentences.
    pub warnings: Vec<String>,
}

/// What was written, by where it may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Runs and links, for the inside of a paragraph.
    Inline(String),
    /// Paragraphs and tables, for between paragraphs.
    Blocks {
        /// The elements.
        xml: String,
        /// A paragraph must stand before it if a table does: two tables that touch become one.
        starts_with_table: bool,
        /// A paragraph must follow where the container ends, or where a table follows.
        ends_with_table: bool,
    },
}

/// Writes a document.
pub fn write(document: &Document, base: &Base, package: &mut dyn Package) -> Written {
    let mut writer = Writer::new(document, base, package);
    if document.inline {
        for block in &document.blocks {
            if let Block::Paragraph(paragraph) = block {
                writer.inlines(&paragraph.inlines, paragraph.role, false);
            }
        }
        return Written { content: Content::Inline(writer.out), warnings: writer.warnings };
    }
    let starts_with_table = match document.blocks.first() {
        Some(Block::Table(table)) => table.caption.is_empty(),
        Some(Block::Paragraph(_) | Block::Rule | Block::PageBreak) | None => false,
    };
    let ends_with_table = writer.blocks(&document.blocks, &Place { width: base.width, depth: 0 });
    let content = Content::Blocks { xml: writer.out, starts_with_table, ends_with_table };
    Written { content, warnings: writer.warnings }
}

/// Tables within tables that are written; the model may come from anywhere.
const TABLE_DEPTH: usize = 16;

/// Where blocks are written.
struct Place {
    width: Twips,
    /// Tables around it.
    depth: usize,
}

struct Writer<'a> {
    document: &'a Document,
    package: &'a mut dyn Package,
    /// With its colon.
    prefix: String,
    relationships: &'a str,
    run: Properties,
    paragraph: Properties,
    half_points: u32,
    out: String,
    warnings: Vec<String>,
    /// The numbers of the document's lists.
    lists: HashMap<usize, u32>,
    /// Lists without numbers need none of their own.
    bullets: HashMap<Vec<Level>, u32>,
    styles: HashMap<Role, String>,
    links: HashMap<String, String>,
    /// No paragraph has been written.
    first: bool,
    page_break: bool,
}

impl<'a> Writer<'a> {
    fn new(document: &'a Document, base: &Base<'a>, package: &'a mut dyn Package) -> Self {
        let prefix = if base.prefix.is_empty() { String::new() } else { format!("{}:", base.prefix) };
        Self {
            document,
            package,
            relationships: base.relationships,
            run: Properties::of(xml::RUN, base.run.unwrap_or_default(), &prefix),
            paragraph: Properties::of(xml::PARAGRAPH, base.paragraph.unwrap_or_default(), &prefix),
            prefix,
            half_points: base.half_points,
            out: String::new(),
            warnings: Vec::new(),
            lists: HashMap::new(),
            bullets: HashMap::new(),
            styles: HashMap::new(),
            links: HashMap::new(),
            first: true,
            page_break: false,
        }
    }

    fn warn(&mut self, sentence: String) {
        if self.warnings.len() < 100 && !self.warnings.contains(&sentence) {
            self.warnings.push(sentence);
        }
    }

    fn style(&mut self, role: Role) -> String {
        let package = &mut self.package;
        self.styles.entry(role).or_insert_with(|| package.style(role)).clone()
    }

    /// An element of Word's namespace without content.
    fn element(&self, name: &str, attributes: &[(&str, &str)]) -> String {
        element(&self.prefix, name, attributes)
    }

    /// Adds to what is written, `w:` being the document's prefix.
    fn push(&mut self, piece: &str) {
        self.out.push_str(piece);
    }

    fn tag(&mut self, name: &str) {
        self.out.push('<');
        self.out.push_str(&self.prefix);
        self.out.push_str(name);
        self.out.push('>');
    }

    fn end(&mut self, name: &str) {
        self.out.push_str("</");
        self.out.push_str(&self.prefix);
        self.out.push_str(name);
        self.out.push('>');
    }

    /// Writes blocks, and answers whether a table stands last.
    fn blocks(&mut self, blocks: &[Block], place: &Place) -> bool {
        let mut table_last = false;
        for block in blocks {
            match block {
                Block::Paragraph(paragraph) => {
                    self.write_paragraph(paragraph, place);
                    table_last = false;
                }
                Block::Rule => {
                    self.rule();
                    table_last = false;
                }
                Block::PageBreak => self.page_break |= place.depth == 0,
                Block::Table(table) => {
                    if !table.caption.is_empty() {
                        self.caption(&table.caption, place);
                        table_last = false;
                    }
                    if self.page_break || table_last {
                        self.write_paragraph(&Paragraph::default(), place);
                    }
                    table_last = self.table(table, place);
                }
            }
        }
        if self.page_break && place.depth == 0 && !blocks.is_empty() {
            self.write_paragraph(&Paragraph::default(), place);
            return false;
        }
        table_last
    }

    fn caption(&mut self, blocks: &[Block], place: &Place) {
        for block in blocks {
            if let Block::Paragraph(paragraph) = block {
                let paragraph = Paragraph { keep_with_next: true, ..paragraph.clone() };
                self.write_paragraph(&paragraph, place);
            }
        }
    }

    /// The number of one of the document's lists.
    fn list(&mut self, list: usize) -> Option<u32> {
        if let Some(&number) = self.lists.get(&list) {
            return Some(number);
        }
        let levels = self
            .document
            .lists
            .get(list)?
            .levels
            .get(..9.min(self.document.lists.get(list)?.levels.len()))?;
        let counting = levels.iter().any(|level| crate::numbering::counts(level.marker));
        let known = self.bullets.get(levels).copied().filter(|_| !counting);
        let number = known.unwrap_or_else(|| self.package.list(levels));
        if !counting {
            self.bullets.insert(levels.to_vec(), number);
        }
        self.lists.insert(list, number);
        Some(number)
    }
}

/// The characters of inlines, for what cannot be more.
fn plain(inlines: &[Inline], most: usize) -> usize {
    let mut count = 0;
    for inline in inlines {
        count += match inline {
            Inline::Text { text, .. } => text.chars().take(most).count(),
            Inline::Link(link) => link
                .inlines
                .iter()
                .map(|one| match one {
                    Inline::Text { text, .. } => text.chars().take(most).count(),
                    Inline::LineBreak | Inline::Tab | Inline::Picture(_) | Inline::Link(_) => 1,
                })
                .sum(),
            Inline::Picture(_) => 12,
            Inline::LineBreak | Inline::Tab => 1,
        };
        if count >= most {
            return most;
        }
    }
    count
}
