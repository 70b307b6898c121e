//! What surrounds every request: its id, its span, and the full answer to what failed.

use std::fmt;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::http::{ConnectionType, Method};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse};
use tracing::Instrument;
use tracing::field::Empty;
use uuid::Uuid;

use super::problem::{self, Failure};
use super::unread;
use crate::clock;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The name of one request: in the answer's `X-Request-Id`, in a problem's `instance`, in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestId(Uuid);

impl RequestId {
    /// A new name.
    pub(super) fn generate() -> Self {
        Self(clock::new_id())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The outermost layer. The span names the route, not the path or the query: addresses that grant
/// something are not for the log.
pub(super) async fn surround<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let id = RequestId::generate();
    let span = tracing::info_span!(
        "request", http.request_id = %id, http.method = %request.method(), http.route = Empty,
        http.status = Empty, account.id = Empty, job.id = Empty
    );
    let held = unread::hold(&mut request);
    let is_put = request.method() == Method::PUT;
    let handled = next.call(request).instrument(span.clone()).await?.map_into_boxed_body();
    let _entered = span.enter();
    span.record("http.route", handled.request().match_pattern());
    let mut response = answer_failure(handled, id);
    if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    if is_put {
        close_after(response.response_mut());
    }
    span.record("http.status", response.status().as_u16());
    tracing::debug!("answered");
    Ok(match held {
        Some(held) => unread::release(held, response),
        None => response,
    })
}

/// After a `PUT` nothing more is read on its connection, see `connection.rs`.
fn close_after(response: &mut HttpResponse<BoxBody>) {
    response.head_mut().set_connection_type(ConnectionType::Close);
}

fn answer_failure(handled: ServiceResponse, id: RequestId) -> ServiceResponse {
    let Some(error) = handled.response().error() else { return handled };
    let answer = error
        .as_error::<Failure>()
        .map_or_else(|| problem::of_framework(error).answer(id), |failure| failure.answer(id));
    handled.into_response(answer)
}
