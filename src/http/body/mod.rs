//! Bodies of requests: received with a bounded size, whatever their Content-Type, and checked to be JSON.
//!
//! `permits` is the memory that they share, `members` has the members of several bodies, `unknown` the ones that nobody reads.

pub(super) mod members;
pub(super) mod permits;
pub(super) mod unknown;

use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use actix_web::web::{Data, Payload};
use actix_web::{HttpMessage as _, HttpRequest};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use json_members::Members;

use crate::config::as_count;
use crate::domain::encoding;
use crate::domain::shown::shortened;
use crate::http::body::permits::BodyMemory;
use crate::http::middleware::auth;
use crate::http::state::HttpState;
use crate::problem::{Code, Problem};
use crate::thread;

/// The media type of a form.
pub(super) const FORM: &str = "multipart/form-data";
/// How the head of a form's part begins. `curl -F` beside another Content-Type makes attachments of the parts.
const DISPOSITION: &[u8] = b"Content-Disposition: ";
/// It is one of the first lines of a form.
const FORM_LINES: usize = 3;

/// A body of valid JSON. An empty body counts as `{}`.
#[derive(Debug)]
pub(super) struct Body(Bytes);

/// Receives a request's whole body and parses it with `reader`. The Content-Type is ignored: published clients send
/// `application/json` without a body, and bodies without a type.
///
/// # Errors
/// `payload_too_large`, `malformed_json`, `bad_request` when the transfer broke off, those of [`BodyMemory`], and whatever
/// `reader` answers.
pub(super) async fn read<T: Send + 'static>(
    request: &HttpRequest,
    mut payload: Payload,
    state: &Data<HttpState>,
    reader: impl FnOnce(&Body, &HttpState) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let limit = limit(request, state)?;
    let memory = state.shared.bodies.begin(auth::caller(request)?.0);
    let bytes = memory.receive(collect(&mut payload, &memory, limit)).await?;
    let length = bytes.len();
    // Slices of the body live as long as the request: the memory must be held as long.
    request.extensions_mut().insert(memory);
    let (state, is_declared) = (state.clone(), declared_bytes(request).is_some());
    let content_type = content_type(request);
    let checked_and_read = move || {
        let body = Body::check(&bytes, is_declared, &state).map_err(|problem| {
            let hint = form_hint(&bytes, &content_type);
            hint.map_or(problem, |hint| Problem::new(Code::MalformedJson, hint))
        })?;
        reader(&body, &state)
    };
    thread::by_size(length, checked_and_read).await?
}

fn content_type(request: &HttpRequest) -> String {
    let sent = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    sent.unwrap_or_default().to_owned()
}

/// What to say of a body that is a form, by its first lines, where JSON is wanted.
fn form_hint(bytes: &[u8], content_type: &str) -> Option<String> {
    let mut lines = bytes.split(|&byte| byte == b'\n').take(FORM_LINES);
    let is_disposition = |line: &[u8]| {
        line.get(..DISPOSITION.len()).is_some_and(|line| line.eq_ignore_ascii_case(DISPOSITION))
    };
    if !bytes.starts_with(b"--") || !lines.any(is_disposition) {
        return None;
    }
    Some(match media_type(content_type).as_str() {
        FORM => "This call takes JSON; a form is taken by /documents/immediate-render.".to_owned(),
        "" => format!(
            "The body is a form ({FORM}), but no Content-Type says so; let the client set it, with its boundary."
        ),
        sent => format!(
            "The body is a form ({FORM}), but it was sent with the Content-Type {}; let the client set it, with its \
             boundary.",
            shortened(sent)
        ),
    })
}

impl Body {
    /// `is_declared`: a `Content-Length` said where the body ends.
    fn check(sent: &Bytes, is_declared: bool, state: &HttpState) -> Result<Self, Problem> {
        let bytes = encoding::without_bom(sent.clone());
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(Bytes::from_static(b"{}")));
        }
        json_members::check(&bytes, as_count(state.config.http.json_depth_limit)).map_err(|error| {
            let cut = error.cut_by_length(sent).filter(|_| is_declared);
            let cut = cut.map(|cut| format!(" It {cut}.")).unwrap_or_default();
            let detail = format!("The body is not valid JSON at {error}.{cut}");
            Problem::new(Code::MalformedJson, detail)
        })?;
        Ok(Self(bytes))
    }

    pub(super) fn from_valid_json(bytes: Bytes) -> Self {
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

    /// The bytes of `text`, a slice of this body; they are shared, not copied.
    pub(super) fn share(&self, text: &str) -> Bytes {
        let body = self.0.as_ptr_range();
        let inside =
            body.contains(&text.as_ptr()) && body.contains(&text.as_bytes()[text.len() - 1..].as_ptr());
        if inside { self.0.slice_ref(text.as_bytes()) } else { Bytes::copy_from_slice(text.as_bytes()) }
    }
}

/// The type without its parameters, in lower case.
pub(super) fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Checks that `bytes` are JSON nested at most `depth_limit` deep. `what` names them in the error: "body", "part 'data'".
///
/// # Errors
/// `malformed_json` with line and column.
pub(super) fn check_json(bytes: &[u8], what: &str, depth_limit: u64) -> Result<(), Problem> {
    json_members::check(bytes, as_count(depth_limit)).map_err(|error| {
        Problem::new(Code::MalformedJson, format!("The {what} is not valid JSON at {error}."))
    })
}

/// The declared `Content-Length`, in bytes.
pub(super) fn declared_bytes(request: &HttpRequest) -> Option<u64> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Largest body of this request, in bytes (`http.json_limit_bytes`).
///
/// # Errors
/// `payload_too_large` where the declared length is larger.
pub(super) fn limit(request: &HttpRequest, state: &HttpState) -> Result<usize, Problem> {
    let limit = as_count(state.config.http.json_limit_bytes);
    if declared_bytes(request).is_some_and(|bytes| bytes > limit as u64) {
        return Err(too_large(limit));
    }
    Ok(limit)
}

async fn collect(payload: &mut Payload, memory: &BodyMemory, limit: usize) -> Result<Bytes, Problem> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| {
            Problem::new(Code::BadRequest, format!("The body did not arrive whole: {error}. Send it again."))
        })?;
        if bytes.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        memory.take(chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

pub(super) fn too_large(limit: usize) -> Problem {
    let detail = format!(
        "http.json_limit_bytes: the body is larger than {limit} bytes; upload data and template to the presigned \
         addresses that /documents/init answers, the files of a template to that of /templates/init."
    );
    Problem::new(Code::PayloadTooLarge, detail)
}

#[cfg(test)]
mod tests {
    use actix_web::http::{Method, StatusCode};
    use actix_web::test::TestRequest;

    use super::*;
    use crate::http::testing::{TOKEN, TestServer, answer_of, answer_until};

    /// An endpoint that reads its body before it asks an actor.
    const PATH: &str = "/v1/documents/init";

    async fn refused(server: &TestServer, body: &str) -> (u16, String) {
        let (status, answer) = server.call(Method::POST, PATH, body).await;
        (status.as_u16(), answer["detail"].as_str().unwrap().to_owned())
    }

    #[actix_web::test]
    async fn a_syntax_error_is_reported_with_line_and_column() {
        let server = TestServer::new().await;
        let answer = refused(&server, "{\n  \"type\": html\n}").await;
        assert_eq!(
            answer,
            (400, "The body is not valid JSON at line 2, column 11: expected value.".to_owned())
        );
        let deep = format!("{{\"data\":{}{}}}", "[".repeat(200), "]".repeat(200));
        assert_eq!(
            refused(&server, &deep).await.1,
            "The body is not valid JSON at line 1, column 136: nested deeper than 128 levels."
        );
        let endless = "[".repeat(9_000_000);
        assert_eq!(refused(&server, &endless).await.0, 400);
    }

    #[actix_web::test]
    async fn the_content_type_is_ignored() {
        let server = TestServer::new().await;
        for kind in ["application/json", "text/plain", "application/x-www-form-urlencoded"] {
            let request = TestRequest::default()
                .method(Method::POST)
                .uri(PATH)
                .insert_header(("authorization", format!("Bearer {TOKEN}")))
                .insert_header(("content-type", kind))
                .set_payload(r#"{"type":7}"#);
            assert_eq!(server.send(request).await.status(), StatusCode::UNPROCESSABLE_ENTITY, "{kind}");
        }
    }

    #[test]
    fn a_form_in_the_place_of_json_is_told_from_other_text() {
        let form = b"--b\r\nContent-disposition: form-data; name=type\r\n\r\nhtml\r\n--b--\r\n";
        for (content_type, told) in [
            (
                "multipart/form-data; boundary=b",
                "This call takes JSON; a form is taken by /documents/immediate-render.",
            ),
            ("Application/JSON", "it was sent with the Content-Type application/json; let the client set it"),
            ("", "no Content-Type says so; let the client set it"),
        ] {
            let hint = form_hint(form, content_type).unwrap();
            assert!(hint.contains(told), "{hint}");
        }
        for other in
            [&b"--b\r\n\r\n"[..], b"-- a comment", b"{\"a\": \"Content-Disposition: form-data\"", b""]
        {
            assert_eq!(form_hint(other, ""), None);
        }
    }

    #[test]
    fn a_slice_of_a_body_is_shared_and_not_copied() {
        let body = Body::from_valid_json(r#"{"data":{"text":"ä"}}"#.into());
        let data = body.members().unwrap().any("data").unwrap();
        assert_eq!(body.share(data).as_ptr(), data.as_ptr());
        assert_eq!(body.share("elsewhere"), "elsewhere");
    }

    #[actix_web::test]
    async fn the_limit_is_named_and_nothing_beyond_it_is_read() {
        let server = TestServer::with(|config| config.http.json_limit_bytes = 1_024).await;
        let (status, detail) = refused(&server, &" ".repeat(1_025)).await;
        assert!(
            status == 413 && detail.starts_with("http.json_limit_bytes: ") && detail.contains("1024 bytes"),
            "{detail}"
        );
        let served = server.serve();
        let head = format!("POST {PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n");
        let declared = format!("{head}content-length: 209715200\r\n\r\n");
        let answer = answer_until(&mut served.send(declared.as_bytes()).await, "}").await;
        assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("connection: close"), "{answer}");
        let chunk = format!("800\r\n{}\r\n", " ".repeat(2_048));
        let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}");
        let answer = answer_until(&mut served.send(chunked.as_bytes()).await, "}").await;
        assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("connection: close"), "{answer}");
        served.stop(false).await;
    }

    #[actix_web::test]
    async fn a_malformed_request_is_refused_and_its_connection_closed() {
        let server = TestServer::new().await;
        let served = server.serve();
        let both =
            format!("POST {PATH} HTTP/1.1\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{{}}");
        let answer = answer_of(&mut served.send(both.as_bytes()).await).await;
        let refused = answer.starts_with("HTTP/1.1 400") || answer.starts_with("HTTP/1.1 401");
        assert!(refused && answer.matches("HTTP/1.1").count() == 1, "{answer}");
        let flood = format!("GET /health/live HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(200));
        let answer = answer_of(&mut served.send(flood.as_bytes()).await).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
        served.stop(false).await;
    }
}
