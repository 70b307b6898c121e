//! The connections of pages: decided by `outbound.allow` alone and made to pinned addresses. Plain http requests are sent by
//! the service itself.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response, Uri, Version};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use super::connect::first_of;
use super::{Outbound, PinnedUrl, Purpose, Refusal, UnresolvedTarget, forbidden};
use crate::config::{Allowed, HostExceptions, as_count};

/// The limits of one page's requests.
#[derive(Clone, Copy, Debug)]
pub struct PageRequestLimits {
    /// `outbound.page_timeout_s`.
    pub timeout_s: u64,
    /// `outbound.page_limit_bytes`.
    pub bytes: u64,
    /// `outbound.page_total_limit_bytes`.
    pub total_bytes: u64,
    /// `outbound.page_connection_limit`.
    pub connections: usize,
    /// `outbound.page_request_limit`.
    pub requests: u64,
}

/// Why an allowed host gave no response.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// It cannot be connected to.
    #[error("it cannot be reached: {0}")]
    Unreachable(io::Error),
    /// It does not speak http, or closed the connection.
    #[error("it gave no answer: {0}")]
    Broken(#[from] hyper::Error),
    /// Status and headers are longer than so many bytes.
    #[error("its head has more than {0} bytes (outbound.page_head_limit_bytes)")]
    LongHead(usize),
}

impl Outbound {
    /// Decides whether a page may connect to `url`, resolving its host. Unlisted names are not resolved: a DNS query would leak
    /// data that the page encodes in the name.
    ///
    /// # Errors
    /// See [`Refusal`]; the sentence is for the page's author and follows the URL.
    pub async fn decide_page(&self, url: &Url) -> Result<PinnedUrl, Refusal> {
        self.decide_listed(url, Purpose::Page).await
    }

    /// Decides by `outbound.allow` alone.
    pub(super) async fn decide_listed(&self, url: &Url, purpose: Purpose) -> Result<PinnedUrl, Refusal> {
        let named = self.name(url, purpose)?;
        match judge_listed(&named) {
            Ok(()) => self.pin(url, &named).await,
            Err(why) => Err(self.refusal(url, &named, why.to_owned()).await),
        }
    }

    /// Whether pages may reach any host at all.
    pub fn opens_hosts(&self) -> bool {
        !self.config.allow.is_empty()
    }

    /// The limits of one page's requests.
    pub fn page_limits(&self) -> PageRequestLimits {
        let config = &self.config;
        PageRequestLimits {
            timeout_s: config.page_timeout_s,
            bytes: config.page_limit_bytes,
            total_bytes: config.page_total_limit_bytes,
            connections: usize::try_from(config.page_connection_limit).unwrap_or(1),
            requests: config.page_request_limit,
        }
    }

    /// Connects to one of the pinned addresses; a dead one does not block the others.
    ///
    /// # Errors
    /// When none of its addresses answers in time.
    pub async fn connect(&self, pinned: &PinnedUrl) -> io::Result<TcpStream> {
        let limit = Duration::from_millis(self.config.connect_timeout_ms);
        let connecting = first_of(&pinned.addresses, TcpStream::connect);
        let late = || io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {limit:?}"));
        let stream = timeout(limit, connecting).await.map_err(|_| late())??;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Sends one request with the target and host of `pinned` and the version that is spoken here (RFC 9112 §2.3), replacing its
    /// own. Dropping the handle closes the connection.
    ///
    /// # Errors
    /// See [`ExchangeError`].
    pub async fn exchange<B>(
        &self,
        pinned: &PinnedUrl,
        mut request: Request<B>,
    ) -> Result<(Response<Incoming>, AbortOnDropHandle<()>), ExchangeError>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (target, host) = target_of(&pinned.url).map_err(ExchangeError::Unreachable)?;
        *request.uri_mut() = target;
        *request.version_mut() = Version::HTTP_11;
        request.headers_mut().insert(HOST, host);
        let stream = self.connect(pinned).await.map_err(ExchangeError::Unreachable)?;
        let limit = as_count(self.config.page_head_limit_bytes);
        let mut builder = http1::Builder::new();
        let builder = builder.max_buf_size(limit).max_header_size(limit);
        let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        let driven = AbortOnDropHandle::new(tokio::spawn(async move {
            // The reader of the response gets its errors as well.
            let _ = connection.await;
        }));
        match sender.send_request(request).await {
            Ok(response) => Ok((response, driven)),
            Err(error) if error.is_parse_too_large() => Err(ExchangeError::LongHead(limit)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Checks the URL before resolving; the error is the reason without the suggested entry.
fn judge_listed(named: &UnresolvedTarget<'_>) -> Result<(), &'static str> {
    match named.entry {
        Some(entry) if !named.http || entry.http => Ok(()),
        Some(_) => Err("it is not https; outbound.allow can open it"),
        None if named.purpose == Purpose::Page => {
            Err("a page reaches its own files only; outbound.allow can open it")
        }
        None => Err("a template reaches its own files only; outbound.allow can open it"),
    }
}

impl PinnedUrl {
    /// Checks that a connection without encryption is allowed.
    ///
    /// # Errors
    /// The reason for the page's author.
    pub fn check_allows_http(&self) -> Result<(), Refusal> {
        if self.allows_http {
            return Ok(());
        }
        let (host, port) = (super::host_of(&self.url).unwrap_or_default(), self.port());
        let entry = Allowed::entry(&host, port, HostExceptions { http: true, private: false });
        forbidden(&format!("it is not encrypted; outbound.allow can open it: {entry}"))
    }

    fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }
}

/// The request target and the `Host` header for the server of `url`.
fn target_of(url: &Url) -> io::Result<(Uri, HeaderValue)> {
    let query = url.query().map_or(String::new(), |query| format!("?{query}"));
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    let host = format!("{}{port}", url.host_str().unwrap_or_default());
    let target = format!("{}{query}", url.path()).parse::<Uri>().map_err(io::Error::other)?;
    Ok((target, HeaderValue::from_str(&host).map_err(io::Error::other)?))
}
