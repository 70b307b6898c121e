//! The key of the font cache: a hash of all its inputs, so that a cache is never used after fonts or TeX have changed.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::super::hash::{Hash, Key};
use super::super::needs::TREES;
use crate::version::VERSION;

/// The program that reads the fonts, and the configuration that says where they are.
const FILES: [&str; 4] = [
    "/usr/bin/lualatex",
    "/var/lib/texmf/web2c/luahbtex/lualatex.fmt",
    "/etc/fonts/fonts.conf",
    "/etc/fonts/local.conf",
];
/// The folders of fonts, with all folders below.
const FOLDERS: [&str; 7] = [
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/usr/share/texmf/fonts/opentype",
    "/usr/share/texlive/texmf-dist/fonts/opentype",
    "/usr/share/texlive/texmf-dist/fonts/truetype",
    "/usr/local/share/texmf/fonts",
    "/etc/fonts/conf.d",
];
/// Most files that are looked at. With more there is no key, and no cache on disk.
const ENTRIES_LIMIT: usize = 200_000;

/// The key of a cache made now; `texts` are our own inputs: documents and scripts.
///
/// # Errors
/// When the system fails, or there are too many files.
pub(super) fn key(texts: &[&str]) -> io::Result<Key> {
    let mut hash = Hash::new("fonts of lualatex, 2");
    for text in texts.iter().copied().chain([VERSION]) {
        hash.add(text.as_bytes());
    }
    for path in FILES.into_iter().chain(TREES) {
        add(&mut hash, Path::new(path), std::fs::metadata(path).map(Some).or_else(without_missing)?);
    }
    add_all(&mut hash, FOLDERS.into_iter().map(PathBuf::from).collect())?;
    Ok(hash.key())
}

/// A file by length and time, a folder by time. Device and inode are left out: they may change at each start of a container.
fn add(hash: &mut Hash, path: &Path, found: Option<Metadata>) {
    let length = |found: &Metadata| if found.is_dir() { 0 } else { found.len() };
    let stamp = found.map(|found| (length(&found), found.mtime(), found.mtime_nsec()));
    hash.add(path.as_os_str().as_encoded_bytes());
    hash.add(format!("{stamp:?}").as_bytes());
}

/// Adds all files below these folders, sorted. Every file counts: one that is overwritten in place does not change its folder's
/// time. A link counts as its target, and links to folders are not followed. Unreadable ones are unreadable to lualatex, too.
fn add_all(hash: &mut Hash, mut left: Vec<PathBuf>) -> io::Result<()> {
    let mut found = Vec::new();
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).map(Some).or_else(without_missing)?.into_iter().flatten() {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                left.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
        found.push(folder);
        if found.len() + left.len() > ENTRIES_LIMIT {
            return Err(io::Error::other("too many files of fonts"));
        }
    }
    found.sort();
    for path in found {
        add(hash, &path, std::fs::metadata(&path).map(Some).or_else(without_missing)?);
    }
    Ok(())
}

/// A missing or forbidden file is noted as such in the key.
fn without_missing<T>(error: io::Error) -> io::Result<Option<T>> {
    let is_missing = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied);
    if is_missing { Ok(None) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_font_that_is_written_in_its_place_changes_the_key() {
        let root = tempfile::tempdir().unwrap();
        let [folder, font] = ["truetype", "truetype/a.ttf"].map(|path| root.path().join(path));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&font, "one").unwrap();
        let key = || {
            let mut hash = Hash::new("test");
            add_all(&mut hash, vec![root.path().to_owned(), root.path().join("missing")]).unwrap();
            hash.key()
        };
        let (first, time) = (key(), folder.metadata().unwrap().modified().unwrap());
        assert_eq!(key(), first);
        std::fs::write(&font, "other").unwrap();
        assert_eq!(folder.metadata().unwrap().modified().unwrap(), time);
        assert_ne!(key(), first);
    }
}
