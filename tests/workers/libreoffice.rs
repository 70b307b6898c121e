//! LibreOffice in its servers: faults of a document fail its own job only, and a server that ends is replaced.

use std::fs::Permissions;
use std::io::{Cursor, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use pdf_metadata::pages;
use platen::domain::ids::AccountId;
use platen::slots::AccountShare;
use platen::workers::libreoffice::{ConvertJob, Converted, Remarks, ServerOptions, server_child};
use platen::workers::{
    Bounds, Job, Pool, PoolSettings, SandboxProfile, ServerSettings, Signals, WorkerError,
};
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::foreign::{Foreign, paths};
use crate::processes::{group_members, is_alive, platen, processes, starter, until};
use crate::small_disk::{SmallDisk, rerun_in_mount_namespace};

mod locale;
mod memory;
mod wide;

const READ: [&str; 9] = [
    "/usr/lib",
    "/usr/share",
    "/etc/libreoffice",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/var/spool/libreoffice",
    "/var/lib/libreoffice",
    "/var/cache/fontconfig",
    "/dev/urandom",
];
const MEGABYTE: u64 = 1 << 20;

/// With nothing to know of it.
const MADE: Converted = Converted::Made(Remarks { warnings: Vec::new(), fonts: Vec::new() });

/// How a test's servers differ from the usual.
struct Office {
    servers: usize,
    deadline_ms: u64,
    memory_bytes: u64,
    child_jobs: u64,
}

const USUAL: Office =
    Office { servers: 1, deadline_ms: 30_000, memory_bytes: 512 * MEGABYTE, child_jobs: 1_000 };

impl Office {
    fn options(&self) -> ServerOptions {
        ServerOptions {
            programs: PathBuf::from("/usr/lib/libreoffice/program"),
            read: paths(&READ),
            deadline_ms: self.deadline_ms,
            memory_bytes: self.memory_bytes,
            file_bytes: 64 * MEGABYTE,
        }
    }

    fn pool(&self, foreign: &Foreign) -> Pool {
        let settings = PoolSettings {
            name: "libreoffice",
            spec: server_child(platen(), &self.options()),
            spares: self.servers,
            kept: self.servers,
            child_jobs: self.child_jobs,
            processes: self.servers,
            share: AccountShare::whole(),
            waiting: 1,
            start_timeout: Duration::from_mins(1),
            undisturbed: Duration::MAX,
            deadline: Duration::from_mins(1),
            still: Duration::from_secs(5),
            answer_limit_bytes: 64 * MEGABYTE,
            resident_limit_bytes: None,
            server: None,
        };
        let profile = SandboxProfile {
            read: paths(&READ).into_iter().chain([PathBuf::from("/proc")]).collect(),
            write: paths(&["/dev/null"]),
            signals: Signals::Anybody,
            ..SandboxProfile::default()
        };
        let bounds = Bounds { memory_bytes: 3_000 * MEGABYTE, ..foreign.programs.bounds() };
        let server = ServerSettings { programs: foreign.programs.clone(), profile, bounds };
        let settings = PoolSettings { server: Some(server), ..settings };
        Pool::new(starter(), settings, foreign.metrics.children.clone())
    }
}

async fn convert(pool: &Pool, extension: &str, document: &[u8]) -> Result<(Converted, Bytes), WorkerError> {
    run(pool, usual(extension), document).await
}

fn usual(extension: &str) -> ConvertJob<'_> {
    ConvertJob {
        extension: extension.into(),
        commands: Vec::new(),
        format: "pdf".into(),
        options: "".into(),
        locale: None,
        first_page: None,
        metadata: None,
        html: None,
        fonts: false,
    }
}

async fn run(
    pool: &Pool,
    header: ConvertJob<'_>,
    document: &[u8],
) -> Result<(Converted, Bytes), WorkerError> {
    let body = [Bytes::copy_from_slice(document)];
    let job = Job { header: &header, body: &body, files: &|_: &str| None, environment: &[] };
    pool.run(AccountId::generate(), job).await
}

/// A Word file of so many paragraphs.
fn word(paragraphs: usize) -> Vec<u8> {
    let text = "<w:p><w:r><w:t>A paragraph that is long enough to be laid out in two lines, as most of them are, and set \
        in the usual size.</w:t></w:r></w:p>";
    word_of(&text.repeat(paragraphs))
}

/// A Word file with this body.
fn word_of(body: &str) -> Vec<u8> {
    let document = format!(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>{body}</w:body></w:document>"
    );
    let types = "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" \
        ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override PartName=\"/word/document.xml\" \
        ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>";
    let relations = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship \
        Id=\"r1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
        Target=\"word/document.xml\"/></Relationships>";
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in
        [("[Content_Types].xml", types), ("_rels/.rels", relations), ("word/document.xml", document.as_str())]
    {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// One with a text and a picture.
fn pictured() -> Vec<u8> {
    include_bytes!("../../assets/libreoffice/warm.docx").to_vec()
}

/// The leading processes of the servers that live in the test's folder.
fn servers(foreign: &Foreign) -> Vec<u32> {
    let lives_there = |pid: &u32| {
        let place = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        place.starts_with(foreign.folder.path()) && group_members(*pid).contains(pid)
    };
    processes().into_iter().filter(lives_there).collect()
}

/// The child that the server makes a document in.
fn child_of(server: u32) -> Option<u32> {
    group_members(server).into_iter().find(|member| *member != server)
}

/// How many seccomp filters a process has.
fn filters(process: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"))?.trim().parse().ok()
}

/// Open files of a process that it may share with others: all but those it only reads, or has in its own folder.
fn shared(process: u32) -> Vec<String> {
    let folder = PathBuf::from(format!("/proc/{process}"));
    let entries = std::fs::read_dir(folder.join("fd")).unwrap().flatten();
    let is_shared = |name: &std::ffi::OsStr| {
        let target = std::fs::read_link(folder.join("fd").join(name)).ok()?.display().to_string();
        let about = std::fs::read_to_string(folder.join("fdinfo").join(name)).ok()?;
        let flags = about.lines().find_map(|line| line.strip_prefix("flags:"))?.trim();
        let is_read = i32::from_str_radix(flags, 8).ok()? & libc::O_ACCMODE == libc::O_RDONLY;
        let is_own =
            target == "/dev/null" || Path::new(&target).components().any(|part| part.as_os_str() == "work");
        (!is_own && (!is_read || !target.starts_with('/'))).then_some(target)
    };
    entries.filter_map(|entry| is_shared(&entry.file_name())).collect()
}

fn kill_process(process: u32) {
    kill(Pid::from_raw(i32::try_from(process).unwrap()), Signal::SIGKILL).unwrap();
}

async fn is_made(pool: &Pool) {
    let (converted, file) = convert(pool, "docx", &word(3)).await.unwrap();
    assert_eq!((converted, pages(&file)), (MADE, Some(1)));
}

#[tokio::test]
async fn a_first_document_of_each_kind_is_there_within_seconds_and_nothing_is_left_of_it() {
    let foreign = Foreign::new();
    let begun = Instant::now();
    let pool = USUAL.pool(&foreign);
    let files: [(&str, &[u8]); 6] = [
        ("docx", include_bytes!("../../assets/libreoffice/warm.docx")),
        ("xlsx", include_bytes!("../office_files/table.xlsx")),
        ("pptx", include_bytes!("../office_files/slides.pptx")),
        ("odt", include_bytes!("../office_files/letter.odt")),
        ("doc", include_bytes!("../office_files/letter.doc")),
        ("rtf", include_bytes!("../office_files/letter.rtf")),
    ];
    for (extension, file) in files {
        let (converted, made) = convert(&pool, extension, file).await.unwrap();
        assert_eq!(converted, MADE, "{extension}");
        assert!(pages(&made).is_some_and(|pages| pages > 0), "{extension}");
    }
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    until("the server is kept", || pool.kept() == 1).await;
    let server = servers(&foreign);
    assert_eq!(server.len(), 1, "one did all");
    assert_eq!(group_members(server[0]), server, "a document's child is gone with it");
    let files = foreign.files();
    assert!(files.len() == 1 && !files[0].join("work").exists(), "and its folder");
    drop(pool);
    until("the server ends with its pool", || !is_alive(server[0])).await;
    until("and its folder goes", || foreign.runs() == 0).await;
}

#[tokio::test]
async fn a_document_that_is_late_or_killed_or_broken_fails_no_other() {
    let foreign = Foreign::new();
    let pool = Office { deadline_ms: 10_000, memory_bytes: 2_000 * MEGABYTE, ..USUAL }.pool(&foreign);
    is_made(&pool).await;
    let server = servers(&foreign)[0];

    // Many seconds of layout.
    let long = word(200_000);
    assert_eq!(convert(&pool, "docx", &long).await.unwrap().0, Converted::Late);
    is_made(&pool).await;

    let killing = async {
        until("the document has a child", || child_of(server).is_some()).await;
        kill_process(child_of(server).unwrap());
    };
    let (converted, ()) = tokio::join!(convert(&pool, "docx", &long), killing);
    assert_eq!(converted.unwrap().0, Converted::Crashed(9));
    is_made(&pool).await;

    let cut = pictured();
    let (converted, _) = convert(&pool, "docx", &cut[..cut.len() / 2]).await.unwrap();
    assert!(matches!(converted, Converted::Unreadable(_)), "{converted:?}");
    is_made(&pool).await;

    assert_eq!(servers(&foreign), [server], "one server saw it all");
    assert_eq!(group_members(server), [server]);
}

#[tokio::test]
async fn a_document_runs_caged_and_shares_no_open_file_with_its_server() {
    let foreign = Foreign::new();
    let pool = USUAL.pool(&foreign);
    is_made(&pool).await;
    let server = servers(&foreign)[0];
    let looking = async {
        let is_fenced = |child| filters(child) > filters(server);
        until("the child has a fence of its own", || child_of(server).is_some_and(is_fenced)).await;
        shared(child_of(server).unwrap())
    };
    let long = word(10_000);
    let (converted, found) = tokio::join!(convert(&pool, "docx", &long), looking);
    assert_eq!(converted.unwrap().0, MADE);
    assert_eq!(found, [""; 0]);
    assert_ne!(shared(server), [""; 0], "what would be found is there");
}

#[tokio::test]
async fn a_hanging_child_is_replaced_and_leaves_the_next_one_only_the_document() {
    let foreign = Foreign::new();
    let pool = USUAL.pool(&foreign);
    is_made(&pool).await;
    let begun = Instant::now();
    let work = foreign.files()[0].join("work");
    until("the folder of the one before is gone", || !work.exists()).await;
    // A write into a full pipe without a reader blocks; the child writes its remarks last.
    let pipe = work.join("remarks");
    let stopping = async {
        until("there is a pipe", || mkfifo(&pipe, Mode::from_bits_truncate(0o666)).is_ok()).await;
        std::fs::set_permissions(&pipe, Permissions::from_mode(0o666)).unwrap();
    };
    let long = word(1_000);
    let (converted, ()) = tokio::join!(convert(&pool, "docx", &long), stopping);
    let (converted, file) = converted.unwrap();
    assert_eq!(converted, MADE);
    assert!(pages(&file).is_some_and(|pages| pages > 10));
    assert!(begun.elapsed() > Duration::from_secs(3), "the first child stood still");
    is_made(&pool).await;
}

#[tokio::test]
async fn a_document_in_very_many_fonts_is_made_and_some_are_reported() {
    let foreign = Foreign::new();
    let pool = USUAL.pool(&foreign);
    let name = |number: usize| format!("{number:04}{}", "&quot;".repeat(56));
    let paragraph = |number| {
        format!(
            "<w:p><w:r><w:rPr><w:rFonts w:ascii=\"{0}\" w:hAnsi=\"{0}\"/></w:rPr><w:t>own text</w:t></w:r></w:p>",
            name(number)
        )
    };
    let document = word_of(&(0..1_000).map(paragraph).collect::<String>());
    let (converted, file) = run(&pool, ConvertJob { fonts: true, ..usual("docx") }, &document).await.unwrap();
    let Converted::Made(remarks) = converted else { panic!("{converted:?}") };
    assert_eq!((remarks.fonts.len(), remarks.fonts[99].get(..4)), (100, Some("0099")));
    assert!(pages(&file).is_some_and(|pages| pages > 10));
}

#[tokio::test]
async fn a_server_that_cannot_go_on_says_why_and_ends_with_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let options = serde_json::to_string(&USUAL.options()).unwrap();
    let server = Command::new(platen())
        .args(["libreoffice-server", &options])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut server = server.unwrap();
    // Its message that it is ready is never read.
    drop(server.stdout.take());
    let output = server.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(
        words.trim_end().lines().last().unwrap().starts_with("libreoffice-server: Broken pipe"),
        "{words}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[tokio::test]
async fn a_full_disk_is_not_reported_as_the_documents_fault() {
    if rerun_in_mount_namespace("libreoffice::a_full_disk_is_not_reported_as_the_documents_fault").is_some() {
        return;
    }
    let foreign = Foreign::new();
    let disk = SmallDisk::over(foreign.folder.path(), 100);
    let pool = USUAL.pool(&foreign);
    is_made(&pool).await;
    let files: [(&str, &[u8]); 2] = [
        ("docx", include_bytes!("../office_files/report.docx")),
        ("xlsx", include_bytes!("../office_files/sales.xlsx")),
    ];
    let mut ends = Vec::new();
    for left_bytes in [150 << 10, 100 << 10, 50 << 10, 0] {
        for (extension, file) in files {
            disk.fill(left_bytes);
            ends.push(convert(&pool, extension, file).await.unwrap().0);
            disk.clear();
        }
    }
    let is_told = |end: &&Converted| matches!(end, Converted::Broken(why) if why.contains("scratch_dir"));
    assert!(ends.iter().filter(is_told).count() > 2, "{ends:?}");
    assert!(ends.iter().all(|end| matches!(end, Converted::Broken(_) | Converted::Made(_))), "{ends:?}");
    is_made(&pool).await;
}

#[tokio::test]
async fn a_missing_page_is_reported_with_the_page_count() {
    let foreign = Foreign::new();
    let pool = USUAL.pool(&foreign);
    let range = |pages: &str| json!({"PageRange": {"type": "string", "value": pages}}).to_string().into();
    for (options, first, end) in [("2-3", 2, Converted::NoSuchPages(1)), ("1-3", 1, MADE), ("1", 1, MADE)] {
        let header = ConvertJob { options: range(options), first_page: Some(first), ..usual("docx") };
        assert_eq!(run(&pool, header, &word(3)).await.unwrap().0, end, "{options}");
    }
    // What cannot be written for another reason is not out of range.
    let header = ConvertJob { format: "no such".into(), first_page: Some(2), ..usual("docx") };
    let (converted, _) = run(&pool, header, &word(3)).await.unwrap();
    assert!(matches!(converted, Converted::Unwritable(_)), "{converted:?}");
}

#[tokio::test]
async fn a_bombed_document_meets_the_limit_of_memory() {
    let foreign = Foreign::new();
    let pool = Office { memory_bytes: 60 * MEGABYTE, ..USUAL }.pool(&foreign);
    let (converted, _) = convert(&pool, "docx", &word(80_000)).await.unwrap();
    // Where one large allocation is refused, LibreOffice prints nothing; the job's error names the limit all the same.
    let is_told = converted == Converted::OutOfMemory || converted == Converted::Unreadable(String::new());
    assert!(is_told, "{converted:?}");
    is_made(&pool).await;
}

#[tokio::test]
async fn a_server_that_dies_is_replaced_before_it_is_missed() {
    let foreign = Foreign::new();
    let pool = USUAL.pool(&foreign);
    is_made(&pool).await;
    until("the server is kept", || pool.kept() == 1).await;
    let first = servers(&foreign)[0];
    kill_process(first);
    until("another one waits, though nobody asked", || pool.spares() == 1).await;
    assert!(!is_alive(first) && servers(&foreign).len() == 1);
    is_made(&pool).await;
}

#[tokio::test]
async fn a_server_is_replaced_after_its_documents() {
    let foreign = Foreign::new();
    let pool = Office { child_jobs: 2, ..USUAL }.pool(&foreign);
    is_made(&pool).await;
    let first = servers(&foreign)[0];
    is_made(&pool).await;
    until("another one waits, and the first ends", || pool.spares() == 1 && !is_alive(first)).await;
    is_made(&pool).await;
}

#[tokio::test]
async fn two_documents_with_pictures_are_made_at_once() {
    let foreign = Foreign::new();
    let pool = Office { servers: 2, ..USUAL }.pool(&foreign);
    until("both wait", || pool.spares() == 2).await;
    let document = pictured();
    for _ in 0..4 {
        let both = tokio::join!(convert(&pool, "docx", &document), convert(&pool, "docx", &document));
        for made in [both.0, both.1] {
            let (converted, file) = made.unwrap();
            assert_eq!((converted, pages(&file)), (MADE, Some(1)));
            assert_eq!(memchr::memmem::find_iter(&file, b"/Subtype/Image").count(), 2, "both pictures");
        }
    }
    assert_eq!(servers(&foreign).len(), 2);
}
