//! Errors of the bucket, as sentences with the remedy.
//!
//! Hazard: a store's error message may repeat the signed URL or the access key of the request. So only its code and region are
//! read, never its message: no log and no answer can hold a secret.

use std::io::{Error, ErrorKind};
use std::iter::successors;

use s3::error::S3Error;
use url::Url;

use crate::config::S3Config;
use crate::storage::StoreError;

/// Bytes of an error response that are searched for its code.
pub(super) const ANSWER_LIMIT_BYTES: usize = 16 << 10;
const WORD_LIMIT_BYTES: usize = 64;

/// The error of a store that answers 500, for tests.
#[cfg(debug_assertions)]
pub(in crate::storage) fn answer_500() -> StoreError {
    let text = str::to_owned;
    let address =
        BucketAddress { bucket: text("documents"), host: text("127.0.0.1"), region: text("us-east-1") };
    RequestError::of_answer(500, b"").into_error(&address, Action::Put, "object")
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RequestError {
    /// There is no such object.
    #[error("there is no such object")]
    NotFound,
    /// The store refused: a retry would fail as well.
    #[error("{}", status_and_code(.0))]
    Refused(ErrorResponse),
    /// The store failed or could not be reached: a retry may succeed.
    #[error("{0}")]
    Transient(String),
}

/// An unsuccessful answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ErrorResponse {
    /// The HTTP status.
    pub status: u16,
    /// The store's error code; empty if it gives none.
    pub code: String,
    /// The region that it expects; empty if it names none.
    pub region: String,
}

/// The bucket as error messages name it.
#[derive(Clone, Debug)]
pub(super) struct BucketAddress {
    /// The bucket's name.
    pub bucket: String,
    /// Host and port of the store.
    pub host: String,
    /// The region of signatures.
    pub region: String,
}

impl BucketAddress {
    /// The bucket of `config`.
    pub fn of(config: &S3Config) -> Self {
        let host = Url::parse(&config.endpoint).ok().and_then(|url| {
            let host = url.host_str()?.to_owned();
            Some(url.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}")))
        });
        let host = host.unwrap_or_else(|| format!("s3.{}.amazonaws.com", config.region));
        Self { bucket: config.bucket.clone(), host, region: config.region.clone() }
    }
}

impl RequestError {
    /// The error of an answer with this status and body.
    pub fn of_answer(status: u16, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&body[..body.len().min(ANSWER_LIMIT_BYTES)]);
        let answer = ErrorResponse { status, code: element(&text, "Code"), region: element(&text, "Region") };
        match (status, answer.code.as_str()) {
            (_, "NoSuchBucket") => Self::Refused(answer),
            // Hazard: a proxy in front of the store also answers 404. Read as absence, a temporary error would lose an input.
            (404, "") => Self::Transient("404, in words that are no store's".to_owned()),
            (404, _) | (_, "NoSuchKey") => Self::NotFound,
            (_, "RequestTimeout" | "SlowDown" | "InternalError" | "ServiceUnavailable")
            | (408 | 429 | 500 | 502..=504, _) => Self::Transient(status_and_code(&answer)),
            _ => Self::Refused(answer),
        }
    }

    /// Converts an error of the library.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library may get more; all others are ours, not the store's"
    )]
    pub fn of_library(error: &S3Error) -> Self {
        match error {
            S3Error::HttpFailWithBody(status, body) => Self::of_answer(*status, body.as_bytes()),
            S3Error::Reqwest(error) => Self::of_connection(error),
            // The answer is not XML, or not complete.
            S3Error::SerdeXml(_) => Self::Transient("an answer that cannot be read".to_owned()),
            _ => Self::Refused(ErrorResponse {
                code: "the request cannot be made".to_owned(),
                ..ErrorResponse::default()
            }),
        }
    }

    /// The error of a failed connection, without the URL, which may be signed.
    pub fn of_connection(error: &reqwest::Error) -> Self {
        let below = successors(std::error::Error::source(error), |&cause| cause.source());
        let mut causes: Vec<_> = below.map(ToString::to_string).collect();
        if error.is_timeout() {
            causes.push("no answer in time (s3.connect_timeout_ms, s3.answer_timeout_ms)".to_owned());
        }
        causes.dedup();
        Self::Transient(if causes.is_empty() { "the connection broke".to_owned() } else { causes.join(": ") })
    }

    /// Converts it to a `StoreError`, with a sentence about the `action` that was tried.
    pub fn into_error(self, address: &BucketAddress, action: Action, object: &str) -> StoreError {
        match self {
            Self::NotFound => StoreError::NotFound(object.to_owned()),
            Self::Refused(answer) => {
                let kind = if answer.denies() { ErrorKind::PermissionDenied } else { ErrorKind::Other };
                StoreError::Failed(Error::new(kind, refusal(&answer, address, action)))
            }
            Self::Transient(cause) => {
                let BucketAddress { bucket, host, .. } = address;
                let words = format!(
                    "the store {host} (s3.endpoint), bucket '{bucket}', fails: {cause}{}",
                    hint(&cause)
                );
                StoreError::Failed(Error::new(ErrorKind::NetworkDown, words))
            }
        }
    }
}

impl ErrorResponse {
    /// Whether the access key is valid but lacks a permission.
    fn denies(&self) -> bool {
        matches!((self.code.as_str(), self.status), ("AccessDenied" | "AllAccessDisabled" | "", 401 | 403))
    }
}

/// The operation that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Put,
    Get,
    List,
    Delete,
    Copy,
}

impl Action {
    /// A phrase for messages, and the permission in a policy.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Put => ("put an object into", "s3:PutObject"),
            Self::Get => ("get an object from", "s3:GetObject"),
            Self::List => ("list", "s3:ListBucket"),
            Self::Delete => ("delete an object from", "s3:DeleteObject"),
            Self::Copy => ("copy an object in", "s3:GetObject and s3:PutObject"),
        }
    }
}

pub(super) fn refusal(answer: &ErrorResponse, address: &BucketAddress, action: Action) -> String {
    let BucketAddress { bucket, host, region } = address;
    let (code, (tried, permission)) = (status_and_code(answer), action.words());
    let why = match (answer.code.as_str(), answer.status) {
        ("NoSuchBucket", _) => {
            return format!("there is no bucket '{bucket}' at {host}: make it, or correct s3.bucket");
        }
        ("InvalidAccessKeyId" | "NotSignedUp", _) => {
            "does not know the access key; check s3.access_key, or AWS_ACCESS_KEY_ID where that is empty"
                .to_owned()
        }
        ("SignatureDoesNotMatch", _) => {
            "refuses the key; check s3.secret_key (or AWS_SECRET_ACCESS_KEY), and that \
             nothing between here and the store rewrites addresses or the Host header"
                .to_owned()
        }
        ("PermanentRedirect" | "TemporaryRedirect", _) | (_, 301 | 307) => {
            format!(
                "is elsewhere; set s3.region (now '{region}') and s3.endpoint to where it is{}",
                expected(answer)
            )
        }
        (
            "AuthorizationHeaderMalformed"
            | "AuthorizationQueryParametersError"
            | "IllegalLocationConstraintException",
            _,
        ) => {
            format!(
                "does not take signatures for the region '{region}'; correct s3.region{}",
                expected(answer)
            )
        }
        ("RequestTimeTooSkewed" | "RequestExpired", _) => {
            "finds the time wrong; set the clock of this machine or of the store (NTP)".to_owned()
        }
        ("ExpiredToken" | "InvalidToken" | "TokenRefreshRequired", _) => {
            "finds the session over; start the service with a fresh AWS_SESSION_TOKEN, or with keys that last"
                .to_owned()
        }
        _ if answer.denies() => {
            format!("does not let the key {tried} it; allow {permission} on the bucket, and check the keys")
        }
        ("InvalidBucketName" | "MethodNotAllowed", _) => {
            "is not understood; set s3.path_style to true if the store has no name for each bucket".to_owned()
        }
        ("EntityTooLarge", _) => "finds the object too large; lower storage.output_limit_bytes".to_owned(),
        ("QuotaExceeded" | "XMinioStorageFull" | "InsufficientStorage", _) | (_, 507) => {
            "is full; make room, or raise its quota".to_owned()
        }
        _ => format!("does not let us {tried} it; see the store's own log"),
    };
    format!("the bucket '{bucket}' at {host} {why} ({code})")
}

fn expected(answer: &ErrorResponse) -> String {
    let region = &answer.region;
    if region.is_empty() { String::new() } else { format!(": the store expects '{region}'") }
}

fn status_and_code(answer: &ErrorResponse) -> String {
    match (answer.status, answer.code.as_str()) {
        (0, code) => code.to_owned(),
        (status, "") => status.to_string(),
        (status, code) => format!("{status} {code}"),
    }
}

fn hint(cause: &str) -> &'static str {
    if cause.contains("dns error") || cause.contains("failed to lookup") {
        "; correct s3.endpoint, or set s3.path_style to true if the store has no name for each bucket"
    } else if cause.contains("certificate") {
        "; the certificate must be for this host, by an authority that this machine knows"
    } else {
        ""
    }
}

/// The text of an element if it is a plain word: other text may repeat parts of the request.
fn element(text: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let inner = text.split_once(open.as_str()).and_then(|(_, rest)| rest.split_once(close.as_str()));
    let is_plain = |word: &&str| {
        word.len() <= WORD_LIMIT_BYTES
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    inner.map(|(word, _)| word.trim()).filter(is_plain).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> BucketAddress {
        BucketAddress {
            bucket: "docs".to_owned(),
            host: "store.example".to_owned(),
            region: "us-east-1".to_owned(),
        }
    }

    fn body(code: &str, more: &str) -> String {
        format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>no</Message>{more}</Error>")
    }

    fn sentence(status: u16, code: &str, more: &str) -> String {
        RequestError::of_answer(status, body(code, more).as_bytes())
            .into_error(&address(), Action::Put, "jobs/x")
            .to_string()
    }

    #[test]
    fn every_refusal_names_the_setting_that_remedies_it() {
        for (status, code, more, words) in [
            (404, "NoSuchBucket", "", "correct s3.bucket"),
            (403, "InvalidAccessKeyId", "", "check s3.access_key"),
            (403, "SignatureDoesNotMatch", "", "(403 SignatureDoesNotMatch)"),
            (403, "SignatureDoesNotMatch", "", "check s3.secret_key"),
            (400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>", "expects 'eu-west-1'"),
            (400, "AuthorizationHeaderMalformed", "", "correct s3.region"),
            (301, "PermanentRedirect", "", "set s3.region"),
            (403, "RequestTimeTooSkewed", "", "set the clock"),
            (400, "ExpiredToken", "", "AWS_SESSION_TOKEN"),
            (403, "AccessDenied", "", "allow s3:PutObject"),
            (400, "InvalidBucketName", "", "s3.path_style"),
            (503, "SlowDown", "", "fails: 503 SlowDown"),
        ] {
            let message = sentence(status, code, more);
            assert!(message.contains(words), "{code}: {message}");
        }
    }

    #[test]
    fn missing_objects_refusals_and_failures_are_distinguished() {
        let of = |status, text: &str| RequestError::of_answer(status, text.as_bytes());
        for foreign in ["", "<html>not found</html>"] {
            assert!(matches!(of(404, foreign), RequestError::Transient(_)), "{foreign}");
        }
        for code in ["NoSuchKey", "NotFound", "404"] {
            assert_eq!(
                of(404, &body(code, "")),
                RequestError::NotFound,
                "stores do not all call it the same"
            );
        }
        for status in [403, 405, 301, 400, 412] {
            assert!(matches!(of(status, ""), RequestError::Refused(_)), "{status}");
        }
        for status in [408, 429, 500, 502, 503, 504] {
            assert!(matches!(of(status, "<html>gone</html>"), RequestError::Transient(_)), "{status}");
        }
        assert!(matches!(of(400, &body("RequestTimeout", "")), RequestError::Transient(_)));
    }

    #[test]
    fn parts_of_the_request_repeated_by_the_store_are_not_shown() {
        let more = "<StringToSign>AWS4 secret</StringToSign><SignatureProvided>0123abcd</SignatureProvided>";
        let message = sentence(403, "SignatureDoesNotMatch", more);
        assert!(!message.contains("0123abcd") && !message.contains("AWS4"), "{message}");
        let message = sentence(403, "a code with blanks &X-Amz-Signature=1", "");
        assert!(!message.contains("Signature"), "{message}");
    }
}
