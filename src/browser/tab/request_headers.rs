//! Headers and cookies that a caller gives to a page's requests to its hosts (`requests`).
//!
//! Hazard: a host that gets them may redirect to another one, which must not get them. So they are set neither in the page
//! nor for the whole tab: each request to such a host is paused before it is sent, a redirect anew, and continues with them
//! only where its address, as Chromium parsed it, has that very host and port. What is added to one request Chromium does not
//! copy into the one that a redirect makes of it.

use std::collections::BTreeMap;

use headless_chrome::protocol::cdp::Fetch;
use serde::Deserialize;

use super::monitor::PageMonitor;
use crate::browser::cdp::event::Event;
use crate::domain::format_opts::Requests;

/// Pauses the page's requests to the hosts of `requests`.
pub(super) fn halt(requests: &Requests) -> Fetch::Enable {
    let pattern = |pattern: String| Fetch::RequestPattern {
        url_pattern: Some(pattern),
        resource_Type: None,
        request_stage: None,
    };
    Fetch::Enable { patterns: Some(requests.patterns().map(pattern).collect()), handle_auth_requests: None }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    request_id: String,
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    url: String,
    headers: BTreeMap<String, String>,
}

/// Lets a halted request go on, with what it is to carry.
pub(super) fn resume(monitor: &PageMonitor, requests: Option<&Requests>, event: Event<'_>) {
    let Some(Paused { request_id, request }) = event.parse() else { return };
    let carried = requests.and_then(|requests| requests.of(&request.url));
    let headers = carried.map(|carried| {
        let is_replaced = |name: &str| carried.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let own = request.headers.iter().filter(|(name, _)| !is_replaced(name));
        let all = own.chain(carried.iter().map(|(name, value)| (name, value)));
        all.map(|(name, value)| Fetch::HeaderEntry { name: name.clone(), value: value.clone() }).collect()
    });
    monitor.send(&Fetch::ContinueRequest {
        request_id,
        url: None,
        method: None,
        post_data: None,
        headers,
        intercept_response: None,
    });
}
