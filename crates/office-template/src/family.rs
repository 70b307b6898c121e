//! The programs whose files are read, and the content types of their main parts.

/// The program that a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Word.
    Word,
    /// Excel.
    Excel,
    /// `PowerPoint`.
    PowerPoint,
    /// `LibreOffice` and others: texts, tables and presentations.
    OpenDocument,
}

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
const EXCEL: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml";
const POWER_POINT: &str =
    "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml";

/// The content types of other main parts, in lower case: of templates, slide shows, and files with macros.
const OTHER_MAIN_PARTS: [(&str, Family); 11] = [
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml", Family::Word),
    ("application/vnd.ms-word.document.macroenabled.main+xml", Family::Word),
    ("application/vnd.ms-word.template.macroenabledtemplate.main+xml", Family::Word),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml", Family::Excel),
    ("application/vnd.ms-excel.sheet.macroenabled.main+xml", Family::Excel),
    ("application/vnd.ms-excel.template.macroenabled.main+xml", Family::Excel),
    ("application/vnd.openxmlformats-officedocument.presentationml.template.main+xml", Family::PowerPoint),
    ("application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml", Family::PowerPoint),
    ("application/vnd.ms-powerpoint.presentation.macroenabled.main+xml", Family::PowerPoint),
    ("application/vnd.ms-powerpoint.template.macroenabled.main+xml", Family::PowerPoint),
    ("application/vnd.ms-powerpoint.slideshow.macroenabled.main+xml", Family::PowerPoint),
];

impl Family {
    /// The program's name.
    pub fn program(self) -> &'static str {
        match self {
            Self::Word => "Word",
            Self::Excel => "Excel",
            Self::PowerPoint => "PowerPoint",
            Self::OpenDocument => "LibreOffice",
        }
    }

    /// A guess at the program, for the message about a file that cannot be read.
    pub(crate) fn likely(file: &[u8]) -> Self {
        let has = |name: &[u8]| memchr::memmem::find(file, name).is_some();
        if has(b"ppt/presentation.xml") {
            Self::PowerPoint
        } else if has(b"xl/workbook.xml") {
            Self::Excel
        } else {
            Self::Word
        }
    }

    /// The folder in the container in which the program keeps parts.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Word | Self::OpenDocument => "word",
            Self::Excel => "xl",
            Self::PowerPoint => "ppt",
        }
    }

    /// The program whose main parts have this content type, in lower case.
    pub(crate) fn of_main(kind: &str) -> Option<Self> {
        let plain = [(WORD, Self::Word), (EXCEL, Self::Excel), (POWER_POINT, Self::PowerPoint)];
        let mut all = plain.into_iter().chain(OTHER_MAIN_PARTS);
        all.find(|(known, _)| *known == kind).map(|(_, family)| family)
    }

    /// The content type of a plain document's main part where `kind`, in lower case, is that of a template, a slide show or a
    /// file with macros.
    pub(crate) fn plain_main(kind: &str) -> Option<&'static str> {
        let (_, family) = OTHER_MAIN_PARTS.iter().find(|(known, _)| *known == kind)?;
        match family {
            Self::Word => Some(WORD),
            Self::Excel => Some(EXCEL),
            Self::PowerPoint => Some(POWER_POINT),
            Self::OpenDocument => None,
        }
    }
}
