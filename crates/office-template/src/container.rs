//! The zip file around a document.
//!
//! Hazard: the file is untrusted and may be a zip bomb or lead out of its folder. Names, sizes and methods of all entries are
//! checked before the first is unpacked, and limits count the bytes that come out, not those that the directory declares. Entries
//! without tags are copied still packed, so nothing in them can change.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{Cursor, Read, Write};

use memchr::memmem;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::error::{Error, quoted};
use crate::limits::Limits;
use crate::package::packer::Content;

/// Bytes to which the limit of the ratio does not apply: a harmless page of one repeated row may shrink to a thousandth.
const RATIO_FREE_BYTES: u64 = 1 << 20;

/// An old Office file, or an encrypted new one.
const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

pub(crate) type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Opens a container and checks all its entries: their declared sizes, names and methods.
pub(crate) fn open<'a>(file: &'a [u8], limits: &Limits) -> Result<Archive<'a>, Error> {
    if let Some(message) = other_kind(file) {
        return Err(Error::NotOffice(message.to_owned()));
    }
    let mut archive = ZipArchive::new(Cursor::new(file)).map_err(|error| {
        Error::NotOffice(format!("this is no Word file, or a damaged one ({})", cause(&error)))
    })?;
    if archive.len() as u64 > limits.entries.value {
        let what = format!("the file contains {} files, more than the limit", archive.len());
        return Err(Error::limit(&limits.entries, &what));
    }
    if archive.has_duplicate_names() {
        return Err(Error::NotOffice(
            "two of the files in it have the same name; save it anew in Word".to_owned(),
        ));
    }
    entries(&archive, file.len() as u64, limits)?;
    if archive.has_overlapping_entries().map_err(|error| damaged("the directory", &error))? {
        return Err(Error::NotOffice("two of the files in it share bytes, as in a zip bomb".to_owned()));
    }
    Ok(archive)
}

/// The entries' numbers by their names in lower case: names of parts ignore case.
pub(crate) fn entries_by_name(archive: &Archive<'_>) -> BTreeMap<String, usize> {
    let names = (0..archive.len()).filter_map(|index| Some((archive.name_for_index(index)?.ok()?, index)));
    names.map(|(name, index)| (name.to_ascii_lowercase(), index)).collect()
}

/// The message for a file that is no container by its first bytes.
fn other_kind(file: &[u8]) -> Option<&'static str> {
    const ENCRYPTED: &[u8] = b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0";
    let is_container = file.starts_with(b"PK");
    if file.starts_with(COMPOUND_FILE) {
        let is_encrypted = memmem::find(file, ENCRYPTED).is_some();
        return Some(if is_encrypted {
            "the file is protected by a password; save it without one"
        } else {
            "this is a file of an old version of Office (.doc); save it as .docx"
        });
    }
    match file {
        [] => Some("the file is empty"),
        [b'%', b'P', b'D', b'F', ..] => Some("this is a PDF and no Word file"),
        [b'{', b'\\', b'r', b't', b'f', ..] => Some("this is a file in Rich Text Format; save it as .docx"),
        _ if is_container => None,
        _ => Some("this is no Word file: a .docx begins with PK"),
    }
}

fn entries(archive: &Archive<'_>, packed: u64, limits: &Limits) -> Result<(), Error> {
    let mut names = HashSet::new();
    let (mut total, mut texts) = (0_u64, 0_u64);
    for index in 0..archive.len() {
        let entry =
            archive.by_index_data(index).map_err(|error| damaged(&format!("file {}", index + 1), &error))?;
        let name = entry.name().map_err(|error| damaged(&format!("file {}", index + 1), &error))?;
        let shown = quoted(&name);
        if !is_plain(&name) {
            let message =
                format!("the name {shown:?} of a file in it leads out of it, or cannot be a file's name");
            return Err(Error::NotOffice(message));
        }
        if !names.insert(name.to_lowercase()) {
            let message = format!("the name {shown:?} is another one's in it but for capital letters");
            return Err(Error::NotOffice(message));
        }
        if entry.encrypted() {
            return Err(Error::NotOffice(format!("{shown} in it is encrypted; save it without a password")));
        }
        if ![CompressionMethod::Stored, CompressionMethod::Deflated].contains(&entry.compression()) {
            return Err(Error::NotOffice(format!(
                "{shown} in it is packed in a way that Office does not use"
            )));
        }
        total = total.saturating_add(entry.size());
        if is_text(&name) {
            texts = texts.saturating_add(entry.size());
            if entry.size() > expanded(entry.compressed_size(), limits) || texts > expanded(packed, limits) {
                return Err(ratio(&shown, limits));
            }
        }
        if total > limits.unpacked_bytes.value {
            return Err(too_large(limits));
        }
    }
    Ok(())
}

/// Whether a file in the container is XML. Other files stay packed, so their ratio is not limited: a white picture or a plain
/// metafile may shrink to a thousandth.
pub(crate) fn is_text(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    matches!(extension.as_deref(), Some("xml" | "rels"))
}

/// The text `xml` of the part `name`, much of which is copied unread when the part is filled.
///
/// # Errors
///
/// [`Error::NotOffice`] where it is not UTF-8: whoever reads the filled file would refuse it.
pub(crate) fn in_utf8(name: &str, xml: Vec<u8>) -> Result<Vec<u8>, Error> {
    let why = || format!("{} cannot be read: it is not written in UTF-8", quoted(name));
    if std::str::from_utf8(&xml).is_ok() { Ok(xml) } else { Err(Error::NotOffice(why())) }
}

/// Whether a name stays inside of the container, on every system.
fn is_plain(name: &str) -> bool {
    let is_absolute = name.starts_with('/') || name.contains([':', '\\', '\0']);
    !name.is_empty() && !is_absolute && name.split('/').all(|part| part != ".." && part != ".")
}

/// How many bytes this many packed ones may become.
fn expanded(packed: u64, limits: &Limits) -> u64 {
    packed.saturating_mul(limits.ratio.value).saturating_add(RATIO_FREE_BYTES)
}

fn too_large(limits: &Limits) -> Error {
    Error::limit(&limits.unpacked_bytes, "the file unpacked is larger than the limit in bytes")
}

fn ratio(name: &str, limits: &Limits) -> Error {
    let what = format!(
        "{name} in it becomes more times as large when it is unpacked than the limit, as in a zip bomb; save the \
         file anew in Word"
    );
    Error::limit(&limits.ratio, &what)
}

/// An entry's content. `room` is how many bytes may still be unpacked in all; the content's length is subtracted.
pub(crate) fn unpack(
    archive: &mut Archive<'_>,
    index: usize,
    room: &mut u64,
    limits: &Limits,
) -> Result<Vec<u8>, Error> {
    let entry = archive.by_index(index).map_err(|error| damaged(&format!("file {}", index + 1), &error))?;
    let name = entry.name().map_or_else(|_| format!("file {}", index + 1), |name| quoted(&name));
    let by_ratio = expanded(entry.compressed_size(), limits);
    let allowed = by_ratio.min(*room);
    let likely = entry.size().min(allowed).min(entry.compressed_size().saturating_mul(16));
    let mut content = Vec::with_capacity(usize::try_from(likely).unwrap_or_default());
    let read = entry.take(allowed.saturating_add(1)).read_to_end(&mut content);
    read.map_err(|error| damaged(&name, &ZipError::Io(error)))?;
    let length = content.len() as u64;
    if length > by_ratio {
        return Err(ratio(&name, limits));
    }
    *room = room.checked_sub(length).ok_or_else(|| too_large(limits))?;
    Ok(content)
}

/// The container with `changed` in place of the entries of these numbers, without those that are `removed`, and with `added`
/// behind them.
pub(crate) fn write(
    archive: &mut Archive<'_>,
    (mut changed, removed): (BTreeMap<usize, Content>, &BTreeSet<usize>),
    added: &[(String, Content)],
) -> Result<Vec<u8>, Error> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for index in (0..archive.len()).filter(|index| !removed.contains(index)) {
        let entry =
            archive.by_index_raw(index).map_err(|error| damaged(&format!("file {}", index + 1), &error))?;
        let name = entry.name().map_or_else(|_| format!("file {}", index + 1), std::borrow::Cow::into_owned);
        let result = match changed.remove(&index) {
            None => writer.raw_copy_file(entry),
            Some(Content::Packed(packed, _)) => copy_packed(&mut writer, &packed, &name),
            Some(Content::Plain(content)) => {
                let options = SimpleFileOptions::default()
                    .compression_method(CompressionMethod::Deflated)
                    .large_file(u32::try_from(content.len()).is_err());
                let options = match entry.last_modified() {
                    Some(time) => options.last_modified_time(time),
                    None => options,
                };
                writer
                    .start_file(name.as_str(), options)
                    .and_then(|()| writer.write_all(&content).map_err(ZipError::Io))
            }
        };
        result.map_err(|error| damaged(&name, &error))?;
    }
    for (name, content) in added {
        let content = match content {
            Content::Plain(content) => content,
            Content::Packed(packed, _) => {
                copy_packed(&mut writer, packed, name).map_err(|error| damaged(name, &error))?;
                continue;
            }
        };
        let options = SimpleFileOptions::default()
            .compression_method(method(name))
            .large_file(u32::try_from(content.len()).is_err());
        let written = writer
            .start_file(name.as_str(), options)
            .and_then(|()| writer.write_all(content).map_err(ZipError::Io));
        written.map_err(|error| damaged(name, &error))?;
    }
    let file = writer.finish().map_err(|error| damaged("the document", &error))?;
    Ok(file.into_inner())
}

/// Copies content that is packed already (the first entry of the container `packed`).
fn copy_packed(writer: &mut ZipWriter<Cursor<Vec<u8>>>, packed: &[u8], name: &str) -> Result<(), ZipError> {
    let mut archive = ZipArchive::new(Cursor::new(packed))?;
    let entry = archive.by_index_raw(0)?;
    writer.raw_copy_file_rename(entry, name)
}

/// Pictures are compressed already, so they are only stored.
fn method(name: &str) -> CompressionMethod {
    match name.rsplit_once('.') {
        Some((_, "png" | "jpeg" | "jpg" | "gif")) => CompressionMethod::Stored,
        _ => CompressionMethod::Deflated,
    }
}

fn damaged(name: &str, error: &ZipError) -> Error {
    Error::NotOffice(format!("the file is damaged at {name} ({}); save it anew in Word", cause(error)))
}

fn cause(error: &ZipError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::{open, unpack};
    use crate::error::Error;
    use crate::limits::{Limit, Limits};
    use std::io::{Cursor, Write};
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    fn limits(ratio: u64) -> Limits {
        let limit = |name| Limit { name, value: 1 << 30 };
        Limits {
            entries: limit("entries"),
            unpacked_bytes: limit("unpacked"),
            ratio: Limit { name: "ratio", value: ratio },
            depth: limit("depth"),
            elements: limit("elements"),
            attributes: limit("attributes"),
            items: limit("items"),
            slides: limit("slides"),
            own_parts: limit("parts"),
            tags: limit("tags"),
            output_bytes: limit("output"),
        }
    }

    #[test]
    fn what_comes_out_counts_and_not_what_the_directory_says() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.start_file("a", SimpleFileOptions::default()).expect("begins");
        writer.write_all(&vec![b' '; 3 << 20]).expect("is written");
        let file = writer.finish().expect("ends").into_inner();
        // Opened with a lax limit, as if the directory declared a wrong size.
        let mut archive = open(&file, &limits(10_000)).expect("opens");
        let refused =
            |result| matches!(result, Err(Error::Limit(message)) if str::contains(&message, "ratio"));
        assert!(refused(unpack(&mut archive, 0, &mut (1 << 30), &limits(1))));
        let mut room = 5 << 20;
        assert_eq!(unpack(&mut archive, 0, &mut room, &limits(10_000)).expect("unpacks").len(), 3 << 20);
        let error =
            unpack(&mut archive, 0, &mut room, &limits(10_000)).expect_err("there is no room for another");
        assert!(matches!(error, Error::Limit(message) if message.contains("unpacked")));
    }
}
