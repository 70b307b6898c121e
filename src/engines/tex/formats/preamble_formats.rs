//! Formats of preambles: the second document with the same preamble has its format made in the background, and later ones
//! start from it.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::make::{FormatRequest, readable};
use super::preamble::{self, EarlyTag};
use super::table::{Format, FormatReservation, Found, Table};
use super::{RunSetting, base};
use crate::domain::format_opts::TexProgram;
use crate::domain::ids::AccountId;
use crate::domain::site::Site;
use crate::engines::tex::folder::Folder;
use crate::engines::tex::hash::{Hash, Key};
use crate::engines::tex::needs;
use crate::telemetry::TexMetrics;
use crate::workers::SharedFile;

/// A template with more files that a preamble may read gets no format.
const READ_BYTES: usize = 8 << 20;
const PDFLATEX: &str = "/usr/bin/pdflatex";

/// Clones share the formats.
#[derive(Clone, Debug)]
pub(in crate::engines::tex) struct PreambleFormats {
    table: Arc<Mutex<Table<SharedFile>>>,
    /// One format is made at a time; no job waits for it.
    permit: Arc<Semaphore>,
    limit_bytes: u64,
    metrics: TexMetrics,
}

/// A document whose preamble may have a format.
pub(in crate::engines::tex) struct PreambleRequest {
    pub account: AccountId,
    /// The template with the job's source in the entry's place.
    pub site: Site,
    /// TeX's job name.
    pub name: String,
    pub setting: RunSetting,
}

/// The format of a document's preamble, and the source without that preamble.
pub(in crate::engines::tex) type PreloadedSource = (Arc<SharedFile>, Bytes);

impl PreambleFormats {
    /// Empty; the formats together never take more than `limit_bytes`.
    pub fn new(limit_bytes: u64, metrics: TexMetrics) -> Self {
        let table = Arc::new(Mutex::new(Table::new(limit_bytes)));
        Self { table, permit: Arc::new(Semaphore::new(1)), limit_bytes, metrics }
    }

    /// The format for a document of pdflatex, if it is ready, and a tag that the author is to be warned of. It takes time by the
    /// bytes of the site.
    pub fn preloaded(&self, request: &PreambleRequest) -> (Option<PreloadedSource>, Option<EarlyTag>) {
        let template = request.site.template();
        let Some(text) = template.page().and_then(|page| std::str::from_utf8(page).ok()) else {
            return (None, None);
        };
        let text = text.trim_start_matches('\u{feff}');
        (self.find_or_make(request, &template, text), self.early_tag(request, text))
    }

    /// The ready format of the preamble; starts making it in the background where the preamble has come a second time.
    fn find_or_make(
        &self,
        request: &PreambleRequest,
        template: &Site,
        text: &str,
    ) -> Option<PreloadedSource> {
        let source = &Folder::named(&request.site, request.name.clone()).source();
        let preamble = preamble::of(text, source)?;
        // Where a line is moved behind the preamble, the test covered this whole template, so the format is for it alone.
        let tried = if preamble.is_reordered() { text } else { preamble.head_of(text) };
        let key = key(request, tried, &readable(&Folder::named(template, request.name.clone())))?;
        let permit = Arc::clone(&self.permit).try_acquire_owned().ok();
        let found = self.table.lock().find(key, permit.is_some());
        match (found, permit) {
            (Found::Ready(format), _) => {
                self.metrics.formats.of(["used"]).inc();
                return Some((format, preamble.left_of(source).into()));
            }
            (Found::Wanted, Some(permit)) => {
                let format_request = FormatRequest {
                    setting: request.setting.clone(),
                    site: template.clone(),
                    name: request.name.clone(),
                    template: text.to_owned(),
                    preamble,
                    limit_bytes: self.limit_bytes,
                };
                let (reserved, metrics) =
                    (FormatReservation::new(Arc::clone(&self.table), key), self.metrics.clone());
                tokio::spawn(async move {
                    make(reserved, &metrics, Arc::new(format_request)).await;
                    drop(permit);
                });
            }
            (Found::Wanted | Found::Nothing, _) => {}
        }
        None
    }

    /// At a template's second document: the tag that keeps most of its preamble out of a format. The author is warned once.
    fn early_tag(&self, request: &PreambleRequest, text: &str) -> Option<EarlyTag> {
        let tag = preamble::early_tag(text)?;
        let mut hash = Hash::new("early tag");
        hash.add(request.account.to_string().as_bytes());
        hash.add(text.as_bytes());
        let (key, mut table) = (hash.key(), self.table.lock());
        if !matches!(table.find(key, true), Found::Wanted) {
            return None;
        }
        table.refuse(key);
        Some(tag)
    }
}

/// Makes a format, and records the outcome in the table and the metrics.
async fn make(reserved: FormatReservation<SharedFile>, metrics: &TexMetrics, request: Arc<FormatRequest>) {
    let made = request.make().await.inspect_err(|refusal| {
        tracing::debug!(reason = %refusal, "a preamble is read with each document");
    });
    let (kept, bytes) = reserved.finish(made.ok());
    match kept {
        Some(evicted) => {
            metrics.formats.of(["made"]).inc();
            metrics.formats.of(["evicted"]).inc_by(evicted);
        }
        None => {
            metrics.formats.of(["refused"]).inc();
        }
    }
    metrics.format_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
}

/// A hash of all inputs of a format, and of the template text by which it was `tried`. The account is one of them, also where
/// two accounts have equal templates: a format is code, and no account's document may run another account's.
fn key(request: &PreambleRequest, tried: &str, read: &[(String, Bytes)]) -> Option<Key> {
    if read.iter().map(|(_, content)| content.len()).sum::<usize>() > READ_BYTES {
        return None;
    }
    let mut hash = Hash::new("format");
    hash.add(request.account.to_string().as_bytes());
    let programs = [PDFLATEX, base::path_of(TexProgram::Pdflatex)];
    for path in needs::TREES.into_iter().chain(programs) {
        hash.add(format!("{:?}", base::stamp(Path::new(path))).as_bytes());
    }
    hash.add(request.name.as_bytes());
    hash.add(request.setting.prelude.as_bytes());
    hash.add(tried.as_bytes());
    for (name, content) in read {
        hash.add(name.as_bytes());
        hash.add(content);
    }
    Some(hash.key())
}

impl Format for SharedFile {
    fn bytes(&self) -> u64 {
        self.bytes()
    }

    fn exists(&self) -> bool {
        self.exists()
    }
}
