//! The HTTP proxy of one tab: serves its page's files and is the only way out of its browser context.
//!
//! Chromium sends every request of a page here. The template's files are served under a random host name, which no other
//! page can guess. What `outbound` allows is forwarded (`forward.rs`). Everything else is refused by closing the
//! connection: a response of any status would make a `fetch` in mode `no-cors` succeed.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::forward::{self, ForwardProxy};
use super::static_files::{self, StaticResponse};
use crate::clock;
use crate::domain::fault::{WarningKind, Warnings};
use crate::domain::reach::Reach;
use crate::domain::site::Site;
use crate::outbound::{Claim, Outbound};

/// Connections at once. Chromium opens more where a page has many hosts; these wait for their turn.
const CONNECTION_LIMIT: usize = 64;
/// Most hosts kept of which an address was refused.
const REFUSED_LIMIT: usize = 1_000;
/// Longest address that a warning names, in characters.
const NAMED_CHARS: usize = 200;

/// A tab without script says nothing to frames that Chromium keeps apart from their page (`sandbox`, of which some have no
/// address to ask for): there scripts would run. What a page is told goes for all of its frames.
const NO_SCRIPT: HeaderValue = HeaderValue::from_static("script-src 'none'");

/// What a request is answered with.
pub(in crate::browser) type PageResponse = UnsyncBoxBody<Bytes, Refused>;

/// The proxy of one tab. Its port outlives documents; connections are closed between them.
#[derive(Debug)]
pub struct PageServer {
    port: u16,
    outbound: Outbound,
    job: Arc<Mutex<Option<Arc<PageSession>>>>,
    _accepting: DropGuard,
    /// No page reaches another one's slot, whatever is allowed.
    _own: Claim,
}

/// What is served for one document, and the warnings of what was refused or not found.
#[derive(Debug)]
pub struct PageSession {
    host: String,
    site: Site,
    fence: ForwardProxy,
    /// Served at a path of its own, beside the files: the data of a page where it is large.
    data: Option<Bytes>,
    /// Its pages run their scripts.
    javascript: bool,
    events: Mutex<Events>,
    ended: CancellationToken,
}

#[derive(Debug)]
struct Events {
    warnings: Warnings,
    /// Hosts, with their ports, of which an address was refused.
    refused: HashSet<String>,
    last_request: Option<Instant>,
}

impl PageServer {
    /// Listens on a free port of the loopback, within the present runtime; other hosts are reached by `outbound`.
    ///
    /// # Errors
    /// When the system gives no port.
    pub fn bind(outbound: Outbound) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let address = listener.local_addr()?;
        let job = Arc::default();
        let ended = CancellationToken::new();
        tokio::spawn(accept(listener, Arc::clone(&job), ended.clone()));
        let own = outbound.claim(address);
        Ok(Self { port: address.port(), outbound, job, _accepting: ended.drop_guard(), _own: own })
    }

    /// The address of the proxy, for Chromium.
    #[must_use]
    pub fn proxy_address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Serves `site` under a new name below that of its `tab` until [`PageServer::clear`]; its page may go as far
    /// as `reach`, and runs script or not.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn serve(
        &self,
        tab: &str,
        site: Site,
        data: Option<Bytes>,
        (reach, javascript): (Reach, bool),
    ) -> io::Result<Arc<PageSession>> {
        let random = u128::from_le_bytes(clock::random_bytes::<16>()?);
        let events = Events { warnings: Warnings::default(), refused: HashSet::new(), last_request: None };
        let visit = Arc::new(PageSession {
            host: format!("{random:032x}.{tab}.localhost"),
            site,
            fence: ForwardProxy::new(self.outbound.clone(), reach),
            data,
            javascript,
            events: Mutex::new(events),
            ended: CancellationToken::new(),
        });
        self.replace(Some(Arc::clone(&visit)));
        Ok(visit)
    }

    /// Serves nothing any more and closes every connection.
    pub fn clear(&self) {
        self.replace(None);
    }

    fn replace(&self, visit: Option<Arc<PageSession>>) {
        let mut job = self.job.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(previous) = std::mem::replace(&mut *job, visit) {
            previous.ended.cancel();
        }
    }
}

impl PageSession {
    /// Where the page is: `/` for an entry at the top, so that a router in the page finds its root.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://{}{}", self.host, self.path())
    }

    fn path(&self) -> String {
        let folder = self.site.folder();
        let separator = if folder.is_empty() { "" } else { "/" };
        format!("/{}{separator}", static_files::encode_path(folder))
    }

    /// The name of its host, which no other page has.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Where the page's data is, when it is served.
    #[must_use]
    pub fn data_path(&self) -> String {
        format!("/{}.json", self.host)
    }

    /// How long no request has come; those for the address of the page itself do not count.
    #[must_use]
    pub fn quiet_for(&self) -> Option<Duration> {
        self.events().last_request.map(|at| at.elapsed())
    }

    /// What was refused or not found until now.
    #[must_use]
    pub fn warnings(&self) -> Warnings {
        self.events().warnings.clone()
    }

    /// `address` without the name of the host, which says nothing to anybody.
    #[must_use]
    pub fn shown(&self, address: &str) -> String {
        let short = address.strip_prefix("http://").and_then(|rest| rest.strip_prefix(&self.host));
        short.unwrap_or(address).to_owned()
    }

    /// `text` without the name of the host in any address.
    #[must_use]
    pub fn without_host(&self, text: &str) -> String {
        text.replace(&format!("http://{}", self.host), "")
    }

    /// Records a refused address as a warning of the page; `host` names its port.
    pub(in crate::browser) fn warn_refused(&self, host: Option<String>, shown: &str, why: &str) {
        let mut events = self.events();
        if events.refused.len() < REFUSED_LIMIT {
            events.refused.extend(host);
        }
        events.warnings.push_kind(WarningKind::Missing, &format!("refused address: {shown} ({why})"));
    }

    /// Whether an address of `host` (`name:port`) was refused, which is said already.
    pub(in crate::browser) fn has_refused(&self, host: &str) -> bool {
        self.events().refused.contains(host)
    }

    /// Something came to an end of which the page is told now.
    pub(in crate::browser) fn touch(&self) {
        self.events().last_request = Some(Instant::now());
    }

    /// Whether anything came from a host that is allowed.
    pub(in crate::browser) fn let_through(&self) -> bool {
        self.fence.let_through()
    }

    pub(in crate::browser) fn fence(&self) -> &ForwardProxy {
        &self.fence
    }

    /// Cancelled when the page is gone.
    pub(in crate::browser) fn ended(&self) -> CancellationToken {
        self.ended.clone()
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<PageResponse>, Refused> {
        if request.method() == Method::CONNECT || request.uri().host() != Some(self.host.as_str()) {
            self.touch();
            return forward::forward(&self, request).await;
        }
        if request.uri().path() != self.path() {
            self.touch();
        }
        let mut answer = self.serve(&request);
        if !self.javascript {
            answer.headers_mut().insert(CONTENT_SECURITY_POLICY, NO_SCRIPT);
        }
        Ok(answer.map(|body| body.map_err(|never| match never {}).boxed_unsync()))
    }

    fn serve(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path();
        if self.data.is_some() && path == self.data_path() {
            return static_files::data(self.data.clone().unwrap_or_default());
        }
        match static_files::answer(&self.site, request.uri(), request.method(), request.headers()) {
            StaticResponse::File(response) => response,
            StaticResponse::Missing(response) => {
                let text = format!("asset not found: {}", shorten(request.uri()));
                self.events().warnings.push_kind(WarningKind::Missing, &text);
                response
            }
        }
    }

    fn events(&self) -> std::sync::MutexGuard<'_, Events> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error of the service makes hyper close the connection without an answer.
#[derive(Debug, thiserror::Error)]
#[error("refused")]
pub(in crate::browser) struct Refused;

fn shorten(uri: &Uri) -> String {
    uri.path_and_query().map_or("/", |path| path.as_str()).chars().take(NAMED_CHARS).collect()
}

async fn accept(listener: TcpListener, job: Arc<Mutex<Option<Arc<PageSession>>>>, ended: CancellationToken) {
    let places = Arc::new(Semaphore::new(CONNECTION_LIMIT));
    let next = async || {
        let place = Arc::clone(&places).acquire_owned().await;
        (place, listener.accept().await)
    };
    loop {
        let (place, accepted) = tokio::select! {
            next = next() => next,
            () = ended.cancelled() => return,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors: accepting again at once would only burn the processor.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let Some(visit) = job.lock().unwrap_or_else(PoisonError::into_inner).clone() else {
            continue;
        };
        tokio::spawn(async move {
            serve_connection(stream, visit).await;
            drop(place);
        });
    }
}

async fn serve_connection(stream: TcpStream, visit: Arc<PageSession>) {
    let _ = stream.set_nodelay(true);
    let ended = visit.ended.clone();
    let service = service_fn(move |request| Arc::clone(&visit).answer(request));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades();
    tokio::select! {
        // A refusal is an error here, and so is a page that leaves in the middle.
        _ = connection => {}
        () = ended.cancelled() => {}
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;
    use crate::config::Config;
    use crate::outbound::SystemResolver;

    #[tokio::test]
    async fn a_slot_is_the_service_itself_whatever_is_allowed() {
        // The system chooses the slot's port, so all are opened that it may choose.
        let ports = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
        let ports: Vec<u16> = ports.split_whitespace().map(|port| port.parse().unwrap()).collect();
        let entries: Vec<String> = (ports[0]..=ports[1])
            .map(|port| format!("{{ host = \"127.0.0.1:{port}\", private = true }}"))
            .collect();
        let allow = ("PLATEN__OUTBOUND__ALLOW".to_owned(), format!("[{}]", entries.join(",")));
        let config = Config::load(None, [allow]).unwrap().outbound;
        let outbound = Outbound::new(config, &[], Arc::new(SystemResolver));
        let origin = PageServer::bind(outbound.clone()).unwrap();
        let url = Url::parse(&origin.proxy_address()).unwrap();
        let refused = outbound.decide_page(&url).await.unwrap_err().to_string();
        assert!(refused.contains("this service itself"), "{refused}");
        drop(origin);
        assert!(outbound.decide_page(&url).await.is_ok(), "nobody's any more, and opened");
    }
}
