//! `Idempotency-Key`: a repeated init or immediate-render means the job of the first one.

use actix_web::HttpRequest;
use actix_web::http::header::HeaderName;
use sha2::{Digest, Sha256};

use crate::http::body::Body;
use crate::http::state::HttpState;
use crate::jobs::messages::Idempotency;
use crate::problem::{Fault, Problem};

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// Two SHA-256 of a caller's key: what the caller chose is neither kept nor logged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// What the key is known by.
    id: [u8; 32],
    /// Goes into the hash of its requests, and is not kept. Hazard: a request may have a password in it, and who finds
    /// the hash of the request could try one after the other; without the key there is nothing to try.
    salt: [u8; 32],
}

impl Key {
    /// What the key says of a request to `endpoint` (the same by each of its paths) with `body`.
    pub(super) fn of(self, endpoint: &str, body: &Body) -> Idempotency {
        let request = Sha256::new().chain_update(self.salt).chain_update(endpoint);
        let request = request.chain_update([0]).chain_update(body.bytes());
        Idempotency { key: self.id, request: request.finalize().into() }
    }

    /// The same of a request whose body came in parts; what parts them is another thing each time.
    pub(super) fn of_parts(self, endpoint: &str, parts: &[&[u8]]) -> Idempotency {
        let request = Sha256::new().chain_update(self.salt).chain_update(endpoint).chain_update([1]);
        let request = parts.iter().fold(request, |request, part| {
            request.chain_update((part.len() as u64).to_be_bytes()).chain_update(part)
        });
        Idempotency { key: self.id, request: request.finalize().into() }
    }
}

/// The request's key; an empty one counts as none.
///
/// # Errors
/// `validation_failed` when it is too long, no visible ASCII, or given twice.
pub(super) fn read_key(request: &HttpRequest, state: &HttpState) -> Result<Option<Key>, Problem> {
    let limit = state.config.http.idempotency_key_limit_bytes;
    let mut sent = request.headers().get_all(HEADER);
    let Some(first) = sent.next() else { return Ok(None) };
    if sent.any(|other| other != first) {
        return Err(wrong("is given twice; send one key".to_owned()));
    }
    let Ok(text) = first.to_str().map(str::trim) else {
        return Err(wrong("must consist of visible ASCII characters".to_owned()));
    };
    if text.len() as u64 > limit {
        let detail = format!("is longer than {limit} bytes (http.idempotency_key_limit_bytes); shorten it");
        return Err(wrong(detail));
    }
    let salt = Sha256::new().chain_update("request").chain_update([0]).chain_update(text);
    let key = Key { id: Sha256::digest(text).into(), salt: salt.finalize().into() };
    Ok((!text.is_empty()).then_some(key))
}

fn wrong(detail: String) -> Problem {
    Problem::validation(vec![Fault::new("/Idempotency-Key", detail)])
}

#[cfg(test)]
mod tests {
    use actix_web::http::Method;
    use actix_web::test::TestRequest;

    use super::*;
    use crate::http::testing::{TOKEN, TestServer};

    const PATH: &str = "/v1/documents/init";
    const BODY: &str = r#"{"type":"html","target":"pdf"}"#;

    async fn told(server: &TestServer, path: &str, body: &str, key: &str) -> (u16, Option<Idempotency>) {
        let request = TestRequest::default()
            .method(Method::POST)
            .uri(path)
            .insert_header(("authorization", format!("Bearer {TOKEN}")))
            .insert_header(("idempotency-key", key))
            .set_payload(body.to_owned());
        let status = server.send(request).await.status().as_u16();
        (status, server.jobs.lock().unwrap().inits.pop().and_then(|init| init.idempotency))
    }

    #[actix_web::test]
    async fn the_key_and_the_request_are_told_as_hashes() {
        let server = TestServer::new().await;
        let (status, first) = told(&server, PATH, BODY, "one").await;
        assert!(status == 200 && first.is_some());
        // The same request: by another path of the endpoint, with blanks around the key.
        for (path, key) in [("//documents/init/", "one"), (PATH, "  one ")] {
            assert_eq!(told(&server, path, BODY, key).await.1, first, "{path} {key}");
        }
        let (_, other) = told(&server, PATH, r#"{"type":"html","target":"png"}"#, "one").await;
        assert!(other.unwrap().key == first.unwrap().key && other.unwrap().request != first.unwrap().request);
        let (_, keyed) = told(&server, PATH, BODY, "two").await;
        assert!(keyed.unwrap().key != first.unwrap().key && keyed.unwrap().request != first.unwrap().request);
        let immediate = r#"{"type":"html","target":"pdf","template":"x"}"#;
        let (_, started) = told(&server, "/v1/documents/immediate-render", immediate, "one").await;
        let (_, initialized) = told(&server, PATH, immediate, "one").await;
        assert_ne!(started.unwrap().request, initialized.unwrap().request, "the endpoint counts");
        assert_eq!(told(&server, PATH, BODY, "").await, (200, None));
    }

    #[actix_web::test]
    async fn a_key_that_is_none_is_refused_before_anything_is_stored() {
        let server = TestServer::with(|config| config.http.idempotency_key_limit_bytes = 16).await;
        assert_eq!(told(&server, PATH, BODY, "0123456789abcdef").await.0, 200);
        for key in ["0123456789abcdef0", "schlüssel"] {
            assert_eq!(told(&server, PATH, BODY, key).await, (422, None), "{key}");
        }
        for (second, status) in [("one", 200), ("two", 422)] {
            let request = TestRequest::default()
                .method(Method::POST)
                .uri(PATH)
                .insert_header(("authorization", format!("Bearer {TOKEN}")))
                .append_header(("idempotency-key", "one"))
                .append_header(("idempotency-key", second))
                .set_payload(BODY);
            assert_eq!(server.send(request).await.status().as_u16(), status, "{second}");
        }
    }
}
