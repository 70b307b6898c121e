//! A `Problem` as HTTP: `application/problem+json` (RFC 9457), the same shape for every error.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName};
use actix_web::{HttpResponse, ResponseError, web};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::request_id::RequestId;
use crate::problem::{Code, FieldError, Problem};

/// The result of every handler.
pub(super) type HandlerResult = Result<HttpResponse, ProblemResponse>;

/// Why a request failed (RFC 9457).
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProblemBody<'a> {
    /// A path that says what the code means.
    r#type: String,
    /// What it is in a few words, the same for each occurrence.
    title: &'static str,
    status: u16,
    /// What went wrong here, and what helps.
    detail: &'a str,
    /// The request's id, as in `X-Request-Id`.
    instance: String,
    /// The name of the error; it stays the same.
    code: &'static str,
    /// The same as `detail`.
    message: &'a str,
    /// Every error of the body (`validation_failed`).
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<Vec<ErrorBody>>,
    /// Documents used in this period (`quota_exceeded`), or bytes stored (`storage_exceeded`).
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<u64>,
    /// How many there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    /// When the next period begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    renews_at: Option<&'a str>,
    /// The job of an immediate render.
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<&'a str>,
    /// Why the job made no document.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'a str>,
}

/// One error of a body.
#[derive(Serialize, ToSchema)]
#[schema(as = Fault)]
struct ErrorBody {
    /// Where it is: a JSON pointer.
    pointer: String,
    /// What is wrong, and what would be right.
    detail: String,
}

/// A problem on its way to the caller, with headers that belong to it.
#[derive(Debug)]
pub(super) struct ProblemResponse {
    problem: Problem,
    headers: Vec<(HeaderName, String)>,
}

impl ProblemResponse {
    pub(super) fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn code(&self) -> Code {
        self.problem.code
    }

    /// The answer under the request's id. The cause goes to the log here, and nowhere else.
    pub(super) fn answer(&self, id: &RequestId) -> HttpResponse {
        let problem = &self.problem;
        if let Some(cause) = &problem.cause {
            tracing::error!(http.request_id = %id, problem.code = problem.code.name(), cause, "the request failed");
        }
        let mut answer = HttpResponse::build(self.status_code());
        answer.insert_header((header::CONTENT_TYPE, "application/problem+json"));
        if problem.code == Code::Unauthorized {
            answer.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        if let Some(seconds) = problem.retry_after_s {
            answer.insert_header((header::RETRY_AFTER, seconds));
        }
        for (name, value) in &self.headers {
            answer.insert_header((name.clone(), value.as_str()));
        }
        answer.json(body(problem, id))
    }
}

impl From<Problem> for ProblemResponse {
    fn from(problem: Problem) -> Self {
        Self { problem, headers: Vec::new() }
    }
}

impl fmt::Display for ProblemResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(formatter)
    }
}

/// actix asks for a response where the request's id is not known. So this response is empty but carries the error; the
/// outermost layer (`middleware/request.rs`) takes it out and writes the full answer with the id.
impl ResponseError for ProblemResponse {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.problem.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}

/// An error of actix itself as one of our codes.
pub(super) fn of_framework(error: &actix_web::Error) -> ProblemResponse {
    let status = error.as_response_error().status_code();
    let problem = match status.as_u16() {
        404 => Problem::new(Code::RouteNotFound, "There is nothing at this path."),
        413 => Problem::new(Code::PayloadTooLarge, "The body is larger than this endpoint takes."),
        400..=499 => Problem::new(Code::BadRequest, format!("The request cannot be read: {error}")),
        _ => Problem::internal(error),
    };
    problem.into()
}

/// Request id and JSON of an answer to bytes that are no HTTP request.
pub(super) fn for_malformed_request(code: Code, detail: &'static str) -> (RequestId, String) {
    let (id, problem) = (RequestId::generate(), Problem::new(code, detail));
    let json = serde_json::to_string(&body(&problem, &id)).unwrap_or_default();
    (id, json)
}

/// `GET /problems/{code}`: what the `type` of a problem leads to.
pub(super) async fn describe(code: web::Path<String>) -> HandlerResult {
    let Some(found) = Code::ALL.iter().find(|known| known.name() == code.as_str()) else {
        let known: Vec<_> = Code::ALL.iter().map(|known| known.name()).collect();
        let detail = format!("There is no such problem; the codes are {}.", known.join(", "));
        return Err(Problem::new(Code::RouteNotFound, detail).into());
    };
    let text = format!("{} (HTTP {}): {}.\n", found.name(), found.status(), found.title());
    Ok(HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(text))
}

fn body<'a>(problem: &'a Problem, id: &RequestId) -> ProblemBody<'a> {
    let error =
        |error: &'_ FieldError| ErrorBody { pointer: error.pointer.clone(), detail: error.detail.clone() };
    let extra =
        |name: &str| problem.extra.iter().find(|(member, _)| *member == name).map(|(_, value)| &**value);
    ProblemBody {
        r#type: format!("/problems/{}", problem.code.name()),
        title: problem.code.title(),
        status: problem.code.status(),
        detail: &problem.detail,
        instance: id.to_string(),
        code: problem.code.name(),
        message: &problem.detail,
        errors: (!problem.errors.is_empty()).then(|| problem.errors.iter().map(error).collect()),
        used: extra("used").and_then(|used| used.parse().ok()),
        limit: extra("limit").and_then(|limit| limit.parse().ok()),
        renews_at: extra("renewsAt"),
        job_id: extra("jobId"),
        error_code: extra("errorCode"),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::body::to_bytes;
    use serde_json::{Value, json};

    use super::*;

    async fn answered(problem: Problem) -> (HttpResponse<()>, Value) {
        let (head, body) = ProblemResponse::from(problem).answer(&RequestId::generate()).into_parts();
        (head, serde_json::from_slice(&to_bytes(body).await.unwrap()).unwrap())
    }

    #[actix_web::test]
    async fn errors_and_extra_members_are_answered_and_the_cause_is_not() {
        let mut problem =
            Problem::validation(vec![FieldError::new("/a", "is wrong"), FieldError::new("/b", "too")])
                .with("jobId", "7")
                .retry_after(3);
        problem.cause = Some("secret".to_owned());
        let (head, body) = answered(problem).await;
        assert_eq!(head.headers().get("retry-after").unwrap(), "3");
        assert_eq!(body["errors"][1], json!({"pointer": "/b", "detail": "too"}));
        assert_eq!(body["jobId"], "7");
        assert!(!body.to_string().contains("secret"));
    }
}
