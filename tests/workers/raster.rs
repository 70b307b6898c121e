//! Children that draw pictures of PDFs: their output, their cage, and hostile documents.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use platen::domain::ids::AccountId;
use platen::slots::AccountShare;
use platen::telemetry::metrics::Metrics;
use platen::workers::raster::{
    Format, PART_LIMIT_BYTES, PageRange, RasterError, RasterJob, RasterLimits, RasterOutput, Rastered,
    Selection, raster_child,
};
use platen::workers::{FileSource, Job, PartRefused, Pool, PoolSettings, SuppliedFile, WorkerError};

use crate::damage::Damage;
use crate::hostile_pdfs as hostile;
use crate::pdf_documents as documents;
use crate::processes::{field, processes, somebody_else, starter, until};

/// Small chunks, so that there are several.
const CHUNK_BYTES: usize = 1_000;

/// A document in memory, and what was made of it.
struct MemoryFiles {
    document: Vec<u8>,
    at: Mutex<usize>,
    made: Mutex<Vec<u8>>,
    limit_bytes: usize,
}

impl MemoryFiles {
    fn of(document: Vec<u8>) -> Self {
        Self { document, at: Mutex::new(0), made: Mutex::default(), limit_bytes: usize::MAX }
    }
}

#[async_trait]
impl FileSource for MemoryFiles {
    async fn file(&self, _name: &str) -> Result<SuppliedFile, String> {
        let mut at = self.at.lock().unwrap();
        let end = (*at + CHUNK_BYTES).min(self.document.len());
        let content = Bytes::copy_from_slice(&self.document[*at..end]);
        *at = end;
        Ok(SuppliedFile { content, made: None })
    }

    async fn take(&self, part: Bytes) -> Result<(), PartRefused> {
        let mut made = self.made.lock().unwrap();
        made.extend_from_slice(&part);
        if made.len() > self.limit_bytes { Err(PartRefused) } else { Ok(()) }
    }
}

fn pool(kept: usize, deadline: Duration) -> Pool {
    let limits = RasterLimits {
        memory_bytes: 256 << 20,
        picture_pixels: 4_000_000,
        pages: 20,
        font_dirs: vec!["/usr/share/fonts".into()],
        cpu_s: 600,
    };
    let settings = PoolSettings {
        name: "raster",
        spec: raster_child(&limits, somebody_else()),
        spares: 0,
        kept,
        child_jobs: 1_000,
        processes: 2,
        share: AccountShare::whole(),
        waiting: 1,
        start_timeout: Duration::from_secs(20),
        undisturbed: Duration::from_mins(1),
        deadline,
        still: Duration::from_secs(5),
        answer_limit_bytes: PART_LIMIT_BYTES as u64,
        resident_limit_bytes: None,
        server: None,
    };
    Pool::new(starter(), settings, Metrics::new().children)
}

fn usual() -> RasterJob {
    RasterJob { selection: Selection::default(), dpi: Some(72), output: RasterOutput::Pictures(Format::Png) }
}

async fn run(
    pool: &Pool,
    account: AccountId,
    raster_job: &RasterJob,
    files: &MemoryFiles,
) -> Result<Rastered, WorkerError> {
    let job = Job { header: raster_job, body: &[], files, environment: &[] };
    Ok(pool.run(account, job).await?.0)
}

async fn make(
    pool: &Pool,
    raster_job: &RasterJob,
    document: Vec<u8>,
) -> (Result<Rastered, WorkerError>, Vec<u8>) {
    let files = MemoryFiles::of(document);
    let done = run(pool, AccountId::generate(), raster_job, &files).await;
    (done, files.made.into_inner().unwrap())
}

fn made(pages: u32, pictures: u32) -> Rastered {
    Rastered::Made { pages, pictures, warnings: Vec::new() }
}

#[tokio::test]
async fn one_page_is_a_picture_and_several_are_an_archive() {
    let pool = pool(1, Duration::from_secs(20));
    let (done, png) = make(&pool, &usual(), documents::pages(12)).await;
    assert_eq!(done.unwrap(), made(12, 1));
    assert!(png.starts_with(b"\x89PNG"));
    let ranges = vec![PageRange { first: 2, last: Some(3) }, PageRange::one(11)];
    let selection = Selection { within: None, ranges };
    let raster_job =
        RasterJob { selection, dpi: Some(150), output: RasterOutput::Pictures(Format::Jpeg(80)) };
    let (done, zip) = make(&pool, &raster_job, documents::pages(12)).await;
    assert_eq!(done.unwrap(), made(12, 3));
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(zip)).unwrap();
    let names: Vec<_> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    assert_eq!(names, ["page-02.jpg", "page-03.jpg", "page-11.jpg"]);
    let mut picture = Vec::new();
    std::io::Read::read_to_end(&mut archive.by_index(0).unwrap(), &mut picture).unwrap();
    assert!(picture.starts_with(b"\xff\xd8\xff"));
}

#[tokio::test]
async fn a_child_is_kept_for_its_account_and_reaches_nothing() {
    let pool = pool(1, Duration::from_secs(20));
    let account = AccountId::generate();
    let mut children = Vec::new();
    for _ in 0..2 {
        let done = run(&pool, account, &usual(), &MemoryFiles::of(documents::form())).await;
        assert_eq!(done.unwrap(), made(1, 1));
        until("the child is kept", || pool.kept() == 1).await;
        let own = std::process::id().to_string();
        let is_ours = |pid: &u32| field(*pid, "PPid:").is_some_and(|parent| parent == own);
        let seccomp = |pid: &u32| field(*pid, "Seccomp:").is_some_and(|mode| mode == "2");
        let caged: Vec<_> = processes().into_iter().filter(is_ours).filter(seccomp).collect();
        children.push(caged);
    }
    assert!(children[0].iter().any(|child| children[1].contains(child)), "{children:?}");
}

#[tokio::test]
async fn faults_of_a_document_are_reported_and_the_child_goes_on() {
    let pool = pool(1, Duration::from_secs(20));
    let (done, _) = make(&pool, &usual(), b"no document".to_vec()).await;
    assert_eq!(done.unwrap(), Rastered::Failed(RasterError::Damaged));
    let selection = Selection { within: None, ranges: vec![PageRange::one(9)] };
    let (done, _) = make(&pool, &RasterJob { selection, ..usual() }, documents::pages(7)).await;
    assert_eq!(done.unwrap(), Rastered::Failed(RasterError::NoSuchPage { page: 9, count: 7 }));
    let (done, _) = make(&pool, &usual(), documents::huge()).await;
    assert!(matches!(done.unwrap(), Rastered::Failed(RasterError::TooManyPixels { .. })));
    let all = Selection { within: None, ranges: vec![PageRange::ALL] };
    let (done, _) =
        make(&pool, &RasterJob { selection: all, ..usual() }, documents::same_pages(10_000)).await;
    let refused = RasterError::TooManyPages { wanted: 10_000, limit: 20 };
    assert_eq!(done.unwrap(), Rastered::Failed(refused));
    for ordinary in [documents::fonts(), documents::blends(), documents::turned()] {
        let (done, png) = make(&pool, &usual(), ordinary).await;
        assert_eq!((done.unwrap(), png.starts_with(b"\x89PNG")), (made(1, 1), true));
    }
    for (document, font) in
        [(documents::unknown_font(), "Nowhere-Bold"), (documents::ideographs(), "HYGoThic-Medium")]
    {
        let (done, _) = make(&pool, &usual(), document).await;
        let Rastered::Made { warnings, .. } = done.unwrap() else { panic!("a picture") };
        assert!(warnings[0].starts_with(&format!("the font '{font}' is not in the PDF")), "{warnings:?}");
    }
}

#[tokio::test]
async fn an_output_over_its_limit_ends_the_child() {
    let pool = pool(1, Duration::from_secs(20));
    let files = MemoryFiles { limit_bytes: 10, ..MemoryFiles::of(documents::blends()) };
    let refused = run(&pool, AccountId::generate(), &usual(), &files).await;
    assert!(matches!(refused, Err(WorkerError::TooLong)), "{refused:?}");
    assert_eq!(make(&pool, &usual(), documents::form()).await.0.unwrap(), made(1, 1));
}

#[tokio::test]
async fn an_endless_document_is_ended() {
    let pool = pool(1, Duration::from_millis(1_500));
    let (done, _) = make(&pool, &usual(), hostile::endless()).await;
    // Which of its limits it meets first goes by the machine.
    assert!(matches!(done, Err(WorkerError::Deadline | WorkerError::Died { .. })), "{done:?}");
    assert_eq!(make(&pool, &usual(), documents::form()).await.0.unwrap(), made(1, 1));
}

#[tokio::test]
async fn documents_that_are_too_deep_or_too_large_fail_their_own_job_only() {
    let pool = pool(1, Duration::from_secs(20));
    for document in [hostile::nested(), hostile::vast_image()] {
        let (done, _) = make(&pool, &usual(), document).await;
        // The renderer may draw the page without the hostile part, or not at all.
        let is_bounded = matches!(
            done,
            Ok(Rastered::Made { .. } | Rastered::Failed(_))
                | Err(WorkerError::Died { .. } | WorkerError::Deadline)
        );
        assert!(is_bounded, "{done:?}");
        assert_eq!(make(&pool, &usual(), documents::form()).await.0.unwrap(), made(1, 1));
    }
}

#[tokio::test]
async fn hundreds_of_damaged_documents_are_errors_at_worst() {
    let pool = pool(1, Duration::from_secs(3));
    let account = AccountId::generate();
    let whole = [
        documents::fonts(),
        documents::ideographs(),
        documents::blends(),
        documents::form(),
        documents::turned(),
        documents::pages(3),
    ];
    let mut damage = Damage::seeded(0x0018_0004);
    let (mut pictures, mut refused, mut ended) = (0, 0, 0);
    for at in 0..360 {
        let document = damage.of(&whole[at % whole.len()]);
        match run(&pool, account, &usual(), &MemoryFiles::of(document)).await {
            Ok(Rastered::Made { .. }) => pictures += 1,
            Ok(Rastered::Failed(_)) => refused += 1,
            Err(WorkerError::Deadline | WorkerError::Died { .. }) => ended += 1,
            other => panic!("document {at}: {other:?}"),
        }
    }
    assert!(
        pictures > 100 && refused > 0 && ended < 20,
        "{pictures} pictures, {refused} refused, {ended} ended"
    );
    assert_eq!(make(&pool, &usual(), documents::form()).await.0.unwrap(), made(1, 1));
}
