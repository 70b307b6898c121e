//! Headers and cookies that a caller gives to a page's requests to its hosts (`requests`).
//!
//! Hazard: a host that gets them may send the request on to another one. So they are not given to the page, nor to
//! Chromium for all that it asks for: each request to such a host is halted before it goes out, a redirect anew, looked at
//! as Chromium reads its address, and goes on with them only if it is to that very host and port. What is put into one
//! request Chromium does not take over into the one that a redirect makes of it.

use std::collections::BTreeMap;

use headless_chrome::protocol::cdp::Fetch;
use serde::Deserialize;

use super::monitor::PageMonitor;
use crate::browser::cdp::event::Event;
use crate::domain::format_opts::Requests;

/// Has the page's requests to the hosts of `requests` halted.
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
