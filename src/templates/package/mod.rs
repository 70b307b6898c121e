//! What an upload holds: decided by its content, not by what somebody says of it. Calls no other room of `templates`.

mod archive;
mod compound;
mod content;
mod directory;
mod end;
mod layout;
mod office;
mod paths;
mod view;
mod write;

#[cfg(test)]
mod tests;

use bytes::Bytes;

use crate::config::TemplatesConfig;
use crate::domain::kinds::TemplateKind;
use crate::domain::office_format::OfficeFormat;
use crate::domain::site::Files;
use content::Content;

/// The files of a template and which of them is the template itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The path of the entry.
    pub entry: String,
    /// What the entry is: `Html`, `Ejs`, `Latex`, `Docx`, `Xlsx` or `Pptx`.
    pub kind: TemplateKind,
    /// Every file, the entry included.
    pub files: Files,
}

/// Why an upload is no template: a sentence that names the entry and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PackageError(pub String);

/// So much text is looked through in a hundredth of a millisecond.
const QUICK_LIMIT_BYTES: usize = 64 << 10;

impl Package {
    /// Reads an upload: an archive is unpacked, an Office file or plain text is the entry by itself.
    /// What is not [quick](Package::is_quick) takes processor time: read it on a thread for blocking work.
    ///
    /// # Errors
    /// See [`PackageError`].
    pub fn read(upload: &Bytes, limits: &TemplatesConfig) -> Result<Self, PackageError> {
        Self::read_for(None, upload, limits)
    }

    /// The same for a job of this kind, whose entry goes before others that the archive may have.
    ///
    /// # Errors
    /// See [`PackageError`].
    pub fn read_for(
        wanted: Option<TemplateKind>,
        upload: &Bytes,
        limits: &TemplatesConfig,
    ) -> Result<Self, PackageError> {
        match content::of(upload) {
            Content::Archive => archive::read(upload, wanted, &Limits::of(limits)),
            Content::Text(kind) => {
                // A text may begin with template code, and have the class in a file that it includes.
                let is_latex = wanted == Some(TemplateKind::Latex) && !content::is_markup(upload);
                let kind = if is_latex { TemplateKind::Latex } else { kind };
                Ok(Self::single(plain_name(kind), kind, upload.clone()))
            }
            Content::Compound => Ok(Self::office(compound::format(upload)?, upload.clone())),
            Content::Rtf => Ok(Self::office(OfficeFormat::Rtf, upload.clone())),
            Content::Empty => {
                Err(fault("the template is empty; upload a page, a zip archive or an Office file"))
            }
            Content::Foreign { what, remedy } => Err(fault(format!("the template is {what}; {remedy}"))),
        }
    }

    /// The package of files that no archive holds.
    ///
    /// # Errors
    /// See [`PackageError`].
    pub fn of_files(files: Files, limits: &TemplatesConfig) -> Result<Self, PackageError> {
        layout::package(files, None, &Limits::of(limits))
    }

    /// Reads what [`Package::pack`] wrote. Its limits were those of the day it was uploaded: a template that
    /// was taken then is not lost because an operator lowered them since, but what no limit ever allowed is not
    /// read either.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn reopen(packed: &Bytes) -> Result<Self, PackageError> {
        archive::read(packed, None, &Limits::WIDEST)
    }

    /// Holds `upload`, of a job for an Office file, to the limits of archives if it is one; what else it may be is found when
    /// it is read.
    /// Takes processor time as [`Package::read`] does.
    ///
    /// # Errors
    /// See [`PackageError`].
    pub fn check_office(upload: &[u8], limits: &TemplatesConfig) -> Result<(), PackageError> {
        match content::of(upload) {
            Content::Archive if !Self::may_be_office(upload) => Err(fault(
                "the archive has other bytes before it, as a program that unpacks itself; upload the Office file, or a zip \
                 archive of it, itself",
            )),
            Content::Archive => office::check(upload, &Limits::of(limits)),
            Content::Compound => compound::format(upload).map(drop),
            Content::Rtf | Content::Text(_) | Content::Empty | Content::Foreign { .. } => Ok(()),
        }
    }

    /// Whether `start`, how an upload begins, is how archives begin, of which Office files are.
    #[must_use]
    pub fn may_be_office(start: &[u8]) -> bool {
        start.starts_with(b"PK")
    }

    /// The archive of these files: the entry first, then the others in the order of their paths.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn pack(&self) -> Result<Bytes, PackageError> {
        write::pack(self)
    }

    /// Whether reading `upload` is no more than a look at a short text; all else belongs on a thread for
    /// blocking work.
    #[must_use]
    pub fn is_quick(upload: &[u8]) -> bool {
        // Every archive has NUL bytes in its headers.
        upload.len() <= QUICK_LIMIT_BYTES && memchr::memchr(0, upload).is_none()
    }

    fn office(format: OfficeFormat, content: Bytes) -> Self {
        Self::single(&format!("index.{}", format.extension()), format.kind(), content)
    }

    fn single(entry: &str, kind: TemplateKind, content: Bytes) -> Self {
        Self { entry: entry.to_owned(), kind, files: Files::from([(entry.to_owned(), content)]) }
    }
}

/// Where a template that is one text lies: pages at `index.html`, for that is the name in every message.
fn plain_name(kind: TemplateKind) -> &'static str {
    match kind {
        TemplateKind::Latex => "index.tex",
        TemplateKind::Html
        | TemplateKind::Ejs
        | TemplateKind::Framework
        // No text is one of these.
        | TemplateKind::Docx
        | TemplateKind::Xlsx
        | TemplateKind::Pptx => "index.html",
    }
}

/// What an archive may hold.
struct Limits {
    entries: u64,
    bytes: u64,
    ratio: u64,
    depth: u64,
    path_bytes: u64,
    /// The archive is kept already, and was held to the limits of its day.
    are_kept: bool,
}

impl Limits {
    /// For what was taken once: more entries than any configuration allows are none of ours. How much a file may
    /// become is not limited, for what is well packed was held to its limits when it came.
    const WIDEST: Self = Self {
        entries: 1 << 17,
        bytes: u64::MAX,
        ratio: u64::MAX,
        depth: u64::MAX,
        path_bytes: u64::MAX,
        are_kept: true,
    };

    fn of(config: &TemplatesConfig) -> Self {
        Self {
            entries: config.archive_entries_limit,
            bytes: config.archive_bytes_limit,
            ratio: config.archive_ratio_limit,
            depth: config.archive_depth_limit,
            path_bytes: config.archive_path_limit_bytes,
            are_kept: false,
        }
    }
}

fn fault(sentence: impl Into<String>) -> PackageError {
    PackageError(sentence.into())
}
