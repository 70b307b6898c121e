//! `GET /`: which Platen answers, and where to read on.

use actix_web::web::Data;
use actix_web::{HttpResponse, Responder};
use serde_json::json;

use crate::http::state::HttpState;
use crate::version::{COMMIT, VERSION};

/// Which Platen answers, and where to read on. `commit` is null in a program that was not made by `scripts/package`.
#[utoipa::path(
    get, path = "/", operation_id = "version", tag = "health", security(()),
    responses((status = 200, description = "Name, version, commit, and the addresses of documentation and health")),
)]
pub(in crate::http) async fn root(state: Data<HttpState>) -> impl Responder {
    let at = |path: &str| format!("{}{path}", state.public_url);
    HttpResponse::Ok().json(json!({
        "name": "Platen",
        "version": VERSION,
        "commit": COMMIT,
        "links": {
            "documentation": at("/docs"),
            "openapi": at("/openapi.json"),
            "live": at("/health/live"),
            "ready": at("/health/ready"),
        },
    }))
}

#[cfg(test)]
mod tests {
    use actix_web::http::{Method, StatusCode};

    use super::*;
    use crate::http::testing::TestServer;

    #[actix_web::test]
    async fn whoever_asks_is_told_the_version_and_addresses_that_answer() {
        let server = TestServer::new().await;
        for path in ["/", "/v1", "/v1/"] {
            let (status, answer) = server.call(Method::GET, path, "").await;
            assert_eq!((status, &answer["version"]), (StatusCode::OK, &json!(VERSION)), "{path}");
            let links = answer["links"].as_object().unwrap();
            assert_eq!(links.len(), 4);
            for link in links.values() {
                let path = link.as_str().unwrap().strip_prefix(&server.state.public_url).unwrap();
                let (status, _) = server.call(Method::GET, path, "").await;
                assert!(status.is_success() || status == StatusCode::FOUND, "{link}: {status}");
            }
        }
    }
}
