//! `GET /templates`: the account's saved templates, newest first, a page at a time.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{self, SummaryBody};
use crate::domain::error::Warnings;
use crate::domain::ids::{AccountId, TemplateId};
use crate::domain::kinds::TemplateKind;
use crate::http::actors;
use crate::http::middleware::auth::Caller;
use crate::http::problem::HandlerResult;
use crate::http::query::{self, QueriedPage, Query};
use crate::http::schema::KindName;
use crate::http::state::HttpState;
use crate::problem::Problem;
use crate::templates::registry::list::{TemplateFilter, TemplateQuery};

/// A page; `nextCursor` is null on the last one.
#[derive(Serialize, ToSchema)]
#[schema(as = TemplatePage)]
#[serde(rename_all = "camelCase")]
struct ListBody<'a> {
    items: Vec<SummaryBody<'a>>,
    #[schema(required = true)]
    next_cursor: Option<String>,
    /// Names of the query that are not known, with what was meant.
    warnings: Vec<String>,
}

/// List your saved templates, newest first. A page may hold fewer than `limit`, even none: `nextCursor` tells whether
/// there is more.
#[utoipa::path(
    get, path = "/templates", operation_id = "listTemplates", tag = "templates",
    params(
        ("limit" = Option<u32>, Query, description = "At most so many, 1 to 100; 20 when left out"),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before"),
        ("type" = Option<KindName>, Query),
        ("category" = Option<String>, Query, description = "Templates of this category"),
        ("q" = Option<String>, Query, description = "Templates with this in title, description or category"),
    ),
    responses((status = 200, description = "A page of templates", body = ListBody)),
)]
pub(in crate::http) async fn list(
    caller: Caller,
    state: Data<HttpState>,
    request: HttpRequest,
) -> HandlerResult {
    let (query, warnings) = read(&request, caller.0)?;
    let page = actors::bounded(&state, caller.0, state.template_reader.list(query)).await?;
    let items = page.items.iter().map(|template| view::summary(&state, caller.0, template)).collect();
    let next_cursor = page.next.map(|last| query::cursor(last.0));
    Ok(HttpResponse::Ok().json(ListBody { items, next_cursor, warnings: warnings.lines() }))
}

fn read(request: &HttpRequest, account: AccountId) -> Result<(TemplateQuery, Warnings), Problem> {
    let mut query = Query::of(request);
    let filter = TemplateFilter {
        kind: query.word("type", &TemplateKind::ALL.map(TemplateKind::name), TemplateKind::from_name),
        category: query.read("category", "one category", |text| Some(text.to_owned())),
        text: query.read("q", "one text", |text| Some(text.to_lowercase())),
    };
    let QueriedPage { limit, before, warnings } = query.page()?;
    Ok((TemplateQuery { account, filter, before: before.map(TemplateId), limit }, warnings))
}
