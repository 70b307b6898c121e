//! `GET /templates/{templateId}`: one template.

use actix_web::HttpResponse;
use actix_web::web::Data;

use super::view::{self, TemplateBody};
use crate::http::actors;
use crate::http::ids::NamedTemplate;
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;

/// Look at a saved template, yours or a public one.
#[utoipa::path(
    get, path = "/templates/{templateId}", operation_id = "getTemplate", tag = "templates",
    params(("templateId" = String, Path, description = "The template's id")),
    responses((status = 200, description = "The template", body = TemplateBody)),
)]
pub(in crate::http) async fn get(NamedTemplate(of): NamedTemplate, state: Data<HttpState>) -> HandlerResult {
    let template = actors::bounded(&state, of.account, state.template_reader.get(of)).await?;
    Ok(HttpResponse::Ok().json(view::whole(&state, of.account, &template)))
}
