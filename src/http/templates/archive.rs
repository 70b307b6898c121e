//! `GET /templates/{templateId}/presigned-url`: where the template's archive can be fetched.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::actors;
use crate::http::ids::NamedTemplate;
use crate::http::objects::presigned_url;
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;

#[derive(Serialize, ToSchema)]
#[schema(as = ArchiveAddress)]
#[serde(rename_all = "camelCase")]
struct AddressBody {
    /// To be fetched without a token; it lives for `storage.address_ttl_s`.
    presigned_url: String,
}

/// Get an address at which the template's archive can be fetched; of one that is not saved, once it is unzipped.
#[utoipa::path(
    get, path = "/templates/{templateId}/presigned-url", operation_id = "getTemplateArchive", tag = "templates",
    params(("templateId" = String, Path, description = "The template's id")),
    responses((status = 200, description = "The address", body = AddressBody)),
)]
pub(in crate::http) async fn address(
    NamedTemplate(of): NamedTemplate,
    state: Data<HttpState>,
) -> HandlerResult {
    let key = actors::bounded(&state, of.account, state.template_reader.archive(of)).await?;
    Ok(HttpResponse::Ok().json(AddressBody { presigned_url: presigned_url::for_download(&state, key).url }))
}
