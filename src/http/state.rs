//! What handlers work with. The composition root builds it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use actix::{Addr, Recipient};
use async_trait::async_trait;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::accounts::actor::Authenticate;
use crate::clock::Clock;
use crate::config::{Config, as_count};
use crate::engines::catalog::Catalog;
use crate::http::body::members::BodyContext;
use crate::http::body::permits::Bodies;
use crate::http::connections::Connections;
use crate::http::middleware::rate_limit::RateLimit;
use crate::jobs::registry::JobRegistry;
use crate::outbound::Outbound;
use crate::slots::{AccountShare, AccountSlots};
use crate::storage::ObjectStore;
use crate::storage::presigned_urls::{PresignedUrls, Signer};
use crate::telemetry::HttpMetrics;
use crate::telemetry::metrics::Metrics;
use crate::templates::registry::{TemplateReader, TemplateRegistry};

/// Whether the service can render a document now.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// Checks everything that a render needs.
    async fn check(&self) -> ReadinessResult;
}

/// `Ok`: documents can be rendered; the sentences name engines that are missing. `Err`: none can be rendered; the sentences
/// say why. All of them are for the operator.
pub type ReadinessResult = Result<Vec<String>, Vec<String>>;

/// Everything the handlers need; cheap to clone, shared by all workers.
#[derive(Clone)]
pub struct HttpState {
    /// The job registry.
    pub jobs: Addr<JobRegistry>,
    /// The template registry: whatever changes templates.
    pub templates: Addr<TemplateRegistry>,
    /// Reads templates.
    pub template_reader: TemplateReader,
    /// Authenticates tokens.
    pub accounts: Recipient<Authenticate>,
    /// Rate limit of tokens.
    pub rate_limit: Arc<RateLimit>,
    /// Signs presigned URLs.
    pub presigned_urls: Arc<dyn PresignedUrls>,
    /// Verifies presigned URLs of this service.
    pub signer: Arc<Signer>,
    /// Which types can be rendered to which targets.
    pub catalog: Arc<Catalog>,
    /// Where outputs are read from.
    pub store: Arc<dyn ObjectStore>,
    /// Decides which delivery URLs are allowed.
    pub outbound: Outbound,
    /// All settings.
    pub config: Arc<Config>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Base of all URLs in answers, see [`public_url`].
    pub public_url: String,
    /// Cancelled when the service begins to stop: long-polls are answered at once and new work is refused.
    pub stopping: CancellationToken,
    /// Cancelled when a stopping service has no running job left: requests that still wait are answered.
    pub idle: CancellationToken,
    /// Readiness check.
    pub readiness: Arc<dyn Readiness>,
    /// All metrics.
    pub metrics: Metrics,
    /// What all clients share.
    pub shared: Shared,
}

/// What all clients share, and none may hold whole; clones are the same.
#[derive(Clone)]
pub struct Shared {
    /// The memory of request bodies.
    pub bodies: Arc<Bodies>,
    /// The connections of all clients.
    pub connections: Arc<Connections>,
    /// Messages that may wait for an actor at once: `jobs.mailbox_limit` slots, shared by account.
    pub actor_slots: AccountSlots,
    /// Tokens that may be looked up at once: `accounts.mailbox_limit` permits.
    pub token_permits: Arc<Semaphore>,
}

impl HttpState {
    /// What readers of bodies know.
    pub(super) fn body_context(&self) -> BodyContext<'_> {
        BodyContext { config: &self.config, catalog: Some(&self.catalog) }
    }
}

impl Shared {
    /// Everything free. `open_files` is the limit of the system.
    pub fn new(config: &Config, open_files: Option<u64>, metrics: &HttpMetrics) -> Self {
        let tokens = as_count(config.accounts.mailbox_limit).min(Semaphore::MAX_PERMITS);
        Self {
            bodies: Arc::new(Bodies::new(&config.http, metrics.body_bytes.clone())),
            connections: Arc::new(Connections::new(&config.http, open_files, metrics.full.clone())),
            actor_slots: AccountSlots::new(as_count(config.jobs.mailbox_limit), AccountShare::default()),
            token_permits: Arc::new(Semaphore::new(tokens)),
        }
    }
}

/// Base of all URLs in answers: `http.public_url`, else the bound address (loopback where the service is bound to every
/// address). Never the Host header: a forged one would send other readers of the answer to a foreign host.
pub fn public_url(config: &Config, bound: SocketAddr) -> String {
    let configured = config.http.public_url.trim_end_matches('/');
    if configured.is_empty() { local_url(bound) } else { configured.to_owned() }
}

/// The URL of the bound address for callers on this machine.
pub fn local_url(mut bound: SocketAddr) -> String {
    if bound.ip().is_unspecified() {
        bound.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    format!("http://{bound}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_the_configured_or_the_bound_address() {
        let mut config = Config::default();
        assert_eq!(public_url(&config, "0.0.0.0:81".parse().unwrap()), "http://127.0.0.1:81");
        assert_eq!(public_url(&config, "[::1]:81".parse().unwrap()), "http://[::1]:81");
        config.http.public_url = "https://docs.example/api/".to_owned();
        assert_eq!(public_url(&config, "[::1]:81".parse().unwrap()), "https://docs.example/api");
    }
}
