//! One GET for a file that a template names. Each redirect is decided like the first URL, by `outbound.allow` alone.

use bytes::{Bytes, BytesMut};
use reqwest::header::ACCEPT_ENCODING;
use reqwest::{Response, StatusCode};
use url::Url;

use super::send::{causes, redirect_target};
use super::{Outbound, PinnedUrl, Purpose, Refusal};

/// Why a file was not fetched. The message follows the URL, and never repeats its path or signature.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The URL, or one that it redirects to, may not be connected to.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The host has no such file, failed, or could not be reached.
    #[error("{0}")]
    Failed(String),
    /// It is longer than so many bytes.
    #[error("it is larger than {0} bytes")]
    TooLong(u64),
}

impl Outbound {
    /// Fetches a file of at most `limit_bytes`. The caller has to limit the time.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub async fn fetch(&self, address: &str, limit_bytes: u64) -> Result<Bytes, FetchError> {
        let mut pinned = self.decide_listed(&self.parse(address)?, Purpose::File).await?;
        for _ in 0..=self.config.redirect_limit {
            let response = self.get(&pinned).await?;
            match redirect(&response, &pinned)? {
                None => return content(response, limit_bytes).await,
                Some(next) => pinned = self.decide_redirect(&pinned, &next).await?,
            }
        }
        let limit = self.config.redirect_limit;
        let sentence = format!("it redirects more than {limit} times (outbound.redirect_limit)");
        Err(FetchError::Failed(sentence))
    }

    async fn decide_redirect(&self, from: &PinnedUrl, to: &Url) -> Result<PinnedUrl, FetchError> {
        let decided = self.decide_listed(to, Purpose::File).await;
        decided.map_err(|refusal| {
            let shown = super::host_for_log(to);
            let sentence = |why| format!("{} redirects to {shown}: {why}", from.host_for_log());
            FetchError::Refused(match refusal {
                Refusal::Forbidden(why) => Refusal::Forbidden(sentence(why)),
                Refusal::Unresolved(why) => Refusal::Unresolved(sentence(why)),
            })
        })
    }

    async fn get(&self, pinned: &PinnedUrl) -> Result<Response, FetchError> {
        let client = self.client(pinned).map_err(|error| unreachable(&error))?;
        // No compression: nothing here decompresses, and a small response could unpack to a huge file.
        let request = client.get(pinned.url.clone()).header(ACCEPT_ENCODING, "identity");
        request.send().await.map_err(|error| unreachable(&error))
    }
}

/// `None` if the response is the file; the next URL for a redirect.
fn redirect(response: &Response, pinned: &PinnedUrl) -> Result<Option<Url>, FetchError> {
    let status = response.status();
    // Only 200 is the whole file: 206 is a part, 204 none.
    if status == StatusCode::OK {
        return Ok(None);
    }
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Err(FetchError::Failed(format!("its host answered {status}")));
    }
    let next = redirect_target(response, pinned);
    next.map(Some).ok_or_else(|| FetchError::Failed("it redirects to no address".to_owned()))
}

async fn content(mut response: Response, limit_bytes: u64) -> Result<Bytes, FetchError> {
    if response.content_length().is_some_and(|length| length > limit_bytes) {
        return Err(FetchError::TooLong(limit_bytes));
    }
    let mut content = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&error))? {
        if (content.len() + chunk.len()) as u64 > limit_bytes {
            return Err(FetchError::TooLong(limit_bytes));
        }
        content.extend_from_slice(&chunk);
    }
    Ok(content.freeze())
}

fn unreachable(error: &reqwest::Error) -> FetchError {
    FetchError::Failed(format!("its host cannot be reached: {}", causes(error)))
}
