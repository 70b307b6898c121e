//! A server: its folders, its profile, what it loads ahead, and the loop over documents.
//!
//! ```text
//! files/settings/    LibreOffice's settings, written once
//! files/profile/     LibreOffice's user profile; children only read it
//! files/work/        LibreOffice's temporary folder and a document's only writable one: made anew for each document,
//!                    under the same name, for LibreOffice remembers that from its start
//! ```

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lok::{Kit, Place};
use nix::unistd::{dup2_stdin, dup2_stdout};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::fcntl_dupfd_cloexec;

use super::document::{DocumentFolder, LOAD_OPTIONS, convert};
use super::{COMMAND, Converted, ServerOptions};
use crate::workers::child;
use crate::workers::frame::{self, ChildMessage};

const SETTINGS: &str = include_str!("../../../assets/libreoffice/settings.xcu");

/// One document of each kind. Children inherit what LibreOffice loads for them.
const WARM: [(&str, &[u8]); 3] = [
    ("warm.docx", include_bytes!("../../../assets/libreoffice/warm.docx")),
    ("warm.xlsx", include_bytes!("../../../assets/libreoffice/warm.xlsx")),
    ("warm.pptx", include_bytes!("../../../assets/libreoffice/warm.pptx")),
];

/// The exit code of a server that cannot go on; the reason is on standard error.
const FAILED: u8 = 1;

/// Runs a server until its input ends.
pub(in crate::workers) fn run(arguments: &[OsString]) -> ExitCode {
    child::run(COMMAND, arguments, |options| serve(options).map(|never| match never {}))
}

/// Returns only where LibreOffice does not run, with the cause.
fn serve(options: ServerOptions) -> Result<Infallible, String> {
    let pipes = Pipes::take().map_err(|error| format!("has no pipes: {error}"))?;
    let folder = std::env::current_dir().map_err(|error| format!("is nowhere: {error}"))?;
    let [settings, profile, work] = ["settings", "profile", "work"].map(|name| folder.join(name));
    create_folders(&settings, &profile, &work)
        .map_err(|error| format!("cannot make its folders: {error}"))?;
    let place =
        Place { programs: &options.programs, profile: &profile, settings: &settings, temporary: &work };
    let kit = Kit::start(&place).map_err(|error| error.to_string())?;
    let mut own = Some((options, pipes));
    kit.run(|kit| {
        let Some((options, pipes)) = own.take() else { return FAILED };
        let ended = warm_up(kit, &work).and_then(|folders| {
            kit.settle();
            let documents = DocumentFolder::new(options, work.clone(), profile.clone(), folders);
            work_on(kit, &documents, pipes)
        });
        let Err(cause) = ended else { return 0 };
        let _ = writeln!(io::stderr(), "{COMMAND}: {cause}");
        FAILED
    })
}

fn create_folders(settings: &Path, profile: &Path, work: &Path) -> io::Result<()> {
    fs::create_dir(work)?;
    fs::create_dir(profile)?;
    fs::create_dir_all(settings.join("data"))?;
    fs::write(settings.join("data/platen.xcu"), SETTINGS)
}

/// Converts a document of each kind; returns the folders that LibreOffice has made in its temporary folder.
fn warm_up(kit: &Kit, work: &Path) -> Result<Vec<PathBuf>, String> {
    for (name, bytes) in WARM {
        let path = work.join(name);
        fs::write(&path, bytes).map_err(|error| format!("{name}: {error}"))?;
        let document = kit.load(&path, LOAD_OPTIONS).map_err(|error| format!("{name}: {error}"))?;
        let result = path.with_extension("pdf");
        document.save_as(&result, "pdf", "").map_err(|error| format!("{name}: {error}"))?;
        drop(document);
        fs::remove_file(&path).and_then(|()| fs::remove_file(result)).map_err(|error| error.to_string())?;
    }
    let old = work.with_file_name("begun");
    let mut folders = Vec::new();
    list_folders(work, Path::new(""), &mut folders).map_err(|error| error.to_string())?;
    // Moved, not removed: LibreOffice may have some of these files open.
    fs::rename(work, old).map_err(|error| error.to_string())?;
    Ok(folders)
}

fn list_folders(root: &Path, below: &Path, folders: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let path = below.join(entry.file_name());
            folders.push(path.clone());
            list_folders(root, &path, folders)?;
        }
    }
    Ok(())
}

/// Converts one document after the other, until the service closes the pipe.
fn work_on(kit: &Kit, documents: &DocumentFolder, mut pipes: Pipes) -> Result<(), String> {
    loop {
        let received = match pipes.next(|| documents.prepare()) {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        let (converted, result) = match received {
            Ok(()) => convert(kit, documents),
            Err(cause) => (Converted::Broken(cause.to_string()), None),
        };
        pipes.answer(&converted, result).map_err(|error| error.to_string())?;
        documents.clear().map_err(|error| format!("cannot remove a document's folder: {error}"))?;
    }
}

/// The first descriptor after the standard streams.
const FIRST: i32 = 3;

/// A server's two pipes to the service. LibreOffice prints to standard output, so they are moved to other descriptors.
struct Pipes {
    input: File,
    output: File,
}

impl Pipes {
    /// Moves the pipes: standard input becomes empty, and standard output goes to the log.
    fn take() -> io::Result<Self> {
        let input = File::from(fcntl_dupfd_cloexec(io::stdin(), FIRST)?);
        let output = File::from(fcntl_dupfd_cloexec(io::stdout(), FIRST)?);
        dup2_stdin(open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)?;
        dup2_stdout(io::stderr())?;
        Ok(Self { input, output })
    }

    /// Sends `Ready`, and receives the next job and its document. Hazard: children inherit this process' memory, also those for
    /// later documents of other accounts. So both go from the pipe straight into files.
    fn next(&mut self, open: impl FnOnce() -> io::Result<[File; 2]>) -> io::Result<io::Result<()>> {
        frame::write(&self.output, &ChildMessage::<()>::Ready, &[])?;
        frame::pass(&mut self.input, open)
    }

    /// Sends the result, with the file if there is one.
    fn answer(&self, converted: &Converted, result: Option<(File, u64)>) -> io::Result<()> {
        let message = ChildMessage::Done(converted);
        match result {
            Some((file, length)) => frame::copy(&self.output, &message, file, length),
            None => frame::write(&self.output, &message, &[]),
        }
    }
}
