//! A host of the test's own, by http or https: answers by path and records the requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_util::sync::{CancellationToken, DropGuard};

/// What arrived: the request line and the headers, then the body.
#[derive(Clone, Debug)]
pub struct HostRequest {
    pub head: String,
    pub body: Vec<u8>,
}

/// An answer: status line and headers, and a body.
pub struct Reply {
    head: String,
    body: Vec<u8>,
    /// After the body the connection stays open and silent, as that of an unfinished answer.
    hangs: bool,
}

type Responder = dyn Fn(&HostRequest) -> Reply + Send + Sync;

/// A running host; dropping it ends it.
pub struct Host {
    pub port: u16,
    seen: Arc<Mutex<Vec<HostRequest>>>,
    connections: Arc<Mutex<usize>>,
    /// The SHA-256 of its authority's public key, where it speaks TLS.
    pub key: Option<String>,
    _end: DropGuard,
}

impl HostRequest {
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Reply {
    pub fn ok(kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let head = format!("200 OK\r\nContent-Type: {kind}\r\nAccess-Control-Allow-Origin: *");
        Self { head, body: body.into(), hangs: false }
    }

    /// A picture of 9 by 7 pixels.
    pub fn picture() -> Self {
        Self::ok("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='7'/>")
    }

    pub fn redirect(status: u16, to: &str) -> Self {
        let head = format!("{status} Moved\r\nLocation: {to}\r\nAccess-Control-Allow-Origin: *");
        Self { head, body: Vec::new(), hangs: false }
    }

    pub fn status(head: &str) -> Self {
        Self { head: head.to_owned(), body: Vec::new(), hangs: false }
    }

    /// Nothing at all.
    pub fn never() -> Self {
        Self { head: String::new(), body: Vec::new(), hangs: true }
    }

    /// The same with a header more.
    pub fn with(mut self, header: &str) -> Self {
        self.head = format!("{}\r\n{header}", self.head);
        self
    }

    /// The same, with an end that never comes.
    pub fn hanging(self) -> Self {
        Self { hangs: true, ..self }
    }
}

impl Host {
    /// Serves http.
    pub async fn http(answer: impl Fn(&HostRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve(None, Arc::new(answer)).await
    }

    /// Serves https with a certificate for `name` by an authority of its own making, which it sends along.
    pub async fn https(name: &str, answer: impl Fn(&HostRequest) -> Reply + Send + Sync + 'static) -> Self {
        let (authority_key, key) = (rcgen::KeyPair::generate().unwrap(), rcgen::KeyPair::generate().unwrap());
        let mut authority = rcgen::CertificateParams::new([]).unwrap();
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let signed = authority.self_signed(&authority_key).unwrap();
        let issuer = rcgen::Issuer::from_params(&authority, &authority_key);
        let certificate =
            rcgen::CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
        let public = rcgen::PublicKeyData::subject_public_key_info(&authority_key);
        let digest = STANDARD.encode(Sha256::digest(public));
        let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let ring = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth();
        let config =
            config.with_single_cert(vec![certificate.der().clone(), signed.der().clone()], private).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Self { key: Some(digest), ..Self::serve(Some(acceptor), Arc::new(answer)).await }
    }

    async fn serve(tls: Option<TlsAcceptor>, answer: Arc<Responder>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, connections) = (Arc::default(), Arc::<Mutex<usize>>::default());
        let (all, count) = (Arc::clone(&seen), Arc::clone(&connections));
        let end = CancellationToken::new();
        let ended = end.clone();
        tokio::spawn(end.clone().run_until_cancelled_owned(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *count.lock().unwrap() += 1;
                let (all, answer, tls) = (Arc::clone(&all), Arc::clone(&answer), tls.clone());
                tokio::spawn(ended.clone().run_until_cancelled_owned(async move {
                    match tls {
                        None => serve_connection(stream, &all, &answer).await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => serve_connection(stream, &all, &answer).await,
                            Err(_) => Some(()),
                        },
                    }
                }));
            }
        }));
        Self { port, seen, connections, key: None, _end: end.drop_guard() }
    }

    /// The entry of `outbound.allow` that opens it.
    pub fn entry(&self) -> String {
        format!("{{ host = \"127.0.0.1:{}\", private = true }}", self.port)
    }

    pub fn requests(&self) -> Vec<HostRequest> {
        self.seen.lock().unwrap().clone()
    }

    /// How often each path was asked for.
    pub fn hits(&self) -> BTreeMap<String, usize> {
        let mut hits = BTreeMap::new();
        for asked in self.requests() {
            *hits.entry(asked.path().to_owned()).or_default() += 1;
        }
        hits
    }

    pub fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

/// Requests of one connection, one after the other; none when it ended.
async fn serve_connection<S>(
    mut stream: S,
    seen: &Mutex<Vec<HostRequest>>,
    answer: &Arc<Responder>,
) -> Option<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut buffer = Vec::new();
    loop {
        let asked = read(&mut stream, &mut buffer).await?;
        seen.lock().unwrap().push(asked.clone());
        let reply = answer(&asked);
        if let Some(key) = asked.header("sec-websocket-key") {
            return accept_web_socket(stream, key).await;
        }
        if reply.head.is_empty() {
            std::future::pending::<()>().await;
        }
        let length = reply.body.len() + usize::from(reply.hangs);
        let head = format!("HTTP/1.1 {}\r\nContent-Length: {length}\r\n\r\n", reply.head);
        stream.write_all(head.as_bytes()).await.ok()?;
        let is_head = asked.head.starts_with("HEAD ");
        stream.write_all(if is_head { b"" } else { &reply.body }).await.ok()?;
        stream.flush().await.ok()?;
        if reply.hangs {
            std::future::pending::<()>().await;
        }
    }
}

async fn read<S: AsyncRead + Unpin>(stream: &mut S, buffer: &mut Vec<u8>) -> Option<HostRequest> {
    let mut chunk = vec![0; 16 << 10];
    loop {
        if let Some(end) = buffer.windows(4).position(|end| end == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end + 4]).into_owned();
            let asked = HostRequest { head, body: Vec::new() };
            let length: usize = asked.header("content-length").map_or(0, |it| it.parse().unwrap());
            if buffer.len() >= end + 4 + length {
                let body = buffer[end + 4..end + 4 + length].to_vec();
                buffer.drain(..end + 4 + length);
                return Some(HostRequest { body, ..asked });
            }
        }
        match stream.read(&mut chunk).await {
            Ok(length @ 1..) => buffer.extend_from_slice(&chunk[..length]),
            Ok(0) | Err(_) => return None,
        }
    }
}

/// A web socket that says `hello` (RFC 6455 §1.3, §5.7).
async fn accept_web_socket<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, key: &str) -> Option<()> {
    let digest = sha1::Sha1::digest(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
    let accept = STANDARD.encode(digest);
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.write_all(b"\x81\x05hello").await.ok()?;
    stream.flush().await.ok()?;
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.ok()?;
    None
}
