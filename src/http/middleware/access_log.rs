//! The access log: a line for each request once its answer has gone, or its client has.
//!
//! Hazard: a presigned URL carries its signature in the query, and callers may put secrets there. So a line has neither query
//! nor headers; the path of a presigned URL grants nothing by itself.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use actix_web::HttpMessage;
use actix_web::body::{BodySize, MessageBody as _};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use tracing::Level;

use crate::domain::ids::AccountId;
use crate::http::request_id::RequestId;
use crate::storage::presigned_urls;
use crate::telemetry::ACCESS;

/// Longest path in a line.
const PATH_LIMIT_CHARS: usize = 300;

/// The account of a request, set once its token is known. Shared with the log line, which may outlast the request.
#[derive(Clone, Debug, Default)]
pub(in crate::http) struct CallerCell(Arc<OnceLock<AccountId>>);

impl CallerCell {
    pub(in crate::http) fn set(&self, account: AccountId) {
        let _ = self.0.set(account);
    }
}

/// A line that is being gathered; written when it is dropped.
pub(in crate::http) struct AccessLine {
    since: Instant,
    method: String,
    path: String,
    peer: Option<String>,
    request_id: String,
    account: CallerCell,
    /// None until there is an answer: the client may be gone before.
    status: Option<u16>,
    /// How many bytes were sent.
    pub(super) bytes: u64,
    /// How many bytes the answer has, where that is known before.
    length: Option<u64>,
    /// Whether the answer's body came to its end.
    pub(super) ended: bool,
}

impl AccessLine {
    /// Begins the line of a request, where there are lines (`log.access`).
    pub(in crate::http) fn begin(request: &ServiceRequest, id: &RequestId) -> Option<Self> {
        if !tracing::enabled!(target: ACCESS, Level::INFO) {
            return None;
        }
        let account = CallerCell::default();
        request.extensions_mut().insert(account.clone());
        Some(Self {
            since: Instant::now(),
            method: request.method().as_str().chars().take(PATH_LIMIT_CHARS).collect(),
            path: shown(request.path()).chars().take(PATH_LIMIT_CHARS).collect(),
            peer: request.peer_addr().map(|peer| peer.ip().to_string()),
            request_id: id.to_string(),
            account,
            status: None,
            bytes: 0,
            length: None,
            ended: false,
        })
    }

    /// Notes the answer that is about to be sent.
    pub(in crate::http) fn answered(&mut self, answer: &ServiceResponse) {
        self.status = Some(answer.status().as_u16());
        self.length = match answer.response().body().size() {
            BodySize::Sized(bytes) => Some(bytes),
            BodySize::None => Some(0),
            BodySize::Stream => None,
        };
    }

    /// Whether the whole answer was sent; a `HEAD` has no body.
    fn is_whole(&self) -> bool {
        self.ended || self.status.is_some() && self.method == "HEAD" || self.length == Some(self.bytes)
    }
}

impl Drop for AccessLine {
    fn drop(&mut self) {
        tracing::info!(
            target: ACCESS, parent: None, {
            http.request_id = self.request_id, http.method = self.method, http.path = self.path,
            http.status = self.status, http.bytes = self.bytes, http.whole = self.is_whole(),
            http.ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX),
            http.peer = self.peer, account.id = self.account.0.get().map(tracing::field::display)
            },
            "request"
        );
    }
}

/// The path, cut where a percent-encoded query may begin (encoded once or more often): no object's name has such letters, and
/// a signature must not reach the log this way.
fn shown(path: &str) -> &str {
    let end = if path.starts_with(presigned_urls::PATH_PREFIX) {
        path.find(|letter: char| !letter.is_ascii_alphanumeric() && !"/._-".contains(letter))
    } else {
        path.to_ascii_lowercase().find("%3f")
    };
    path.get(..end.unwrap_or(path.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn no_query_is_shown_however_often_it_is_encoded() {
        for (path, line) in [
            ("/v1/jobs/a-1", "/v1/jobs/a-1"),
            ("/v1/jobs%3Fa=b", "/v1/jobs"),
            ("/v1/objects/outputs/a_b/1.pdf", "/v1/objects/outputs/a_b/1.pdf"),
            ("/v1/objects/outputs/1.pdf%253Fsig=x", "/v1/objects/outputs/1.pdf"),
            ("/v1/objects/outputs/1.pdf;sig=x", "/v1/objects/outputs/1.pdf"),
        ] {
            assert_eq!(shown(path), line);
        }
    }
}
