//! Closes the connection after an answer whose request body was not read to its end.
//!
//! Once a handler drops a chunked body, actix reads and discards the rest to use the connection again: a client whose
//! upload was refused could send for ever. While the body is held actix does not; it closes the connection after the
//! answer. So a chunked body is held until its answer has been sent. (After a body with a declared length actix closes
//! by itself.)

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_web::HttpMessage;
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::PayloadError;
use bytes::Bytes;
use futures_util::Stream;

/// A second handle on a request's body, beside the handler's.
pub(in crate::http) type UnreadBody = Rc<RefCell<Payload>>;

/// Keeps a handle on the request's body if it is chunked; it is to be dropped when the answer has been sent.
pub(in crate::http) fn hold(request: &mut ServiceRequest) -> Option<UnreadBody> {
    if !request.chunked().unwrap_or(true) {
        return None;
    }
    let body = Rc::new(RefCell::new(request.take_payload()));
    let payload = Box::pin(SharedPayload(Rc::clone(&body)));
    request.set_payload(Payload::Stream { payload });
    Some(body)
}

struct SharedPayload(UnreadBody);

impl Stream for SharedPayload {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_next(context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncWriteExt;
    use tokio::time::timeout;

    use crate::http::testing::{TOKEN, TestServer};

    async fn assert_closed_under_a_flood(server: &TestServer, head: &str) {
        let listening = server.serve();
        let head = format!("{head} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n");
        for token in [TOKEN, "wrong"] {
            let head = format!("{head}authorization: Bearer {token}\r\n\r\n");
            let mut stream = listening.send(head.as_bytes()).await;
            let chunk = format!("400\r\n{}\r\n", " ".repeat(1_024));
            let flood = async {
                while stream.write_all(chunk.as_bytes()).await.is_ok() {
                    tokio::task::yield_now().await;
                }
            };
            timeout(Duration::from_secs(20), flood).await.expect("the connection is closed under the flood");
        }
        listening.stop(false).await;
    }

    #[actix_web::test]
    async fn endless_chunks_are_not_read_for_ever() {
        let limits = |config: &mut crate::config::Config| {
            config.http.upload_limit_bytes = 1_024;
            config.http.json_limit_bytes = 1_024;
        };
        let server = TestServer::with(limits).await;
        let upload = format!("PUT {}", server.begin_template().await.1);
        tokio::join!(
            assert_closed_under_a_flood(&server, &upload),
            assert_closed_under_a_flood(&server, "POST /v1/documents/init"),
            assert_closed_under_a_flood(&server, "POST /nowhere"),
        );
    }
}
