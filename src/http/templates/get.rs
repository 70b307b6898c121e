//! `GET /templates/{templateId}`: one template.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};

use super::view::TemplateBody;
use super::{path, view};
use crate::http::actors;
use crate::http::middleware::auth::Caller;
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;

/// Look at a saved template, yours or a public one.
#[utoipa::path(
    get, path = "/templates/{templateId}", operation_id = "getTemplate", tag = "templates",
    params(("templateId" = String, Path, description = "The template's id")),
    responses((status = 200, description = "The template", body = TemplateBody)),
)]
pub(in crate::http) async fn get(
    caller: Caller,
    state: Data<HttpState>,
    template: Path<String>,
) -> HandlerResult {
    let of = path::of(caller.0, &template)?;
    let template = actors::bounded(&state, state.template_reader.get(of)).await?;
    Ok(HttpResponse::Ok().json(view::whole(&state, caller.0, &template)))
}
