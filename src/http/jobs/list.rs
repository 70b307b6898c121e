//! `GET /jobs`: the account's jobs, newest first, a page at a time.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::ToSchema;

use super::view;
use super::view::JobBody;
use crate::domain::ids::{AccountId, JobId};
use crate::domain::kinds::{Target, TemplateKind};
use crate::http::actors;
use crate::http::middleware::auth::Caller;
use crate::http::openapi::{KindName, StatusName, TargetName};
use crate::http::problem::HandlerResult;
use crate::http::query::{self, Query};
use crate::http::state::HttpState;
use crate::jobs::registry::list::{JobFilter, ListJobs};
use crate::jobs::view::WireStatus;
use crate::problem::Problem;

/// A page; `nextCursor` is null on the last one.
#[derive(Serialize, ToSchema)]
#[schema(as = JobPage)]
#[serde(rename_all = "camelCase")]
struct ListBody<'a> {
    items: Vec<JobBody<'a>>,
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// List your jobs, newest first. A page may hold fewer than `limit`, even none: `nextCursor` tells whether there
/// is more.
#[utoipa::path(
    get, path = "/jobs", operation_id = "listJobs", tag = "jobs",
    params(
        ("limit" = Option<u32>, Query, description = "At most so many, 1 to 100; 20 when left out"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before"),
        ("status" = Option<StatusName>, Query),
        ("success" = Option<bool>, Query),
        ("target" = Option<TargetName>, Query),
        ("type" = Option<KindName>, Query),
    ),
    responses((status = 200, description = "A page of jobs", body = ListBody)),
)]
pub(super) async fn list(caller: Caller, state: Data<HttpState>, request: HttpRequest) -> HandlerResult {
    let message = read(&request, caller.0)?;
    let page = actors::ask(&state, &state.jobs.list, message).await?;
    let items = page.items.iter().map(|job| view::job(&state, job)).collect();
    Ok(HttpResponse::Ok().json(ListBody { items, next_cursor: page.next.map(|last| query::cursor(last.0)) }))
}

fn read(request: &HttpRequest, account: AccountId) -> Result<ListJobs, Problem> {
    let mut query = Query::of(request);
    let filter = JobFilter {
        status: query.word("status", &WireStatus::ALL.map(WireStatus::name), WireStatus::from_name),
        success: query.read("success", "true or false", |text| text.parse().ok()),
        target: query.word("target", &Target::ALL.map(Target::name), Target::from_name),
        kind: query.word("type", &TemplateKind::ALL.map(TemplateKind::name), TemplateKind::from_name),
    };
    let (limit, before) = query.page()?;
    Ok(ListJobs { account, filter, before: before.map(JobId), limit })
}

#[cfg(test)]
mod tests {
    use actix_web::http::{Method, StatusCode};
    use serde_json::{Value, json};

    use super::*;
    use crate::http::testing::{Outcome, TestServer, faults};

    async fn ids(server: &TestServer, query: &str) -> (Vec<String>, Value) {
        let (status, page) = server.call(Method::GET, &format!("/v1/jobs?{query}"), "").await;
        assert_eq!(status, StatusCode::OK, "{page}");
        let items = page["items"].as_array().unwrap().iter();
        (items.map(|item| item["jobId"].as_str().unwrap().to_owned()).collect(), page["nextCursor"].clone())
    }

    #[actix_web::test]
    async fn an_item_is_the_job_as_it_is_asked_for_alone() {
        let server = TestServer::new().await;
        assert_eq!(server.call(Method::GET, "/jobs", "").await.1, json!({"items": [], "nextCursor": null}));
        let (job, _) = server.init().await;
        server.jobs.lock().unwrap().end(job, Outcome::Document);
        let (_, alone) = server.call(Method::GET, &format!("/v1/jobs/{job}"), "").await;
        let (_, page) = server.call(Method::GET, "/v1/jobs/", "").await;
        assert_eq!(page, json!({"items": [alone], "nextCursor": null}));
    }

    #[actix_web::test]
    async fn the_cursor_leads_through_all_pages() {
        let server = TestServer::new().await;
        let mut made = Vec::new();
        for _ in 0..25 {
            made.insert(0, server.init().await.0.to_string());
        }
        let (first, next) = ids(&server, "").await;
        assert_eq!(first, made[..20]);
        let (last, end) = ids(&server, &format!("limit=20&cursor={}", next.as_str().unwrap())).await;
        assert_eq!((last.as_slice(), end), (&made[20..], Value::Null));
        assert_eq!(ids(&server, "limit=100&cursor=&status=&unknown=1").await, (made, Value::Null));
    }

    #[actix_web::test]
    async fn filters_say_which() {
        let server = TestServer::new().await;
        let (done, _) = server.init().await;
        let (failed, _) = server.init().await;
        server.jobs.lock().unwrap().end(done, Outcome::Document);
        server.jobs.lock().unwrap().end(failed, Outcome::Fault);
        let (_, other) = server.post("/documents/init", r#"{"type":"react","target":"png"}"#).await;
        let other = other["jobId"].as_str().unwrap().to_owned();
        let (done, failed) = (done.to_string(), failed.to_string());
        for (query, expected) in [
            ("status=done", vec![&failed, &done]),
            ("status=initialized", vec![&other]),
            ("status=in-progress", vec![]),
            ("success=true", vec![&done]),
            ("success=false", vec![&failed]),
            ("target=png", vec![&other]),
            ("type=react", vec![&other]),
            ("type=html&target=pdf&success=true&status=done", vec![&done]),
        ] {
            assert_eq!(ids(&server, query).await.0.iter().collect::<Vec<_>>(), expected, "{query}");
        }
    }

    #[actix_web::test]
    async fn every_wrong_value_is_named() {
        let server = TestServer::new().await;
        let query = "limit=101&cursor=AAAA&status=running&success=yes&target=gif&type=doc&limit=";
        let (status, problem) = server.call(Method::GET, &format!("/v1/jobs?{query}"), "").await;
        assert_eq!((status.as_u16(), problem["code"].as_str()), (422, Some("validation_failed")));
        assert_eq!(
            faults(&problem),
            [
                "/status 'running' is wrong; give one of initialized, in-progress, done",
                "/success 'yes' is wrong; give true or false",
                "/target 'gif' is wrong; give one of jpg, png, pptx, xlsx, docx, html, pdf",
                "/type 'doc' is wrong; give one of framework, latex, html, ejs, pptx, xlsx, docx",
                "/limit '101' is wrong; give a number from 1 to 100",
                "/cursor 'AAAA' is wrong; give nextCursor of an earlier page, as it was",
            ]
        );
        let cut = &query::cursor(JobId::generate().0)[..20];
        for query in
            ["limit=0", "limit=-1", "limit=ten", "limit=2&limit=3", "cursor=%C3%A4", &format!("cursor={cut}")]
        {
            let (status, problem) = server.call(Method::GET, &format!("/v1/jobs?{query}"), "").await;
            assert_eq!((status.as_u16(), faults(&problem).len()), (422, 1), "{query}: {problem}");
        }
    }
}
