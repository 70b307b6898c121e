//! The parts of an OpenDocument package.

use std::cell::Cell;
use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::limits::{Error, Limits};

/// All parts together may have so many times the bytes of one.
const ALL_PARTS: u64 = 4;

/// An opened package.
pub struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    limit: u64,
    /// What may still be unpacked of all parts together.
    left: Cell<u64>,
}

impl<'a> Package<'a> {
    /// Opens the package.
    ///
    /// # Errors
    ///
    /// [`Error::Package`] for what is none.
    pub fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, Error> {
        let archive =
            ZipArchive::new(Cursor::new(bytes)).map_err(|error| Error::Package(error.to_string()))?;
        let left = Cell::new(limits.part_bytes.saturating_mul(ALL_PARTS));
        Ok(Self { archive, limit: limits.part_bytes, left })
    }

    /// The names of all parts.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.archive.file_names().filter_map(|name| Some(name.ok()?.into_owned()))
    }

    /// The bytes of a part; nothing if there is none of that name.
    ///
    /// # Errors
    ///
    /// [`Error::Part`] for one that is too large, [`Error::Parts`] where all that were read are, [`Error::Package`] for one that is damaged.
    pub fn part(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let Ok(file) = self.archive.by_name(name) else { return Ok(None) };
        let allowed = self.limit.min(self.left.get());
        let mut bytes = Vec::new();
        file.take(allowed + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Error::Package(format!("{name}: {error}")))?;
        let length = bytes.len() as u64;
        if length > self.limit {
            return Err(Error::Part { name: name.to_owned(), limit: self.limit });
        }
        if length > allowed {
            return Err(Error::Parts { limit: self.limit.saturating_mul(ALL_PARTS) });
        }
        self.left.set(self.left.get() - length);
        Ok(Some(bytes))
    }

    /// A part as text; empty if there is none of that name.
    ///
    /// # Errors
    ///
    /// As [`Package::part`] has them, and [`Error::Package`] for what is not UTF-8.
    pub fn text(&mut self, name: &str) -> Result<String, Error> {
        let bytes = self.part(name)?.unwrap_or_default();
        String::from_utf8(bytes).map_err(|_| Error::Package(format!("{name} is not UTF-8")))
    }
}
