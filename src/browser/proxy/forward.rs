//! Forward proxy for a page's own requests. Threats: DNS rebinding and redirects to private addresses.
//!
//! Every request is resolved once, judged by `outbound` on the resolved address, and connected to that address.
//! Redirects go back to Chromium unfollowed, so that each hop is judged again. Time, bytes and number of requests are
//! bounded; what is refused becomes a warning of the page ([`PageSession::warn_refused`]).
//!
//! Plain http is fetched here. Everything else arrives as CONNECT and becomes a tunnel (`tunnel.rs`).

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, StreamBody};
use hyper::body::{Body as _, Frame, Incoming};
use hyper::header::{CONNECTION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use super::server::{PageResponse, PageSession, Refused};
use super::slots::{ConnectionSlots, TunnelActivity};
use crate::domain::reach::Reach;
use crate::outbound::{Outbound, PageLimits, Pinned};

/// Longest address that a warning names, in characters: what opens it must have room beside it.
const NAMED_CHARS: usize = 150;
/// How the page's own host is called, whose name says nothing to anybody.
const OWN_ORIGIN: &str = "the page's own origin";
/// Why its own origin is not reached there.
const OTHER_PORT: &str = "it serves the template's files by http, at no other port or scheme; no entry of \
                          outbound.allow can open it";
/// Headers that are between two neighbours (RFC 9110 §7.6.1), beside those that `Connection` names.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// What one page may reach, and what it has used of its limits.
#[derive(Debug)]
pub(in crate::browser) struct ForwardProxy {
    reach: Reach,
    outbound: Outbound,
    limits: PageLimits,
    places: ConnectionSlots,
    let_through: AtomicBool,
    begun: AtomicU64,
    bytes: AtomicU64,
}

/// One request or tunnel to an allowed host.
pub(in crate::browser) struct ProxyRequest {
    visit: Arc<PageSession>,
    /// Host and port.
    host: Option<String>,
    shown: String,
    limit: Duration,
    deadline: Instant,
    bytes: AtomicU64,
    _place: OwnedSemaphorePermit,
}

impl ForwardProxy {
    pub(in crate::browser) fn new(outbound: Outbound, reach: Reach) -> Self {
        let limits = outbound.page_limits();
        let places = ConnectionSlots::new(limits.connections);
        let (begun, bytes) = (AtomicU64::default(), AtomicU64::default());
        Self { reach, outbound, limits, places, let_through: AtomicBool::default(), begun, bytes }
    }

    /// Whether any request or tunnel was let through.
    pub(in crate::browser) fn let_through(&self) -> bool {
        self.let_through.load(Ordering::Relaxed)
    }

    /// A tunnel that begins.
    pub(in crate::browser) fn begin_tunnel(&self) -> Arc<TunnelActivity> {
        self.places.begin_tunnel()
    }
}

/// Answers what is not for the origin itself.
pub(in crate::browser) async fn forward(
    visit: &Arc<PageSession>,
    request: Request<Incoming>,
) -> Result<Response<PageResponse>, Refused> {
    let is_tunnel = request.method() == Method::CONNECT;
    let (host, shown) = (host_of(request.uri()), shown(request.uri()));
    let Some(url) = address_of(request.uri(), is_tunnel) else {
        visit.warn_refused(host, &shown, "it is no address of http or https");
        return Err(Refused);
    };
    if url.host_str() == Some(visit.host()) {
        // No entry opens it: its name is made for this page, and nothing but its own proxy answers to it.
        visit.warn_refused(host, &shown.replace(visit.host(), OWN_ORIGIN), OTHER_PORT);
        return Err(Refused);
    }
    let passage = ProxyRequest::begin(visit, host, shown).await?;
    let pinned = passage.decide(&url).await?;
    if is_tunnel { passage.tunnel(pinned, request).await } else { passage.fetch(&pinned, request).await }
}

impl ProxyRequest {
    /// Waits for a place where there are too many.
    pub(in crate::browser) async fn begin(
        visit: &Arc<PageSession>,
        host: Option<String>,
        shown: String,
    ) -> Result<Self, Refused> {
        let fence = visit.fence();
        let refuse = |why: &str| {
            visit.warn_refused(host.clone(), &shown, why);
            Refused
        };
        if fence.reach == Reach::OwnFiles {
            return Err(refuse(
                "a public template reaches no hosts in a document of another account; a clone of it does",
            ));
        }
        let (limits, limit) = (fence.limits, Duration::from_secs(fence.limits.timeout_s));
        if fence.begun.fetch_add(1, Ordering::Relaxed) >= limits.requests {
            let requests = limits.requests;
            return Err(refuse(&format!("the page made {requests} requests (outbound.page_request_limit)")));
        }
        let deadline = Instant::now() + limit;
        let place = timeout_at(deadline, fence.places.take()).await;
        let Ok(Some(place)) = place else {
            let connections = limits.connections;
            return Err(refuse(&format!(
                "{connections} others were not done in time (outbound.page_connection_limit)"
            )));
        };
        let (visit, bytes) = (Arc::clone(visit), AtomicU64::default());
        Ok(Self { visit, host, shown, limit, deadline, bytes, _place: place })
    }

    async fn decide(&self, url: &Url) -> Result<Pinned, Refused> {
        let deciding = self.outbound().decide_page(url);
        let pinned = self.within(deciding).await?.map_err(|refusal| self.refused(refusal))?;
        self.visit.fence().let_through.store(true, Ordering::Relaxed);
        Ok(pinned)
    }

    async fn fetch(
        self,
        pinned: &Pinned,
        request: Request<Incoming>,
    ) -> Result<Response<PageResponse>, Refused> {
        let this = Arc::new(self);
        let (mut head, body) = request.into_parts();
        strip(&mut head.headers);
        this.count(head.method.as_str().len() + target_bytes(&head.uri) + head_bytes(&head.headers))?;
        // Of a body that is there nobody knows the length beforehand: one that is not must not be announced at all.
        let sent = if body.is_end_stream() { nothing() } else { metered(Arc::clone(&this), body) };
        let exchange = this.outbound().exchange(pinned, Request::from_parts(head, sent));
        let exchanged = this.within(exchange).await?;
        let (response, driven) = exchanged.map_err(|error| this.refused(error))?;
        let (mut head, body) = response.into_parts();
        this.count(head_bytes(&head.headers))?;
        // These two are about the connection, and would mean the proxy.
        if matches!(head.status, StatusCode::SWITCHING_PROTOCOLS | StatusCode::PROXY_AUTHENTICATION_REQUIRED)
        {
            return Err(this.refused(format!("it answered {}", head.status)));
        }
        if !body.is_end_stream() {
            let announced = head.headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
            this.check_room(announced.unwrap_or(0))?;
        }
        strip(&mut head.headers);
        // Chromium sends a request again, a POST too, for each idle connection that closes under it without an answer.
        head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        Ok(Response::from_parts(head, taken(this, body, driven)))
    }

    pub(in crate::browser) fn outbound(&self) -> &Outbound {
        &self.visit.fence().outbound
    }

    pub(in crate::browser) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(in crate::browser) fn visit(&self) -> &PageSession {
        &self.visit
    }

    /// Counts bytes of either direction.
    pub(in crate::browser) fn count(&self, bytes: usize) -> Result<(), Refused> {
        self.check_room(bytes as u64)?;
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.visit.fence().bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(())
    }

    fn check_room(&self, bytes: u64) -> Result<(), Refused> {
        let (limits, total) = (self.visit.fence().limits, &self.visit.fence().bytes);
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
    pub(in crate::browser) async fn within<T>(&self, step: impl Future<Output = T>) -> Result<T, Refused> {
        timeout_at(self.deadline, step).await.map_err(|_| self.late())
    }

    pub(in crate::browser) fn late(&self) -> Refused {
        let limit_s = self.limit.as_secs();
        self.refused(format!("it was not done within {limit_s} s (outbound.page_timeout_s)"))
    }

    pub(in crate::browser) fn refused(&self, why: impl Display) -> Refused {
        self.visit.warn_refused(self.host.clone(), &self.shown, &why.to_string());
        Refused
    }
}

impl Drop for ProxyRequest {
    fn drop(&mut self) {
        self.visit.touch();
    }
}

fn nothing() -> UnsyncBoxBody<Bytes, Refused> {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// The body of a request, which ends with an error at the first limit.
fn metered(passage: Arc<ProxyRequest>, body: Incoming) -> UnsyncBoxBody<Bytes, Refused> {
    let frames = stream::try_unfold((passage, body), |(passage, mut body)| async move {
        let frame = next_frame(&passage, &mut body).await?;
        Ok(frame.map(|frame| (frame, (passage, body))))
    });
    StreamBody::new(frames).boxed_unsync()
}

/// The body of an answer. It is taken from its host by a task, as the deadline counts also while the page does
/// not read; connection and place end with the answer.
fn taken(passage: Arc<ProxyRequest>, mut body: Incoming, connection: AbortOnDropHandle<()>) -> PageResponse {
    let (there, here) = mpsc::channel(1);
    let task = AbortOnDropHandle::new(tokio::spawn(async move {
        let taking = async {
            while let Some(frame) = next_frame(&passage, &mut body).await? {
                there.send(Some(frame)).await.map_err(|_| Refused)?;
            }
            Ok(())
        };
        let all = passage.within(taking).await.flatten();
        drop((connection, passage));
        // A body of which the end is not sent is one that broke off.
        if all.is_ok() {
            let _ = there.send(None).await;
        }
    }));
    let frames = stream::try_unfold((here, task), |(mut here, task)| async move {
        let frame = here.recv().await.ok_or(Refused)?;
        Ok(frame.map(|frame| (frame, (here, task))))
    });
    StreamBody::new(frames).boxed_unsync()
}

async fn next_frame(passage: &ProxyRequest, body: &mut Incoming) -> Result<Option<Frame<Bytes>>, Refused> {
    match body.frame().await {
        None => Ok(None),
        Some(Ok(frame)) => {
            passage.count(frame.data_ref().map_or(0, Bytes::len))?;
            passage.count(frame.trailers_ref().map_or(0, head_bytes))?;
            Ok(Some(frame))
        }
        Some(Err(error)) => Err(passage.refused(format!("it broke off: {error}"))),
    }
}

/// What a head takes on the way, beside the method and the target of a request.
fn head_bytes(headers: &HeaderMap) -> usize {
    let lines = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    lines.sum::<usize>() + "HTTP/1.1 200\r\n\r\n".len()
}

fn target_bytes(uri: &Uri) -> usize {
    uri.path_and_query().map_or(1, |target| target.as_str().len())
}

/// The address that a request is for. A tunnel says only host and port; what ends at port 80 is not encrypted.
fn address_of(uri: &Uri, is_tunnel: bool) -> Option<Url> {
    if !is_tunnel {
        return Url::parse(&uri.to_string()).ok().filter(|url| url.scheme() == "http");
    }
    let scheme = if uri.port_u16() == Some(80) { "http" } else { "https" };
    Url::parse(&format!("{scheme}://{}/", uri.authority()?)).ok()
}

/// Host and port that a request is for.
fn host_of(uri: &Uri) -> Option<String> {
    Some(format!("{}:{}", uri.host()?, uri.port_u16().unwrap_or(80)))
}

/// An address without what may be a secret: user, query.
fn shown(uri: &Uri) -> String {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let scheme = uri.scheme_str().map_or(String::new(), |scheme| format!("{scheme}://"));
    let path = if uri.scheme().is_some() { uri.path() } else { "" };
    format!("{scheme}{host}{path}").chars().take(NAMED_CHARS).collect()
}

fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::browser::proxy::server::PageServer;
    use crate::config::Config;
    use crate::domain::site::Site;
    use crate::outbound::SystemResolver;

    #[tokio::test]
    async fn an_answer_that_the_page_does_not_read_ends_at_its_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let allow = format!("[{{ host = \"{address}\", private = true }}]");
        let variables = [("ALLOW", allow.as_str()), ("PAGE_TIMEOUT_S", "1"), ("PAGE_CONNECTION_LIMIT", "1")];
        let variables =
            variables.map(|(name, value)| (format!("PLATEN__OUTBOUND__{name}"), value.to_owned()));
        let config = Config::load(None, variables).unwrap().outbound;
        let origin = PageServer::bind(Outbound::new(config, &[], Arc::new(SystemResolver))).unwrap();
        let visit = origin.serve("test", Site::default(), None, (Reach::AllowedHosts, true)).unwrap();
        let proxy = origin.proxy_address();
        let mut page = TcpStream::connect(proxy.strip_prefix("http://").unwrap()).await.unwrap();
        page.write_all(format!("GET http://{address}/x HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
        let (mut host, _) = listener.accept().await.unwrap();
        host.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while host.write_all(&[b'x'; 4_096]).await.is_ok() {}
        let why = "it was not done within 1 s (outbound.page_timeout_s)";
        assert_eq!(visit.warnings().lines(), [format!("refused address: http://{address}/x ({why})")]);
        assert!(
            ProxyRequest::begin(&visit, None, "another".to_owned()).await.is_ok(),
            "the one place is free"
        );
    }

    #[test]
    fn what_is_shown_of_an_address_is_no_secret() {
        for (uri, named) in [
            ("http://user:word@a.example:81/p/q?key=secret", "http://a.example:81/p/q"),
            ("http://a.example", "http://a.example/"),
            ("a.example:443", "a.example:443"),
            ("user:word@[::1]:443", "[::1]:443"),
        ] {
            assert_eq!(shown(&uri.parse().unwrap()), named);
        }
    }

    #[test]
    fn what_is_between_neighbours_is_not_passed_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, X-Once"),
            ("x-once", "1"),
            ("proxy-connection", "keep-alive"),
            ("proxy-authorization", "Basic eA=="),
            ("transfer-encoding", "chunked"),
            ("accept", "text/css"),
        ] {
            headers.append(name, value.parse().unwrap());
        }
        strip(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["accept"]);
    }
}
