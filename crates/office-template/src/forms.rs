//! Answers that are more than text (pictures, links, rich text …): one file for each form.

pub(crate) mod colour;
mod html;
pub(crate) mod image;
pub(crate) mod link;
mod properties;
mod tables;
mod xml;

use crate::answer::{Content, Form};
use crate::chart;
use crate::files::Files;
use crate::include;
use crate::mark::Mark;
use crate::package::Package;
use crate::package::xml::escaped;
use crate::source::Source;
use crate::word::Twips;
use crate::written::{Refusal, Written};
pub(crate) use properties::{children, with_cell_property, with_property};
pub(crate) use xml::root;

/// Where a form is written.
pub(crate) struct Place<'a> {
    pub source: Source<'a>,
    /// The whole `w:rPr` of the run in which the tag begins; empty where it has none.
    pub run_properties: &'a str,
    /// The whole `w:pPr` of its paragraph.
    pub paragraph_properties: &'a str,
    /// The width of the text there, where it is known.
    pub width: Option<Twips>,
    /// Whether it is in a table.
    pub is_in_cell: bool,
}

impl Place<'_> {
    /// A run with these properties (a whole `w:rPr`, or nothing), with breaks and tabs as Word writes them.
    pub(crate) fn run(&self, properties: &str, text: &str) -> String {
        let prefix = self.source.prefix;
        let text = escaped(text).replace("\r\n", "\n").replace('\r', "\n");
        let element = |name: &str| format!("</{prefix}t><{prefix}{name}/><{prefix}t xml:space=\"preserve\">");
        let text = text.replace('\n', &element("br")).replace('\t', &element("tab"));
        format!("<{prefix}r>{properties}<{prefix}t xml:space=\"preserve\">{text}</{prefix}t></{prefix}r>")
    }
}

/// Writes a content in the form that it has.
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

/// `{:toc levels}`, of 1 to 9 levels of headings; 3 where none are given.
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
