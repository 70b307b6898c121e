//! What surrounds every request: its id, its span, and the full answer to what failed.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::http::{ConnectionType, Method};
use actix_web::middleware::Next;
use actix_web::web::Payload;
use actix_web::{Error, HttpMessage, HttpRequest, HttpResponse};
use bytes::Bytes;
use tracing::Instrument;
use tracing::field::Empty;
use uuid::Uuid;

use super::problem::{self, Failure};
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
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let id = RequestId::generate();
    request.extensions_mut().insert(id);
    let span = tracing::info_span!(
        "request", http.request_id = %id, http.method = %request.method(), http.route = Empty,
        http.status = Empty, account.id = Empty, job.id = Empty
    );
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
    Ok(response)
}

/// After a `PUT` nothing more is read on its connection, see `connection.rs`.
fn close_after(response: &mut HttpResponse<BoxBody>) {
    response.head_mut().set_connection_type(ConnectionType::Close);
}

/// Keeps what is not read of a refused request's body until the answer is sent: the connection is closed
/// then. Dropped before, actix would go on to read a chunked body to its end, however long it is.
pub(super) fn keep_unread(request: &HttpRequest, payload: Payload) {
    request.extensions_mut().insert(Unread(payload));
}

struct Unread(Payload);

fn answer_failure(handled: ServiceResponse, id: RequestId) -> ServiceResponse {
    let Some(error) = handled.response().error() else { return handled };
    let answer = error
        .as_error::<Failure>()
        .map_or_else(|| problem::of_framework(error).answer(id), |failure| failure.answer(id));
    let unread = handled.request().extensions_mut().remove::<Unread>();
    let answered = handled.into_response(answer);
    match unread {
        Some(Unread(payload)) => {
            answered.map_body(|_, body| BoxBody::new(LastBody { body, _unread: payload }))
        }
        None => answered,
    }
}

/// The body of an answer after which the connection ends.
struct LastBody {
    body: BoxBody,
    _unread: Payload,
}

impl MessageBody for LastBody {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_next(context)
    }
}
