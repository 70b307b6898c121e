//! Waiting calls of a connection by their number, sinks by their session.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::event::EventSink;
use super::wire::Refusal;

/// How a call ended without an answer, before it is known which one it was.
#[derive(Debug)]
pub(in crate::browser) enum Ended {
    Closed,
    /// The session ended, or its renderer died.
    PageGone,
    Refused(Refusal),
    /// The answer was over the limit.
    TooLong,
}

/// The text of an answer, or why there is none.
pub(in crate::browser) type CallResult = Result<Bytes, Ended>;

#[derive(Default)]
pub(in crate::browser) struct Router {
    calls: HashMap<u32, Waiting>,
    sinks: HashMap<Arc<str>, Arc<dyn EventSink>>,
    closed: bool,
}

struct Waiting {
    session: Option<Arc<str>>,
    answer: oneshot::Sender<CallResult>,
}

impl Router {
    /// False when the connection has ended: there will be no answer.
    pub(in crate::browser) fn expect_answer(
        &mut self,
        id: u32,
        session: Option<Arc<str>>,
        answer: oneshot::Sender<CallResult>,
    ) -> bool {
        if !self.closed {
            self.calls.insert(id, Waiting { session, answer });
        }
        !self.closed
    }

    pub(in crate::browser) fn give_up(&mut self, id: u32) {
        self.calls.remove(&id);
    }

    pub(in crate::browser) fn answer(&mut self, id: u32, answer: CallResult) {
        if let Some(waiting) = self.calls.remove(&id) {
            let _ = waiting.answer.send(answer);
        }
    }

    /// False when the connection has ended: there will be no event.
    pub(in crate::browser) fn listen(&mut self, session: Arc<str>, sink: Arc<dyn EventSink>) -> bool {
        if !self.closed {
            self.sinks.insert(session, sink);
        }
        !self.closed
    }

    pub(in crate::browser) fn sink(&self, session: &str) -> Option<Arc<dyn EventSink>> {
        self.sinks.get(session).cloned()
    }

    pub(in crate::browser) fn sinks(&self) -> Vec<Arc<dyn EventSink>> {
        self.sinks.values().cloned().collect()
    }

    pub(in crate::browser) fn forget(&mut self, session: &str) {
        self.sinks.remove(session);
        self.end_session(session);
    }

    /// Hazard: Chromium answers no call of a renderer that died, so callers would wait until their deadlines. They are
    /// answered here.
    pub(in crate::browser) fn end_session(&mut self, session: &str) {
        let ended = self.calls.extract_if(|_, waiting| waiting.session.as_deref() == Some(session));
        for (_, waiting) in ended {
            let _ = waiting.answer.send(Err(Ended::PageGone));
        }
    }

    /// Ends all calls; answers the sinks, whose `closed` is to be called without the lock.
    pub(in crate::browser) fn close(&mut self) -> Vec<Arc<dyn EventSink>> {
        self.closed = true;
        for (_, waiting) in self.calls.drain() {
            let _ = waiting.answer.send(Err(Ended::Closed));
        }
        self.sinks.drain().map(|(_, sink)| sink).collect()
    }
}
