//! The formats of Office documents: the current ones (docx, xlsx, pptx), which are template kinds of their own, and older and
//! `OpenDocument` ones, which are treated as the kind they correspond to.

use super::kinds::TemplateKind;

/// The format of an Office document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum OfficeFormat {
    /// Word.
    Docx,
    /// Excel.
    Xlsx,
    /// `PowerPoint`.
    Pptx,
    /// A text of `OpenDocument`.
    Odt,
    /// A table of `OpenDocument`.
    Ods,
    /// A presentation of `OpenDocument`.
    Odp,
    /// Word until 2003.
    Doc,
    /// Excel until 2003.
    Xls,
    /// `PowerPoint` until 2003.
    Ppt,
    /// Rich Text Format.
    Rtf,
}

/// First bytes of a compound file (OLE2), the container of the older formats.
pub const COMPOUND_START: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// First bytes of Rich Text.
pub const RTF_START: &[u8] = b"{\\rtf";
/// The first entry of an `OpenDocument` archive (`OpenDocument` 1.3, part 2, 3.3).
const OPEN_DOCUMENT_ENTRY: &[u8] = b"mimetype";
/// Offset of the length of the first entry's name in a zip archive, two bytes.
const ENTRY_LENGTH_AT: usize = 26;
/// Offset of that name.
const ENTRY_NAME_AT: usize = 30;

impl OfficeFormat {
    /// The kind of templates in this format.
    pub fn kind(self) -> TemplateKind {
        match self {
            Self::Docx | Self::Odt | Self::Doc | Self::Rtf => TemplateKind::Docx,
            Self::Xlsx | Self::Ods | Self::Xls => TemplateKind::Xlsx,
            Self::Pptx | Self::Odp | Self::Ppt => TemplateKind::Pptx,
        }
    }

    /// Whether it is a current format, which is a template kind of its own.
    pub fn is_current(self) -> bool {
        self.kind().name() == self.extension()
    }

    /// The extension of file names.
    pub fn extension(self) -> &'static str {
        self.into()
    }

    /// The format by a file's extension in any case, including those of templates, slide shows and files with macros.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Some(match extension.to_ascii_lowercase().as_str() {
            "docx" | "docm" | "dotx" | "dotm" => Self::Docx,
            "xlsx" | "xlsm" | "xltx" | "xltm" => Self::Xlsx,
            "pptx" | "pptm" | "potx" | "potm" | "ppsx" | "ppsm" => Self::Pptx,
            "odt" | "ott" => Self::Odt,
            "ods" | "ots" => Self::Ods,
            "odp" | "otp" => Self::Odp,
            "doc" | "dot" => Self::Doc,
            "xls" | "xlt" => Self::Xls,
            "ppt" | "pot" | "pps" => Self::Ppt,
            "rtf" => Self::Rtf,
            _ => return None,
        })
    }

    /// Whether some Office file may begin with these bytes; a page does not.
    pub fn may_begin_with(start: &[u8]) -> bool {
        [b"PK", COMPOUND_START, RTF_START].iter().any(|first| start.starts_with(first))
    }

    /// The format of a template of this kind by its first bytes, of which 40 are enough. `None` if the kind is not an Office
    /// file's.
    pub fn of_start(kind: TemplateKind, start: &[u8]) -> Option<Self> {
        let is_open = start.starts_with(b"PK") && first_entry(start) == Some(OPEN_DOCUMENT_ENTRY);
        let is_compound = start.starts_with(COMPOUND_START);
        let of = |current, open, compound| {
            Some(if is_open {
                open
            } else if is_compound {
                compound
            } else {
                current
            })
        };
        match kind {
            TemplateKind::Docx if start.starts_with(RTF_START) => Some(Self::Rtf),
            TemplateKind::Docx => of(Self::Docx, Self::Odt, Self::Doc),
            TemplateKind::Xlsx => of(Self::Xlsx, Self::Ods, Self::Xls),
            TemplateKind::Pptx => of(Self::Pptx, Self::Odp, Self::Ppt),
            TemplateKind::Framework | TemplateKind::Latex | TemplateKind::Html | TemplateKind::Ejs => None,
        }
    }

    /// A description for messages, with its article.
    pub fn described(self) -> &'static str {
        match self {
            Self::Docx => "a Word file (.docx)",
            Self::Xlsx => "an Excel workbook (.xlsx)",
            Self::Pptx => "a PowerPoint presentation (.pptx)",
            Self::Odt => "an OpenDocument text (.odt)",
            Self::Ods => "an OpenDocument spreadsheet (.ods)",
            Self::Odp => "an OpenDocument presentation (.odp)",
            Self::Doc => "a file of an old Word (.doc)",
            Self::Xls => "a file of an old Excel (.xls)",
            Self::Ppt => "a file of an old PowerPoint (.ppt)",
            Self::Rtf => "a file in Rich Text Format (.rtf)",
        }
    }
}

/// The name of the first entry of an archive, as far as its beginning goes.
fn first_entry(start: &[u8]) -> Option<&[u8]> {
    let length = start.get(ENTRY_LENGTH_AT..)?.first_chunk::<2>()?;
    start.get(ENTRY_NAME_AT..)?.get(..usize::from(u16::from_le_bytes(*length)))
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::*;

    #[test]
    fn a_format_is_recognized_by_extension_and_by_first_bytes() {
        let zip = |name: &[u8]| {
            let length = u16::try_from(name.len()).unwrap().to_le_bytes();
            [b"PK\x03\x04".as_slice(), &[0; 22], &length, &[0; 2], name, b"application/x"].concat()
        };
        for &format in OfficeFormat::VARIANTS {
            assert_eq!(OfficeFormat::from_extension(&format.extension().to_uppercase()), Some(format));
            assert!(format.described().contains(&format!("(.{})", format.extension())));
            let start = match format {
                OfficeFormat::Docx | OfficeFormat::Xlsx | OfficeFormat::Pptx => zip(b"[Content_Types].xml"),
                OfficeFormat::Odt | OfficeFormat::Ods | OfficeFormat::Odp => zip(b"mimetype"),
                OfficeFormat::Doc | OfficeFormat::Xls | OfficeFormat::Ppt => COMPOUND_START.to_vec(),
                OfficeFormat::Rtf => b"{\\rtf1\\ansi}".to_vec(),
            };
            assert_eq!(OfficeFormat::of_start(format.kind(), &start), Some(format));
            assert_eq!(OfficeFormat::of_start(TemplateKind::Html, &start), None);
        }
        assert_eq!(OfficeFormat::of_start(TemplateKind::Pptx, b"PK"), Some(OfficeFormat::Pptx));
        let other = OfficeFormat::of_start(TemplateKind::Docx, &zip(b"mimetypes.xml"));
        assert_eq!(other, Some(OfficeFormat::Docx), "the whole name counts");
        assert_eq!(OfficeFormat::from_extension("dotm"), Some(OfficeFormat::Docx));
        assert_eq!(OfficeFormat::from_extension("pages"), None);
    }
}
