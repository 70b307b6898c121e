//! A server's two pipes to the service, out of LibreOffice's way: that prints what it likes to standard output.

use std::fs::File;
use std::io;

use nix::unistd::{dup2_stdin, dup2_stdout};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::fcntl_dupfd_cloexec;
use serde::Serialize;

use crate::workers::frame::{self, Saying};

use super::Converted;

/// Standard streams are 0, 1 and 2; ours lie behind them.
const FIRST: i32 = 3;

/// The pipes to the service.
pub(super) struct Pipes {
    input: File,
    output: File,
}

impl Pipes {
    /// Takes standard input and output: what is read from them now is nothing, what is printed is for the log.
    pub fn take() -> io::Result<Self> {
        let input = File::from(fcntl_dupfd_cloexec(io::stdin(), FIRST)?);
        let output = File::from(fcntl_dupfd_cloexec(io::stdout(), FIRST)?);
        dup2_stdin(open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)?;
        dup2_stdout(io::stderr())?;
        Ok(Self { input, output })
    }

    /// Everything is loaded.
    pub fn say_ready(&self) -> io::Result<()> {
        frame::write(&self.output, &Saying::<()>::Ready, &[])
    }

    /// The next document: what is to become of it, and itself. Hazard: what this process holds, children have, also those of
    /// later documents, which may be of others. So it goes from the pipe into files.
    pub fn next(&mut self, open: impl FnOnce() -> io::Result<[File; 2]>) -> io::Result<io::Result<()>> {
        frame::pass(&mut self.input, open)
    }

    /// What came of it, with the file that was made.
    pub fn answer(&self, converted: &Converted, made: Option<(File, u64)>) -> io::Result<()> {
        let said = Saying::Done(converted);
        match made {
            Some((file, length)) => frame::copy(&self.output, &said, file, length),
            None => self.say(&said),
        }
    }

    fn say(&self, said: &impl Serialize) -> io::Result<()> {
        frame::write(&self.output, said, &[])
    }
}
