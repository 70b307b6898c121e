//! Events of a session, and the sink that hears them.

use serde_json::value::RawValue;

use super::wire::LongEvent;

/// An event of a session.
#[derive(Clone, Copy, Debug)]
pub(in crate::browser) struct Event<'a> {
    /// Its name, `Page.loadEventFired`.
    pub method: &'a str,
    pub params: Option<&'a RawValue>,
}

/// Hears the events of a session. It is called on the one task that reads for all pages: a sink that blocks, or queues
/// what it hears, lets one page stop or fill the service. So it must be quick and keep only so much.
pub(in crate::browser) trait EventSink: Send + Sync {
    fn event(&self, event: Event<'_>);
    /// An event came that is too long to be kept.
    fn long_event(&self, event: &LongEvent);
    /// The connection ended: no event follows.
    fn closed(&self);
}

impl<'a> Event<'a> {
    /// An event that no Chromium sent.
    #[cfg(test)]
    pub(in crate::browser) fn of(method: &'a str, params: &'a RawValue) -> Self {
        Self { method, params: Some(params) }
    }

    /// Length of its members as text, in bytes.
    pub(in crate::browser) fn length(&self) -> usize {
        self.params.map_or(0, |params| params.get().len())
    }

    /// The event's members; `None` when they are not as expected.
    pub(in crate::browser) fn parse<T: serde::Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.params?.get()).ok()
    }
}
