//! `GET /templates/init`: begins a template and hands out the address for its content.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::actors;
use crate::http::middleware::auth::Caller;
use crate::http::objects::presigned_url;
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::templates::registry::messages::InitTemplate;

#[derive(Serialize, ToSchema)]
#[schema(as = NewTemplate)]
#[serde(rename_all = "camelCase")]
struct InitBody {
    template_id: String,
    /// The same id, under the name that older clients read.
    job_id: String,
    /// Takes the template by `PUT`: an archive, an Office file, or the text of the page.
    presigned_template_upload_url: String,
}

/// Begin a template: a new id, and an address for its content. It is unfinished until it is saved, and goes after
/// `templates.unfinished_retention_s` if it is not.
#[utoipa::path(
    get, path = "/templates/init", operation_id = "initTemplate", tag = "templates",
    responses((status = 200, description = "The template is begun", body = InitBody)),
)]
pub(in crate::http) async fn init(caller: Caller, state: Data<HttpState>) -> HandlerResult {
    actors::admit(&state)?;
    let template =
        actors::ask(&state, caller.0, &state.templates, InitTemplate { account: caller.0 }).await?;
    tracing::Span::current().record("template.id", tracing::field::display(template));
    Ok(HttpResponse::Ok().json(InitBody {
        template_id: template.to_string(),
        job_id: template.to_string(),
        presigned_template_upload_url: presigned_url::for_template(&state, caller.0, template).url,
    }))
}
