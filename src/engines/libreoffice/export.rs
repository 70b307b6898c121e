//! The table of LibreOffice's conversions, and the options and commands for each.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::domain::format_opts::{Key, KeySet, Metadata, PageOptions};
use crate::domain::kinds::FileKind;
use crate::engines::document::DocumentKind;
use crate::engines::plan::Ability;
use crate::engines::step::StepKind;
use crate::workers::libreoffice::{HtmlOptions, UnoCommand};

/// A conversion.
#[derive(Clone, Copy)]
pub(super) struct Export {
    pub from: FileKind,
    pub to: FileKind,
    /// LibreOffice's name of the format that it saves.
    pub format: &'static str,
}

/// The keys of `formatOpts` that have an effect on a PDF.
const PDF: KeySet = KeySet::of(&[
    Key::FromPage,
    Key::ToPage,
    Key::Outline,
    Key::Tagged,
    Key::Metadata,
    Key::Pdfa,
    Key::Pdfua,
]);
/// The keys that have an effect on a workbook: numbers, dates and currencies are written as the locale does.
const LOCALE: KeySet = KeySet::of(&[Key::Locale]);
/// The keys that have an effect on a Word document.
const FIELDS: KeySet = KeySet::of(&[Key::UpdateFields]);

const EXPORTS: [Export; 6] = [
    Export { from: FileKind::Docx, to: FileKind::Pdf, format: "pdf" },
    Export { from: FileKind::Xlsx, to: FileKind::Pdf, format: "pdf" },
    Export { from: FileKind::Pptx, to: FileKind::Pdf, format: "pdf" },
    // HTML is made from a saved OpenDocument: LibreOffice's own HTML loses highlighting and shows deleted text.
    Export { from: FileKind::Docx, to: FileKind::Html, format: "odt" },
    Export { from: FileKind::Xlsx, to: FileKind::Html, format: "ods" },
    Export { from: FileKind::Pptx, to: FileKind::Html, format: "odp" },
];

/// The same table for plans.
pub(super) const ABILITIES: &[Ability] = &[
    ability(FileKind::Docx, FileKind::Pdf, PDF.and(FIELDS)),
    ability(FileKind::Xlsx, FileKind::Pdf, PDF.and(LOCALE)),
    ability(FileKind::Pptx, FileKind::Pdf, PDF),
    ability(FileKind::Docx, FileKind::Html, FIELDS),
    ability(FileKind::Xlsx, FileKind::Html, LOCALE),
    ability(FileKind::Pptx, FileKind::Html, KeySet::NONE),
];

/// Commands that update tables of contents and fields after layout. Tables of contents are updated twice: the first time one
/// may grow by a page, and then the page numbers in it are wrong.
const UPDATES: [&str; 4] =
    [".uno:UpdateAllIndexes", ".uno:UpdateAllIndexes", ".uno:UpdateFields", ".uno:UpdateCharts"];

const fn ability(from: FileKind, to: FileKind, heeds: KeySet) -> Ability {
    Ability::new(StepKind::Convert, (DocumentKind::File(from), DocumentKind::File(to)), 10, heeds)
}

impl Export {
    /// The options of a conversion to HTML; `None` for others.
    pub fn html(&self, output_bytes: u64) -> Option<HtmlOptions<'static>> {
        (self.to == FileKind::Html).then(|| HtmlOptions {
            saved: Cow::Borrowed(self.format),
            slides: self.from == FileKind::Pptx,
            output_bytes: usize::try_from(output_bytes).unwrap_or(usize::MAX),
        })
    }

    /// The conversion from one kind to the other.
    pub fn of(from: DocumentKind, to: FileKind) -> Option<Self> {
        let fits = |export: &&Self| DocumentKind::File(export.from) == from && export.to == to;
        EXPORTS.iter().find(fits).copied()
    }
}

/// The commands that run before a document is saved; `is_filled`: it was just filled from a template.
pub(super) fn commands(from: FileKind, options: &PageOptions, is_filled: bool) -> Vec<UnoCommand<'static>> {
    let updates = options.conversion.update_fields.unwrap_or(is_filled);
    if from != FileKind::Docx || !updates {
        return Vec::new();
    }
    // Without `SynchronMode` the commands run after the document is saved.
    let at_once = json!({ "SynchronMode": { "type": "boolean", "value": "true" } }).to_string();
    let command = |name| UnoCommand { name: Cow::Borrowed(name), arguments: Cow::Owned(at_once.clone()) };
    UPDATES.map(command).into()
}

/// The locale in which a workbook shows its numbers and dates: the one that is asked for, or else `default`.
pub(super) fn locale(from: FileKind, options: &PageOptions, default: &str) -> Option<Cow<'static, str>> {
    let asked = options.emulation.locale.as_deref().unwrap_or(default);
    (from == FileKind::Xlsx).then(|| Cow::Owned(asked.to_owned()))
}

/// The first page that is asked for, if a PDF is not to have all pages.
pub(super) fn first_page(to: FileKind, options: &PageOptions) -> Option<u32> {
    let wanted = options.from_page.or_else(|| options.to_page.map(|_| 1));
    wanted.filter(|_| to == FileKind::Pdf)
}

/// The properties to write into a PDF, if any were given.
pub(super) fn metadata(to: FileKind, options: &PageOptions) -> Option<Metadata> {
    let given = &options.extras.metadata;
    (to == FileKind::Pdf && *given != Metadata::default()).then(|| given.clone())
}

/// The filter options of a PDF.
pub(super) fn pdf_options(options: &PageOptions) -> String {
    let mut filter = Map::new();
    let mut set = |name: &str, kind: &str, value: String| {
        filter.insert(name.to_owned(), json!({ "type": kind, "value": value }));
    };
    if let Some(range) = options.page_range() {
        set("PageRange", "string", range);
    }
    let conversion = &options.conversion;
    let is_tagged = options.extras.tagged.unwrap_or(true);
    set("UseTaggedPDF", "boolean", is_tagged.to_string());
    set("ExportBookmarks", "boolean", options.extras.outline.to_string());
    set("PDFUACompliance", "boolean", conversion.pdfua.to_string());
    if let Some(part) = conversion.pdfa {
        set("SelectPdfVersion", "long", part.number().to_string());
    }
    Value::Object(filter).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workbook_without_a_locale_has_the_one_of_the_configuration() {
        let mut options = PageOptions::default();
        assert_eq!(locale(FileKind::Xlsx, &options, "de-AT").as_deref(), Some("de-AT"));
        assert_eq!(locale(FileKind::Docx, &options, "de-AT"), None);
        options.emulation.locale = Some("fr-CH".to_owned());
        assert_eq!(locale(FileKind::Xlsx, &options, "de-AT").as_deref(), Some("fr-CH"));
        assert_eq!(locale(FileKind::Pptx, &options, "de-AT"), None);
    }
}
