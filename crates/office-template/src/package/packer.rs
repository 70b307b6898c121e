//! A part that is packed while it is written: unpacked, the cells of a large sheet would take many times the memory.

use std::io::{Cursor, Read, Write};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::error::Error;
use crate::limits::Limit;

/// A part's new content.
pub(crate) enum Content {
    Plain(Vec<u8>),
    /// An archive of one entry, and the entry's unpacked bytes.
    Packed(Vec<u8>, usize),
}

impl Content {
    /// The unpacked content.
    pub(crate) fn plain(&self) -> Result<Vec<u8>, Error> {
        match self {
            Self::Plain(content) => Ok(content.clone()),
            Self::Packed(packed, _) => {
                let mut content = Vec::new();
                let mut archive = ZipArchive::new(Cursor::new(packed)).map_err(|error| failed(&error))?;
                let mut entry = archive.by_index(0).map_err(|error| failed(&error))?;
                entry.read_to_end(&mut content).map_err(|error| failed(&ZipError::Io(error)))?;
                Ok(content)
            }
        }
    }

    /// How many bytes it has unpacked.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Plain(content) => content.len(),
            Self::Packed(_, size) => *size,
        }
    }

    /// Whether it is unpacked and equal to `other`.
    pub(crate) fn is(&self, other: &[u8]) -> bool {
        matches!(self, Self::Plain(content) if content == other)
    }
}

/// Packs what is written to it.
pub(crate) struct Packer {
    writer: ZipWriter<Cursor<Vec<u8>>>,
    written: usize,
    room: usize,
    limit: Limit,
}

impl Packer {
    pub(super) fn new(room: usize, limit: Limit) -> Result<Self, Error> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().large_file(u32::try_from(room).is_err());
        writer.start_file("part", options).map_err(|error| failed(&error))?;
        Ok(Self { writer, written: 0, room, limit })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.written = self.written.saturating_add(bytes.len());
        if self.written > self.room {
            return Err(Error::limit(&self.limit, "the filled document becomes larger than the limit"));
        }
        self.writer.write_all(bytes).map_err(|error| failed(&ZipError::Io(error)))
    }

    pub(super) fn finish(self) -> Result<Content, Error> {
        let packed = self.writer.finish().map_err(|error| failed(&error))?.into_inner();
        Ok(Content::Packed(packed, self.written))
    }
}

/// Writing to memory is not expected to fail.
fn failed(error: &ZipError) -> Error {
    Error::Answer(format!("a part cannot be packed ({error})"))
}
