//! Objects by presigned URL: its holder uploads an input or a template, or downloads an object, without a token. `jobs`
//! and `templates` call `presigned_url` to sign such URLs, and an immediate render `download`.

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
