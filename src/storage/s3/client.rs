//! Requests to the bucket: signed, sent, retried, and given up in time.
//!
//! Requests with a large body are sent to a signed URL by our own client: the library's PUT hashes the body three times (406 ms
//! of processor time for 20 MiB, against 7), does not retry, and has one time limit for the whole body, so a large object
//! on a slow line would never arrive and a silent store would hold a job for a minute. Here each phase has its own limit: the
//! connection, the answer, and a stalled body.

use std::mem::replace;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use bytes::Bytes;
use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::{CONTENT_LENGTH, ETAG, RANGE};
use reqwest::redirect::Policy;
use reqwest::{Client, Proxy, RequestBuilder, Response};
use s3::error::S3Error;
use s3::serde_types::HeadObjectResult;
use s3::{Bucket, Region};
use tokio::time::{Instant, sleep, timeout};

use super::error::{ANSWER_LIMIT_BYTES, RequestError};
use crate::config::{S3Config, as_count};

/// Lifetime of URLs signed for the service's own requests; longer than any of them waits before it is sent.
const SIGNED_FOR_S: u32 = 3_600;
const PAUSE_LIMIT: Duration = Duration::from_secs(5);

/// The chunks of a body.
pub(super) type Chunks = BoxStream<'static, Result<Bytes, std::io::Error>>;

/// Sends requests to one bucket.
#[derive(Clone)]
pub(super) struct BucketClient {
    bucket: Bucket,
    client: Client,
    answer_limit: Duration,
    stall_limit: Duration,
    retries: usize,
    pause: Duration,
}

/// An object being downloaded.
pub(super) struct Download {
    response: Response,
    stall_limit: Duration,
}

impl BucketClient {
    /// A client for the bucket of `config` at `endpoint`.
    pub fn new(config: &S3Config, endpoint: &str) -> Result<Self, RequestError> {
        // The library's own retries wait whole seconds and skip requests that we retry.
        s3::set_retries(0);
        let answer_limit = Duration::from_millis(config.answer_timeout_ms);
        let mut bucket = bucket(config, endpoint).map_err(|error| RequestError::of_library(&error))?;
        bucket.set_request_timeout(Some(answer_limit));
        let client = Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .user_agent(concat!("platen/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_millis(config.connect_timeout_ms))
            .build()
            .map_err(|error| RequestError::of_connection(&error))?;
        Ok(Self {
            bucket,
            client,
            answer_limit,
            stall_limit: Duration::from_millis(config.stall_timeout_ms),
            retries: as_count(config.retries),
            pause: Duration::from_millis(config.retry_pause_ms),
        })
    }

    /// The same without retries.
    pub fn without_retries(&self) -> Self {
        Self { retries: 0, ..self.clone() }
    }

    /// The bucket, for what the library does well: small requests and signatures.
    pub fn bucket(&self) -> &Bucket {
        &self.bucket
    }

    /// The HTTP client, for URLs that are signed already.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Retries `request` until it succeeds, is refused, or has used up its retries.
    pub async fn repeat<T, F>(&self, request: impl Fn() -> F) -> Result<T, RequestError>
    where
        F: Future<Output = Result<T, RequestError>>,
    {
        let (began, mut is_repeated) = (Instant::now(), false);
        let pauses = ExponentialBuilder::new().with_min_delay(self.pause).with_max_delay(PAUSE_LIMIT);
        let retried = request.retry(pauses.with_max_times(self.retries)).when(|error| {
            // Always retry once: a pooled connection may have died unnoticed. But while the store is silent, each try takes the
            // whole time limit, so after that the caller gets the error.
            let is_first = !replace(&mut is_repeated, true);
            matches!(error, RequestError::Transient(_)) && (is_first || began.elapsed() < self.answer_limit)
        });
        let notify = |error: &RequestError, _| {
            tracing::debug!(error = %error, "the store failed; the request is repeated");
        };
        retried.notify(notify).await
    }

    /// Sends a request without a large body through the library.
    pub async fn ask<T, F>(&self, request: impl Fn() -> F) -> Result<T, RequestError>
    where
        F: Future<Output = Result<T, S3Error>>,
    {
        self.repeat(|| async { request().await.map_err(|error| RequestError::of_library(&error)) }).await
    }

    /// The metadata of an object; `None` if the answer is 404.
    pub async fn head(&self, path: &str) -> Result<Option<HeadObjectResult>, RequestError> {
        self.repeat(|| async {
            match self.bucket.head_object(path).await {
                Ok((known, _)) => Ok(Some(known)),
                Err(S3Error::HttpFailWithBody(404, _)) => Ok(None),
                Err(error) => Err(RequestError::of_library(&error)),
            }
        })
        .await
    }

    /// Puts an object; returns its entity tag. `body` is called for each attempt.
    pub async fn put(
        &self,
        path: &str,
        bytes: u64,
        body: impl Fn() -> Chunks,
    ) -> Result<String, RequestError> {
        self.repeat(|| self.put_once(path, bytes, body())).await
    }

    async fn put_once(&self, path: &str, bytes: u64, chunks: Chunks) -> Result<String, RequestError> {
        let signed = self.bucket.presign_put(path, SIGNED_FOR_S, None, None).await;
        let url = signed.map_err(|error| RequestError::of_library(&error))?;
        let (moved, body) = watched(chunks);
        let request =
            self.client.put(url).header(CONTENT_LENGTH, bytes).body(reqwest::Body::wrap_stream(body));
        let answer = tokio::select! {
            answer = self.answer(request) => answer?,
            error = self.stalled(&moved, bytes) => return Err(error),
        };
        Ok(tag_of(&answer))
    }

    /// Gets an object, or the bytes from `range.0` to `range.1`, both included.
    pub async fn get(&self, path: &str, range: Option<(u64, u64)>) -> Result<Download, RequestError> {
        self.repeat(|| async { self.get_once(path, range).await }).await
    }

    /// The same without retries, for callers that retry it together with reading the body.
    pub async fn get_once(&self, path: &str, range: Option<(u64, u64)>) -> Result<Download, RequestError> {
        let signed = self.bucket.presign_get(path, SIGNED_FOR_S, None).await;
        let url = signed.map_err(|error| RequestError::of_library(&error))?;
        let mut request = self.client.get(url);
        if let Some((first, last)) = range {
            request = request.header(RANGE, format!("bytes={first}-{last}"));
        }
        let answered = timeout(self.answer_limit, self.answer(request)).await;
        let response = answered.map_err(|_| self.unanswered())??;
        Ok(Download { response, stall_limit: self.stall_limit })
    }

    /// Sends a request; an unsuccessful status is an error.
    async fn answer(&self, request: RequestBuilder) -> Result<Response, RequestError> {
        let response = request.send().await.map_err(|error| RequestError::of_connection(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let mut download = Download { response, stall_limit: self.stall_limit };
        let mut body = Vec::new();
        while body.len() < ANSWER_LIMIT_BYTES {
            // If the error response breaks off, its code may have arrived already.
            let Ok(Some(chunk)) = download.next().await else { break };
            body.extend_from_slice(&chunk);
        }
        Err(RequestError::of_answer(status.as_u16(), &body))
    }

    /// Returns when no byte of a body of `bytes` bytes moved for `s3.stall_timeout_ms`, or when all of it was sent and no
    /// answer came for `s3.answer_timeout_ms`: a silent store must not hold a job.
    async fn stalled(&self, moved: &AtomicU64, bytes: u64) -> RequestError {
        let mut before = moved.load(Ordering::Relaxed);
        loop {
            sleep(self.stall_limit).await;
            let now = moved.load(Ordering::Relaxed);
            if now >= bytes {
                sleep(self.answer_limit.saturating_sub(self.stall_limit)).await;
                return self.unanswered();
            }
            if now == before {
                return silent(self.stall_limit);
            }
            before = now;
        }
    }

    fn unanswered(&self) -> RequestError {
        RequestError::Transient(format!(
            "no answer within {} ms (s3.answer_timeout_ms)",
            self.answer_limit.as_millis()
        ))
    }
}

impl Download {
    /// The next chunk; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, RequestError> {
        let chunk =
            timeout(self.stall_limit, self.response.chunk()).await.map_err(|_| silent(self.stall_limit))?;
        chunk.map_err(|error| RequestError::of_connection(&error))
    }

    /// All of it; `None` if it is longer than `limit_bytes`.
    pub async fn whole(mut self, limit_bytes: u64) -> Result<Option<Bytes>, RequestError> {
        let length = self.length()?;
        if length > limit_bytes {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        while let Some(chunk) = self.next().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some(bytes.into()))
    }

    /// Its length by `Content-Length`.
    pub fn length(&self) -> Result<u64, RequestError> {
        self.response
            .content_length()
            .ok_or_else(|| RequestError::Transient("an answer without a length".to_owned()))
    }

    /// Its entity tag.
    pub fn tag(&self) -> String {
        tag_of(&self.response)
    }
}

fn silent(limit: Duration) -> RequestError {
    RequestError::Transient(format!("nothing moved for {} ms (s3.stall_timeout_ms)", limit.as_millis()))
}

fn tag_of(response: &Response) -> String {
    let tag = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok());
    plain_tag(tag.unwrap_or_default())
}

/// An entity tag without its quotes.
pub(super) fn plain_tag(tag: &str) -> String {
    tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"').to_owned()
}

/// The chunks, with a count of the bytes sent so far.
fn watched(chunks: Chunks) -> (Arc<AtomicU64>, impl futures_util::Stream<Item = std::io::Result<Bytes>>) {
    let moved = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&moved);
    let watched = chunks.inspect_ok(move |chunk| {
        counter.fetch_add(chunk.len() as u64, Ordering::Relaxed);
    });
    (moved, watched)
}

pub(super) fn bucket(config: &S3Config, endpoint: &str) -> Result<Bucket, S3Error> {
    let region = config.region.clone();
    // Not by the library's own list of regions, which lacks newer ones.
    let amazon = || format!("https://s3.{region}.amazonaws.com");
    let endpoint = if endpoint.is_empty() { amazon() } else { endpoint.to_owned() };
    let region = Region::Custom { region, endpoint };
    let token = Some(config.session_token.expose()).filter(|token| !token.is_empty());
    let (access, secret) = (Some(config.access_key.expose()), Some(config.secret_key.expose()));
    let credentials = s3::creds::Credentials::new(access, secret, None, token, None)?;
    let bucket = Bucket::new(&config.bucket, region, credentials)?;
    // Proxies of the environment are ignored: requests carry credentials and go to the configured address only.
    let mut bucket = bucket.set_proxy(Proxy::custom(|_| None::<reqwest::Url>))?;
    if config.path_style {
        bucket.set_path_style();
    }
    Ok(bucket)
}
