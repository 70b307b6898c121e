//! Preambles that are read ahead: at the second document that begins with one its format is made, beside the jobs, and the
//! next ones begin where it ends.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use tokio::sync::Semaphore;

use super::make::{FormatOrder, readable};
use super::preamble::{self, EarlyTag};
use super::table::{Format, FormatReservation, Found, Table, locked};
use super::{Setting, base};
use crate::domain::format_opts::TexProgram;
use crate::domain::ids::AccountId;
use crate::domain::site::Site;
use crate::engines::tex::folder::Folder;
use crate::engines::tex::hash::{Hash, Key};
use crate::engines::tex::needs;
use crate::telemetry::TexMetrics;
use crate::workers::SharedFile;

/// A template with more of what a preamble may read is read with each document.
const READ_BYTES: usize = 8 << 20;
const PDFLATEX: &str = "/usr/bin/pdflatex";

/// The formats of preambles.
#[derive(Debug)]
pub(in crate::engines::tex) struct Ahead {
    table: Arc<Mutex<Table<SharedFile>>>,
    /// One is made at a time, and nobody waits for it: another document of the template comes.
    turn: Arc<Semaphore>,
    limit_bytes: u64,
    metrics: TexMetrics,
}

/// A document whose preamble may have been read ahead.
pub(in crate::engines::tex) struct PreambleRequest<'a> {
    pub account: AccountId,
    /// The template with the job's source in the entry's place.
    pub site: &'a Site,
    pub source: &'a str,
    pub setting: Setting,
}

/// A format that a document begins with, and what is left of its source.
pub(in crate::engines::tex) type Beginning = (Arc<SharedFile>, Bytes);

impl Ahead {
    /// None yet, and never more than `limit_bytes` of them.
    pub fn new(limit_bytes: u64, metrics: TexMetrics) -> Self {
        let table = Arc::new(Mutex::new(Table::new(limit_bytes)));
        Self { table, turn: Arc::new(Semaphore::new(1)), limit_bytes, metrics }
    }

    /// What a document of pdflatex begins with that is made already, and what its author is told once.
    pub fn beginning(&self, request: &PreambleRequest<'_>) -> (Option<Beginning>, Option<EarlyTag>) {
        let template = request.site.template();
        let Some(text) = template.page().and_then(|page| std::str::from_utf8(page).ok()) else {
            return (None, None);
        };
        let text = text.trim_start_matches('\u{feff}');
        (self.read(request, &template, text), self.early_tag(request, text))
    }

    /// The format of a preamble that was read ahead. Of one that comes again it is made in the background.
    fn read(&self, request: &PreambleRequest<'_>, template: &Site, text: &str) -> Option<Beginning> {
        let preamble = preamble::of(text, request.source)?;
        // Where a line is read later than it stands, it was tried with the whole of this text, and holds for that alone.
        let tried = if preamble.is_reordered() { text } else { preamble.head_of(text) };
        let key = key(request, tried, &readable(&Folder::of(template)))?;
        let turn = Arc::clone(&self.turn).try_acquire_owned().ok();
        let found = self.table().find(key, turn.is_some());
        match (found, turn) {
            (Found::Ready(format), _) => {
                self.metrics.formats.of(["used"]).inc();
                return Some((format, preamble.left_of(request.source).into()));
            }
            (Found::Wanted, Some(turn)) => {
                let order = FormatOrder {
                    setting: request.setting.clone(),
                    site: template.clone(),
                    template: text.to_owned(),
                    preamble,
                    limit_bytes: self.limit_bytes,
                };
                let (reserved, metrics) =
                    (FormatReservation::new(Arc::clone(&self.table), key), self.metrics.clone());
                tokio::spawn(async move {
                    make(reserved, &metrics, order).await;
                    drop(turn);
                });
            }
            (Found::Wanted | Found::Nothing, _) => {}
        }
        None
    }

    /// What an author is told at the second document of a template that is read ahead less far than it could be.
    fn early_tag(&self, request: &PreambleRequest<'_>, text: &str) -> Option<EarlyTag> {
        let tag = preamble::early_tag(text)?;
        let mut hash = Hash::new("early tag");
        hash.add(request.account.to_string().as_bytes());
        hash.add(text.as_bytes());
        let (key, mut table) = (hash.key(), self.table());
        if !matches!(table.find(key, true), Found::Wanted) {
            return None;
        }
        table.refuse(key);
        Some(tag)
    }

    fn table(&self) -> MutexGuard<'_, Table<SharedFile>> {
        locked(&self.table)
    }
}

/// Makes a format, and notes what came of it.
async fn make(reserved: FormatReservation<SharedFile>, metrics: &TexMetrics, order: FormatOrder) {
    let made = order.made().await.inspect_err(|refusal| {
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

/// Everything that a format is made of, and the template's text by which it was `tried`. The account is part of it, also where
/// two have sent the same: what one account's template has made of TeX, no other one's document runs.
fn key(request: &PreambleRequest<'_>, tried: &str, read: &[(String, Bytes)]) -> Option<Key> {
    if read.iter().map(|(_, content)| content.len()).sum::<usize>() > READ_BYTES {
        return None;
    }
    let mut hash = Hash::new("format");
    hash.add(request.account.to_string().as_bytes());
    let programs = [PDFLATEX, base::path_of(TexProgram::Pdflatex)];
    for path in needs::TREES.into_iter().chain(programs) {
        hash.add(format!("{:?}", base::stamp(Path::new(path))).as_bytes());
    }
    hash.add(Folder::of(request.site).name.as_bytes());
    hash.add(request.setting.set.as_bytes());
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
