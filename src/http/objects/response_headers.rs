//! Response headers of an object: type, file name, and what keeps its content from acting as a page of the service.

use std::borrow::Cow;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName};
use actix_web::{HttpResponse, HttpResponseBuilder};

use super::disposition;
use crate::domain::kinds::FileKind;
use crate::storage::presigned_urls::ResponseHeaders;
use crate::storage::{StorageKey, TemplatePart};

/// An object is content of an account, not a page of the service: no script may run in it, its type is not guessed, no shared
/// cache keeps it.
const SAFETY: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CONTENT_SECURITY_POLICY, "sandbox"),
    (header::CACHE_CONTROL, "private, no-store"),
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::ACCESS_CONTROL_EXPOSE_HEADERS, "Content-Disposition, Content-Range, ETag, X-Job-Id, X-Warnings"),
];

/// Response headers of an object; `file_name` where the caller chose one.
pub(super) fn response_headers(key: &StorageKey, file_name: Option<String>) -> ResponseHeaders {
    let of_file = |kind: FileKind| (kind.mime(), kind.inline());
    let (content_type, inline) = match key {
        StorageKey::JobOutput(_, _, kind) => of_file(*kind),
        StorageKey::Template(_, _, _, TemplatePart::PngPreview) => of_file(FileKind::Png),
        StorageKey::Template(_, _, _, TemplatePart::PdfPreview) => of_file(FileKind::Pdf),
        StorageKey::UnfinishedPackage(..) | StorageKey::Template(_, _, _, TemplatePart::Package) => {
            of_file(FileKind::Zip)
        }
        StorageKey::JobData(..)
        | StorageKey::JobTemplate(..)
        | StorageKey::JobSecret(..)
        | StorageKey::TemplateUpload(..)
        | StorageKey::Template(..)
        | StorageKey::Upload(..)
        | StorageKey::Probe(_) => ("application/octet-stream", false),
    };
    let name = file_name.as_deref().map_or_else(|| key.file_name().into(), Cow::from);
    ResponseHeaders { content_type, disposition: disposition::of(inline, &name), file_name }
}

pub(super) fn answer_with(status: StatusCode, headers: &ResponseHeaders) -> HttpResponseBuilder {
    let mut answer = HttpResponse::build(status);
    for pair in SAFETY {
        answer.insert_header(pair);
    }
    answer.insert_header((header::CONTENT_TYPE, headers.content_type));
    answer.insert_header((header::CONTENT_DISPOSITION, headers.disposition.as_str()));
    answer
}
