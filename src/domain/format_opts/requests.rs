//! `requests`: headers and cookies that a page's requests to a host get.
//!
//! Hazard: these are credentials of another service. So they are handled like passwords: they print as stars, no error repeats
//! one, stored and shown `formatOpts` are masked (`mask_secrets`), and they are sent only to the host and port that they
//! were given for.

use std::collections::BTreeMap;
use std::fmt;

use json_members::{MapOf, Members, Shape};
use serde::{Deserialize, Serialize};
use url::Url;

use super::{Key, Passwords};
use crate::domain::shown::shortened;

/// Longest host with its port: a name has 253 bytes at most (RFC 1035).
const HOST_LIMIT_BYTES: usize = 260;
/// The port of a host without one.
const HTTPS_PORT: u16 = 443;
/// Headers that describe the request or its connection; callers must not set them.
const REFUSED: [&str; 12] = [
    "connection",
    "content-length",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "origin",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// Headers of requests, by host and port.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests(Vec<HostRequests>);

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct HostRequests {
    host: String,
    port: u16,
    /// Cookies are the header `Cookie`.
    headers: Vec<(String, String)>,
}

/// The secrets of a job's options, stored apart from its record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    /// The passwords of its PDF.
    pub passwords: Passwords,
    /// Headers and cookies of its page's requests.
    pub requests: Requests,
}

impl Secrets {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.passwords.is_empty() && self.requests.is_empty()
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_empty() { "{}" } else { "***" })
    }
}

impl Requests {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers of a request to `address`; `None` for another host or port. So plain http gets them only if its port was
    /// named.
    pub fn of(&self, address: &str) -> Option<&[(String, String)]> {
        let url = Url::parse(address).ok()?;
        let (host, port) = (url.host_str()?, url.port_or_known_default()?);
        let found = self.0.iter().find(|it| it.host == host && it.port == port)?;
        Some(&found.headers)
    }

    /// Chromium's URL patterns that match requests to these hosts.
    pub fn patterns(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|HostRequests { host, port, .. }| {
            let at = |scheme: &str, default: u16| {
                if *port == default {
                    format!("{scheme}://{host}/*")
                } else {
                    format!("{scheme}://{host}:{port}/*")
                }
            };
            [at("https", HTTPS_PORT), at("http", 80)]
        })
    }

    /// Reads `requests`: by host, an object of `headers` and `cookies`.
    pub(super) fn read(members: &mut Members<'_>) -> Self {
        let of = MapOf {
            title: "HostRequests",
            wanted: "an object such as {\"api.example\": {\"headers\": {\"Authorization\": \"Bearer …\"}}}",
            each: "an object of headers and cookies",
        };
        let host_of = |name: &str| {
            let detail =
                "is no host; write it as outbound.allow has it, such as api.example or api.example:8443";
            host_and_port(name).ok_or_else(|| detail.to_owned())
        };
        let read = |carried: &mut Members<'_>| {
            let mut headers = read_headers(carried);
            headers.extend(read_cookies(carried).map(|cookies| ("Cookie".to_owned(), cookies)));
            headers
        };
        let hosts = members.map(Key::Requests, of, host_of, read).into_iter();
        let hosts = hosts.map(|((host, port), headers)| HostRequests { host, port, headers });
        Self(hosts.filter(|host| !host.headers.is_empty()).collect())
    }
}

/// Host and port, normalized as in a URL.
fn host_and_port(name: &str) -> Option<(String, u16)> {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    if name.len() > HOST_LIMIT_BYTES {
        return None;
    }
    let url = Url::parse(&format!("https://{name}/")).ok().filter(|_| name.bytes().all(is_plain))?;
    Some((url.host_str()?.to_owned(), url.port().unwrap_or(HTTPS_PORT)))
}

fn read_headers(carried: &mut Members<'_>) -> Vec<(String, String)> {
    let mut headers = read_texts(carried, "headers");
    headers.retain(|(name, _)| {
        let lower = name.to_ascii_lowercase();
        let is_own =
            REFUSED.contains(&lower.as_str()) || lower.starts_with("proxy-") || lower.starts_with("sec-");
        if is_own {
            let detail = format!(
                "'{lower}' is not for callers to say (cookies have a member of their own); leave it out"
            );
            carried.fault("headers", detail);
        }
        !is_own
    });
    headers
}

fn read_cookies(carried: &mut Members<'_>) -> Option<String> {
    let cookies = read_texts(carried, "cookies");
    let is_fit = |value: &str| !value.contains([';', ',', '"', '\\', ' ']);
    if cookies.iter().any(|(_, value)| !is_fit(value)) {
        carried.fault("cookies", "has a value with a character that no cookie has (a blank, a comma, a semicolon, a quotation mark)");
    }
    let written: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!written.is_empty()).then(|| written.join("; "))
}

/// Names and values; an error shows the name, never the value.
fn read_texts(carried: &mut Members<'_>, member: &'static str) -> Vec<(String, String)> {
    let shape = || Shape::Map(Box::new(Shape::Text));
    let Some(sent) = carried.raw(member, shape) else { return Vec::new() };
    let Ok(texts) = serde_json::from_str::<BTreeMap<String, String>>(sent.get()) else {
        carried.fault(member, "must be an object whose values are strings");
        return Vec::new();
    };
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let mut read = Vec::new();
    for (name, value) in texts {
        let shown = shortened(&name);
        if name.is_empty() || !name.bytes().all(is_token) {
            carried
                .fault(member, format!("'{shown}' cannot be a name here; use letters, digits and hyphens"));
        } else if value.is_empty() || !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            carried.fault(member, format!("'{shown}' needs a value of visible ASCII characters"));
        } else {
            read.push((name, value));
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options, reading};

    #[test]
    fn headers_are_sent_to_their_host_and_port_only() {
        let text = r#"{"requests":{"API.example":{"headers":{"Authorization":"Bearer s3cret"},"cookies":{"a":"1","b":"2"}},
                       "127.0.0.1:8443":{"headers":{"X-Key":"k3y"}}}}"#;
        let read = options(text);
        let of = |address: &str| read.requests.of(address).map(<[_]>::to_vec).unwrap_or_default();
        let carried = [("Authorization", "Bearer s3cret"), ("Cookie", "a=1; b=2")];
        assert_eq!(
            of("https://api.example/x?y"),
            carried.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        assert_eq!(of("http://127.0.0.1:8443/").len(), 1);
        for other in [
            "http://api.example/",
            "https://api.example:444/",
            "https://api.example.evil.example/",
            "https://evil.example/api.example",
            "https://api.example@evil.example/",
            "https://127.0.0.1/",
            "nonsense",
        ] {
            assert_eq!(of(other), [], "{other}");
        }
        assert!(!format!("{read:?}").contains("s3cret") && !format!("{read:?}").contains("k3y"));
        let patterns: Vec<_> = read.requests.patterns().collect();
        assert!(patterns.contains(&"https://api.example/*".to_owned()), "{patterns:?}");
    }

    #[test]
    fn errors_show_no_value() {
        let at = "/formatOpts/requests";
        for (text, pointer, part) in [
            (r#"{"requests":"s3cret"}"#, at.to_owned(), "must be an object such as"),
            (r#"{"requests":{"a b":{"headers":{"X":"s3cret"}}}}"#, format!("{at}/a b"), "is no host"),
            (r#"{"requests":{"a.example/x":{}}}"#, format!("{at}/a.example~1x"), "is no host"),
            (
                r#"{"requests":{"a.example":{"headers":{"Host":"s3cret"}}}}"#,
                format!("{at}/a.example/headers"),
                "'host' is not for",
            ),
            (
                r#"{"requests":{"a.example":{"headers":{"X":"s3cret\r\nY: 1"}}}}"#,
                format!("{at}/a.example/headers"),
                "'X' needs a value",
            ),
            (
                r#"{"requests":{"a.example":{"headers":{"X Y":"s3cret"}}}}"#,
                format!("{at}/a.example/headers"),
                "cannot be a name",
            ),
            (
                r#"{"requests":{"a.example":{"headers":["s3cret"]}}}"#,
                format!("{at}/a.example/headers"),
                "values are strings",
            ),
            (
                r#"{"requests":{"a.example":{"cookies":{"a":"s3cret; b"}}}}"#,
                format!("{at}/a.example/cookies"),
                "no cookie has",
            ),
        ] {
            assert_error(text, &pointer, part);
            let errors = format!("{:?}", reading(text).errors);
            assert!(!errors.contains("s3cret"), "{errors}");
        }
    }
}
