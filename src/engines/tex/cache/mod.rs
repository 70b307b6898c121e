//! lualatex's font cache, made once and copied into each document's folder: without it a run takes seconds longer.
//!
//! It is made by a document of ours in a folder that no job has used, and jobs get copies, so no job can write what another
//! one reads. `disk.rs` stores it for the next start, until fonts or TeX change (`key.rs`). Only `tex/mod.rs` calls this.

mod disk;
mod key;

use std::io;
use std::path::Path;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use self::disk::DiskCache;
use super::Tex;
use super::errors::TexError;
use super::first_file;
use super::folder::Folder;
use super::hash::Key;
use super::needs::CACHE;
use super::passes;
use crate::domain::format_opts::{Metadata, TexProgram};
use crate::domain::site::Site;
use crate::workers::{Finished, OutputError};

const DOCUMENT: &str = include_str!("../../../../assets/tex/warm.tex");
const NAME: &str = "warm.tex";
/// How long reading all fonts of the machine may take.
const TIMEOUT: Duration = Duration::from_mins(2);
/// The memory and disk for it, also where a document may use less.
const MEMORY_BYTES: u64 = 2 << 30;
const SCRATCH_BYTES: u64 = 256 << 20;
/// Longer files are not cached.
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

/// How often the key is computed again, at most: that takes 2 ms for 700 files. Until then a document reads a new font by itself.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Files of the cache by their names in a job's folder.
type Files = Vec<(String, Bytes)>;

/// The cache in memory, its key, and when that was last computed.
struct LoadedFiles {
    key: Option<Key>,
    files: Arc<Files>,
    checked: Instant,
}

/// The cache for all documents.
pub(super) struct FontCache {
    disk: Option<DiskCache>,
    present: Mutex<Option<LoadedFiles>>,
    /// The log has been warned that nothing is stored.
    warned: Once,
}

impl FontCache {
    /// A cache that is stored in `folder`, if that is given.
    pub fn new(folder: Option<&Path>) -> Self {
        Self { disk: folder.map(DiskCache::new), present: Mutex::default(), warned: Once::new() }
    }

    /// The files for `program`, made at the first call; empty where that fails, since documents also work without.
    pub async fn files(&self, tex: &Tex, program: TexProgram) -> Arc<Files> {
        if program != TexProgram::Lualatex {
            return Arc::default();
        }
        let mut present = self.present.lock().await;
        if let Some(present) = present.as_ref().filter(|present| present.checked.elapsed() < CHECK_INTERVAL) {
            return Arc::clone(&present.files);
        }
        let checked = Instant::now();
        let key =
            spawn_blocking(|| key::key(&[DOCUMENT, prelude(), first_file::START, first_file::SCRIPTS])).await;
        // Without a key the cache is used, but not stored.
        let key = key.map_err(io::Error::other).flatten();
        // Each document would fail alike, so the log is warned once.
        let key = key.inspect_err(|error| self.warned.call_once(|| warn_unstored(error))).ok();
        if let Some(present) = present.as_mut().filter(|present| present.key == key) {
            present.checked = checked;
            return Arc::clone(&present.files);
        }
        // After a failure the next document tries again.
        match self.load_or_make(tex, key).await {
            Ok(files) => {
                Arc::clone(&present.insert(LoadedFiles { key, files: Arc::new(files), checked }).files)
            }
            Err(cause) => {
                tracing::warn!(error = cause, "lualatex reads its fonts in the document itself");
                Arc::default()
            }
        }
    }

    async fn load_or_make(&self, tex: &Tex, key: Option<Key>) -> Result<Files, String> {
        // Where the sandbox does not confine files, a job's program could have written the stored cache.
        let disk = self.disk.clone().filter(|_| tex.steps.programs.confines_files());
        let Some((disk, key)) = disk.zip(key) else { return make_files(tex).await };
        let reading = disk.clone();
        let mut read = spawn_blocking(move || reading.read(&key)).await.map_err(io::Error::other).flatten();
        if let Some(files) = read.as_mut().ok().and_then(|read| read.take_if(|files| has_names(files))) {
            return Ok(files);
        }
        let files = make_files(tex).await?;
        if !has_names(&files) {
            self.warned.call_once(|| warn_unstored(&io::Error::other("luaotfload wrote no names of fonts")));
            return Ok(files);
        }
        let writing = files.clone();
        let write = spawn_blocking(move || disk.write(&key, &writing)).await.map_err(io::Error::other);
        if let Some(error) = read.err().or(write.flatten().err()) {
            warn_unstored(&error);
        }
        Ok(files)
    }
}

fn warn_unstored(error: &io::Error) {
    tracing::warn!(%error, "lualatex reads the fonts anew, and may at the next start (tex.cache_dir)");
}

fn prelude() -> &'static str {
    first_file::prelude(TexProgram::Lualatex, true)
}

/// Makes the cache: lualatex typesets our document, and its cache files are read.
async fn make_files(tex: &Tex) -> Result<Files, String> {
    let site = Site::single(NAME, Bytes::from_static(DOCUMENT.as_bytes()));
    let folder = Folder::of(&site);
    let content = first_file::content(prelude(), NAME, &Metadata::default());
    let base = tex.base(TexProgram::Lualatex).await;
    let mut session = tex.session(&tex.zone, &folder, Instant::now() + TIMEOUT).with_format(base);
    session.bounds.memory_bytes = session.bounds.memory_bytes.max(MEMORY_BYTES);
    session.bounds.processor_s = session.bounds.processor_s.max(TIMEOUT.as_secs());
    session.bounds.scratch_bytes = session.bounds.scratch_bytes.max(SCRATCH_BYTES);
    let made =
        passes::make(&session, TexProgram::Lualatex, content, &[]).await.map_err(|error| match error {
            TexError::Document(error) | TexError::Both(_, error) => error.message,
            TexError::Ended(_, error) => error.message,
            TexError::Step(error) => format!("{error:?}"),
        })?;
    files_of(&made.finished).await
}

/// The cache files that lualatex has written. A read error fails the whole: half a cache would be stored for good.
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
