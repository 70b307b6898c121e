//! A proxy between the service and its store: passes everything, or fails as networks and servers do.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::runtime::Runtime;
use tokio::sync::{Mutex, watch};

const CHUNK_BYTES: usize = 16 << 10;
const FAILURE: &[u8] =
    b"HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
const ABSENCE: &[u8] = b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

type ClientWriter = Arc<Mutex<OwnedWriteHalf>>;

/// How it treats data from the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Passes it on.
    Pass,
    /// Answers 500 and closes.
    Fail,
    /// Answers 404 and closes, as a proxy does that knows no store.
    NotFound,
    /// Takes it, and nothing of that connection moves any more: what was taken never arrives, not later either.
    Hang,
    /// Closes the connection when so many bytes of it have passed, in either direction.
    Cut(u64),
    /// Passes a small piece every few milliseconds.
    Slow,
}

/// A running proxy.
pub struct Proxy {
    /// Where it listens.
    pub address: SocketAddr,
    /// How many requests, or pieces of them, were not simply passed on.
    pub met: Arc<AtomicU64>,
    mode: watch::Sender<Mode>,
    runtime: Option<Runtime>,
}

impl Proxy {
    /// A proxy in front of `target`.
    pub fn before(target: SocketAddr) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime for the proxy");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a listener for tokio");
        let address = listener.local_addr().expect("an address");
        let (mode, watched) = watch::channel(Mode::Pass);
        let met = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&met);
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener for tokio");
            while let Ok((from, _)) = listener.accept().await {
                let link = Link { mode: watched.clone(), met: Arc::clone(&counter), passed: Arc::default() };
                tokio::spawn(link.join(from, target));
            }
        });
        Self { address, met, mode, runtime: Some(runtime) }
    }

    /// Sets the mode for new connections and for those under way.
    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// The endpoint as the settings take it.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// One connection through the proxy.
#[derive(Clone)]
struct Link {
    mode: watch::Receiver<Mode>,
    met: Arc<AtomicU64>,
    passed: Arc<AtomicU64>,
}

impl Link {
    async fn join(self, from: TcpStream, target: SocketAddr) {
        let Ok(to) = TcpStream::connect(target).await else { return };
        let _ = (from.set_nodelay(true), to.set_nodelay(true));
        let (from_read, from_write) = from.into_split();
        let (to_read, to_write) = to.into_split();
        let from_write = Arc::new(Mutex::new(from_write));
        let forward_requests = self.clone().forward_requests(from_read, to_write, Arc::clone(&from_write));
        // When one direction ends the other is of no use: both are dropped, which closes them.
        tokio::select! {
            () = forward_requests => {}
            () = self.forward_responses(to_read, from_write) => {}
        }
    }

    async fn forward_requests(
        mut self,
        mut from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        answer: ClientWriter,
    ) {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let length = from.read(&mut chunk).await.unwrap_or(0);
            if length == 0 {
                return;
            }
            let answered = match *self.mode.borrow() {
                Mode::Fail => Some(FAILURE),
                Mode::NotFound => Some(ABSENCE),
                Mode::Pass | Mode::Hang | Mode::Cut(_) | Mode::Slow => None,
            };
            if let Some(answered) = answered {
                self.met.fetch_add(1, Ordering::Relaxed);
                let _ = answer.lock().await.write_all(answered).await;
                return;
            }
            if !self.may_pass(length).await || to.write_all(&chunk[..length]).await.is_err() {
                return;
            }
        }
    }

    async fn forward_responses(mut self, mut to: OwnedReadHalf, answer: ClientWriter) {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let length = to.read(&mut chunk).await.unwrap_or(0);
            if length == 0 || !self.may_pass(length).await {
                return;
            }
            if answer.lock().await.write_all(&chunk[..length]).await.is_err() {
                return;
            }
        }
    }

    /// Waits as the mode demands; whether the bytes may pass then.
    async fn may_pass(&mut self, length: usize) -> bool {
        let passed = self.passed.fetch_add(length as u64, Ordering::Relaxed);
        let mode = *self.mode.borrow_and_update();
        if mode != Mode::Pass {
            self.met.fetch_add(1, Ordering::Relaxed);
        }
        match mode {
            Mode::Pass | Mode::Fail | Mode::NotFound => true,
            Mode::Cut(limit) => passed < limit,
            Mode::Slow => {
                tokio::time::sleep(Duration::from_millis(5)).await; // poll
                true
            }
            Mode::Hang => {
                let _ = self.mode.changed().await;
                false
            }
        }
    }
}
