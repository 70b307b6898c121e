//! What a program has made, opened as what it is: a name in its folder may be anything.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use rustix::fs::{Mode, OFlags, openat2};
use rustix::io::Errno;

use super::INSIDE;

/// A file that a program has made. It stays readable when the folder is gone.
#[derive(Debug)]
pub struct Output {
    /// The file, at its beginning.
    pub file: File,
    /// How long it is.
    pub bytes: u64,
}

/// Why there is no output. The texts are for the log.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The program has not made it.
    #[error("the program has not made it")]
    Missing,
    /// It is something else than a file of the program's own, which only a program makes that hostile input
    /// has taken over.
    #[error("the program has made {0} in its place")]
    NoFile(&'static str),
    /// It is longer than wanted.
    #[error("it has {bytes} bytes, {limit_bytes} are the limit")]
    TooLong {
        /// How long it is.
        bytes: u64,
        /// How long it may be.
        limit_bytes: u64,
    },
    /// The system failed.
    #[error("it cannot be read: {0}")]
    System(#[from] io::Error),
}

/// Opens `name` beneath `files` without following anything, and takes a file of `owner` that has no other name.
pub(super) fn open(files: &OwnedFd, name: &str, owner: u32, limit_bytes: u64) -> Result<Output, OutputError> {
    // Not blocking: a named pipe would wait for a writer for ever, and a device may do anything when it is opened.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file: File = match openat2(files, name, flags, Mode::empty(), INSIDE) {
        Ok(file) => file.into(),
        Err(Errno::NOENT | Errno::NOTDIR) => return Err(OutputError::Missing),
        Err(Errno::LOOP) => return Err(OutputError::NoFile("a link")),
        Err(Errno::XDEV) => return Err(OutputError::NoFile("a way out of its folder")),
        Err(Errno::NXIO) => return Err(OutputError::NoFile("a socket")),
        Err(errno) => return Err(OutputError::System(errno.into())),
    };
    let metadata = file.metadata()?;
    if let Some(what) = what_else(&metadata, owner) {
        return Err(OutputError::NoFile(what));
    }
    let bytes = metadata.len();
    if bytes > limit_bytes {
        return Err(OutputError::TooLong { bytes, limit_bytes });
    }
    Ok(Output { file, bytes })
}

fn what_else(metadata: &Metadata, owner: u32) -> Option<&'static str> {
    let kind = metadata.file_type();
    match () {
        () if kind.is_dir() => Some("a folder"),
        () if kind.is_fifo() => Some("a named pipe"),
        () if kind.is_socket() => Some("a socket"),
        () if !kind.is_file() => Some("a device"),
        // By another name it may be changed while it is read, or is somebody else's file.
        () if metadata.nlink() != 1 => Some("a file with another name"),
        () if metadata.uid() != owner => Some("somebody else's file"),
        () => None,
    }
}
