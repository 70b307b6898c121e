//! Our own connection to Chromium: calls with a deadline and events by session, over its pipe.
//!
//! The types of the protocol are `headless_chrome`'s; its connection is not used, for one of its calls
//! takes 104 ms, ours 0.2 ms. One task reads, one writes. Hazard: a page may send a million events. None is queued: each is
//! handed to its session's [`EventSink`] where it is read, so that it fills no memory and no event that ends a page is lost.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use headless_chrome::protocol::cdp::types::Method;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::error::CallError;
use super::event::{Event, EventSink};
use super::router::{Ended, Router};
use super::wire::{self, Envelope, Incoming, LongEvent, Request};

/// Texts larger than this are parsed on a thread for work that blocks: a megabyte of JSON takes longer than half a
/// millisecond, in which no other page would be served.
const INLINE_LIMIT_BYTES: usize = 256 << 10;
/// Most calls that are written at once, and most bytes of them.
const JOINED_CALLS: usize = 16;
const JOINED_BYTES: usize = 64 << 10;

/// A connection. Clones share it.
#[derive(Clone)]
pub(in crate::browser) struct Connection {
    shared: Arc<Shared>,
}

/// A call that has been sent. Dropped, its answer is not waited for; the call is done all the same.
#[must_use = "the call is sent; await `answer` or drop it on purpose"]
pub(in crate::browser) struct Sent<M: Method> {
    id: u32,
    answer: oneshot::Receiver<Result<Bytes, Ended>>,
    shared: Weak<Shared>,
    method: std::marker::PhantomData<fn() -> M>,
}

struct Shared {
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    router: Mutex<Router>,
    next_id: AtomicU32,
    closed: CancellationToken,
}

impl Connection {
    /// Reads and writes on two tasks of the present runtime until an end closes.
    pub fn open(
        reader: impl AsyncBufRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (outgoing, queue) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            outgoing,
            router: Mutex::default(),
            next_id: AtomicU32::new(1),
            closed: CancellationToken::new(),
        });
        tokio::spawn(write_all(writer, queue, Arc::clone(&shared)));
        tokio::spawn(read_all(reader, Arc::clone(&shared)));
        Self { shared }
    }

    /// Calls and waits for the answer.
    pub async fn call<M>(
        &self,
        session: Option<&Arc<str>>,
        method: M,
        limit: Duration,
    ) -> Result<M::ReturnObject, CallError>
    where
        M: Method + Serialize,
        M::ReturnObject: Send + 'static,
    {
        self.send(session, &method)?.answer(limit).await
    }

    /// Sends a call at once; several can be sent before the first is answered.
    pub fn send<M>(&self, session: Option<&Arc<str>>, method: &M) -> Result<Sent<M>, CallError>
    where
        M: Method + Serialize,
    {
        let (sent, text) = self.prepare(session, method)?;
        self.queue::<M>(text)?;
        Ok(sent)
    }

    /// Sends a call whose text is large; the text is made on a thread that may take its time.
    pub async fn send_large<M>(&self, session: Option<&Arc<str>>, method: M) -> Result<Sent<M>, CallError>
    where
        M: Method + Serialize + Send + 'static,
    {
        let (connection, session) = (self.clone(), session.cloned());
        let prepare = move || connection.prepare(session.as_ref(), &method);
        let prepared = tokio::task::spawn_blocking(prepare).await;
        let (sent, text) = prepared.map_err(|_| CallError::Closed { method: M::NAME })??;
        self.queue::<M>(text)?;
        Ok(sent)
    }

    /// From now on `sink` receives the events of `session`, until the session ends.
    pub fn listen(&self, session: Arc<str>, sink: &Arc<dyn EventSink>) {
        if !self.shared.router.lock().listen(session, Arc::clone(sink)) {
            sink.closed();
        }
    }

    /// Forgets the sink of `session` and ends the calls that wait in it.
    pub fn forget(&self, session: &str) {
        self.shared.router.lock().forget(session);
    }

    /// Closes both ends of the pipe, at which Chromium ends by itself.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Returns when the connection has ended.
    pub async fn closed(&self) {
        self.shared.closed.cancelled().await;
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.is_cancelled()
    }

    fn prepare<M>(&self, session: Option<&Arc<str>>, method: &M) -> Result<(Sent<M>, Vec<u8>), CallError>
    where
        M: Method + Serialize,
    {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let request = Request { id, method: M::NAME, params: method, session: session.map(AsRef::as_ref) };
        let text = wire::encode(&request)
            .map_err(|error| CallError::Unreadable { method: M::NAME, detail: error.to_string() })?;
        if text.len() > wire::CALL_LIMIT_BYTES {
            let (bytes, limit_bytes) = (text.len(), wire::CALL_LIMIT_BYTES);
            return Err(CallError::TooLong { method: M::NAME, bytes, limit_bytes });
        }
        let (sender, answer) = oneshot::channel();
        if !self.shared.router.lock().expect_answer(id, session.cloned(), sender) {
            return Err(CallError::Closed { method: M::NAME });
        }
        let shared = Arc::downgrade(&self.shared);
        Ok((Sent { id, answer, shared, method: std::marker::PhantomData }, text))
    }

    /// Every caller waits for its answers, so the queue holds a few calls a page.
    fn queue<M: Method>(&self, text: Vec<u8>) -> Result<(), CallError> {
        self.shared.outgoing.send(text).map_err(|_| CallError::Closed { method: M::NAME })
    }
}

impl<M> Sent<M>
where
    M: Method,
    M::ReturnObject: Send + 'static,
{
    /// Waits for the answer.
    pub async fn answer(mut self, limit: Duration) -> Result<M::ReturnObject, CallError> {
        let method = M::NAME;
        let answer = tokio::time::timeout(limit, &mut self.answer)
            .await
            .map_err(|_| CallError::Timeout { method, limit_ms: limit.as_millis() })?;
        match answer {
            Ok(Ok(text)) => parse(method, text).await,
            Ok(Err(Ended::PageGone)) => Err(CallError::PageGone { method }),
            Ok(Err(Ended::Refused(refusal))) => {
                let message = format!("{} ({})", refusal.message, refusal.code);
                Err(CallError::Refused { method, message })
            }
            Ok(Err(Ended::TooLong)) => {
                Err(CallError::Unreadable { method, detail: "it is too long".to_owned() })
            }
            Ok(Err(Ended::Closed)) | Err(_) => Err(CallError::Closed { method }),
        }
    }
}

impl<M: Method> Drop for Sent<M> {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.router.lock().give_up(self.id);
        }
    }
}

impl Shared {
    fn close(&self) {
        let sinks = self.router.lock().close();
        for sink in sinks {
            sink.closed();
        }
        self.closed.cancel();
    }

    fn take(&self, message: &Bytes) {
        let envelope: Envelope<'_> = match serde_json::from_slice(message) {
            Ok(envelope) => envelope,
            Err(error) => {
                tracing::warn!(%error, "a message of the browser cannot be read");
                return;
            }
        };
        if let Some(id) = envelope.id {
            let answer = match (envelope.error, envelope.result) {
                (Some(refusal), _) => Err(Ended::Refused(refusal)),
                (None, Some(result)) => Ok(message.slice_ref(result.get().as_bytes())),
                (None, None) => Ok(Bytes::from_static(b"{}")),
            };
            self.router.lock().answer(id, answer);
        } else if let Some(method) = envelope.method {
            self.dispatch(envelope.session, Event { method, params: envelope.params });
        }
    }

    /// The router is not locked while a sink runs: the sink may send a call, which locks it.
    fn dispatch(&self, session: Option<&str>, event: Event<'_>) {
        // The end of a page's session comes in no session, that of a worker's in the page's.
        if event.method == "Target.detachedFromTarget"
            && let Some(detached) = event.subject()
        {
            self.deliver(session.unwrap_or(&detached), event);
            return self.router.lock().forget(&detached);
        }
        let Some(session) = session else {
            if event.method == "Target.targetCrashed" {
                // It names a page, not a session, and is rare: every sink gets it, and compares.
                let sinks = self.router.lock().sinks();
                for sink in sinks {
                    sink.event(event);
                }
            }
            return;
        };
        self.deliver(session, event);
        if event.method == "Inspector.targetCrashed" {
            self.router.lock().end_session(session);
        }
    }

    fn deliver_long(&self, event: &LongEvent) {
        let sink = event.session().and_then(|session| self.router.lock().sink(session));
        tracing::debug!(
            event.bytes = event.bytes,
            event.is_heard = sink.is_some(),
            "a long event is dropped"
        );
        if let Some(sink) = sink {
            sink.long_event(event);
        }
    }

    fn deliver(&self, session: &str, event: Event<'_>) {
        let sink = self.router.lock().sink(session);
        if let Some(sink) = sink {
            sink.event(event);
        }
    }
}

async fn parse<T>(method: &'static str, text: Bytes) -> Result<T, CallError>
where
    T: DeserializeOwned + Send + 'static,
{
    let parsed = if text.len() > INLINE_LIMIT_BYTES {
        let parsing = tokio::task::spawn_blocking(move || serde_json::from_slice(&text));
        parsing.await.map_err(|_| CallError::Closed { method })?
    } else {
        serde_json::from_slice(&text)
    };
    parsed.map_err(|error| CallError::Unreadable { method, detail: error.to_string() })
}

async fn read_all(mut reader: impl AsyncBufRead + Unpin, shared: Arc<Shared>) {
    loop {
        let incoming = tokio::select! {
            incoming = wire::read_message(&mut reader, wire::LIMITS) => incoming,
            () = shared.closed.cancelled() => return,
        };
        match incoming {
            Ok(Some(Incoming::Message(message))) if message.len() > INLINE_LIMIT_BYTES => {
                let shared = Arc::clone(&shared);
                // One after another: the order of the messages is kept.
                let _ = tokio::task::spawn_blocking(move || shared.take(&message)).await;
            }
            Ok(Some(Incoming::Message(message))) => shared.take(&message),
            Ok(Some(Incoming::LongAnswer { id })) => shared.router.lock().answer(id, Err(Ended::TooLong)),
            Ok(Some(Incoming::LongEvent(event))) => shared.deliver_long(&event),
            Ok(None) | Err(_) => return shared.close(),
        }
    }
}

async fn write_all(
    mut writer: impl AsyncWrite + Unpin,
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
    shared: Arc<Shared>,
) {
    let mut texts = Vec::new();
    loop {
        let count = tokio::select! {
            count = queue.recv_many(&mut texts, JOINED_CALLS) => count,
            () = shared.closed.cancelled() => return,
        };
        if count == 0 {
            return;
        }
        // Calls that were sent together go in one write: each write wakes Chromium up.
        if count > 1 && texts.iter().map(Vec::len).sum::<usize>() <= JOINED_BYTES {
            texts = vec![texts.concat()];
        }
        for text in texts.drain(..) {
            let written = tokio::select! {
                written = writer.write_all(&text) => written,
                () = shared.closed.cancelled() => return,
            };
            if written.is_err() {
                return shared.close();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use headless_chrome::protocol::cdp::Page;

    use super::*;

    #[tokio::test]
    async fn a_call_that_would_end_the_connection_is_not_sent() {
        let (ours, _theirs) = tokio::io::duplex(1 << 10);
        let (reader, writer) = tokio::io::split(ours);
        let connection = Connection::open(tokio::io::BufReader::new(reader), writer);
        let html = "\u{1}".repeat(wire::CALL_LIMIT_BYTES / 6);
        let put = Page::SetDocumentContent { frame_id: "frame".to_owned(), html };
        let error = connection.send_large(None, put).await.err().unwrap();
        assert!(matches!(error, CallError::TooLong { .. }) && !error.is_of_browser(), "{error}");
        assert!(connection.send(None, &Page::Enable { enable_file_chooser_opened_event: None }).is_ok());
    }
}
