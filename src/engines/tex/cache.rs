//! What lualatex has read of fonts, made once and given to each document: without it a run takes seconds longer.
//!
//! It is made of a document of ours in a folder of its own, where no job has been, and a job has a copy: what one writes,
//! no other one reads.

use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::OnceCell;

use super::Tex;
use super::errors::TexError;
use super::folder::Folder;
use super::needs::CACHE;
use super::opening;
use crate::domain::format_opts::{Metadata, TexProgram};
use crate::domain::site::Site;
use crate::workers::Finished;

const DOCUMENT: &str = include_str!("../../../assets/tex/warm.tex");
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

/// Files of the cache by their names in a job's folder.
#[derive(Default)]
pub(super) struct FontCache(OnceCell<Vec<(String, Bytes)>>);

impl FontCache {
    /// The files for `program`, made if nobody has; none where they cannot be made, for documents do without.
    pub async fn files(&self, tex: &Tex, program: TexProgram) -> &[(String, Bytes)] {
        if program != TexProgram::Lualatex {
            return &[];
        }
        // Where it fails, the next document tries again.
        match self.0.get_or_try_init(|| made(tex)).await {
            Ok(cache) => cache,
            Err(cause) => {
                tracing::warn!(error = cause, "lualatex reads its fonts in the document itself");
                &[]
            }
        }
    }
}

async fn made(tex: &Tex) -> Result<Vec<(String, Bytes)>, String> {
    let site = Site::single(NAME, Bytes::from_static(DOCUMENT.as_bytes()));
    let folder = Folder::of(&site);
    let set = opening::set(TexProgram::Lualatex, true, DOCUMENT);
    let opening = opening::opening(set, NAME, &Metadata::default());
    let base = tex.base(TexProgram::Lualatex).await;
    let mut runs = tex.runs(&tex.zone, &folder, Instant::now() + TIMEOUT).with(base);
    runs.bounds.memory_bytes = runs.bounds.memory_bytes.max(MEMORY_BYTES);
    runs.bounds.processor_s = runs.bounds.processor_s.max(TIMEOUT.as_secs());
    runs.bounds.scratch_bytes = runs.bounds.scratch_bytes.max(SCRATCH_BYTES);
    let made = runs.make(TexProgram::Lualatex, opening, &[]).await.map_err(|error| match error {
        TexError::Document(error) | TexError::Both(_, error) => error.message,
        TexError::Ended(_, fault) => fault.message,
        TexError::Step(fault) => format!("{fault:?}"),
    })?;
    Ok(kept(&made.finished).await)
}

/// What is there of the files that are kept.
async fn kept(finished: &Finished) -> Vec<(String, Bytes)> {
    let names = NAMES.iter().map(|&name| name.to_owned());
    let fonts = FONTS.iter().map(|font| format!("fonts/otl/{font}.luc"));
    let mut files = Vec::new();
    for name in names.chain(fonts) {
        let path = format!("{CACHE}/luatex-cache/generic/{name}");
        if let Ok(content) = finished.read(&path, FILE_BYTES).await {
            files.push((path, content));
        }
    }
    files
}
