//! Preambles that are read ahead: at the second document that begins with one its format is made, beside the jobs, and the
//! next ones begin where it ends.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Semaphore;

use super::base;
use super::make::{Order, readable};
use super::preamble::{self, Halt, Preamble};
use super::table::{Format, Found, Making, Table, locked};
use crate::domain::format_opts::TexProgram;
use crate::domain::ids::AccountId;
use crate::domain::site::Site;
use crate::engines::tex::folder::Folder;
use crate::engines::tex::hash::{Hash, Key};
use crate::engines::tex::needs;
use crate::telemetry::TexMetrics;
use crate::workers::{Bounds, Profile, Programs, SharedFile};

/// Until a format is made and tried.
const TIMEOUT: Duration = Duration::from_mins(2);
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

/// What a document's preamble is read ahead with, and whose.
pub(in crate::engines::tex) struct Wish<'a> {
    pub account: AccountId,
    /// The template with the job's source in the entry's place.
    pub site: &'a Site,
    pub source: &'a str,
    /// What is set before the source.
    pub set: &'static str,
    pub programs: &'a Programs,
    pub profile: &'a Arc<Profile>,
    pub bounds: Bounds,
    /// What the program begins with otherwise.
    pub base: Option<&'a Arc<SharedFile>>,
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
    pub fn beginning(&self, wish: &Wish<'_>) -> (Option<Beginning>, Option<Halt>) {
        let template = wish.site.template();
        let Some(text) = template.page().and_then(|page| std::str::from_utf8(page).ok()) else {
            return (None, None);
        };
        let text = text.trim_start_matches('\u{feff}');
        (self.read(wish, &template, text), self.halted(wish, text))
    }

    /// The format of a preamble that was read ahead. Of one that comes again it is made in the background.
    fn read(&self, wish: &Wish<'_>, template: &Site, text: &str) -> Option<Beginning> {
        let preamble = preamble::of(text, wish.source)?;
        // Where a line is read later than it stands, it was tried with the whole of this text, and holds for that alone.
        let tried = if preamble.is_reordered() { text } else { preamble.head_of(text) };
        let key = key(wish, tried, &readable(&Folder::of(template)))?;
        let turn = Arc::clone(&self.turn).try_acquire_owned().ok();
        let found = self.table().find(key, turn.is_some());
        match (found, turn) {
            (Found::Ready(format), _) => {
                self.metrics.formats.of(["used"]).inc();
                return Some((format, preamble.left_of(wish.source).into()));
            }
            (Found::Wanted, Some(turn)) => {
                let order = self.order(wish, (template.clone(), text), preamble);
                let (making, metrics) = (Making::new(Arc::clone(&self.table), key), self.metrics.clone());
                tokio::spawn(async move {
                    settle(making, &metrics, order).await;
                    drop(turn);
                });
            }
            (Found::Wanted | Found::Nothing, _) => {}
        }
        None
    }

    /// What an author is told at the second document of a template that is read ahead less far than it could be.
    fn halted(&self, wish: &Wish<'_>, text: &str) -> Option<Halt> {
        let halt = preamble::halt(text)?;
        let mut hash = Hash::new("halt");
        hash.add(wish.account.to_string().as_bytes());
        hash.add(text.as_bytes());
        let (key, mut table) = (hash.key(), self.table());
        if !matches!(table.find(key, true), Found::Wanted) {
            return None;
        }
        table.refuse(key);
        Some(halt)
    }

    fn order(&self, wish: &Wish<'_>, (site, template): (Site, &str), preamble: Preamble) -> Order {
        Order {
            programs: wish.programs.clone(),
            profile: Arc::clone(wish.profile),
            bounds: wish.bounds,
            timeout: TIMEOUT,
            site,
            set: wish.set,
            template: template.to_owned(),
            preamble,
            base: wish.base.cloned(),
            limit_bytes: self.limit_bytes,
        }
    }

    fn table(&self) -> MutexGuard<'_, Table<SharedFile>> {
        locked(&self.table)
    }
}

/// Makes a format, and notes what came of it.
async fn settle(making: Making<SharedFile>, metrics: &TexMetrics, order: Order) {
    let made = order.made().await.inspect_err(|refusal| {
        tracing::debug!(reason = %refusal, "a preamble is read with each document");
    });
    let (kept, bytes) = making.settle(made.ok());
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
fn key(wish: &Wish<'_>, tried: &str, read: &[(String, Bytes)]) -> Option<Key> {
    if read.iter().map(|(_, content)| content.len()).sum::<usize>() > READ_BYTES {
        return None;
    }
    let mut hash = Hash::new("format");
    hash.add(wish.account.to_string().as_bytes());
    let programs = [PDFLATEX, base::path_of(TexProgram::Pdflatex)];
    for path in needs::TREES.into_iter().chain(programs) {
        hash.add(format!("{:?}", base::stamp(Path::new(path))).as_bytes());
    }
    hash.add(Folder::of(wish.site).name.as_bytes());
    hash.add(wish.set.as_bytes());
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
