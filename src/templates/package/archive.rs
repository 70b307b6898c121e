//! Reading an archive that a stranger packed: every entry is looked at before the first one is unpacked.

use std::collections::HashSet;
use std::io::{Cursor, Read as _};

use bytes::Bytes;
use memchr::memmem;
use zip::read::ZipFileEntry;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::paths::{self, Taken, quoted};
use super::{Limits, Package, PackageFault, fault, layout, office, plain_name};
use crate::domain::site::Files;

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// So much is no bomb, however well it was packed: a page of one repeated row may shrink to a thousandth.
const RATIO_FREE_BYTES: u64 = 1 << 20;

const DIRECTORY_HEADER: &[u8] = b"PK\x01\x02";
const DIRECTORY_HEADER_BYTES: usize = 46;

/// A file of the archive that is to be unpacked.
struct Entry {
    index: usize,
    path: String,
    compressed: u64,
    /// What it says of itself.
    size: u64,
}

/// Reads `upload`, an archive: an Office file is kept whole, any other is unpacked.
pub(super) fn read(upload: &Bytes, limits: &Limits) -> Result<Package, PackageFault> {
    let mut archive = open(upload, limits)?;
    if let Some(kind) = office::kind_of(&mut archive) {
        return Ok(Package::single(plain_name(kind), kind, upload.clone()));
    }
    unique(&archive, upload)?;
    let entries = entries(&archive, limits)?;
    apart(&mut archive, &entries)?;
    layout::package(unpack(&mut archive, entries, upload.len() as u64, limits)?)
}

fn open<'a>(upload: &'a [u8], limits: &Limits) -> Result<Archive<'a>, PackageFault> {
    // Counted before anything is kept of them. Entries of an archive inside, stored as it is, count too.
    let entries = memmem::find_iter(upload, DIRECTORY_HEADER).count() as u64;
    if entries > limits.entries {
        let limit = limits.entries;
        return Err(fault(format!(
            "the archive has {entries} entries, more than {limit} (templates.archive_entries_limit); leave out \
             what the template does not need, as sources and node_modules"
        )));
    }
    ZipArchive::new(Cursor::new(upload)).map_err(|error| {
        let why = cause(&error);
        fault(format!("the archive is damaged or cut off ({why}); pack it anew, as zip, and upload it again"))
    })
}

/// The files to unpack, each looked at; folders and what systems leave behind are not among them.
fn entries(archive: &Archive<'_>, limits: &Limits) -> Result<Vec<Entry>, PackageFault> {
    let mut entries = Vec::with_capacity(archive.len());
    let mut taken = Taken::default();
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(|error| {
            fault(format!(
                "the archive's entry {} cannot be read ({}); pack it anew",
                index + 1,
                cause(&error)
            ))
        })?;
        let name = name(&entry);
        let path = paths::clean(&name, limits)?;
        if path.is_empty() || paths::is_junk(&path) {
            continue;
        }
        if is_folder(&name, &entry) {
            taken.folder(&path)?;
            continue;
        }
        usable(&path, &entry)?;
        taken.file(&path)?;
        entries.push(Entry { index, path, compressed: entry.compressed_size(), size: entry.size() });
    }
    Ok(entries)
}

/// The entry's name: UTF-8 where it is that, whatever its flag says, else the letters of the first PCs.
fn name(entry: &ZipFileEntry<'_>) -> String {
    match entry.name() {
        Ok(name) => name.into_owned(),
        Err(_) => String::from_utf8_lossy(entry.name_raw()).into_owned(),
    }
}

/// The type of file among the bits of a Unix mode, which stand above the DOS attributes.
const TYPE_BITS: u32 = 0o170_000;
const FOLDER_TYPE: u32 = 0o040_000;
const DOS_FOLDER: u32 = 0x10;

fn is_folder(name: &str, entry: &ZipFileEntry<'_>) -> bool {
    let attributes = entry.external_attributes();
    let marked = attributes & DOS_FOLDER != 0 && entry.size() == 0;
    name.ends_with(['/', '\\']) || (attributes >> 16) & TYPE_BITS == FOLDER_TYPE || marked
}

fn usable(path: &str, entry: &ZipFileEntry<'_>) -> Result<(), PackageFault> {
    let shown = quoted(path);
    let special = match (entry.external_attributes() >> 16) & TYPE_BITS {
        0o120_000 => Some("a symbolic link"),
        0o010_000 => Some("a pipe"),
        0o020_000 | 0o060_000 => Some("a device"),
        0o140_000 => Some("a socket"),
        _ => None,
    };
    if let Some(special) = special {
        return Err(fault(format!("the archive's entry {shown} is {special}; pack the file itself")));
    }
    if entry.encrypted() {
        return Err(fault(format!("the archive's entry {shown} is encrypted; pack it without a password")));
    }
    let method = entry.compression();
    if method == CompressionMethod::Stored || method == CompressionMethod::Deflated {
        return Ok(());
    }
    let method = method_name(method);
    Err(fault(format!(
        "the archive's entry {shown} is compressed by {method}; pack it by deflate, the usual method"
    )))
}

fn method_name(method: CompressionMethod) -> String {
    const NAMES: [(CompressionMethod, &str); 8] = [
        (CompressionMethod::DEFLATE64, "deflate64"),
        (CompressionMethod::BZIP2, "bzip2"),
        (CompressionMethod::LZMA, "LZMA"),
        (CompressionMethod::ZSTD, "zstd"),
        (CompressionMethod::ZSTD_DEPRECATED, "zstd"),
        (CompressionMethod::XZ, "xz"),
        (CompressionMethod::PPMD, "PPMd"),
        (CompressionMethod::IMPLODE, "implode"),
    ];
    let known = NAMES.iter().find(|(known, _)| *known == method);
    known.map_or_else(|| format!("an unknown method ({method})"), |(_, name)| (*name).to_owned())
}

/// The crate keeps one entry of each name, so a second one is sought in the directory itself. A folder, or
/// what is dropped anyway, may be there twice.
fn unique(archive: &Archive<'_>, upload: &[u8]) -> Result<(), PackageFault> {
    if !archive.has_duplicate_names() {
        return Ok(());
    }
    let start = usize::try_from(archive.central_directory_start()).unwrap_or(usize::MAX);
    let mut seen = HashSet::new();
    for name in (Directory { upload, at: start }) {
        let shown = String::from_utf8_lossy(name);
        if !seen.insert(name) && !name.ends_with(b"/") && !paths::is_junk(&shown) {
            return Err(paths::twice(&shown, &shown));
        }
    }
    // Names may also become equal by a field that holds them once more, in UTF-8.
    if seen.len() == archive.len() {
        return Ok(());
    }
    Err(fault("the archive has two entries of one name; pack each file once"))
}

/// The names in an archive's directory, as they stand there.
struct Directory<'a> {
    upload: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Directory<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.upload.get(self.at..)?;
        let (header, rest) = rest.split_at_checked(DIRECTORY_HEADER_BYTES)?;
        let length = |field: usize| usize::from(u16::from_le_bytes([header[field], header[field + 1]]));
        let name = rest.get(..length(28))?;
        self.at += DIRECTORY_HEADER_BYTES + length(28) + length(30) + length(32);
        header.starts_with(DIRECTORY_HEADER).then_some(name)
    }
}

/// Checks that no bytes belong to two entries: a small archive that is unpacked many times over.
fn apart(archive: &mut Archive<'_>, entries: &[Entry]) -> Result<(), PackageFault> {
    let directory = archive.central_directory_start();
    let mut spans = Vec::with_capacity(entries.len());
    for entry in entries {
        let file = archive.by_index_raw(entry.index).map_err(|error| damaged(&entry.path, &cause(&error)))?;
        let begin = file.header_start();
        let end = file.data_start().unwrap_or(begin).saturating_add(entry.compressed);
        if end > directory {
            return Err(damaged(&entry.path, "it reaches into the archive's directory"));
        }
        spans.push((begin, end, &entry.path));
    }
    spans.sort_unstable();
    for pair in spans.windows(2) {
        let [(_, end, one), (begin, _, other)] = pair else { continue };
        if end > begin {
            let (one, other) = (quoted(one), quoted(other));
            return Err(fault(format!(
                "the archive's entries {one} and {other} share bytes, as in a zip bomb; pack it anew"
            )));
        }
    }
    Ok(())
}

/// Unpacks the files. What counts is what comes out, not what the entries say of themselves.
fn unpack(
    archive: &mut Archive<'_>,
    entries: Vec<Entry>,
    packed: u64,
    limits: &Limits,
) -> Result<Files, PackageFault> {
    let mut files = Files::new();
    let mut total = 0_u64;
    for entry in entries {
        let single = expanded(entry.compressed, limits);
        let whole = expanded(packed, limits).min(limits.bytes).saturating_sub(total);
        let allowed = single.min(whole);
        let content = unpacked(archive, &entry, allowed)?;
        total = total.saturating_add(content.len() as u64);
        if content.len() as u64 > allowed {
            return Err(bomb(&entry.path, single <= whole || entry.size > single, total, limits));
        }
        files.insert(entry.path, content);
    }
    Ok(files)
}

/// What so many packed bytes may become.
fn expanded(compressed: u64, limits: &Limits) -> u64 {
    compressed.saturating_mul(limits.ratio).saturating_add(RATIO_FREE_BYTES)
}

/// The entry's content, or one byte more than `allowed` of it.
fn unpacked(archive: &mut Archive<'_>, entry: &Entry, allowed: u64) -> Result<Bytes, PackageFault> {
    let file = archive.by_index(entry.index).map_err(|error| damaged(&entry.path, &cause(&error)))?;
    // What the entry says of its size is believed only as far as its packed bytes, which are there, make likely.
    let likely = entry.size.min(entry.compressed.saturating_mul(4)).min(allowed);
    let mut content = Vec::with_capacity(usize::try_from(likely).unwrap_or_default());
    let read = file.take(allowed.saturating_add(1)).read_to_end(&mut content);
    read.map_err(|error| damaged(&entry.path, &error.to_string()))?;
    content.shrink_to_fit();
    Ok(Bytes::from(content))
}

fn bomb(path: &str, single: bool, total: u64, limits: &Limits) -> PackageFault {
    let shown = quoted(path);
    let (bytes, ratio) = (limits.bytes, limits.ratio);
    if single {
        return fault(format!(
            "the archive's entry {shown} becomes more than {ratio} times as large when it is unpacked \
             (templates.archive_ratio_limit); pack it by 'store', without compression, if it is meant"
        ));
    }
    if total > bytes {
        return fault(format!(
            "the archive becomes more than {bytes} bytes when it is unpacked (templates.archive_bytes_limit), \
             reached at {shown}; leave out what the template does not need"
        ));
    }
    fault(format!(
        "the archive becomes more than {ratio} times as large when it is unpacked \
         (templates.archive_ratio_limit), reached at {shown}; leave out what the template does not need"
    ))
}

fn damaged(path: &str, why: &str) -> PackageFault {
    let shown = quoted(path);
    fault(format!("the archive's entry {shown} is damaged ({why}); pack it anew and upload it again"))
}

fn cause(error: &ZipError) -> String {
    let told = error.to_string();
    told.strip_prefix("invalid Zip archive: ").unwrap_or(&told).to_owned()
}
