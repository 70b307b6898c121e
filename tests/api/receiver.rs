//! A server of the test's own that accepts every upload and records the requests.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

/// What arrived.
#[derive(Clone, Debug)]
pub struct Request {
    /// Request line and headers.
    pub head: String,
    /// The body, as far as its length said.
    pub body: Vec<u8>,
}

/// Status line and headers, by the count of requests so far and the head; `None` for no answer.
type Responder = Box<dyn Fn(usize, &str) -> Option<String> + Send>;

/// A running server; dropping it ends it.
pub struct Receiver {
    /// Its port on 127.0.0.1.
    pub port: u16,
    seen: Arc<Mutex<Vec<Request>>>,
    answer: Arc<Mutex<Responder>>,
    _end: DropGuard,
}

impl Receiver {
    /// Answers by the head of a request.
    pub async fn new(answer: impl Fn(&str) -> String + Send + 'static) -> Self {
        Self::counting(move |_, head| answer(head)).await
    }

    /// Answers by the count of requests, the present one included, and its head.
    pub async fn counting(answer: impl Fn(usize, &str) -> String + Send + 'static) -> Self {
        Self::serve(Box::new(move |count, head| Some(answer(count, head)))).await
    }

    /// Reads everything and never answers.
    pub async fn silent() -> Self {
        Self::serve(Box::new(|_, _| None)).await
    }

    /// From now on answers this.
    pub fn answer_with(&self, answer: &'static str) {
        *self.answer.lock().unwrap() = Box::new(move |_, _| Some(answer.to_owned()));
    }

    async fn serve(answer: Responder) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(answer)));
        let end = CancellationToken::new();
        let (all, answers, ended) = (Arc::clone(&seen), Arc::clone(&answer), end.clone());
        tokio::spawn(end.clone().run_until_cancelled_owned(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&all), Arc::clone(&answers));
                tokio::spawn(ended.clone().run_until_cancelled_owned(take(stream, seen, answer)));
            }
        }));
        Self { port, seen, answer, _end: end.drop_guard() }
    }

    /// An address of it.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// How many requests came.
    pub fn hits(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// The requests that came.
    pub fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

/// One connection, one request; a silent connection counts as well.
async fn take(mut stream: TcpStream, seen: Arc<Mutex<Vec<Request>>>, answer: Arc<Mutex<Responder>>) {
    let request = read(&mut stream).await;
    let head = request.head.clone();
    let count = {
        let mut seen = seen.lock().unwrap();
        seen.push(request);
        seen.len()
    };
    let words = answer.lock().unwrap()(count, &head);
    let Some(words) = words else { return std::future::pending().await };
    let answer = format!("HTTP/1.1 {words}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(answer.as_bytes()).await;
}

async fn read(stream: &mut TcpStream) -> Request {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8_192];
    let mut head_end = None;
    loop {
        head_end = head_end.or_else(|| bytes.windows(4).position(|end| end == b"\r\n\r\n").map(|at| at + 4));
        let head = String::from_utf8_lossy(&bytes[..head_end.unwrap_or(0)]).into_owned();
        if head_end.is_some_and(|at| bytes.len() >= at + length_of(&head)) {
            return Request { head, body: bytes.split_off(head_end.unwrap_or(0)) };
        }
        match stream.read(&mut chunk).await {
            Ok(length @ 1..) => bytes.extend_from_slice(&chunk[..length]),
            _ => return Request { head: String::new(), body: bytes },
        }
    }
}

fn length_of(head: &str) -> usize {
    let mut lengths = head
        .lines()
        .filter_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    lengths.next_back().unwrap_or(0)
}
