//! Opens a file that a program has made. Hazard: a program that was taken over may put a link, a pipe or another user's file in
//! its place; the service would read that with its own rights.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use rustix::fs::{Mode, OFlags, openat2};
use rustix::io::Errno;

use super::INSIDE;

const CLOSED: &str = "a file that cannot be read";

/// A file that a program has made. It stays readable after its folder is removed.
#[derive(Debug)]
pub struct Output {
    /// The file, at its beginning.
    pub file: File,
    /// Its length.
    pub bytes: u64,
}

/// Why there is no output. The texts are for the log.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The program has not made it.
    #[error("the program has not made it")]
    Missing,
    /// It is no regular file of the program's own, so hostile input has taken the program over.
    #[error("the program has made {0} in its place")]
    NoFile(&'static str),
    /// It is longer than wanted.
    #[error("it has {bytes} bytes, {limit_bytes} are the limit")]
    TooLong {
        /// Its length.
        bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// The system failed.
    #[error("it cannot be read: {0}")]
    System(#[from] io::Error),
}

/// Opens `name` beneath `files` without following links; accepts only a file of `owner` with a single name.
pub(super) fn open(files: &OwnedFd, name: &str, owner: u32, limit_bytes: u64) -> Result<Output, OutputError> {
    // Not blocking: opening a named pipe would wait for a writer for ever.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file: File = match openat2(files, name, flags, Mode::empty(), INSIDE) {
        Ok(file) => file.into(),
        Err(Errno::NOENT | Errno::NOTDIR) => return Err(OutputError::Missing),
        Err(Errno::LOOP) => return Err(OutputError::NoFile("a link")),
        Err(Errno::XDEV) => return Err(OutputError::NoFile("a way out of its folder")),
        // The program has removed the right to read it, or to enter its folder.
        Err(Errno::ACCESS) => return Err(OutputError::NoFile(CLOSED)),
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
        // A file with a second name may be changed while it is read, or is another user's.
        () if metadata.nlink() != 1 => Some("a file with another name"),
        () if metadata.uid() != owner => Some("somebody else's file"),
        // Root could read it nevertheless; refused, so that root and other users get the same result.
        () if metadata.mode() & 0o400 == 0 => Some(CLOSED),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, FileType, mknodat};

    use super::*;

    fn outcome(files: &OwnedFd, name: &str, owner: u32) -> String {
        match open(files, name, owner, 3) {
            Ok(output) => format!("{} bytes", output.bytes),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn only_a_file_of_the_owner_with_one_name_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, content) in
            [("file", "abc"), ("long", "abcd"), ("one", ""), ("folder/in", ""), ("closed", "")]
        {
            std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            std::fs::write(path(name), content).unwrap();
        }
        std::fs::hard_link(path("one"), path("two")).unwrap();
        symlink("file", path("link")).unwrap();
        symlink("folder", path("way")).unwrap();
        symlink("/proc/self/fd/0", path("magic")).unwrap();
        std::fs::set_permissions(path("closed"), std::fs::Permissions::from_mode(0o0)).unwrap();
        let _listener = UnixListener::bind(path("socket")).unwrap();
        mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let files: OwnedFd = File::open(folder.path()).unwrap().into();
        let owner = nix::unistd::geteuid().as_raw();
        let cases = [
            ("file", "3 bytes"),
            ("folder/in", "0 bytes"),
            ("long", "it has 4 bytes, 3 are the limit"),
            ("one", "the program has made a file with another name in its place"),
            ("two", "the program has made a file with another name in its place"),
            ("closed", "the program has made a file that cannot be read in its place"),
            ("link", "the program has made a link in its place"),
            ("way/in", "the program has made a link in its place"),
            ("magic", "the program has made a link in its place"),
            ("../x", "the program has made a way out of its folder in its place"),
            ("/etc/passwd", "the program has made a way out of its folder in its place"),
            ("socket", "the program has made a socket in its place"),
            ("pipe", "the program has made a named pipe in its place"),
            ("folder", "the program has made a folder in its place"),
            ("nothing", "the program has not made it"),
            ("file/in", "the program has not made it"),
        ];
        for (name, sentence) in cases {
            assert_eq!(outcome(&files, name, owner), sentence, "{name}");
        }
        assert_eq!(
            outcome(&files, "file", owner + 1),
            "the program has made somebody else's file in its place"
        );
    }
}
