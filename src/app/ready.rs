//! Whether a document can be rendered now: a browser answers, and store and index take a write.

use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Persistence;
use crate::browser::{BrowserPool, GetPoolStatus};
use crate::engines::catalog::Catalog;
use crate::http::{Readiness, ReadinessResult};
use crate::storage::ObjectStore;
use crate::storage::index::{Index, WriteBatch};

/// What `/health/ready` asks.
pub(super) struct ReadinessCheck {
    pool: Addr<BrowserPool>,
    store: Arc<dyn ObjectStore>,
    index: Arc<dyn Index>,
    catalog: Arc<Catalog>,
    /// The last answer. Locked while a new one is found, so that requests at the same time share one check.
    last: Mutex<Option<(Instant, ReadinessResult)>>,
}

/// How long the answer that it is ready is reused. The endpoint needs no token, so anyone may call it, and each check costs
/// synced writes.
const READY_FOR: Duration = Duration::from_secs(1);
/// The same for the answer that it is not. Shorter, for whoever starts a service asks until it is ready.
const NOT_READY_FOR: Duration = Duration::from_millis(100);

#[async_trait]
impl Readiness for ReadinessCheck {
    async fn check(&self) -> ReadinessResult {
        let mut last = self.last.lock().await;
        if let Some((asked, answer)) = last.as_ref()
            && asked.elapsed() < if answer.is_ok() { READY_FOR } else { NOT_READY_FOR }
        {
            return answer.clone();
        }
        let answer = self.check_all().await;
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}

impl ReadinessCheck {
    pub fn new(pool: &Addr<BrowserPool>, persistence: &Persistence, catalog: &Arc<Catalog>) -> Self {
        let (store, index) = (persistence.store.clone(), persistence.index.clone());
        Self { pool: pool.clone(), store, index, catalog: catalog.clone(), last: Mutex::default() }
    }

    async fn check_all(&self) -> ReadinessResult {
        let (browser, store, index) = tokio::join!(self.browser(), self.store(), self.index());
        self.catalog.recheck_versions().await;
        let reasons: Vec<_> = [browser, store, index].into_iter().filter_map(Result::err).collect();
        if reasons.is_empty() { Ok(self.catalog.lost()) } else { Err(reasons) }
    }

    async fn browser(&self) -> Result<(), String> {
        let status = self.pool.send(GetPoolStatus).await.map_err(|error| format!("browser: {error}"))?;
        if status.ready {
            return Ok(());
        }
        Err(format!("browser: {}", status.cause.unwrap_or_else(|| "none has started yet".to_owned())))
    }

    async fn store(&self) -> Result<(), String> {
        self.store.probe().await.map_err(|error| format!("store: {error}"))
    }

    async fn index(&self) -> Result<(), String> {
        let probe = WriteBatch::new().put("probe/ready", Vec::new());
        self.index.commit(probe).await.map_err(|error| format!("index: {error}"))
    }
}
