//! One document: its folder, its child, what that made.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::RawFd;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lok::{Bounds, End, Ended, Kit};
use nix::libc;
use nix::unistd::close;
use rustix::fs::{Mode, OFlags, open, statvfs};
use rustix::io::fcntl_dupfd_cloexec;

use super::{ConvertJob, Converted, Remarks, ServerOrder, page};
use crate::domain::format_opts::Metadata;
use crate::workers::{cage, group};

/// Without it a broken document makes LibreOffice ask, and wait for an answer.
pub(super) const LOAD_OPTIONS: &str = "Batch=1";

/// What a child finds in its folder: what is to become of the document, and that.
const JOB: &str = "job";
const DOCUMENT: &str = "document";

/// What it leaves there.
const MADE: &str = "made";
const SENTENCE: &str = "sentence";
const REMARKS: &str = "remarks";
/// Longest remarks: with what is said around them shorter than the longest header of an answer, which is 64 KiB.
const REMARKS_BYTES: u64 = 32 << 10;
/// Most families of fonts in them, which so are no longer.
const FONTS: usize = 100;
/// Most of a document's parts that are read for the fonts that they name.
const FONTS_BYTES: u64 = 64 << 20;
/// Longest sentence of LibreOffice's.
const SENTENCE_BYTES: u64 = 400;
/// A disk with less left is full: where something cannot be read or written then, that is not the document's doing.
const LEFT_BYTES: u64 = 16 << 20;

/// How many children may try a document, where one stands still.
const ATTEMPTS: u32 = 3;

/// How a child says what it could not do.
const UNREADABLE: u8 = 1;
const UNWRITABLE: u8 = 2;
const UNCAGED: u8 = 3;
const NO_HTML: u8 = 4;
const UNANNOTATED: u8 = 5;
const EXHAUSTED: u8 = 6;
const UNTOLD: u8 = 7;
const OUTSIDE: u8 = 8;
const UNTAKEN: u8 = 9;

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
        [&self.work, &self.kept()].into_iter().try_for_each(|folder| match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
    }

    /// The folder for a document, and the files in it for its job and itself.
    pub fn set(&self) -> io::Result<[File; 2]> {
        self.make_folders()?;
        Ok([File::create_new(self.work.join(JOB))?, File::create_new(self.work.join(DOCUMENT))?])
    }

    /// The same for another child: of what the last one has left only these are there, which LibreOffice does not write to.
    fn set_anew(&self) -> io::Result<()> {
        let kept = self.kept();
        fs::rename(&self.work, &kept)?;
        self.make_folders()?;
        [JOB, DOCUMENT].into_iter().try_for_each(|name| fs::rename(kept.join(name), self.work.join(name)))?;
        fs::remove_dir_all(kept)
    }

    fn kept(&self) -> PathBuf {
        self.work.with_file_name("kept")
    }

    fn make_folders(&self) -> io::Result<()> {
        let make = |path: &Path| DirBuilder::new().mode(0o700).create(path);
        make(&self.work)?;
        self.folders.iter().try_for_each(|folder| make(&self.work.join(folder)))
    }

    /// What the child has made; never what a link leads to.
    fn open(&self, name: &str) -> io::Result<(File, u64)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(self.work.join(name), flags, Mode::empty())?);
        let about = file.metadata()?;
        if about.is_file() { Ok((file, about.len())) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    /// LibreOffice does not say so: to it, what it cannot write is a failure like any other.
    fn is_on_a_full_disk(&self) -> bool {
        statvfs(&self.work).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < LEFT_BYTES)
    }

    fn remarks(&self) -> Remarks {
        serde_json::from_slice(&self.begin_of(REMARKS, REMARKS_BYTES)).unwrap_or_default()
    }

    fn sentence(&self) -> String {
        String::from_utf8_lossy(&self.begin_of(SENTENCE, SENTENCE_BYTES)).trim().to_owned()
    }

    fn begin_of(&self, name: &str, limit_bytes: u64) -> Vec<u8> {
        let mut content = Vec::new();
        if let Ok((file, _)) = self.open(name) {
            let _ = file.take(limit_bytes).read_to_end(&mut content);
        }
        content
    }
}

/// Has a child make the file.
pub(super) fn convert(kit: &Kit, bench: &Bench) -> (Converted, Option<(File, u64)>) {
    let order = &bench.order;
    let (deadline, begun) = (Duration::from_millis(order.deadline_ms), Instant::now());
    let bounds = |left: Duration| Bounds {
        deadline: left,
        // A net under the deadline: all its threads together.
        processor_s: order.deadline_ms.div_ceil(1_000).saturating_mul(4),
        memory_bytes: order.memory_bytes,
        file_bytes: order.file_bytes,
    };
    let attempt = || {
        kit.in_child(&bounds(deadline.saturating_sub(begun.elapsed())), |kit| {
            give_up_inherited().map_err(|_| UNCAGED)?;
            make(kit, bench).map_err(|(code, sentence)| {
                let _ = fs::write(bench.work.join(SENTENCE), sentence);
                code
            })
        })
    };
    let is_still = |ended: &io::Result<Ended>| ended.as_ref().is_ok_and(|ended| ended.end == End::Still);
    let mut ended = attempt();
    for _ in 1..ATTEMPTS {
        if is_still(&ended) {
            let _ = writeln!(io::stderr(), "a child stood still; another one takes the document");
            ended = bench.set_anew().and_then(|()| attempt());
        }
    }
    match ended {
        Ok(ended) => outcome(&ended, bench),
        Err(error) => (Converted::Broken(error.to_string()), None),
    }
}

/// In the child.
fn make(kit: &Kit, bench: &Bench) -> Result<(), (u8, String)> {
    // Opened while it may be.
    let account = Account::open().map_err(|error| (UNCAGED, error.to_string()))?;
    let write = [bench.work.clone(), PathBuf::from("/dev/null")];
    cage::narrow(&bench.read, &write).map_err(|sentence| (UNCAGED, sentence))?;
    let (job, path) = take(bench).map_err(|error| (UNTAKEN, error.to_string()))?;
    work(kit, bench, &job, &path).map_err(|(code, sentence)| {
        let is_exhausted = account.grown_bytes() > enough(bench.order.memory_bytes);
        (if is_exhausted { EXHAUSTED } else { code }, sentence)
    })
}

/// What is to become of which file.
fn take(bench: &Bench) -> io::Result<(ConvertJob<'static>, PathBuf)> {
    let job: ConvertJob<'static> = serde_json::from_slice(&fs::read(bench.work.join(JOB))?)?;
    // LibreOffice goes by the name, and a field of the document may show it.
    let path = bench.work.join(format!("{DOCUMENT}.{}", job.extension));
    fs::hard_link(bench.work.join(DOCUMENT), &path)?;
    Ok((job, path))
}

/// A document that has taken so much of its memory and then fails is thought to fail for want of the rest.
fn enough(memory_bytes: u64) -> u64 {
    memory_bytes / 4 * 3
}

fn work(kit: &Kit, bench: &Bench, job: &ConvertJob<'_>, path: &Path) -> Result<(), (u8, String)> {
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
        None => save(&document, job, &made)?,
    }
    if let Some(metadata) = &job.metadata {
        annotate(&made, metadata).map_err(|error| (UNANNOTATED, error.to_string()))?;
    }
    if job.fonts {
        remarks.fonts = fonts(path);
    }
    let remarks = serde_json::to_vec(&remarks).unwrap_or_default();
    fs::write(bench.work.join(REMARKS), remarks).map_err(|error| (UNTOLD, error.to_string()))?;
    // The process ends now: closing the document would be for nothing, and may crash.
    std::mem::forget(document);
    Ok(())
}

/// Of pages that are not there LibreOffice makes nothing, and says no more than that. How many there are is known once all
/// are written.
fn save(document: &lok::Document<'_>, job: &ConvertJob<'_>, made: &Path) -> Result<(), (u8, String)> {
    let Err(sentence) = document.save_as(made, &job.format, &job.options) else { return Ok(()) };
    let count = || {
        document.save_as(made, &job.format, "").ok()?;
        pdf_metadata::pages(&fs::read(made).ok()?)
    };
    let count = job.first_page.and_then(|first| count().filter(|count| *count < first));
    Err(count.map_or((UNWRITABLE, sentence), |count| (OUTSIDE, count.to_string())))
}

/// Says it behind the end of the PDF.
fn annotate(made: &Path, metadata: &Metadata) -> io::Result<()> {
    let Metadata { title, author, subject, keywords } = metadata.clone();
    let said = pdf_metadata::Metadata { title, author, subject, keywords };
    let added = pdf_metadata::addition(&fs::read(made)?, &said);
    let added = added.ok_or_else(|| io::Error::other("a PDF is not as LibreOffice writes them"))?;
    OpenOptions::new().append(true).open(made)?.write_all(&added)
}

/// The families of fonts that a document asks for, the first of very many.
fn fonts(path: &Path) -> Vec<String> {
    let document = fs::read(path).unwrap_or_default();
    document_fonts::asked(&document, FONTS_BYTES).into_iter().take(FONTS).collect()
}

fn outcome(ended: &Ended, bench: &Bench) -> (Converted, Option<(File, u64)>) {
    // It began with what the server holds.
    let own = Account::open().map(|account| account.read("RssAnon:")).unwrap_or_default();
    let is_full = ended.peak_bytes.saturating_sub(own) > enough(bench.order.memory_bytes);
    let converted = match ended.end {
        End::Done => match bench.open(MADE) {
            Ok(made) => return (Converted::Made(bench.remarks()), Some(made)),
            Err(error) => Converted::Unwritable(error.to_string()),
        },
        End::Late | End::Signal(libc::SIGXCPU) => Converted::Late,
        End::Still => Converted::Broken("children stood still, one after the other".to_owned()),
        End::Signal(libc::SIGXFSZ) => Converted::TooLong,
        End::Failed(EXHAUSTED) => Converted::OutOfMemory,
        End::Signal(_) | End::Failed(_) if bench.is_on_a_full_disk() => {
            Converted::Broken("the disk with the documents' folders is full (workers.scratch_dir)".to_owned())
        }
        End::Signal(_) if is_full => Converted::OutOfMemory,
        End::Signal(signal) => Converted::Crashed(signal),
        End::Failed(UNREADABLE) => Converted::Unreadable(bench.sentence()),
        End::Failed(UNWRITABLE) => Converted::Unwritable(bench.sentence()),
        End::Failed(NO_HTML) => Converted::NoHtml(bench.sentence()),
        End::Failed(OUTSIDE) => Converted::NoSuchPages(bench.sentence().parse().unwrap_or_default()),
        End::Failed(code) => Converted::Broken(format!("a child ended with {code}: {}", bench.sentence())),
    };
    (converted, None)
}

/// What the system says of the memory of this process, also when it may open nothing any more.
struct Account {
    file: File,
    begun_bytes: u64,
}

impl Account {
    fn open() -> io::Result<Self> {
        let account = Self { file: File::open("/proc/self/status")?, begun_bytes: 0 };
        Ok(Self { begun_bytes: account.read("VmPeak:"), ..account })
    }

    /// What it has mapped since it was opened, at most.
    fn grown_bytes(&self) -> u64 {
        self.read("VmPeak:").saturating_sub(self.begun_bytes)
    }

    fn read(&self, name: &str) -> u64 {
        let mut bytes = [0; 4_096];
        let length = self.file.read_at(&mut bytes, 0).unwrap_or_default();
        let status = String::from_utf8_lossy(bytes.get(..length).unwrap_or_default());
        group::field(&status, name).unwrap_or_default() << 10
    }
}

/// Gives up what a child has open of its server's, which the server and its later children have open too, before the child opens its document: files are opened anew, to be read; pipes and
/// whatever else is no file become `/dev/null`.
///
/// Hazard: the cage binds what a process opens, not what it has open. A child that a document has taken over could write
/// through what it inherited, or move where others read: LibreOffice itself keeps a data base open to write to, which
/// documents of other accounts see.
fn give_up_inherited() -> io::Result<()> {
    let listed = fs::read_dir("/proc/self/fd")?.map(|entry| Ok(entry?.file_name()));
    let numbers = listed.collect::<io::Result<Vec<_>>>()?;
    numbers.iter().filter_map(|name| name.to_str()?.parse().ok()).try_for_each(replace)
}

fn replace(number: RawFd) -> io::Result<()> {
    let path = format!("/proc/self/fd/{number}");
    // The listing's own is closed by now.
    let Ok(about) = fs::metadata(&path) else { return Ok(()) };
    let own = if about.is_file() { File::open(&path) } else { null_device() };
    let own = own.or_else(|_| null_device())?;
    close(number)?;
    // The lowest number from this one on, so this one: no other thread takes it, for a fork has none.
    let kept = fcntl_dupfd_cloexec(own, number)?;
    // It is LibreOffice's.
    std::mem::forget(kept);
    Ok(())
}

/// It can be written to, for where LibreOffice prints to it.
fn null_device() -> io::Result<File> {
    Ok(File::from(open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?))
}
