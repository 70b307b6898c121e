//! `POST /documents/init`: creates a job and answers presigned URLs for its inputs.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use json_members::Members;
use serde::Serialize;
use utoipa::ToSchema;

use super::idempotency;
use super::job_request::{JobRequest, RenderRequest};
use crate::http::actors;
use crate::http::body::members::{BodyContext, read_data};
use crate::http::body::{self, Body};
use crate::http::middleware::auth::Caller;
use crate::http::objects::presigned_url;
use crate::http::problem::HandlerResult;
use crate::http::request_id::RequestId;
use crate::http::schema::{InitRequest, TargetName};
use crate::http::state::HttpState;
use crate::jobs::messages::InputPart;
use crate::problem::Problem;

/// What init answers; an address is null iff the input came with the request.
#[derive(Serialize, ToSchema)]
#[schema(as = NewJob)]
#[serde(rename_all = "camelCase")]
struct InitBody {
    job_id: String,
    #[schema(inline, value_type = TargetName)]
    target: &'static str,
    #[schema(required = true)]
    presigned_data_upload_url: Option<String>,
    #[schema(required = true)]
    presigned_template_upload_url: Option<String>,
    /// What is to be told of the request, such as members that nobody reads. These are the warnings of the job.
    warnings: Vec<String>,
}

/// Create a job and get the addresses for what it works on.
#[utoipa::path(
    post, path = "/documents/init", operation_id = "initDocument", tag = "documents",
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key means the same job, for a day")),
    request_body = InitRequest,
    responses((status = 200, description = "The job is there, and waits for its start", body = InitBody)),
)]
pub(super) async fn init(
    caller: Caller,
    state: Data<HttpState>,
    request: HttpRequest,
    payload: Payload,
) -> HandlerResult {
    actors::admit(&state)?;
    let key = idempotency::read_key(&request, &state)?;
    let reader =
        move |body: &Body, state: &HttpState| Ok((read(body, state)?, key.map(|key| key.of("init", body))));
    let (wanted, idempotency) = body::read(&request, payload, &state, reader).await?;
    let (target, named) = (wanted.spec.target, wanted.spec.template.is_some());
    let has_data = wanted.data.is_some();
    let job = wanted.create(&state, caller.0, false, (idempotency, RequestId::text(&request))).await?;
    let (job_id, warnings) = (job.borrow().id, job.borrow().warnings.lines());
    tracing::Span::current().record("job.id", tracing::field::display(job_id));
    let upload = |part| presigned_url::for_upload(&state, caller.0, job_id, part).url;
    Ok(HttpResponse::Ok().json(InitBody {
        job_id: job_id.to_string(),
        target: target.name(),
        presigned_data_upload_url: (!has_data).then(|| upload(InputPart::Data)),
        presigned_template_upload_url: (!named).then(|| upload(InputPart::Template)),
        warnings,
    }))
}

/// What a body of init says.
pub(in crate::http) fn read_members<'a>(
    sent: &mut Members<'a>,
    context: BodyContext<'_>,
) -> (JobRequest, Option<&'a str>) {
    (JobRequest::read(sent, context), read_data(sent))
}

fn read(body: &Body, state: &HttpState) -> Result<RenderRequest, Problem> {
    let mut members = body.members()?;
    let (job, data) = read_members(&mut members, state.body_context());
    let data = data.map(|data| body.share(data));
    RenderRequest::new(members, job, (None, data, None), state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::testing::TestServer;
    use crate::problem::Code;

    #[actix_web::test]
    async fn an_impossible_job_is_refused_before_the_registry_is_asked() {
        let server = TestServer::new().await;
        for (body, code) in [
            ("[1]", Code::MalformedJson),
            ("7", Code::MalformedJson),
            ("[]", Code::ValidationFailed),
            (r#"{"type":"html","target":"pdf","templateId":"x"}"#, Code::TemplateNotFound),
            (r#"{"type":"latex","target":"xlsx"}"#, Code::UnsupportedConversion),
        ] {
            let refused = read(&Body::from_valid_json(body.into()), &server.state).err().unwrap();
            assert_eq!(refused.code, code, "{body}: {refused}");
        }
    }

    #[actix_web::test]
    async fn format_opts_are_kept_as_sent_and_bounded() {
        let server = TestServer::with(|config| config.jobs.format_opts_limit_bytes = 256).await;
        let read = |opts: &str| {
            let body = format!(r#"{{"type":"html","target":"pdf","formatOpts":{opts}}}"#);
            read(&Body::from_valid_json(body.into()), &server.state).map(|wanted| wanted.spec.format_opts)
        };
        let opts = r#"{"toPage": 2.0, "anything": [1]}"#;
        assert_eq!(read(opts).unwrap().unwrap().get(), opts);
        let long = read(&format!(r#"{{"x":"{}"}}"#, "x".repeat(300))).unwrap_err();
        assert!(long.detail.starts_with("/formatOpts: is larger than 256 bytes"), "{long}");
        for none in ["null", "[]", "\"\"", "{}"] {
            assert!(read(none).is_ok(), "{none}");
        }
    }
}
