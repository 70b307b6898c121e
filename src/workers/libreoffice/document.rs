//! Converts one document: its folder, its child, and the outcome.

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

use super::{ConvertJob, Converted, Remarks, ServerOptions, page};
use crate::domain::format_opts::Metadata;
use crate::domain::office_format::OfficeFormat;
use crate::procfs::status_number;
use crate::workers::{cage, is_from_outside};

/// Without this LibreOffice shows a dialog for a broken document, and waits for ever.
pub(super) const LOAD_OPTIONS: &str = "Batch=1";

/// The files that a child finds in its folder: the job, and the document.
const JOB: &str = "job";
const DOCUMENT: &str = "document";

/// The files that it writes there: the result, an error's sentence, remarks.
const RESULT: &str = "made";
const SENTENCE: &str = "sentence";
const REMARKS: &str = "remarks";
/// Longest remarks; they must fit into an answer's header, which has at most 64 KiB.
const REMARKS_BYTES: u64 = 32 << 10;
/// Most font families in them, which keeps them within [`REMARKS_BYTES`].
const FONTS: usize = 100;
/// How much of a document is searched for names of fonts.
const FONTS_BYTES: u64 = 64 << 20;
/// Longest sentence of LibreOffice's.
const SENTENCE_BYTES: u64 = 400;
/// With less free the disk counts as full, and an error is not blamed on the document.
const LEFT_BYTES: u64 = 16 << 20;

/// How many children try a document if one hangs without using the processor.
const ATTEMPTS: u32 = 3;

/// Exit codes of a child.
const UNREADABLE: u8 = 1;
const UNWRITABLE: u8 = 2;
const CAGE_FAILED: u8 = 3;
const NO_HTML: u8 = 4;
const METADATA_FAILED: u8 = 5;
const EXHAUSTED: u8 = 6;
const REMARKS_NOT_WRITTEN: u8 = 7;
const NO_SUCH_PAGES: u8 = 8;
const JOB_NOT_READ: u8 = 9;

/// The folder in which a server's children convert documents, one after the other.
pub(super) struct DocumentFolder {
    options: ServerOptions,
    /// What a child may read.
    read: Vec<PathBuf>,
    /// A child's only writable folder, made anew for each document.
    folder: PathBuf,
    /// Folders in it that LibreOffice made at its start and expects to exist.
    inner_folders: Vec<PathBuf>,
}

impl DocumentFolder {
    pub fn new(
        options: ServerOptions,
        folder: PathBuf,
        profile: PathBuf,
        inner_folders: Vec<PathBuf>,
    ) -> Self {
        let read = options.read.iter().cloned().chain([profile]).collect();
        Self { options, read, folder, inner_folders }
    }

    /// Removes all files of the last document.
    pub fn clear(&self) -> io::Result<()> {
        let folders = [&self.folder, &self.previous_attempt()];
        folders.into_iter().try_for_each(|folder| match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
    }

    /// Makes the folder for a document, and the files in it for the job and the document.
    pub fn prepare(&self) -> io::Result<[File; 2]> {
        self.make_folders()?;
        Ok([File::create_new(self.folder.join(JOB))?, File::create_new(self.folder.join(DOCUMENT))?])
    }

    /// A fresh folder for the next attempt: only the job and the document are moved into it.
    fn prepare_again(&self) -> io::Result<()> {
        let old = self.previous_attempt();
        fs::rename(&self.folder, &old)?;
        self.make_folders()?;
        [JOB, DOCUMENT]
            .into_iter()
            .try_for_each(|name| fs::rename(old.join(name), self.folder.join(name)))?;
        fs::remove_dir_all(old)
    }

    /// Where the folder of the attempt before is kept until the next one has its files.
    fn previous_attempt(&self) -> PathBuf {
        self.folder.with_file_name("kept")
    }

    fn make_folders(&self) -> io::Result<()> {
        let make = |path: &Path| DirBuilder::new().mode(0o700).create(path);
        make(&self.folder)?;
        self.inner_folders.iter().try_for_each(|inner| make(&self.folder.join(inner)))
    }

    /// Opens a file that the child has made. Links are not followed: the child may have been taken over.
    fn open(&self, name: &str) -> io::Result<(File, u64)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(self.folder.join(name), flags, Mode::empty())?);
        let about = file.metadata()?;
        if about.is_file() { Ok((file, about.len())) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    /// LibreOffice does not report a full disk: to it, that is a failed write like any other.
    fn is_on_a_full_disk(&self) -> bool {
        statvfs(&self.folder).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < LEFT_BYTES)
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

/// Converts the document in a child: the outcome, and the file with its length.
pub(super) fn convert(kit: &Kit, documents: &DocumentFolder) -> (Converted, Option<(File, u64)>) {
    let options = &documents.options;
    let (deadline, begun) = (Duration::from_millis(options.deadline_ms), Instant::now());
    let bounds = |left: Duration| Bounds {
        deadline: left,
        // In case the deadline is not enforced; all its threads together.
        processor_s: options.deadline_ms.div_ceil(1_000).saturating_mul(4),
        memory_bytes: options.memory_bytes,
        file_bytes: options.file_bytes,
    };
    let attempt = || {
        kit.in_child(&bounds(deadline.saturating_sub(begun.elapsed())), |kit| {
            give_up_inherited().map_err(|_| CAGE_FAILED)?;
            restrict_and_convert(kit, documents).map_err(|(code, sentence)| {
                let _ = fs::write(documents.folder.join(SENTENCE), sentence);
                code
            })
        })
    };
    let has_stalled = |ended: &io::Result<Ended>| ended.as_ref().is_ok_and(|ended| ended.end == End::Stalled);
    let mut ended = attempt();
    for _ in 1..ATTEMPTS {
        if has_stalled(&ended) {
            let _ = writeln!(io::stderr(), "a child stood still; another one takes the document");
            ended = documents.prepare_again().and_then(|()| attempt());
        }
    }
    match ended {
        Ok(ended) => outcome(&ended, documents),
        Err(error) => (Converted::Broken(error.to_string()), None),
    }
}

/// Runs in the child: restricts it, and converts the document.
fn restrict_and_convert(kit: &Kit, documents: &DocumentFolder) -> Result<(), (u8, String)> {
    // Opened before `narrow`, which forbids it.
    let memory = MemoryReader::open().map_err(|error| (CAGE_FAILED, error.to_string()))?;
    let write = [documents.folder.clone(), PathBuf::from("/dev/null")];
    cage::narrow(&documents.read, &write).map_err(|sentence| (CAGE_FAILED, sentence))?;
    let (job, path) = read_job(documents).map_err(|error| (JOB_NOT_READ, error.to_string()))?;
    bound_workbook(&job, &path).map_err(|error| (JOB_NOT_READ, error.to_string()))?;
    convert_in_child(kit, documents, &job, &path).map_err(|(code, sentence)| {
        let is_exhausted = memory.grown_bytes() > exhaustion_threshold_bytes(documents.options.memory_bytes);
        (if is_exhausted { EXHAUSTED } else { code }, sentence)
    })
}

/// The job, and the path of the document.
fn read_job(documents: &DocumentFolder) -> io::Result<(ConvertJob<'static>, PathBuf)> {
    let job: ConvertJob<'static> = serde_json::from_slice(&fs::read(documents.folder.join(JOB))?)?;
    // LibreOffice goes by the extension, and a field of the document may print the name.
    let path = documents.folder.join(format!("{DOCUMENT}.{}", job.extension));
    fs::hard_link(documents.folder.join(DOCUMENT), &path)?;
    Ok((job, path))
}

/// Cuts off what a workbook's ranges have beyond its cells. Hazard: LibreOffice lays out each of the 16,384 columns of a merged
/// row, which takes longer than the deadline.
fn bound_workbook(job: &ConvertJob<'_>, path: &Path) -> io::Result<()> {
    if job.extension != OfficeFormat::Xlsx.extension() {
        return Ok(());
    }
    let Some(bounded) = office_template::bounded_for_pages(&fs::read(path)?) else { return Ok(()) };
    // The path is a link to the document, which the next attempt reads.
    fs::remove_file(path)?;
    fs::write(path, bounded)
}

/// A document that fails with more than this in use is reported as out of memory: LibreOffice gives no reason for a failed
/// allocation.
fn exhaustion_threshold_bytes(memory_bytes: u64) -> u64 {
    memory_bytes / 4 * 3
}

/// How the document is loaded. LibreOffice keeps the language for all documents from then on, which ends with the child.
fn load_options(job: &ConvertJob<'_>) -> String {
    let language = job.locale.as_deref().map(|locale| format!(",Language={locale}"));
    format!("{LOAD_OPTIONS}{}", language.unwrap_or_default())
}

/// Loads the document at `path`, and writes the result and remarks into its folder.
fn convert_in_child(
    kit: &Kit,
    documents: &DocumentFolder,
    job: &ConvertJob<'_>,
    path: &Path,
) -> Result<(), (u8, String)> {
    let document = kit.load(path, &load_options(job)).map_err(|sentence| (UNREADABLE, sentence))?;
    let unwritable = |sentence| (UNWRITABLE, sentence);
    for command in &job.commands {
        document.command(&command.name, &command.arguments).map_err(unwritable)?;
    }
    let mut remarks = Remarks::default();
    let result = documents.folder.join(RESULT);
    match &job.html {
        Some(options) => {
            let warnings = page::write_html(&document, options, &documents.folder, &result);
            remarks.warnings = warnings.map_err(|sentence| (NO_HTML, sentence))?;
        }
        None => save(&document, job, &result)?,
    }
    if let Some(metadata) = &job.metadata {
        append_metadata(&result, metadata).map_err(|error| (METADATA_FAILED, error.to_string()))?;
    }
    if job.fonts {
        remarks.fonts = fonts(path);
    }
    let remarks = serde_json::to_vec(&remarks).unwrap_or_default();
    fs::write(documents.folder.join(REMARKS), remarks)
        .map_err(|error| (REMARKS_NOT_WRITTEN, error.to_string()))?;
    // The process ends now. Closing the document takes time, and may crash.
    std::mem::forget(document);
    Ok(())
}

/// Saves the document. LibreOffice fails without a reason if none of the requested pages exist, so after an error all pages are
/// saved to count them.
fn save(document: &lok::Document<'_>, job: &ConvertJob<'_>, result: &Path) -> Result<(), (u8, String)> {
    let Err(sentence) = document.save_as(result, &job.format, &job.options) else { return Ok(()) };
    let count = || {
        document.save_as(result, &job.format, "").ok()?;
        pdf_metadata::pages(&fs::read(result).ok()?)
    };
    let count = job.first_page.and_then(|first| count().filter(|count| *count < first));
    Err(count.map_or((UNWRITABLE, sentence), |count| (NO_SUCH_PAGES, count.to_string())))
}

/// Appends the properties to the PDF as an incremental update.
fn append_metadata(result: &Path, metadata: &Metadata) -> io::Result<()> {
    let Metadata { title, author, subject, keywords } = metadata.clone();
    let properties = pdf_metadata::Metadata { title, author, subject, keywords };
    let added = pdf_metadata::addition(&fs::read(result)?, &properties);
    let added = added.ok_or_else(|| io::Error::other("a PDF is not as LibreOffice writes them"))?;
    OpenOptions::new().append(true).open(result)?.write_all(&added)
}

/// The font families that a document names, up to the limit.
fn fonts(path: &Path) -> Vec<String> {
    let document = fs::read(path).unwrap_or_default();
    document_fonts::asked(&document, FONTS_BYTES).into_iter().take(FONTS).collect()
}

fn outcome(ended: &Ended, documents: &DocumentFolder) -> (Converted, Option<(File, u64)>) {
    // A fork begins with the server's memory, which is not the document's.
    let own = MemoryReader::open().map(|memory| memory.read("RssAnon:")).unwrap_or_default();
    let is_full =
        ended.peak_bytes.saturating_sub(own) > exhaustion_threshold_bytes(documents.options.memory_bytes);
    let converted = match ended.end {
        End::Done => match documents.open(RESULT) {
            Ok(result) => return (Converted::Made(documents.remarks()), Some(result)),
            Err(error) => Converted::Unwritable(error.to_string()),
        },
        End::Late | End::Signal(libc::SIGXCPU) => Converted::Late,
        // Before all that blames the document.
        End::Signal(signal) if is_from_outside(signal) => Converted::Crashed(signal),
        End::Stalled => Converted::Broken("children stood still, one after the other".to_owned()),
        End::Signal(libc::SIGXFSZ) => Converted::TooLong,
        End::Failed(EXHAUSTED) => Converted::OutOfMemory,
        End::Signal(_) | End::Failed(_) if documents.is_on_a_full_disk() => {
            Converted::Broken("the disk with the documents' folders is full (workers.scratch_dir)".to_owned())
        }
        End::Signal(_) if is_full => Converted::OutOfMemory,
        End::Signal(signal) => Converted::Crashed(signal),
        End::Failed(UNREADABLE) => Converted::Unreadable(documents.sentence()),
        End::Failed(UNWRITABLE) => Converted::Unwritable(documents.sentence()),
        End::Failed(NO_HTML) => Converted::NoHtml(documents.sentence()),
        End::Failed(NO_SUCH_PAGES) => {
            Converted::NoSuchPages(documents.sentence().parse().unwrap_or_default())
        }
        End::Failed(code) => {
            Converted::Broken(format!("a child ended with {code}: {}", documents.sentence()))
        }
    };
    (converted, None)
}

/// Reads this process' memory from a file that stays open, so that it works after `narrow`.
struct MemoryReader {
    file: File,
    begun_bytes: u64,
}

impl MemoryReader {
    fn open() -> io::Result<Self> {
        let memory = Self { file: File::open("/proc/self/status")?, begun_bytes: 0 };
        Ok(Self { begun_bytes: memory.read("VmPeak:"), ..memory })
    }

    /// The peak of mapped memory since this was opened.
    fn grown_bytes(&self) -> u64 {
        self.read("VmPeak:").saturating_sub(self.begun_bytes)
    }

    fn read(&self, name: &str) -> u64 {
        let mut bytes = [0; 4_096];
        let length = self.file.read_at(&mut bytes, 0).unwrap_or_default();
        let status = String::from_utf8_lossy(bytes.get(..length).unwrap_or_default());
        status_number(&status, name).unwrap_or_default() << 10
    }
}

/// Replaces the descriptors that a child inherits from its server: files are opened again for reading; pipes and all else become
/// `/dev/null`.
///
/// Hazard: the cage restricts what a process opens, not what is open already. Through an inherited descriptor a child that a
/// document has taken over could write, or move the offset at which the server and later children read. LibreOffice keeps a
/// database open for writing, which documents of other accounts would see.
fn give_up_inherited() -> io::Result<()> {
    let listed = fs::read_dir("/proc/self/fd")?.map(|entry| Ok(entry?.file_name()));
    let numbers = listed.collect::<io::Result<Vec<_>>>()?;
    numbers.iter().filter_map(|name| name.to_str()?.parse().ok()).try_for_each(replace)
}

fn replace(number: RawFd) -> io::Result<()> {
    let path = format!("/proc/self/fd/{number}");
    // The descriptor of the listing itself is closed already.
    let Ok(about) = fs::metadata(&path) else { return Ok(()) };
    let own = if about.is_file() { File::open(&path) } else { null_device() };
    let own = own.or_else(|_| null_device())?;
    close(number)?;
    // Takes the lowest free number from `number` on, which is `number`: a forked process has no other thread to take it.
    let replaced = fcntl_dupfd_cloexec(own, number)?;
    // LibreOffice uses it by its number.
    std::mem::forget(replaced);
    Ok(())
}

/// Also for writing: LibreOffice prints to what it has open.
fn null_device() -> io::Result<File> {
    Ok(File::from(open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?))
}
