//! `/docs`: Swagger UI, to read and to try the interface; its files are in the binary.

use std::sync::{Arc, LazyLock};

use actix_web::http::header;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use url::Url;
use utoipa_swagger_ui::{Config, serve};

use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::problem::{Code, Problem};

/// The page is third-party code: it may load its own files only and connect to this service only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; frame-ancestors 'none'";

static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
    let config = Config::from("../openapi.json");
    Arc::new(config.try_it_out_enabled(true).persist_authorization(false).default_models_expand_depth(0))
});

/// `GET /docs` and `/docs/`: redirects to the page. By its whole path, for a relative one would lead from the two to
/// different places; it begins with the path of the public URL, below which a proxy may serve us.
pub(in super::super) async fn index(state: Data<HttpState>, request: HttpRequest) -> HttpResponse {
    let base = Url::parse(&state.public_url).map(|url| url.path().trim_end_matches('/').to_owned());
    let page = format!("{}{}/index.html", base.unwrap_or_default(), request.path());
    HttpResponse::Found().insert_header((header::LOCATION, page)).finish()
}

/// `GET /docs/{file}`.
pub(in super::super) async fn page(file: Path<String>) -> HandlerResult {
    let found = serve(&file, Arc::clone(&CONFIG)).map_err(Problem::internal)?;
    let Some(found) = found else {
        return Err(Problem::new(Code::RouteNotFound, "There is no such page; begin at /docs.").into());
    };
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, found.content_type))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(found.bytes.into_owned()))
}
