//! `POST /documents/immediate-render`: init, start and wait in one call; answers where the document is.

use std::time::Duration;

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use serde::Serialize;
use tokio::sync::watch;
use utoipa::ToSchema;

use super::auth::Caller;
use super::body::Body;
use super::job_request::{JobRequest, admit_delivery, read_delivery};
use super::openapi::ImmediateRequest;
use super::problem::Answer;
use super::state::HttpState;
use super::{body, gate, idempotency, job_request, view, wait};
use crate::domain::encoding;
use crate::domain::ids::AccountId;
use crate::domain::members::Members;
use crate::jobs::messages::{FindRepeat, Idempotency, InitJob, JobSpec};
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};

#[derive(Serialize, ToSchema)]
#[schema(as = Document)]
struct ImmediateBody {
    /// Where the document is, for whoever has the address; it lives for `storage.address_ttl_s`.
    url: String,
}

struct Wanted {
    spec: JobSpec,
    data: Option<Bytes>,
    template: Option<Bytes>,
    delivery: Option<String>,
}

/// Create, start and wait in one call.
#[utoipa::path(
    post, path = "/documents/immediate-render", operation_id = "immediateRender", tag = "documents",
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key means the same job, for a day")),
    request_body = ImmediateRequest,
    responses((status = 200, description = "The document is there", body = ImmediateBody)),
)]
pub(super) async fn render(
    caller: Caller,
    state: Data<HttpState>,
    request: HttpRequest,
    payload: Payload,
) -> Answer {
    gate::admit(&state)?;
    let key = idempotency::read_key(&request, &state)?;
    let reader = move |body: &Body, state: &HttpState| {
        Ok((read(body, state)?, key.map(|key| key.of("immediate-render", body))))
    };
    let (wanted, idempotency) = body::read(&request, payload, &state, reader).await?;
    let job = match earlier(&state, caller.0, idempotency).await? {
        Some(job) => job,
        None => begin(&state, caller.0, wanted, idempotency).await?,
    };
    tracing::Span::current().record("job.id", tracing::field::display(job.borrow().id));
    let longest = Duration::from_secs(state.config.http.wait_default_s);
    let view = wait::until_done(&state, job, longest).await?;
    refuse_without_document(&view, &state)?;
    Ok(HttpResponse::Ok().json(ImmediateBody { url: view::output_url(&state, &view) }))
}

/// The job that the request's key stands for already. It is asked for first: what a template or an address is now
/// decides nothing about a job that is there, and an address costs a question for its name.
async fn earlier(
    state: &HttpState,
    account: AccountId,
    idempotency: Option<Idempotency>,
) -> Result<Option<watch::Receiver<JobView>>, Problem> {
    match idempotency {
        Some(idempotency) => gate::ask(state, &state.jobs.repeat, FindRepeat { account, idempotency }).await,
        None => Ok(None),
    }
}

/// Makes the job, and starts it.
async fn begin(
    state: &HttpState,
    account: AccountId,
    wanted: Wanted,
    idempotency: Option<Idempotency>,
) -> Result<watch::Receiver<JobView>, Problem> {
    let Wanted { spec, data, template, delivery } = wanted;
    let usable = job_request::check_template(state, account, &spec).await;
    let admitted = admit_delivery(state, delivery).await;
    // Of two at the same moment one makes the job, and the other is answered with it.
    let (deliver_to, refusal) = match usable.and(admitted) {
        Ok(deliver_to) => (deliver_to, None),
        Err(refusal) => (None, Some(refusal)),
    };
    let message = InitJob { account, spec, data, template, start: true, deliver_to, refusal, idempotency };
    gate::ask(state, &state.jobs.init, message).await
}

fn read(body: &Body, state: &HttpState) -> Result<Wanted, Problem> {
    let mut members = body.members()?;
    let job = JobRequest::read(&mut members, state);
    let template = members.text("template");
    check_template(&mut members, &job, template.is_some());
    let data = members.object("data").map(|data| body.share(data));
    let delivery = read_delivery(&mut members);
    let faults = members.into_faults();
    if !faults.is_empty() {
        return Err(Problem::validation(faults));
    }
    Ok(Wanted {
        spec: job.spec(state)?,
        data,
        template: template.map(|text| encoding::marked(text.into())),
        delivery,
    })
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
    let office = job.kind().filter(|kind| kind.is_office());
    if let Some(kind) = office.filter(|_| has_text) {
        let detail = format!(
            "is text, and a template of the type {} is a file; create the job with /documents/init and upload it",
            kind.name()
        );
        members.fault("template", detail);
    }
}

/// # Errors
/// `render_pending`, `render_failed`.
pub(super) fn refuse_without_document(view: &JobView, state: &HttpState) -> Result<(), Problem> {
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

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use actix_web::http::{Method, StatusCode};
    use actix_web::test::TestRequest;
    use async_trait::async_trait;

    use crate::http::testing::{Bench, Outcome, TOKEN, faults, read};
    use crate::outbound::{Outbound, Resolve};

    const PATH: &str = "/v1/documents/immediate-render";
    const BODY: &str = r#"{"type":"ejs","target":"pdf","template":"<p>\u00e4 <%= x %>","data":{"x":1}}"#;

    #[actix_web::test]
    async fn a_document_is_answered_as_its_address() {
        let bench = Bench::new().await;
        let (status, body) = bench.post(PATH, BODY).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(body.as_object().unwrap().len(), 1);
        assert!(bench.local(&body["url"]).starts_with("/v1/objects/outputs/"));
        let init = bench.jobs.lock().unwrap().inits.pop().unwrap();
        assert!(init.start);
        assert_eq!(init.template.as_deref(), Some("<p>ä <%= x %>".as_bytes()));
        assert_eq!(init.data.as_deref(), Some(r#"{"x":1}"#.as_bytes()));
    }

    #[actix_web::test]
    async fn data_may_be_left_out() {
        let bench = Bench::new().await;
        for data in ["", r#","data":null"#, r#","data":[]"#] {
            let body = format!(r#"{{"type":"html","target":"pdf","template":"x","templateId":""{data}}}"#);
            assert_eq!(bench.post(PATH, &body).await.0, StatusCode::OK, "{data}");
        }
    }

    #[actix_web::test]
    async fn exactly_one_template_is_wanted_and_no_office_file_as_text() {
        let bench = Bench::new().await;
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
            let (status, body) = bench.post(PATH, &format!(r#"{{"target":"pdf",{more}}}"#)).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{more}");
            assert_eq!(faults(&body).len(), 1, "{body}");
            assert!(faults(&body)[0].starts_with(fault), "{body}");
        }
        let named = r#"{"type":"html","target":"pdf","templateId":"0190a0a0-0000-7000-8000-000000000000"}"#;
        let (status, body) = bench.post(PATH, named).await;
        assert_eq!((status, body["code"].as_str()), (StatusCode::NOT_FOUND, Some("template_not_found")));
        let delivered = BODY.replace("\"data\"", r#""uploadPresignedS3Url":"https://10.0.0.1/","data""#);
        let (status, body) = bench.post(PATH, &delivered).await;
        assert_eq!((status.as_u16(), body["code"].as_str()), (422, Some("delivery_address_refused")));
        assert!(bench.jobs.lock().unwrap().inits.is_empty());
    }

    /// Everything has a public address, and each question is counted.
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
        let mut bench = Bench::new().await;
        let asked = Arc::new(Asked::default());
        let config = bench.state.config.outbound.clone();
        bench.state.outbound = Outbound::new(config, &[], Arc::clone(&asked) as Arc<dyn Resolve>);
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
            let (status, answer) = read(bench.send(request).await).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
            urls.push(answer["url"].as_str().unwrap().to_owned());
        }
        assert_eq!(urls[0], urls[1]);
        assert_ne!(urls[0], urls[2]);
        assert_eq!(asked.0.load(Ordering::SeqCst), 2, "once for each job");
    }

    #[actix_web::test]
    async fn a_failed_render_names_the_job_and_its_error() {
        let bench = Bench::new().await;
        bench.jobs.lock().unwrap().outcome = Outcome::Fault;
        let (status, body) = bench.post(PATH, BODY).await;
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
        let bench = Bench::new().await;
        bench.jobs.lock().unwrap().outcome = Outcome::StaysRunning;
        let start = tokio::time::Instant::now();
        let (status, body) = bench.post(PATH, BODY).await;
        assert_eq!(
            (status, body["code"].as_str()),
            (StatusCode::UNPROCESSABLE_ENTITY, Some("render_pending"))
        );
        assert!(body["detail"].as_str().unwrap().contains(body["jobId"].as_str().unwrap()));
        assert_eq!(start.elapsed().as_secs(), 25);
    }
}
