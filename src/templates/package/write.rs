//! The archive of a package, as the store keeps it: the same bytes for the same files.

use std::io::Cursor;

use bytes::Bytes;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, PreparedZipFile, System, ZipWriter};

use super::paths::quoted;
use super::{Package, PackageError, invalid};

/// Extensions of files that are compressed already: doing it again costs time and makes them no smaller.
const COMPRESSED: [&str; 27] = [
    "png", "jpg", "jpeg", "gif", "webp", "avif", "woff", "woff2", "gz", "br", "zst", "zip", "mp4", "webm",
    "mp3", "ogg", "docx", "docm", "xlsx", "xlsm", "pptx", "pptm", "pdf", "jxl", "odt", "ods", "odp",
];

/// A file that would shrink further is stored as it is: the archive can be downloaded, and must not be refused as a bomb when
/// it is uploaded again.
const RATIO_LIMIT: u64 = 100;

pub(super) fn pack(package: &Package) -> Result<Bytes, PackageError> {
    let Some(entry) = package.files.get_key_value(&package.entry) else {
        let entry = quoted(&package.entry);
        return Err(invalid(format!("the template has no file {entry}, which is to be its entry")));
    };
    let others = package.files.iter().filter(|(path, _)| **path != package.entry);
    write_files([entry].into_iter().chain(others))
        .map_err(|error| invalid(format!("the template's archive cannot be written: {error}")))
}

fn write_files<'a>(files: impl Iterator<Item = (&'a String, &'a Bytes)>) -> ZipResult<Bytes> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in files {
        writer.add_prepared_file(prepared(path, content)?)?;
    }
    Ok(Bytes::from(writer.finish()?.into_inner()))
}

fn prepared(path: &str, content: &[u8]) -> ZipResult<PreparedZipFile> {
    let store = || PreparedZipFile::from_data(path, options(CompressionMethod::Stored), content);
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    if content.is_empty() || extension.is_some_and(|extension| COMPRESSED.contains(&extension.as_str())) {
        return store();
    }
    let deflated = PreparedZipFile::from_data(path, options(CompressionMethod::Deflated), content)?;
    let (before, after) = (deflated.uncompressed_size(), deflated.compressed_size());
    if after >= before || before > after.saturating_mul(RATIO_LIMIT) { store() } else { Ok(deflated) }
}

/// Nothing depends on the clock or the machine: the same files give the same bytes.
fn options(method: CompressionMethod) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(method)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .system(System::Unix)
}
