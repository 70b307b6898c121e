//! Headers and cookies of a caller's for hosts that its page reaches (`requests`).
//!
//! Hazard: a host that gets them may send the request on to another one. So they are not given to the page, nor to
//! Chromium for all that it asks for: each request to such a host is halted before it goes out, a redirect anew, looked at
//! as Chromium reads its address, and goes on with them only if it is to that very host and port. What is put into one
//! request Chromium does not take over into the one that a redirect makes of it.

use std::collections::BTreeMap;

use headless_chrome::protocol::cdp::Fetch;
use serde::Deserialize;

use super::open::PageTask;
use crate::browser::cdp::connection::{CallError, Event, Sent};
use crate::browser::tab::events::PageEvents;
use crate::browser::tab::tab::Tab;
use crate::domain::format_opts::Requests;
use crate::domain::reach::Reach;

/// Has the page's requests to these hosts halted, if there are any and it reaches hosts at all.
pub(in crate::browser) fn begin(
    tab: &Tab,
    task: &PageTask,
) -> Result<Option<Sent<Fetch::Enable>>, CallError> {
    let requests = &task.options.requests;
    if requests.is_empty() || task.reach != Reach::AllowedHosts {
        return Ok(None);
    }
    tab.carry(requests.clone());
    let pattern = |pattern: String| Fetch::RequestPattern {
        url_pattern: Some(pattern),
        resource_Type: None,
        request_stage: None,
    };
    let patterns = requests.patterns().map(pattern).collect();
    tab.send(&Fetch::Enable { patterns: Some(patterns), handle_auth_requests: None }).map(Some)
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

impl PageEvents {
    /// Lets a halted request go on, with what it is to carry.
    pub(in crate::browser) fn request_paused(&self, event: Event<'_>) {
        let Some(Paused { request_id, request }) = event.parse() else { return };
        let carried = self.carried.get().and_then(|requests: &Requests| requests.of(&request.url));
        let headers = carried.map(|carried| {
            let is_replaced = |name: &str| carried.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
            let own = request.headers.iter().filter(|(name, _)| !is_replaced(name));
            let all = own.chain(carried.iter().map(|(name, value)| (name, value)));
            all.map(|(name, value)| Fetch::HeaderEntry { name: name.clone(), value: value.clone() }).collect()
        });
        let go_on = Fetch::ContinueRequest {
            request_id,
            url: None,
            method: None,
            post_data: None,
            headers,
            intercept_response: None,
        };
        drop(self.connection.send(Some(&self.session), &go_on));
    }
}
