//! `GET` and `HEAD` of a presigned URL: streams an object from the store, with ranges and `ETag`.

use actix_web::body::SizedStream;
use actix_web::http::header::{self, HeaderMap};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponseBuilder};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};

use super::presigned_url;
use super::response_headers::{answer_with, response_headers};
use crate::http::problem::{HandlerResult, ProblemResponse};
use crate::http::state::HttpState;
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};
use crate::slots::Slot;
use crate::storage::presigned_urls::{Operation, PresignedAccess};
use crate::storage::{ByteRange, Folder, ObjectMeta, ObjectReader, StorageKey, StoreError};

pub(super) type ObjectBody = SizedStream<BoxStream<'static, Result<Bytes, StoreError>>>;

pub(super) async fn download(request: HttpRequest, state: Data<HttpState>) -> HandlerResult {
    let any_origin =
        |problem: Problem| ProblemResponse::from(problem).header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    let access = presigned_url::verify(&state, &request, Operation::Get).map_err(any_origin)?;
    let mut range = None;
    if request.method() == Method::HEAD || depends_on_version(request.headers()) {
        let meta = state
            .store
            .head(&access.key)
            .await
            .map_err(|error| any_origin(problem_of(&access.key, &error)))?;
        if is_known(request.headers(), &meta) {
            return Ok(head(StatusCode::NOT_MODIFIED, &access, &meta).finish());
        }
        range = wanted_range(request.headers(), &meta);
        if request.method() == Method::HEAD {
            let body = SizedStream::new(meta.bytes, stream::empty::<Result<_, StoreError>>());
            return Ok(head(StatusCode::OK, &access, &meta).body(body));
        }
    }
    let transfer = state.shared.connections.begin_transfer(access.key.account()).map_err(any_origin)?;
    match state.store.open(&access.key, range).await {
        Ok(reader) => {
            let status = if range.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
            let mut answer = head(status, &access, &reader.meta);
            if range.is_some() {
                let last = reader.start + reader.length.saturating_sub(1);
                let shown = format!("bytes {}-{last}/{}", reader.start, reader.meta.bytes);
                answer.insert_header((header::CONTENT_RANGE, shown));
            }
            Ok(answer.body(body(reader, transfer)))
        }
        Err(StoreError::Range { bytes }) => {
            let detail = format!("The object has {bytes} bytes; ask for a range inside them.");
            let failure = any_origin(Problem::new(Code::RangeNotSatisfiable, detail));
            Err(failure.header(header::CONTENT_RANGE, format!("bytes */{bytes}")))
        }
        Err(error) => Err(any_origin(problem_of(&access.key, &error))),
    }
}

/// The job's document as the answer of an immediate render. The stored object is streamed, never the bytes on their way to the
/// store: a document that a caller has seen survives a crash.
pub(in crate::http) async fn document(
    state: &HttpState,
    view: &JobView,
) -> Result<(HttpResponseBuilder, ObjectBody), Problem> {
    let key = view.output_key();
    let transfer = state.shared.connections.begin_transfer(view.account)?;
    let reader = state.store.open(&key, None).await.map_err(|error| problem_of(&key, &error))?;
    let answer = answer_with(StatusCode::OK, &response_headers(&key, view.file_name()));
    Ok((answer, body(reader, transfer)))
}

/// The bytes of the object; its place among the transfers is free when they are sent.
fn body(reader: ObjectReader, transfer: Slot) -> ObjectBody {
    let chunks = reader.chunks.inspect(move |_| {
        let _held = &transfer;
    });
    SizedStream::new(reader.length, chunks.boxed())
}

fn head(status: StatusCode, access: &PresignedAccess, meta: &ObjectMeta) -> HttpResponseBuilder {
    let mut answer = answer_with(status, &response_headers(&access.key, access.file_name.clone()));
    answer.insert_header((header::ETAG, format!("\"{}\"", meta.etag)));
    answer.insert_header((header::ACCEPT_RANGES, "bytes"));
    answer
}

/// Whether the answer depends on the object's metadata (conditions, ranges). A remote store is asked twice then.
fn depends_on_version(headers: &HeaderMap) -> bool {
    headers.contains_key(header::IF_NONE_MATCH) || headers.contains_key(header::RANGE)
}

/// Whether `If-None-Match` names this version (weak comparison, RFC 9110, section 13.1.2).
fn is_known(headers: &HeaderMap, meta: &ObjectMeta) -> bool {
    let sent = headers.get_all(header::IF_NONE_MATCH).filter_map(|value| value.to_str().ok());
    sent.flat_map(|value| value.split(',')).map(str::trim).any(|tag| tag == "*" || names(tag, meta))
}

fn names(tag: &str, meta: &ObjectMeta) -> bool {
    let tag = tag.strip_prefix("W/").unwrap_or(tag);
    tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) == Some(meta.etag.as_str())
}

/// The range asked for; a range of another version of the object counts as none.
fn wanted_range(headers: &HeaderMap, meta: &ObjectMeta) -> Option<ByteRange> {
    let condition = headers.get(header::IF_RANGE);
    if condition.is_some_and(|tag| !tag.to_str().is_ok_and(|tag| tag == format!("\"{}\"", meta.etag))) {
        return None;
    }
    ByteRange::parse(headers.get(header::RANGE)?.to_str().ok()?)
}

fn problem_of(key: &StorageKey, error: &StoreError) -> Problem {
    match error {
        StoreError::NotFound(_) if key.folder() == Folder::Templates => {
            let detail = "The template was changed or deleted since; ask GET /templates/{templateId} for a fresh address.";
            Problem::new(Code::ObjectNotFound, detail)
        }
        StoreError::NotFound(_) => {
            let detail =
                "The object is gone: outputs are kept for a limited time. Render the document again.";
            Problem::new(Code::ObjectNotFound, detail)
        }
        StoreError::TooLarge { .. } | StoreError::Range { .. } | StoreError::Failed(_) => {
            Problem::internal(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::body::to_bytes;
    use actix_web::dev::ServiceResponse;
    use actix_web::test::TestRequest;

    use super::*;
    use crate::domain::ids::{AccountId, JobId};
    use crate::domain::kinds::FileKind;
    use crate::http::testing::{TestServer, read};

    const CONTENT: &str = "0123456789";

    async fn stored(kind: FileKind) -> (TestServer, String) {
        let server = TestServer::new().await;
        let path = stored_in(&server, kind).await;
        (server, path)
    }

    async fn stored_in(server: &TestServer, kind: FileKind) -> String {
        let key = StorageKey::JobOutput(server.account, JobId::generate(), kind);
        server.state.store.put(&key, Bytes::from_static(CONTENT.as_bytes())).await.unwrap();
        server.local(&presigned_url::for_download(&server.state, key).url)
    }

    async fn fetch(
        server: &TestServer,
        path: &str,
        headers: &[(header::HeaderName, &str)],
    ) -> ServiceResponse {
        let mut request = TestRequest::with_uri(path);
        for (name, value) in headers {
            request = request.insert_header((name.clone(), *value));
        }
        server.send(request).await
    }

    fn shown(answer: &ServiceResponse, name: &str) -> String {
        answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    #[actix_web::test]
    async fn an_output_is_served_as_a_file_and_never_as_a_page_of_the_service() {
        for (kind, disposition) in [
            (FileKind::Pdf, "inline"),
            (FileKind::Png, "inline"),
            (FileKind::Jpg, "inline"),
            (FileKind::Html, "attachment"),
            (FileKind::Docx, "attachment"),
            (FileKind::Zip, "attachment"),
        ] {
            let (server, path) = stored(kind).await;
            let answer = fetch(&server, &path, &[]).await;
            assert_eq!(answer.status(), StatusCode::OK);
            let name = format!("{disposition}; filename=\"document.{}\"", kind.name());
            for (header, value) in [
                ("content-type", kind.mime()),
                ("content-disposition", &name),
                ("x-content-type-options", "nosniff"),
                ("content-security-policy", "sandbox"),
                ("cache-control", "private, no-store"),
                ("access-control-allow-origin", "*"),
                ("accept-ranges", "bytes"),
            ] {
                assert_eq!(shown(&answer, header), value, "{header}");
            }
            assert_eq!(to_bytes(answer.into_body()).await.unwrap(), CONTENT);
        }
    }

    #[actix_web::test]
    async fn ranges_are_served_and_malformed_ones_ignored() {
        let (server, path) = stored(FileKind::Pdf).await;
        for (range, body, shown_range) in [
            ("bytes=2-4", "234", "bytes 2-4/10"),
            ("bytes=7-", "789", "bytes 7-9/10"),
            ("bytes=-3", "789", "bytes 7-9/10"),
            ("bytes=8-100", "89", "bytes 8-9/10"),
            ("Bytes=8-99999999999999999999", "89", "bytes 8-9/10"),
        ] {
            let answer = fetch(&server, &path, &[(header::RANGE, range)]).await;
            assert_eq!(
                (answer.status(), shown(&answer, "content-range").as_str()),
                (StatusCode::PARTIAL_CONTENT, shown_range)
            );
            assert_eq!(to_bytes(answer.into_body()).await.unwrap(), body, "{range}");
        }
        for range in ["bytes=4-2", "bytes=0-1,3-4", "pages=1-2", "bytes=x-", "bytes=+1-2"] {
            let answer = fetch(&server, &path, &[(header::RANGE, range)]).await;
            assert_eq!(answer.status(), StatusCode::OK, "{range}");
        }
        let answer = fetch(&server, &path, &[(header::RANGE, "bytes=10-")]).await;
        assert_eq!(shown(&answer, "content-range"), "bytes */10");
        let (status, body) = read(answer).await;
        assert_eq!((status.as_u16(), body["code"].as_str()), (416, Some("range_not_satisfiable")));
    }

    #[actix_web::test]
    async fn downloads_in_progress_leave_a_quarter_to_other_accounts() {
        let server = TestServer::with(|config| config.http.connection_limit = 4).await;
        let path = stored_in(&server, FileKind::Pdf).await;
        let answers = [fetch(&server, &path, &[]).await, fetch(&server, &path, &[]).await];
        let [first, second] = answers.map(ServiceResponse::into_body);
        let upload = server.state.shared.connections.begin_transfer(server.account).unwrap();
        let (status, problem) = read(fetch(&server, &path, &[]).await).await;
        assert_eq!((status.as_u16(), problem["code"].as_str()), (503, Some("overloaded")));
        assert!(problem["detail"].as_str().unwrap().contains("http.connection_limit"), "{problem}");
        assert!(server.state.shared.connections.begin_transfer(AccountId::generate()).is_ok());
        assert_eq!(to_bytes(first).await.unwrap(), CONTENT);
        assert_eq!(fetch(&server, &path, &[]).await.status(), StatusCode::OK);
        drop((second, upload));
    }

    #[actix_web::test]
    async fn a_known_object_is_not_sent_again() {
        let (server, path) = stored(FileKind::Pdf).await;
        let tag = shown(&fetch(&server, &path, &[]).await, "etag");
        for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
            let answer = fetch(&server, &path, &[(header::IF_NONE_MATCH, &known)]).await;
            assert_eq!((answer.status(), shown(&answer, "etag")), (StatusCode::NOT_MODIFIED, tag.clone()));
            assert!(to_bytes(answer.into_body()).await.unwrap().is_empty());
        }
        let other = [(header::RANGE, "bytes=0-1"), (header::IF_RANGE, "\"other\"")];
        assert_eq!(fetch(&server, &path, &other).await.status(), StatusCode::OK);
        let same = [(header::RANGE, "bytes=0-1"), (header::IF_RANGE, tag.as_str())];
        assert_eq!(fetch(&server, &path, &same).await.status(), StatusCode::PARTIAL_CONTENT);
    }

    #[actix_web::test]
    async fn head_has_the_size_and_a_preflight_is_answered() {
        let (server, path) = stored(FileKind::Pdf).await;
        let served = server.serve();
        let head = format!("HEAD {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let answer = crate::http::testing::answer_of(&mut served.send(head.as_bytes()).await).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\n"), "{answer}");
        served.stop(false).await;
        let answer = server.send(TestRequest::with_uri(&path).method(Method::OPTIONS)).await;
        assert_eq!(answer.status(), StatusCode::NO_CONTENT);
        assert_eq!(shown(&answer, "access-control-allow-origin"), "*");
        assert_eq!(shown(&answer, "access-control-allow-methods"), "GET, HEAD, PUT");
    }
}
