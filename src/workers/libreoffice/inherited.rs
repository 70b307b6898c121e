//! What a document's child has open of its server's, which the server and its later children have open too.

use std::fs::{self, File};
use std::io;
use std::mem;
use std::os::fd::RawFd;

use nix::unistd::close;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::fcntl_dupfd_cloexec;

/// Gives all of it up, in the child, before the child opens its document: files are opened anew, to be read; pipes and
/// whatever else is no file become `/dev/null`.
///
/// Hazard: the cage binds what a process opens, not what it has open. A child that a document has taken over could write
/// through what it inherited, or move where others read: LibreOffice itself keeps a data base open to write to, which
/// documents of other accounts see.
pub(super) fn give_up() -> io::Result<()> {
    let listed = fs::read_dir("/proc/self/fd")?.map(|entry| Ok(entry?.file_name()));
    let numbers = listed.collect::<io::Result<Vec<_>>>()?;
    numbers.iter().filter_map(|name| name.to_str()?.parse().ok()).try_for_each(replace)
}

fn replace(number: RawFd) -> io::Result<()> {
    let path = format!("/proc/self/fd/{number}");
    // The listing's own is closed by now.
    let Ok(about) = fs::metadata(&path) else { return Ok(()) };
    let own = if about.is_file() { File::open(&path) } else { nothing() };
    let own = own.or_else(|_| nothing())?;
    close(number)?;
    // The lowest number from this one on, so this one: no other thread takes it, for a fork has none.
    let kept = fcntl_dupfd_cloexec(own, number)?;
    // It is LibreOffice's.
    mem::forget(kept);
    Ok(())
}

/// It can be written to, for where LibreOffice prints to it.
fn nothing() -> io::Result<File> {
    Ok(File::from(open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?))
}
