//! Scratch folders: where foreign programs work, one folder a run, gone with it.
//!
//! ```text
//! <temporary files>/platen-scratch-<id>/     the service's, locked as long as it lives
//!   lock
//!   <id>/                                    one run; the service's
//!     tenant                                 who runs there
//!     files/                                 the program's, private: inputs, what it makes
//!     tmp/                                   the program's, private: its home and temporary files
//! ```

mod output;
mod place;
mod removal;
mod size;
mod tenant;

use std::ffi::CString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, chownat, fchown, mkdirat, openat2, unlinkat};
use tokio::runtime::Handle;

use super::seats::Seat;
use super::spec::{Cage, ChildSpec};
use crate::clock;
pub use output::{Output, OutputError};
pub(super) use place::Place;
pub(super) use size::{Size, Unseen, measure};
pub(super) use tenant::Tenant;

const TENANT: &str = "tenant";
const FILES: &str = "files";
const TEMPORARY: &str = "tmp";
/// How a name below a scratch folder is looked up: never by a link, never out of it, never into another disk.
const INSIDE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// The folder of one run, and the seat of who runs there. Dropped, it is removed on a thread that may take
/// its time, and then the seat is free.
#[derive(Debug)]
pub(super) struct Scratch(Option<Folder>);

#[derive(Debug)]
struct Folder {
    place: Arc<Place>,
    name: CString,
    path: PathBuf,
    top: OwnedFd,
    files: OwnedFd,
    /// Free when the folder is gone: until then its user owns what lies there.
    seat: Seat,
}

impl Scratch {
    /// Makes the folder for who has the seat.
    pub fn create(place: Arc<Place>, seat: Seat) -> io::Result<Self> {
        let name = clock::new_id().simple().to_string();
        let path = place.path().join(&name);
        let name = CString::new(name)?;
        // The seat's user goes through it and does not list it.
        let mode = if seat.user().is_some() { 0o711 } else { 0o700 };
        DirBuilder::new().mode(mode).create(&path)?;
        let top = removal::open_folder(place.folder(), &name)?;
        for folder in [FILES, TEMPORARY] {
            mkdirat(&top, folder, Mode::RWXU)?;
            own(&top, folder, &seat)?;
        }
        let files = removal::open_folder(&top, c"files")?;
        Ok(Self(Some(Folder { place, name, path, top, files, seat })))
    }

    /// Makes room for a further program, when the one before it is dead with all that it started.
    pub fn vacate(&self) -> io::Result<()> {
        match unlinkat(&self.folder()?.top, TENANT, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Where the program starts and finds its inputs.
    pub fn files(&self) -> PathBuf {
        self.path().join(FILES)
    }

    /// Its home, and where its temporary files lie.
    pub fn temporary(&self) -> PathBuf {
        self.path().join(TEMPORARY)
    }

    /// Lets a child live here: as the seat's user, alone, with all its folders here, and with `cage` opened for them.
    pub fn house(&self, spec: ChildSpec, cage: Cage) -> ChildSpec {
        let user = self.0.as_ref().and_then(|folder| folder.seat.user());
        let (files, temporary) = (self.files(), self.temporary());
        let write = cage.write.into_iter().chain([files.clone(), temporary.clone()]).collect();
        let home = temporary.display().to_string();
        ChildSpec {
            user,
            alone: user.is_some(),
            tenant: Some(self.path().join(TENANT)),
            working_directory: files,
            cage: Some(Cage { write, ..cage }),
            ..spec.variable("HOME", &home).variable("TMPDIR", home)
        }
    }

    /// Makes the file `name`, before anybody lives here; folders on the way to it are made too.
    pub fn create_file(&self, name: &str) -> io::Result<File> {
        let folder = self.folder()?;
        let plain = plain_name(name).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
        for (end, _) in plain.match_indices('/') {
            match mkdirat(&folder.files, &plain[..end], Mode::RWXU) {
                Ok(()) => own(&folder.files, &plain[..end], &folder.seat)?,
                Err(rustix::io::Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat2(&folder.files, plain, flags, Mode::RUSR | Mode::WUSR, INSIDE)?;
        if let Some(user) = folder.seat.user() {
            fchown(&file, Some(uid(user.uid)), Some(gid(user.gid)))?;
        }
        Ok(file.into())
    }

    /// The folder with all that is in it, for who [measures](measure) it.
    pub fn watched(&self) -> io::Result<OwnedFd> {
        self.folder()?.top.as_fd().try_clone_to_owned()
    }

    /// Opens what the program has made, after it and all that it started is dead.
    pub fn open(&self, name: &str, limit_bytes: u64) -> Result<Output, OutputError> {
        let folder = self.folder().map_err(OutputError::System)?;
        let owner = folder.seat.user().map_or_else(|| nix::unistd::geteuid().as_raw(), |user| user.uid);
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
            // A runtime that ends drops what it does not run, which removes the folder as well.
            runtime.spawn_blocking(move || drop(folder));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let emptied = removal::empty(&self.top);
        let removed = unlinkat(self.place.folder(), &self.name, AtFlags::REMOVEDIR);
        if let Err(error) = emptied.and(removed.map_err(io::Error::from)) {
            tracing::warn!(path = %self.path.display(), %error, "a scratch folder could not be removed");
        }
    }
}

/// A relative name that leads down only.
fn plain_name(name: &str) -> Option<&str> {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    name.split('/').all(is_plain).then_some(name)
}

fn own(parent: &OwnedFd, name: &str, seat: &Seat) -> io::Result<()> {
    let Some(user) = seat.user() else { return Ok(()) };
    Ok(chownat(parent, name, Some(uid(user.uid)), Some(gid(user.gid)), AtFlags::SYMLINK_NOFOLLOW)?)
}

fn uid(id: u32) -> rustix::fs::Uid {
    rustix::fs::Uid::from_raw(id)
}

fn gid(id: u32) -> rustix::fs::Gid {
    rustix::fs::Gid::from_raw(id)
}
