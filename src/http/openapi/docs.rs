//! `/docs`: a page to read the interface and to try it, served from the program itself.

use std::sync::{Arc, LazyLock};

use actix_web::http::header;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use url::Url;
use utoipa_swagger_ui::{Config, serve};

use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::problem::{Code, Problem};

/// The page is a program of others': it runs from its own files and speaks to nobody but this service.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; frame-ancestors 'none'";

static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
    let config = Config::from("../openapi.json");
    Arc::new(config.try_it_out_enabled(true).persist_authorization(false).default_models_expand_depth(0))
});

/// `GET /docs`, with or without a slash behind it: on to the page, whose parts lie beside it. From the one an address that
/// is not absolute leads elsewhere than from the other; before it stands what the public address has before every path.
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
