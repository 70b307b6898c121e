//! `/openapi.json`, `/schemas/format-opts.json` and `/docs`; `cli` prints the document.

mod bodies;
mod docs;
mod document;
mod options;

use actix_web::web::ServiceConfig;

pub use document::document;

use super::routing::resource;

pub(super) fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/openapi.json").get(document::openapi))
        .service(resource("/schemas/format-opts.json").get(options::format_opts))
        .service(resource("/docs").get(docs::index))
        .service(resource("/docs/{file}").get(docs::page));
}
