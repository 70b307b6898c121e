//! `/docs`: Swagger UI, to read and to try the interface; its files are in the binary.

use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::sync::LazyLock;

use actix_web::http::header;
use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use url::Url;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;
use zip::result::ZipResult;

use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::problem::{Code, Problem};

/// The page is third-party code: it may load its own files only and connect to this service only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; frame-ancestors 'none'";

/// The archive holds two further builds of the page, of 2 MB, which no browser asks for.
const FILES: [&str; 7] = [
    "favicon-16x16.png",
    "favicon-32x32.png",
    "index.css",
    "index.html",
    "swagger-ui-bundle.js",
    "swagger-ui-standalone-preset.js",
    "swagger-ui.css",
];
/// Replaces the archive's file of this name, which shows a pet store.
const INITIALIZER: (&str, &str) =
    ("swagger-initializer.js", include_str!("../../../assets/swagger_initializer.js"));

/// By name. Unpacked at the first request: 2 MB that most services never need.
static PAGES: LazyLock<ZipResult<HashMap<&'static str, Bytes>>> = LazyLock::new(unpack);

fn unpack() -> ZipResult<HashMap<&'static str, Bytes>> {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    let mut pages = HashMap::from([(INITIALIZER.0, Bytes::from_static(INITIALIZER.1.as_bytes()))]);
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let path = entry.name()?.into_owned();
        let Some(name) = FILES.into_iter().find(|name| path.ends_with(&format!("/dist/{name}"))) else {
            continue;
        };
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        pages.insert(name, content.into());
    }
    Ok(pages)
}

/// `GET /docs` and `/docs/`: redirects to the page. By its whole path, for a relative one would lead from the two to
/// different places; it begins with the path of the public URL, below which a proxy may serve us.
pub(in super::super) async fn index(state: Data<HttpState>, request: HttpRequest) -> HttpResponse {
    let base = Url::parse(&state.public_url).map(|url| url.path().trim_end_matches('/').to_owned());
    let page = format!("{}{}/index.html", base.unwrap_or_default(), request.path());
    HttpResponse::Found().insert_header((header::LOCATION, page)).finish()
}

/// `GET /docs/{file}`.
pub(in super::super) async fn page(file: Path<String>) -> HandlerResult {
    let pages = PAGES.as_ref().map_err(Problem::internal)?;
    let Some(content) = pages.get(file.as_str()) else {
        return Err(Problem::new(Code::RouteNotFound, "There is no such page; begin at /docs.").into());
    };
    Ok(HttpResponse::Ok()
        .insert_header((
            header::CONTENT_TYPE,
            mime_guess::from_path(file.as_str()).first_or_octet_stream().to_string(),
        ))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(content.clone()))
}
