//! A document as blocks: what every reader makes, and the writer writes.
//!
//! Lengths are twips (twentieths of a point) unless they say otherwise.

use std::rc::Rc;

/// A length in twentieths of a point.
pub type Twips = i32;

/// A whole text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// What stands in it, from top to bottom.
    pub blocks: Vec<Block>,
    /// The lists that its paragraphs name by their places here.
    pub lists: Vec<List>,
    /// It is a run of text that may stand within a paragraph: it has no block, or exactly one paragraph that nobody asked for.
    pub inline: bool,
}

/// What stands below each other.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A paragraph.
    Paragraph(Paragraph),
    /// A table.
    Table(Table),
    /// A line across the page.
    Rule,
    /// The next block begins a page.
    PageBreak,
}

/// A paragraph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Paragraph {
    /// What it is.
    pub role: Role,
    /// Its place in a list.
    pub item: Option<Item>,
    /// How its lines stand.
    pub alignment: Option<Alignment>,
    /// Runs from right to left.
    pub right_to_left: bool,
    /// The indent of all its lines.
    pub indent: Indent,
    /// The space around and between its lines.
    pub spacing: Spacing,
    /// Its background.
    pub background: Option<Colour>,
    /// Its borders.
    pub borders: Borders,
    /// It begins a page.
    pub page_break_before: bool,
    /// It stays on the page of the next one.
    pub keep_with_next: bool,
    /// Its text.
    pub inlines: Vec<Inline>,
}

/// What a paragraph, a run or a table is: for each the document has a style, or gets one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Role {
    /// The paragraph style of the place where the text stands.
    #[default]
    Normal,
    /// A heading of level 1 to 6.
    Heading(u8),
    /// A quoted paragraph.
    Quote,
    /// Text whose blanks and lines are kept.
    Preformatted,
    /// A paragraph of a list.
    ListItem,
    /// The line that names a table or a picture.
    Caption,
    /// A link's characters.
    Hyperlink,
    /// Characters of code.
    Code,
    /// A table.
    Table,
}

/// A paragraph's place in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Of [`Document::lists`].
    pub list: usize,
    /// 0 to 8.
    pub level: u8,
    /// It carries the number or bullet; further paragraphs of an item do not.
    pub marked: bool,
}

/// A list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct List {
    /// Its levels, at most nine.
    pub levels: Vec<Level>,
}

/// A level of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Level {
    /// What stands before its items.
    pub marker: Marker,
    /// The first number.
    pub start: u32,
}

/// What stands before an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Marker {
    /// Nothing.
    None,
    /// •
    Disc,
    /// ◦
    Circle,
    /// ▪
    Square,
    /// ☐
    Unchecked,
    /// ☒
    Checked,
    /// 1.
    Decimal,
    /// 01.
    DecimalZero,
    /// a.
    LowerLetter,
    /// A.
    UpperLetter,
    /// i.
    LowerRoman,
    /// I.
    UpperRoman,
}

/// How lines stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    /// Where the writing begins.
    Start,
    /// Where the writing ends.
    End,
    /// On the left of the page.
    Left,
    /// On the right of the page.
    Right,
    /// In the middle.
    Centre,
    /// On both sides.
    Justify,
}

/// The indent of a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Indent {
    /// On the side where the writing begins.
    pub start: Twips,
    /// On the side where the writing ends.
    pub end: Twips,
    /// Of the first line besides; negative lets it hang.
    pub first_line: Twips,
}

/// The space around and between a paragraph's lines; `None` is what the style says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spacing {
    /// Above.
    pub before: Option<Twips>,
    /// Below.
    pub after: Option<Twips>,
    /// From line to line.
    pub line: Option<Line>,
}

/// The distance from line to line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// Of the font's own, in hundredths.
    Percent(u32),
    /// At least so much.
    AtLeast(Twips),
}

/// A colour without transparency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Colour(pub u8, pub u8, pub u8);

/// The borders of a paragraph, cell or table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Borders {
    /// Above; `None` is what the style says.
    pub top: Option<Border>,
    /// On the left.
    pub left: Option<Border>,
    /// Below.
    pub bottom: Option<Border>,
    /// On the right.
    pub right: Option<Border>,
}

/// One border.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Border {
    /// How it is drawn.
    pub stroke: Stroke,
    /// In eighths of a point.
    pub width: u32,
    /// Its colour, or the text's.
    pub colour: Option<Colour>,
}

/// How a border is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// There is none, also if the style has one.
    None,
    /// A line.
    Single,
    /// Two lines.
    Double,
    /// Points.
    Dotted,
    /// Dashes.
    Dashed,
}

/// What stands in a line.
#[derive(Debug, Clone, PartialEq)]
pub enum Inline {
    /// Characters.
    Text {
        /// The characters.
        text: String,
        /// How they look.
        look: Rc<RunLook>,
    },
    /// A new line of the same paragraph.
    LineBreak,
    /// A tab.
    Tab,
    /// A picture.
    Picture(Picture),
    /// A link.
    Link(Link),
}

/// How characters look; `None` is what the place and the style say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunLook {
    /// Bold.
    pub bold: Option<bool>,
    /// Italic.
    pub italic: Option<bool>,
    /// Underlined.
    pub underline: Option<bool>,
    /// Struck through.
    pub strike: Option<bool>,
    /// Capital letters.
    pub caps: Option<Caps>,
    /// Above or below the line.
    pub position: Option<Position>,
    /// Of the characters.
    pub colour: Option<Colour>,
    /// Behind the characters.
    pub background: Option<Colour>,
    /// The font's name.
    pub family: Option<Rc<str>>,
    /// Its size.
    pub size: Option<FontSize>,
    /// Between the characters.
    pub spacing: Option<Twips>,
    /// A language tag as BCP 47 has it.
    pub language: Option<Rc<str>>,
    /// Runs from right to left.
    pub right_to_left: bool,
    /// It is code.
    pub code: bool,
}

/// The size of a font.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FontSize {
    /// In half points.
    HalfPoints(u32),
    /// Hundredths of the size that the place or the paragraph's role has.
    Percent(u32),
}

/// Capital letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caps {
    /// As written.
    None,
    /// All.
    All,
    /// Small ones instead of small letters.
    Small,
}

/// Where characters stand on the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// On it.
    Baseline,
    /// Above, and smaller.
    Superscript,
    /// Below, and smaller.
    Subscript,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Picture {
    /// Where it is: a `data:` address or any other, as it was written.
    pub source: String,
    /// How wide it shall be.
    pub width: Option<Extent>,
    /// How high it shall be.
    pub height: Option<Extent>,
    /// What it shows, in words.
    pub alt: String,
}

/// A length of a picture or table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A length.
    Twips(Twips),
    /// Hundredths of the place.
    Percent(u32),
}

/// A link.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Link {
    /// Where it leads.
    pub url: String,
    /// What is shown when it is pointed at.
    pub title: Option<String>,
    /// What it shows; links in it count as their texts.
    pub inlines: Vec<Inline>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The lines that name it, written above.
    pub caption: Vec<Block>,
    /// Its rows.
    pub rows: Vec<Row>,
    /// What is known of its columns' widths.
    pub columns: Vec<Option<Extent>>,
    /// Its width, or as wide as its texts.
    pub width: Option<Extent>,
    /// Where it stands.
    pub alignment: Option<Alignment>,
    /// Its columns run from right to left.
    pub right_to_left: bool,
    /// Its look.
    pub frame: Frame,
    /// The space in its cells.
    pub padding: Option<Twips>,
}

/// The lines of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Frame {
    /// As the table style says.
    #[default]
    Styled,
    /// None, but for what its cells say.
    None,
    /// Around and between all cells.
    All(Border),
    /// Around it, and none between its cells.
    Outside(Border),
}

/// A row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// It is repeated on every page.
    pub header: bool,
    /// It is the last of a section, over whose end no cell spans.
    pub last_of_section: bool,
    /// At least so high.
    pub height: Option<Twips>,
    /// Its cells, without those that cells above cover.
    pub cells: Vec<Cell>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Columns; 0 counts as 1.
    pub column_span: u32,
    /// Rows; 0 is all that follow in the section.
    pub row_span: u32,
    /// Its width.
    pub width: Option<Extent>,
    /// Where its content stands.
    pub vertical: Option<Vertical>,
    /// Its background.
    pub background: Option<Colour>,
    /// Its borders.
    pub borders: Borders,
    /// The space in it.
    pub padding: Option<Twips>,
    /// Its lines are not broken.
    pub no_wrap: bool,
    /// What it contains.
    pub blocks: Vec<Block>,
}

impl Default for Cell {
    fn default() -> Self {
        Self {
            column_span: 1,
            row_span: 1,
            width: None,
            vertical: None,
            background: None,
            borders: Borders::default(),
            padding: None,
            no_wrap: false,
            blocks: Vec::new(),
        }
    }
}

/// Where a cell's content stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vertical {
    /// Above.
    Top,
    /// In the middle.
    Middle,
    /// Below.
    Bottom,
}
