//! The bodies of templates' requests, as types for the OpenAPI document; as in `requests.rs`.

use utoipa::ToSchema;

use super::format_opts::FormatOpts;
use super::requests::{KindName, PermissionsName};

/// What the template looks like with this data.
#[derive(ToSchema)]
#[schema(as = PreviewsRequest, rename_all = "camelCase", example = json!({"type": "html", "data": {"name": "Zoë"}}))]
#[expect(dead_code, reason = "a shape for the document; bodies are read member by member")]
pub(in super::super) struct PreviewsRequest {
    r#type: KindName,
    /// The data, as it is to reach the template.
    #[schema(value_type = Option<HashMap<String, serde_json::Value>>)]
    data: Option<()>,
    /// Where the picture is one of a PDF's pages, `pages`, `fromPage` and `toPage` are refused unless `page` says which.
    format_opts: Option<FormatOpts>,
}

/// What is said of a template when it is saved.
#[derive(ToSchema)]
#[schema(as = SaveRequest, rename_all = "camelCase")]
#[expect(dead_code, reason = "a shape for the document; bodies are read member by member")]
pub(in super::super) struct SaveRequest {
    template_info: TemplateInfo,
    preview_ids: PreviewIds,
}

/// What is said of a template, and the id under which its new content was uploaded.
#[derive(ToSchema)]
#[schema(as = UpdateRequest, rename_all = "camelCase")]
#[expect(dead_code, reason = "a shape for the document; bodies are read member by member")]
pub(in super::super) struct UpdateRequest {
    template_info: TemplateInfo,
    preview_ids: PreviewIds,
    content_id: String,
}

/// What is said of a template.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "a shape for the document; bodies are read member by member")]
struct TemplateInfo {
    title: String,
    description: Option<String>,
    r#type: KindName,
    /// Data to try the template with.
    #[schema(value_type = Option<HashMap<String, serde_json::Value>>)]
    sample_data: Option<()>,
    categories: Option<Vec<String>>,
    /// `private` unless something else was said before.
    permissions: Option<PermissionsName>,
    /// Where its source code is kept: a link.
    source_code: Option<String>,
}

/// The jobs of `render-previews`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "a shape for the document; bodies are read member by member")]
struct PreviewIds {
    png_job_id: String,
    pdf_job_id: String,
}

/// The new text of a template's entry.
#[derive(ToSchema)]
#[schema(as = IndexHtmlRequest, rename_all = "camelCase", example = json!({"indexHtml": "<p>Hello</p>"}))]
#[expect(dead_code, reason = "a shape for the document; bodies are read member by member")]
pub(in super::super) struct IndexHtmlRequest {
    /// The text; an empty one counts as missing.
    index_html: String,
    /// The older name of `indexHtml`, which counts where both are sent; either is enough.
    template_index: Option<String>,
}
