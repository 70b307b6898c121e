//! What the registry works with.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::cache::ContentCache;
use super::index::TemplateIndex;
use super::turns::Turns;
use crate::clock::Clock;
use crate::config::{Config, TemplatesConfig};
use crate::problem::Problem;
use crate::storage::index::Index;
use crate::storage::{ObjectStore, StoreError};
use crate::telemetry::TemplateMetrics;

/// Archives unpacked at once: each may take as much memory as `templates.archive_bytes_limit` says.
const UNPACKED_AT_ONCE: usize = 2;

/// Shared by the registry, what it does, and the janitor.
pub struct Deps {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) index: TemplateIndex,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) limits: TemplatesConfig,
    pub(super) upload_limit_bytes: u64,
    pub(super) cache: ContentCache,
    pub(super) turns: Turns,
    pub(super) unpacking: Semaphore,
    pub(super) metrics: TemplateMetrics,
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
            cache: ContentCache::new(config.templates.cache_bytes, metrics.clone()),
            turns: Turns::default(),
            unpacking: Semaphore::new(UNPACKED_AT_ONCE),
            metrics,
        }
    }
}

/// What the store said, when the object must be there.
pub(super) fn lost(error: StoreError) -> Problem {
    match error {
        StoreError::NotFound(path) => Problem::internal(format!("the object {path} of a template is lost")),
        StoreError::TooLarge { .. } | StoreError::Range { .. } | StoreError::Failed(_) => error.into(),
    }
}
