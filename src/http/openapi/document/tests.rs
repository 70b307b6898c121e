//! Compares the document with the routes, the table of codes and the answers.

use std::collections::BTreeSet;

use actix_web::http::{Method, StatusCode};

use super::*;
use crate::http::testing::TestServer;

fn described() -> Value {
    document(&Config::default(), "https://render.example").unwrap()
}

#[test]
fn every_operation_has_its_problems_and_every_problem_an_operation() {
    let described = described();
    let mut operations = BTreeSet::new();
    for (path, item) in described["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let name =
                operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path} has no name"));
            assert!(operation["summary"].is_string(), "{name} says nothing of itself");
            operations.insert(name.to_owned());
            if operation["security"].is_null() {
                let answers = &operation["responses"];
                assert!(answers["401"]["description"].as_str().unwrap().contains("`unauthorized`"));
                for status in ["429", "503"] {
                    assert_eq!(
                        answers[status]["headers"]["Retry-After"]["schema"]["type"], "integer",
                        "{name} {status}"
                    );
                }
            }
        }
    }
    for name in operations.iter().filter(|name| !matches!(name.as_str(), "live" | "ready" | "version")) {
        assert!(PROBLEMS.iter().any(|(known, _)| known == name), "{name} has no row in PROBLEMS");
    }
    for (name, codes) in PROBLEMS {
        assert!(operations.contains(*name), "there is no operation {name}");
        assert!(
            codes.iter().copied().flatten().all(|code| !COMMON.contains(code)),
            "{name} repeats what all answer"
        );
    }
}

#[actix_web::test]
async fn the_document_is_served_by_both_bases_and_names_only_what_is_there() {
    let server = TestServer::new().await;
    for path in ["/openapi.json", "/v1/openapi.json"] {
        let (status, served) = server.call(Method::GET, path, "").await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(served["openapi"], "3.1.0");
        assert_eq!(served["servers"][0]["url"], "https://render.example/v1");
        for (path, item) in served["paths"].as_object().unwrap() {
            for method in item.as_object().unwrap().keys() {
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                let (_, body) = server
                    .call(
                        method,
                        &format!("/v1{path}").replace("{jobId}", "x").replace("{templateId}", "x"),
                        "",
                    )
                    .await;
                let code = body["code"].as_str().unwrap_or_default();
                assert!(!matches!(code, "route_not_found" | "method_not_allowed"), "{path}: {body}");
            }
        }
    }
}

#[actix_web::test]
async fn the_page_to_try_it_loads_nothing_from_elsewhere() {
    let server = TestServer::new().await;
    for file in ["index.html", "swagger-ui.css", "swagger-ui-bundle.js", "swagger-initializer.js"] {
        let answer = server.request(Method::GET, &format!("/docs/{file}"), "").await;
        assert_eq!(answer.status(), StatusCode::OK, "{file}");
        let policy = answer.headers().get("content-security-policy").unwrap().to_str().unwrap();
        assert!(policy.contains("default-src 'none'"), "{policy}");
    }
    assert_eq!(server.request(Method::GET, "/docs/passwd", "").await.status(), StatusCode::NOT_FOUND);
}
