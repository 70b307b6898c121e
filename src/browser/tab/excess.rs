//! What a page makes too much of in Chromium's own process: the page is ended before its browser has to be.

use super::idle::{BINDING, BindingCalled};
use crate::browser::cdp::event::Event;

/// How a report of `assets/bounds.js` begins.
const REPORT: &str = "excess:";

/// What a page made too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageExcess {
    /// Blobs, by their bytes.
    Blobs,
    /// Locks, by their number.
    Locks,
    /// Addresses that its frames go to (`data:`), by their bytes: Chromium holds each about ten times (tried).
    FrameAddresses,
}

impl PageExcess {
    /// What the script that counts reports by `event`; `None` where it is something else.
    pub(super) fn reported(event: Event<'_>) -> Option<Self> {
        let called = event.parse::<BindingCalled<'_>>().filter(|called| called.name == BINDING)?;
        match called.payload.strip_prefix(REPORT)? {
            "blobs" => Some(Self::Blobs),
            "locks" => Some(Self::Locks),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn only_reports_of_the_counting_script_are_read() {
        for (name, payload, wanted) in [
            ("platenReportIdle", "excess:blobs", Some(PageExcess::Blobs)),
            ("platenReportIdle", "excess:locks", Some(PageExcess::Locks)),
            ("platenReportIdle", "excess:hats", None),
            ("platenReportIdle", "top:busy:excess:blobs", None),
            ("other", "excess:blobs", None),
        ] {
            let params = json!({"name": name, "payload": payload, "executionContextId": 1});
            let params = to_raw_value(&params).unwrap();
            let reported = PageExcess::reported(Event::of("Runtime.bindingCalled", &params));
            assert_eq!(reported, wanted, "{name} {payload}");
        }
    }
}
