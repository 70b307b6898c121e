//! What lualatex has read of fonts, made once and given to each document: without it a run takes seconds longer.
//!
//! It is made of a document of ours in a folder of its own, where no job has been, and a job has a copy: what one writes,
//! no other one reads. It is kept for the next start (`kept.rs`) until fonts or TeX change (`key.rs`).

mod kept;
mod key;

use std::io;
use std::path::Path;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use self::kept::Kept;
use super::Tex;
use super::errors::TexError;
use super::folder::Folder;
use super::hash::Key;
use super::needs::CACHE;
use super::opening;
use super::passes;
use crate::domain::format_opts::{Metadata, TexProgram};
use crate::domain::site::Site;
use crate::workers::{Finished, OutputError};

const DOCUMENT: &str = include_str!("../../../../assets/tex/warm.tex");
const NAME: &str = "warm.tex";
/// Until all fonts of the machine are read.
const TIMEOUT: Duration = Duration::from_mins(2);
/// What that takes at most, where a document may have less.
const MEMORY_BYTES: u64 = 2 << 30;
const SCRATCH_BYTES: u64 = 256 << 20;
/// The longest file that is kept.
const FILE_BYTES: u64 = 32 << 20;
const NAMES: [&str; 2] = ["names/luaotfload-names.luc.gz", "names/luaotfload-lookup-cache.luc"];
const FONTS: [&str; 13] = [
    "lmroman8-regular",
    "lmroman9-regular",
    "lmroman10-regular",
    "lmroman12-regular",
    "lmroman17-regular",
    "lmroman10-bold",
    "lmroman12-bold",
    "lmroman10-italic",
    "lmroman10-bolditalic",
    "lmromancaps10-regular",
    "lmsans10-regular",
    "lmmono10-regular",
    "notoserif-regular",
];

/// So long nobody looks whether fonts have changed: that is 2 ms for 700 files, with each document. A font that came since is
/// read by the document itself.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Files of the cache by their names in a job's folder.
type Files = Vec<(String, Bytes)>;

/// What this service has, what that is made of, and when that was looked at.
struct Present {
    key: Option<Key>,
    files: Arc<Files>,
    looked: Instant,
}

/// The cache for all documents.
pub(super) struct FontCache {
    kept: Option<Kept>,
    present: Mutex<Option<Present>>,
    /// It was said that nothing is kept.
    told: Once,
}

impl FontCache {
    /// One that outlives the service in `folder`, if that is given.
    pub fn new(folder: Option<&Path>) -> Self {
        Self { kept: folder.map(Kept::new), present: Mutex::default(), told: Once::new() }
    }

    /// The files for `program`, made if nobody has; none where they cannot be made, for documents do without.
    pub async fn files(&self, tex: &Tex, program: TexProgram) -> Arc<Files> {
        if program != TexProgram::Lualatex {
            return Arc::default();
        }
        let mut present = self.present.lock().await;
        if let Some(present) = present.as_ref().filter(|present| present.looked.elapsed() < LOOK_AGAIN) {
            return Arc::clone(&present.files);
        }
        let looked = Instant::now();
        let key = spawn_blocking(|| key::key(&[DOCUMENT, set(), opening::START, opening::SCRIPTS])).await;
        // Without a name it is this service's alone.
        let key = key.map_err(io::Error::other).flatten();
        // Each document finds the same; one line says so.
        let key = key.inspect_err(|error| self.told.call_once(|| unkept(error))).ok();
        if let Some(present) = present.as_mut().filter(|present| present.key == key) {
            present.looked = looked;
            return Arc::clone(&present.files);
        }
        // Where it fails, the next document tries again.
        match self.kept_or_made(tex, key).await {
            Ok(files) => Arc::clone(&present.insert(Present { key, files: Arc::new(files), looked }).files),
            Err(cause) => {
                tracing::warn!(error = cause, "lualatex reads its fonts in the document itself");
                Arc::default()
            }
        }
    }

    async fn kept_or_made(&self, tex: &Tex, key: Option<Key>) -> Result<Files, String> {
        // Where programs may write whatever this user may, one of them could have written it.
        let kept = self.kept.clone().filter(|_| tex.steps.programs().confines_files());
        let Some((kept, key)) = kept.zip(key) else { return made(tex).await };
        let reading = kept.clone();
        let mut read = spawn_blocking(move || reading.read(&key)).await.map_err(io::Error::other).flatten();
        if let Some(files) = read.as_mut().ok().and_then(|read| read.take_if(|files| has_names(files))) {
            return Ok(files);
        }
        let files = made(tex).await?;
        if !has_names(&files) {
            self.told.call_once(|| unkept(&io::Error::other("luaotfload wrote no names of fonts")));
            return Ok(files);
        }
        let writing = files.clone();
        let write = spawn_blocking(move || kept.write(&key, &writing)).await.map_err(io::Error::other);
        if let Some(error) = read.err().or(write.flatten().err()) {
            unkept(&error);
        }
        Ok(files)
    }
}

fn unkept(error: &io::Error) {
    tracing::warn!(%error, "lualatex reads the fonts anew, and may at the next start (tex.cache_dir)");
}

/// What is set before the document of ours.
fn set() -> &'static str {
    opening::set(TexProgram::Lualatex, true, DOCUMENT)
}

async fn made(tex: &Tex) -> Result<Files, String> {
    let site = Site::single(NAME, Bytes::from_static(DOCUMENT.as_bytes()));
    let folder = Folder::of(&site);
    let opening = opening::opening(set(), NAME, &Metadata::default());
    let base = tex.base(TexProgram::Lualatex).await;
    let mut session = tex.session(&tex.zone, &folder, Instant::now() + TIMEOUT).with(base);
    session.bounds.memory_bytes = session.bounds.memory_bytes.max(MEMORY_BYTES);
    session.bounds.processor_s = session.bounds.processor_s.max(TIMEOUT.as_secs());
    session.bounds.scratch_bytes = session.bounds.scratch_bytes.max(SCRATCH_BYTES);
    let made =
        passes::make(&session, TexProgram::Lualatex, opening, &[]).await.map_err(|error| match error {
            TexError::Document(error) | TexError::Both(_, error) => error.message,
            TexError::Ended(_, fault) => fault.message,
            TexError::Step(fault) => format!("{fault:?}"),
        })?;
    files_of(&made.finished).await
}

/// What is there of the files that are kept. Where the system fails there are none: half a cache would be kept for good.
async fn files_of(finished: &Finished) -> Result<Files, String> {
    let names = NAMES.iter().map(|&name| name.to_owned());
    let fonts = FONTS.iter().map(|font| format!("fonts/otl/{font}.luc"));
    let mut files = Vec::new();
    for name in names.chain(fonts) {
        let path = format!("{CACHE}/luatex-cache/generic/{name}");
        match finished.read(&path, FILE_BYTES).await {
            Ok(content) => files.push((path, content)),
            Err(OutputError::Missing | OutputError::TooLong { .. }) => {}
            Err(error) => return Err(format!("{path}: {error}")),
        }
    }
    Ok(files)
}

/// Whether the names of fonts are among the files: without them each document reads all fonts.
fn has_names(files: &Files) -> bool {
    files.iter().any(|(path, _)| path.ends_with(NAMES[0]))
}
