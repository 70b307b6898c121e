//! Reads a JSON body: bounded, whatever its Content-Type, with the place of a fault.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::{self, Data, Payload};
use actix_web::{HttpMessage as _, HttpRequest};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::state::HttpState;
use crate::config::HttpConfig;
use crate::domain::members::Members;
use crate::domain::{encoding, json};
use crate::problem::{Code, Problem};

/// Bodies larger than this are looked through on a thread of their own: the thread that answers requests
/// would stand still for more than a millisecond.
const INLINE_LIMIT_BYTES: usize = 256 * 1024;

/// So much of each body is always taken: connections bound how many of these there are.
const FREE_BYTES: usize = 64 * 1024;
/// Room is counted in these.
const ROOM_UNIT_BYTES: usize = 1024;
/// Seconds after which there may be room again.
const RETRY_AFTER_S: u64 = 2;

/// A body that is sound JSON: an object, or what counts as one.
#[derive(Debug)]
pub(super) struct Body(Bytes);

/// Receives a request's whole body and reads it by `reader`. The Content-Type is not looked at: clients
/// send `application/json` without a body, and bodies without a type.
///
/// # Errors
/// `payload_too_large`, `malformed_json`, `bad_request` when the transfer broke off, the reader's problem.
pub(super) async fn read<T: Send + 'static>(
    request: &HttpRequest,
    mut payload: Payload,
    state: &Data<HttpState>,
    reader: impl FnOnce(&Body, &HttpState) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let limit = limit(request, state)?;
    let longest_s = state.config.http.upload_timeout_s;
    let arrival = timeout(Duration::from_secs(longest_s), collect(request, &mut payload, state, limit)).await;
    let bytes = arrival.unwrap_or_else(|_| Err(too_slow(longest_s)))?;
    by_size(bytes.len(), state, move |state| reader(&Body::check(bytes, state)?, state)).await
}

/// Does what takes as long as `bytes` are many: on a thread of its own where they are.
///
/// # Errors
/// What `work` says.
pub(super) async fn by_size<T: Send + 'static>(
    bytes: usize,
    state: &Data<HttpState>,
    work: impl FnOnce(&HttpState) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    if bytes <= INLINE_LIMIT_BYTES {
        return work(state);
    }
    let state = state.clone();
    web::block(move || work(&state)).await.map_err(Problem::internal)?
}

impl Body {
    fn check(bytes: Bytes, state: &HttpState) -> Result<Self, Problem> {
        let bytes = encoding::unmarked(bytes);
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(Bytes::from_static(b"{}")));
        }
        let depth = usize::try_from(state.config.http.json_depth_limit).unwrap_or(usize::MAX);
        json::check(&bytes, depth).map_err(|fault| {
            Problem::new(Code::MalformedJson, format!("The body is not valid JSON at {fault}."))
        })?;
        Ok(Self(bytes))
    }

    /// A body that is made of something else, and sound.
    pub(super) fn made(bytes: Bytes) -> Self {
        Self(bytes)
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

    /// The bytes as they were received; an empty body is `{}`.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
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

/// What the body of a request may have in bytes.
///
/// # Errors
/// `payload_too_large` when it says that it has more.
pub(super) fn limit(request: &HttpRequest, state: &HttpState) -> Result<usize, Problem> {
    let limit = usize::try_from(state.config.http.json_limit_bytes).unwrap_or(usize::MAX);
    if declared_bytes(request).is_some_and(|bytes| bytes > limit as u64) {
        return Err(too_large(limit));
    }
    Ok(limit)
}

async fn collect(
    request: &HttpRequest,
    payload: &mut Payload,
    state: &Data<HttpState>,
    limit: usize,
) -> Result<Bytes, Problem> {
    let mut bytes = BytesMut::new();
    let mut room = Room::of(state);
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| {
            Problem::new(Code::BadRequest, format!("The body did not arrive whole: {error}. Send it again."))
        })?;
        if bytes.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        bytes.extend_from_slice(&chunk);
        room.take(chunk.len())?;
    }
    // Parts of the body live as long as the request does.
    request.extensions_mut().insert(room);
    Ok(bytes.freeze())
}

/// What a body takes of the room that there is for all of them; given back when it is dropped.
pub(super) struct Room {
    state: Data<HttpState>,
    bytes: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl Room {
    /// None yet.
    pub(super) fn of(state: &Data<HttpState>) -> Self {
        Self { state: state.clone(), bytes: 0, permit: None }
    }

    /// Takes room for so many bytes more.
    ///
    /// # Errors
    /// `overloaded` when others have it.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Problem> {
        self.bytes += bytes;
        let wanted = self.bytes.saturating_sub(FREE_BYTES).div_ceil(ROOM_UNIT_BYTES);
        let held = self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        if wanted > held {
            let more = take_room(&self.state, wanted - held)?;
            match &mut self.permit {
                Some(permit) => permit.merge(more),
                None => self.permit = Some(more),
            }
        }
        Ok(())
    }
}

/// How many permits there are for bodies.
#[must_use]
pub fn room(config: &HttpConfig) -> usize {
    let bytes = usize::try_from(config.bodies_limit_bytes).unwrap_or(usize::MAX);
    (bytes / ROOM_UNIT_BYTES).min(Semaphore::MAX_PERMITS)
}

fn take_room(state: &HttpState, units: usize) -> Result<OwnedSemaphorePermit, Problem> {
    let units = u32::try_from(units).map_err(Problem::internal)?;
    Arc::clone(&state.bodies).try_acquire_many_owned(units).map_err(|_| {
        let limit = state.config.http.bodies_limit_bytes;
        let detail = format!(
            "The bodies of other requests fill the {limit} bytes there are for them (http.bodies_limit_bytes); try \
             again, or upload data and template to the presigned addresses that /documents/init answers."
        );
        Problem::new(Code::Overloaded, detail).retry_after(RETRY_AFTER_S)
    })
}

pub(super) fn too_large(limit: usize) -> Problem {
    let detail = format!(
        "http.json_limit_bytes: the body is larger than {limit} bytes; upload data and template to the presigned \
         addresses that /documents/init answers, the files of a template to that of /templates/init."
    );
    Problem::new(Code::PayloadTooLarge, detail)
}

pub(super) fn too_slow(longest_s: u64) -> Problem {
    let detail = format!("The body did not arrive within {longest_s} seconds (http.upload_timeout_s).");
    Problem::new(Code::RequestTimeout, detail)
}

#[cfg(test)]
mod tests {
    use actix_web::http::{Method, StatusCode};
    use actix_web::test::TestRequest;

    use crate::http::testing::{Bench, TOKEN, answer_of, answer_until};

    const PATH: &str = "/v1/documents/init";

    #[actix_web::test]
    async fn bodies_share_their_room_and_give_it_back() {
        let bench = Bench::with(|config| config.http.bodies_limit_bytes = 300 * 1024).await;
        let body = format!(r#"{{"type":"html","target":"pdf","data":{{"a":"{}"}}}}"#, "x".repeat(200_000));
        for _ in 0..3 {
            let (status, answer) = bench.call(Method::POST, PATH, &body).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
        }
        let held = bench.state.bodies.clone().try_acquire_many_owned(200).unwrap();
        let (status, answer) = bench.call(Method::POST, PATH, &body).await;
        assert_eq!((status, answer["code"].as_str()), (StatusCode::SERVICE_UNAVAILABLE, Some("overloaded")));
        assert!(answer["detail"].as_str().unwrap().contains("http.bodies_limit_bytes"), "{answer}");
        let small = r#"{"type":"html","target":"pdf"}"#;
        assert_eq!(bench.call(Method::POST, PATH, small).await.0, StatusCode::OK, "small ones pass");
        drop(held);
        assert_eq!(bench.call(Method::POST, PATH, &body).await.0, StatusCode::OK);
    }

    async fn refused(bench: &Bench, body: &str) -> (u16, String) {
        let (status, answer) = bench.post(PATH, body).await;
        (status.as_u16(), answer["detail"].as_str().unwrap().to_owned())
    }

    #[actix_web::test]
    async fn a_fault_in_the_json_is_told_with_its_place() {
        let bench = Bench::new().await;
        let told = refused(&bench, "{\n  \"type\": html\n}").await;
        assert_eq!(
            told,
            (
                400,
                "The body is not valid JSON at line 2, column 11: 'h' is not the start of a value."
                    .to_owned()
            )
        );
        let deep = format!("{{\"data\":{}{}}}", "[".repeat(200), "]".repeat(200));
        assert_eq!(
            refused(&bench, &deep).await.1,
            "The body is not valid JSON at line 1, column 136: nested deeper than 128 levels."
        );
        let endless = "[".repeat(9_000_000);
        assert_eq!(refused(&bench, &endless).await.0, 400);
    }

    #[actix_web::test]
    async fn the_content_type_means_nothing() {
        let bench = Bench::new().await;
        let (job, _) = bench.init().await;
        for kind in ["application/json", "text/plain", "application/x-www-form-urlencoded"] {
            let with_type = |method: Method, path: &str, body: &'static str| {
                TestRequest::default()
                    .method(method)
                    .uri(path)
                    .insert_header(("authorization", format!("Bearer {TOKEN}")))
                    .insert_header(("content-type", kind))
                    .set_payload(body)
            };
            let body = r#"{"type":"html","target":"pdf"}"#;
            assert_eq!(bench.send(with_type(Method::POST, PATH, body)).await.status(), StatusCode::OK);
            let view = format!("/v1/jobs/{job}");
            assert_eq!(bench.send(with_type(Method::GET, &view, "")).await.status(), StatusCode::OK);
            let start = format!("/v1/documents/{job}/render");
            assert_eq!(bench.send(with_type(Method::POST, &start, "")).await.status(), StatusCode::OK);
        }
    }

    #[actix_web::test]
    async fn a_large_body_is_read_and_its_data_shared() {
        let bench = Bench::new().await;
        let data = format!("{{\"text\":\"{}\"}}", "ä".repeat(300_000));
        let body = format!(r#"{{"type":"html","target":"pdf","data":{data}}}"#);
        assert_eq!(bench.post(PATH, &body).await.0, StatusCode::OK);
        assert_eq!(bench.jobs.lock().unwrap().inits[0].data.as_deref(), Some(data.as_bytes()));
    }

    #[actix_web::test]
    async fn the_limit_is_named_and_nothing_beyond_it_is_read() {
        let bench = Bench::with(|config| config.http.json_limit_bytes = 1_024).await;
        let (status, detail) = refused(&bench, &" ".repeat(1_025)).await;
        assert!(
            status == 413 && detail.starts_with("http.json_limit_bytes: ") && detail.contains("1024 bytes"),
            "{detail}"
        );
        let served = bench.serve();
        let head = format!("POST {PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n");
        let declared = format!("{head}content-length: 209715200\r\n\r\n");
        let answer = answer_until(&mut served.send(declared.as_bytes()).await, "}").await;
        assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("connection: close"), "{answer}");
        let chunk = format!("800\r\n{}\r\n", " ".repeat(2_048));
        let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}");
        let answer = answer_until(&mut served.send(chunked.as_bytes()).await, "}").await;
        assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("connection: close"), "{answer}");
        served.stop().await;
    }

    #[actix_web::test]
    async fn what_is_no_request_is_refused_and_closed() {
        let bench = Bench::with(|config| config.http.request_timeout_ms = 300).await;
        let served = bench.serve();
        for sent in [
            "{\"half\":1}\r\n\r\n",
            "POST /v1/documents/init HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}",
            "POST /v1/documents/init HTTP/1.1\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}",
            "GET /health/live HTTP/1.1\r\nname with space: x\r\n\r\n",
        ] {
            let answer = answer_of(&mut served.send(sent.as_bytes()).await).await;
            let refused = answer.starts_with("HTTP/1.1 400") || answer.starts_with("HTTP/1.1 401");
            assert!(refused && answer.matches("HTTP/1.1").count() == 1, "{sent}: {answer}");
        }
        let flood = format!("GET /health/live HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(200));
        let answer = answer_of(&mut served.send(flood.as_bytes()).await).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
        let answer = answer_of(&mut served.send(b"GET /health/live HT").await).await;
        let told = answer.starts_with("HTTP/1.1 408") && answer.contains("http.request_timeout_ms");
        assert!(told, "{answer}");
        served.stop().await;
    }
}
