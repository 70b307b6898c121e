//! An archive as the library that unpacks it sees it: the bytes of its entries, then a directory and an end record that are
//! written here.
//!
//! Hazard: the library's search for a directory can be misled by bytes that look like one. In the view it finds the right one
//! at once, with each name once.

use std::io::{self, Read, Seek, SeekFrom};

use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;

use super::directory::Directory;
use super::{ArchiveLimits, PackageError, content, end_record, invalid};

#[derive(Debug)]
pub(super) struct View<'a> {
    body: &'a [u8],
    tail: Vec<u8>,
    at: u64,
    /// Whether it begins as Office files do.
    pub is_office: bool,
    /// See [`Directory::repeated`].
    pub repeated: Option<PackageError>,
}

impl<'a> View<'a> {
    /// A view of `upload`, if it is a whole archive of no more entries than `limits` has.
    pub fn of(upload: &'a [u8], limits: &ArchiveLimits) -> Result<Self, PackageError> {
        let is_office = content::seems_office(upload);
        let broken = |why: &str| broken(is_office, why);
        let end = end_record::find(upload).map_err(broken)?;
        // Before anything is allocated for them.
        if end.entries > limits.entries {
            let (entries, limit) = (end.entries, limits.entries);
            return Err(invalid(format!(
                "the archive has {entries} entries, more than {limit} (templates.archive_entries_limit); leave \
                 out what the template does not need, as sources and node_modules"
            )));
        }
        let directory = Directory::copy(upload, end.directory, end.entries).map_err(|why| broken(&why))?;
        let body = &upload[end.base..end.directory.0];
        Ok(Self {
            body,
            tail: end_record::with_end(directory.bytes, body.len() as u64, directory.entries),
            at: 0,
            is_office,
            repeated: directory.repeated,
        })
    }

    fn unread(&self) -> &[u8] {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        let behind = at.saturating_sub(self.body.len());
        self.body.get(at..).filter(|body| !body.is_empty()).or(self.tail.get(behind..)).unwrap_or_default()
    }
}

/// Opens the archive that `reader` shows. Whether it begins as an Office file decides how an error calls it.
pub(super) fn open<R: Read + Seek>(reader: R, is_office: bool) -> Result<ZipArchive<R>, PackageError> {
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    ZipArchive::with_config(config, reader).map_err(|error| broken(is_office, &cause(&error)))
}

/// What the library says of an error, without the words that the sentences here have already.
pub(super) fn cause(error: &ZipError) -> String {
    let text = error.to_string();
    text.strip_prefix("invalid Zip archive: ").unwrap_or(&text).to_owned()
}

fn broken(is_office: bool, why: &str) -> PackageError {
    let (what, remedy) = if is_office {
        ("Office file", "open it in its program, save it anew")
    } else {
        ("archive", "pack it anew, as zip,")
    };
    invalid(format!("the {what} is damaged or cut off ({why}); {remedy} and upload it again"))
}

impl Read for View<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.unread().read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for View<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let length = (self.body.len() + self.tail.len()) as u64;
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
