//! Gives actix' own refusals of malformed requests (a status without a body) the problem document that all other errors have.
//!
//! They are written below the application, where no middleware sees them. They are recognised by what they lack: every
//! answer of the application has an `X-Request-Id`.

use std::iter;

use bytes::Bytes;

use crate::http::problem;
use crate::problem::Code;

/// Why this connection refused a request before actix parsed it.
pub(in crate::http) const BARE_LINE_FEED: &str = "A line of the request's head ends with a line feed alone; end each with a carriage return and a line feed.";
pub(in crate::http) const LONG_NAME: &str =
    "A header of the request has a name longer than 65,535 bytes; shorten it.";
pub(in crate::http) const UNREADABLE_CHUNKS: &str = "The request's body is not made of chunks as its Transfer-Encoding says; look at their sizes and line ends.";
const UNREADABLE: &str =
    "The request cannot be read as HTTP; look at its first line, its headers and how its body is delimited.";
const TOO_LARGE: &str = "The head of the request is too large; shorten its headers.";
const TOO_SLOW: &str =
    "The head of the request did not arrive in time (http.request_timeout_ms); send it at once.";
const TOO_MANY: &str = "The service holds as many connections as it may (http.connection_limit); close those you do not \
    need, and try again.";
/// Headers of body and connection; they are written anew.
const REPLACED: [&str; 3] = ["content-length", "content-type", "connection"];

/// The answer to write in place of `written`, where that is a refusal by actix itself.
pub(in crate::http) fn replacement_for(written: &[u8], reason: Option<&'static str>) -> Option<Bytes> {
    let (code, status, detail) = match written.get(..13)? {
        b"HTTP/1.1 400 " => (Code::BadRequest, "400 Bad Request", reason.unwrap_or(UNREADABLE)),
        b"HTTP/1.1 431 " => (Code::BadRequest, "400 Bad Request", TOO_LARGE),
        b"HTTP/1.1 408 " => (Code::RequestTimeout, "408 Request Timeout", TOO_SLOW),
        _ => return None,
    };
    let head = str::from_utf8(written).ok()?.strip_suffix("\r\n\r\n")?;
    let name = |line: &str| line.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let lines: Vec<&str> = head.split("\r\n").skip(1).collect();
    if lines.iter().any(|line| name(line) == "x-request-id") {
        return None;
    }
    let others = lines.into_iter().filter(|line| !REPLACED.contains(&name(line).as_str()));
    Some(answer(code, status, detail, others).into())
}

/// The answer to a connection that is one too many.
pub(in crate::http) fn too_many() -> String {
    answer(Code::Overloaded, "503 Service Unavailable", TOO_MANY, iter::once("retry-after: 2"))
}

fn answer<'a>(
    code: Code,
    status: &str,
    detail: &'static str,
    others: impl Iterator<Item = &'a str>,
) -> String {
    let (id, body) = problem::for_malformed_request(code, detail);
    let others: String = others.flat_map(|line| [line, "\r\n"]).collect();
    format!(
        "HTTP/1.1 {status}\r\n{others}content-type: application/problem+json\r\ncontent-length: {}\r\n\
         connection: close\r\nx-request-id: {id}\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_application_did_not_answer_is_replaced() {
        let refused = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\ndate: now\r\n\r\n";
        let answer = String::from_utf8(replacement_for(refused, None).unwrap().to_vec()).unwrap();
        assert!(answer.starts_with(
            "HTTP/1.1 400 Bad Request\r\ndate: now\r\ncontent-type: application/problem+json\r\n"
        ));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{answer}");
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!((&body["code"], &body["detail"]), (&"bad_request".into(), &UNREADABLE.into()));
        assert!(head.ends_with(body["instance"].as_str().unwrap()), "{head}");
        for other in [
            &b"HTTP/1.1 400 Bad Request\r\nx-request-id: 1\r\n\r\n"[..],
            b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 3\r\n\r\nabc",
            b"HTTP",
        ] {
            assert_eq!(replacement_for(other, None), None);
        }
    }
}
