//! One request or tunnel of a page to an allowed host: its slot, its deadline, its bytes, and the warning when it is refused.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::page_session::{PageSession, Refused};
use crate::domain::reach::Reach;
use crate::outbound::PinnedUrl;

/// A request or tunnel under way. Whatever ends it early becomes a warning of the page.
pub(super) struct ProxyRequest {
    pub session: Arc<PageSession>,
    /// Host and port.
    host: Option<String>,
    shown: String,
    limit: Duration,
    pub deadline: Instant,
    bytes: AtomicU64,
    _slot: OwnedSemaphorePermit,
}

impl ProxyRequest {
    /// Waits for a slot where too many are under way.
    pub(super) async fn begin(
        session: &Arc<PageSession>,
        host: Option<String>,
        shown: String,
    ) -> Result<Self, Refused> {
        let usage = &session.usage;
        let refuse = |why: &str| {
            session.warn_refused(host.clone(), &shown, why);
            Refused
        };
        if usage.reach == Reach::OwnFiles {
            return Err(refuse(
                "a public template reaches no hosts in a document of another account; a clone of it does",
            ));
        }
        let (limits, limit) = (usage.limits, Duration::from_secs(usage.limits.timeout_s));
        if usage.requests.fetch_add(1, Ordering::Relaxed) >= limits.requests {
            let requests = limits.requests;
            return Err(refuse(&format!("the page made {requests} requests (outbound.page_request_limit)")));
        }
        let deadline = Instant::now() + limit;
        let slot = timeout_at(deadline, usage.slots.acquire()).await;
        let Ok(Some(slot)) = slot else {
            let connections = limits.connections;
            return Err(refuse(&format!(
                "{connections} others were not done in time (outbound.page_connection_limit)"
            )));
        };
        let (session, bytes) = (Arc::clone(session), AtomicU64::default());
        Ok(Self { session, host, shown, limit, deadline, bytes, _slot: slot })
    }

    /// Resolves the host and judges what it resolves to; the answer is the address to connect to.
    pub(super) async fn decide(&self, url: &Url) -> Result<PinnedUrl, Refused> {
        let usage = &self.session.usage;
        let pinned = self.within(usage.outbound.decide_page(url)).await?;
        let pinned = pinned.map_err(|refusal| self.refused(refusal))?;
        usage.has_reached_hosts.store(true, Ordering::Relaxed);
        Ok(pinned)
    }

    /// Counts bytes of either direction.
    pub(super) fn count(&self, bytes: usize) -> Result<(), Refused> {
        self.check_limits(bytes as u64)?;
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.session.usage.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Refuses what would go beyond the limits of one answer, or of the page.
    pub(super) fn check_limits(&self, bytes: u64) -> Result<(), Refused> {
        let (limits, total) = (self.session.usage.limits, &self.session.usage.bytes);
        let is_full =
            |counted: &AtomicU64, limit| counted.load(Ordering::Relaxed).saturating_add(bytes) > limit;
        if is_full(&self.bytes, limits.bytes) {
            let limit = limits.bytes;
            return Err(self.refused(format!("it has more than {limit} bytes (outbound.page_limit_bytes)")));
        }
        if is_full(total, limits.total_bytes) {
            let limit = limits.total_bytes;
            return Err(self.refused(format!(
                "the page takes more than {limit} bytes of others (outbound.page_total_limit_bytes)"
            )));
        }
        Ok(())
    }

    /// What `step` gives, unless the deadline comes first.
    pub(super) async fn within<T>(&self, step: impl Future<Output = T>) -> Result<T, Refused> {
        timeout_at(self.deadline, step).await.map_err(|_| self.late())
    }

    pub(super) fn late(&self) -> Refused {
        let limit_s = self.limit.as_secs();
        self.refused(format!("it was not done within {limit_s} s (outbound.page_timeout_s)"))
    }

    pub(super) fn refused(&self, why: impl Display) -> Refused {
        self.session.warn_refused(self.host.clone(), &self.shown, &why.to_string());
        Refused
    }
}

impl Drop for ProxyRequest {
    fn drop(&mut self) {
        self.session.note_activity();
    }
}
