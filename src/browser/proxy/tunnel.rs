//! A tunnel to an allowed host: https and web sockets, which a proxy does not read.

use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::forward::ProxyRequest;
use super::server::{PageResponse, Refused};
use super::slots::TunnelActivity;
use crate::outbound::Pinned;

/// Read at a time.
const BUFFER_BYTES: usize = 16 << 10;
/// A record of TLS that begins a handshake (RFC 8446 §5.1).
const HANDSHAKE: u8 = 22;

impl ProxyRequest {
    /// Connects, and answers: from then on the connection is a tunnel.
    pub(in crate::browser) async fn tunnel(
        self,
        pinned: Pinned,
        mut request: Request<Incoming>,
    ) -> Result<Response<PageResponse>, Refused> {
        let connected = self.within(self.outbound().connect(&pinned)).await?;
        let host = connected.map_err(|error| self.refused(format!("it cannot be reached: {error}")))?;
        let upgraded = hyper::upgrade::on(&mut request);
        let ended = self.visit().ended();
        tokio::spawn(async move {
            tokio::select! {
                () = async {
                    if let Ok(upgraded) = upgraded.await {
                        // How it ended is a warning where it is worth one.
                        let _ = self.carry(&pinned, TokioIo::new(upgraded), host).await;
                    }
                } => {}
                () = ended.cancelled() => {}
            }
        });
        Ok(Response::new(Empty::new().map_err(|never| match never {}).boxed_unsync()))
    }

    async fn carry<C>(&self, pinned: &Pinned, mut page: C, host: TcpStream) -> Result<(), Refused>
    where
        C: AsyncRead + AsyncWrite + Unpin,
    {
        let mut first = [0];
        if !matches!(self.within(page.read(&mut first)).await?, Ok(1..)) {
            return Ok(());
        }
        if first[0] != HANDSHAKE {
            pinned.check_plain().map_err(|refusal| self.refused(refusal))?;
        }
        let talk = self.visit().fence().begin_tunnel();
        let (from_page, to_page) = tokio::io::split(page);
        let (from_host, mut to_host) = host.into_split();
        let carried = async {
            self.count(1)?;
            to_host.write_all(&first).await.map_err(|_| Refused)?;
            tokio::select! {
                // A page that has closed its end reads no answer either.
                there = self.pour(from_page, to_host, &talk, false) => there,
                // A host that has may have closed it before the page has read everything.
                Err(refused) = self.pour(from_host, to_page, &talk, true) => Err(refused),
            }
        };
        tokio::select! {
            carried = tokio::time::timeout_at(self.deadline(), carried) => match carried {
                Ok(carried) => carried,
                Err(_) if talk.is_idle() => Ok(()),
                Err(_) => Err(self.late()),
            },
            () = talk.given_up() => Ok(()),
        }
    }

    /// One direction, until its end.
    async fn pour<R, W>(
        &self,
        mut from: R,
        mut to: W,
        talk: &TunnelActivity,
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
            talk.note(of_host);
            self.count(length)?;
            to.write_all(&buffer[..length]).await.map_err(|_| Refused)?;
        }
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

    /// What a host hears of `said` through a tunnel that an entry without http allows, and the warnings. The
    /// host is here; nothing connects to where its name points.
    async fn heard(said: &[u8]) -> (Vec<u8>, Vec<String>) {
        let allow = ("PLATEN__OUTBOUND__ALLOW".to_owned(), "[\"a.example:8443\"]".to_owned());
        let config = Config::load(None, [allow]).unwrap().outbound;
        let outbound = Outbound::new(config, &[], Arc::new(Public));
        let pinned = outbound.decide_page(&Url::parse("https://a.example:8443/").unwrap()).await.unwrap();
        let origin = PageServer::bind(outbound).unwrap();
        let visit = origin.serve("tab", Site::default(), None, (Reach::AllowedHosts, true)).unwrap();
        let passage = ProxyRequest::begin(&visit, None, "a.example:8443".to_owned()).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut there, _) = listener.accept().await.unwrap();
        let (mut page, ours) = tokio::io::duplex(1_024);
        page.write_all(said).await.unwrap();
        page.shutdown().await.unwrap();
        let listen = async {
            let mut heard = Vec::new();
            there.read_to_end(&mut heard).await.unwrap();
            drop(there);
            heard
        };
        let (_, heard) = tokio::join!(passage.carry(&pinned, ours, host), listen);
        (heard, visit.warnings().lines())
    }

    #[tokio::test]
    async fn what_is_not_encrypted_does_not_go_through_unless_it_may() {
        let (through, warnings) = heard(b"\x16\x03\x01 hello").await;
        assert_eq!((through.as_slice(), warnings), (&b"\x16\x03\x01 hello"[..], Vec::new()));
        let (through, warnings) = heard(b"GET / HTTP/1.1\r\n").await;
        assert_eq!(through, b"");
        let told = "refused address: a.example:8443 (it is not encrypted; outbound.allow can open it: \
                    { host = \"a.example:8443\", http = true })";
        assert_eq!(warnings, [told]);
    }
}
