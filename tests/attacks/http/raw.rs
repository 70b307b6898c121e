//! Bytes on a TCP connection of their own, without a client that would correct them.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::app::{PATIENCE, TestApp};

/// How a client ends what it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It sends no more, and reads on.
    HalfClosed,
    /// It is gone, with a reset.
    Reset,
    /// It waits for the service to close.
    Open,
}

/// What came back.
#[derive(Debug, Default)]
pub struct Answers {
    pub text: String,
    /// The service closed the connection.
    pub is_closed: bool,
}

impl Answers {
    /// The statuses of all answers but interim ones.
    pub fn statuses(&self) -> Vec<u16> {
        let heads = self.text.split("HTTP/1.1 ").skip(1);
        let statuses = heads.filter_map(|head| head.split(' ').next()?.parse().ok());
        statuses.filter(|status| *status != 100).collect()
    }
}

/// Sends the pieces on a new connection, each in a packet of its own; what comes back until the service closes, or until
/// nothing has come for `quiet`.
pub async fn exchange(app: &TestApp, pieces: &[&[u8]], end: End, quiet: Duration) -> Answers {
    let mut stream = TcpStream::connect(app.base.strip_prefix("http://").unwrap()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for piece in pieces {
        // The service may have refused the request and closed already.
        if stream.write_all(piece).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    match end {
        End::HalfClosed => drop(stream.shutdown().await),
        End::Reset => {
            stream.set_zero_linger().unwrap();
            return Answers::default();
        }
        End::Open => {}
    }
    let mut bytes = Vec::new();
    let is_closed = timeout(PATIENCE, read(&mut stream, &mut bytes, quiet)).await.expect("it ends");
    Answers { text: String::from_utf8_lossy(&bytes).into_owned(), is_closed }
}

/// Whether the service closed the connection.
async fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>, quiet: Duration) -> bool {
    let mut chunk = [0; 4_096];
    loop {
        match timeout(quiet, stream.read(&mut chunk)).await {
            // One that closes with unread bytes of ours resets the connection.
            Ok(Ok(0) | Err(_)) => return true,
            Ok(Ok(count)) => bytes.extend_from_slice(&chunk[..count]),
            Err(_) => return false,
        }
    }
}
