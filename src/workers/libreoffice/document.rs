//! One document: its folder, its child, what that made.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lok::{Bounds, End, Ended, Kit};
use nix::libc;
use rustix::fs::{Mode, OFlags, open};

use super::pipes::Pipes;
use super::server::LOAD_OPTIONS;
use super::{ConvertJob, Converted, Remarks, ServerOrder, page};
use crate::workers::cage;
use crate::workers::priority::resident_bytes;

/// What a child leaves in its folder.
const MADE: &str = "made";
const SENTENCE: &str = "sentence";
const REMARKS: &str = "remarks";
/// Longest remarks.
const REMARKS_BYTES: u64 = 64 << 10;
/// Most of a document's parts that are read for the fonts that they name.
const FONTS_BYTES: u64 = 64 << 20;
/// Longest sentence of LibreOffice's.
const SENTENCE_BYTES: u64 = 400;

/// How a child says what it could not do.
const UNREADABLE: u8 = 1;
const UNWRITABLE: u8 = 2;
const UNCAGED: u8 = 3;
const NO_HTML: u8 = 4;

/// Where a server works on documents, one after the other.
pub(super) struct Bench {
    order: ServerOrder,
    /// What a child may read.
    read: Vec<PathBuf>,
    work: PathBuf,
    /// Folders that LibreOffice believes to be in `work`.
    folders: Vec<PathBuf>,
}

impl Bench {
    pub fn new(order: ServerOrder, work: PathBuf, profile: PathBuf, folders: Vec<PathBuf>) -> Self {
        let read = order.read.iter().cloned().chain([profile]).collect();
        Self { order, read, work, folders }
    }

    /// Removes what the last document has left.
    pub fn clear(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.work) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The folder for a document, with the document in it.
    fn set(&self, job: &ConvertJob<'_>, document: &[u8]) -> io::Result<PathBuf> {
        let make = |path: &Path| DirBuilder::new().mode(0o700).create(path);
        make(&self.work)?;
        self.folders.iter().try_for_each(|folder| make(&self.work.join(folder)))?;
        // A field of the document may show its name.
        let path = self.work.join(format!("document.{}", job.extension));
        fs::write(&path, document)?;
        Ok(path)
    }

    /// What the child has made; never what a link leads to.
    fn open(&self, name: &str) -> io::Result<(File, u64)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(self.work.join(name), flags, Mode::empty())?);
        let about = file.metadata()?;
        if about.is_file() { Ok((file, about.len())) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = Vec::new();
        if let Ok((file, _)) = self.open(REMARKS) {
            let _ = file.take(REMARKS_BYTES).read_to_end(&mut remarks);
        }
        serde_json::from_slice(&remarks).unwrap_or_default()
    }

    fn sentence(&self) -> String {
        let mut sentence = Vec::new();
        if let Ok((file, _)) = self.open(SENTENCE) {
            let _ = file.take(SENTENCE_BYTES).read_to_end(&mut sentence);
        }
        String::from_utf8_lossy(&sentence).trim().to_owned()
    }
}

/// Has a child make the file.
pub(super) fn convert(
    kit: &Kit,
    bench: &Bench,
    job: &ConvertJob<'_>,
    document: Vec<u8>,
    pipes: &Pipes,
) -> (Converted, Option<(File, u64)>) {
    let broken = |cause: io::Error| (Converted::Broken(cause.to_string()), None);
    let path = match bench.set(job, &document) {
        Ok(path) => path,
        Err(error) => return broken(error),
    };
    // The child reads the file; this memory would be its own too.
    drop(document);
    let order = &bench.order;
    let bounds = Bounds {
        deadline: Duration::from_millis(order.deadline_ms),
        // A net under the deadline: all its threads together.
        processor_s: order.deadline_ms.div_ceil(1_000).saturating_mul(4),
        memory_bytes: order.memory_bytes,
        file_bytes: order.file_bytes,
    };
    let ended = kit.in_child(&bounds, |kit| {
        pipes.close().map_err(|_| UNCAGED)?;
        make(kit, bench, job, &path).map_err(|(code, sentence)| {
            let _ = fs::write(bench.work.join(SENTENCE), sentence);
            code
        })
    });
    match ended {
        Ok(Ended { end: End::Done, .. }) => match bench.open(MADE) {
            Ok(made) => (Converted::Made(bench.remarks()), Some(made)),
            Err(error) => (Converted::Unwritable(error.to_string()), None),
        },
        Ok(ended) => (outcome(&ended, bench), None),
        Err(error) => broken(error),
    }
}

/// In the child.
fn make(kit: &Kit, bench: &Bench, job: &ConvertJob<'_>, path: &Path) -> Result<(), (u8, String)> {
    let write = [bench.work.clone(), PathBuf::from("/dev/null")];
    cage::narrow(&bench.read, &write).map_err(|sentence| (UNCAGED, sentence))?;
    let document = kit.load(path, LOAD_OPTIONS).map_err(|sentence| (UNREADABLE, sentence))?;
    let unwritable = |sentence| (UNWRITABLE, sentence);
    for command in &job.commands {
        document.command(&command.name, &command.arguments).map_err(unwritable)?;
    }
    let mut remarks = Remarks::default();
    let made = bench.work.join(MADE);
    match &job.html {
        Some(order) => {
            let made = page::make(&document, order, &bench.work, &made);
            remarks.warnings = made.map_err(|sentence| (NO_HTML, sentence))?;
        }
        None => document.save_as(&made, &job.format, &job.options).map_err(unwritable)?,
    }
    if job.fonts {
        remarks.fonts = fonts(path);
    }
    let remarks = serde_json::to_vec(&remarks).unwrap_or_default();
    // A document without them is a document.
    let _ = fs::write(bench.work.join(REMARKS), remarks);
    // The process ends now: closing the document would be for nothing, and may crash.
    std::mem::forget(document);
    Ok(())
}

/// The families of fonts that a document asks for.
fn fonts(path: &Path) -> Vec<String> {
    let document = fs::read(path).unwrap_or_default();
    document_fonts::asked(&document, FONTS_BYTES).into_iter().collect()
}

fn outcome(ended: &Ended, bench: &Bench) -> Converted {
    // What fails for want of memory does so in any way.
    let own = i32::try_from(std::process::id()).ok().and_then(resident_bytes).unwrap_or_default();
    let is_full = ended.peak_bytes.saturating_sub(own) > bench.order.memory_bytes / 4 * 3;
    match ended.end {
        End::Late | End::Signal(libc::SIGXCPU) => Converted::Late,
        End::Signal(libc::SIGXFSZ) => Converted::TooLong,
        End::Signal(_) | End::Failed(UNREADABLE | UNWRITABLE | NO_HTML) if is_full => Converted::OutOfMemory,
        End::Signal(signal) => Converted::Crashed(signal),
        End::Failed(UNREADABLE) => Converted::Unreadable(bench.sentence()),
        End::Failed(UNWRITABLE) => Converted::Unwritable(bench.sentence()),
        End::Failed(NO_HTML) => Converted::NoHtml(bench.sentence()),
        End::Failed(code) => Converted::Broken(format!("a child ended with {code}: {}", bench.sentence())),
        End::Done => Converted::Made(bench.remarks()),
    }
}
