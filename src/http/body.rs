//! Reads a JSON body: bounded, whatever its Content-Type, with the place of a fault.

use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::{self, Payload};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use tokio::time::timeout;

use super::request::keep_unread;
use super::state::HttpState;
use crate::domain::json;
use crate::domain::members::Members;
use crate::problem::{Code, Problem};

/// Bodies larger than this are looked through on a thread of their own: at about 300 MB/s the thread that
/// answers requests would stand still for a millisecond.
const INLINE_LIMIT_BYTES: usize = 256 * 1024;

/// A body that is sound JSON: an object, or what counts as one.
#[derive(Debug)]
pub(super) struct Body(Bytes);

impl Body {
    /// Reads the whole body. The Content-Type is not looked at: clients send `application/json` without a
    /// body, and bodies without a type.
    ///
    /// # Errors
    /// `payload_too_large`, `malformed_json`, or `bad_request` when the transfer broke off.
    pub(super) async fn read(
        request: &HttpRequest,
        payload: Payload,
        state: &HttpState,
    ) -> Result<Self, Problem> {
        let limit = usize::try_from(state.config.http.json_limit_bytes).unwrap_or(usize::MAX);
        let longest_s = state.config.http.upload_timeout_s;
        let mut payload = payload;
        let arrival = timeout(Duration::from_secs(longest_s), collect(request, &mut payload, limit)).await;
        let bytes = arrival.unwrap_or_else(|_| Err(too_slow(longest_s))).inspect_err(|_| {
            keep_unread(request, payload);
        })?;
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(Bytes::from_static(b"{}")));
        }
        let depth = usize::try_from(state.config.http.json_depth_limit).unwrap_or(usize::MAX);
        check(bytes.clone(), depth).await?;
        Ok(Self(bytes))
    }

    /// The members of the body.
    ///
    /// # Errors
    /// `malformed_json` when the body is JSON but no object.
    pub(super) fn members(&self) -> Result<Members<'_>, Problem> {
        let text = std::str::from_utf8(&self.0).map_err(Problem::internal)?;
        Members::of(text, "").map_err(|error| {
            let detail = format!("The body must be a JSON object: {error}.");
            Problem::new(Code::MalformedJson, detail)
        })
    }

    /// The part of the body that `text`, taken from its members, is; shared, not copied.
    pub(super) fn share(&self, text: &str) -> Bytes {
        let body = self.0.as_ptr_range();
        let inside =
            body.contains(&text.as_ptr()) && body.contains(&text.as_bytes()[text.len() - 1..].as_ptr());
        if inside { self.0.slice_ref(text.as_bytes()) } else { Bytes::copy_from_slice(text.as_bytes()) }
    }
}

/// What the request says its body has, in bytes.
pub(super) fn declared_bytes(request: &HttpRequest) -> Option<u64> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn collect(request: &HttpRequest, payload: &mut Payload, limit: usize) -> Result<Bytes, Problem> {
    if declared_bytes(request).is_some_and(|bytes| bytes > limit as u64) {
        return Err(too_large(limit));
    }
    let mut bytes = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| {
            Problem::new(Code::BadRequest, format!("The body did not arrive whole: {error}. Send it again."))
        })?;
        if bytes.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

fn too_large(limit: usize) -> Problem {
    let detail = format!(
        "The body is larger than {limit} bytes (http.json_limit_bytes); upload data and template to the \
         presigned addresses that /documents/init answers."
    );
    Problem::new(Code::PayloadTooLarge, detail)
}

fn too_slow(longest_s: u64) -> Problem {
    let detail = format!("The body did not arrive within {longest_s} seconds (http.upload_timeout_s).");
    Problem::new(Code::BadRequest, detail)
}

async fn check(bytes: Bytes, depth: usize) -> Result<(), Problem> {
    let checked = if bytes.len() <= INLINE_LIMIT_BYTES {
        json::check(&bytes, depth)
    } else {
        web::block(move || json::check(&bytes, depth)).await.map_err(Problem::internal)?
    };
    checked.map_err(|fault| Problem::new(Code::MalformedJson, format!("The body is not JSON at {fault}.")))
}
