//! A tunnel to an allowed host: https and web sockets, which a proxy does not read.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::fence::Passage;
use super::origin::{Answer, Refused};
use crate::outbound::Pinned;

/// Read at a time.
const BUFFER_BYTES: usize = 16 << 10;
/// A record of TLS that begins a handshake (RFC 8446 §5.1).
const HANDSHAKE: u8 = 22;
/// A tunnel whose host had the last word so long ago is idle: nobody misses it.
const IDLE: Duration = Duration::from_secs(1);

/// Who spoke last, and when.
struct Last(Mutex<(bool, Instant)>);

impl Passage {
    /// Connects, and answers: from then on the connection is a tunnel.
    pub(super) async fn tunnel(
        self,
        pinned: Pinned,
        mut request: Request<Incoming>,
    ) -> Result<Response<Answer>, Refused> {
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
        let last = Last(Mutex::new((false, Instant::now())));
        let (from_page, to_page) = tokio::io::split(page);
        let (from_host, mut to_host) = host.into_split();
        let carried = async {
            self.count(1)?;
            to_host.write_all(&first).await.map_err(|_| Refused)?;
            let there = self.pour(from_page, to_host, &last, false);
            let back = self.pour(from_host, to_page, &last, true);
            tokio::try_join!(there, back).map(drop)
        };
        match tokio::time::timeout_at(self.deadline(), carried).await {
            Ok(carried) => carried,
            Err(_) if last.is_idle() => Ok(()),
            Err(_) => Err(self.late()),
        }
    }

    /// One direction, until its end.
    async fn pour<R, W>(&self, mut from: R, mut to: W, last: &Last, of_host: bool) -> Result<(), Refused>
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
            last.note(of_host);
            self.count(length)?;
            to.write_all(&buffer[..length]).await.map_err(|_| Refused)?;
        }
    }
}

impl Last {
    fn note(&self, of_host: bool) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (of_host, Instant::now());
    }

    fn is_idle(&self) -> bool {
        let (of_host, at) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        of_host && at.elapsed() >= IDLE
    }
}
