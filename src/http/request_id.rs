//! `X-Request-Id`.

use std::fmt;

use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::{HttpMessage as _, HttpRequest};

use crate::clock;

pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest `X-Request-Id` that is accepted from a caller.
const REQUEST_ID_LIMIT: usize = 128;

/// Id of one request: `X-Request-Id` of the answer, `instance` of a problem, a field of the log and of a job's record. The
/// outermost layer keeps it among the request's extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http) struct RequestId(String);

impl RequestId {
    pub(super) fn generate() -> Self {
        Self(clock::new_id().to_string())
    }

    /// The caller's own id, by which the request is found in both logs; a new one where there is none, or where its letters
    /// could forge lines of a log.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let sent = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
        let is_sane = |id: &&str| {
            let is_known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            (1..=REQUEST_ID_LIMIT).contains(&id.len()) && id.bytes().all(is_known)
        };
        sent.filter(is_sane).map_or_else(Self::generate, |id| Self(id.to_owned()))
    }

    /// The id of a request that is being handled.
    pub(in crate::http) fn text(request: &HttpRequest) -> Option<String> {
        request.extensions().get::<Self>().map(|id| id.0.clone())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
