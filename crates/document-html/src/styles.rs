//! A document's styles: which there are, and what a chain of them says.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use roxmltree::{Document, Node};

use crate::look::{Fonts, Look};
use crate::xml::{attribute, child, name};

/// A longer chain of parents than this is a circle.
const CHAIN: usize = 64;

/// All styles of a document.
pub struct Styles<'a> {
    named: HashMap<(&'a str, &'a str), Node<'a, 'a>>,
    defaults: HashMap<&'a str, Node<'a, 'a>>,
    lists: HashMap<&'a str, Node<'a, 'a>>,
    layouts: Vec<Node<'a, 'a>>,
    fonts: Fonts<'a>,
    kept: RefCell<HashMap<(&'a str, String), Rc<Look>>>,
}

impl<'a> Styles<'a> {
    /// Reads the styles of both parts. Those of `content` go before those of `styles`: the names of automatic ones repeat.
    pub fn read(styles: &'a Document<'a>, content: &'a Document<'a>) -> Self {
        let mut read = Self {
            named: HashMap::new(),
            defaults: HashMap::new(),
            lists: HashMap::new(),
            layouts: Vec::new(),
            fonts: Fonts::new(),
            kept: RefCell::default(),
        };
        for (document, automatic) in [(styles, false), (content, true)] {
            for group in document.root_element().children() {
                match name(group) {
                    ("office", "automatic-styles") if !automatic => read.layouts(group),
                    ("office", "styles" | "automatic-styles") => read.group(group),
                    ("office", "font-face-decls") => read.fonts(group),
                    _ => {}
                }
            }
        }
        read
    }

    fn group(&mut self, group: Node<'a, 'a>) {
        for style in group.children() {
            let named = attribute(style, "style", "name").unwrap_or_default();
            let family = attribute(style, "style", "family").unwrap_or_default();
            match name(style) {
                ("style", "style") => drop(self.named.insert((family, named), style)),
                ("style", "default-style") => drop(self.defaults.insert(family, style)),
                ("text", "list-style") => drop(self.lists.insert(named, style)),
                _ => {}
            }
        }
    }

    /// What headers, footers and sheets of paper look like; of these only the sizes count.
    fn layouts(&mut self, group: Node<'a, 'a>) {
        self.layouts.extend(group.children().filter(|one| name(*one) == ("style", "page-layout")));
    }

    fn fonts(&mut self, group: Node<'a, 'a>) {
        for face in group.children() {
            if let (Some(name), Some(family)) =
                (attribute(face, "style", "name"), attribute(face, "svg", "font-family"))
            {
                let generic = attribute(face, "style", "font-family-generic").unwrap_or_default();
                self.fonts.insert(name, (family, generic));
            }
        }
    }

    /// A style itself.
    pub fn style(&self, family: &str, name: &str) -> Option<Node<'a, 'a>> {
        self.named.get(&(family, name)).copied()
    }

    /// A list style.
    pub fn list(&self, name: &str) -> Option<Node<'a, 'a>> {
        self.lists.get(name).copied()
    }

    /// A style and its parents, the eldest first.
    fn chain(&self, family: &str, name: &str) -> Vec<Node<'a, 'a>> {
        let parent =
            |style: &Node<'a, 'a>| self.style(family, attribute(*style, "style", "parent-style-name")?);
        let mut chain: Vec<_> = std::iter::successors(self.style(family, name), parent).take(CHAIN).collect();
        chain.reverse();
        chain
    }

    /// What a style and its parents say.
    pub fn declared(&self, family: &'a str, name: &str) -> Rc<Look> {
        self.look(family, name, false)
    }

    /// What they and the family's defaults say.
    pub fn effective(&self, family: &'a str, name: &str) -> Rc<Look> {
        self.look(family, name, true)
    }

    fn look(&self, family: &'a str, name: &str, defaults: bool) -> Rc<Look> {
        // One more letter keeps the two kinds apart.
        let key = (family, format!("{}{name}", if defaults { '+' } else { '-' }));
        if let Some(look) = self.kept.borrow().get(&key) {
            return Rc::clone(look);
        }
        let mut look = Look::default();
        if let Some(style) = self.defaults.get(family).filter(|_| defaults) {
            look.apply(*style, &self.fonts);
        }
        for style in self.chain(family, name) {
            look.apply(style, &self.fonts);
        }
        let look = Rc::new(look);
        self.kept.borrow_mut().insert(key, Rc::clone(&look));
        look
    }

    /// The nearest value of an attribute in a style's properties of a kind, or its parents'.
    pub fn property(
        &self,
        family: &str,
        name: &str,
        kind: &str,
        (space, local): (&str, &str),
    ) -> Option<&'a str> {
        let chain = self.chain(family, name);
        chain.iter().rev().find_map(|style| attribute(child(*style, "style", kind)?, space, local))
    }

    /// The width of the text on the document's first kind of page, in points.
    pub fn text_width(&self) -> Option<f64> {
        let properties = child(*self.layouts.first()?, "style", "page-layout-properties")?;
        let length = |name| attribute(properties, "fo", name).and_then(crate::css::points);
        let margins = length("margin-left").unwrap_or(0.0) + length("margin-right").unwrap_or(0.0);
        Some(length("page-width")? - margins).filter(|width| *width > 72.0)
    }
}
