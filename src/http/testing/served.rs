//! A server on a free port, for tests that send and read raw bytes.

use std::net::SocketAddr;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A server that is stopped by [`Served::stop`].
pub(in crate::http) struct Served {
    pub(in crate::http) address: SocketAddr,
    handle: ServerHandle,
}

impl Served {
    pub(super) fn new(address: SocketAddr, handle: ServerHandle) -> Self {
        Self { address, handle }
    }

    /// Connects and sends; what comes back is read with [`answer_of`].
    pub(in crate::http) async fn send(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }

    pub(in crate::http) async fn stop(self, is_graceful: bool) {
        self.handle.stop(is_graceful).await;
    }
}

/// Everything that comes until the other side closes; fails when it does not close within 20 seconds.
pub(in crate::http) async fn answer_of(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await.expect("it closes").unwrap();
    String::from_utf8(bytes).unwrap()
}

/// What comes up to `end`; fails when that does not come within 20 seconds.
pub(in crate::http) async fn answer_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        let byte = timeout(Duration::from_secs(20), stream.read_u8()).await.expect("it answers").unwrap();
        text.push(char::from(byte));
    }
    text
}

/// Waits for a condition; fails when it does not come within 20 seconds.
pub(in crate::http) async fn until(mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(1)).await; // poll
        }
    };
    timeout(Duration::from_secs(20), wait).await.expect("it comes to hold");
}
