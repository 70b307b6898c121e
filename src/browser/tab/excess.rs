//! What a page makes too much of in Chromium's own process: the page is ended before its browser has to be.

use serde::Deserialize;

use super::idle::BINDING;
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
        #[derive(Deserialize)]
        struct Called<'a> {
            name: &'a str,
            payload: &'a str,
        }
        let called = event.parse::<Called<'_>>().filter(|called| called.name == BINDING)?;
        match called.payload.strip_prefix(REPORT)? {
            "blobs" => Some(Self::Blobs),
            "locks" => Some(Self::Locks),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn only_reports_of_the_counting_script_are_read() {
        let reported = |params: &str| {
            let params = RawValue::from_string(params.to_owned()).unwrap();
            PageExcess::reported(Event::of("Runtime.bindingCalled", &params))
        };
        let of =
            |what: &str| reported(&format!(r#"{{"name":"platenReportIdle","payload":"excess:{what}"}}"#));
        assert_eq!((of("blobs"), of("locks")), (Some(PageExcess::Blobs), Some(PageExcess::Locks)));
        assert_eq!(of("hats"), None);
        assert_eq!(reported(r#"{"name":"platenReportIdle","payload":"top:busy:excess:blobs"}"#), None);
        assert_eq!(reported(r#"{"name":"other","payload":"excess:blobs"}"#), None);
    }
}
