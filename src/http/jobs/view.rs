//! A job as JSON. The presigned URL of its output is signed anew for each answer.

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::objects::presigned_url;
use crate::http::schema::{KindName, StatusName, TargetName};
use crate::http::state::HttpState;
use crate::jobs::view::{JobView, Output};

/// A job as its owner sees it.
#[derive(Serialize, ToSchema)]
#[schema(as = Job)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobBody<'a> {
    job_id: String,
    #[schema(value_type = KindName)]
    r#type: &'static str,
    #[schema(required = true)]
    template_id: Option<String>,
    #[schema(value_type = TargetName)]
    target: &'static str,
    /// As it was sent, with `***` in the place of passwords.
    #[schema(value_type = Option<HashMap<String, serde_json::Value>>, required = true)]
    format_opts: Option<&'a RawValue>,
    #[schema(value_type = StatusName)]
    status: &'static str,
    /// Whether there is a document; null until the job is done.
    #[schema(required = true)]
    success: Option<bool>,
    #[schema(required = true)]
    output: Option<OutputBody>,
    #[schema(required = true)]
    error: Option<&'a str>,
    #[schema(required = true)]
    error_code: Option<&'static str>,
    warnings: Vec<String>,
    created_at: String,
    #[schema(required = true)]
    started_at: Option<String>,
    #[schema(required = true)]
    finished_at: Option<String>,
}

/// A job that was started.
#[derive(Serialize, ToSchema)]
#[schema(as = StartedJob)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartBody<'a> {
    job_id: String,
    #[schema(value_type = TargetName)]
    target: &'static str,
    #[schema(value_type = StatusName)]
    status: &'static str,
    /// Whether there is a document; null until the job is done.
    #[schema(required = true)]
    success: Option<bool>,
    #[schema(required = true)]
    output: Option<OutputBody>,
    #[schema(required = true)]
    error: Option<&'a str>,
    #[schema(required = true)]
    error_code: Option<&'static str>,
    warnings: Vec<String>,
}

/// A document that was made in one call.
#[derive(Serialize, ToSchema)]
#[schema(as = Document)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImmediateBody {
    /// Where the document is, for whoever has the address; it lives for `storage.address_ttl_s`.
    url: String,
    job_id: String,
    /// What the template's author should know; the document was made all the same.
    warnings: Vec<String>,
    /// The same as in the job; null when the document is not kept any more.
    #[schema(required = true)]
    output: Option<OutputBody>,
}

/// The document.
#[derive(Serialize, ToSchema)]
#[schema(as = Output)]
struct OutputBody {
    data: DataBody,
    metadata: MetadataBody,
}

/// Where the document is.
#[derive(Serialize, ToSchema)]
#[schema(as = OutputData)]
#[serde(rename_all = "camelCase")]
struct DataBody {
    /// To be fetched without a token.
    url: String,
    expires_at: String,
    content_type: &'static str,
    bytes: u64,
    file_name: String,
}

/// In milliseconds, as the clients take them.
#[derive(Serialize, ToSchema)]
#[schema(as = OutputMetadata)]
#[serde(rename_all = "camelCase")]
struct MetadataBody {
    render_time: u64,
    queue_time: u64,
    /// How many pages the document has; null for one without pages.
    #[schema(required = true)]
    pages: Option<u32>,
}

pub(super) fn job<'a>(state: &HttpState, view: &'a JobView) -> JobBody<'a> {
    JobBody {
        job_id: view.id.to_string(),
        r#type: view.kind.name(),
        template_id: view.template.map(|id| id.to_string()),
        target: view.target.name(),
        format_opts: view.format_opts.as_deref(),
        status: view.status.name(),
        success: view.success(),
        output: view.output.as_ref().map(|output| output_of(state, view, output)),
        error: view.error.as_ref().map(|error| error.message.as_str()),
        error_code: view.error.as_ref().map(|error| error.code.name()),
        warnings: view.warnings.lines(),
        created_at: view.created_at.rfc3339(),
        started_at: view.started_at.map(Timestamp::rfc3339),
        finished_at: view.finished_at.map(Timestamp::rfc3339),
    }
}

pub(super) fn immediate(state: &HttpState, view: &JobView) -> ImmediateBody {
    let output = view.output.as_ref().map(|output| output_of(state, view, output));
    let url = match &output {
        Some(output) => output.data.url.clone(),
        None => presigned_url::for_output(state, view).url,
    };
    ImmediateBody { url, job_id: view.id.to_string(), warnings: view.warnings.lines(), output }
}

pub(super) fn start<'a>(state: &HttpState, view: &'a JobView) -> StartBody<'a> {
    let JobBody { job_id, target, status, success, output, error, error_code, warnings, .. } =
        job(state, view);
    StartBody { job_id, target, status, success, output, error, error_code, warnings }
}

fn output_of(state: &HttpState, view: &JobView, output: &Output) -> OutputBody {
    let address = presigned_url::for_output(state, view);
    OutputBody {
        data: DataBody {
            url: address.url,
            expires_at: address.expires_at.rfc3339(),
            content_type: view.file().mime(),
            bytes: output.bytes,
            file_name: view.file_name().unwrap_or_else(|| view.output_key().file_name()),
        },
        metadata: MetadataBody {
            render_time: output.render_ms,
            queue_time: output.queue_ms,
            pages: output.pages,
        },
    }
}
