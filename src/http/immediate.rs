//! `POST /documents/immediate-render`: init, start and wait in one call; answers where the document is.

use std::time::Duration;

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use serde::Serialize;

use super::auth::Caller;
use super::body::Body;
use super::job_request::JobRequest;
use super::problem::Answer;
use super::state::HttpState;
use super::{gate, view, wait};
use crate::domain::kinds::TemplateKind;
use crate::domain::members::Members;
use crate::jobs::messages::{InitJob, JobSpec};
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};

#[derive(Serialize)]
struct ImmediateBody {
    url: String,
}

struct Wanted {
    spec: JobSpec,
    data: Option<Bytes>,
    template: Option<Bytes>,
}

/// The handler.
pub(super) async fn render(
    caller: Caller,
    state: Data<HttpState>,
    request: HttpRequest,
    payload: Payload,
) -> Answer {
    gate::admit(&state)?;
    let body = Body::read(&request, payload, &state).await?;
    let Wanted { spec, data, template } = read(&body, &state)?;
    let message = InitJob { account: caller.0, spec, data, template, start: true };
    let job = gate::ask(&state, &state.jobs.init, message).await?;
    tracing::Span::current().record("job.id", tracing::field::display(job.borrow().id));
    let longest = Duration::from_secs(state.config.http.wait_default_s);
    let view = wait::until_done(&state, job, longest).await?;
    refuse_without_document(&view, &state)?;
    Ok(HttpResponse::Ok().json(ImmediateBody { url: view::output_url(&state, &view) }))
}

fn read(body: &Body, state: &HttpState) -> Result<Wanted, Problem> {
    let mut members = body.members()?;
    let job = JobRequest::read(&mut members, state);
    let template = members.text("template");
    check_template(&mut members, &job, template.is_some());
    let data = members.object("data").map(|data| body.share(data));
    let faults = members.into_faults();
    if !faults.is_empty() {
        return Err(Problem::validation(faults));
    }
    Ok(Wanted { spec: job.spec()?, data, template: template.map(Bytes::from) })
}

/// Exactly one of `template` and `templateId`, and no office file as text.
fn check_template(members: &mut Members<'_>, job: &JobRequest, has_text: bool) {
    match (has_text, job.template_id.is_some()) {
        (true, true) => members.fault("template", "and templateId cannot both be given; leave one out"),
        (false, false) if !members.is_faulty("template") && !members.is_faulty("templateId") => {
            members.fault("template", "is required: the template's text, or templateId in its place");
        }
        _ => {}
    }
    let office = job.kind().filter(|kind| is_office(*kind));
    if let Some(kind) = office.filter(|_| has_text) {
        let detail = format!(
            "is text, and a {} template is a file; create the job with /documents/init and upload the file",
            kind.name()
        );
        members.fault("template", detail);
    }
}

fn is_office(kind: TemplateKind) -> bool {
    matches!(kind, TemplateKind::Docx | TemplateKind::Xlsx | TemplateKind::Pptx)
}

fn refuse_without_document(view: &JobView, state: &HttpState) -> Result<(), Problem> {
    if !view.is_done() {
        let detail = format!(
            "The document was not done in {} seconds (http.wait_default_s); the job goes on, ask GET /v1/jobs/{}.",
            state.config.http.wait_default_s, view.id
        );
        return Err(Problem::new(Code::RenderPending, detail).with("jobId", view.id));
    }
    let Some(fault) = &view.fault else { return Ok(()) };
    Err(Problem::new(Code::RenderFailed, fault.message.clone())
        .with("jobId", view.id)
        .with("errorCode", fault.code.name()))
}
