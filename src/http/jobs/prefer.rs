//! `Prefer` (RFC 7240): `wait` and `respond-async`.

use actix_web::HttpRequest;
use actix_web::http::header::HeaderName;

/// Names in the answer the preference that was followed.
pub(super) const APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Seconds to wait; one that is no number is ignored, as every unknown preference is.
pub(super) fn wait(request: &HttpRequest) -> Option<u64> {
    // The first `wait` counts.
    preferences(request)
        .find(|(name, _)| name.eq_ignore_ascii_case("wait"))
        .and_then(|(_, value)| seconds(&value))
}

/// Whether the answer shall not wait for the document.
pub(super) fn is_async(request: &HttpRequest) -> bool {
    preferences(request).any(|(name, _)| name.eq_ignore_ascii_case("respond-async"))
}

/// Names and values, without parameters and quotes.
fn preferences(request: &HttpRequest) -> impl Iterator<Item = (String, String)> {
    let sent = request.headers().get_all("prefer").filter_map(|value| value.to_str().ok());
    sent.flat_map(|value| value.split(',')).map(|preference| {
        let preference = preference.split(';').next().unwrap_or_default();
        let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
        (name.trim().to_owned(), value.trim().trim_matches('"').to_owned())
    })
}

/// A number of seconds, rounded up.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    if !(0.0..=1e9).contains(&number) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and 10^9")]
    Some(number.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn preferences_are_read_and_unknown_ones_ignored() {
        let of = |sent: &str| {
            let request = TestRequest::default().insert_header(("prefer", sent)).to_http_request();
            (wait(&request), is_async(&request))
        };
        assert_eq!(of("respond-async, wait=9"), (Some(9), true));
        assert_eq!(of("Wait = \"1.5\"; soft, wait=7"), (Some(2), false));
        assert_eq!(of("RESPOND-ASYNC"), (None, true));
        assert_eq!(of("wait=soon"), (None, false));
        assert_eq!(of("waiting=9, wait, respond-asynchronously"), (None, false));
    }
}
