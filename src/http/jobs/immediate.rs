//! `POST /documents/immediate-render`: init, start and wait in one call; answers where the document is, or the document
//! itself, or (`Prefer: respond-async`) the job.

use std::time::Duration;

use actix_web::http::header::HeaderName;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use json_members::Members;
use tokio::sync::watch;

use super::form::Form;
use super::idempotency::Key;
use super::job_request::{JobRequest, RenderRequest};
use super::view::{ImmediateBody, JobBody};
use super::{accept, form, idempotency, prefer, start, view, wait};
use crate::domain::encoding;
use crate::domain::ids::AccountId;
use crate::domain::no_data::is_no_data;
use crate::http::actors;
use crate::http::body::members::{BodyContext, read_data, read_delivery};
use crate::http::body::{self, Body, unknown};
use crate::http::middleware::auth::Caller;
use crate::http::objects::download;
use crate::http::problem::HandlerResult;
use crate::http::request_id::RequestId;
use crate::http::schema::{ImmediateForm, ImmediateRequest};
use crate::http::state::HttpState;
use crate::jobs::messages::{FindRepeat, Idempotency};
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};
use crate::thread;

/// A header beside a document: the job's id.
const JOB_ID: HeaderName = HeaderName::from_static("x-job-id");

/// Create, start and wait in one call.
#[utoipa::path(
    post, path = "/documents/immediate-render", operation_id = "immediateRender", tag = "documents",
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "The same key means the same job, for a day"),
        ("Prefer" = Option<String>, Header, description = "`respond-async`: the job is answered, without waiting for it"),
    ),
    request_body(content((ImmediateRequest = "application/json"), (ImmediateForm = "multipart/form-data"))),
    responses(
        (
            status = 200, description = "The document is there: where it is; or itself, where `Accept` is the media type of its \
            target, with `X-Job-Id` and the number of warnings in `X-Warnings`",
            content(
                (ImmediateBody = "application/json"), ("application/pdf"), ("image/png"), ("image/jpeg"), ("text/html"),
                ("application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
                ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
                ("application/vnd.openxmlformats-officedocument.presentationml.presentation"), ("application/zip"),
            )
        ),
        (status = 202, description = "`Prefer: respond-async`: the job waits or runs; ask at `Location`", body = JobBody),
    ),
)]
pub(super) async fn render(
    caller: Caller,
    state: Data<HttpState>,
    request: HttpRequest,
    payload: Payload,
) -> HandlerResult {
    actors::admit(&state)?;
    let key = idempotency::read_key(&request, &state)?;
    let (wanted, idempotency) = if form::is_form(&request) {
        let form = form::receive(&request, payload, &state).await?;
        let reading = state.clone();
        thread::by_size(form.bytes(), move || of_form(form, key, &reading)).await.map_err(Problem::from)??
    } else {
        let reader = move |body: &Body, state: &HttpState| {
            Ok((read(body, state)?, key.map(|key| key.of("immediate-render", body))))
        };
        body::read(&request, payload, &state, reader).await?
    };
    let job = match earlier(&state, caller.0, idempotency).await? {
        Some(job) => job,
        None => wanted.create(&state, caller.0, true, (idempotency, RequestId::text(&request))).await?,
    };
    tracing::Span::current().record("job.id", tracing::field::display(job.borrow().id));
    let (is_async, longest_s) = preferred_wait(&request, &state);
    let view = wait::until_done_through_shutdown(&state, job, Duration::from_secs(longest_s)).await?;
    if is_async && !view.is_done() {
        let mut answer = start::accepted(&view);
        answer.insert_header((prefer::APPLIED, "respond-async"));
        return Ok(answer.json(view::job(&state, &view)));
    }
    refuse_without_document(&view, &state)?;
    if !accept::wants_document(&request, view.target) {
        return Ok(HttpResponse::Ok().json(view::immediate(&state, &view)));
    }
    let (mut answer, content) = download::document(&state, &view).await?;
    answer.insert_header((JOB_ID, view.id.to_string()));
    answer.insert_header((unknown::HEADER, view.warnings.count()));
    Ok(answer.body(content))
}

/// `Prefer: respond-async`, and the seconds of `wait`.
fn preferred_wait(request: &HttpRequest, state: &HttpState) -> (bool, u64) {
    let longest_s = state.config.http.wait_default_s;
    if prefer::is_async(request) {
        (true, prefer::wait(request).unwrap_or(0).min(longest_s))
    } else {
        (false, longest_s)
    }
}

/// The job of an earlier request with the same idempotency key. Looked up before template and delivery URL are checked: they
/// may have changed since and must not refuse a job that exists, and a URL would cost a DNS query.
async fn earlier(
    state: &HttpState,
    account: AccountId,
    idempotency: Option<Idempotency>,
) -> Result<Option<watch::Receiver<JobView>>, Problem> {
    match idempotency {
        Some(idempotency) => {
            actors::ask(state, account, &state.jobs, FindRepeat { account, idempotency }).await
        }
        None => Ok(None),
    }
}

/// What a body says, but for the files of a form.
pub(in crate::http) struct ImmediateMembers<'a> {
    job: JobRequest,
    template: Option<String>,
    data: Option<&'a str>,
    delivery: Option<String>,
}

pub(in crate::http) fn read_members<'a>(
    sent: &mut Members<'a>,
    context: BodyContext<'_>,
) -> ImmediateMembers<'a> {
    ImmediateMembers {
        job: JobRequest::read(sent, context),
        template: sent.text(("template", "The template's text. Exactly one of `template` and `templateId`.")),
        data: read_data(sent),
        delivery: read_delivery(sent),
    }
}

fn read(body: &Body, state: &HttpState) -> Result<RenderRequest, Problem> {
    let mut members = body.members()?;
    let ImmediateMembers { job, template, data, delivery } = read_members(&mut members, state.body_context());
    let template = template.map(|text| encoding::with_bom_if_misleading(text.into()));
    check_template(&mut members, &job, SentTemplate::text(template.as_ref()));
    let data = data.map(|data| body.share(data));
    RenderRequest::new(members, job, (template, data, delivery), state)
}

fn of_form(
    form: Form,
    key: Option<Key>,
    state: &HttpState,
) -> Result<(RenderRequest, Option<Idempotency>), Problem> {
    let form = form.read(state.config.http.json_depth_limit)?;
    let parts = [Some(&form.members), form.template.as_ref(), form.data.as_ref()];
    let parts = parts.map(|part| part.map_or(&[][..], |part| &part[..]));
    let idempotency = key.map(|key| key.of_parts("immediate-render", &parts));
    let body = Body::from_valid_json(form.members);
    let mut members = body.members()?;
    members.add_faults(form.errors);
    let ImmediateMembers { job, delivery, .. } = read_members(&mut members, state.body_context());
    let sent = if form.has_files { SentTemplate::Files } else { SentTemplate::text(form.template.as_ref()) };
    check_template(&mut members, &job, sent);
    let data = form.data.map(encoding::without_bom).filter(|data| !is_no_data(data));
    if let Some(data) = &data {
        body::check_json(data, "part 'data'", state.config.http.json_depth_limit)?;
        if !data.trim_ascii_start().starts_with(b"{") {
            members.fault("data", "must be an object");
        }
    }
    Ok((RenderRequest::new(members, job, (form.template, data, delivery), state)?, idempotency))
}

/// How the template was sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SentTemplate {
    Nothing,
    Text,
    Files,
}

impl SentTemplate {
    fn text(text: Option<&Bytes>) -> Self {
        if text.is_some() { Self::Text } else { Self::Nothing }
    }
}

/// Exactly one of `template`, files and `templateId`, and no office file as text.
fn check_template(members: &mut Members<'_>, job: &JobRequest, sent: SentTemplate) {
    match (sent != SentTemplate::Nothing, job.template_id.is_some()) {
        (true, true) => members.fault("template", "and templateId cannot both be given; leave one out"),
        (false, false) if !members.has_fault("template") && !members.has_fault("templateId") => {
            members.fault("template", "is required: the template's text, or templateId in its place");
        }
        _ => {}
    }
    let office = job.kind.filter(|kind| kind.is_office());
    if let Some(kind) = office.filter(|_| sent == SentTemplate::Text) {
        let detail = format!(
            "is text, and a template of the type {} is a file; send it as a file of a form, or create the job with \
             /documents/init and upload it",
            kind.name()
        );
        members.fault("template", detail);
    }
}

/// Refuses a job that made no document, or none yet.
///
/// # Errors
/// `render_pending`, `render_failed`.
pub(in crate::http) fn refuse_without_document(view: &JobView, state: &HttpState) -> Result<(), Problem> {
    if !view.is_done() {
        let (id, longest_s) = (view.id, state.config.http.wait_default_s);
        let detail = if state.stopping.is_cancelled() {
            format!("The service is stopping; the job goes on when it is back, ask GET /v1/jobs/{id} then.")
        } else {
            format!(
                "The document was not done in {longest_s} seconds (http.wait_default_s); the job goes on, ask GET \
                 /v1/jobs/{id}."
            )
        };
        return Err(Problem::new(Code::RenderPending, detail).with("jobId", view.id));
    }
    let Some(error) = &view.error else { return Ok(()) };
    Err(Problem::new(Code::RenderFailed, error.message.clone())
        .with("jobId", view.id)
        .with("errorCode", error.code.name()))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use actix_web::http::Method;
    use actix_web::test::TestRequest;
    use async_trait::async_trait;

    use super::*;
    use crate::domain::ids::JobId;
    use crate::http::testing::{TOKEN, TestServer};
    use crate::outbound::{Outbound, Resolve};

    #[actix_web::test]
    async fn exactly_one_template_is_wanted_and_no_office_file_as_text() {
        let server = TestServer::new().await;
        let read = |more: &str| {
            read(&Body::from_valid_json(format!(r#"{{"target":"pdf",{more}}}"#).into()), &server.state)
        };
        for (more, error) in [
            (r#""type":"html""#, "/template: is required"),
            (r#""type":"html","template":"","templateId":null"#, "/template: is required"),
            (r#""type":"html","template":"x","templateId":"y""#, "/template: and templateId cannot both"),
            (
                r#""type":"docx","template":"x""#,
                "/template: is text, and a template of the type docx is a file",
            ),
            (r#""type":"html","template":{}"#, "/template: must be a string, not an object"),
        ] {
            let refused = read(more).err().unwrap();
            assert!(refused.detail.starts_with(error) && refused.errors.len() == 1, "{refused}");
        }
        for data in ["", r#","data":null"#, r#","data":[]"#] {
            assert!(
                read(&format!(r#""type":"html","template":"x","templateId":""{data}"#)).is_ok(),
                "{data}"
            );
        }
    }

    /// Resolves every name to a public address and counts the queries.
    #[derive(Default)]
    struct CountingResolver(AtomicUsize);

    #[async_trait]
    impl Resolve for CountingResolver {
        async fn resolve(&self, _: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(vec![SocketAddr::from(([1, 1, 1, 1], port))])
        }
    }

    /// The job registry of the server has stopped, so a request that asks it first gets no further.
    #[actix_web::test]
    async fn a_delivery_url_is_resolved_after_the_job_of_the_key_or_the_started_job_is_found() {
        let mut server = TestServer::new().await;
        let resolver = Arc::new(CountingResolver::default());
        let config = server.state.config.outbound.clone();
        server.state.outbound = Outbound::new(config, &[], Arc::clone(&resolver) as Arc<dyn Resolve>);
        let body = r#"{"type":"html","target":"pdf","template":"x",
            "uploadPresignedStorageUrl":"https://bucket.example/key"}"#;
        let render = format!("/v1/documents/{}/render", JobId::generate());
        let immediate = "/v1/documents/immediate-render";
        for (path, key, queries) in [(immediate, "one", 0), (&render, "", 0), (immediate, "", 1)] {
            let request = TestRequest::default()
                .method(Method::POST)
                .uri(path)
                .insert_header(("authorization", format!("Bearer {TOKEN}")))
                .insert_header(("idempotency-key", key))
                .set_payload(body);
            assert_eq!(server.send(request).await.status(), 503);
            assert_eq!(resolver.0.load(Ordering::SeqCst), queries, "{path} {key}");
        }
    }
}
