//! The font cache on disk, so that it outlives the service: one file, named by the hash of its inputs.
//!
//! Hazard: lualatex executes the cached files. Whoever could write one would run code in the documents of all accounts.
//! So folder and file must belong to this user or root and be writable by no other; links are not followed, and jobs get
//! copies only.

use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, renameat, unlinkat};
use sha2::{Digest as _, Sha256};

use super::super::hash::Key;
use super::Files;
use crate::clock;

const PREFIX: &str = "lualatex-fonts-";
/// The longest file that is read.
const LIMIT_BYTES: u64 = 256 << 20;
/// The file begins with the hash of the rest, so a half-written or damaged file is recognised.
const HASH_BYTES: usize = 32;
/// Group and others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The folder that caches are kept in.
#[derive(Clone, Debug)]
pub(super) struct DiskCache(PathBuf);

impl DiskCache {
    /// The folder at `path`, which need not be there.
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The cache of `key`; nothing where there is none.
    ///
    /// # Errors
    /// When folder or file may be another user's, the file is damaged, or the system fails.
    pub fn read(&self, key: &Key) -> io::Result<Option<Files>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = self.folder().and_then(|folder| Ok(openat(folder, name(key), flags, Mode::empty())?));
        let file = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => File::from(opened?),
        };
        let found = file.metadata()?;
        check(&found)?;
        if !found.is_file() || found.len() > LIMIT_BYTES {
            return Err(damaged());
        }
        let mut content = Vec::new();
        file.take(LIMIT_BYTES).read_to_end(&mut content)?;
        unpacked(content.into()).map(Some).ok_or_else(damaged)
    }

    /// Stores the cache of `key` and deletes those of other keys.
    ///
    /// # Errors
    /// When the folder may be another user's, or the system fails.
    pub fn write(&self, key: &Key, files: &Files) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let (folder, name) = (self.folder()?, name(key));
        let new = format!("{name}.{}", clock::new_id().simple());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(openat(&folder, &new, flags, Mode::from_raw_mode(0o644))?);
        let written =
            file.write_all(&packed(files)).and_then(|()| Ok(renameat(&folder, &new, &folder, &name)?));
        if let Err(error) = written {
            let _ = unlinkat(&folder, &new, AtFlags::empty());
            return Err(error);
        }
        for entry in Dir::read_from(&folder)?.flatten() {
            let other = entry.file_name().to_bytes();
            if other.starts_with(PREFIX.as_bytes()) && other != name.as_bytes() {
                unlinkat(&folder, entry.file_name(), AtFlags::empty())?;
            }
        }
        Ok(())
    }

    fn folder(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = File::from(openat(CWD, &self.0, flags, Mode::empty())?);
        check(&folder.metadata()?)?;
        Ok(folder.into())
    }
}

/// Whether no other user can have written this.
fn check(found: &Metadata) -> io::Result<()> {
    let is_ours = [0, nix::unistd::geteuid().as_raw()].contains(&found.uid());
    if is_ours && found.mode() & WRITABLE_BY_OTHERS == 0 {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user could have written it"))
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is damaged")
}

fn name(key: &Key) -> String {
    use std::fmt::Write as _;
    key.iter().fold(PREFIX.to_owned(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}

/// The file's format: a hash, then names and contents, each after its length.
fn packed(files: &Files) -> Vec<u8> {
    let mut content = vec![0; HASH_BYTES];
    for part in files.iter().flat_map(|(name, file)| [name.as_bytes(), file]) {
        content.extend_from_slice(&(part.len() as u64).to_le_bytes());
        content.extend_from_slice(part);
    }
    let hash = Sha256::digest(&content[HASH_BYTES..]);
    content[..HASH_BYTES].copy_from_slice(&hash);
    content
}

fn unpacked(mut content: Bytes) -> Option<Files> {
    let hash = (content.len() >= HASH_BYTES).then(|| content.split_to(HASH_BYTES))?;
    if *hash != *Sha256::digest(&content) {
        return None;
    }
    let mut files = Vec::new();
    while !content.is_empty() {
        let name = String::from_utf8(part(&mut content)?.into()).ok()?;
        files.push((name, part(&mut content)?));
    }
    Some(files)
}

fn part(content: &mut Bytes) -> Option<Bytes> {
    let length = *content.first_chunk::<8>()?;
    let _ = content.split_to(length.len());
    let length = usize::try_from(u64::from_le_bytes(length)).ok()?;
    (length <= content.len()).then(|| content.split_to(length))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    const KEY: Key = [1; 32];

    fn files() -> Files {
        vec![("names/a.luc".to_owned(), Bytes::from_static(b"one")), ("b".to_owned(), Bytes::new())]
    }

    fn disk() -> (tempfile::TempDir, DiskCache) {
        let root = tempfile::tempdir().unwrap();
        let disk = DiskCache::new(&root.path().join("caches"));
        (root, disk)
    }

    fn entries(disk: &DiskCache) -> Vec<PathBuf> {
        std::fs::read_dir(&disk.0).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn what_was_written_is_read_and_one_is_kept() {
        let (_root, disk) = disk();
        assert!(disk.read(&KEY).unwrap().is_none(), "there is no folder");
        disk.write(&[2; 32], &files()).unwrap();
        assert!(disk.read(&KEY).unwrap().is_none());
        std::fs::write(disk.0.join("another-file"), "").unwrap();
        for _ in 0..2 {
            disk.write(&KEY, &files()).unwrap();
            assert_eq!(disk.read(&KEY).unwrap().unwrap(), files());
        }
        assert_eq!(entries(&disk).len(), 2, "what is not ours stays");
        assert_eq!(disk.0.metadata().unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_another_user_could_have_written_is_not_read() {
        let (root, disk) = disk();
        disk.write(&KEY, &files()).unwrap();
        let file = entries(&disk).remove(0);
        let refused = || disk.read(&KEY).unwrap_err().kind() == io::ErrorKind::PermissionDenied;
        for path in [&disk.0, &file] {
            let mode = path.metadata().unwrap().mode() & 0o7777;
            for open in [0o020, 0o002] {
                std::fs::set_permissions(path, Permissions::from_mode(mode | open)).unwrap();
                assert!(refused(), "{path:?} {open:o}");
            }
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            if nix::unistd::geteuid().is_root() {
                std::os::unix::fs::chown(path, Some(12_345), None).unwrap();
                assert!(refused(), "{path:?}");
                std::os::unix::fs::chown(path, Some(0), None).unwrap();
            }
        }
        assert!(disk.read(&KEY).unwrap().is_some());
        // A link that another user made here would lead to a file that is taken as the cache.
        let other = root.path().join("other");
        std::fs::rename(&file, &other).unwrap();
        symlink(&other, &file).unwrap();
        assert!(disk.read(&KEY).is_err());
        disk.write(&KEY, &files()).unwrap();
        assert!(disk.read(&KEY).unwrap().is_some() && other.exists(), "a link is replaced, not followed");
        let linked = DiskCache::new(&root.path().join("linked"));
        symlink(&disk.0, &linked.0).unwrap();
        assert!(linked.read(&KEY).is_err() && linked.write(&KEY, &files()).is_err());
    }

    #[test]
    fn a_damaged_cache_is_refused() {
        let (_root, disk) = disk();
        disk.write(&KEY, &files()).unwrap();
        let file = entries(&disk).remove(0);
        let whole = std::fs::read(&file).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&file, &whole[..length]).unwrap();
            assert_eq!(disk.read(&KEY).unwrap_err().kind(), io::ErrorKind::InvalidData, "{length}");
        }
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        std::fs::write(&file, changed).unwrap();
        assert!(disk.read(&KEY).is_err());
        // Its hash is right and its lengths are not.
        let wrong = [&Sha256::digest([255; 8])[..], &[255; 8]].concat();
        std::fs::write(&file, wrong).unwrap();
        assert!(disk.read(&KEY).is_err());
    }
}
