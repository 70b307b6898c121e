//! Failed requests of a page, from Chromium's log of it: in every lane, without asking the page.
//!
//! The proxy itself warns of a request that it refuses or has no file for (`PageSession::warn_refused`). From the log come the
//! failures that the proxy cannot see: requests that Chromium never sends to it (files of the machine, blocked schemes and
//! ports, policies), and statuses and certificates inside its tunnels, which are encrypted. Addresses of the machine's files are
//! warned of in the proxy's words.
//!
//! The log also names the request that a status belongs to. Hazard: a host answers a missing page with an error page, which
//! would be printed as the document. By its request the document's own status is told from that of a picture (`status_of`).

use std::borrow::Cow;

use serde::Deserialize;
use url::Url;

use super::own_host::own_path;
use crate::browser::cdp::event::Event;
use crate::browser::proxy::page_session::PageSession;
use crate::domain::error::{WarningKind, Warnings};
use crate::domain::shown::redact_url;

/// Most entries of a page's log; then it is switched off.
const LOG_LIMIT: usize = 500;
/// Longest address and text that is kept, in characters: an address may be a whole picture.
const KEPT_CHARS: usize = 400;
/// Longest address that a warning names, in characters.
const NAMED_CHARS: usize = 150;
const NOT_LOADED: &str = "Failed to load resource: ";
const STATUS: &str = "the server responded with a status of ";
const LOCAL: &str = "Not allowed to load local resource: ";
const LOCAL_FETCH: &str = "Fetch API cannot load file:";
/// Words of entries about requests that were blocked. Other entries are about wrong markup (attributes of drawings,
/// policies), where no file is missing.
const BLOCKED_WORDS: [&str; 5] =
    ["blocked", "Refused to", "Failed to load", "Mixed Content", "Not allowed to"];
const SOCKET: &str = "WebSocket connection to '";

/// The failed requests of a page.
#[derive(Clone, Debug, Default)]
pub struct FailedRequests {
    entries: Vec<FailedRequest>,
    is_muted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FailedRequest {
    /// What was requested; the page itself where a policy forbids it.
    address: String,
    /// Chromium's identifier of the request; that of a document is the document's as well.
    request: Option<String>,
    reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    /// It was answered with this status.
    Status(u16),
    /// There was no answer; Chromium's name for why.
    Unanswered(String),
    /// A file of the machine.
    Local,
    /// What Chromium says of it, in a sentence.
    Other(String),
}

#[derive(Deserialize)]
struct LogEntryAdded<'a> {
    #[serde(borrow)]
    entry: Entry<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    level: &'a str,
    #[serde(borrow)]
    text: Cow<'a, str>,
    category: Option<&'a str>,
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
    network_request_id: Option<String>,
}

impl FailedRequests {
    /// Takes an entry of the page's log; true when it is the last one that is taken.
    pub(in crate::browser) fn record_log_entry(&mut self, event: Event<'_>) -> bool {
        let Some(LogEntryAdded { entry }) = event.parse() else { return false };
        if self.is_muted || entry.level != "error" {
            return false;
        }
        self.entries.extend(FailedRequest::of(&entry));
        self.is_muted = self.entries.len() >= LOG_LIMIT;
        self.is_muted
    }

    /// Whether the log was switched off, which it stays for every further page of its tab.
    pub(in crate::browser) fn is_muted(&self) -> bool {
        self.is_muted
    }

    /// The status, of 400 or more, that the document `loader` came with, and its address.
    pub(in crate::browser) fn status_of(&self, loader: &str) -> Option<(u16, &str)> {
        self.entries.iter().filter(|it| it.request.as_deref() == Some(loader)).find_map(|it| {
            let Reason::Status(status) = it.reason else { return None };
            Some((status, it.address.as_str()))
        })
    }

    /// Whether a warning says already why `address` was not loaded, or could be missing because the log was switched off.
    pub(in crate::browser) fn mentions(&self, address: &str) -> bool {
        let short: String = address.chars().take(KEPT_CHARS).collect();
        let names = |failure: &FailedRequest| match &failure.reason {
            Reason::Other(text) => text.contains(&short),
            Reason::Status(_) | Reason::Unanswered(_) | Reason::Local => failure.address == short,
        };
        self.is_muted || self.entries.iter().any(names)
    }

    /// All of them as warnings, but for those that `session` has warned of.
    pub(in crate::browser) fn warnings(&self, session: Option<&PageSession>) -> Warnings {
        let mut warnings = Warnings::default();
        for failure in &self.entries {
            if let Some((kind, text)) = failure.to_warning(session) {
                warnings.push_kind(kind, &text);
            }
        }
        if self.is_muted {
            let text =
                format!("the page asked for {LOG_LIMIT} things in vain; of further ones nothing is known");
            // A job that is to fail for one of them must not succeed because there are so many.
            warnings.push_kinds(&[WarningKind::Missing, WarningKind::Status], &text);
        }
        warnings
    }
}

impl FailedRequest {
    fn of(entry: &Entry<'_>) -> Option<Self> {
        let text = entry.text.as_ref();
        let (address, reason) = if let Some(reason) = text.strip_prefix(NOT_LOADED) {
            // Another entry says what forbids it.
            if entry.category == Some("cors") {
                return None;
            }
            let status = reason.strip_prefix(STATUS).and_then(|rest| rest.split(' ').next()?.parse().ok());
            let reason = status.map_or_else(|| Reason::Unanswered(reason.to_owned()), Reason::Status);
            (entry.url.as_deref()?, reason)
        } else if let Some(address) = text.strip_prefix(LOCAL) {
            (address, Reason::Local)
        } else if text.starts_with(LOCAL_FETCH) {
            (local_address(text), Reason::Local)
        } else if let Some((address, why)) =
            text.strip_prefix(SOCKET).and_then(|rest| rest.split_once("' failed: "))
        {
            (address, Reason::Unanswered(why.to_owned()))
        } else if text.starts_with("[Report Only]") || !BLOCKED_WORDS.iter().any(|word| text.contains(word)) {
            return None;
        } else {
            let short = text.chars().take(KEPT_CHARS).collect();
            (entry.url.as_deref().unwrap_or_default(), Reason::Other(short))
        };
        let address = address.chars().take(KEPT_CHARS).collect();
        Some(Self { address, request: entry.network_request_id.clone(), reason })
    }

    fn to_warning(&self, session: Option<&PageSession>) -> Option<(WarningKind, String)> {
        let shown = redacted_url(&self.address);
        match &self.reason {
            Reason::Status(404) if own_path(&self.address).is_some() => None,
            Reason::Status(status) if own_path(&self.address).is_some() => {
                let why = if *status == 405 { " (files of the template can only be read)" } else { "" };
                Some((WarningKind::Missing, format!("answered with {status}: {shown}{why}")))
            }
            Reason::Status(status) => Some((WarningKind::Status, format!("answered with {status}: {shown}"))),
            Reason::Unanswered(_) if session.is_some_and(|session| is_refused(session, &self.address)) => {
                None
            }
            Reason::Unanswered(why) => Some((WarningKind::Missing, format!("not loaded: {shown} ({why})"))),
            Reason::Local => {
                let why =
                    "a page reaches no file of the machine: put it beside the page and name its path there";
                Some((WarningKind::Missing, format!("refused address: {shown} ({why})")))
            }
            Reason::Other(text) => {
                Some((WarningKind::Missing, format!("not loaded: {}", with_redacted_addresses(text))))
            }
        }
    }
}

/// A sentence of Chromium's with its addresses redacted.
fn with_redacted_addresses(text: &str) -> String {
    let words = text.split_inclusive(['\'', '"', ' ']);
    let shown = words.map(|word| match word.split_once("://") {
        Some(_) => {
            let end = word.trim_end_matches(['\'', '"', ' ']).len();
            Cow::Owned(format!("{}{}", redacted_url(&word[..end]), &word[end..]))
        }
        None => Cow::Borrowed(word),
    });
    shown.collect()
}

/// `Fetch API cannot load file:///a. URL scheme "file" is not supported.`
fn local_address(text: &str) -> &str {
    let address = &text["Fetch API cannot load ".len()..];
    address.rsplit_once(". URL scheme").map_or(address, |(address, _)| address)
}

/// Whether the proxy refused the host of `address`, and warned of it.
fn is_refused(session: &PageSession, address: &str) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    let port =
        url.port_or_known_default().filter(|_| matches!(url.scheme(), "http" | "https" | "ws" | "wss"));
    url.host_str().zip(port).is_some_and(|(host, port)| session.has_refused(&format!("{host}:{port}")))
}

/// An address without what may be a secret, and without the page's own random host.
pub(in crate::browser) fn redacted_url(address: &str) -> String {
    let own = own_path(address);
    let is_data = own.is_none() && address.starts_with("data:");
    let shown = match own {
        Some(path) => path.to_owned(),
        None if is_data => address.to_owned(),
        None => redact_url(address),
    };
    if is_data && shown.chars().count() > 40 {
        return shown.chars().take(40).chain(['…']).collect();
    }
    shown.chars().take(NAMED_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;

    const HOST: &str = "http://0123456789abcdef0123456789abcdef.ab12.localhost";

    fn record(failures: &mut FailedRequests, text: &str, url: &str) -> bool {
        let entry = json!({"source": "network", "level": "error", "text": text, "timestamp": 1.5, "url": url,
            "networkRequestId": "7.1"});
        let params = RawValue::from_string(json!({ "entry": entry }).to_string()).unwrap();
        failures.record_log_entry(Event::of("Log.entryAdded", &params))
    }

    fn warned(text: &str, url: &str) -> Vec<String> {
        let mut failures = FailedRequests::default();
        record(&mut failures, text, url);
        failures.warnings(None).lines()
    }

    #[test]
    fn each_reason_has_its_sentence() {
        for (text, url, wanted) in [
            (
                format!("{NOT_LOADED}{STATUS}500 (Words Of Its Own)"),
                "https://user:word@h.test/a.css?key=1".to_owned(),
                "answered with 500: https://h.test/a.css",
            ),
            (
                format!("Access to font at 'http://h.test/f?key=1' from origin '{HOST}' has been blocked"),
                format!("{HOST}/"),
                "not loaded: Access to font at 'http://h.test/f' from origin '' has been blocked",
            ),
            (
                format!("{NOT_LOADED}net::ERR_FILE_NOT_FOUND"),
                format!("blob:{HOST}/1-2"),
                "not loaded: /1-2 (net::ERR_FILE_NOT_FOUND)",
            ),
            (
                format!("{SOCKET}{}/live' failed: no answer", HOST.replace("http", "wss")),
                format!("{HOST}/"),
                "not loaded: /live (no answer)",
            ),
            ("[Report Only] Refused to load".to_owned(), format!("{HOST}/"), ""),
        ] {
            let wanted: Vec<&str> = Some(wanted).filter(|text| !text.is_empty()).into_iter().collect();
            assert_eq!(warned(&text, &url), wanted);
        }
    }

    #[test]
    fn the_status_of_a_document_is_found_by_its_request() {
        let mut failures = FailedRequests::default();
        record(&mut failures, &format!("{NOT_LOADED}{STATUS}404 (Not Found)"), "http://h.test/");
        assert_eq!(failures.status_of("7.1"), Some((404, "http://h.test/")));
        assert_eq!(failures.status_of("7.2"), None);
        assert!(failures.mentions("http://h.test/") && !failures.mentions("http://h.test/b"));
    }

    #[test]
    fn failed_requests_beyond_the_limit_are_summed_up() {
        let mut failures = FailedRequests::default();
        let text = format!("{NOT_LOADED}net::ERR_FAILED");
        let last: Vec<bool> = (0..LOG_LIMIT + 9)
            .map(|at| record(&mut failures, &text, &format!("http://h.test/{at}")))
            .collect();
        assert_eq!(last.iter().filter(|last| **last).count(), 1);
        assert!(last[LOG_LIMIT - 1] && failures.entries.len() == LOG_LIMIT);
        let warnings = failures.warnings(None);
        assert!(warnings.first(WarningKind::Status).unwrap().contains("500 things in vain"));
    }
}
