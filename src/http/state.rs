//! What handlers may ask: everything comes in by constructor, from the composition root.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use actix::{Addr, Recipient};
use async_trait::async_trait;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::rate::RateLimit;
use crate::accounts::actor::Authenticate;
use crate::clock::Clock;
use crate::config::Config;
use crate::engines::catalog::Catalog;
use crate::jobs::messages::{CloseUpload, FindRepeat, InitJob, OpenUpload, StartJob, WatchJob};
use crate::jobs::registry::delete::DeleteJob;
use crate::jobs::registry::list::ListJobs;
use crate::outbound::Outbound;
use crate::storage::ObjectStore;
use crate::storage::addresses::Addresses;
use crate::storage::presign::Signer;
use crate::telemetry::metrics::Metrics;
use crate::templates::registry::TemplateRegistry;

/// Whether the service can render a document now.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// Tries what a render needs.
    async fn check(&self) -> Checked;
}

/// That a document can be rendered, with the engines that are lost while the others work on; or every reason why none
/// can. Each is a sentence for the operator.
pub type Checked = Result<Vec<String>, Vec<String>>;

/// The job registry, as far as handlers know it.
#[derive(Clone)]
pub struct JobGate {
    /// Creates a job.
    pub init: Recipient<InitJob>,
    /// Gives the job that a caller's key stands for already.
    pub repeat: Recipient<FindRepeat>,
    /// Starts one.
    pub start: Recipient<StartJob>,
    /// Gives a view that follows it.
    pub watch: Recipient<WatchJob>,
    /// Gives a page of an account's jobs.
    pub list: Recipient<ListJobs>,
    /// Cancels or erases one.
    pub delete: Recipient<DeleteJob>,
    /// Asks for a place to stage an upload.
    pub open_upload: Recipient<OpenUpload>,
    /// Makes a staged upload the job's input.
    pub close_upload: Recipient<CloseUpload>,
}

/// Everything the handlers need; cheap to clone, shared by all workers.
#[derive(Clone)]
pub struct HttpState {
    /// The job registry.
    pub jobs: JobGate,
    /// The template registry.
    pub templates: Addr<TemplateRegistry>,
    /// The accounts: who a token belongs to.
    pub accounts: Recipient<Authenticate>,
    /// How many requests a token may send.
    pub rate_limit: Arc<RateLimit>,
    /// Makes the addresses that are handed out.
    pub addresses: Arc<dyn Addresses>,
    /// Checks those that lead here.
    pub signer: Arc<Signer>,
    /// What can become what.
    pub catalog: Arc<Catalog>,
    /// Where outputs are read from.
    pub store: Arc<dyn ObjectStore>,
    /// Decides where documents may be delivered.
    pub outbound: Outbound,
    /// All settings.
    pub config: Arc<Config>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Base of the addresses handed out, see [`public_url`].
    pub public_url: String,
    /// Cancelled when the service stops: long-polls are answered, nothing new begins.
    pub stopping: CancellationToken,
    /// Cancelled when a stopping service runs no job any more: nothing is worth waiting for.
    pub idle: CancellationToken,
    /// Whether a document can be rendered now.
    pub readiness: Arc<dyn Readiness>,
    /// Where requests are counted, and what `/metrics` shows.
    pub metrics: Metrics,
    /// Room for JSON bodies: a permit for each KiB of `http.bodies_limit_bytes`.
    pub bodies: Arc<Semaphore>,
    /// Questions that may be open at once: `jobs.mailbox_limit` permits.
    pub questions: Arc<Semaphore>,
}

/// The base of the addresses handed out: `http.public_url`, else the bound address (loopback where it is
/// bound to every address). Never what a caller writes into its Host header.
#[must_use]
pub fn public_url(config: &Config, bound: SocketAddr) -> String {
    let configured = config.http.public_url.trim_end_matches('/');
    if configured.is_empty() { local_url(bound) } else { configured.to_owned() }
}

/// The bound address as callers on this machine write it.
#[must_use]
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
