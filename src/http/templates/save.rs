//! `POST` and `PUT /templates/{templateId}`: saves a template, updates it.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use json_members::Members;
use serde::Serialize;
use utoipa::ToSchema;

use super::info;
use super::preview_jobs::{self, PreviewIds};
use crate::domain::error::Warnings;
use crate::domain::ids::TemplateId;
use crate::http::actors;
use crate::http::body::members::BodyContext;
use crate::http::body::{self, Body, unknown};
use crate::http::ids::{self, NamedTemplate};
use crate::http::problem::HandlerResult;
use crate::http::schema::{SaveRequest, UpdateRequest};
use crate::http::state::HttpState;
use crate::problem::Problem;
use crate::templates::registry::messages::{SaveTemplate, TemplateInfo, UpdateTemplate};

#[derive(Serialize, ToSchema)]
#[schema(as = UpdatedTemplate)]
#[serde(rename_all = "camelCase")]
struct UpdatedBody {
    new_content_id: String,
    /// Members that nobody reads, with what was meant.
    warnings: Vec<String>,
}

/// Save a template: from then on it can be fetched, listed and rendered.
#[utoipa::path(
    post, path = "/templates/{templateId}", operation_id = "saveTemplate", tag = "templates",
    params(("templateId" = String, Path, description = "The template's id")),
    request_body = SaveRequest,
    responses((status = 204, description = "The template is saved; `X-Warnings` counts the members that nobody reads")),
)]
pub(in crate::http) async fn save(
    NamedTemplate(of): NamedTemplate,
    state: Data<HttpState>,
    request: HttpRequest,
    payload: Payload,
) -> HandlerResult {
    let TemplateDetails { info, ids, warnings } = body::read(&request, payload, &state, read).await?;
    let previews = preview_jobs::look_up(&state, of.account, &ids).await?;
    actors::ask(&state, of.account, &state.templates, SaveTemplate { of, info, previews }).await?;
    Ok(unknown::no_content(&warnings))
}

/// Give a saved template the content that was uploaded and previewed under a new id, the `contentId`. That id is gone
/// afterwards; the template keeps its own.
#[utoipa::path(
    put, path = "/templates/{templateId}", operation_id = "updateTemplate", tag = "templates",
    params(("templateId" = String, Path, description = "The template's id")),
    request_body = UpdateRequest,
    responses((status = 200, description = "The template is updated", body = UpdatedBody)),
)]
pub(in crate::http) async fn update(
    NamedTemplate(of): NamedTemplate,
    state: Data<HttpState>,
    request: HttpRequest,
    payload: Payload,
) -> HandlerResult {
    let (TemplateDetails { info, ids, warnings }, content) =
        body::read(&request, payload, &state, read_update).await?;
    let previews = preview_jobs::look_up(&state, of.account, &ids).await?;
    actors::ask(&state, of.account, &state.templates, UpdateTemplate { of, content, info, previews }).await?;
    let (new_content_id, warnings) = (content.to_string(), warnings.lines());
    Ok(HttpResponse::Ok().json(UpdatedBody { new_content_id, warnings }))
}

/// What a caller says of a template.
struct TemplateDetails {
    info: TemplateInfo,
    ids: PreviewIds,
    warnings: Warnings,
}

/// `templateInfo` and `previewIds`, as far as they are valid.
type Details = (Option<TemplateInfo>, Option<PreviewIds>);

/// What a body of a save says.
pub(in crate::http) fn read_members(sent: &mut Members<'_>, context: BodyContext<'_>) -> Details {
    (info::read(sent, context), preview_jobs::read(sent))
}

/// What a body of an update says.
pub(in crate::http) fn read_update_members(
    sent: &mut Members<'_>,
    context: BodyContext<'_>,
) -> (Option<String>, Details) {
    const CONTENT: (&str, &str) = ("contentId", "The id under which the new content was uploaded.");
    sent.require(CONTENT);
    (sent.text(CONTENT), read_members(sent, context))
}

fn read(body: &Body, state: &HttpState) -> Result<TemplateDetails, Problem> {
    let mut members = body.members()?;
    let details = read_members(&mut members, state.body_context());
    complete(members, details)
}

fn read_update(body: &Body, state: &HttpState) -> Result<(TemplateDetails, TemplateId), Problem> {
    let mut members = body.members()?;
    let (content, details) = read_update_members(&mut members, state.body_context());
    let details = complete(members, details)?;
    Ok((details, ids::template_id(&content.unwrap_or_default())?))
}

/// The details of a body whose members are all read.
///
/// # Errors
/// `validation_failed` with every error of the body.
fn complete(members: Members<'_>, details: Details) -> Result<TemplateDetails, Problem> {
    let warnings = unknown::warnings(&members);
    let errors = members.into_faults();
    match details {
        (Some(info), Some(ids)) if errors.is_empty() => Ok(TemplateDetails { info, ids, warnings }),
        _ => Err(Problem::validation(errors)),
    }
}
