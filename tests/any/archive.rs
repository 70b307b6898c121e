//! Any upload is refused with a sentence, or is a package with safe paths that keeps the limits.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use bytes::Bytes;
use platen::config::{Config, TemplatesConfig};
use platen::domain::kinds::TemplateKind;
use platen::templates::package::{Package, PackageError};

/// So many unpacked bytes are accepted at any ratio.
const RATIO_FREE_BYTES: u64 = 1 << 20;
/// A sentence names few files, and shortens them.
const SENTENCE_CHARS: usize = 2_000;

static USUAL: LazyLock<TemplatesConfig> = LazyLock::new(|| Config::default().templates);
/// Limits that a small archive reaches.
static NARROW: LazyLock<TemplatesConfig> = LazyLock::new(|| TemplatesConfig {
    archive_entries_limit: 12,
    archive_bytes_limit: 2 << 20,
    archive_ratio_limit: 20,
    archive_depth_limit: 3,
    archive_path_limit_bytes: 60,
    ..USUAL.clone()
});

/// Reads the upload under narrow limits and under those of the defaults.
pub fn check(upload: &[u8]) {
    let upload = Bytes::copy_from_slice(upload);
    let read = |limits: &TemplatesConfig| {
        let read = Package::read(&upload, limits);
        match &read {
            Ok(package) => check_package(package, &upload, limits),
            Err(error) => check_sentence(error),
        }
        read
    };
    let (in_narrow, in_usual) = (read(&NARROW), read(&USUAL));
    if in_narrow.is_ok() {
        assert_eq!(in_narrow, in_usual, "wider limits change nothing of what narrow ones accept");
    }
    for kind in [TemplateKind::Latex, TemplateKind::Docx] {
        match Package::read_for(Some(kind), &upload, &NARROW) {
            Ok(package) => check_package(&package, &upload, &NARROW),
            Err(error) => check_sentence(&error),
        }
    }
    match Package::check_office(&upload, &NARROW) {
        Ok(()) => {}
        Err(error) => check_sentence(&error),
    }
    let _ = Package::reopen(&upload);
}

fn check_package(package: &Package, upload: &Bytes, limits: &TemplatesConfig) {
    let Package { entry, files, .. } = package;
    assert!(files.contains_key(entry), "the entry {entry:?} is no file");
    // A single file is the upload itself, whatever its size.
    if files.len() == 1 && files.values().all(|content| content == upload) {
        return;
    }
    let bytes: u64 = files.values().map(|content| content.len() as u64).sum();
    assert!(files.len() as u64 <= limits.archive_entries_limit, "{} files", files.len());
    assert!(bytes <= limits.archive_bytes_limit, "{bytes} bytes");
    let expanded = limits.archive_ratio_limit.saturating_mul(upload.len() as u64).max(RATIO_FREE_BYTES);
    assert!(bytes <= expanded, "{bytes} bytes of {}", upload.len());
    let mut names = BTreeSet::new();
    for path in files.keys() {
        check_path(path, limits);
        assert!(names.insert(path.to_lowercase()), "{path:?} is there twice");
    }
    for path in &names {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        assert!(folders.into_iter().all(|folder| !names.contains(folder)), "{path:?} is in a file");
    }
    let packed = package.pack().expect("what was read is packed");
    assert_eq!(&Package::reopen(&packed).expect("what was packed is read"), package);
}

fn check_path(path: &str, limits: &TemplatesConfig) {
    let is_plain = |segment: &str| !matches!(segment, "" | "." | "..");
    assert!(path.split('/').all(is_plain), "{path:?} leads elsewhere");
    assert!(!path.contains('\\') && !path.contains(char::is_control), "{path:?} has such a character");
    let has_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    assert!(!has_drive, "{path:?} is on a drive");
    assert!(path.len() as u64 <= limits.archive_path_limit_bytes, "{path:?} is long");
    assert!(path.matches('/').count() as u64 <= limits.archive_depth_limit, "{path:?} is deep");
}

fn check_sentence(PackageError(sentence): &PackageError) {
    assert!(!sentence.is_empty() && sentence.chars().count() <= SENTENCE_CHARS, "{sentence}");
    assert!(!sentence.contains(char::is_control), "{sentence:?}");
}
