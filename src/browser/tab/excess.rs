//! What a page makes in Chromium's own process, counted, so that the page is ended before its browser has to be.

use serde::Deserialize;

use super::idle::BINDING;
use crate::browser::cdp::connection::Event;
use crate::browser::page::open::Limits;

/// How a telling of `assets/bounds.js` begins.
const TELLING: &str = "excess:";

/// Of what a page made too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Blobs, by their bytes.
    Blobs,
    /// Locks, by their number.
    Locks,
    /// Addresses that its frames go to (`data:`), by their bytes: Chromium holds each about ten times (tried).
    FrameAddresses,
}

impl Excess {
    /// What the script that counts tells by `event`; `None` where it is something else.
    pub(in crate::browser) fn told(event: Event<'_>) -> Option<Self> {
        #[derive(Deserialize)]
        struct Called<'a> {
            name: &'a str,
            payload: &'a str,
        }
        let called = event.parse::<Called<'_>>().filter(|called| called.name == BINDING)?;
        match called.payload.strip_prefix(TELLING)? {
            "blobs" => Some(Self::Blobs),
            "locks" => Some(Self::Locks),
            _ => None,
        }
    }

    /// What is told to the page's author.
    pub(in crate::browser) fn sentence(self, limits: &Limits) -> String {
        let Limits { blob_mb, locks, frame_address_mb, .. } = limits;
        match self {
            Self::Blobs => format!(
                "the page made more than {blob_mb} MB of blobs (browser.blob_limit_mb): let it make fewer, or load \
                 files instead"
            ),
            Self::Locks => format!(
                "the page asked for more than {locks} locks (browser.lock_limit): let it hold fewer of them"
            ),
            Self::FrameAddresses => format!(
                "the page's frames went to more than {frame_address_mb} MB of addresses \
                 (browser.frame_address_limit_mb): give their documents as files or by srcdoc, not as data: addresses"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn only_the_script_that_counts_is_heard() {
        let told = |params: &str| {
            let params = RawValue::from_string(params.to_owned()).unwrap();
            Excess::told(Event::of("Runtime.bindingCalled", &params))
        };
        assert_eq!(told(r#"{"name":"platenTellsRest","payload":"excess:blobs"}"#), Some(Excess::Blobs));
        assert_eq!(told(r#"{"name":"platenTellsRest","payload":"excess:locks"}"#), Some(Excess::Locks));
        assert_eq!(told(r#"{"name":"platenTellsRest","payload":"excess:hats"}"#), None);
        assert_eq!(told(r#"{"name":"platenTellsRest","payload":"top:busy:excess:blobs"}"#), None);
        assert_eq!(told(r#"{"name":"other","payload":"excess:blobs"}"#), None);
    }
}
