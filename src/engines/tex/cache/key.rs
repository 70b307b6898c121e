//! What the cache is made of: of a machine where anything of that changes, it is another one.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::super::hash::{Hash, Key};
use super::super::needs::TREES;

/// What reads the fonts, and what says where they are.
const FILES: [&str; 4] = [
    "/usr/bin/lualatex",
    "/var/lib/texmf/web2c/luahbtex/lualatex.fmt",
    "/etc/fonts/fonts.conf",
    "/etc/fonts/local.conf",
];
/// Where they are, with all below: a font that comes, goes or is replaced changes the time of its folder.
const FOLDERS: [&str; 7] = [
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/usr/share/texmf/fonts/opentype",
    "/usr/share/texlive/texmf-dist/fonts/opentype",
    "/usr/share/texlive/texmf-dist/fonts/truetype",
    "/usr/local/share/texmf/fonts",
    "/etc/fonts/conf.d",
];
/// So many folders are looked at; without all of them nothing is kept.
const FOLDERS_LIMIT: usize = 20_000;

/// The key of a cache that is made now, of these texts.
///
/// # Errors
/// When a folder cannot be read, or when there are too many.
pub(super) fn key(texts: &[&str]) -> io::Result<Key> {
    let mut hash = Hash::new("fonts of lualatex, 1");
    for text in texts {
        hash.add(text.as_bytes());
    }
    for path in FILES.into_iter().chain(TREES) {
        add(&mut hash, Path::new(path), true)?;
    }
    for folder in folders()? {
        add(&mut hash, &folder, false)?;
    }
    Ok(hash.key())
}

/// A file by its length and time, a folder by its time: the rest may be another one at each start of a container.
fn add(hash: &mut Hash, path: &Path, has_length: bool) -> io::Result<()> {
    let of = |found: Metadata| (if has_length { found.len() } else { 0 }, found.mtime(), found.mtime_nsec());
    let stamp = std::fs::metadata(path).map(of).map(Some).or_else(without_missing)?;
    hash.add(path.as_os_str().as_encoded_bytes());
    hash.add(format!("{stamp:?}").as_bytes());
    Ok(())
}

/// All folders in an order of their own. A link counts as what it leads to, and nobody goes in there.
fn folders() -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left: Vec<_> = FOLDERS.into_iter().map(PathBuf::from).collect();
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).map(Some).or_else(without_missing)?.into_iter().flatten() {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                left.push(entry.path());
            } else if kind.is_symlink() {
                found.push(entry.path());
            }
        }
        found.push(folder);
        if found.len() + left.len() > FOLDERS_LIMIT {
            return Err(io::Error::other("too many folders of fonts"));
        }
    }
    found.sort();
    Ok(found)
}

fn without_missing<T>(error: io::Error) -> io::Result<Option<T>> {
    if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) }
}
