//! Asks the running service whether it is ready; the image's health check.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use serde::Deserialize;

use super::report::Finding;
use crate::config::HttpConfig;

const PART: &str = "Service";
const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// Readiness writes to the store and calls Chromium; a service that takes longer counts as not ready.
const RESPONSE_LIMIT: Duration = Duration::from_secs(4);
const RESPONSE_LIMIT_BYTES: u64 = 64 << 10;

/// The members of `/health/ready` that are read here.
#[derive(Default, Deserialize)]
struct ReadinessReport {
    #[serde(default)]
    reasons: Vec<String>,
    /// Engines that are lost.
    #[serde(default)]
    degraded: Vec<String>,
}

pub(super) fn finding(config: &HttpConfig) -> Finding {
    let Some(address) = address(&config.bind) else {
        let detail = format!("http.bind is '{}', which says nothing of its port", config.bind);
        return Finding::missing(PART, detail).with_remedy("asking the service", "give http.bind a port");
    };
    match ask(address) {
        Ok((200, body)) => {
            let lost = read(&body).degraded.join("; ");
            if lost.is_empty() {
                return Finding::ok(PART, format!("ready at http://{address}"));
            }
            Finding::warning(PART, format!("ready at http://{address}, but lost {lost}"))
                .with_remedy("what that engine makes", "platen doctor --matrix says what that is")
        }
        Ok((status, body)) => {
            let reasons = read(&body).reasons.join("; ");
            let reasons = if reasons.is_empty() { format!("it answers {status}") } else { reasons };
            Finding::missing(PART, format!("not ready at http://{address}: {reasons}"))
                .with_remedy("documents, until it is ready", "platen doctor says what is missing")
        }
        Err(error) => Finding::missing(PART, format!("no answer at http://{address}: {error}"))
            .with_remedy("everything", "start it: platen serve; its address is http.bind"),
    }
}

/// A body that is not the expected JSON counts as one without reasons.
fn read(body: &str) -> ReadinessReport {
    serde_json::from_str(body).unwrap_or_default()
}

/// The address at which a service that listens on `bind` is reached from this machine.
fn address(bind: &str) -> Option<SocketAddr> {
    let mut address: SocketAddr = bind.parse().ok()?;
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    (address.port() != 0).then_some(address)
}

/// Status and body of `/health/ready`.
fn ask(address: SocketAddr) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&address, CONNECT_LIMIT)?;
    stream.set_read_timeout(Some(RESPONSE_LIMIT))?;
    stream.set_write_timeout(Some(CONNECT_LIMIT))?;
    let request = format!("GET /health/ready HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut response = String::new();
    stream.take(RESPONSE_LIMIT_BYTES).read_to_string(&mut response)?;
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("what answers there does not speak HTTP"))?;
    let (_, body) = response.split_once("\r\n\r\n").unwrap_or_default();
    Ok((status, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::cli::doctor::report::State;
    use crate::config::Config;

    fn finding_of_response(response: &'static str) -> Finding {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let bind = listener.local_addr().unwrap().to_string();
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1_024];
            let length = stream.read(&mut request).unwrap();
            stream.write_all(response.as_bytes()).unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let finding = finding(&HttpConfig { bind, ..Config::default().http });
        assert!(serving.join().unwrap().starts_with("GET /health/ready HTTP/1.1\r\nHost: 127.0.0.1:"));
        finding
    }

    #[test]
    fn what_the_service_says_is_reported() {
        assert_eq!(finding_of_response("HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ready\"}").state, State::Ok);
        let lost =
            finding_of_response("HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ready\",\"degraded\":[\"tex: gone\"]}");
        assert!(lost.state == State::Warning && lost.detail.ends_with("but lost tex: gone"), "{lost:?}");
        let unready = finding_of_response(
            "HTTP/1.1 503 X\r\n\r\n{\"status\":\"unready\",\"reasons\":[\"no browser\"]}",
        );
        assert_eq!(unready.state, State::Missing);
        assert!(unready.detail.ends_with(": no browser"), "{unready:?}");
        assert!(finding_of_response("hello").detail.contains("does not speak HTTP"));
    }

    #[test]
    fn a_service_on_every_address_is_reached_by_loopback() {
        assert_eq!(address("0.0.0.0:80"), Some("127.0.0.1:80".parse().unwrap()));
        assert_eq!(address("[::]:80"), Some("[::1]:80".parse().unwrap()));
        assert_eq!(address("127.0.0.1:0"), None);
    }
}
