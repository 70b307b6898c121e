//! What the registry works with.

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use super::index::TemplateIndex;
use super::locks::Turns;
use super::messages::TemplateRef;
use super::record::TemplateRecord;
use super::refusal;
use super::variables::ReaderPlace;
use crate::clock::Clock;
use crate::config::{Config, TemplatesConfig};
use crate::domain::ids::TemplateId;
use crate::problem::Problem;
use crate::storage::index::Index;
use crate::storage::{ObjectStore, StorageQuota, StoreError};
use crate::telemetry::TemplateMetrics;
use crate::templates::cache::ContentCache;
use crate::templates::cache::unpacking::Room;

/// So much JSON is read or written in less than half a millisecond.
const HERE_BYTES: usize = 64 << 10;

/// Shared by the registry, what it does, and the janitor.
pub struct Deps {
    pub(in crate::templates) clock: Arc<dyn Clock>,
    pub(in crate::templates) index: TemplateIndex,
    pub(in crate::templates) store: Arc<dyn ObjectStore>,
    pub(in crate::templates) limits: TemplatesConfig,
    pub(in crate::templates) upload_limit_bytes: u64,
    pub(in crate::templates) text_limit_bytes: u64,
    pub(in crate::templates) orphan_age_ms: u64,
    pub(in crate::templates) cache: ContentCache,
    pub(in crate::templates) turns: Turns<TemplateId>,
    pub(in crate::templates) room: Room,
    pub(in crate::templates) quota: Arc<StorageQuota>,
    pub(in crate::templates) reader: ReaderPlace,
    pub(in crate::templates) metrics: TemplateMetrics,
}

impl Deps {
    /// What is worked with: records in `index`, everything else in `store`.
    #[must_use]
    pub fn new(
        clock: Arc<dyn Clock>,
        (index, store): (Arc<dyn Index>, Arc<dyn ObjectStore>),
        config: &Config,
        metrics: TemplateMetrics,
    ) -> Self {
        Self {
            clock,
            index: TemplateIndex::new(index),
            store,
            limits: config.templates.clone(),
            upload_limit_bytes: config.http.upload_limit_bytes,
            text_limit_bytes: config.http.json_limit_bytes,
            orphan_age_ms: config.templates.orphan_age_s.saturating_mul(1_000),
            cache: ContentCache::new(config.templates.cache_bytes, metrics.clone()),
            turns: Turns::default(),
            room: Room::new(&config.templates),
            quota: StorageQuota::new(config.accounts.stored_bytes_limit),
            reader: ReaderPlace::default(),
            metrics,
        }
    }

    /// The same where templates count beside what else is stored, and what was stored before.
    #[must_use]
    pub fn counting(self, quota: Arc<StorageQuota>) -> Self {
        Self { quota, ..self }
    }
}

impl Deps {
    /// The record of a template that the account may change.
    ///
    /// # Errors
    /// `template_not_found`, `not_owner`.
    pub(in crate::templates) async fn own(&self, of: TemplateRef) -> Result<TemplateRecord, Problem> {
        let record = self.index.usable(of.account, of.template).await?;
        refusal::own(record, of)
    }

    /// The same once nobody else changes the template, and for as long as the guard is held. Who may not change it
    /// never waits for it, nor keeps its owner waiting.
    ///
    /// # Errors
    /// As for `own`.
    pub(in crate::templates) async fn own_in_turn(
        &self,
        of: TemplateRef,
    ) -> Result<(OwnedMutexGuard<()>, TemplateRecord), Problem> {
        self.own(of).await?;
        let turn = self.turns.of(of.template).await;
        Ok((turn, self.own(of).await?))
    }
}

/// Does `work` on `bytes` where it keeps nobody waiting: all actors share a thread.
pub(in crate::templates) async fn by_size<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    if bytes <= HERE_BYTES {
        return work();
    }
    tokio::task::spawn_blocking(work).await.map_err(Problem::internal)?
}

/// What the store said, when the object must be there.
pub(in crate::templates) fn lost(error: StoreError) -> Problem {
    match error {
        StoreError::NotFound(path) => Problem::internal(format!("the object {path} of a template is lost")),
        StoreError::TooLarge { .. } | StoreError::Range { .. } | StoreError::Failed(_) => error.into(),
    }
}
