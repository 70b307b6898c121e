//! `POST /documents/immediate-render`: init, start and wait in one call; answers where the document is, or the document
//! itself, or (`Prefer: respond-async`) the job.

use std::time::Duration;

use actix_web::http::header::HeaderName;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use tokio::sync::watch;

use super::form::Form;
use super::idempotency::Key;
use super::job_request::{JobRequest, RenderRequest, read_delivery};
use super::view::{ImmediateBody, JobBody};
use super::{accept, form, idempotency, prefer, start, view, wait};
use crate::domain::encoding;
use crate::domain::ids::AccountId;
use crate::domain::json;
use crate::domain::members::Members;
use crate::http::actors;
use crate::http::body;
use crate::http::body::Body;
use crate::http::middleware::auth::Caller;
use crate::http::objects::download;
use crate::http::openapi::{ImmediateForm, ImmediateRequest};
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::jobs::messages::{FindRepeat, Idempotency};
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};

/// Headers beside a document: the job's id and its number of warnings.
const JOB_ID: HeaderName = HeaderName::from_static("x-job-id");
const WARNINGS: HeaderName = HeaderName::from_static("x-warnings");

/// Create, start and wait in one call.
#[utoipa::path(
    post, path = "/documents/immediate-render", operation_id = "immediateRender", tag = "documents",
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "The same key means the same job, for a day"),
        ("Accept" = Option<String>, Header, description = "The target's media type: the document itself is answered"),
        ("Prefer" = Option<String>, Header, description = "`respond-async`: the job is answered, without waiting for it"),
    ),
    request_body(content((ImmediateRequest = "application/json"), (ImmediateForm = "multipart/form-data"))),
    responses(
        (
            status = 200, description = "The document is there: where it is, or (by `Accept`) itself, with `X-Job-Id` and the number \
            of warnings in `X-Warnings`",
            content(
                (ImmediateBody = "application/json"), ("application/pdf"), ("image/png"), ("image/jpeg"), ("text/html"),
                ("application/zip"),
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
        body::by_size(form.bytes(), &state, move |state| of_form(form, key, state)).await?
    } else {
        let reader = move |body: &Body, state: &HttpState| {
            Ok((read(body, state)?, key.map(|key| key.of("immediate-render", body))))
        };
        body::read(&request, payload, &state, reader).await?
    };
    let job = match earlier(&state, caller.0, idempotency).await? {
        Some(job) => job,
        None => wanted.create(&state, caller.0, true, idempotency).await?,
    };
    tracing::Span::current().record("job.id", tracing::field::display(job.borrow().id));
    let (is_async, longest_s) = patience(&request, &state);
    let view = wait::until_made(&state, job, Duration::from_secs(longest_s)).await?;
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
    answer.insert_header((WARNINGS, view.warnings.count()));
    Ok(answer.body(content))
}

/// `Prefer: respond-async`, and the seconds of `wait`.
fn patience(request: &HttpRequest, state: &HttpState) -> (bool, u64) {
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
            actors::ask(state, &state.jobs.repeat, FindRepeat { account, idempotency }).await
        }
        None => Ok(None),
    }
}

fn read(body: &Body, state: &HttpState) -> Result<RenderRequest, Problem> {
    let mut members = body.members()?;
    let job = JobRequest::read(&mut members, state);
    let template = members.text("template").map(|text| encoding::marked(text.into()));
    check_template(&mut members, &job, TemplatePart::text(template.as_ref()));
    let data = members.object("data").map(|data| body.share(data));
    let delivery = read_delivery(&mut members);
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
    let body = Body::made(form.members);
    let mut members = body.members()?;
    members.take_over(form.faults);
    let job = JobRequest::read(&mut members, state);
    let sent = if form.has_files { TemplatePart::Files } else { TemplatePart::text(form.template.as_ref()) };
    check_template(&mut members, &job, sent);
    let data = form.data.map(encoding::unmarked).filter(|data| !is_no_data(data));
    if let Some(data) = &data {
        let depth = usize::try_from(state.config.http.json_depth_limit).unwrap_or(usize::MAX);
        json::check(data, depth).map_err(|fault| {
            Problem::new(Code::MalformedJson, format!("The part 'data' is not valid JSON at {fault}."))
        })?;
        if !data.trim_ascii_start().starts_with(b"{") {
            members.fault("data", "must be an object");
        }
    }
    let delivery = read_delivery(&mut members);
    Ok((RenderRequest::new(members, job, (form.template, data, delivery), state)?, idempotency))
}

/// The data of a form part: what counts as absent in a JSON body counts as absent here.
fn is_no_data(data: &Bytes) -> bool {
    matches!(data.trim_ascii(), b"" | b"null" | b"[]")
}

/// How the template was sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TemplatePart {
    Nothing,
    Text,
    Files,
}

impl TemplatePart {
    fn text(text: Option<&Bytes>) -> Self {
        if text.is_some() { Self::Text } else { Self::Nothing }
    }
}

/// Exactly one of `template`, files and `templateId`, and no office file as text.
fn check_template(members: &mut Members<'_>, job: &JobRequest, sent: TemplatePart) {
    match (sent != TemplatePart::Nothing, job.template_id.is_some()) {
        (true, true) => members.fault("template", "and templateId cannot both be given; leave one out"),
        (false, false) if !members.is_faulty("template") && !members.is_faulty("templateId") => {
            members.fault("template", "is required: the template's text, or templateId in its place");
        }
        _ => {}
    }
    let office = job.kind().filter(|kind| kind.is_office());
    if let Some(kind) = office.filter(|_| sent == TemplatePart::Text) {
        let detail = format!(
            "is text, and a template of the type {} is a file; send it as a file of a form, or create the job with \
             /documents/init and upload it",
            kind.name()
        );
        members.fault("template", detail);
    }
}

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
    let Some(fault) = &view.fault else { return Ok(()) };
    Err(Problem::new(Code::RenderFailed, fault.message.clone())
        .with("jobId", view.id)
        .with("errorCode", fault.code.name()))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use actix_web::http::{Method, StatusCode};
    use actix_web::test::TestRequest;
    use async_trait::async_trait;

    use crate::http::testing::{Outcome, TOKEN, TestServer, faults, read};
    use crate::outbound::{Outbound, Resolve};

    const PATH: &str = "/v1/documents/immediate-render";
    const BODY: &str = r#"{"type":"ejs","target":"pdf","template":"<p>\u00e4 <%= x %>","data":{"x":1}}"#;

    #[actix_web::test]
    async fn a_document_is_answered_as_its_address() {
        let server = TestServer::new().await;
        let (status, body) = server.post(PATH, BODY).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(body["output"]["data"]["url"], body["url"]);
        assert_eq!((body["jobId"].as_str().unwrap().len(), &body["warnings"]), (36, &serde_json::json!([])));
        assert!(server.local(&body["url"]).starts_with("/v1/objects/outputs/"));
        let init = server.jobs.lock().unwrap().inits.pop().unwrap();
        assert!(init.start);
        assert_eq!(init.template.as_deref(), Some("<p>ä <%= x %>".as_bytes()));
        assert_eq!(init.data.as_deref(), Some(r#"{"x":1}"#.as_bytes()));
    }

    #[actix_web::test]
    async fn data_may_be_left_out() {
        let server = TestServer::new().await;
        for data in ["", r#","data":null"#, r#","data":[]"#] {
            let body = format!(r#"{{"type":"html","target":"pdf","template":"x","templateId":""{data}}}"#);
            assert_eq!(server.post(PATH, &body).await.0, StatusCode::OK, "{data}");
        }
    }

    #[actix_web::test]
    async fn exactly_one_template_is_wanted_and_no_office_file_as_text() {
        let server = TestServer::new().await;
        for (more, fault) in [
            (r#""type":"html""#, "/template is required"),
            (r#""type":"html","template":"","templateId":null"#, "/template is required"),
            (r#""type":"html","template":"x","templateId":"y""#, "/template and templateId cannot both"),
            (
                r#""type":"docx","template":"x""#,
                "/template is text, and a template of the type docx is a file",
            ),
            (r#""type":"html","template":{}"#, "/template must be a string, not an object"),
        ] {
            let (status, body) = server.post(PATH, &format!(r#"{{"target":"pdf",{more}}}"#)).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{more}");
            assert_eq!(faults(&body).len(), 1, "{body}");
            assert!(faults(&body)[0].starts_with(fault), "{body}");
        }
        let named = r#"{"type":"html","target":"pdf","templateId":"0190a0a0-0000-7000-8000-000000000000"}"#;
        let (status, body) = server.post(PATH, named).await;
        assert_eq!((status, body["code"].as_str()), (StatusCode::NOT_FOUND, Some("template_not_found")));
        let delivered = BODY.replace("\"data\"", r#""uploadPresignedS3Url":"https://10.0.0.1/","data""#);
        let (status, body) = server.post(PATH, &delivered).await;
        assert_eq!((status.as_u16(), body["code"].as_str()), (422, Some("delivery_address_refused")));
        assert!(server.jobs.lock().unwrap().inits.is_empty());
    }

    /// Resolves every name to a public address and counts the queries.
    #[derive(Default)]
    struct Asked(AtomicUsize);

    #[async_trait]
    impl Resolve for Asked {
        async fn resolve(&self, _: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(vec![SocketAddr::from(([1, 1, 1, 1], port))])
        }
    }

    #[actix_web::test]
    async fn a_repeat_is_answered_before_its_address_is_looked_at() {
        let mut server = TestServer::new().await;
        let asked = Arc::new(Asked::default());
        let config = server.state.config.outbound.clone();
        server.state.outbound = Outbound::new(config, &[], Arc::clone(&asked) as Arc<dyn Resolve>);
        let body =
            BODY.replace("\"data\"", r#""uploadPresignedStorageUrl":"https://bucket.example/key","data""#);
        let mut urls = Vec::new();
        for key in ["one", "one", "two"] {
            let request = TestRequest::default()
                .method(Method::POST)
                .uri(PATH)
                .insert_header(("authorization", format!("Bearer {TOKEN}")))
                .insert_header(("idempotency-key", key))
                .set_payload(body.clone());
            let (status, answer) = read(server.send(request).await).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
            urls.push(answer["url"].as_str().unwrap().to_owned());
        }
        assert_eq!(urls[0], urls[1]);
        assert_ne!(urls[0], urls[2]);
        assert_eq!(asked.0.load(Ordering::SeqCst), 2, "once for each job");
    }

    #[actix_web::test]
    async fn a_failed_render_names_the_job_and_its_error() {
        let server = TestServer::new().await;
        server.jobs.lock().unwrap().outcome = Outcome::Fault;
        let (status, body) = server.post(PATH, BODY).await;
        assert_eq!(
            (status, body["code"].as_str()),
            (StatusCode::UNPROCESSABLE_ENTITY, Some("render_failed"))
        );
        assert_eq!(body["detail"], "index.html:1: 'x' is not defined");
        assert_eq!(body["errorCode"], "template_error");
        assert_eq!(body["jobId"].as_str().unwrap().len(), 36);
    }

    #[actix_web::test]
    async fn a_render_that_takes_longer_names_the_job_that_goes_on() {
        tokio::time::pause();
        let server = TestServer::new().await;
        server.jobs.lock().unwrap().outcome = Outcome::StaysRunning;
        let start = tokio::time::Instant::now();
        let (status, body) = server.post(PATH, BODY).await;
        assert_eq!(
            (status, body["code"].as_str()),
            (StatusCode::UNPROCESSABLE_ENTITY, Some("render_pending"))
        );
        assert!(body["detail"].as_str().unwrap().contains(body["jobId"].as_str().unwrap()));
        assert_eq!(start.elapsed().as_secs(), 25);
    }
}
