//! `DELETE /templates/{templateId}`: record, files and previews.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::actors;
use crate::http::ids::NamedTemplate;
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::templates::registry::messages::DeleteTemplate;

#[derive(Serialize, ToSchema)]
#[schema(as = DeletedTemplate)]
#[serde(rename_all = "camelCase")]
struct DeletedBody {
    template_id: String,
}

/// Delete a template with its files and previews. Renders under way finish with what they began with.
#[utoipa::path(
    delete, path = "/templates/{templateId}", operation_id = "deleteTemplate", tag = "templates",
    params(("templateId" = String, Path, description = "The template's id")),
    responses((status = 200, description = "Nothing of it is left", body = DeletedBody)),
)]
pub(in crate::http) async fn delete(
    NamedTemplate(of): NamedTemplate,
    state: Data<HttpState>,
) -> HandlerResult {
    actors::ask(&state, of.account, &state.templates, DeleteTemplate(of)).await?;
    Ok(HttpResponse::Ok().json(DeletedBody { template_id: of.template.to_string() }))
}
