//! What tags give that is more than a text: a file for each form.

pub(crate) mod colour;
mod html;
pub(crate) mod image;
pub(crate) mod link;
mod properties;
mod tables;
mod xml;

use crate::answer::{Content, Form};
use crate::chart;
use crate::error::Error;
use crate::files::Files;
use crate::fill::Source;
use crate::include;
use crate::marks::Mark;
use crate::package::{Package, escaped};
use crate::word::Twips;
pub(crate) use properties::{children, with_cell_property, with_property};
pub(crate) use xml::root;

/// Where a form is written.
pub(crate) struct Place<'a> {
    pub source: Source<'a>,
    /// The whole `w:rPr` of the run in which the tag begins; empty where it has none.
    pub run_properties: &'a str,
    /// The whole `w:pPr` of its paragraph.
    pub paragraph_properties: &'a str,
    /// How wide the text is there, where that is known.
    pub width: Option<Twips>,
    /// Whether it stands in a table.
    pub is_in_cell: bool,
}

impl Place<'_> {
    /// A run of these properties (a whole `w:rPr`, or nothing), with breaks and tabs as Word writes them.
    pub(crate) fn run(&self, properties: &str, text: &str) -> String {
        let prefix = self.source.prefix;
        let text = escaped(text).replace("\r\n", "\n").replace('\r', "\n");
        let element = |name: &str| format!("</{prefix}t><{prefix}{name}/><{prefix}t xml:space=\"preserve\">");
        let text = text.replace('\n', &element("br")).replace('\t', &element("tab"));
        format!("<{prefix}r>{properties}<{prefix}t xml:space=\"preserve\">{text}</{prefix}t></{prefix}r>")
    }
}

/// A form as Word has it.
pub(crate) enum Written {
    Nothing,
    /// Stands in a run, beside its texts.
    Run(String),
    /// Stands in a paragraph, beside its runs.
    Inline(String),
    /// Stands beside paragraphs.
    Blocks(String),
    /// What is written when the part is whole.
    Mark(Mark),
}

/// Why a form cannot be written.
pub(crate) enum Refusal {
    /// What is wrong with the tag, for its author.
    Fault(String),
    /// What is wrong with the whole.
    Error(Error),
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self::Fault(message)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Writes what a tag gave.
pub(crate) fn write(
    content: &Content<'_>,
    place: &Place<'_>,
    (package, files): (&mut Package<'_>, &mut dyn Files),
) -> Result<Written, Refusal> {
    let prefix = place.source.prefix;
    match content.form {
        Form::Pagebreak => Ok(Written::Run(format!("<{prefix}br {prefix}type=\"page\"/>"))),
        Form::Link => link::write(content, place, package),
        Form::Xml => xml::write(content.field(0), place, package),
        Form::Color => colour::write(content, place),
        Form::Toc => contents(content.field(0), place),
        Form::Include => include::calculated(content.field(0), place.source, (package, files)),
        Form::Image | Form::Qr | Form::Barcode => image::write(content, place, (package, files)),
        Form::Html => html::write(content.field(0), place, (package, files)),
        Form::Chart | Form::Day | Form::Formula => Err(chart::MISPLACED.to_owned().into()),
    }
}

/// `{:toc levels}`: headings have nine of them.
fn contents(levels: &str, place: &Place<'_>) -> Result<Written, Refusal> {
    const LEVELS: u8 = 3;
    if !place.source.is_main {
        let message = "a table of contents stands in the document itself, and in no header, footer, note or included file";
        return Err(message.to_owned().into());
    }
    let levels = levels.trim();
    let given = if levels.is_empty() { Some(LEVELS) } else { levels.parse().ok() };
    match given.filter(|given| (1..=9).contains(given)) {
        Some(given) => Ok(Written::Mark(Mark::Contents(given))),
        None => {
            Err(format!("a table of contents has 1 to 9 levels, as in {{:toc 3}}, and not {levels:?}").into())
        }
    }
}
