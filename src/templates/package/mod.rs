//! What an upload is, decided by its content and not by its name or header: a page, an Office file, an archive of files.
//!
//! Hazard: uploads are made by strangers. Every entry of an archive is checked before the first one is unpacked, and
//! limits count what comes out, not what its headers declare. Calls no other folder of `templates`; everything that
//! reads an upload calls [`Package`].

mod archive;
mod compound;
mod content;
mod directory;
mod end_record;
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
use content::ContentKind;
use office::Opened;
use view::View;

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

/// Why an upload is no template: a sentence that names the entry, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PackageError(pub String);

fn invalid(sentence: impl Into<String>) -> PackageError {
    PackageError(sentence.into())
}

/// The longest upload that [`Package::is_quick`] accepts. Searching so much text takes about 10 µs, less than a blocking
/// thread costs.
const QUICK_LIMIT_BYTES: usize = 64 << 10;

impl Package {
    /// Reads an upload: an archive is unpacked, an Office file or a text is the entry by itself. Unless it is
    /// [quick](Package::is_quick) that takes processor time, and belongs on a thread for blocking work.
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
            ContentKind::Archive => Self::read_archive(upload, wanted, &ArchiveLimits::of(limits)),
            ContentKind::Text(kind) => {
                // A text may begin with template code, and have the class in a file that it includes.
                let is_latex = wanted == Some(TemplateKind::Latex) && !content::is_markup(upload);
                let kind = if is_latex { TemplateKind::Latex } else { kind };
                // A page is `index.html`, the name that messages have.
                let name = if kind == TemplateKind::Latex { "index.tex" } else { "index.html" };
                Ok(Self::single(name, kind, upload.clone()))
            }
            ContentKind::Compound => Ok(Self::office(compound::format(upload)?, upload.clone())),
            ContentKind::Rtf => Ok(Self::office(OfficeFormat::Rtf, upload.clone())),
            ContentKind::Empty => {
                Err(invalid("the template is empty; upload a page, a zip archive or an Office file"))
            }
            ContentKind::Foreign { what, remedy } => {
                Err(invalid(format!("the template is {what}; {remedy}")))
            }
        }
    }

    /// The package of files that no archive holds.
    ///
    /// # Errors
    /// See [`PackageError`].
    pub fn of_files(files: Files, limits: &TemplatesConfig) -> Result<Self, PackageError> {
        layout::package(files, None, &ArchiveLimits::of(limits))
    }

    /// Reads what [`Package::pack`] wrote. It was held to the limits of the day on which it was uploaded, so a template is not
    /// lost when an operator lowers them. What no configuration ever allowed is not read.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn reopen(packed: &Bytes) -> Result<Self, PackageError> {
        Self::read_archive(packed, None, &ArchiveLimits::WIDEST)
    }

    /// Holds `upload`, of a job for an Office file, to the limits of archives if it is one; what else it may be is found when
    /// it is read. Takes processor time as [`Package::read`] does.
    ///
    /// # Errors
    /// See [`PackageError`].
    pub fn check_office(upload: &[u8], limits: &TemplatesConfig) -> Result<(), PackageError> {
        match content::of(upload) {
            ContentKind::Archive if !Self::may_be_office(upload) => Err(invalid(
                "the archive has other bytes before it, as a program that unpacks itself; upload the Office file, or a zip \
                 archive of it, itself",
            )),
            ContentKind::Archive => office::check(upload, &ArchiveLimits::of(limits)),
            ContentKind::Compound => compound::format(upload).map(drop),
            ContentKind::Rtf | ContentKind::Text(_) | ContentKind::Empty | ContentKind::Foreign { .. } => {
                Ok(())
            }
        }
    }

    /// Whether an upload that begins with `start` may be an Office file that is an archive.
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

    /// Whether `upload` is a short text, which is read at once; all else belongs on a thread for blocking work.
    pub fn is_quick(upload: &[u8]) -> bool {
        // Every archive has NUL bytes in its headers.
        upload.len() <= QUICK_LIMIT_BYTES && memchr::memchr(0, upload).is_none()
    }

    /// Reads an archive of a template of the kind that is `wanted`, if that is known: an Office file is kept whole, any other
    /// is unpacked.
    fn read_archive(
        upload: &Bytes,
        wanted: Option<TemplateKind>,
        limits: &ArchiveLimits,
    ) -> Result<Self, PackageError> {
        let Opened { mut archive, format, repeated } =
            office::opened(View::of(upload, limits)?, upload, limits)?;
        if let Some(format) = format {
            return Ok(Self::office(format, upload.clone()));
        }
        repeated.map_or(Ok(()), Err)?;
        layout::package(archive::files(&mut archive, upload.len() as u64, limits)?, wanted, limits)
    }

    fn office(format: OfficeFormat, content: Bytes) -> Self {
        Self::single(&format!("index.{}", format.extension()), format.kind(), content)
    }

    fn single(entry: &str, kind: TemplateKind, content: Bytes) -> Self {
        Self { entry: entry.to_owned(), kind, files: Files::from([(entry.to_owned(), content)]) }
    }
}

/// What an archive may hold.
struct ArchiveLimits {
    entries: u64,
    bytes: u64,
    ratio: u64,
    depth: u64,
    path_bytes: u64,
    /// For an archive that is stored already, and was held to limits when it was uploaded.
    is_stored: bool,
}

impl ArchiveLimits {
    /// For a stored archive: as many entries as the widest configuration allows, and files as large as they are.
    const WIDEST: Self = Self {
        entries: 1 << 17,
        bytes: u64::MAX,
        ratio: u64::MAX,
        depth: u64::MAX,
        path_bytes: u64::MAX,
        is_stored: true,
    };

    fn of(config: &TemplatesConfig) -> Self {
        Self {
            entries: config.archive_entries_limit,
            bytes: config.archive_bytes_limit,
            ratio: config.archive_ratio_limit,
            depth: config.archive_depth_limit,
            path_bytes: config.archive_path_limit_bytes,
            is_stored: false,
        }
    }
}
