//! The tree that the parser builds: nodes in one vector, named by their places, so that nothing walks or drops it recursively.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName, ns};

use crate::limits::{Error, Limits};

/// A node's place.
pub type Id = usize;

/// The document node.
pub const ROOT: Id = 0;

/// A node with its neighbours.
pub struct Node {
    /// What it is.
    pub data: Data,
    parent: Option<Id>,
    previous: Option<Id>,
    /// The next of the same parent.
    pub next: Option<Id>,
    /// Its first child.
    pub first: Option<Id>,
    last: Option<Id>,
    depth: usize,
}

/// What a node is.
pub enum Data {
    /// The document, comments and template contents: what shows nothing by itself.
    Nothing,
    /// Characters.
    Text(String),
    /// An element.
    Element(Element),
}

/// An element.
pub struct Element {
    name: Rc<QualName>,
    attributes: Vec<(LocalName, StrTendril)>,
}

impl Element {
    /// Its name, or nothing for one of SVG or `MathML`.
    pub fn name(&self) -> Option<&str> {
        (self.name.ns == ns!(html)).then_some(&*self.name.local)
    }

    /// Its name in SVG or `MathML` too.
    pub fn local_name(&self) -> &str {
        &self.name.local
    }

    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(one, _)| &**one == name).map(|(_, value)| &**value)
    }
}

/// The finished tree.
pub struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// The node at a place.
    pub fn node(&self, id: Id) -> Option<&Node> {
        self.nodes.get(id)
    }

    /// The element at a place.
    pub fn element(&self, id: Id) -> Option<&Element> {
        match &self.nodes.get(id)?.data {
            Data::Element(element) => Some(element),
            Data::Nothing | Data::Text(_) => None,
        }
    }

    /// A node's children.
    pub fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        std::iter::successors(self.nodes.get(id).and_then(|node| node.first), |&one| {
            self.nodes.get(one)?.next
        })
    }
}

/// What the parser writes into.
pub struct Sink {
    nodes: RefCell<Vec<Node>>,
    limits: Limits,
    error: Cell<Option<Error>>,
}

/// A name that the parser may keep while the tree grows.
#[derive(Debug)]
pub struct Name(Rc<QualName>);

impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }
    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl Sink {
    /// An empty tree.
    pub fn new(limits: Limits) -> Self {
        let sink = Self { nodes: RefCell::default(), limits, error: Cell::new(None) };
        sink.add(Data::Nothing);
        sink
    }

    /// What limit the tree has passed.
    pub fn error(&self) -> Option<Error> {
        let error = self.error.take();
        self.error.set(error.clone());
        error
    }

    fn add(&self, data: Data) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.len() > self.limits.elements.saturating_mul(2) {
            self.error.set(Some(Error::Elements { limit: self.limits.elements }));
        }
        nodes.push(Node {
            data,
            parent: None,
            previous: None,
            next: None,
            first: None,
            last: None,
            depth: 0,
        });
        nodes.len() - 1
    }

    /// Puts a node below `parent`, before `before` or as the last one.
    fn link(&self, id: Id, parent: Id, before: Option<Id>) {
        let mut nodes = self.nodes.borrow_mut();
        let previous = match before {
            Some(before) => nodes.get(before).and_then(|node| node.previous),
            None => nodes.get(parent).and_then(|node| node.last),
        };
        let depth = nodes.get(parent).map_or(0, |node| node.depth) + 1;
        if depth > self.limits.depth {
            self.error.set(Some(Error::Depth { limit: self.limits.depth }));
        }
        if let Some(node) = nodes.get_mut(id) {
            (node.parent, node.previous, node.next, node.depth) = (Some(parent), previous, before, depth);
        }
        if let Some(node) = previous.and_then(|one| nodes.get_mut(one)) {
            node.next = Some(id);
        }
        if let Some(node) = before.and_then(|one| nodes.get_mut(one)) {
            node.previous = Some(id);
        }
        if let Some(node) = nodes.get_mut(parent) {
            if previous.is_none() {
                node.first = Some(id);
            }
            if before.is_none() {
                node.last = Some(id);
            }
        }
    }

    fn unlink(&self, id: Id) {
        let mut nodes = self.nodes.borrow_mut();
        let Some(node) = nodes.get_mut(id) else { return };
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        match previous.and_then(|one| nodes.get_mut(one)) {
            Some(node) => node.next = next,
            None => {
                if let Some(node) = parent.and_then(|one| nodes.get_mut(one)) {
                    node.first = next;
                }
            }
        }
        match next.and_then(|one| nodes.get_mut(one)) {
            Some(node) => node.previous = previous,
            None => {
                if let Some(node) = parent.and_then(|one| nodes.get_mut(one)) {
                    node.last = previous;
                }
            }
        }
    }

    /// Adds to the text that stands just before the place, if one does.
    fn joined(&self, text: &str, parent: Id, before: Option<Id>) -> bool {
        let mut nodes = self.nodes.borrow_mut();
        let neighbour = match before {
            Some(before) => nodes.get(before).and_then(|node| node.previous),
            None => nodes.get(parent).and_then(|node| node.last),
        };
        match neighbour.and_then(|one| nodes.get_mut(one)).map(|node| &mut node.data) {
            Some(Data::Text(present)) => {
                present.push_str(text);
                true
            }
            Some(Data::Nothing | Data::Element(_)) | None => false,
        }
    }

    fn insert(&self, child: NodeOrText<Id>, parent: Id, before: Option<Id>) {
        match child {
            NodeOrText::AppendNode(id) => {
                self.unlink(id);
                self.link(id, parent, before);
            }
            NodeOrText::AppendText(text) => {
                if !self.joined(&text, parent, before) {
                    let id = self.add(Data::Text(String::from(&*text)));
                    self.link(id, parent, before);
                }
            }
        }
    }

    fn parent(&self, id: Id) -> Option<Id> {
        self.nodes.borrow().get(id)?.parent
    }
}

impl TreeSink for Sink {
    type Handle = Id;
    type Output = Tree;
    type ElemName<'a> = Name;

    fn finish(self) -> Tree {
        Tree { nodes: self.nodes.into_inner() }
    }
    fn parse_error(&self, _: Cow<'static, str>) {}
    fn get_document(&self) -> Id {
        ROOT
    }
    fn elem_name<'a>(&'a self, target: &'a Id) -> Name {
        match self.nodes.borrow().get(*target).map(|node| &node.data) {
            Some(Data::Element(element)) => Name(Rc::clone(&element.name)),
            Some(Data::Nothing | Data::Text(_)) | None => {
                Name(Rc::new(QualName::new(None, ns!(), LocalName::from(""))))
            }
        }
    }
    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Id {
        let attributes = attributes.into_iter().map(|one| (one.name.local, one.value)).collect();
        self.add(Data::Element(Element { name: Rc::new(name), attributes }))
    }
    fn create_comment(&self, _: StrTendril) -> Id {
        self.add(Data::Nothing)
    }
    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Id {
        self.add(Data::Nothing)
    }
    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        self.insert(child, *parent, None);
    }
    fn append_based_on_parent_node(&self, element: &Id, previous: &Id, child: NodeOrText<Id>) {
        match self.parent(*element) {
            Some(parent) => self.insert(child, parent, Some(*element)),
            None => self.insert(child, *previous, None),
        }
    }
    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}
    fn get_template_contents(&self, _: &Id) -> Id {
        self.add(Data::Nothing)
    }
    fn same_node(&self, one: &Id, other: &Id) -> bool {
        one == other
    }
    fn set_quirks_mode(&self, _: QuirksMode) {}
    fn append_before_sibling(&self, sibling: &Id, child: NodeOrText<Id>) {
        if let Some(parent) = self.parent(*sibling) {
            self.insert(child, parent, Some(*sibling));
        }
    }
    fn add_attrs_if_missing(&self, target: &Id, attributes: Vec<Attribute>) {
        if let Some(Data::Element(element)) =
            self.nodes.borrow_mut().get_mut(*target).map(|node| &mut node.data)
        {
            for one in attributes {
                if element.attributes.iter().all(|(name, _)| *name != one.name.local) {
                    element.attributes.push((one.name.local, one.value));
                }
            }
        }
    }
    fn remove_from_parent(&self, target: &Id) {
        self.unlink(*target);
    }
    fn reparent_children(&self, node: &Id, new_parent: &Id) {
        loop {
            let child = self.nodes.borrow().get(*node).and_then(|node| node.first);
            let Some(child) = child else { return };
            self.unlink(child);
            self.link(child, *new_parent, None);
        }
    }
}
