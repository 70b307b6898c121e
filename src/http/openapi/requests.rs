//! The bodies that callers send, as types for the OpenAPI document. Handlers read bodies leniently, member by member
//! (`domain::members`); a test compares the two.

#![expect(dead_code, reason = "shapes for the document")]

use std::borrow::Cow;

use strum::VariantNames as _;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::format_opts::FormatOpts;
use crate::domain::kinds::{Target, TemplateKind};
use crate::jobs::view::WireStatus;
use crate::templates::registry::record::Permissions;

/// Types of a text that is one of `$names`; `$name` is what the document calls the type.
macro_rules! named {
    ($($type:ident, $name:literal, $description:literal, $names:expr;)*) => {$(
        pub(in super::super) struct $type;

        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                let names: &[&str] = $names;
                let schema = ObjectBuilder::new().schema_type(Type::String).description(Some($description));
                schema.enum_values(Some(names.iter().copied())).into()
            }
        }

        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                $name.into()
            }
        }
    )*};
}

named! {
    KindName, "TemplateType",
    "What the template is; `react` means `framework`. Older and foreign Office formats go with their younger kin: odt, \
     doc and rtf with `docx`, ods and xls with `xlsx`, odp and ppt with `pptx`.",
    &TemplateKind::ALL.map(TemplateKind::name);
    TargetName, "Target", "What it becomes.", &Target::ALL.map(Target::name);
    StatusName, "Status", "Where the job stands.", WireStatus::VARIANTS;
    PermissionsName, "Permissions", "Who may read, render and clone the template beside its owner.",
    Permissions::VARIANTS;
}

/// A new job.
#[derive(ToSchema)]
#[schema(as = InitRequest, rename_all = "camelCase", example = json!({
    "type": "html", "target": "pdf", "data": {"name": "Zoë"}, "formatOpts": {"format": "a5", "margin": "15mm"}
}))]
pub(in super::super) struct InitRequest {
    r#type: KindName,
    target: TargetName,
    /// The data, as it is to reach the template. Left out: upload it to `presignedDataUploadUrl`.
    #[schema(value_type = Option<HashMap<String, serde_json::Value>>)]
    data: Option<()>,
    /// A saved template. Left out: upload one to `presignedTemplateUploadUrl`.
    template_id: Option<String>,
    format_opts: Option<FormatOpts>,
}

/// How a job is started.
#[derive(ToSchema)]
#[schema(as = StartRequest, rename_all = "camelCase", example = json!({"shouldWaitForRenderCompletion": true}))]
pub(in super::super) struct StartRequest {
    /// Answer when the job is done, or after `http.wait_default_s`.
    should_wait_for_render_completion: Option<bool>,
    /// An address that takes the document by `PUT`. Older name: `uploadPresignedS3Url`.
    upload_presigned_storage_url: Option<String>,
}

/// A job that is created, started and waited for in one call. Exactly one of `template` and `templateId`.
#[derive(ToSchema)]
#[schema(as = ImmediateRequest, rename_all = "camelCase", example = json!({
    "type": "html", "target": "pdf", "template": "<h1>Hello, <%= name %>!</h1>", "data": {"name": "Zoë"},
    "formatOpts": {"format": "a5", "margin": "15mm"}
}))]
pub(in super::super) struct ImmediateRequest {
    r#type: KindName,
    target: TargetName,
    /// The template's text.
    template: Option<String>,
    /// A saved template.
    template_id: Option<String>,
    /// The data, as it is to reach the template.
    #[schema(value_type = Option<HashMap<String, serde_json::Value>>)]
    data: Option<()>,
    format_opts: Option<FormatOpts>,
    /// An address that takes the document by `PUT`. Older name: `uploadPresignedS3Url`.
    upload_presigned_storage_url: Option<String>,
}

/// The same as a form: files with their names, and everything else as parts of the same names as in JSON. Options may be
/// parts of their own (`landscape`, `margin` …). If they are left out, `type` is `html` and `target` is `pdf`. A single
/// Office file needs its `type`.
#[derive(ToSchema)]
#[schema(as = ImmediateForm, rename_all = "camelCase")]
pub(in super::super) struct ImmediateForm {
    /// The page (`index.html`) and the files beside it, or one Office file, or one archive.
    #[schema(value_type = Option<Vec<String>>, content_media_type = "application/octet-stream")]
    files: Option<()>,
    r#type: Option<KindName>,
    target: Option<TargetName>,
    /// The template's text, instead of files.
    template: Option<String>,
    /// A saved template, instead of files.
    template_id: Option<String>,
    /// The data, a JSON object.
    data: Option<String>,
    /// Options, a JSON object.
    format_opts: Option<String>,
    /// An address that takes the document by `PUT`.
    upload_presigned_storage_url: Option<String>,
}

/// What the template looks like with this data.
#[derive(ToSchema)]
#[schema(as = PreviewsRequest, rename_all = "camelCase", example = json!({"type": "html", "data": {"name": "Zoë"}}))]
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
pub(in super::super) struct SaveRequest {
    template_info: TemplateInfo,
    preview_ids: PreviewIds,
}

/// What is said of a template, and the id under which its new content was uploaded.
#[derive(ToSchema)]
#[schema(as = UpdateRequest, rename_all = "camelCase")]
pub(in super::super) struct UpdateRequest {
    template_info: TemplateInfo,
    preview_ids: PreviewIds,
    content_id: String,
}

/// What is said of a template.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
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
struct PreviewIds {
    png_job_id: String,
    pdf_job_id: String,
}

/// The new text of a template's entry.
#[derive(ToSchema)]
#[schema(as = IndexHtmlRequest, rename_all = "camelCase", example = json!({"indexHtml": "<p>Hello</p>"}))]
pub(in super::super) struct IndexHtmlRequest {
    /// The text; an empty one counts as missing.
    index_html: String,
    /// The older name of `indexHtml`, which counts where both are sent; either is enough.
    template_index: Option<String>,
}
