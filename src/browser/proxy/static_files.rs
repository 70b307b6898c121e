//! Static files of a session: which file a path means, its ranges, and the addresses of a router in the page.

use std::ops::Range;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    ACCEPT, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderMap, IF_RANGE,
    LOCATION, RANGE,
};
use hyper::http::response::Builder;
use hyper::{Method, Response, StatusCode, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::mime;
use crate::domain::site::Site;
use crate::storage::ByteRange;
use crate::thread;

/// What a path may contain as it is, beside letters and digits.
const PATH: AsciiSet = NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The entry is always UTF-8: the assembler wrote it.
const PAGE: &str = "text/html; charset=utf-8";

/// An answer, and what is known of the file.
pub(super) enum StaticResponse {
    File(Response<Full<Bytes>>),
    /// A picture whose end seems to be missing. Chromium shows its beginning and says nothing.
    CutPicture(Response<Full<Bytes>>),
    Missing(Response<Full<Bytes>>),
}

/// Answers a request for a file of `site`. Its type and its end are looked at: of a large one on a thread for blocking work.
pub(super) async fn answer(
    site: &Site,
    address: &Uri,
    method: &Method,
    headers: &HeaderMap,
) -> StaticResponse {
    let bytes = looked_at_bytes(site, address.path());
    let site = site.clone();
    let (address, method, headers) = (address.clone(), method.clone(), headers.clone());
    let answered = thread::by_size(bytes, move || respond(&site, &address, &method, &headers)).await;
    answered.unwrap_or_else(|error| {
        tracing::error!(error = %error, "a file of a page cannot be served");
        StaticResponse::Missing(plain(StatusCode::INTERNAL_SERVER_ERROR, "not served"))
    })
}

/// How many bytes are looked at for an answer. Of the page itself only the beginning is: its type is known.
fn looked_at_bytes(site: &Site, path: &str) -> usize {
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let wanted = decoded.trim_start_matches('/');
    if !wanted.is_ascii() {
        return usize::MAX;
    }
    match find(site, wanted) {
        Found::File(name, _) if name == site.entry() => 0,
        Found::File(name, _) => site.bytes_to_read(name),
        Found::Folder | Found::Nothing => 0,
    }
}

fn respond(site: &Site, address: &Uri, method: &Method, headers: &HeaderMap) -> StaticResponse {
    if method != Method::GET && method != Method::HEAD {
        return StaticResponse::File(plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD"));
    }
    let decoded = percent_decode_str(address.path()).decode_utf8_lossy();
    let wanted = decoded.trim_start_matches('/');
    match find(site, wanted) {
        Found::File(name, content) => {
            let response = file(site, name, content, method, headers);
            let is_cut = office_picture::is_cut_short(content);
            if is_cut { StaticResponse::CutPicture(response) } else { StaticResponse::File(response) }
        }
        Found::Folder => StaticResponse::File(moved(wanted, address.query())),
        // An address that the page's router made up leads to the entry, on a reload or a move. Not for a script, which would
        // get html for data without a warning, and not for a frame, in which the entry would show itself again and again.
        Found::Nothing if is_route(wanted) && is_navigation(headers) => {
            let page = site.page().cloned().unwrap_or_default();
            StaticResponse::File(file(site, site.entry(), &page, method, headers))
        }
        // A frame would show the text of the error, in the middle of a document.
        Found::Nothing if is_shown(headers) => StaticResponse::Missing(nothing(StatusCode::NOT_FOUND)),
        Found::Nothing => StaticResponse::Missing(plain(StatusCode::NOT_FOUND, "not found")),
    }
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

/// The range is no part of the file.
struct Outside;

/// What a path leads to.
enum Found<'a> {
    File(&'a str, &'a Bytes),
    /// A folder with a page of its own, asked for without its slash: relative addresses of that page would lead beside the
    /// folder.
    Folder,
    Nothing,
}

fn file(
    site: &Site,
    name: &str,
    content: &Bytes,
    method: &Method,
    headers: &HeaderMap,
) -> Response<Full<Bytes>> {
    let entry = name == site.entry();
    let content_type =
        if entry { PAGE.into() } else { mime::content_type(name, content, || site.legacy_encoding()) };
    let start = content_head().header(CONTENT_TYPE, content_type.as_ref());
    match wanted_range(method, headers, content.len()) {
        None => finish(start.status(StatusCode::OK), content.clone(), method),
        Some(Ok(range)) => {
            let shown = format!("bytes {}-{}/{}", range.start, range.end - 1, content.len());
            let start = start.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_RANGE, shown);
            finish(start, content.slice(range), method)
        }
        Some(Err(Outside)) => {
            let shown = format!("bytes */{}", content.len());
            let start = start.status(StatusCode::RANGE_NOT_SATISFIABLE).header(CONTENT_RANGE, shown);
            finish(start, Bytes::new(), method)
        }
    }
}

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

/// An empty page: without any content some browsers show a page of their own.
fn nothing(status: StatusCode) -> Response<Full<Bytes>> {
    let start = content_head().header(CONTENT_TYPE, PAGE);
    finish(start.status(status), Bytes::from_static(b"<!doctype html>"), &Method::GET)
}

/// Redirects to the same folder with a slash at its end. Hazard: a path that begins with `//` would be sent back as an address
/// of another host (`//name/`). So the path is written anew, with one slash before it.
fn moved(folder: &str, query: Option<&str>) -> Response<Full<Bytes>> {
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let location = format!("/{}/{query}", encode_path(folder));
    let start = content_head().status(StatusCode::PERMANENT_REDIRECT).header(LOCATION, location);
    finish(start, Bytes::new(), &Method::GET)
}

/// A file by its path; a folder's page; the entry for the folder it lies in.
fn find<'a>(site: &'a Site, path: &str) -> Found<'a> {
    if let Some(folder) = path.strip_suffix('/').or_else(|| path.is_empty().then_some("")) {
        let page = if folder == site.folder() { site.entry() } else { &index_of(folder) };
        return site.find(page).map_or(Found::Nothing, |(name, content)| Found::File(name, content));
    }
    let has_page = || path == site.folder() || site.get(&index_of(path)).is_some();
    match site.find(path) {
        Some((name, content)) => Found::File(name, content),
        None if has_page() => Found::Folder,
        None => Found::Nothing,
    }
}

fn index_of(folder: &str) -> String {
    if folder.is_empty() { "index.html".to_owned() } else { format!("{folder}/index.html") }
}

/// No file is meant: the last segment has no extension.
fn is_route(path: &str) -> bool {
    !path.rsplit('/').next().unwrap_or_default().contains('.')
}

/// The page goes there, not a frame in it. Chromium marks every request; one without marks may still ask for html.
fn is_navigation(headers: &HeaderMap) -> bool {
    let says = |name: &str, what: &str| headers.get(name).map(|value| value == what);
    match (says("sec-fetch-mode", "navigate"), says("sec-fetch-dest", "document")) {
        (None, None) => {
            headers.get(ACCEPT).and_then(|it| it.to_str().ok()).is_some_and(|it| it.contains("text/html"))
        }
        (mode, destination) => mode.unwrap_or(true) && destination.unwrap_or(true),
    }
}

/// A frame, or what holds a page like one, shows what is answered.
fn is_shown(headers: &HeaderMap) -> bool {
    let shown = ["iframe", "frame", "object", "embed", "fencedframe"];
    headers.get("sec-fetch-dest").is_some_and(|it| shown.iter().any(|name| it == name))
}

/// The one range asked for, if any, and where it is in the file. What holds only for another state of the file
/// (`If-Range`; our files have no entity tags) counts as none asked for (RFC 9110, section 13.1.5).
fn wanted_range(
    method: &Method,
    headers: &HeaderMap,
    length: usize,
) -> Option<Result<Range<usize>, Outside>> {
    if method != Method::GET || headers.contains_key(IF_RANGE) {
        return None;
    }
    let range = ByteRange::parse(headers.get(RANGE)?.to_str().ok()?)?;
    let index = |at| usize::try_from(at).unwrap_or(length);
    let within = range.resolve(length as u64).map_err(|_| Outside);
    Some(within.map(|(first, bytes)| index(first)..index(first + bytes)))
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
            ("ä+b%.txt", "name"),
            ("o\u{308}/index.html", "decomposed"),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), Bytes::from_static(text.as_bytes())));
        Site::new("index.ejs", files.into())
    }

    async fn ask(method: Method, path: &str, given: &[(&'static str, &str)]) -> (u16, HeaderMap, String) {
        ask_of(&site(), method, path, given).await
    }

    async fn ask_of(
        site: &Site,
        method: Method,
        path: &str,
        given: &[(&'static str, &str)],
    ) -> (u16, HeaderMap, String) {
        let named = |&(name, value): &(&'static str, &str)| (name.parse().unwrap(), value.parse().unwrap());
        let headers: HeaderMap = given.iter().map(named).collect();
        let answered = answer(site, &path.parse().unwrap(), &method, &headers).await;
        let (StaticResponse::File(response)
        | StaticResponse::CutPicture(response)
        | StaticResponse::Missing(response)) = answered;
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (head.status.as_u16(), head.headers, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn paths_lead_to_files_with_their_types() {
        for (path, status, content_type, body) in [
            ("/", 200, PAGE, "<p>entry"),
            ("/index.ejs", 200, PAGE, "<p>entry"),
            ("/a%20b/x.css", 200, "text/css; charset=utf-8", "p{}"),
            ("/%C3%A4+b%25.txt", 200, "text/plain; charset=utf-8", "name"),
            ("/\u{e4}+b%.txt", 200, "text/plain; charset=utf-8", "name"),
            ("/sub/", 200, "text/html", "<meta charset=latin1>"),
            ("/a\u{308}+b%25.txt", 200, "text/plain; charset=utf-8", "name"),
            ("/%C3%B6/index.html", 200, PAGE, "decomposed"),
            ("/%C3%B6/", 200, PAGE, "decomposed"),
            ("/%C3%B6", 308, "", ""),
            ("/a+b%25.txt", 404, "text/plain; charset=utf-8", "not found"),
            ("/../n.txt", 404, "text/plain; charset=utf-8", "not found"),
        ] {
            let (got, headers, text) = ask(Method::GET, path, &[]).await;
            let shown = headers.get(CONTENT_TYPE).map_or("", |it| it.to_str().unwrap());
            assert_eq!((got, shown, text.as_str()), (status, content_type, body), "{path}");
        }
    }

    #[tokio::test]
    async fn a_folder_has_its_slash_and_its_own_page() {
        let files = ["index.html", "dist/start.html", "dist/a b/index.html", "x/sub/index.html", "y/x.css"];
        let files = files.map(|name| (name.to_owned(), Bytes::from_static(name.as_bytes())));
        let site = Site::new("dist/start.html", files.into());
        for (path, status, location, body) in [
            ("/", 200, "", "index.html"),
            ("/dist", 308, "/dist/", ""),
            ("/dist?a=1&b", 308, "/dist/?a=1&b", ""),
            ("/dist/", 200, "", "dist/start.html"),
            ("/dist/?a", 200, "", "dist/start.html"),
            ("/dist/a%20b?c=%20#d", 308, "/dist/a%20b/?c=%20", ""),
            ("//x/sub", 308, "/x/sub/", ""),
            ("http://h.localhost//x/sub?q", 308, "/x/sub/?q", ""),
            ("/x/sub/", 200, "", "x/sub/index.html"),
            ("/y", 404, "", "not found"),
            ("/y/", 404, "", "not found"),
        ] {
            let (got, headers, text) = ask_of(&site, Method::GET, path, &[]).await;
            let shown = headers.get(LOCATION).map_or("", |it| it.to_str().unwrap());
            assert_eq!((got, shown, text.as_str()), (status, location, body), "{path}");
        }
    }

    #[tokio::test]
    async fn a_route_is_the_entry_where_the_page_goes_there() {
        let (navigate, accept) = (("sec-fetch-mode", "navigate"), ("accept", "text/html,*/*"));
        let goes_to = |destination| ("sec-fetch-dest", destination);
        for (path, given, status) in [
            ("/invoice/7", &[navigate, accept][..], 200),
            ("/invoice/7", &[navigate, goes_to("document")], 200),
            ("/invoice/7", &[navigate, goes_to("iframe"), accept], 404),
            ("/invoice/7", &[navigate, goes_to("frame"), accept], 404),
            ("/invoice/7", &[navigate, goes_to("object"), accept], 404),
            ("/invoice/7", &[navigate, goes_to("embed"), accept], 404),
            ("/invoice/7", &[goes_to("document")], 200),
            ("/invoice/7/", &[navigate], 200),
            ("/v1.2/invoice", &[navigate], 200),
            ("/invoice/7", &[accept], 200),
            ("/invoice/7", &[("sec-fetch-mode", "cors"), accept], 404),
            ("/invoice/7", &[("sec-fetch-mode", "no-cors")], 404),
            ("/invoice/7", &[], 404),
            ("/invoice/7.pdf", &[navigate], 404),
        ] {
            for method in [Method::GET, Method::HEAD] {
                let (got, headers, body) = ask(method.clone(), path, given).await;
                assert_eq!(got, status, "{path} {given:?}");
                let whole = method == Method::GET && status == 200;
                assert_eq!(body == "<p>entry", whole, "{path} {given:?}");
                let framed =
                    given.iter().any(|&(name, value)| name == "sec-fetch-dest" && value != "document");
                assert_eq!(headers[CONTENT_TYPE] == PAGE, status == 200 || framed, "{path} {given:?}");
                let shown = if framed { "<!doctype html>" } else { "not found" };
                assert!(status == 200 || body == shown, "{path} {given:?}: {body}");
            }
        }
        assert_eq!(ask(Method::POST, "/invoice/7", &[navigate]).await.0, 405);
    }
}
