//! A template as JSON. Its presigned URLs are signed anew for each answer.

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::domain::ids::AccountId;
use crate::http::objects::presigned_url;
use crate::http::schema::{KindName, PermissionsName};
use crate::http::state::HttpState;
use crate::storage::TemplatePart;
use crate::templates::registry::record::Preview;
use crate::templates::registry::view::{TemplateSummary, TemplateView};

/// A template in a list.
#[derive(Serialize, ToSchema)]
#[schema(as = TemplateSummary)]
#[serde(rename_all = "camelCase")]
pub(super) struct SummaryBody<'a> {
    uuid: String,
    title: &'a str,
    description: &'a str,
    #[schema(value_type = KindName)]
    r#type: &'static str,
    categories: &'a [String],
    #[schema(value_type = PermissionsName)]
    permissions: &'static str,
    preview: PreviewsBody,
    /// The id under which its content was uploaded.
    content_id: String,
    created_at: String,
    updated_at: String,
}

/// A template.
#[derive(Serialize, ToSchema)]
#[schema(as = Template)]
#[serde(rename_all = "camelCase")]
pub(super) struct TemplateBody<'a> {
    #[serde(flatten)]
    summary: SummaryBody<'a>,
    source_code: SourceBody<'a>,
    /// As it was sent.
    #[schema(value_type = HashMap<String, serde_json::Value>)]
    sample_data: &'a RawValue,
    /// The data that it reads, in order: `customer.name`, `items[].price` for each item's; null where that cannot be told.
    #[schema(required = true)]
    variables: Option<&'a [String]>,
    /// How many there are beside these.
    more_variables: usize,
}

/// Its previews.
#[derive(Serialize, ToSchema)]
#[schema(as = TemplatePreviews)]
struct PreviewsBody {
    png: PreviewBody,
    pdf: PreviewBody,
}

/// A preview.
#[derive(Serialize, ToSchema)]
#[schema(as = TemplatePreview)]
#[serde(rename_all = "camelCase")]
struct PreviewBody {
    /// To be fetched without a token.
    url: String,
    /// The job that made it; null for a template of another account, or a copy of one.
    #[schema(required = true)]
    job_id: Option<String>,
}

/// Its files.
#[derive(Serialize, ToSchema)]
#[schema(as = TemplateSource)]
struct SourceBody<'a> {
    /// The archive, to be fetched without a token.
    url: String,
    /// The path of the template itself.
    entry: &'a str,
    files: Vec<FileBody<'a>>,
    /// What `templateInfo.sourceCode` said.
    #[schema(required = true)]
    link: Option<&'a str>,
}

/// A file.
#[derive(Serialize, ToSchema)]
#[schema(as = TemplateFile)]
struct FileBody<'a> {
    path: &'a str,
    bytes: u64,
}

/// A template as `reader` sees it in a list.
pub(super) fn summary<'a>(
    state: &HttpState,
    reader: AccountId,
    template: &'a TemplateSummary,
) -> SummaryBody<'a> {
    let info = &template.info;
    SummaryBody {
        uuid: template.id.to_string(),
        title: &info.title,
        description: &info.description,
        r#type: info.kind.name(),
        categories: &info.categories,
        permissions: info.permissions.name(),
        preview: previews(state, reader, template),
        content_id: template.content.id.to_string(),
        created_at: template.created_at.rfc3339(),
        updated_at: template.updated_at.rfc3339(),
    }
}

/// A template as `reader` sees it, whole.
pub(super) fn whole<'a>(
    state: &HttpState,
    reader: AccountId,
    template: &'a TemplateView,
) -> TemplateBody<'a> {
    let source_code = SourceBody {
        url: presigned_url::for_download(state, template.summary.key(TemplatePart::Package)).url,
        entry: &template.summary.content.entry,
        files: template.files.iter().map(|file| FileBody { path: &file.path, bytes: file.bytes }).collect(),
        link: template.summary.info.link.as_deref(),
    };
    let summary = summary(state, reader, &template.summary);
    let variables = template.variables.as_ref();
    TemplateBody {
        summary,
        source_code,
        sample_data: &template.sample_data,
        variables: variables.map(|variables| &*variables.paths),
        more_variables: variables.map_or(0, |variables| variables.more),
    }
}

fn previews(state: &HttpState, reader: AccountId, template: &TemplateSummary) -> PreviewsBody {
    let is_own = template.account == reader;
    let body = |preview: Preview, part| PreviewBody {
        url: presigned_url::for_download(state, template.key(part)).url,
        job_id: preview.job.filter(|_| is_own).map(|job| job.to_string()),
    };
    PreviewsBody {
        png: body(template.previews.png, TemplatePart::PngPreview),
        pdf: body(template.previews.pdf, TemplatePart::PdfPreview),
    }
}
