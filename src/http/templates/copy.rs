//! `POST /templates/{templateId}/clone`: content, info and previews once more.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::actors;
use crate::http::ids::NamedTemplate;
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::templates::registry::messages::CloneTemplate;

#[derive(Serialize, ToSchema)]
#[schema(as = ClonedTemplate)]
#[serde(rename_all = "camelCase")]
struct ClonedBody {
    new_template_id: String,
}

/// Copy a saved template, yours or a public one. The copy is yours, saved, and private.
#[utoipa::path(
    post, path = "/templates/{templateId}/clone", operation_id = "cloneTemplate", tag = "templates",
    params(("templateId" = String, Path, description = "The template's id")),
    responses((status = 200, description = "The copy is there", body = ClonedBody)),
)]
pub(in crate::http) async fn copy(NamedTemplate(of): NamedTemplate, state: Data<HttpState>) -> HandlerResult {
    let copy = actors::ask(&state, of.account, &state.templates, CloneTemplate(of)).await?;
    Ok(HttpResponse::Ok().json(ClonedBody { new_template_id: copy.to_string() }))
}
