//! `POST /templates/{templateId}/render-previews`: what the template looks like, as PNG and PDF, both or neither.

use std::time::Duration;

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use futures_util::future::join;
use json_members::Members;
use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::error::Warnings;
use crate::domain::format_opts::{Key, PageOptions, key_for_several_pictures};
use crate::domain::kinds::{Target, TemplateKind};
use crate::http::actors;
use crate::http::body::members::{BodyContext, FormatOpts, read_data, read_format_opts, read_kind};
use crate::http::body::{self, Body, unknown};
use crate::http::ids::NamedTemplate;
use crate::http::jobs::conversions;
use crate::http::jobs::immediate::refuse_without_document;
use crate::http::jobs::job_request::check_template;
use crate::http::jobs::wait;
use crate::http::objects::presigned_url;
use crate::http::problem::HandlerResult;
use crate::http::request_id::RequestId;
use crate::http::schema::PreviewsRequest;
use crate::http::state::HttpState;
use crate::jobs::messages::{InitJob, JobSpec};
use crate::jobs::registry::delete::DeleteJob;
use crate::jobs::view::JobView;
use crate::problem::{FieldError, Problem};

#[derive(Serialize, ToSchema)]
#[schema(as = Previews)]
#[serde(rename_all = "camelCase")]
struct PreviewsBody {
    png_preview: RenderedBody,
    pdf_preview: RenderedBody,
    /// What is to be told of the request, such as members that nobody reads. Both jobs keep it.
    warnings: Vec<String>,
}

/// A preview that was rendered.
#[derive(Serialize, ToSchema)]
#[schema(as = RenderedPreview)]
#[serde(rename_all = "camelCase")]
struct RenderedBody {
    /// To be fetched without a token.
    url: String,
    /// For `previewIds` when the template is saved.
    job_id: String,
}

/// What is to be shown of a template.
struct PreviewRequest {
    kind: TemplateKind,
    data: Option<Bytes>,
    format_opts: FormatOpts,
    warnings: Warnings,
}

/// Render a template, saved or not, as PNG and PDF at once. It counts nothing; the subscription must be active.
#[utoipa::path(
    post, path = "/templates/{templateId}/render-previews", operation_id = "renderPreviews", tag = "templates",
    params(("templateId" = String, Path, description = "The template's id")),
    request_body = PreviewsRequest,
    responses((status = 200, description = "Both are there", body = PreviewsBody)),
)]
pub(in crate::http) async fn render(
    NamedTemplate(of): NamedTemplate,
    state: Data<HttpState>,
    request: HttpRequest,
    payload: Payload,
) -> HandlerResult {
    actors::admit(&state)?;
    let template = of.template;
    let PreviewRequest { kind, data, format_opts, warnings } =
        body::read(&request, payload, &state, read).await?;
    let spec = |target| JobSpec {
        kind,
        target,
        template: Some(template),
        preview: true,
        format_opts: format_opts.sent.clone(),
        secrets: format_opts.options.secrets(),
        warnings: warnings.clone(),
    };
    for target in [Target::Png, Target::Pdf] {
        conversions::admit(&state, (kind, target), &format_opts.options)?;
    }
    refuse_several(&state, kind, &format_opts.options)?;
    check_template(&state, of.account, &spec(Target::Png)).await?;
    let begin = |target| {
        let (account, data, template) = (of.account, data.clone(), None);
        let (spec, start, deliver_to) = (spec(target), true, None);
        let (refusal, idempotency, request_id) = (None, None, RequestId::text(&request));
        let message =
            InitJob { account, spec, data, template, start, deliver_to, refusal, idempotency, request_id };
        actors::ask(&state, of.account, &state.jobs, message)
    };
    let (png, pdf) = match join(begin(Target::Png), begin(Target::Pdf)).await {
        (Ok(png), Ok(pdf)) => (png, pdf),
        // The other one was refused, and this one cannot be used without it.
        (Ok(job), Err(problem)) | (Err(problem), Ok(job)) => {
            let job = job.borrow().clone();
            end(&state, &job).await;
            return Err(problem.into());
        }
        (Err(_), Err(problem)) => return Err(problem.into()),
    };
    let longest = Duration::from_secs(state.config.http.wait_default_s);
    let ends = join(
        wait::until_done_through_shutdown(&state, png, longest),
        wait::until_done_through_shutdown(&state, pdf, longest),
    )
    .await;
    let (png, pdf) = (ends.0?, ends.1?);
    // A failure is answered first, and ends the other preview, which cannot be used without this one.
    let failed = |job: &JobView| job.is_done() && job.error.is_some();
    for (one, other) in [(&png, &pdf), (&pdf, &png)] {
        if failed(one) {
            end(&state, other).await;
            refuse_without_document(one, &state)?;
        }
    }
    for job in [&png, &pdf] {
        refuse_without_document(job, &state)?;
    }
    let (png_preview, pdf_preview) = (body_of(&state, &png), body_of(&state, &pdf));
    Ok(HttpResponse::Ok().json(PreviewsBody { png_preview, pdf_preview, warnings: warnings.lines() }))
}

/// What a body of render-previews says.
pub(in crate::http) fn read_members<'a>(
    sent: &mut Members<'a>,
    context: BodyContext<'_>,
) -> (Option<TemplateKind>, Option<&'a str>, FormatOpts) {
    (read_kind(sent, context), read_data(sent), read_format_opts(sent, context.config))
}

fn read(body: &Body, state: &HttpState) -> Result<PreviewRequest, Problem> {
    let mut members = body.members()?;
    let (kind, data, format_opts) = read_members(&mut members, state.body_context());
    let data = data.map(|data| body.share(data));
    unknown::refuse_promises(&mut members);
    let mut warnings = unknown::warnings(&members);
    warnings.extend(&format_opts.warnings);
    match (kind, members.into_faults()) {
        (Some(kind), errors) if errors.is_empty() => Ok(PreviewRequest { kind, data, format_opts, warnings }),
        (_, errors) => Err(Problem::validation(errors)),
    }
}

/// Several pictures are an archive, which no template can be saved with.
fn refuse_several(state: &HttpState, kind: TemplateKind, options: &PageOptions) -> Result<(), Problem> {
    let route = state.catalog.route(kind, Target::Png, options);
    let is_of_pages = route.is_some_and(|route| route.heeds(Key::Pages));
    let Some(key) = key_for_several_pictures(options).filter(|_| is_of_pages) else { return Ok(()) };
    let detail = "may ask for several pictures, and a preview is one; leave it out, or name the page that is shown \
                  (formatOpts.page)";
    Err(Problem::validation(vec![FieldError::new(format!("/formatOpts/{key}"), detail)]))
}

fn body_of(state: &HttpState, job: &JobView) -> RenderedBody {
    RenderedBody { url: presigned_url::for_output(state, job).url, job_id: job.id.to_string() }
}

/// Cancels a preview that will not be answered, or deletes it.
async fn end(state: &HttpState, job: &JobView) {
    let message = DeleteJob { account: job.account, job: job.id };
    if let Err(problem) = actors::ask(state, job.account, &state.jobs, message).await {
        tracing::warn!(job.id = %job.id, error = %problem, "a preview stays without the other one");
    }
}
