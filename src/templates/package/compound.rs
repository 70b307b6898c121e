//! Which of the older Office formats a compound file is ([MS-CFB]), by the streams at its top.
//!
//! Hazard: sectors are chained by numbers that a stranger wrote. So every offset is checked against the length, every
//! chain is followed for a limited number of links, and each entry of the tree is visited once.

use super::{PackageError, invalid};
use crate::domain::office_format::OfficeFormat;

/// The header, and the offsets of what is read of it.
const HEADER_BYTES: u64 = 512;
const SECTOR_SHIFT_AT: u64 = 30;
const DIRECTORY_AT: u64 = 48;
const SHORT_STREAM_AT: u64 = 56;
const FIRST_TABLES_AT: u64 = 68;
const TABLES_AT: u64 = 76;
/// Sectors of the allocation table (FAT) that the header names; a chain (DIFAT) names the others.
const TABLES_IN_HEADER: u64 = 109;
/// The largest number of a sector; greater ones are marks, such as the end of a chain.
const LAST_SECTOR: u64 = 0xffff_fffa;
/// Most sectors of the directory that are read: some ten thousand entries.
const DIRECTORY_LIMIT: usize = 4_096;
/// Most links of the chain that names the table: files up to 2 GB.
const TABLE_CHAIN_LIMIT: u64 = 1 << 9;
const ENTRY_BYTES: u64 = 128;
const NAME_LIMIT_BYTES: u64 = 64;
/// Where Word's main stream has its flags, and which of them says that it is encrypted ([MS-DOC] 2.5.2).
const WORD_FLAGS_AT: u64 = 10;
const WORD_ENCRYPTED: u64 = 0x0100;

/// A compound file, and the sectors of its directory.
struct Compound<'a> {
    bytes: &'a [u8],
    shift: u64,
    directory: Vec<u64>,
}

/// An entry at the top.
struct Stream {
    name: String,
    start: u64,
    size: u64,
}

/// The format of a compound file.
///
/// # Errors
/// A sentence for a file that has a password, is damaged, or none of these formats.
pub(super) fn format(bytes: &[u8]) -> Result<OfficeFormat, PackageError> {
    let damaged = || {
        invalid(
            "the file is a damaged old Office file (.doc, .xls, .ppt); save it anew as .docx, .xlsx or .pptx",
        )
    };
    let compound = Compound::of(bytes).ok_or_else(damaged)?;
    let streams = compound.top();
    let has = |name: &str| streams.iter().any(|stream| stream.name == name);
    let is_protected = ["EncryptedPackage", "EncryptedSummary", "\u{9}DRMContent"].into_iter().any(has);
    if is_protected || compound.is_encrypted_word(&streams) {
        return Err(invalid("the Office file is protected by a password; save it without one"));
    }
    if has("WordDocument") {
        Ok(OfficeFormat::Doc)
    } else if has("Workbook") || has("Book") {
        Ok(OfficeFormat::Xls)
    } else if has("PowerPoint Document") {
        Ok(OfficeFormat::Ppt)
    } else if streams.is_empty() {
        Err(damaged())
    } else {
        Err(invalid(
            "the file is none of Word's, Excel's or PowerPoint's, but another program's of that time (Outlook, Visio, \
             Publisher …); save it as .docx, .xlsx or .pptx",
        ))
    }
}

impl<'a> Compound<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let shift = number(bytes, SECTOR_SHIFT_AT, 2)?;
        // Sectors have 512 bytes or 4,096.
        if shift != 9 && shift != 12 {
            return None;
        }
        let mut compound = Self { bytes, shift, directory: Vec::new() };
        let mut sector = number(bytes, DIRECTORY_AT, 4)?;
        while sector <= LAST_SECTOR && compound.directory.len() < DIRECTORY_LIMIT {
            compound.directory.push(sector);
            sector = compound.next(sector)?;
        }
        Some(compound)
    }

    /// The offset of a sector; the header is as large as one.
    fn offset(&self, sector: u64) -> u64 {
        (sector + 1) << self.shift
    }

    /// The next sector of the chain.
    fn next(&self, sector: u64) -> Option<u64> {
        let a_table = 1 << (self.shift - 2);
        let table = self.table(sector / a_table)?;
        number(self.bytes, self.offset(table) + 4 * (sector % a_table), 4)
    }

    /// The sector of a part of the allocation table.
    fn table(&self, index: u64) -> Option<u64> {
        if index < TABLES_IN_HEADER {
            return number(self.bytes, TABLES_AT + 4 * index, 4).filter(|sector| *sector <= LAST_SECTOR);
        }
        let a_link = (1 << (self.shift - 2)) - 1;
        let (links, within) = ((index - TABLES_IN_HEADER) / a_link, (index - TABLES_IN_HEADER) % a_link);
        if links > TABLE_CHAIN_LIMIT {
            return None;
        }
        let mut sector = number(self.bytes, FIRST_TABLES_AT, 4)?;
        for _ in 0..links {
            sector = number(self.bytes, self.offset(sector) + 4 * a_link, 4)?;
        }
        number(self.bytes, self.offset(sector) + 4 * within, 4).filter(|sector| *sector <= LAST_SECTOR)
    }

    /// The entries at the top: the tree below the root's child.
    fn top(&self) -> Vec<Stream> {
        let a_sector = (1 << self.shift) / ENTRY_BYTES;
        let offset = |entry: u64| {
            let sector = self.directory.get(usize::try_from(entry / a_sector).ok()?)?;
            Some(self.offset(*sector) + ENTRY_BYTES * (entry % a_sector))
        };
        let entries = self.directory.len() as u64 * a_sector;
        let mut is_known = vec![false; usize::try_from(entries).unwrap_or_default()];
        let root = offset(0).and_then(|root| number(self.bytes, root + 76, 4));
        let (mut next, mut streams) = (Vec::from_iter(root), Vec::new());
        while let Some(entry) = next.pop() {
            let known = usize::try_from(entry).ok().and_then(|entry| is_known.get_mut(entry));
            let (Some(known), Some(at)) = (known, offset(entry)) else { continue };
            if !std::mem::replace(known, true) {
                next.extend([68, 72].into_iter().filter_map(|side| number(self.bytes, at + side, 4)));
                streams.extend(self.stream(at));
            }
        }
        streams
    }

    fn stream(&self, at: u64) -> Option<Stream> {
        // With the NUL behind it.
        let length = number(self.bytes, at + NAME_LIMIT_BYTES, 2)?.checked_sub(2)?.min(NAME_LIMIT_BYTES);
        let letters = (0..length / 2).filter_map(|letter| number(self.bytes, at + 2 * letter, 2));
        let letters: Vec<u16> = letters.filter_map(|letter| u16::try_from(letter).ok()).collect();
        Some(Stream {
            name: String::from_utf16_lossy(&letters),
            start: number(self.bytes, at + 116, 4)?,
            size: number(self.bytes, at + 120, 4)?,
        })
    }

    /// Whether Word itself encrypted its main stream.
    fn is_encrypted_word(&self, streams: &[Stream]) -> bool {
        let long = number(self.bytes, SHORT_STREAM_AT, 4).unwrap_or(HEADER_BYTES);
        let Some(main) = streams.iter().find(|stream| stream.name == "WordDocument") else { return false };
        let flags = number(self.bytes, self.offset(main.start) + WORD_FLAGS_AT, 2);
        main.size >= long && flags.is_some_and(|flags| flags & WORD_ENCRYPTED != 0)
    }
}

/// The number in `width` bytes at an offset, if they are there.
fn number(bytes: &[u8], at: u64, width: usize) -> Option<u64> {
    let digits = bytes.get(usize::try_from(at).ok()?..)?.get(..width)?;
    Some(digits.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}
