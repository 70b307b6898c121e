//! A tunnel to an allowed host: https and web sockets, which a proxy does not read.

use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::page_session::{PageBody, Refused, empty_body};
use super::request::ProxyRequest;
use super::slots::TunnelActivity;
use crate::outbound::PinnedUrl;

const BUFFER_BYTES: usize = 16 << 10;
/// A record of TLS that begins a handshake (RFC 8446 §5.1).
const HANDSHAKE: u8 = 22;

/// Connects, and answers: from then on the connection is a tunnel.
pub(super) async fn open(
    proxied: ProxyRequest,
    pinned: PinnedUrl,
    mut request: Request<Incoming>,
) -> Result<Response<PageBody>, Refused> {
    let connected = proxied.within(proxied.session.usage.outbound.connect(&pinned)).await?;
    let host = connected.map_err(|error| proxied.refused(format!("it cannot be reached: {error}")))?;
    let upgraded = hyper::upgrade::on(&mut request);
    let ended = proxied.session.ended.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = async {
                if let Ok(upgraded) = upgraded.await {
                    // How it ended is a warning where it is worth one.
                    let _ = carry(&proxied, &pinned, TokioIo::new(upgraded), host).await;
                }
            } => {}
            () = ended.cancelled() => {}
        }
    });
    Ok(Response::new(empty_body()))
}

async fn carry<C>(
    proxied: &ProxyRequest,
    pinned: &PinnedUrl,
    mut page: C,
    host: TcpStream,
) -> Result<(), Refused>
where
    C: AsyncRead + AsyncWrite + Unpin,
{
    let mut first = [0];
    if !matches!(proxied.within(page.read(&mut first)).await?, Ok(1..)) {
        return Ok(());
    }
    if first[0] != HANDSHAKE {
        pinned.check_allows_http().map_err(|refusal| proxied.refused(refusal))?;
    }
    let activity = proxied.session.usage.slots.begin_tunnel();
    let (from_page, to_page) = tokio::io::split(page);
    let (from_host, mut to_host) = host.into_split();
    let carried = async {
        proxied.count(1)?;
        to_host.write_all(&first).await.map_err(|_| Refused)?;
        tokio::select! {
            // A page that has closed its end reads no answer either.
            sent = copy(proxied, from_page, to_host, &activity, false) => sent,
            // A host may close its end before the page has read everything.
            Err(refused) = copy(proxied, from_host, to_page, &activity, true) => Err(refused),
        }
    };
    tokio::select! {
        carried = tokio::time::timeout_at(proxied.deadline, carried) => match carried {
            Ok(carried) => carried,
            Err(_) if activity.was_idle_at(proxied.deadline) => Ok(()),
            Err(_) => Err(proxied.late()),
        },
        () = activity.given_up() => Ok(()),
    }
}

/// One direction, until its end.
async fn copy<R, W>(
    proxied: &ProxyRequest,
    mut from: R,
    mut to: W,
    activity: &TunnelActivity,
    of_host: bool,
) -> Result<(), Refused>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let length = from.read(&mut buffer).await.map_err(|_| Refused)?;
        if length == 0 {
            return to.shutdown().await.map_err(|_| Refused);
        }
        activity.note(of_host);
        proxied.count(length)?;
        to.write_all(&buffer[..length]).await.map_err(|_| Refused)?;
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;

    use tokio::net::TcpListener;
    use url::Url;

    use super::*;
    use crate::browser::proxy::server::PageServer;
    use crate::config::Config;
    use crate::domain::reach::Reach;
    use crate::domain::site::Site;
    use crate::outbound::{Outbound, Resolve};

    struct Public;

    #[async_trait::async_trait]
    impl Resolve for Public {
        async fn resolve(&self, _: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
            Ok(vec![SocketAddr::from(([1, 1, 1, 1], port))])
        }
    }

    /// What arrives at a host of `sent` through a tunnel that an entry without http allows, and the warnings. The
    /// host is here; nothing connects to where its name points.
    async fn through_tunnel(sent: &[u8]) -> (Vec<u8>, Vec<String>) {
        let allow = ("PLATEN__OUTBOUND__ALLOW".to_owned(), "[\"a.example:8443\"]".to_owned());
        let config = Config::load(None, [allow]).unwrap().outbound;
        let outbound = Outbound::new(config, &[], Arc::new(Public));
        let pinned = outbound.decide_page(&Url::parse("https://a.example:8443/").unwrap()).await.unwrap();
        let server = PageServer::bind(outbound).unwrap();
        let session = server.serve("tab", Site::default(), None, (Reach::AllowedHosts, true)).unwrap();
        let proxied = ProxyRequest::begin(&session, None, "a.example:8443".to_owned()).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut there, _) = listener.accept().await.unwrap();
        let (mut page, ours) = tokio::io::duplex(1_024);
        page.write_all(sent).await.unwrap();
        page.shutdown().await.unwrap();
        let listen = async {
            let mut arrived = Vec::new();
            there.read_to_end(&mut arrived).await.unwrap();
            drop(there);
            arrived
        };
        let (_, arrived) = tokio::join!(carry(&proxied, &pinned, ours, host), listen);
        (arrived, session.warnings().lines())
    }

    #[tokio::test]
    async fn what_is_not_encrypted_goes_through_only_where_http_is_allowed() {
        let (through, warnings) = through_tunnel(b"\x16\x03\x01 hello").await;
        assert_eq!((through.as_slice(), warnings), (&b"\x16\x03\x01 hello"[..], Vec::new()));
        let (through, warnings) = through_tunnel(b"GET / HTTP/1.1\r\n").await;
        assert_eq!(through, b"");
        let refused = "refused address: a.example:8443 (it is not encrypted; outbound.allow can open it: \
                    { host = \"a.example:8443\", http = true })";
        assert_eq!(warnings, [refused]);
    }
}
