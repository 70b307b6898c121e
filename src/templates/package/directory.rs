//! The archive's directory, copied without comments and needless fields: one header for each name.

use std::collections::HashSet;
use std::iter;

use super::{PackageError, paths};

/// How an entry's header in the directory begins.
pub(super) const HEADER: &[u8] = b"PK\x01\x02";
/// A header without name, fields and comment.
pub(super) const HEADER_BYTES: usize = 46;

/// The field with sizes and offsets that are too large for the header (zip64).
const LARGE_FIELD: u64 = 0x0001;
/// The field that holds the name once more, in UTF-8.
const NAME_FIELD: u64 = 0x7075;
/// Its version and the checksum of the name that it is to replace.
const NAME_FIELD_HEAD_BYTES: usize = 5;

/// A directory that is written here.
#[derive(Debug, Default)]
pub(super) struct Directory {
    pub bytes: Vec<u8>,
    pub entries: u64,
    /// Why the archive is refused: a name is there twice.
    pub repeated: Option<PackageError>,
}

struct Header<'a> {
    fixed: &'a [u8],
    name: &'a [u8],
    large: &'a [u8],
}

impl Directory {
    /// Copies the directory of `upload` between these offsets, which has so many entries. The copy is never larger.
    pub fn copy(upload: &[u8], (begin, limit): (usize, usize), entries: u64) -> Result<Self, String> {
        let mut input = &upload[begin..limit];
        let mut copy = Self::default();
        let mut seen = HashSet::new();
        for index in 0..entries {
            let header = Header::cut(&mut input)
                .ok_or_else(|| format!("its directory is cut off at entry {}", index + 1))?;
            if seen.insert(header.name) {
                header.write(&mut copy.bytes);
                copy.entries += 1;
            } else if copy.repeated.is_none() && !may_repeat(header.name) {
                let shown = String::from_utf8_lossy(header.name);
                copy.repeated = Some(paths::twice(&shown, &shown));
            }
        }
        Ok(copy)
    }
}

/// Whether a name may be there twice: that of a folder, or of a file that is dropped.
fn may_repeat(name: &[u8]) -> bool {
    name.ends_with(b"/") || name.ends_with(b"\\") || paths::is_junk(&String::from_utf8_lossy(name))
}

impl<'a> Header<'a> {
    /// The header that `input` begins with, which is taken off it.
    fn cut(input: &mut &'a [u8]) -> Option<Self> {
        let (fixed, after) = input.split_at_checked(HEADER_BYTES)?;
        let [name, extra, comment] = [28, 30, 32].map(|at| length(fixed, at));
        let (name, after) = after.split_at_checked(name)?;
        let (extra, after) = after.split_at_checked(extra)?;
        *input = after.get(comment..)?;
        let content = |id| fields(extra).filter(move |field| number(field, 0, 2) == id);
        let header = Self {
            fixed,
            name: content(NAME_FIELD).filter_map(|field| renamed(name, field)).last().unwrap_or(name),
            large: content(LARGE_FIELD).next().unwrap_or_default(),
        };
        fixed.starts_with(HEADER).then_some(header)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        // Both come from fields with a length of two bytes.
        let length = |part: &[u8]| u16::try_from(part.len()).unwrap_or(u16::MAX).to_le_bytes();
        bytes.extend(&self.fixed[..28]);
        bytes.extend(length(self.name));
        bytes.extend(length(self.large));
        bytes.extend([0; 2]);
        bytes.extend(&self.fixed[34..]);
        bytes.extend(self.name);
        bytes.extend(self.large);
    }
}

/// The fields of a header, each with its number and length; what is cut off, or is no field, ends them.
fn fields(mut extra: &[u8]) -> impl Iterator<Item = &[u8]> {
    iter::from_fn(move || {
        let (field, after) = extra.split_at_checked(4 + length(extra, 2))?;
        extra = after;
        Some(field)
    })
}

/// The name in UTF-8 that `field` holds, if it belongs to `name`: a program that renames an entry without knowing the field
/// keeps that of the former name.
fn renamed<'a>(name: &[u8], field: &'a [u8]) -> Option<&'a [u8]> {
    let (head, renamed) = field.get(4..)?.split_at_checked(NAME_FIELD_HEAD_BYTES)?;
    let meant = head[0] == 1 && number(head, 1, 4) == u64::from(crc32fast::hash(name));
    (meant && !renamed.is_empty() && std::str::from_utf8(renamed).is_ok()).then_some(renamed)
}

fn length(bytes: &[u8], at: usize) -> usize {
    usize::try_from(number(bytes, at, 2)).unwrap_or(usize::MAX)
}

/// The number of `width` bytes at `at`; bytes that are not there count as zeros.
pub(super) fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    bytes.iter().skip(at).take(width).rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
