//! One document's part of the proxy: what is served for it, how far it may go, and what it was refused.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, ORIGIN, REFERER};
use hyper::{Request, Response, Uri};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::slots::ConnectionSlots;
use super::static_files::{self, StaticResponse};
use crate::clock;
use crate::domain::error::{WarningKind, Warnings};
use crate::domain::reach::Reach;
use crate::domain::site::Site;
use crate::outbound::{Outbound, PageRequestLimits};

/// Most hosts kept of which an address was refused.
const REFUSED_LIMIT: usize = 1_000;
/// Most pictures kept that seem to be cut off.
const CUT_LIMIT: usize = 50;
/// Longest address that a warning names, in characters.
const NAMED_CHARS: usize = 200;

/// Hazard: in a tab whose scripts are switched off, frames that Chromium keeps in other processes (`sandbox`) still run
/// theirs, and some of them have no address whose answer could forbid it. The policy of a page holds for all its frames.
const NO_SCRIPT: HeaderValue = HeaderValue::from_static("script-src 'none'");

/// The header of a request for the script of a service worker (Service Workers, "Update").
const SERVICE_WORKER: &str = "service-worker";

/// The body of an answer to a request.
pub(super) type PageBody = UnsyncBoxBody<Bytes, Refused>;

pub(super) fn empty_body() -> PageBody {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// As the error of a hyper service it closes the connection without an answer.
#[derive(Debug, thiserror::Error)]
#[error("refused")]
pub(in crate::browser) struct Refused;

/// What is served for one document, and the warnings of what was refused or not found.
#[derive(Debug)]
pub struct PageSession {
    host: String,
    site: Site,
    pub(super) usage: ProxyUsage,
    /// Served at a path of its own, beside the files: the data of a page where it is large.
    data: Option<Bytes>,
    /// Its pages run their scripts.
    javascript: bool,
    /// The script of a service worker was asked for.
    has_service_worker: AtomicBool,
    /// Its tab had another page before.
    tab_was_used: AtomicBool,
    requests: Mutex<Requests>,
    /// Cancelled when the page itself may be read, beyond the head of its answer.
    opened: CancellationToken,
    /// Cancelled when the page is gone.
    pub(super) ended: CancellationToken,
}

/// What one page may reach, and what it has used of its limits.
#[derive(Debug)]
pub(super) struct ProxyUsage {
    pub reach: Reach,
    pub outbound: Outbound,
    pub limits: PageRequestLimits,
    pub slots: ConnectionSlots,
    /// Some request or tunnel was let through to a host.
    pub has_reached_hosts: AtomicBool,
    pub requests: AtomicU64,
    pub bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Requests {
    warnings: Warnings,
    /// Hosts, with their ports, of which an address was refused.
    refused: HashSet<String>,
    /// Addresses of pictures that were served and seem to be cut off.
    cut_pictures: BTreeSet<String>,
    last_activity: Option<Instant>,
}

impl PageSession {
    /// A session under a new name below that of its `tab`. Its page may go as far as `reach`, and runs script or not.
    pub(super) fn new(
        tab: &str,
        site: Site,
        data: Option<Bytes>,
        (reach, javascript): (Reach, bool),
        outbound: Outbound,
    ) -> io::Result<Self> {
        let random = u128::from_le_bytes(clock::random_bytes::<16>()?);
        let limits = outbound.page_limits();
        let usage = ProxyUsage {
            reach,
            outbound,
            limits,
            slots: ConnectionSlots::new(limits.connections),
            has_reached_hosts: AtomicBool::default(),
            requests: AtomicU64::default(),
            bytes: AtomicU64::default(),
        };
        Ok(Self {
            host: format!("{random:032x}.{tab}.localhost"),
            site,
            usage,
            data,
            javascript,
            has_service_worker: AtomicBool::default(),
            tab_was_used: AtomicBool::default(),
            requests: Mutex::default(),
            opened: CancellationToken::new(),
            ended: CancellationToken::new(),
        })
    }

    /// Where the page is: `/` for an entry at the top, so that a router in the page finds its root.
    pub(in crate::browser) fn address(&self) -> String {
        format!("http://{}{}", self.host, self.path())
    }

    /// The path of [`PageSession::address`].
    pub(super) fn path(&self) -> String {
        let folder = self.site.folder();
        let separator = if folder.is_empty() { "" } else { "/" };
        format!("/{}{separator}", static_files::encode_path(folder))
    }

    /// The name of its host, which no other page has.
    pub(in crate::browser) fn host(&self) -> &str {
        &self.host
    }

    /// Whether a request belongs to an earlier page of the same tab. What that one sent at its end (`keepalive`) may come
    /// when this one is served already, and must not be blamed on it.
    ///
    /// In a tab that had a page before, a request for a foreign host counts as the earlier page's unless its `Origin` or
    /// `Referer` names this page's host. Where pages may reach foreign hosts no tab with script is reused, so such a request is
    /// refused in any case. But refused as this page's own it would become its warning, and show its author an address that the
    /// earlier page asked for.
    pub(super) fn is_of_earlier_page(&self, address: &Uri, headers: &HeaderMap) -> bool {
        let (Some(host), Some((_, tab))) = (address.host(), self.host.split_once('.')) else { return false };
        let is_own = |name: &HeaderName| {
            let from = headers.get(name).and_then(|value| value.to_str().ok()?.parse::<Uri>().ok());
            from.is_some_and(|from| from.host() == Some(self.host.as_str()))
        };
        let is_sibling = host.strip_suffix(tab).is_some_and(|name| name.ends_with('.'));
        let tab_was_used = self.tab_was_used.load(Ordering::Relaxed);
        host != self.host && (is_sibling || tab_was_used && !is_own(&ORIGIN) && !is_own(&REFERER))
    }

    /// Notes that the tab showed another page before, of which late requests may still come.
    pub(in crate::browser) fn note_tab_was_used(&self) {
        self.tab_was_used.store(true, Ordering::Relaxed);
    }

    /// Lets the text of the page itself be sent: until then its address is answered with the head of the response alone.
    pub(in crate::browser) fn open(&self) {
        self.opened.cancel();
    }

    /// Whether the text of the page may be sent, or was.
    pub(in crate::browser) fn is_open(&self) -> bool {
        self.opened.is_cancelled()
    }

    /// The answer to a request for the page itself: its text comes when the session is open.
    pub(super) async fn serve_page(&self, request: &Request<Incoming>) -> Response<PageBody> {
        let opened = self.opened.clone();
        self.serve(request).await.map(|text| {
            let read = async move {
                opened.cancelled_owned().await;
                text.collect().await.map(|text| Frame::data(text.to_bytes())).map_err(|never| match never {})
            };
            StreamBody::new(stream::once(read)).boxed_unsync()
        })
    }

    /// Where the page's data is, when it is served.
    pub(in crate::browser) fn data_path(&self) -> String {
        format!("/{}.json", self.host)
    }

    /// How long no request has begun or ended; those for the address of the page itself do not count.
    pub(in crate::browser) fn quiet_for(&self) -> Option<Duration> {
        self.requests.lock().last_activity.map(|at| at.elapsed())
    }

    /// Warnings of what was refused or not found until now: `OpenPage::all_warnings` reads them, and puts them with all others
    /// into the job's result.
    pub(in crate::browser) fn warnings(&self) -> Warnings {
        self.requests.lock().warnings.clone()
    }

    /// Records a refused address as a warning of the page; `host` is `name:port`. Its kind is `Missing`, whatever the reason:
    /// the document lacks what it asked for, and a caller may let a job fail for that.
    pub(super) fn warn_refused(&self, host: Option<String>, shown: &str, why: &str) {
        let mut requests = self.requests.lock();
        if requests.refused.len() < REFUSED_LIMIT {
            requests.refused.extend(host);
        }
        requests.warnings.push_kind(WarningKind::Missing, &format!("refused address: {shown} ({why})"));
    }

    /// Whether an address of `host` (`name:port`) was refused: then a warning says so already.
    pub(in crate::browser) fn has_refused(&self, host: &str) -> bool {
        self.requests.lock().refused.contains(host)
    }

    /// Takes the addresses of pictures that were served and seem to be cut off.
    pub(in crate::browser) fn take_cut_pictures(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.requests.lock().cut_pictures)
    }

    /// Whether the script of a service worker was asked for. Chromium marks that request by a header that no script can remove,
    /// and starts no service worker without it. So there is none where this is false.
    pub(in crate::browser) fn has_service_worker(&self) -> bool {
        self.has_service_worker.load(Ordering::Relaxed)
    }

    /// Whether any request or tunnel was let through to a host.
    pub(in crate::browser) fn has_reached_hosts(&self) -> bool {
        self.usage.has_reached_hosts.load(Ordering::Relaxed)
    }

    /// A request begins or ends: the page may have something to go on with.
    pub(super) fn note_activity(&self) {
        self.requests.lock().last_activity = Some(Instant::now());
    }

    /// The answer to a request for the page's own host.
    pub(super) async fn serve(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let mut response = self.respond(request).await;
        if !self.javascript {
            response.headers_mut().insert(CONTENT_SECURITY_POLICY, NO_SCRIPT);
        }
        response
    }

    async fn respond(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        if request.headers().contains_key(SERVICE_WORKER) {
            self.has_service_worker.store(true, Ordering::Relaxed);
        }
        if let Some(data) = self.data.as_ref().filter(|_| request.uri().path() == self.data_path()) {
            return static_files::data(data.clone());
        }
        match static_files::answer(&self.site, request.uri(), request.method(), request.headers()).await {
            StaticResponse::File(response) => response,
            StaticResponse::CutPicture(response) => {
                let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
                let mut requests = self.requests.lock();
                if requests.cut_pictures.len() < CUT_LIMIT {
                    requests.cut_pictures.insert(format!("http://{}{path}", self.host));
                }
                response
            }
            StaticResponse::Missing(response) => {
                let text = format!("asset not found: {}", shorten(request.uri()));
                self.requests.lock().warnings.push_kind(WarningKind::Missing, &text);
                response
            }
        }
    }
}

fn shorten(uri: &Uri) -> String {
    uri.path_and_query().map_or("/", |path| path.as_str()).chars().take(NAMED_CHARS).collect()
}
