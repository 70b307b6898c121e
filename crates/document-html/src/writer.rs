//! What is carried along while a document is written.

use std::collections::HashMap;
use std::rc::Rc;

use roxmltree::{Document, Node};

use crate::counters::Numbers;
use crate::limits::{Error, Limits};
use crate::look::Look;
use crate::package::Package;
use crate::pictures::{self, Drawn};
use crate::styles::Styles;
use crate::xml::{attribute, name};

/// Writes the parts of a document; a file for each kind of part adds to it.
pub struct Writer<'a, 'p> {
    pub(crate) styles: Styles<'a>,
    pub(crate) package: &'p mut Package<'a>,
    pub(crate) drawn: Drawn,
    pub(crate) limits: Limits,
    /// What the element around everything says.
    pub(crate) base: Rc<Look>,
    /// The counters of lists.
    pub(crate) numbers: Numbers,
    /// HTML that the next paragraph begins with.
    pub(crate) label: Option<String>,
    /// Blocks that stand in a paragraph, which in HTML cannot hold them: they come before it.
    pub(crate) above: String,
    /// Footnotes and endnotes, which come at the end.
    pub(crate) notes: String,
    /// How many there are.
    pub(crate) note_count: usize,
    /// In a table of contents, whose page numbers mean nothing here.
    pub(crate) in_index: bool,
    /// In a sheet whose columns begin at the right.
    pub(crate) from_right: bool,
    /// Pictures that are not shown.
    pub(crate) missing: usize,
    targets: HashMap<&'a str, usize>,
    depth: usize,
    /// Bytes of pictures that were made for what is not in the output yet.
    picture_bytes: usize,
}

impl<'a, 'p> Writer<'a, 'p> {
    /// A writer for the document of these parts.
    pub fn new(
        (styles, content): (&'a Document<'a>, &'a Document<'a>),
        package: &'p mut Package<'a>,
        drawn: Drawn,
        limits: Limits,
    ) -> Self {
        Self {
            styles: Styles::read(styles, content),
            package,
            drawn,
            limits,
            base: Rc::default(),
            numbers: Numbers::default(),
            label: None,
            above: String::new(),
            notes: String::new(),
            note_count: 0,
            in_index: false,
            from_right: false,
            missing: 0,
            targets: targets(content),
            depth: 0,
            picture_bytes: 0,
        }
    }

    /// One deeper into the document; [`Writer::leave`] comes back.
    pub(crate) fn enter(&mut self, out: &str) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > self.limits.depth {
            return Err(Error::Depth { limit: self.limits.depth });
        }
        self.check(out)
    }

    /// Back from [`Writer::enter`].
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Whether the output is within its limit.
    pub(crate) fn check(&self, out: &str) -> Result<(), Error> {
        let limit = self.limits.output_bytes;
        if out.len().max(self.picture_bytes) + self.notes.len() > limit {
            Err(Error::Output { limit })
        } else {
            Ok(())
        }
    }

    /// The `id` of a place that some link leads to.
    pub(crate) fn target(&self, name: &str) -> Option<String> {
        self.targets.get(name).map(|number| format!("place-{number}"))
    }

    /// A picture of the package, as an address; nothing for what is none that is shown everywhere.
    pub(crate) fn packed(&mut self, path: &str) -> Result<Option<String>, Error> {
        let path = path.strip_prefix("./").unwrap_or(path);
        let Some(bytes) = self.package.part(path)? else { return Ok(None) };
        let address = pictures::address(&bytes);
        self.picture_bytes += address.as_ref().map_or(0, String::len);
        self.check("")?;
        Ok(address)
    }
}

/// The names of places that links of the document lead to.
fn targets<'a>(content: &'a Document<'a>) -> HashMap<&'a str, usize> {
    let mut targets = HashMap::new();
    for node in content.descendants().filter(|node| name(*node) == ("text", "a")) {
        if let Some(place) = attribute(node, "xlink", "href").and_then(place) {
            let number = targets.len() + 1;
            targets.entry(place).or_insert(number);
        }
    }
    targets
}

/// The place of the document that an address names: `#bookmark`, `#1.Heading|outline`.
pub fn place(address: &str) -> Option<&str> {
    let name = address.strip_prefix('#')?;
    Some(name.split_once('|').map_or(name, |(name, _)| name)).filter(|name| !name.is_empty())
}

/// The text of a node and all below it.
pub fn text_of(node: Node<'_, '_>) -> String {
    node.descendants().filter_map(|one| one.text().filter(|_| one.is_text())).collect()
}
