//! `POST /documents/init`: creates a job and answers presigned URLs for its inputs.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::ToSchema;

use super::idempotency;
use super::job_request::{JobRequest, RenderRequest};
use crate::http::actors;
use crate::http::body;
use crate::http::body::Body;
use crate::http::middleware::auth::Caller;
use crate::http::objects::presigned_url;
use crate::http::openapi::{InitRequest, TargetName};
use crate::http::problem::HandlerResult;
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
    let job = wanted.create(&state, caller.0, false, idempotency).await?;
    let job_id = job.borrow().id;
    tracing::Span::current().record("job.id", tracing::field::display(job_id));
    let upload = |part| presigned_url::for_upload(&state, caller.0, job_id, part).url;
    Ok(HttpResponse::Ok().json(InitBody {
        job_id: job_id.to_string(),
        target: target.name(),
        presigned_data_upload_url: (!has_data).then(|| upload(InputPart::Data)),
        presigned_template_upload_url: (!named).then(|| upload(InputPart::Template)),
    }))
}

fn read(body: &Body, state: &HttpState) -> Result<RenderRequest, Problem> {
    let mut members = body.members()?;
    let job = JobRequest::read(&mut members, state);
    let data = members.object("data").map(|data| body.share(data));
    RenderRequest::new(members, job, (None, data, None), state)
}

#[cfg(test)]
mod tests {
    use actix_web::http::{Method, StatusCode};
    use serde_json::Value;

    use crate::http::testing::{TestServer, faults};

    const PATH: &str = "/v1/documents/init";

    async fn refused(body: &str) -> (u16, String, Value) {
        let server = TestServer::new().await;
        let (status, answer) = server.post(PATH, body).await;
        assert!(server.jobs.lock().unwrap().inits.is_empty(), "nothing may be created: {body}");
        (status.as_u16(), answer["code"].as_str().unwrap().to_owned(), answer)
    }

    #[actix_web::test]
    async fn a_job_is_created_with_both_addresses() {
        let server = TestServer::new().await;
        let (status, body) = server.post(PATH, r#"{"type":"react","target":"pdf"}"#).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(body["target"], "pdf");
        let job = body["jobId"].as_str().unwrap();
        for (member, name) in
            [("presignedDataUploadUrl", "data.json"), ("presignedTemplateUploadUrl", "template")]
        {
            let place = format!("https://render.example/v1/objects/jobs/{}/{job}/{name}?", server.account);
            assert!(body[member].as_str().unwrap().starts_with(&place), "{body}");
        }
        assert_eq!(server.jobs.lock().unwrap().inits[0].spec.kind.name(), "framework");
    }

    #[actix_web::test]
    async fn the_data_address_is_null_iff_data_was_sent() {
        let server = TestServer::new().await;
        for (data, sent) in [
            (r#"{"b": 1.50, "a": "ü"}"#, Some(r#"{"b": 1.50, "a": "ü"}"#)),
            ("{}", Some("{}")),
            ("[]", Some("{}")),
            ("null", None),
        ] {
            let body = format!(r#"{{"type":"html","target":"png","templateId":"","data":{data}}}"#);
            let (status, answer) = server.post(PATH, &body).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
            assert!(answer.as_object().unwrap().contains_key("presignedDataUploadUrl"));
            assert_eq!(answer["presignedDataUploadUrl"].is_null(), sent.is_some(), "{data}");
            assert!(answer["presignedTemplateUploadUrl"].is_string());
            let kept = server.jobs.lock().unwrap().inits.pop().unwrap().data;
            assert_eq!(kept.as_deref(), sent.map(str::as_bytes), "the bytes as received");
        }
    }

    #[actix_web::test]
    async fn every_fault_is_named_at_once() {
        let body = r#"{"type":"htm","data":7,"templateId":true,
            "formatOpts":{"scale":9,"fromPage":0,"zoom":1}}"#;
        let (status, code, answer) = refused(body).await;
        assert_eq!((status, code.as_str()), (422, "validation_failed"));
        assert_eq!(
            faults(&answer),
            [
                "/type 'htm' is not known; give one of framework, latex, html, ejs, pptx, xlsx, docx",
                "/target is required",
                "/templateId must be a string, not a boolean",
                "/formatOpts/scale 9 is out of range; give a number from 0.1 to 2",
                "/formatOpts/fromPage 0 is out of range; give a number from 1 to 4294967295",
                "/data must be an object, not a number",
            ]
        );
    }

    #[actix_web::test]
    async fn what_cannot_be_done_is_refused_before_anything_is_stored() {
        let pair = r#""type":"html","target":"pdf""#;
        for (body, status, code) in [
            (r#"{"type":"latex","target":"xlsx"}"#.to_owned(), 422, "unsupported_conversion"),
            (r#"{"type":"html","target":"xlsx"}"#.to_owned(), 422, "unsupported_conversion"),
            (format!(r#"{{{pair},"templateId":"x"}}"#), 404, "template_not_found"),
            (
                format!(r#"{{{pair},"templateId":"0190a0a0-0000-7000-8000-000000000000"}}"#),
                404,
                "template_not_found",
            ),
            (format!("{{{pair}"), 400, "malformed_json"),
            ("[1]".to_owned(), 400, "malformed_json"),
            ("7".to_owned(), 400, "malformed_json"),
            (String::new(), 422, "validation_failed"),
            ("[]".to_owned(), 422, "validation_failed"),
        ] {
            let (found, name, answer) = refused(&body).await;
            assert_eq!((found, name.as_str()), (status, code), "{body}: {answer}");
        }
        let (_, _, answer) = refused(r#"{"type":"html","target":"xlsx"}"#).await;
        assert_eq!(answer["detail"], "'html' cannot become 'xlsx'; it can become jpg, png, pptx, html, pdf.");
    }

    #[actix_web::test]
    async fn format_opts_are_kept_as_sent_and_bounded() {
        let server = TestServer::with(|config| config.jobs.format_opts_limit_bytes = 256).await;
        let opts = r#"{"toPage": 2.0, "anything": [1]}"#;
        let body = format!(r#"{{"type":"html","target":"pdf","formatOpts":{opts}}}"#);
        assert_eq!(server.post(PATH, &body).await.0, StatusCode::OK);
        let kept = server.jobs.lock().unwrap().inits.pop().unwrap().spec.format_opts.unwrap();
        assert_eq!(kept.get(), opts);
        let long = format!(r#"{{"type":"html","target":"pdf","formatOpts":{{"x":"{}"}}}}"#, "x".repeat(300));
        let (status, answer) = server.post(PATH, &long).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(faults(&answer)[0].starts_with("/formatOpts is larger than 256 bytes"));
        for none in ["null", "[]", "\"\"", "{}"] {
            let body = format!(r#"{{"type":"html","target":"pdf","formatOpts":{none}}}"#);
            assert_eq!(server.post(PATH, &body).await.0, StatusCode::OK, "{none}");
        }
    }

    #[actix_web::test]
    async fn a_stopping_service_begins_nothing() {
        let server = TestServer::new().await;
        server.state.stopping.cancel();
        let answer = server.request(Method::POST, PATH, r#"{"type":"html","target":"pdf"}"#).await;
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(answer.headers().contains_key("retry-after"));
        assert!(server.jobs.lock().unwrap().inits.is_empty());
    }
}
