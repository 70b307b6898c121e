//! Where an archive's directory lies, by its end record: sought here, because a search that tries whatever looks
//! like a record can be kept busy for days by an archive made for it.

use memchr::memmem;

use super::directory::{HEADER, HEADER_BYTES, number};

/// What the end record says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The archive's first byte: what stands before it is no part of it.
    pub base: usize,
    /// Where the directory begins, and where it ends at the latest.
    pub directory: (usize, usize),
    /// How many entries it has; there is room for so many.
    pub entries: u64,
}

const END: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;
const COMMENT_LIMIT_BYTES: usize = 65_535;

/// The end record of large archives, and what stands between it and the other one.
const LARGE_END: &[u8] = b"PK\x06\x06";
const LARGE_END_BYTES: usize = 56;
const LOCATOR: &[u8] = b"PK\x06\x07";
const LOCATOR_BYTES: usize = 20;

/// A comment, or what somebody appended, may look like an end record; not so often.
const CANDIDATES_LIMIT: usize = 32;

/// The numbers of an end record, by place and width there and in the record of large archives: the disk, that of
/// the directory, the entries on it, all entries, the directory's size and its place.
const NUMBERS: [[usize; 4]; 6] =
    [[4, 2, 16, 4], [6, 2, 20, 4], [8, 2, 24, 8], [10, 2, 32, 8], [12, 4, 40, 8], [16, 4, 48, 8]];

/// The last end record of `upload` that fits what stands before it. Each look at one takes the same short time,
/// whatever the record says.
pub(super) fn find(upload: &[u8]) -> Result<End, &'static str> {
    let skipped = upload.len().saturating_sub(END_BYTES + COMMENT_LIMIT_BYTES);
    let mut told = "it has no end record";
    for (tried, at) in memmem::rfind_iter(&upload[skipped..], END).enumerate() {
        if tried == CANDIDATES_LIMIT {
            return Err("it has many end records, and the last ones fit nothing");
        }
        match end(upload, skipped + at) {
            Ok(end) => return Ok(end),
            // What is wrong with the last one is what the sender wants to know.
            Err(why) if tried == 0 => told = why,
            Err(_) => {}
        }
    }
    Err(told)
}

fn end(upload: &[u8], at: usize) -> Result<End, &'static str> {
    let (record, behind) = upload[at..].split_at_checked(END_BYTES).ok_or("its end record is cut off")?;
    if number(record, 20, 2) > behind.len() as u64 {
        return Err("its comment is cut off");
    }
    let large = large(upload, at);
    let [disk, directory_disk, here, entries, size, start] = NUMBERS.map(|[place, width, in_large, wide]| {
        let value = number(record, place, width);
        let told_there = value == u64::MAX >> (64 - 8 * width);
        large.filter(|_| told_there).map_or(value, |begin| number(upload, begin + in_large, wide))
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
    // It begins at or behind the place that is told, so this neither fails nor wraps.
    let base = usize::try_from(start).map_or(0, |start| begin.saturating_sub(start));
    Ok(End { base, directory: (begin, limit), entries })
}

/// Where the directory begins: so far before its end as it is long, which is right whatever stands before the
/// archive; else where it is told to.
fn begin(upload: &[u8], limit: usize, [entries, size, start]: [u64; 3]) -> Option<usize> {
    let told = usize::try_from(start).ok().filter(|&told| told <= limit)?;
    let long = usize::try_from(size).ok().and_then(|size| limit.checked_sub(size));
    let places = [long.filter(|&begin| begin >= told), Some(told)];
    places.into_iter().flatten().find(|&begin| entries == 0 || upload[begin..limit].starts_with(HEADER))
}

/// The end record of a large archive that belongs to the end record at `at`.
fn large(upload: &[u8], at: usize) -> Option<usize> {
    let locator = at.checked_sub(LOCATOR_BYTES)?;
    let last = locator.checked_sub(LARGE_END_BYTES)?;
    if !upload[locator..].starts_with(LOCATOR) {
        return None;
    }
    let told = usize::try_from(number(upload, locator + 8, 8)).ok()?;
    // With words before the archive it stands further behind: right before the locator, as all programs write it.
    [told, last].into_iter().find(|&begin| {
        let fits = told <= begin && begin <= last && upload[begin..].starts_with(LARGE_END);
        fits && number(upload, begin + 4, 8) == (locator - begin - 12) as u64
    })
}
