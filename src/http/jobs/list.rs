//! `GET /jobs`: the account's jobs, newest first, a page at a time.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use strum::VariantNames as _;
use utoipa::ToSchema;

use super::view::{self, JobBody};
use crate::domain::error::Warnings;
use crate::domain::ids::{AccountId, JobId};
use crate::domain::kinds::{Target, TemplateKind};
use crate::http::actors;
use crate::http::middleware::auth::Caller;
use crate::http::problem::HandlerResult;
use crate::http::query::{self, QueriedPage, Query};
use crate::http::schema::{KindName, StatusName, TargetName};
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
    /// Names of the query that are not known, with what was meant.
    warnings: Vec<String>,
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
    let (message, warnings) = read(&request, caller.0)?;
    let page = actors::ask(&state, caller.0, &state.jobs, message).await?;
    let items = page.items.iter().map(|job| view::job(&state, job)).collect();
    let next_cursor = page.next.map(|last| query::cursor(last.0));
    Ok(HttpResponse::Ok().json(ListBody { items, next_cursor, warnings: warnings.lines() }))
}

fn read(request: &HttpRequest, account: AccountId) -> Result<(ListJobs, Warnings), Problem> {
    let mut query = Query::of(request);
    let filter = JobFilter {
        status: query.word("status", WireStatus::VARIANTS, |name| name.parse().ok()),
        success: query.read("success", "true or false", |text| text.parse().ok()),
        target: query.word("target", &Target::ALL.map(Target::name), Target::from_name),
        kind: query.word("type", &TemplateKind::ALL.map(TemplateKind::name), TemplateKind::from_name),
    };
    let QueriedPage { limit, before, warnings } = query.page()?;
    Ok((ListJobs { account, filter, before: before.map(JobId), limit }, warnings))
}

#[cfg(test)]
mod tests {
    use actix_web::http::Method;

    use super::*;
    use crate::http::testing::{TestServer, errors};

    #[actix_web::test]
    async fn every_wrong_value_is_named() {
        let server = TestServer::new().await;
        let query = "limit=101&cursor=AAAA&status=running&success=yes&target=gif&type=doc&limit=";
        let (status, problem) = server.call(Method::GET, &format!("/v1/jobs?{query}"), "").await;
        assert_eq!((status.as_u16(), problem["code"].as_str()), (422, Some("validation_failed")));
        assert_eq!(
            errors(&problem),
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
            assert_eq!((status.as_u16(), errors(&problem).len()), (422, 1), "{query}: {problem}");
        }
    }
}
