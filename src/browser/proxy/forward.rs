//! Forward proxy for a page's own requests. Threats: DNS rebinding and redirects to private addresses.
//!
//! Every request is resolved once, judged by `outbound` on the resolved address, and connected to that address.
//! Redirects go back to Chromium unfollowed, so that each hop is judged again. Time, bytes and number of requests are
//! bounded (`request.rs`); what is refused becomes a warning of the page.
//!
//! Plain http is fetched here. Everything else arrives as CONNECT and becomes a tunnel (`tunnel.rs`).

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Body as _, Frame, Incoming};
use hyper::header::{CONNECTION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use super::page_session::{PageBody, PageSession, Refused, empty_body};
use super::request::ProxyRequest;
use super::tunnel;
use crate::domain::shown::redact_url;
use crate::outbound::PinnedUrl;

/// Longest address that a warning names, in characters: the entry that would allow it must fit beside it.
const NAMED_CHARS: usize = 150;
/// What the page's own host is called in a warning: its name is random.
const OWN_ORIGIN: &str = "the page's own origin";
/// Why it does not reach that host at another port or scheme.
const OTHER_PORT: &str = "it serves the template's files by http, at no other port or scheme; no entry of \
                          outbound.allow can open it";
/// Headers of one connection, not of the message (RFC 9110 §7.6.1), beside those that `Connection` names.
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

/// Answers a request that is not for the page's own host.
pub(super) async fn forward(
    session: &Arc<PageSession>,
    request: Request<Incoming>,
) -> Result<Response<PageBody>, Refused> {
    let is_tunnel = request.method() == Method::CONNECT;
    let host = host_of(request.uri());
    let shown: String = redact_url(&request.uri().to_string()).chars().take(NAMED_CHARS).collect();
    let Some(url) = address_of(request.uri(), is_tunnel) else {
        session.warn_refused(host, &shown, "it is no address of http or https");
        return Err(Refused);
    };
    if url.host_str() == Some(session.host()) {
        // No entry opens it: its name is made for this page, and nothing but its own proxy answers to it.
        session.warn_refused(host, &shown.replace(session.host(), OWN_ORIGIN), OTHER_PORT);
        return Err(Refused);
    }
    let proxied = ProxyRequest::begin(session, host, shown).await?;
    let pinned = proxied.decide(&url).await?;
    if is_tunnel {
        tunnel::open(proxied, pinned, request).await
    } else {
        fetch(proxied, &pinned, request).await
    }
}

async fn fetch(
    proxied: ProxyRequest,
    pinned: &PinnedUrl,
    request: Request<Incoming>,
) -> Result<Response<PageBody>, Refused> {
    let proxied = Arc::new(proxied);
    let (mut head, body) = request.into_parts();
    strip(&mut head.headers);
    let target_bytes = head.uri.path_and_query().map_or(1, |target| target.as_str().len());
    proxied.count(head.method.as_str().len() + target_bytes + head_bytes(&head.headers))?;
    // The length of a body is not known beforehand; a request without one must not announce one.
    let sent = if body.is_end_stream() { empty_body() } else { metered(Arc::clone(&proxied), body) };
    let exchange = proxied.session.usage.outbound.exchange(pinned, Request::from_parts(head, sent));
    let exchanged = proxied.within(exchange).await?;
    let (response, driven) = exchanged.map_err(|error| proxied.refused(error))?;
    let (mut head, body) = response.into_parts();
    proxied.count(head_bytes(&head.headers))?;
    // Both are about the connection: Chromium would take them as the proxy's own.
    if matches!(head.status, StatusCode::SWITCHING_PROTOCOLS | StatusCode::PROXY_AUTHENTICATION_REQUIRED) {
        return Err(proxied.refused(format!("it answered {}", head.status)));
    }
    if !body.is_end_stream() {
        let announced = head.headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
        proxied.check_limits(announced.unwrap_or(0))?;
    }
    strip(&mut head.headers);
    // Chromium sends a request again, a POST too, for each idle connection that closes under it without an answer.
    head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    Ok(Response::from_parts(head, received(proxied, body, driven)))
}

/// The body of a request, which ends with an error at the first limit.
fn metered(proxied: Arc<ProxyRequest>, body: Incoming) -> PageBody {
    let frames = stream::try_unfold((proxied, body), |(proxied, mut body)| async move {
        let frame = next_frame(&proxied, &mut body).await?;
        Ok(frame.map(|frame| (frame, (proxied, body))))
    });
    StreamBody::new(frames).boxed_unsync()
}

/// The body of an answer. A task reads it from its host, so that the deadline counts also while the page does not read;
/// connection and slot are free when it ends.
fn received(proxied: Arc<ProxyRequest>, mut body: Incoming, connection: AbortOnDropHandle<()>) -> PageBody {
    let (sender, receiver) = mpsc::channel(1);
    let task = AbortOnDropHandle::new(tokio::spawn(async move {
        let receiving = async {
            while let Some(frame) = next_frame(&proxied, &mut body).await? {
                sender.send(Some(frame)).await.map_err(|_| Refused)?;
            }
            Ok(())
        };
        let all = proxied.within(receiving).await.flatten();
        drop((connection, proxied));
        // Without the end marker Chromium sees a body that broke off.
        if all.is_ok() {
            let _ = sender.send(None).await;
        }
    }));
    let frames = stream::try_unfold((receiver, task), |(mut receiver, task)| async move {
        let frame = receiver.recv().await.ok_or(Refused)?;
        Ok(frame.map(|frame| (frame, (receiver, task))))
    });
    StreamBody::new(frames).boxed_unsync()
}

async fn next_frame(proxied: &ProxyRequest, body: &mut Incoming) -> Result<Option<Frame<Bytes>>, Refused> {
    match body.frame().await {
        None => Ok(None),
        Some(Ok(frame)) => {
            proxied.count(frame.data_ref().map_or(0, Bytes::len))?;
            proxied.count(frame.trailers_ref().map_or(0, head_bytes))?;
            Ok(Some(frame))
        }
        Some(Err(error)) => Err(proxied.refused(format!("it broke off: {error}"))),
    }
}

/// Bytes of a head on the wire, without method and target of a request.
fn head_bytes(headers: &HeaderMap) -> usize {
    let lines = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    lines.sum::<usize>() + "HTTP/1.1 200\r\n\r\n".len()
}

/// The address that a request is for. A tunnel names host and port only; one to port 80 is taken for unencrypted.
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
    use crate::domain::reach::Reach;
    use crate::domain::site::Site;
    use crate::outbound::{Outbound, SystemResolver};

    #[tokio::test]
    async fn an_answer_that_the_page_does_not_read_ends_at_its_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let allow = format!("[{{ host = \"{address}\", private = true }}]");
        let variables = [("ALLOW", allow.as_str()), ("PAGE_TIMEOUT_S", "1"), ("PAGE_CONNECTION_LIMIT", "1")];
        let variables =
            variables.map(|(name, value)| (format!("PLATEN__OUTBOUND__{name}"), value.to_owned()));
        let config = Config::load(None, variables).unwrap().outbound;
        let server = PageServer::bind(Outbound::new(config, &[], Arc::new(SystemResolver))).unwrap();
        let session = server.serve("test", Site::default(), None, (Reach::AllowedHosts, true)).unwrap();
        let proxy = server.proxy_address();
        let mut page = TcpStream::connect(proxy.strip_prefix("http://").unwrap()).await.unwrap();
        page.write_all(format!("GET http://{address}/x HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
        let (mut host, _) = listener.accept().await.unwrap();
        host.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while host.write_all(&[b'x'; 4_096]).await.is_ok() {}
        let why = "it was not done within 1 s (outbound.page_timeout_s)";
        assert_eq!(session.warnings().lines(), [format!("refused address: http://{address}/x ({why})")]);
        assert!(
            ProxyRequest::begin(&session, None, "another".to_owned()).await.is_ok(),
            "the one slot is free"
        );
    }

    #[test]
    fn hop_by_hop_headers_are_not_passed_on() {
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
