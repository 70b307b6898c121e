//! The access log: a line for each request once its answer has gone, or its client has.
//!
//! Hazard: an address that grants something carries its signature in the query, and callers write what they like there.
//! So no query and no header is ever in a line; the path of such an address grants nothing by itself.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use actix_web::HttpMessage;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderName;
use bytes::Bytes;
use tracing::Level;

use super::auth::Caller;
use crate::domain::ids::AccountId;
use crate::telemetry::ACCESS;

/// Longest path in a line.
const PATH_LIMIT_CHARS: usize = 300;

/// A line that is being gathered; written when it is dropped.
pub(super) struct AccessLine {
    since: Instant,
    method: String,
    path: String,
    peer: Option<String>,
    request_id: String,
    account: Option<AccountId>,
    status: u16,
    bytes: u64,
    /// How many bytes the answer has, where that is known before.
    length: Option<u64>,
    ended: bool,
}

impl AccessLine {
    /// Begins the line of a request, where there are lines (`log.access`).
    pub(super) fn begin(request: &ServiceRequest) -> Option<Self> {
        tracing::enabled!(target: ACCESS, Level::INFO).then(|| Self {
            since: Instant::now(),
            method: request.method().as_str().chars().take(PATH_LIMIT_CHARS).collect(),
            path: without_query(request.path()).chars().take(PATH_LIMIT_CHARS).collect(),
            peer: request.peer_addr().map(|peer| peer.ip().to_string()),
            request_id: String::new(),
            account: None,
            status: 0,
            bytes: 0,
            length: None,
            ended: false,
        })
    }

    /// The same answer, whose body tells the line how much of it went.
    pub(super) fn follow(mut self, answer: ServiceResponse, id: &HeaderName) -> ServiceResponse {
        let shown = answer.headers().get(id).and_then(|id| id.to_str().ok());
        shown.unwrap_or_default().clone_into(&mut self.request_id);
        self.account = answer.request().extensions().get::<Caller>().map(|caller| caller.0);
        self.status = answer.status().as_u16();
        answer.map_body(|_, body| {
            self.length = match body.size() {
                BodySize::Sized(bytes) => Some(bytes),
                BodySize::None => Some(0),
                BodySize::Stream => None,
            };
            BoxBody::new(Followed { body, line: self })
        })
    }

    /// Whether all of the answer went; of a `HEAD` nothing goes.
    fn is_whole(&self) -> bool {
        self.ended || self.method == "HEAD" || self.length == Some(self.bytes)
    }
}

impl Drop for AccessLine {
    fn drop(&mut self) {
        tracing::info!(
            target: ACCESS, parent: None, {
            http.request_id = self.request_id, http.method = self.method, http.path = self.path,
            http.status = self.status, http.bytes = self.bytes, http.whole = self.is_whole(),
            http.ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX),
            http.peer = self.peer, account.id = self.account.map(tracing::field::display)
            },
            "request"
        );
    }
}

/// The path without a query that somebody encoded into it.
fn without_query(path: &str) -> &str {
    let end = path.to_ascii_lowercase().find("%3f").unwrap_or(path.len());
    &path[..end]
}

struct Followed {
    body: BoxBody,
    line: AccessLine,
}

impl MessageBody for Followed {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let polled = Pin::new(&mut self.body).poll_next(context);
        match &polled {
            Poll::Ready(Some(Ok(chunk))) => self.line.bytes += chunk.len() as u64,
            Poll::Ready(None) => self.line.ended = true,
            Poll::Ready(Some(Err(_))) | Poll::Pending => {}
        }
        polled
    }
}
