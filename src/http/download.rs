//! `GET` and `HEAD` of a presigned address: streams an object from the store, with ranges and `ETag`.

use actix_web::body::SizedStream;
use actix_web::http::header::{self, HeaderMap, HeaderName};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use futures_util::stream;

use super::address;
use super::problem::{Answer, Failure};
use super::state::HttpState;
use crate::problem::{Code, Problem};
use crate::storage::presign::Operation;
use crate::storage::{ByteRange, ObjectMeta, StorageKey, StoreError};

/// Served files are not pages of ours: no script, no guess of the type, no copy in a shared cache.
const SAFETY: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CONTENT_SECURITY_POLICY, "sandbox"),
    (header::CACHE_CONTROL, "private, no-store"),
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::ACCESS_CONTROL_EXPOSE_HEADERS, "Content-Disposition, Content-Range, ETag"),
];

/// The handler.
pub(super) async fn download(request: HttpRequest, state: Data<HttpState>) -> Answer {
    let any_origin =
        |problem: Problem| Failure::from(problem).header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    let grant = address::open(&state, &request, Operation::Get).map_err(any_origin)?;
    let meta = state.store.head(&grant.key).await.map_err(|error| any_origin(problem_of(&error)))?;
    if is_known(request.headers(), &meta) {
        return Ok(head(StatusCode::NOT_MODIFIED, &grant.key, &meta).finish());
    }
    let range = wanted_range(request.headers(), &meta);
    if request.method() == Method::HEAD {
        let body = SizedStream::new(meta.bytes, stream::empty::<Result<_, StoreError>>());
        return Ok(head(StatusCode::OK, &grant.key, &meta).body(body));
    }
    match state.store.open(&grant.key, range).await {
        Ok(reader) => {
            let status = if range.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
            let mut answer = head(status, &grant.key, &reader.meta);
            if range.is_some() {
                let last = reader.start + reader.length.saturating_sub(1);
                let shown = format!("bytes {}-{last}/{}", reader.start, reader.meta.bytes);
                answer.insert_header((header::CONTENT_RANGE, shown));
            }
            Ok(answer.body(SizedStream::new(reader.length, reader.chunks)))
        }
        Err(StoreError::Range { bytes }) => {
            let detail = format!("The object has {bytes} bytes; ask for a range inside them.");
            let failure = any_origin(Problem::new(Code::RangeNotSatisfiable, detail));
            Err(failure.header(header::CONTENT_RANGE, format!("bytes */{bytes}")))
        }
        Err(error) => Err(any_origin(problem_of(&error))),
    }
}

fn head(status: StatusCode, key: &StorageKey, meta: &ObjectMeta) -> HttpResponseBuilder {
    let (kind, inline) = match key {
        StorageKey::JobOutput(_, _, target) => (target.mime(), target.inline()),
        StorageKey::JobData(..) | StorageKey::JobTemplate(..) | StorageKey::Probe(_) => {
            ("application/octet-stream", false)
        }
    };
    let manner = if inline { "inline" } else { "attachment" };
    let mut answer = HttpResponse::build(status);
    for pair in SAFETY {
        answer.insert_header(pair);
    }
    answer.insert_header((header::CONTENT_TYPE, kind));
    answer
        .insert_header((header::CONTENT_DISPOSITION, format!("{manner}; filename=\"{}\"", key.file_name())));
    answer.insert_header((header::ETAG, format!("\"{}\"", meta.etag)));
    answer.insert_header((header::ACCEPT_RANGES, "bytes"));
    answer
}

/// Whether the caller has the object already (`If-None-Match`; weak and strong tags compare alike).
fn is_known(headers: &HeaderMap, meta: &ObjectMeta) -> bool {
    let sent = headers.get_all(header::IF_NONE_MATCH).filter_map(|value| value.to_str().ok());
    sent.flat_map(|value| value.split(',')).map(str::trim).any(|tag| tag == "*" || names(tag, meta))
}

fn names(tag: &str, meta: &ObjectMeta) -> bool {
    let tag = tag.strip_prefix("W/").unwrap_or(tag);
    tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) == Some(meta.etag.as_str())
}

/// The range asked for. Several ranges, another unit, or a spelling that makes no sense count as no range
/// (RFC 9110, section 14.2), and so does a range of another version of the object.
fn wanted_range(headers: &HeaderMap, meta: &ObjectMeta) -> Option<ByteRange> {
    let condition = headers.get(header::IF_RANGE);
    if condition.is_some_and(|tag| !tag.to_str().is_ok_and(|tag| tag == format!("\"{}\"", meta.etag))) {
        return None;
    }
    let (first, last) = headers.get(header::RANGE)?.to_str().ok()?.strip_prefix("bytes=")?.split_once('-')?;
    let (first, last) = (first.trim(), last.trim());
    if first.is_empty() {
        return last.parse().ok().map(ByteRange::Last);
    }
    let first: u64 = first.parse().ok()?;
    if last.is_empty() {
        return Some(ByteRange::From(first, None));
    }
    let last: u64 = last.parse().ok()?;
    (first <= last).then_some(ByteRange::From(first, Some(last)))
}

fn problem_of(error: &StoreError) -> Problem {
    match error {
        StoreError::NotFound(_) => {
            let detail =
                "The object is gone: outputs are kept for a limited time. Render the document again.";
            Problem::new(Code::ObjectNotFound, detail)
        }
        StoreError::TooLarge { .. } | StoreError::Range { .. } | StoreError::Failed(_) => {
            Problem::internal(error)
        }
    }
}
