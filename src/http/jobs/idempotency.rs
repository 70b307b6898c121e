//! `Idempotency-Key`: a repeated init or immediate-render means the job of the first one.

use actix_web::HttpRequest;
use actix_web::http::header::HeaderName;
use sha2::{Digest, Sha256};

use crate::http::body::Body;
use crate::http::state::HttpState;
use crate::jobs::messages::Idempotency;
use crate::problem::{FieldError, Problem};

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// Two SHA-256 of a caller's key, whose text is neither stored nor logged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// Identifies the key in the index.
    id: [u8; 32],
    /// Hashed with each request, and not stored. Hazard: a request may have a password in it, and whoever finds its
    /// hash could try passwords against it. Without the caller's key they can compute no hash.
    salt: [u8; 32],
}

impl Key {
    /// The key with the hash of a request to `endpoint` (one name for all its paths) with `body`.
    pub(super) fn of(self, endpoint: &str, body: &Body) -> Idempotency {
        let request = Sha256::new().chain_update(self.salt).chain_update(endpoint);
        let request = request.chain_update([0]).chain_update(body.bytes());
        Idempotency { key: self.id, request: request.finalize().into() }
    }

    /// The same for a form: its parts are hashed one by one, for the boundary between them differs in each request.
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
    Problem::validation(vec![FieldError::new("/Idempotency-Key", detail)])
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;
    use crate::http::testing::TestServer;

    #[actix_web::test]
    async fn a_key_is_known_by_its_hash_and_each_request_by_another() {
        let server = TestServer::with(|config| config.http.idempotency_key_limit_bytes = 16).await;
        let read = |keys: &[&str]| {
            let add = |request: TestRequest, key: &&str| request.append_header((HEADER, *key));
            let request = keys.iter().fold(TestRequest::default(), add).to_http_request();
            read_key(&request, &server.state).map_err(|problem| problem.detail)
        };
        let body = |text: &'static str| Body::from_valid_json(text.into());
        let hashed = |key: &str, endpoint, text| read(&[key]).unwrap().unwrap().of(endpoint, &body(text));
        let first = hashed("one", "init", "{}");
        assert_eq!(hashed("  one ", "init", "{}"), first);
        for (key, endpoint, text) in
            [("one", "init", "[]"), ("one", "immediate-render", "{}"), ("two", "init", "{}")]
        {
            let other = hashed(key, endpoint, text);
            assert_eq!(other.key == first.key, key == "one", "{key} {endpoint} {text}");
            assert_ne!(other.request, first.request, "{key} {endpoint} {text}");
        }
        assert!(read(&[""]).unwrap().is_none() && read(&[]).unwrap().is_none());
        assert!(read(&["one", "one"]).is_ok() && read(&["0123456789abcdef"]).is_ok());
        for wrong in [&["0123456789abcdef0"][..], &["schlüssel"], &["one", "two"]] {
            assert!(read(wrong).is_err_and(|detail| detail.starts_with("/Idempotency-Key: ")), "{wrong:?}");
        }
    }
}
