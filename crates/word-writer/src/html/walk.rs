//! The tree, element by element.
//!
//! The walk keeps its own stack: a text nests as deep as its author likes.

use std::rc::Rc;

use crate::limits::Limits;
use crate::model::{Block, Cell, Document, Picture, Twips};

use super::flow::Flow;
use super::lists::{Lists, OpenList, is_checkbox};
use super::look::{Look, heading};
use super::own::Own;
use super::tables::{OpenTable, dimension};
use super::tree::{Data, Element, Id, ROOT, Tree};

/// Word calls a file damaged whose links are longer.
const LONGEST_ADDRESS: usize = 2079;

/// The document that a tree shows.
pub fn walk(tree: &Tree, limits: &Limits) -> (Document, Vec<String>) {
    let mut walk = Walk {
        tree,
        limits,
        flow: Flow::new(),
        lists: Lists::default(),
        open_lists: Vec::new(),
        tables: Vec::new(),
        cells: Vec::new(),
        steps: Vec::new(),
        warnings: Vec::new(),
    };
    walk.run();
    let Walk { mut flow, lists, warnings, .. } = walk;
    flow.close();
    let blocks = flow.frames.pop().unwrap_or_default();
    (Document { blocks, lists: lists.finish(), inline: flow.inline }, warnings)
}

struct Walk<'a> {
    tree: &'a Tree,
    limits: &'a Limits,
    flow: Flow,
    lists: Lists,
    open_lists: Vec<OpenList>,
    tables: Vec<OpenTable>,
    /// The cells that are open, and whether each is a header.
    cells: Vec<(Cell, bool)>,
    steps: Vec<Step>,
    warnings: Vec<String>,
}

enum Step {
    /// A node and, after it, its next neighbours.
    Visit(Id, Rc<Look>),
    Leave(Leave, Rc<Look>),
}

/// What is to be done at an element's end.
enum Leave {
    Block { after: Option<Twips>, page_break: bool, blocks: usize },
    Item(Box<Leave>),
    List,
    Table,
    Section,
    Row,
    Cell,
    Caption,
    Link,
    Quotation,
}

/// An element that is shown.
struct Shown<'a> {
    id: Id,
    element: &'a Element,
    name: &'a str,
    /// What it hands down.
    look: Look,
    /// What was handed down to it.
    outer: &'a Look,
    own: Own,
}

/// How an element is shown.
enum Kind {
    Block,
    Inline,
    Hidden,
}

impl Walk<'_> {
    fn run(&mut self) {
        self.steps.push(Step::Visit(ROOT, Rc::default()));
        while let Some(step) = self.steps.pop() {
            match step {
                Step::Visit(id, look) => self.visit(id, look),
                Step::Leave(leave, look) => self.leave(leave, &look),
            }
        }
    }

    fn visit(&mut self, id: Id, look: Rc<Look>) {
        let tree = self.tree;
        let Some(node) = tree.node(id) else { return };
        if let Some(next) = node.next {
            self.steps.push(Step::Visit(next, Rc::clone(&look)));
        }
        match &node.data {
            Data::Text(text) => self.flow.text(text, &look),
            Data::Element(element) => self.element(id, element, &look),
            Data::Nothing if id == ROOT => self.children(id, look),
            Data::Nothing => {}
        }
    }

    fn children(&mut self, id: Id, look: Rc<Look>) {
        if let Some(first) = self.tree.node(id).and_then(|node| node.first) {
            self.steps.push(Step::Visit(first, look));
        }
    }

    /// Goes into an element, and does something at its end.
    fn enter(&mut self, id: Id, look: Look, leave: Option<Leave>) {
        let look = Rc::new(look);
        if let Some(leave) = leave {
            self.steps.push(Step::Leave(leave, Rc::clone(&look)));
        }
        self.children(id, look);
    }

    fn element(&mut self, id: Id, element: &Element, outer: &Look) {
        let Some(name) = element.name() else {
            self.foreign(id, element, outer);
            return;
        };
        if element.attribute("hidden").is_some() {
            return;
        }
        let in_cell = matches!(name, "td" | "th" | "caption");
        let mut look = if in_cell { outer.in_cell() } else { outer.clone() };
        look.named(name);
        look.attributes(element, name);
        let decorated = matches!(name, "a" | "u" | "ins" | "s" | "strike" | "del");
        let mut own = Own::of(element.attribute("style").unwrap_or_default(), &mut look, decorated);
        own.hidden |= matches!(kind(name), Kind::Hidden);
        if own.hidden {
            return;
        }
        let shown = Shown { id, element, name, look, outer, own };
        match name {
            "br" => self.flow.line_break(&shown.look),
            "wbr" => self.flow.text("\u{200B}", &shown.look),
            "hr" => self.flow.push(Block::Rule),
            "img" => self.picture(element, &shown.look),
            "input" => self.checkbox(element, &shown.look),
            "a" => self.link(shown),
            "q" => {
                self.flow.text("\u{201C}", &shown.look);
                self.enter(id, shown.look, Some(Leave::Quotation));
            }
            "ol" | "ul" | "menu" | "dir" => self.list(shown),
            "li" => self.item(shown),
            "table" => self.table(shown),
            "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" | "caption" | "col" | "colgroup" => {
                self.table_part(shown);
            }
            _ => self.other(shown),
        }
    }

    /// SVG shows what this crate cannot draw; of formulas, the characters are kept.
    fn foreign(&mut self, id: Id, element: &Element, outer: &Look) {
        if element.local_name() == "svg" {
            self.warn("a drawing (svg) in the HTML was left out; give it as an img with a picture's address");
        } else if !matches!(element.local_name(), "annotation" | "annotation-xml") {
            self.enter(id, outer.clone(), None);
        }
    }

    fn warn(&mut self, sentence: &str) {
        if self.warnings.iter().all(|one| one != sentence) {
            self.warnings.push(sentence.to_owned());
        }
    }

    fn other(&mut self, shown: Shown) {
        let Shown { id, element, name, mut look, outer, own } = shown;
        let block = own.block.unwrap_or(matches!(kind(name), Kind::Block));
        if matches!(name, "iframe" | "object" | "embed" | "video" | "audio" | "canvas") {
            self.warn(&format!("<{name}> in the HTML was left out; paper cannot show it"));
        } else if matches!(name, "html" | "body") {
            self.enter(id, look, None);
        } else if block {
            let word = self.lists.word_item(self.tree, id, element, self.flow.frames.len());
            if word.is_some() {
                look.indent = outer.indent;
            }
            let leave = self.begin_block(&mut look, &own);
            let leave = match word {
                Some(item) => {
                    self.flow.items.push(item);
                    Leave::Item(Box::new(leave))
                }
                None => leave,
            };
            self.enter(id, look, Some(leave));
        } else {
            inline(&mut look, outer, &own);
            self.enter(id, look, None);
        }
    }

    fn begin_block(&mut self, look: &mut Look, own: &Own) -> Leave {
        self.flow.close();
        self.flow.inline = false;
        if own.page_break_before {
            self.page_break();
        }
        self.flow.before = own.before.or(self.flow.before);
        look.background = own.background.or(look.background);
        if own.borders != crate::model::Borders::default() {
            look.borders = own.borders;
        }
        Leave::Block { after: own.after, page_break: own.page_break_after, blocks: self.flow.len() }
    }

    fn page_break(&mut self) {
        // In a cell there is no page to begin.
        if self.flow.frames.len() == 1 {
            self.flow.push(Block::PageBreak);
        }
    }

    fn link(&mut self, shown: Shown) {
        let Shown { id, element, mut look, outer, own, .. } = shown;
        inline(&mut look, outer, &own);
        let address = element.attribute("href").map(str::trim).filter(|one| !one.is_empty());
        let Some(address) = address.filter(|_| self.flow.link.is_none()) else {
            self.enter(id, look, None);
            return;
        };
        // Every paragraph of a link repeats its address, so one without end would multiply.
        if address.len() > LONGEST_ADDRESS {
            self.warn("a link in the HTML became plain text; its address is longer than Word can have");
            self.enter(id, look, None);
            return;
        }
        let title = element.attribute("title").map(|title| title.chars().take(255).collect());
        self.flow.open_link(address.to_owned(), title);
        self.enter(id, look, Some(Leave::Link));
    }

    fn picture(&mut self, element: &Element, look: &Look) {
        let alt = element.attribute("alt").unwrap_or_default();
        let source = element.attribute("src").map(str::trim).unwrap_or_default();
        if source.is_empty() {
            self.flow.text(alt, look);
            return;
        }
        let picture = Picture {
            source: source.to_owned(),
            width: dimension(element, "width"),
            height: dimension(element, "height"),
            alt: alt.to_owned(),
        };
        self.flow.picture(picture, look);
    }

    fn checkbox(&mut self, element: &Element, look: &Look) {
        if is_checkbox(element) && !self.flow.item().is_some_and(|item| item.task) {
            let mark = if element.attribute("checked").is_some() { "\u{2612} " } else { "\u{2610} " };
            self.flow.text(mark, look);
        }
    }

    fn list(&mut self, shown: Shown) {
        let Shown { id, element, name, mut look, outer, .. } = shown;
        self.flow.close();
        self.flow.inline = false;
        self.flow.show_marker(outer);
        look.indent = outer.indent;
        let frame = self.flow.frames.len();
        let open = self.lists.open(element, name, self.flow.item(), frame);
        self.open_lists.push(open);
        self.enter(id, look, Some(Leave::List));
    }

    fn item(&mut self, shown: Shown) {
        let Shown { id, element, mut look, outer, own, .. } = shown;
        look.indent = outer.indent;
        let leave = self.begin_block(&mut look, &own);
        let frame = self.flow.frames.len();
        let open = self.open_lists.last_mut().filter(|list| list.frame == frame);
        let item = self.lists.item((self.tree, id), element, open, frame);
        self.flow.items.push(item);
        self.enter(id, look, Some(Leave::Item(Box::new(leave))));
    }

    fn table(&mut self, shown: Shown) {
        let Shown { id, element, mut look, outer, own, .. } = shown;
        if self.tables.len() >= self.limits.table_depth {
            self.warn("tables stand too deep in each other; the innermost are written as their texts");
            let leave = self.begin_block(&mut look, &own);
            self.enter(id, look, Some(leave));
            return;
        }
        self.flow.close();
        self.flow.inline = false;
        self.flow.show_marker(outer);
        if own.page_break_before {
            self.page_break();
        }
        self.tables.push(OpenTable::new(element, &look, &own, self.flow.frames.len()));
        look.indent = outer.indent;
        self.enter(id, look, Some(Leave::Table));
    }

    /// What stands directly in a table; elsewhere these are blocks.
    fn table_part(&mut self, shown: Shown) {
        let Shown { id, element, name, mut look, outer, own } = shown;
        let frame = self.flow.frames.len();
        let Some(table) = self.tables.last_mut().filter(|table| table.frame == frame) else {
            look.indent = outer.indent;
            let leave = self.begin_block(&mut look, &own);
            self.enter(id, look, Some(leave));
            return;
        };
        let leave = match name {
            "tr" => {
                table.begin_row(element, &own);
                Leave::Row
            }
            "td" | "th" => {
                self.cells.push((table.cell(element, &own), name == "th"));
                self.flow.close();
                self.flow.frames.push(Vec::new());
                Leave::Cell
            }
            "caption" => {
                self.flow.close();
                self.flow.frames.push(Vec::new());
                Leave::Caption
            }
            "col" => return table.column(element),
            "colgroup" => {
                if self.tree.children(id).next().is_none() {
                    table.column(element);
                }
                self.enter(id, look, None);
                return;
            }
            _ => {
                table.section(name);
                Leave::Section
            }
        };
        look.indent.start = 0;
        look.indent.end = 0;
        self.enter(id, look, Some(leave));
    }

    fn leave(&mut self, leave: Leave, look: &Look) {
        match leave {
            Leave::Block { after, page_break, blocks } => self.end_block(after, page_break, blocks),
            Leave::Item(leave) => {
                self.flow.close();
                self.flow.show_marker(look);
                self.flow.items.pop();
                self.leave(*leave, look);
            }
            Leave::List => {
                self.flow.close();
                self.open_lists.pop();
            }
            Leave::Table => {
                self.flow.close();
                let table = self.tables.pop().map(OpenTable::finish);
                if let Some(table) = table.filter(|table| !table.rows.is_empty() || !table.caption.is_empty())
                {
                    self.flow.push(Block::Table(table));
                }
            }
            Leave::Section => self.on_table(OpenTable::end_section),
            Leave::Row => self.on_table(OpenTable::end_row),
            Leave::Cell => {
                self.flow.close();
                let blocks = self.flow.frames.pop().unwrap_or_default();
                if let Some((cell, header)) = self.cells.pop() {
                    self.on_table(|table| table.push(Cell { blocks, ..cell }, header));
                }
            }
            Leave::Caption => {
                self.flow.close();
                let blocks = self.flow.frames.pop().unwrap_or_default();
                self.on_table(|table| table.caption(blocks));
            }
            Leave::Link => {
                self.flow.close_link();
                self.flow.link = None;
            }
            Leave::Quotation => self.flow.text("\u{201D}", look),
        }
    }

    fn on_table(&mut self, act: impl FnOnce(&mut OpenTable)) {
        if let Some(table) = self.tables.last_mut() {
            act(table);
        }
    }

    fn end_block(&mut self, after: Option<Twips>, page_break: bool, blocks: usize) {
        self.flow.close();
        self.flow.before = None;
        if let (Some(_), Some(paragraph)) = (after, self.flow.last_paragraph(blocks)) {
            paragraph.spacing.after = after;
        }
        if page_break {
            self.page_break();
        }
    }
}

/// What only blocks have is not taken from an element within a line.
fn inline(look: &mut Look, outer: &Look, own: &Own) {
    look.indent = outer.indent;
    look.alignment = outer.alignment;
    look.right_to_left = outer.right_to_left;
    if let Some(background) = own.background {
        Rc::make_mut(&mut look.run).background = Some(background);
    }
}

fn kind(name: &str) -> Kind {
    match name {
        "script" | "style" | "head" | "title" | "template" | "meta" | "link" | "base" | "select"
        | "datalist" | "option" | "optgroup" | "noframes" | "param" | "source" | "track" | "map" | "area"
        | "dialog" => Kind::Hidden,
        "p" | "div" | "pre" | "listing" | "xmp" | "plaintext" | "blockquote" | "center" | "address"
        | "article" | "aside" | "section" | "header" | "footer" | "main" | "nav" | "hgroup" | "search"
        | "figure" | "figcaption" | "dl" | "dt" | "dd" | "details" | "summary" | "fieldset" | "legend"
        | "form" | "textarea" => Kind::Block,
        _ if heading(name).is_some() => Kind::Block,
        _ => Kind::Inline,
    }
}
