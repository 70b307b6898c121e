//! Reading an archive that a stranger packed: every entry is looked at before the first one is unpacked.

use std::io::{Read, Seek};

use bytes::Bytes;
use zip::read::ZipFileEntry;
use zip::{CompressionMethod, ZipArchive};

use super::paths::{self, Taken, quoted};
use super::view::{View, cause, open};
use super::{Limits, Package, PackageError, fault, layout, office};
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Files;

/// So much is no bomb, however well it was packed: a page of one repeated row may shrink to a thousandth.
const RATIO_FREE_BYTES: u64 = 1 << 20;

/// A file of the archive that is to be unpacked.
struct Entry {
    index: usize,
    path: String,
    compressed: u64,
    /// What it says of itself.
    size: u64,
}

/// Reads `upload`, an archive of a template of the kind that is `wanted`, if that is known: an Office file is kept whole, any other is unpacked.
pub(super) fn read(
    upload: &Bytes,
    wanted: Option<TemplateKind>,
    limits: &Limits,
) -> Result<Package, PackageError> {
    let mut view = View::of(upload, limits)?;
    let repeated = view.repeated.take();
    let is_office = view.is_office;
    let mut archive = open(view, is_office)?;
    if let Some(format) = office::format_of(&mut archive)? {
        office::check_start(format, upload)?;
        check(&mut archive, (upload.len() as u64, repeated), limits)?;
        return Ok(Package::office(format, upload.clone()));
    }
    repeated.map_or(Ok(()), Err)?;
    layout::package(files(&mut archive, upload.len() as u64, limits)?, wanted, limits)
}

/// The files of an archive that takes `packed` bytes.
pub(super) fn files<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    packed: u64,
    limits: &Limits,
) -> Result<Files, PackageError> {
    let entries = entries(archive, limits)?;
    apart(archive, &entries)?;
    unpack(archive, entries, packed, limits)
}

/// Holds an Office file of `packed` bytes, which stays packed, to what its entries say of themselves; `repeated` is what
/// its directory was found to have twice. Whoever unpacks one
/// counts what comes out.
pub(super) fn check<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    (packed, repeated): (u64, Option<PackageError>),
    limits: &Limits,
) -> Result<(), PackageError> {
    if limits.are_kept {
        return Ok(());
    }
    repeated.map_or(Ok(()), Err)?;
    let entries = entries(archive, limits)?;
    apart(archive, &entries)?;
    let (mut total, mut texts) = (0_u64, 0_u64);
    for entry in &entries {
        total = total.saturating_add(entry.size);
        let mut is_bomb = false;
        if office::is_text(&entry.path) {
            texts = texts.saturating_add(entry.size);
            is_bomb = entry.size > expanded(entry.compressed, limits) || texts > expanded(packed, limits);
        }
        if is_bomb || total > limits.bytes {
            return Err(office_bomb(&entry.path, is_bomb, limits));
        }
    }
    Ok(())
}

/// The files to unpack, each looked at; folders and what systems leave behind are not among them.
fn entries<R: Read + Seek>(archive: &ZipArchive<R>, limits: &Limits) -> Result<Vec<Entry>, PackageError> {
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
        let Some(path) = paths::clean(&name, limits)? else { continue };
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

fn usable(path: &str, entry: &ZipFileEntry<'_>) -> Result<(), PackageError> {
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

/// Checks that no bytes belong to two entries: a small archive that is unpacked many times over.
fn apart<R: Read + Seek>(archive: &mut ZipArchive<R>, entries: &[Entry]) -> Result<(), PackageError> {
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
fn unpack<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    entries: Vec<Entry>,
    packed: u64,
    limits: &Limits,
) -> Result<Files, PackageError> {
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
fn unpacked<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    entry: &Entry,
    allowed: u64,
) -> Result<Bytes, PackageError> {
    let file = archive.by_index(entry.index).map_err(|error| damaged(&entry.path, &cause(&error)))?;
    // What the entry says of its size is believed only as far as its packed bytes, which are there, make likely.
    let likely = entry.size.min(entry.compressed.saturating_mul(4)).min(allowed);
    let mut content = Vec::with_capacity(usize::try_from(likely).unwrap_or_default());
    let read = file.take(allowed.saturating_add(1)).read_to_end(&mut content);
    read.map_err(|error| damaged(&entry.path, &error.to_string()))?;
    content.shrink_to_fit();
    Ok(Bytes::from(content))
}

fn bomb(path: &str, single: bool, total: u64, limits: &Limits) -> PackageError {
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

/// The same of an Office file, whose author knows nothing of archives.
fn office_bomb(path: &str, is_packed_well: bool, limits: &Limits) -> PackageError {
    let shown = quoted(path);
    let (bytes, ratio) = (limits.bytes, limits.ratio);
    if is_packed_well {
        return fault(format!(
            "the Office file's part {shown} becomes more than {ratio} times as large when it is unpacked \
             (templates.archive_ratio_limit); save the file anew in Office, and shorten what is repeated in it"
        ));
    }
    fault(format!(
        "the Office file becomes more than {bytes} bytes when it is unpacked (templates.archive_bytes_limit), \
         reached at {shown}; compress its pictures (Picture Format, Compress Pictures) and save it anew"
    ))
}

fn damaged(path: &str, why: &str) -> PackageError {
    let shown = quoted(path);
    fault(format!("the archive's entry {shown} is damaged ({why}); pack it anew and upload it again"))
}
