//! The parts of an Office file, as many bytes of them as may be read.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;

pub struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    names: Vec<String>,
    left: u64,
}

impl<'a> Package<'a> {
    pub fn open(bytes: &'a [u8], limit: u64) -> Option<Self> {
        let archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
        let names = archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
        Some(Self { archive, names, left: limit })
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|one| one == name)
    }

    /// The names of parts that begin and end so.
    pub fn named(&self, start: &str, end: &str) -> Vec<String> {
        let fits = |name: &&String| name.starts_with(start) && name.ends_with(end);
        self.names.iter().filter(fits).cloned().collect()
    }

    /// A part; empty where there is none, or no more may be read.
    pub fn part(&mut self, name: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Ok(file) = self.archive.by_name(name) else { return bytes };
        if file.take(self.left).read_to_end(&mut bytes).is_err() {
            return Vec::new();
        }
        self.left -= bytes.len() as u64;
        bytes
    }
}
