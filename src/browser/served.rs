//! The answers of an origin: which file a path means, its type, its ranges.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderMap, RANGE,
};
use hyper::http::response::Builder;
use hyper::{Method, Response, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::domain::site::Site;

/// What a path may contain as it is, beside letters and digits.
const PATH: AsciiSet = NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// How far a browser looks for an encoding in a page.
const ENCODING_WINDOW_BYTES: usize = 1_024;

/// An answer, and whether the file was there.
pub(super) enum Served {
    File(Response<Full<Bytes>>),
    Missing(Response<Full<Bytes>>),
}

/// Answers a request for a file of `site`.
pub(super) fn answer(site: &Site, path: &str, method: &Method, headers: &HeaderMap) -> Served {
    if method != Method::GET && method != Method::HEAD {
        return Served::File(plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD"));
    }
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let Some((name, content)) = find(site, decoded.trim_start_matches('/')) else {
        return Served::Missing(plain(StatusCode::NOT_FOUND, "not found"));
    };
    let entry = name == site.entry();
    let start = content_head().header(CONTENT_TYPE, content_type(&name, content, entry).as_ref());
    Served::File(match wanted_range(headers, content.len()) {
        None => finish(start.status(StatusCode::OK), content.clone(), method),
        Some(Ok(range)) => {
            let shown = format!("bytes {}-{}/{}", range.start, range.end - 1, content.len());
            let start = start.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_RANGE, shown);
            finish(start, content.slice(range), method)
        }
        Some(Err(Unsatisfiable)) => {
            let shown = format!("bytes */{}", content.len());
            let start = start.status(StatusCode::RANGE_NOT_SATISFIABLE).header(CONTENT_RANGE, shown);
            finish(start, Bytes::new(), method)
        }
    })
}

/// The data of a page.
pub(super) fn data(content: Bytes) -> Response<Full<Bytes>> {
    let start = content_head().header(CONTENT_TYPE, "application/json");
    finish(start.status(StatusCode::OK), content, &Method::GET)
}

/// A path with everything escaped that must be.
pub(super) fn encode_path(path: &str) -> String {
    utf8_percent_encode(path, &PATH).to_string()
}

struct Unsatisfiable;

fn content_head() -> Builder {
    Response::builder().header(CACHE_CONTROL, "no-store").header(ACCEPT_RANGES, "bytes")
}

fn finish(start: Builder, content: Bytes, method: &Method) -> Response<Full<Bytes>> {
    let start = start.header(CONTENT_LENGTH, content.len());
    let body = if method == Method::HEAD { Bytes::new() } else { content };
    start.body(Full::new(body)).unwrap_or_default()
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let start = content_head().header(CONTENT_TYPE, "text/plain; charset=utf-8");
    finish(start.status(status), Bytes::from_static(text.as_bytes()), &Method::GET)
}

/// A file by its path; a folder's page; the entry for the folder it lies in.
fn find<'a>(site: &'a Site, path: &str) -> Option<(String, &'a Bytes)> {
    let name = if path.trim_end_matches('/') == site.folder() {
        site.entry().to_owned()
    } else if path.ends_with('/') {
        format!("{path}index.html")
    } else {
        path.to_owned()
    };
    site.get(&name).map(|content| (name, content))
}

/// The entry is what the assembler wrote, UTF-8. Another page may name its own encoding; one that
/// names none is UTF-8 too.
fn content_type(name: &str, content: &[u8], entry: bool) -> Cow<'static, str> {
    let guessed = mime_guess::from_path(name).first_or_octet_stream();
    let is_page = guessed.essence_str() == "text/html" || entry;
    if !is_page {
        return Cow::Owned(guessed.to_string());
    }
    let head = &content[..content.len().min(ENCODING_WINDOW_BYTES)];
    let names_its_own = !entry && String::from_utf8_lossy(head).to_ascii_lowercase().contains("charset");
    Cow::Borrowed(if names_its_own { "text/html" } else { "text/html; charset=utf-8" })
}

/// The one range asked for; several, or what is no range, count as none asked for (RFC 9110 §14.2).
fn wanted_range(headers: &HeaderMap, length: usize) -> Option<Result<Range<usize>, Unsatisfiable>> {
    let (first, last) = headers.get(RANGE)?.to_str().ok()?.strip_prefix("bytes=")?.split_once('-')?;
    let range = if first.is_empty() {
        let suffix: usize = last.trim().parse().ok()?;
        length.saturating_sub(suffix)..length
    } else {
        let start: usize = first.trim().parse().ok()?;
        let end = if last.trim().is_empty() {
            length
        } else {
            last.trim().parse::<usize>().ok()?.checked_add(1)?
        };
        start..end.min(length)
    };
    Some(if range.is_empty() { Err(Unsatisfiable) } else { Ok(range) })
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    fn site() -> Site {
        let files = [
            ("index.ejs", "<p>entry"),
            ("a b/x.css", "p{}"),
            ("sub/index.html", "<meta charset=latin1>"),
            ("n.txt", "0123456789"),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), Bytes::from_static(text.as_bytes())));
        Site::new("index.ejs", files.into())
    }

    async fn get(path: &str, range: Option<&str>) -> (u16, String, String) {
        let mut headers = HeaderMap::new();
        if let Some(range) = range {
            headers.insert(RANGE, range.parse().unwrap());
        }
        let (Served::File(response) | Served::Missing(response)) =
            answer(&site(), path, &Method::GET, &headers);
        let status = response.status().as_u16();
        let content_type = response.headers()[CONTENT_TYPE].to_str().unwrap().to_owned();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, content_type, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn paths_lead_to_files_with_their_types() {
        for (path, status, content_type, body) in [
            ("/", 200, "text/html; charset=utf-8", "<p>entry"),
            ("/index.ejs", 200, "text/html; charset=utf-8", "<p>entry"),
            ("/a%20b/x.css", 200, "text/css", "p{}"),
            ("/sub/", 200, "text/html", "<meta charset=latin1>"),
            ("/../n.txt", 404, "text/plain; charset=utf-8", "not found"),
        ] {
            let expected = (status, content_type.to_owned(), body.to_owned());
            assert_eq!(get(path, None).await, expected, "{path}");
        }
    }

    #[tokio::test]
    async fn ranges_are_cut_out_and_wrong_ones_refused() {
        for (range, status, body) in [
            ("bytes=2-4", 206, "234"),
            ("bytes=8-", 206, "89"),
            ("bytes=-3", 206, "789"),
            ("bytes=5-99", 206, "56789"),
            ("bytes=10-", 416, ""),
            ("bytes=x-y", 200, "0123456789"),
        ] {
            let (got, _, text) = get("/n.txt", Some(range)).await;
            assert_eq!((got, text.as_str()), (status, body), "{range}");
        }
    }
}
