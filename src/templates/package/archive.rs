//! Unpacks an archive that a stranger packed: every entry is checked before the first one is unpacked.

use std::io::{Read, Seek};

use bytes::Bytes;
use zip::read::ZipFileEntry;
use zip::{CompressionMethod, ZipArchive};

use super::paths::{self, TakenNames, quoted};
use super::view::cause;
use super::{ArchiveLimits, PackageError, invalid};
use crate::domain::site::Files;

/// So many unpacked bytes are accepted at any ratio: a page of one repeated row may shrink to a thousandth.
const RATIO_FREE_BYTES: u64 = 1 << 20;

/// A file of the archive that is to be unpacked.
struct Entry {
    index: usize,
    path: String,
    compressed: u64,
    /// Its size unpacked, as its header declares it.
    size: u64,
}

/// The files of an archive that takes `packed` bytes.
pub(super) fn files<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    packed: u64,
    limits: &ArchiveLimits,
) -> Result<Files, PackageError> {
    let entries = entries(archive, limits)?;
    check_overlaps(archive, &entries)?;
    unpack(archive, entries, packed, limits)
}

/// Holds an Office file of `packed` bytes to the limits by the sizes that its headers declare: it stays packed, and the
/// program that unpacks it counts what comes out. `repeated` says that its directory has a name twice.
pub(super) fn check<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    (packed, repeated): (u64, Option<PackageError>),
    limits: &ArchiveLimits,
) -> Result<(), PackageError> {
    if limits.is_stored {
        return Ok(());
    }
    repeated.map_or(Ok(()), Err)?;
    let entries = entries(archive, limits)?;
    check_overlaps(archive, &entries)?;
    let (mut total, mut texts) = (0_u64, 0_u64);
    for entry in &entries {
        total = total.saturating_add(entry.size);
        let mut is_bomb = false;
        if is_text(&entry.path) {
            texts = texts.saturating_add(entry.size);
            is_bomb = entry.size > expanded(entry.compressed, limits) || texts > expanded(packed, limits);
        }
        if is_bomb || total > limits.bytes {
            return Err(office_bomb(&entry.path, is_bomb, limits));
        }
    }
    Ok(())
}

/// Whether a part is XML. All others stay packed, so how well they are packed does not matter: Office draws a white picture
/// or a plain metafile into a thousandth of its size.
fn is_text(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    matches!(extension.as_deref(), Some("xml" | "rels"))
}

/// The files to unpack, each checked. Folders, and files that systems add by themselves, are not among them.
fn entries<R: Read + Seek>(
    archive: &ZipArchive<R>,
    limits: &ArchiveLimits,
) -> Result<Vec<Entry>, PackageError> {
    let mut entries = Vec::with_capacity(archive.len());
    let mut taken = TakenNames::default();
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(|error| {
            invalid(format!(
                "the archive's entry {} cannot be read ({}); pack it anew",
                index + 1,
                cause(&error)
            ))
        })?;
        let name = name(&entry);
        let Some(path) = paths::clean(&name, limits)? else { continue };
        if is_folder(&name, &entry) {
            taken.folder(&path)?;
            continue;
        }
        check_entry(&path, &entry)?;
        taken.file(&path)?;
        entries.push(Entry { index, path, compressed: entry.compressed_size(), size: entry.size() });
    }
    Ok(entries)
}

/// The entry's name: as UTF-8 where it is valid, whatever its flag says, else in the code page of DOS.
fn name(entry: &ZipFileEntry<'_>) -> String {
    match entry.name() {
        Ok(name) => name.into_owned(),
        Err(_) => String::from_utf8_lossy(entry.name_raw()).into_owned(),
    }
}

/// The type of file in a Unix mode, which is in the bits above the DOS attributes.
const TYPE_BITS: u32 = 0o170_000;
const FOLDER_TYPE: u32 = 0o040_000;
const DOS_FOLDER: u32 = 0x10;

fn is_folder(name: &str, entry: &ZipFileEntry<'_>) -> bool {
    let attributes = entry.external_attributes();
    let marked = attributes & DOS_FOLDER != 0 && entry.size() == 0;
    name.ends_with(['/', '\\']) || (attributes >> 16) & TYPE_BITS == FOLDER_TYPE || marked
}

fn check_entry(path: &str, entry: &ZipFileEntry<'_>) -> Result<(), PackageError> {
    let shown = quoted(path);
    let special = match (entry.external_attributes() >> 16) & TYPE_BITS {
        0o120_000 => Some("a symbolic link"),
        0o010_000 => Some("a pipe"),
        0o020_000 | 0o060_000 => Some("a device"),
        0o140_000 => Some("a socket"),
        _ => None,
    };
    if let Some(special) = special {
        return Err(invalid(format!("the archive's entry {shown} is {special}; pack the file itself")));
    }
    if entry.encrypted() {
        return Err(invalid(format!("the archive's entry {shown} is encrypted; pack it without a password")));
    }
    let method = entry.compression();
    if method == CompressionMethod::Stored || method == CompressionMethod::Deflated {
        return Ok(());
    }
    let method = method_name(method);
    Err(invalid(format!(
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

/// Checks that no bytes belong to two entries: such an archive is small, and unpacks the same bytes many times.
fn check_overlaps<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    entries: &[Entry],
) -> Result<(), PackageError> {
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
            return Err(invalid(format!(
                "the archive's entries {one} and {other} share bytes, as in a zip bomb; pack it anew"
            )));
        }
    }
    Ok(())
}

/// Unpacks the files, and counts what comes out: headers may declare false sizes.
fn unpack<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    entries: Vec<Entry>,
    packed: u64,
    limits: &ArchiveLimits,
) -> Result<Files, PackageError> {
    let mut files = Files::new();
    let mut total = 0_u64;
    for entry in entries {
        let single = expanded(entry.compressed, limits);
        let whole = expanded(packed, limits).min(limits.bytes).saturating_sub(total);
        let allowed = single.min(whole);
        let content = unpack_entry(archive, &entry, allowed)?;
        total = total.saturating_add(content.len() as u64);
        if content.len() as u64 > allowed {
            return Err(bomb(&entry.path, single <= whole || entry.size > single, total, limits));
        }
        files.insert(entry.path, content);
    }
    Ok(files)
}

/// How many bytes so many packed ones may become.
fn expanded(compressed: u64, limits: &ArchiveLimits) -> u64 {
    compressed.saturating_mul(limits.ratio).saturating_add(RATIO_FREE_BYTES)
}

/// The entry's content, or one byte more than `allowed` of it.
fn unpack_entry<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    entry: &Entry,
    allowed: u64,
) -> Result<Bytes, PackageError> {
    let file = archive.by_index(entry.index).map_err(|error| damaged(&entry.path, &cause(&error)))?;
    // Memory is reserved for the declared size only as far as the packed bytes, which are there, make it likely.
    let likely = entry.size.min(entry.compressed.saturating_mul(4)).min(allowed);
    let mut content = Vec::with_capacity(usize::try_from(likely).unwrap_or_default());
    let read = file.take(allowed.saturating_add(1)).read_to_end(&mut content);
    read.map_err(|error| damaged(&entry.path, &error.to_string()))?;
    content.shrink_to_fit();
    Ok(Bytes::from(content))
}

fn bomb(path: &str, single: bool, total: u64, limits: &ArchiveLimits) -> PackageError {
    let shown = quoted(path);
    let (bytes, ratio) = (limits.bytes, limits.ratio);
    if single {
        return invalid(format!(
            "the archive's entry {shown} becomes more than {ratio} times as large when it is unpacked \
             (templates.archive_ratio_limit); pack it by 'store', without compression, if it is meant"
        ));
    }
    if total > bytes {
        return invalid(format!(
            "the archive becomes more than {bytes} bytes when it is unpacked (templates.archive_bytes_limit), \
             reached at {shown}; leave out what the template does not need"
        ));
    }
    invalid(format!(
        "the archive becomes more than {ratio} times as large when it is unpacked \
         (templates.archive_ratio_limit), reached at {shown}; leave out what the template does not need"
    ))
}

/// The same for an Office file: its author does not know that it is an archive.
fn office_bomb(path: &str, is_packed_well: bool, limits: &ArchiveLimits) -> PackageError {
    let shown = quoted(path);
    let (bytes, ratio) = (limits.bytes, limits.ratio);
    if is_packed_well {
        return invalid(format!(
            "the Office file's part {shown} becomes more than {ratio} times as large when it is unpacked \
             (templates.archive_ratio_limit); save the file anew in Office, and shorten what is repeated in it"
        ));
    }
    invalid(format!(
        "the Office file becomes more than {bytes} bytes when it is unpacked (templates.archive_bytes_limit), \
         reached at {shown}; compress its pictures (Picture Format, Compress Pictures) and save it anew"
    ))
}

fn damaged(path: &str, why: &str) -> PackageError {
    let shown = quoted(path);
    invalid(format!("the archive's entry {shown} is damaged ({why}); pack it anew and upload it again"))
}
