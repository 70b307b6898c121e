//! What LibreOffice makes of which kind of document, and what it is told of it: the one table.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::domain::format_opts::{Metadata, PageOptions};
use crate::domain::kinds::FileKind;
use crate::engines::document::DocumentKind;
use crate::engines::plan::Ability;
use crate::engines::step::StepKind;
use crate::workers::libreoffice::{HtmlOrder, UnoCommand};

/// A kind of document, and what becomes of it.
#[derive(Clone, Copy)]
pub(super) struct Export {
    pub from: FileKind,
    pub to: FileKind,
    /// What LibreOffice calls it.
    pub format: &'static str,
    /// What it is told.
    pub options: fn(&PageOptions) -> String,
}

/// The keys of `formatOpts` that LibreOffice heeds in a PDF.
const PDF: &[&str] = &["fromPage", "toPage", "outline", "tagged", "metadata", "pdfa", "pdfua"];
/// And in one of a Word document.
const FIELDS: &[&str] = &["updateFields"];

const EXPORTS: [Export; 6] = [
    Export { from: FileKind::Docx, to: FileKind::Pdf, format: "pdf", options: pdf_options },
    Export { from: FileKind::Xlsx, to: FileKind::Pdf, format: "pdf", options: pdf_options },
    Export { from: FileKind::Pptx, to: FileKind::Pdf, format: "pdf", options: pdf_options },
    // HTML is made of what it saves as: LibreOffice's own forgets what is marked, and shows what is deleted.
    Export { from: FileKind::Docx, to: FileKind::Html, format: "odt", options: no_options },
    Export { from: FileKind::Xlsx, to: FileKind::Html, format: "ods", options: no_options },
    Export { from: FileKind::Pptx, to: FileKind::Html, format: "odp", options: no_options },
];

/// The same as a plan reads it.
pub(super) const ABILITIES: &[Ability] = &[
    able(FileKind::Docx, FileKind::Pdf, &[PDF, FIELDS]),
    able(FileKind::Xlsx, FileKind::Pdf, &[PDF]),
    able(FileKind::Pptx, FileKind::Pdf, &[PDF]),
    able(FileKind::Docx, FileKind::Html, &[FIELDS]),
    able(FileKind::Xlsx, FileKind::Html, &[]),
    able(FileKind::Pptx, FileKind::Html, &[]),
];

/// What becomes of a table of contents and the like, once it is known what stands on which page. Twice, for the contents
/// may become longer and so move what they tell of.
const UPDATES: [&str; 4] =
    [".uno:UpdateAllIndexes", ".uno:UpdateAllIndexes", ".uno:UpdateFields", ".uno:UpdateCharts"];

const fn able(from: FileKind, to: FileKind, heeds: &'static [&'static [&'static str]]) -> Ability {
    Ability::new(StepKind::Convert, (DocumentKind::File(from), DocumentKind::File(to)), 10, heeds)
}

impl Export {
    /// How it becomes HTML; nothing where it becomes something else.
    pub fn html(&self, output_bytes: u64) -> Option<HtmlOrder<'static>> {
        (self.to == FileKind::Html).then(|| HtmlOrder {
            saved: Cow::Borrowed(self.format),
            slides: self.from == FileKind::Pptx,
            output_bytes: usize::try_from(output_bytes).unwrap_or(usize::MAX),
        })
    }

    /// Whether fonts of this machine are in what is made: HTML names them, and its reader has them or not.
    pub fn shows_fonts(&self) -> bool {
        self.to != FileKind::Html || self.from == FileKind::Pptx
    }

    /// How one becomes the other.
    pub fn of(from: DocumentKind, to: FileKind) -> Option<Self> {
        let fits = |export: &&Self| DocumentKind::File(export.from) == from && export.to == to;
        EXPORTS.iter().find(fits).copied()
    }
}

/// What is done with a document before it is written; `is_filled`: it was a template a moment ago.
pub(super) fn commands(from: FileKind, options: &PageOptions, is_filled: bool) -> Vec<UnoCommand<'static>> {
    let updates = options.conversion.update_fields.unwrap_or(is_filled);
    if from != FileKind::Docx || !updates {
        return Vec::new();
    }
    // Without it they are done when the document is written already.
    let at_once = json!({ "SynchronMode": { "type": "boolean", "value": "true" } }).to_string();
    let command = |name| UnoCommand { name: Cow::Borrowed(name), arguments: Cow::Owned(at_once.clone()) };
    UPDATES.map(command).into()
}

/// The first page that is wanted of a PDF, where not all are.
pub(super) fn first_page(to: FileKind, options: &PageOptions) -> Option<u32> {
    let wanted = options.from_page.or_else(|| options.to_page.map(|_| 1));
    wanted.filter(|_| to == FileKind::Pdf)
}

/// What is said of a PDF, where something is.
pub(super) fn metadata(to: FileKind, options: &PageOptions) -> Option<Metadata> {
    let said = &options.extras.metadata;
    (to == FileKind::Pdf && *said != Metadata::default()).then(|| said.clone())
}

fn no_options(_: &PageOptions) -> String {
    String::new()
}

fn pdf_options(options: &PageOptions) -> String {
    let mut told = Map::new();
    let mut tell = |name: &str, kind: &str, value: String| {
        told.insert(name.to_owned(), json!({ "type": kind, "value": value }));
    };
    let range = match (options.from_page, options.to_page) {
        (None, None) => None,
        (from, Some(to)) => Some(format!("{}-{to}", from.unwrap_or(1))),
        (Some(from), None) => Some(format!("{from}-")),
    };
    if let Some(range) = range {
        tell("PageRange", "string", range);
    }
    let conversion = &options.conversion;
    let is_tagged = options.extras.tagged.unwrap_or(true);
    tell("UseTaggedPDF", "boolean", is_tagged.to_string());
    tell("ExportBookmarks", "boolean", options.extras.outline.to_string());
    tell("PDFUACompliance", "boolean", conversion.pdfua.to_string());
    if let Some(part) = conversion.pdfa {
        tell("SelectPdfVersion", "long", part.number().to_string());
    }
    Value::Object(told).to_string()
}
