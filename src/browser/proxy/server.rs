//! The HTTP proxy of one tab: serves its page's files and is the only way out of its browser context.
//!
//! Chromium sends every request of a page here. The template's files are served under a random host name, which no other
//! page can guess. What `outbound` allows is forwarded (`forward.rs`). Everything else is refused by closing the
//! connection: a response of any status would make a `fetch` in mode `no-cors` succeed.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::forward;
use super::page_session::{PageBody, PageSession, Refused};
use crate::domain::reach::Reach;
use crate::domain::site::Site;
use crate::outbound::{Outbound, OwnListenerGuard};

/// Connections at once. Chromium opens more where a page has many hosts; these wait in the listener's queue.
const CONNECTION_LIMIT: usize = 64;
/// Out of descriptors, accepting again at once would only burn the processor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// The proxy of one tab. Its port outlives documents; connections are closed between them.
#[derive(Debug)]
pub struct PageServer {
    port: u16,
    outbound: Outbound,
    current: Current,
    _accepting: DropGuard,
    /// No page reaches the server of another one, whatever is allowed.
    _own: OwnListenerGuard,
}

/// The session of the document that the tab shows.
type Current = Arc<Mutex<Option<Arc<PageSession>>>>;

impl PageServer {
    /// Listens on a free port of the loopback, within the present runtime; other hosts are reached by `outbound`.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub fn bind(outbound: Outbound) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let address = listener.local_addr()?;
        let current = Current::default();
        let ended = CancellationToken::new();
        tokio::spawn(accept(listener, Arc::clone(&current), ended.clone()));
        let own = outbound.register_own(address);
        Ok(Self { port: address.port(), outbound, current, _accepting: ended.drop_guard(), _own: own })
    }

    /// The address of the proxy, for Chromium.
    pub fn proxy_address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Serves `site` under a new name below that of its `tab` until [`PageServer::clear`]; its page may go as far as `reach`,
    /// and runs script or not. The body of the page itself waits until the session is opened.
    ///
    /// # Errors
    /// When the system has no random bytes for the name.
    pub fn serve(
        &self,
        tab: &str,
        site: Site,
        data: Option<Bytes>,
        permitted: (Reach, bool),
    ) -> io::Result<Arc<PageSession>> {
        let session = Arc::new(PageSession::new(tab, site, data, permitted, self.outbound.clone())?);
        self.replace(Some(Arc::clone(&session)));
        Ok(session)
    }

    /// Ends the session and closes every connection.
    pub fn clear(&self) {
        self.replace(None);
    }

    fn replace(&self, session: Option<Arc<PageSession>>) {
        let mut current = self.current.lock();
        if let Some(previous) = std::mem::replace(&mut *current, session) {
            previous.ended.cancel();
        }
    }
}

async fn accept(listener: TcpListener, current: Current, ended: CancellationToken) {
    let slots = Arc::new(Semaphore::new(CONNECTION_LIMIT));
    let next = async || {
        let slot = Arc::clone(&slots).acquire_owned().await;
        (slot, listener.accept().await)
    };
    loop {
        let (slot, accepted) = tokio::select! {
            next = next() => next,
            () = ended.cancelled() => return,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let Some(session) = current.lock().clone() else {
            continue;
        };
        tokio::spawn(async move {
            serve_connection(stream, session).await;
            drop(slot);
        });
    }
}

async fn serve_connection(stream: TcpStream, session: Arc<PageSession>) {
    let _ = stream.set_nodelay(true);
    let ended = session.ended.clone();
    let service = service_fn(move |request| answer(Arc::clone(&session), request));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades();
    tokio::select! {
        // Refusals are errors here, and so are pages that go away in the middle.
        _ = connection => {}
        () = ended.cancelled() => {}
    }
}

async fn answer(
    session: Arc<PageSession>,
    request: Request<Incoming>,
) -> Result<Response<PageBody>, Refused> {
    if session.is_of_earlier_page(request.uri(), request.headers()) {
        return Err(Refused);
    }
    if request.method() == Method::CONNECT || request.uri().host() != Some(session.host()) {
        session.note_activity();
        return forward::forward(&session, request).await;
    }
    if request.uri().path() == session.path() {
        return Ok(session.serve_page(&request).await);
    }
    session.note_activity();
    Ok(session.serve(&request).await.map(|body| body.map_err(|never| match never {}).boxed_unsync()))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;
    use crate::config::Config;
    use crate::outbound::SystemResolver;

    #[tokio::test]
    async fn a_page_server_is_never_an_allowed_host() {
        // The system chooses the server's port, so all are allowed that it may choose.
        let ports = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
        let ports: Vec<u16> = ports.split_whitespace().map(|port| port.parse().unwrap()).collect();
        let entries: Vec<String> = (ports[0]..=ports[1])
            .map(|port| format!("{{ host = \"127.0.0.1:{port}\", private = true }}"))
            .collect();
        let allow = ("PLATEN__OUTBOUND__ALLOW".to_owned(), format!("[{}]", entries.join(",")));
        let config = Config::load(None, [allow]).unwrap().outbound;
        let outbound = Outbound::new(config, &[], Arc::new(SystemResolver));
        let server = PageServer::bind(outbound.clone()).unwrap();
        let url = Url::parse(&server.proxy_address()).unwrap();
        let refused = outbound.decide_page(&url).await.unwrap_err().to_string();
        assert!(refused.contains("this service itself"), "{refused}");
        drop(server);
        assert!(outbound.decide_page(&url).await.is_ok(), "its port is free again, and allowed");
    }
}
