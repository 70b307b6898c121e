//! `PATCH /templates/{templateId}/unzip`: makes what was uploaded the template's content.

use actix_web::HttpResponse;
use actix_web::web::Data;

use crate::http::actors;
use crate::http::ids::NamedTemplate;
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::templates::registry::messages::UnzipTemplate;

/// Unpack what was uploaded. Done when it answers; repeated, it does nothing new.
#[utoipa::path(
    patch, path = "/templates/{templateId}/unzip", operation_id = "unzipTemplate", tag = "templates",
    params(("templateId" = String, Path, description = "The template's id")),
    responses((status = 204, description = "The template has its files")),
)]
pub(in crate::http) async fn unzip(
    NamedTemplate(of): NamedTemplate,
    state: Data<HttpState>,
) -> HandlerResult {
    actors::ask(&state, of.account, &state.templates, UnzipTemplate(of)).await?;
    Ok(HttpResponse::NoContent().finish())
}
