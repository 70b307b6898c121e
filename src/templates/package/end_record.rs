//! Finds an archive's directory, by its end record.
//!
//! Hazard: a library that tries whatever looks like a record can be kept busy for days by an archive made for that. So the
//! record is searched here: few candidates are tried, and each takes the same short time whatever it says.

use memchr::memmem;

use super::directory::{HEADER, HEADER_BYTES, number};

/// What the end record says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EndRecord {
    /// The archive's first byte; the bytes before it are no part of it.
    pub base: usize,
    /// Where the directory begins, and where it ends at the latest.
    pub directory: (usize, usize),
    /// How many entries it has; the directory is long enough for them.
    pub entries: u64,
}

pub(super) const END: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;
/// With the longest comment behind it.
pub(super) const END_LIMIT_BYTES: usize = END_BYTES + 65_535;

/// The end record of large archives, and the locator between it and the other one.
const LARGE_END: &[u8] = b"PK\x06\x06";
const LARGE_END_BYTES: usize = 56;
const LOCATOR: &[u8] = b"PK\x06\x07";
const LOCATOR_BYTES: usize = 20;

/// A comment, or appended bytes, may look like an end record, but not more often than this.
const CANDIDATES_LIMIT: usize = 32;

/// The numbers of an end record, by offset and width there and in the record of large archives: the disk, that of the
/// directory, the entries on it, all entries, the directory's size and its offset.
const NUMBERS: [[usize; 4]; 6] =
    [[4, 2, 16, 4], [6, 2, 20, 4], [8, 2, 24, 8], [10, 2, 32, 8], [12, 4, 40, 8], [16, 4, 48, 8]];

/// The last end record of `upload` that fits the bytes before it; where none does, what is wrong with the last one.
pub(super) fn find(upload: &[u8]) -> Result<EndRecord, &'static str> {
    let skipped = upload.len().saturating_sub(END_LIMIT_BYTES);
    let mut wrong = "it has no end record";
    for (tried, at) in memmem::rfind_iter(&upload[skipped..], END).enumerate() {
        if tried == CANDIDATES_LIMIT {
            return Err("it has many end records, and the last ones fit nothing");
        }
        match read(upload, skipped + at) {
            Ok(end) => return Ok(end),
            // The others may be bytes of a comment: only the last one helps the sender.
            Err(why) if tried == 0 => wrong = why,
            Err(_) => {}
        }
    }
    Err(wrong)
}

fn read(upload: &[u8], at: usize) -> Result<EndRecord, &'static str> {
    let (record, behind) = upload[at..].split_at_checked(END_BYTES).ok_or("its end record is cut off")?;
    if number(record, 20, 2) > behind.len() as u64 {
        return Err("its comment is cut off");
    }
    let large = large(upload, at);
    let [disk, directory_disk, here, entries, size, start] =
        NUMBERS.map(|[offset, width, in_large, wide]| {
            let value = number(record, offset, width);
            let is_in_large = value == u64::MAX >> (64 - 8 * width);
            large.filter(|_| is_in_large).map_or(value, |begin| number(upload, begin + in_large, wide))
        });
    if disk != 0 || directory_disk != 0 || here != entries {
        return Err("it is a part of one that was split over several disks");
    }
    let limit = large.unwrap_or(at);
    let begin =
        begin(upload, limit, [entries, size, start]).ok_or("its directory is not where it should be")?;
    if entries > ((limit - begin) / HEADER_BYTES) as u64 {
        return Err("its directory has no room for the entries it is said to have");
    }
    // The directory begins at or behind the offset that the record says, so this neither fails nor wraps.
    let base = usize::try_from(start).map_or(0, |start| begin.saturating_sub(start));
    Ok(EndRecord { base, directory: (begin, limit), entries })
}

/// Where the directory begins: its size before its end, which is right whatever bytes precede the archive; else where
/// the record says.
fn begin(upload: &[u8], limit: usize, [entries, size, start]: [u64; 3]) -> Option<usize> {
    let declared = usize::try_from(start).ok().filter(|&declared| declared <= limit)?;
    let long = usize::try_from(size).ok().and_then(|size| limit.checked_sub(size));
    let candidates = [long.filter(|&begin| begin >= declared), Some(declared)];
    candidates.into_iter().flatten().find(|&begin| entries == 0 || upload[begin..limit].starts_with(HEADER))
}

/// The end record of a large archive that belongs to the end record at `at`.
fn large(upload: &[u8], at: usize) -> Option<usize> {
    let locator = at.checked_sub(LOCATOR_BYTES)?;
    let last = locator.checked_sub(LARGE_END_BYTES)?;
    if !upload[locator..].starts_with(LOCATOR) {
        return None;
    }
    let declared = usize::try_from(number(upload, locator + 8, 8)).ok()?;
    // With bytes before the archive it is further behind: right before the locator, as all programs write it.
    [declared, last].into_iter().find(|&begin| {
        let fits = declared <= begin && begin <= last && upload[begin..].starts_with(LARGE_END);
        fits && number(upload, begin + 4, 8) == (locator - begin - 12) as u64
    })
}

/// A directory of so many entries that begins at `start`, with its end record behind it: that of large archives, which has
/// room for every number.
pub(super) fn with_end(directory: Vec<u8>, start: u64, entries: u64) -> Vec<u8> {
    let (size, mut bytes) = (directory.len() as u64, directory);
    bytes.extend(LARGE_END);
    // Its length behind this number, versions of the writer and of readers, two disks.
    bytes.extend((LARGE_END_BYTES as u64 - 12).to_le_bytes());
    bytes.extend(b"\x2d\0\x2d\0\0\0\0\0\0\0\0\0");
    for number in [entries, entries, size, start] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(LOCATOR);
    bytes.extend([0; 4]);
    bytes.extend((start + size).to_le_bytes());
    bytes.extend([1, 0, 0, 0]);
    bytes.extend(END);
    // The disks; numbers that are in the other record; no comment.
    bytes.extend([0; 4]);
    bytes.extend([0xff; 12]);
    bytes.extend([0; 2]);
    bytes
}
