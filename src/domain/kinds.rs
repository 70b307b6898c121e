//! Kinds of templates, targets of jobs and kinds of files, with their names on the wire.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The kind of a template: decides how template and data become a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum TemplateKind {
    /// A front-end build (index.html and its assets); clients also say `react`.
    #[serde(alias = "react")]
    #[strum(to_string = "framework", serialize = "react")]
    Framework,
    /// A LaTeX source.
    Latex,
    /// An HTML page, which may contain EJS.
    Html,
    /// A page written in EJS.
    Ejs,
    /// `PowerPoint`.
    Pptx,
    /// Excel.
    Xlsx,
    /// Word.
    Docx,
}

/// What a job produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum Target {
    /// A JPEG image; clients also say `jpeg`.
    #[strum(serialize = "jpg", serialize = "jpeg")]
    Jpg,
    /// A PNG image.
    Png,
    /// `PowerPoint`.
    Pptx,
    /// Excel.
    Xlsx,
    /// Word.
    Docx,
    /// An HTML page.
    Html,
    /// A PDF.
    Pdf,
}

/// The kind of a file, which may differ from the target: several pictures come as an archive. Its extension, its media type
/// and whether a browser shows it follow from this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum FileKind {
    /// A JPEG image.
    Jpg,
    /// A PNG image.
    Png,
    /// `PowerPoint`.
    Pptx,
    /// Excel.
    Xlsx,
    /// Word.
    Docx,
    /// An HTML page.
    Html,
    /// A PDF.
    Pdf,
    /// An archive of files.
    Zip,
}

impl TemplateKind {
    /// Whether a template that was found to be `found` can be rendered as this. The kinds of pages fit each other: one engine
    /// renders them all.
    pub fn fits(self, found: Self) -> bool {
        let is_page = |kind| matches!(kind, Self::Framework | Self::Html | Self::Ejs);
        self == found || (is_page(self) && is_page(found))
    }

    /// All kinds, in the order of the contract.
    pub const ALL: [Self; 7] =
        [Self::Framework, Self::Latex, Self::Html, Self::Ejs, Self::Pptx, Self::Xlsx, Self::Docx];

    /// Whether it is an Office file.
    pub fn is_office(self) -> bool {
        matches!(self, Self::Pptx | Self::Xlsx | Self::Docx)
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The kind a client means by `name`, in any case; `react` is `framework`.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

impl Target {
    /// All targets, in the order of the contract.
    pub const ALL: [Self; 7] =
        [Self::Jpg, Self::Png, Self::Pptx, Self::Xlsx, Self::Docx, Self::Html, Self::Pdf];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        self.file().name()
    }

    /// The target a client means by `name`, in any case; `jpeg` is `jpg`.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Target and kind for messages, as in `png made of docx`: what is true of it need not be true of every `png`.
    pub fn made_of(self, kind: TemplateKind) -> String {
        let (made, of) = (self.name(), kind.name());
        if made == of { made.to_owned() } else { format!("{made} made of {of}") }
    }

    /// The kind of the file, unless there are several.
    pub fn file(self) -> FileKind {
        match self {
            Self::Jpg => FileKind::Jpg,
            Self::Png => FileKind::Png,
            Self::Pptx => FileKind::Pptx,
            Self::Xlsx => FileKind::Xlsx,
            Self::Docx => FileKind::Docx,
            Self::Html => FileKind::Html,
            Self::Pdf => FileKind::Pdf,
        }
    }
}

impl FileKind {
    /// The file name's extension.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The kind whose extension `name` is.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The media type.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Jpg => "image/jpeg",
            Self::Png => "image/png",
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Html => "text/html; charset=utf-8",
            Self::Pdf => "application/pdf",
            Self::Zip => "application/zip",
        }
    }

    /// Whether a browser may show the file at its address; everything else is an attachment.
    pub fn inline(self) -> bool {
        matches!(self, Self::Jpg | Self::Png | Self::Pdf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kinds_convert_both_ways() {
        for kind in TemplateKind::ALL {
            assert_eq!(TemplateKind::from_name(kind.name()), Some(kind));
        }
        for target in Target::ALL {
            assert_eq!(Target::from_name(target.name()), Some(target));
        }
        for kind in FileKind::VARIANTS {
            assert_eq!(FileKind::from_name(kind.name()), Some(*kind));
        }
        assert_eq!(TemplateKind::from_name("react"), Some(TemplateKind::Framework));
        assert_eq!(TemplateKind::from_name("HTML"), Some(TemplateKind::Html));
        assert_eq!(
            ["JPEG", "Pdf", "gif"].map(Target::from_name),
            [Some(Target::Jpg), Some(Target::Pdf), None]
        );
    }
}
