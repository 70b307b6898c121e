//! `GET` and `POST /templates/{templateId}/index-html`: the text of the template's entry.

use actix_web::http::header::ContentType;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use json_members::Members;
use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::encoding;
use crate::domain::error::Warnings;
use crate::http::actors;
use crate::http::body::{self, Body, unknown};
use crate::http::ids::NamedTemplate;
use crate::http::problem::HandlerResult;
use crate::http::schema::IndexHtmlRequest;
use crate::http::state::HttpState;
use crate::problem::{FieldError, Problem};
use crate::templates::registry::messages::{ReadIndexHtml, WriteIndexHtml};
use crate::thread;

#[derive(Serialize, ToSchema)]
#[schema(as = IndexHtml)]
#[serde(rename_all = "camelCase")]
struct IndexHtmlBody<'a> {
    index_html: &'a str,
    /// The same, under the name that older clients read.
    template_index: &'a str,
}

/// Get the text of the template's entry.
#[utoipa::path(
    get, path = "/templates/{templateId}/index-html", operation_id = "getIndexHtml", tag = "templates",
    params(("templateId" = String, Path, description = "The template's id")),
    responses((status = 200, description = "The text", body = IndexHtmlBody)),
)]
pub(in crate::http) async fn read(NamedTemplate(of): NamedTemplate, state: Data<HttpState>) -> HandlerResult {
    let index_html = actors::ask(&state, of.account, &state.templates, ReadIndexHtml(of)).await?;
    let length = index_html.len();
    let encode =
        move || serde_json::to_vec(&IndexHtmlBody { index_html: &index_html, template_index: &index_html });
    let body = thread::by_size(length, encode).await.map_err(Problem::from)?.map_err(Problem::internal)?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(body))
}

/// Replace the text of the template's entry, in its archive too.
#[utoipa::path(
    post, path = "/templates/{templateId}/index-html", operation_id = "setIndexHtml", tag = "templates",
    params(("templateId" = String, Path, description = "The template's id")),
    request_body = IndexHtmlRequest,
    responses((status = 204, description = "The entry is replaced; `X-Warnings` counts the members that nobody reads")),
)]
pub(in crate::http) async fn write(
    NamedTemplate(of): NamedTemplate,
    state: Data<HttpState>,
    request: HttpRequest,
    payload: Payload,
) -> HandlerResult {
    let (text, warnings) = body::read(&request, payload, &state, |body, _| text_of(body)).await?;
    actors::ask(&state, of.account, &state.templates, WriteIndexHtml { of, text }).await?;
    Ok(unknown::no_content(&warnings))
}

/// What a body says: the text, by either of its names.
pub(in crate::http) fn read_members(sent: &mut Members<'_>) -> Option<String> {
    let current = sent.text(("indexHtml", "The text; an empty one counts as missing."));
    let former = sent.old_text(("templateIndex", "The older name of `indexHtml`. Either is enough."));
    current.or(former)
}

fn text_of(body: &Body) -> Result<(Bytes, Warnings), Problem> {
    let mut members = body.members()?;
    let text = read_members(&mut members);
    let warnings = unknown::warnings(&members);
    let mut errors = members.into_faults();
    match text {
        // JSON carries characters, not bytes, so the text is UTF-8 whatever encoding its `meta` names.
        Some(text) if errors.is_empty() => Ok((encoding::with_bom_if_misleading(text.into()), warnings)),
        text => {
            if text.is_none() && errors.is_empty() {
                errors.push(FieldError::new("/indexHtml", "is required"));
            }
            Err(Problem::validation(errors))
        }
    }
}
