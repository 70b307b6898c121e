//! One PUT to a pinned URL. Each redirect is decided like the first URL.

use std::error::Error as _;
use std::iter::successors;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use url::Url;

use super::{Outbound, PinnedUrl, Refusal};

/// The body of a PUT; made anew for each attempt.
pub struct Body {
    /// Its length in bytes: stores refuse a body without `Content-Length`.
    pub bytes: u64,
    /// Its media type.
    pub mime: &'static str,
    /// The bytes.
    pub chunks: BoxStream<'static, std::io::Result<Bytes>>,
}

/// Why a PUT failed. The message never repeats the URL's path or signature.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The URL, or one that it redirects to, may not be connected to.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The receiver refused it.
    #[error("{0}")]
    Rejected(String),
    /// The receiver failed, or could not be reached: a retry may succeed.
    #[error("{0}")]
    Failed(String),
    /// The document cannot be read.
    #[error("the document cannot be read: {0}")]
    Source(String),
}

impl Outbound {
    /// Decides about a URL and puts a body to it. `make_body` is called again after each redirect.
    ///
    /// # Errors
    /// See [`SendError`].
    pub async fn put<F>(&self, address: &str, mut make_body: impl FnMut() -> F) -> Result<(), SendError>
    where
        F: Future<Output = Result<Body, SendError>>,
    {
        let mut pinned = self.read(address).await?;
        for _ in 0..=self.config.redirect_limit {
            let response = self.send(&pinned, make_body().await?).await?;
            match judge(&response, &pinned)? {
                None => return Ok(()),
                Some(next) => pinned = self.decide(next).await?,
            }
        }
        let limit = self.config.redirect_limit;
        Err(SendError::Rejected(format!(
            "{} redirects more than {limit} times (outbound.redirect_limit)",
            pinned.host_for_log()
        )))
    }

    async fn send(&self, pinned: &PinnedUrl, body: Body) -> Result<Response, SendError> {
        let failed = |error: reqwest::Error| {
            SendError::Failed(format!("{} cannot be reached: {}", pinned.host_for_log(), causes(&error)))
        };
        let request = self
            .client(pinned)
            .map_err(failed)?
            .put(pinned.url.clone())
            .header(CONTENT_LENGTH, body.bytes)
            .header(CONTENT_TYPE, body.mime)
            .body(reqwest::Body::wrap_stream(body.chunks));
        request.send().await.map_err(failed)
    }

    /// A client that resolves the URL's name to its pinned addresses only.
    pub(super) fn client(&self, pinned: &PinnedUrl) -> reqwest::Result<Client> {
        let client = Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .user_agent(concat!("platen/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_millis(self.config.connect_timeout_ms));
        let client = match pinned.url.domain() {
            Some(name) => client.resolve_to_addrs(name, &pinned.addresses),
            None => client,
        };
        client.build()
    }
}

/// `None` for success; the next URL for a redirect that keeps method and body (RFC 9110, 15.4.8 and 15.4.9). Other redirects
/// would turn the PUT into a GET, so they are errors.
fn judge(response: &Response, pinned: &PinnedUrl) -> Result<Option<Url>, SendError> {
    let (status, shown) = (response.status(), pinned.host_for_log());
    if status.is_success() {
        return Ok(None);
    }
    if matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT) {
        let next = redirect_target(response, pinned);
        let next = next.ok_or_else(|| SendError::Rejected(format!("{shown} redirects to no address")))?;
        return Ok(Some(next));
    }
    let words = format!("{shown} answered {status}");
    if status.is_server_error() || matches!(status.as_u16(), 408 | 429) {
        return Err(SendError::Failed(words));
    }
    Err(SendError::Rejected(words))
}

/// The URL that a redirect leads to, by its `Location`; `None` where there is none, or it is no URL.
pub(super) fn redirect_target(response: &Response, from: &PinnedUrl) -> Option<Url> {
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    from.url.join(location).ok()
}

/// The causes of an error, without the URL that its own message contains.
pub(super) fn causes(error: &reqwest::Error) -> String {
    let below = successors(error.source(), |&cause| cause.source());
    let causes: Vec<_> = below.map(ToString::to_string).collect();
    if causes.is_empty() { "the connection broke".to_owned() } else { causes.join(": ") }
}
