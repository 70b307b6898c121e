//! `/openapi.json` and `/docs`.

mod docs;
mod document;
mod format_opts;
mod requests;
mod template_requests;

use actix_web::web::ServiceConfig;

pub use document::document;
pub(super) use requests::{
    ImmediateForm, ImmediateRequest, InitRequest, KindName, PermissionsName, StartRequest, StatusName,
    TargetName,
};
pub(super) use template_requests::{IndexHtmlRequest, PreviewsRequest, SaveRequest, UpdateRequest};

use super::routing::resource;

pub(super) fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/openapi.json").get(document::openapi))
        .service(resource("/docs").get(docs::index))
        .service(resource("/docs/{file}").get(docs::page));
}
