//! A server: its folders, its profile, what it loads ahead, and the loop over documents.
//!
//! ```text
//! files/settings/    LibreOffice's settings, made here; nobody changes them
//! files/profile/     what LibreOffice keeps for itself; children only read it
//! files/work/        LibreOffice's temporary folder: one document's, made anew for each under the same name, for
//!                    LibreOffice remembers that; the child writes nowhere else
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

use super::document::{Bench, LOAD_OPTIONS, convert};
use super::{COMMAND, Converted, ServerOrder};
use crate::workers::child;
use crate::workers::frame::{self, Saying};

const SETTINGS: &str = include_str!("../../../assets/libreoffice/settings.xcu");

/// One of each kind. What is loaded for them, children have.
const WARM: [(&str, &[u8]); 3] = [
    ("warm.docx", include_bytes!("../../../assets/libreoffice/warm.docx")),
    ("warm.xlsx", include_bytes!("../../../assets/libreoffice/warm.xlsx")),
    ("warm.pptx", include_bytes!("../../../assets/libreoffice/warm.pptx")),
];

/// The code of a server that cannot go on; why, it has said before.
const FAILED: u8 = 1;

/// Runs a server until its input ends.
pub(in crate::workers) fn run(arguments: &[OsString]) -> ExitCode {
    child::run(COMMAND, arguments, |order| serve(order).map(|never| match never {}))
}

/// Returns only where LibreOffice does not run, with the cause.
fn serve(order: ServerOrder) -> Result<Infallible, String> {
    let pipes = Pipes::take().map_err(|error| format!("has no pipes: {error}"))?;
    let folder = std::env::current_dir().map_err(|error| format!("is nowhere: {error}"))?;
    let [settings, profile, work] = ["settings", "profile", "work"].map(|name| folder.join(name));
    furnish(&settings, &profile, &work).map_err(|error| format!("cannot make its folders: {error}"))?;
    let place = Place { programs: &order.programs, profile: &profile, settings: &settings, temporary: &work };
    let kit = Kit::start(&place).map_err(|error| error.to_string())?;
    let mut own = Some((order, pipes));
    kit.run(|kit| {
        let Some((order, pipes)) = own.take() else { return FAILED };
        let ended = warm_up(kit, &work).and_then(|folders| {
            kit.settle();
            let bench = Bench::new(order, work.clone(), profile.clone(), folders);
            work_on(kit, &bench, pipes)
        });
        let Err(cause) = ended else { return 0 };
        let _ = writeln!(io::stderr(), "{COMMAND}: {cause}");
        FAILED
    })
}

fn furnish(settings: &Path, profile: &Path, work: &Path) -> io::Result<()> {
    fs::create_dir(work)?;
    fs::create_dir(profile)?;
    fs::create_dir_all(settings.join("data"))?;
    fs::write(settings.join("data/platen.xcu"), SETTINGS)
}

/// Makes a document of each kind; answers the folders that LibreOffice has made itself among its temporary files.
fn warm_up(kit: &Kit, work: &Path) -> Result<Vec<PathBuf>, String> {
    for (name, bytes) in WARM {
        let path = work.join(name);
        fs::write(&path, bytes).map_err(|error| format!("{name}: {error}"))?;
        let document = kit.load(&path, LOAD_OPTIONS).map_err(|error| format!("{name}: {error}"))?;
        let made = path.with_extension("pdf");
        document.save_as(&made, "pdf", "").map_err(|error| format!("{name}: {error}"))?;
        drop(document);
        fs::remove_file(&path).and_then(|()| fs::remove_file(made)).map_err(|error| error.to_string())?;
    }
    let kept = work.with_file_name("begun");
    let mut folders = Vec::new();
    list_folders(work, Path::new(""), &mut folders).map_err(|error| error.to_string())?;
    // LibreOffice itself may have some of these files open.
    fs::rename(work, kept).map_err(|error| error.to_string())?;
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

/// One document after the other, until the service closes the pipe.
fn work_on(kit: &Kit, bench: &Bench, mut pipes: Pipes) -> Result<(), String> {
    loop {
        let taken = match pipes.next(|| bench.set()) {
            Ok(taken) => taken,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        let (converted, made) = match taken {
            Ok(()) => convert(kit, bench),
            Err(cause) => (Converted::Broken(cause.to_string()), None),
        };
        pipes.answer(&converted, made).map_err(|error| error.to_string())?;
        bench.clear().map_err(|error| format!("cannot remove a document's folder: {error}"))?;
    }
}

/// Standard streams are 0, 1 and 2; ours lie behind them.
const FIRST: i32 = 3;

/// A server's two pipes to the service, out of LibreOffice's way: that prints what it likes to standard output.
struct Pipes {
    input: File,
    output: File,
}

impl Pipes {
    /// Takes standard input and output: what is read from them now is nothing, what is printed is for the log.
    fn take() -> io::Result<Self> {
        let input = File::from(fcntl_dupfd_cloexec(io::stdin(), FIRST)?);
        let output = File::from(fcntl_dupfd_cloexec(io::stdout(), FIRST)?);
        dup2_stdin(open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)?;
        dup2_stdout(io::stderr())?;
        Ok(Self { input, output })
    }

    /// Says that everything is loaded, and takes the next document: what is to become of it, and itself. Hazard: what this process holds, children have, also those of
    /// later documents, which may be of others. So it goes from the pipe into files.
    fn next(&mut self, open: impl FnOnce() -> io::Result<[File; 2]>) -> io::Result<io::Result<()>> {
        frame::write(&self.output, &Saying::<()>::Ready, &[])?;
        frame::pass(&mut self.input, open)
    }

    /// What came of it, with the file that was made.
    fn answer(&self, converted: &Converted, made: Option<(File, u64)>) -> io::Result<()> {
        let said = Saying::Done(converted);
        match made {
            Some((file, length)) => frame::copy(&self.output, &said, file, length),
            None => frame::write(&self.output, &said, &[]),
        }
    }
}
