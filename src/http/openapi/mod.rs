//! `/openapi.json` and `/docs`. Handlers name the types of `requests` in their attributes; `cli` prints the document.

mod docs;
mod document;
mod format_opts;
mod requests;

use actix_web::web::ServiceConfig;

pub use document::document;
pub(super) use requests::{
    ImmediateForm, ImmediateRequest, IndexHtmlRequest, InitRequest, KindName, PermissionsName,
    PreviewsRequest, SaveRequest, StartRequest, StatusName, TargetName, UpdateRequest,
};

use super::routing::resource;

pub(super) fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/openapi.json").get(document::openapi))
        .service(resource("/docs").get(docs::index))
        .service(resource("/docs/{file}").get(docs::page));
}
