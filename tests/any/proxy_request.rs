//! Whatever a page sends to its proxy: only an allowed host is connected to, and what arrives there is one request, the one that
//! was sent, or a tunnel's bytes.
//!
//! Hazard: if two programs disagree about where a request ends, a page smuggles a second one past the rules. So what arrives
//! is read here by a reader that accepts one spelling only.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use httparse::{EMPTY_HEADER, Status};
use memchr::memmem;
use platen::browser::PageServer;
use platen::config::Config;
use platen::domain::reach::Reach;
use platen::domain::site::Site;
use platen::outbound::{Outbound, Resolve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use url::Url;

/// The host that pages reach, at the usual ports.
const HOST: &str = "open.example";
/// The clock stands still while anything is under way, and jumps when nothing is: so long nothing came.
const SILENCE: Duration = Duration::from_millis(1);
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
/// As many headers as the proxy reads.
const HEADERS: usize = 100;
/// Headers of one connection (RFC 9110 §7.6.1).
const HOP_BY_HOP: [&str; 7] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "upgrade",
];
/// Headers that the proxy writes anew.
const OWN: [&str; 3] = ["host", "content-length", "transfer-encoding"];

/// A proxy of a page, and the listener that its host leads to.
pub struct Proxy {
    runtime: Runtime,
    server: PageServer,
    listener: TcpListener,
}

/// Resolves the host, whatever the port, and nothing else.
struct Hosts(SocketAddr);

#[async_trait]
impl Resolve for Hosts {
    async fn resolve(&self, name: &str, _: u16) -> std::io::Result<Vec<SocketAddr>> {
        assert!(name == HOST, "{name} is not allowed, and was looked up");
        Ok(vec![self.0])
    }
}

impl Proxy {
    pub fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let runtime = runtime.expect("a runtime starts");
        let (server, listener) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
            let address = listener.local_addr().expect("it has an address");
            let entry = |port: u16| format!("{{ host = \"{HOST}:{port}\", private = true }}");
            let allow = format!("[{}, {}]", entry(80), entry(443));
            let variables = [("PLATEN__OUTBOUND__ALLOW".to_owned(), allow)];
            let config = Config::load(None, variables).expect("a configuration").outbound;
            let outbound = Outbound::new(config, &[], Arc::new(Hosts(address)));
            (PageServer::bind(outbound).expect("a port is free"), listener)
        });
        Self { runtime, server, listener }
    }

    /// Sends the bytes to the proxy of a new page, and judges what arrives at the host.
    pub fn check(&mut self, sent: &[u8]) {
        let arrived = self.runtime.block_on(async {
            let files = [("index.html".to_owned(), "<p>page".into())];
            let site = Site::new("index.html", files.into());
            let session = self.server.serve("tab", site, None, (Reach::AllowedHosts, true));
            let _session = session.expect("a page is served");
            let arrived = self.exchange(sent).await;
            self.server.clear();
            arrived
        });
        assert!(arrived.len() <= 1, "{} connections of one request", arrived.len());
        for arrived in arrived {
            check_arrived(sent, &arrived);
        }
    }

    /// What each connection to the host brings, until nothing comes any more.
    async fn exchange(&self, sent: &[u8]) -> Vec<Vec<u8>> {
        let address = self.server.proxy_address();
        let page = TcpStream::connect(address.trim_start_matches("http://")).await;
        let mut page = page.expect("the proxy listens");
        // Hazard: a port waits for a minute after an orderly end, and a minute of fuzzing takes more of them than there are.
        page.set_zero_linger().expect("an end without a wait");
        // A proxy that refuses closes the connection, maybe before everything is written.
        let _ = page.write_all(sent).await;
        let (mut answer, mut arrived) = (Vec::new(), Vec::new());
        while let Ok(Ok((mut host, _))) = timeout(SILENCE, self.listener.accept()).await {
            let mut bytes = Vec::new();
            read_until_silence(&mut host, &mut bytes).await;
            let _ = host.write_all(ANSWER).await;
            read_until_silence(&mut page, &mut answer).await;
            // What a host gets after its answer belongs to the same connection.
            read_until_silence(&mut host, &mut bytes).await;
            arrived.push(bytes);
        }
        arrived
    }
}

async fn read_until_silence(stream: &mut TcpStream, bytes: &mut Vec<u8>) {
    while let Ok(Ok(1..)) = timeout(SILENCE, stream.read_buf(bytes)).await {}
}

fn check_arrived(sent: &[u8], arrived: &[u8]) {
    let shown = format!("'{}' came of '{}'", arrived.escape_ascii(), sent.escape_ascii());
    let mut headers = [EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let Ok(Status::Complete(head)) = request.parse(sent) else { panic!("no request: {shown}") };
    if request.method == Some("CONNECT") {
        // A tunnel carries what follows its head.
        assert!(sent[head..].starts_with(arrived), "{shown}");
    } else if !arrived.is_empty() {
        check_request(&request, &Arrived::read(arrived, &shown), &shown);
    }
}

fn check_request(sent: &httparse::Request<'_, '_>, arrived: &Arrived<'_>, shown: &str) {
    assert_eq!(Some(arrived.method), sent.method, "{shown}");
    let url = Url::parse(sent.path.unwrap_or_default()).expect("a URL was forwarded");
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    assert_eq!(arrived.target, format!("{}{query}", url.path()), "{shown}");
    let hosts = arrived.values("host");
    assert!(
        matches!(hosts[..], [host] if host.strip_suffix(b".").unwrap_or(host) == HOST.as_bytes()),
        "{shown}"
    );
    for name in HOP_BY_HOP {
        assert!(arrived.values(name).is_empty(), "{name}: {shown}");
    }
    for (name, value) in arrived.headers.iter().filter(|(name, _)| !OWN.contains(&name.as_str())) {
        let is_same = |it: &httparse::Header<'_>| it.name.eq_ignore_ascii_case(name) && it.value == *value;
        assert!(sent.headers.iter().any(is_same), "{name} was not sent: {shown}");
    }
    match (&arrived.values("content-length")[..], &arrived.values("transfer-encoding")[..]) {
        ([], []) => assert!(arrived.body.is_empty(), "a body of no length: {shown}"),
        ([length], []) => {
            let length = std::str::from_utf8(length).ok().and_then(|length| length.parse::<usize>().ok());
            assert!(length.is_some_and(|length| arrived.body.len() <= length), "{shown}");
        }
        ([], [b"chunked"]) => check_chunks(arrived.body, shown),
        _ => panic!("two framings: {shown}"),
    }
}

/// A request as it arrived at a host, by a reader that accepts one spelling only.
struct Arrived<'a> {
    method: &'a str,
    target: &'a str,
    headers: Vec<(String, &'a [u8])>,
    body: &'a [u8],
}

impl<'a> Arrived<'a> {
    fn read(bytes: &'a [u8], shown: &str) -> Self {
        let end =
            memmem::find(bytes, b"\r\n\r\n").unwrap_or_else(|| panic!("a head without an end: {shown}"));
        let (head, body) = (&bytes[..end], &bytes[end + 4..]);
        let cut = |line: &'a [u8], at: &[u8]| {
            let found = memmem::find(line, at).unwrap_or_else(|| panic!("a line without its sign: {shown}"));
            (&line[..found], &line[found + at.len()..])
        };
        let text =
            |bytes: &'a [u8]| std::str::from_utf8(bytes).unwrap_or_else(|_| panic!("no text: {shown}"));
        let (first, mut rest) =
            memmem::find(head, b"\r\n").map_or((head, &head[end..]), |_| cut(head, b"\r\n"));
        let (method, after) = cut(first, b" ");
        let (target, version) = cut(after, b" ");
        assert_eq!(version, b"HTTP/1.1", "{shown}");
        let mut headers = Vec::new();
        while !rest.is_empty() {
            let (line, next) =
                memmem::find(rest, b"\r\n").map_or((rest, &rest[rest.len()..]), |_| cut(rest, b"\r\n"));
            let (name, value) = cut(line, b": ");
            assert!(name.iter().all(|byte| byte.is_ascii_graphic() && *byte != b':'), "{shown}");
            headers.push((text(name).to_ascii_lowercase(), value));
            rest = next;
        }
        let is_control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
        assert!(!headers.iter().any(|(_, value)| value.iter().any(is_control)), "{shown}");
        Self { method: text(method), target: text(target), headers, body }
    }

    fn values(&self, name: &str) -> Vec<&'a [u8]> {
        self.headers.iter().filter(|(found, _)| found == name).map(|(_, value)| *value).collect()
    }
}

/// Chunks up to the last one, which nothing follows but trailers; or up to where the page cut them off.
fn check_chunks(mut body: &[u8], shown: &str) {
    while let Ok(Status::Complete((start, length))) = httparse::parse_chunk_size(body) {
        let length = usize::try_from(length).expect("a size");
        body = &body[start..];
        if length == 0 {
            let end = if body.starts_with(b"\r\n") {
                Some(0)
            } else {
                memmem::find(body, b"\r\n\r\n").map(|end| end + 2)
            };
            assert!(end.is_none_or(|end| body.len() == end + 2), "bytes behind the last chunk: {shown}");
            return;
        }
        let Some(next) = body.get(length + 2..) else { return };
        assert_eq!(&body[length..length + 2], b"\r\n", "{shown}");
        body = next;
    }
}
