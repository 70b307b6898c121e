//! `Accept` of an immediate render (RFC 9110, 12.5.1): JSON with the document's URL, or the document itself.

use actix_web::HttpRequest;
use actix_web::http::header::ACCEPT;

use crate::domain::kinds::{FileKind, Target};
use crate::http::body::media_type;

/// Whether the caller prefers the target's media type. Without `Accept`, or with `*/*`, the answer is JSON. For pictures
/// `application/zip` counts as well, since several pictures are answered as an archive.
pub(super) fn wants_document(request: &HttpRequest, target: Target) -> bool {
    let Some(choice) = first_choice(request) else { return false };
    let is_picture = matches!(target, Target::Jpg | Target::Png);
    let kinds = [Some(target.file()), is_picture.then_some(FileKind::Zip)];
    let named = kinds.into_iter().flatten().any(|kind| media_type(kind.mime()) == choice);
    named || (target == Target::Jpg && choice == "image/jpg")
}

/// The media type of the greatest weight, the first of several.
fn first_choice(request: &HttpRequest) -> Option<String> {
    let sent = request.headers().get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    let mut best: Option<(f32, &str)> = None;
    for range in sent.flat_map(|value| split(value, ',')).filter(|range| !range.trim().is_empty()) {
        let weight = weight(range);
        if weight > best.map_or(0.0, |(best, _)| best) {
            best = Some((weight, range));
        }
    }
    best.map(|(_, range)| media_type(range))
}

fn weight(range: &str) -> f32 {
    let mut parameters = split(range, ';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let sent = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    let weight = sent.map_or(Some(1.0), |(_, value)| value.trim().parse().ok());
    weight.filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(0.0)
}

/// Splits at every `separator` outside quotes.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |letter| {
        let was_escaped = is_escaped;
        is_escaped = is_quoted && letter == '\\' && !was_escaped;
        is_quoted ^= letter == '"' && !was_escaped;
        letter == separator && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn the_document_is_answered_when_its_type_is_preferred() {
        let wants = |accept: &str, target| {
            let request = TestRequest::default().insert_header((ACCEPT, accept)).to_http_request();
            wants_document(&request, target)
        };
        for (accept, target, wanted) in [
            ("application/pdf", Target::Pdf, true),
            ("Application/PDF; version=1.7", Target::Pdf, true),
            ("application/pdf, application/problem+json", Target::Pdf, true),
            ("application/json;q=0.5, application/pdf", Target::Pdf, true),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Target::Html, true),
            ("image/jpg", Target::Jpg, true),
            ("application/zip", Target::Png, true),
            ("application/json;q=5, application/pdf;q=0.1", Target::Pdf, true),
            ("application/json;q=inf, application/pdf;q=0.1", Target::Pdf, true),
            (r#"application/json;q=0.2;a="\",;q=1, x", application/pdf;q=0.3"#, Target::Pdf, true),
            ("*/*", Target::Pdf, false),
            ("application/*", Target::Pdf, false),
            ("", Target::Pdf, false),
            ("application/json, application/pdf", Target::Pdf, false),
            ("application/pdf;q=0", Target::Pdf, false),
            ("application/pdf;q=NaN", Target::Pdf, false),
            ("application/pdf;q=-1", Target::Pdf, false),
            (r#"application/json;a=", application/pdf""#, Target::Pdf, false),
            ("application/pdf;q=0.5, */*", Target::Pdf, false),
            ("image/png", Target::Pdf, false),
            ("application/zip", Target::Pdf, false),
        ] {
            assert_eq!(wants(accept, target), wanted, "{accept}");
        }
        assert!(!wants_document(&TestRequest::default().to_http_request(), Target::Pdf));
    }
}
