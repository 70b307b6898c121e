//! Writes the files of a form into one zip archive as they arrive.

use std::io::{Cursor, Write as _};

use bytes::Bytes;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::domain::kinds::TemplateKind;
use crate::domain::office_format::OfficeFormat;
use crate::problem::{Code, Problem};

/// An archive being written.
pub(super) struct Files {
    writer: ZipWriter<Cursor<Vec<u8>>>,
    count: u64,
    limit: u64,
    /// The kind that the name of the last file says.
    named: Option<TemplateKind>,
}

impl Files {
    /// An archive of at most `limit` files.
    pub(super) fn new(limit: u64) -> Self {
        Self { writer: ZipWriter::new(Cursor::new(Vec::new())), count: 0, limit, named: None }
    }

    /// Begins the file `path`.
    ///
    /// # Errors
    /// `template_archive_invalid`: too many files, or one that is sent twice.
    pub(super) fn begin(&mut self, path: &str) -> Result<(), Problem> {
        self.count += 1;
        if self.count > self.limit {
            let limit = self.limit;
            let detail = format!("The form has more than {limit} files (templates.archive_entries_limit).");
            return Err(Problem::new(Code::TemplateArchiveInvalid, detail));
        }
        // A fixed time: the same form must give the same bytes, which caches are keyed by.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default());
        let extension = path.rsplit_once('.').map(|(_, extension)| extension);
        self.named = extension.and_then(OfficeFormat::from_extension).map(OfficeFormat::kind);
        self.writer.start_file(path, options).map_err(|error| refused(path, &error))
    }

    /// The Office kind that the file's name says, if the form has one file only.
    pub(super) fn office_kind(&self) -> Option<TemplateKind> {
        self.named.filter(|_| self.count == 1)
    }

    /// Appends to the current file.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.writer.write_all(bytes).map_err(Problem::internal)
    }

    /// The finished template, if there was a file. A single file is the template itself (a page, an Office file, an archive).
    pub(super) fn finish(self) -> Result<Option<Bytes>, Problem> {
        if self.count == 0 {
            return Ok(None);
        }
        let archive = Bytes::from(self.writer.finish().map_err(Problem::internal)?.into_inner());
        if self.count > 1 {
            return Ok(Some(archive));
        }
        let mut reader = ZipArchive::new(Cursor::new(&archive[..])).map_err(Problem::internal)?;
        let only = reader.by_index(0).map_err(Problem::internal)?;
        let begin = only.data_start().and_then(|begin| usize::try_from(begin).ok());
        let (begin, length) = begin.zip(usize::try_from(only.size()).ok()).unwrap_or_default();
        Ok(Some(archive.slice(begin..begin + length)))
    }
}

fn refused(path: &str, error: &ZipError) -> Problem {
    let shown: String = path.chars().take(100).collect();
    let detail = if let ZipError::InvalidArchive(_) = error {
        format!("The form has the file '{shown}' twice; send it once.")
    } else {
        format!("The form's file '{shown}' cannot be taken: {error}.")
    };
    Problem::new(Code::TemplateArchiveInvalid, detail)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn several_files_are_an_archive_and_one_is_itself() {
        let mut files = Files::new(2);
        assert_eq!(Files::new(2).finish().unwrap(), None);
        files.begin("index.html").unwrap();
        files.write(b"<p>").unwrap();
        files.write(b"1").unwrap();
        let mut alone = Files::new(2);
        alone.begin("letter.html").unwrap();
        alone.write(b"<p>1").unwrap();
        assert_eq!(alone.office_kind(), None);
        assert_eq!(alone.finish().unwrap().as_deref(), Some(&b"<p>1"[..]));
        let mut letter = Files::new(2);
        letter.begin("letter.DOCX").unwrap();
        assert_eq!(letter.office_kind(), Some(TemplateKind::Docx));
        letter.begin("picture.docx").unwrap();
        assert_eq!(letter.office_kind(), None, "files of one page");
        let twice = files.begin("index.html").unwrap_err();
        assert!(twice.detail.contains("'index.html' twice"), "{twice}");
        let mut files = Files::new(2);
        for (path, content) in [("index.html", &b"<p>1"[..]), ("img/a.png", b"\x89")] {
            files.begin(path).unwrap();
            files.write(content).unwrap();
        }
        assert!(files.begin("third").unwrap_err().detail.contains("templates.archive_entries_limit"));
        files.count = 2;
        let archive = files.finish().unwrap().unwrap();
        let mut archive = ZipArchive::new(Cursor::new(&archive[..])).unwrap();
        let mut content = Vec::new();
        archive.by_name("img/a.png").unwrap().read_to_end(&mut content).unwrap();
        assert_eq!(content, b"\x89");
    }
}
