//! Events of a session, and the sink that receives them.

use serde_json::value::RawValue;

use super::wire::LongEvent;

/// An event of a session.
#[derive(Clone, Copy, Debug)]
pub(in crate::browser) struct Event<'a> {
    /// Its name, `Page.loadEventFired`.
    pub method: &'a str,
    pub params: Option<&'a RawValue>,
}

/// Receives the events of a session, on the one task that reads for all pages. Hazard: a sink that blocks stops all pages,
/// one that queues lets a page fill memory. So it is quick, and what it keeps is bounded.
pub(in crate::browser) trait EventSink: Send + Sync {
    fn event(&self, event: Event<'_>);
    /// An event came that is too long to be kept.
    fn long_event(&self, event: &LongEvent);
    /// The connection ended: no event follows.
    fn closed(&self);
}

impl<'a> Event<'a> {
    /// An event for tests.
    #[cfg(test)]
    pub(in crate::browser) fn of(method: &'a str, params: &'a RawValue) -> Self {
        Self { method, params: Some(params) }
    }

    /// Length of its members as text, in bytes.
    pub(in crate::browser) fn length(&self) -> usize {
        self.params.map_or(0, |params| params.get().len())
    }

    /// The session that it is about, where that is one of its members: it arrives in the session of a parent, or in none.
    pub(in crate::browser) fn subject(&self) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct About {
            #[serde(rename = "sessionId")]
            session: String,
        }
        self.parse::<About>().map(|about| about.session)
    }

    /// The event's members; `None` when they are not as expected.
    pub(in crate::browser) fn parse<T: serde::Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.params?.get()).ok()
    }
}
