//! The outermost middleware: request id, span, metrics, and the full answer to an error.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderValue;
use actix_web::http::{ConnectionType, Method};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage as _};
use bytes::Bytes;
use tracing::Instrument;
use tracing::field::Empty;

use super::access_log::AccessLine;
use super::unread_body::{self, UnreadBody};
use crate::http::connections;
use crate::http::problem::{self, ProblemResponse};
use crate::http::request_id::{REQUEST_ID, RequestId};
use crate::http::state::HttpState;
use crate::telemetry::{HttpMetrics, Label};

/// The outermost layer. The span names the route, not path or query: the signature of a presigned URL must not reach the log.
pub(in crate::http) async fn surround<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let id = RequestId::of(request.headers());
    let span = tracing::info_span!(
        "request", http.request_id = %id, http.method = %request.method(), http.route = Empty,
        http.status = Empty, account.id = Empty, job.id = Empty,
        template.id = Empty
    );
    connections::count_for_client(&request);
    let meter = RequestMeter::begin(&request);
    let mut line = AccessLine::begin(&request, &id);
    let unread = unread_body::hold(&mut request);
    let is_put = request.method() == Method::PUT;
    request.extensions_mut().insert(id.clone());
    let handled = next.call(request).instrument(span.clone()).await?.map_into_boxed_body();
    let _entered = span.enter();
    span.record("http.route", handled.request().match_pattern());
    let mut response = answer_failure(handled, &meter, &id);
    if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    if is_put {
        // See `connection.rs`.
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    span.record("http.status", response.status().as_u16());
    meter.answered(&response);
    tracing::debug!("answered");
    if let Some(line) = &mut line {
        line.answered(&response);
    }
    Ok(response.map_body(|_, body| BoxBody::new(ResponseBody { body, _unread: unread, line })))
}

/// The body of an answer, with what is kept until that has been sent.
struct ResponseBody {
    body: BoxBody,
    _unread: Option<UnreadBody>,
    line: Option<AccessLine>,
}

impl MessageBody for ResponseBody {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let polled = Pin::new(&mut self.body).poll_next(context);
        match (&polled, &mut self.line) {
            (Poll::Ready(Some(Ok(chunk))), Some(line)) => line.bytes += chunk.len() as u64,
            (Poll::Ready(None), Some(line)) => line.ended = true,
            _ => {}
        }
        polled
    }
}

fn answer_failure(handled: ServiceResponse, meter: &RequestMeter, id: &RequestId) -> ServiceResponse {
    let Some(error) = handled.response().error() else { return handled };
    let failure = match error.as_error::<ProblemResponse>() {
        Some(failure) => failure,
        None => &problem::of_framework(error),
    };
    if let Some(metrics) = &meter.metrics {
        metrics.problem(failure.code());
    }
    let answer = failure.answer(id);
    handled.into_response(answer)
}

/// Counts one request when its answer has gone.
struct RequestMeter {
    metrics: Option<HttpMetrics>,
    method: &'static str,
    since: Instant,
}

impl RequestMeter {
    fn begin(request: &ServiceRequest) -> Self {
        let state = request.app_data::<Data<HttpState>>();
        let metrics = state.map(|state| state.metrics.http.clone());
        Self { metrics, method: method_label(request.method()), since: Instant::now() }
    }

    /// Labelled by the pattern of the route: labels from real paths would be unbounded.
    fn answered(&self, response: &ServiceResponse) {
        let Some(metrics) = &self.metrics else { return };
        let route = response.request().match_pattern().map_or(Label::Borrowed("none"), |pattern| {
            Label::Owned(pattern.strip_prefix("/v1").unwrap_or(&pattern).to_owned())
        });
        metrics.answered(self.method, route, response.status().as_u16(), self.since.elapsed());
    }
}

/// The label of a method. Callers may invent methods, and labels must be bounded.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
