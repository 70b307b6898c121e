//! Scratch folders of foreign programs and servers: one a run, removed after it. Only `program` and `server.rs` make them.
//!
//! ```text
//! <temporary files>/platen-scratch-<id>/     owned by the service, locked while it lives
//!   lock
//!   <id>/                                    one run; owned by the service
//!     tenant                                 the record of the process that runs there
//!     files/                                 owned by the program, private: inputs and outputs
//!     tmp/                                   owned by the program, private: its home and temporary files
//! ```

mod output;
mod process_record;
mod removal;
mod root;
mod size;

use std::ffi::CString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, chownat, fchown, mkdirat, openat2, unlinkat};
use tokio::runtime::Handle;

use super::process_slots::ProcessSlot;
use super::spec::{Cage, ChildSpec};
use crate::clock;
pub use output::{Output, OutputError};
pub(super) use process_record::ProcessRecord;
pub(super) use root::ScratchRoot;
pub(super) use size::{Size, Unseen, measure};

const PROCESS_RECORD: &str = "tenant";
const FILES: &str = "files";
const TEMPORARY: &str = "tmp";
/// How a name in a scratch folder is resolved: not through links, not out of the folder, not onto another file system.
const INSIDE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// The folder of one run, and its slot. Dropping this removes the folder on a blocking thread, and then frees the slot.
#[derive(Debug)]
pub(super) struct Scratch(Option<Folder>);

#[derive(Debug)]
struct Folder {
    root: Arc<ScratchRoot>,
    name: CString,
    path: PathBuf,
    top: OwnedFd,
    files: OwnedFd,
    /// Freed after the folder is removed: until then the slot's user owns files there.
    slot: ProcessSlot,
}

impl Scratch {
    /// Makes the folder for a program of the slot.
    pub fn create(root: Arc<ScratchRoot>, slot: ProcessSlot) -> io::Result<Self> {
        let name = clock::new_id().simple().to_string();
        let path = root.path().join(&name);
        let name = CString::new(name)?;
        // The slot's user may enter it, but not list it.
        let mode = if slot.user().is_some() { 0o711 } else { 0o700 };
        DirBuilder::new().mode(mode).create(&path)?;
        let top = removal::open_folder(root.folder(), &name)?;
        for folder in [FILES, TEMPORARY] {
            mkdirat(&top, folder, Mode::RWXU)?;
            own(&top, folder, &slot)?;
        }
        let files = removal::open_folder(&top, c"files")?;
        Ok(Self(Some(Folder { root, name, path, top, files, slot })))
    }

    /// Removes the record of the last program, so that another can run here; the last one must be dead with all that it started.
    pub fn vacate(&self) -> io::Result<()> {
        match unlinkat(&self.folder()?.top, PROCESS_RECORD, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The program's working directory, with its inputs.
    pub fn files(&self) -> PathBuf {
        self.path().join(FILES)
    }

    /// The program's home and folder of temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.path().join(TEMPORARY)
    }

    /// The child's spec for a run in this folder: as the slot's user, with this folder added to what `cage` may write.
    pub fn caged(&self, spec: ChildSpec, cage: Cage) -> ChildSpec {
        let user = self.0.as_ref().and_then(|folder| folder.slot.user());
        let (files, temporary) = (self.files(), self.temporary());
        let write = cage.write.into_iter().chain([files.clone(), temporary.clone()]).collect();
        let home = temporary.display().to_string();
        ChildSpec {
            user,
            alone: user.is_some(),
            process_record: Some(self.path().join(PROCESS_RECORD)),
            working_directory: files,
            cage: Some(Cage { write, ..cage }),
            ..spec.variable("HOME", &home).variable("TMPDIR", home)
        }
    }

    /// Makes the file `name` and its folders, before a program runs here.
    pub fn create_file(&self, name: &str) -> io::Result<File> {
        let folder = self.folder()?;
        let plain = plain_name(name).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
        for (end, _) in plain.match_indices('/') {
            match mkdirat(&folder.files, &plain[..end], Mode::RWXU) {
                Ok(()) => own(&folder.files, &plain[..end], &folder.slot)?,
                Err(rustix::io::Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat2(&folder.files, plain, flags, Mode::RUSR | Mode::WUSR, INSIDE)?;
        if let Some(user) = folder.slot.user() {
            fchown(&file, Some(uid(user.uid)), Some(gid(user.gid)))?;
        }
        Ok(file.into())
    }

    /// The whole folder, to be [measured](measure).
    pub fn watched(&self) -> io::Result<OwnedFd> {
        self.folder()?.top.as_fd().try_clone_to_owned()
    }

    /// Opens a file that the program has made. The program and all that it started must be dead.
    pub fn open(&self, name: &str, limit_bytes: u64) -> Result<Output, OutputError> {
        let folder = self.folder().map_err(OutputError::System)?;
        let owner = folder.slot.user().map_or_else(|| nix::unistd::geteuid().as_raw(), |user| user.uid);
        let name = plain_name(name).ok_or(OutputError::Missing)?;
        output::open(&folder.files, name, owner, limit_bytes)
    }

    fn folder(&self) -> io::Result<&Folder> {
        self.0.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new("/nonexistent"), |folder| &folder.path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Some(folder) = self.0.take() else { return };
        if let Ok(runtime) = Handle::try_current() {
            // A runtime that shuts down drops the closure unrun, which removes the folder as well.
            runtime.spawn_blocking(move || drop(folder));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let emptied = removal::empty(&self.top);
        let removed = unlinkat(self.root.folder(), &self.name, AtFlags::REMOVEDIR);
        if let Err(error) = emptied.and(removed.map_err(io::Error::from)) {
            tracing::warn!(path = %self.path.display(), %error, "a scratch folder could not be removed");
        }
    }
}

/// A relative path without `..`.
fn plain_name(name: &str) -> Option<&str> {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    name.split('/').all(is_plain).then_some(name)
}

fn own(parent: &OwnedFd, name: &str, slot: &ProcessSlot) -> io::Result<()> {
    let Some(user) = slot.user() else { return Ok(()) };
    Ok(chownat(parent, name, Some(uid(user.uid)), Some(gid(user.gid)), AtFlags::SYMLINK_NOFOLLOW)?)
}

fn uid(id: u32) -> rustix::fs::Uid {
    rustix::fs::Uid::from_raw(id)
}

fn gid(id: u32) -> rustix::fs::Gid {
    rustix::fs::Gid::from_raw(id)
}
