//! Objects by presigned URL: whoever holds such a URL puts a template's bytes there or gets a document, without a token.

mod disposition;
pub(super) mod download;
pub(super) mod presigned_url;
mod response_headers;
mod upload;

use actix_web::web::ServiceConfig;

use super::routing::{allow_any_origin, resource};

pub(super) fn routes(config: &mut ServiceConfig) {
    let object = resource(presigned_url::PATTERN);
    config.service(object.put(upload::upload).get(download::download).options(allow_any_origin));
}
