//! A page server for one document and the files beside it, with the headers of the service's own: nothing may be
//! cached. Reached at its own port, or under any name through a context's proxy.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::common::document::Document;
use crate::common::pipe::lock;

/// The page's path.
pub const PAGE: &str = "index.html";

/// A server on a port of its own.
pub struct Origin {
    pub port: u16,
    pub served: Arc<Served>,
}

/// What it serves by path, and when it was asked last.
pub struct Served {
    files: Mutex<HashMap<String, Vec<u8>>>,
    pub last: Mutex<Instant>,
}

impl Origin {
    /// Starts it; it serves nothing yet.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let served = Arc::new(Served { files: Mutex::default(), last: Mutex::new(Instant::now()) });
        let shared = Arc::clone(&served);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = Arc::clone(&shared);
                std::thread::spawn(move || answer_requests(&stream, &served));
            }
        });
        Ok(Self { port, served })
    }

    /// Serves this document from now on.
    pub fn show(&self, document: &Document) {
        let page = (PAGE.to_owned(), document.page.clone().into_bytes());
        *lock(&self.served.files) = document.files.iter().cloned().chain([page]).collect();
    }
}

fn answer_requests(stream: &TcpStream, served: &Served) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut path) = (String::new(), String::new());
    while reader.read_line(&mut line)? > 0 {
        if line == "\r\n" {
            *lock(&served.last) = Instant::now();
            (&*stream).write_all(&answer(served, &path))?;
        } else if let Some(target) = line.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()) {
            path_of(target).clone_into(&mut path);
        }
        line.clear();
    }
    Ok(())
}

/// The path without its first slash; a proxy is asked for the whole address.
fn path_of(target: &str) -> &str {
    let behind_scheme = target.split_once("://").map_or(target, |(_, rest)| rest);
    let path = behind_scheme.split_once('/').map_or("", |(_, path)| path);
    if path.is_empty() { PAGE } else { path }
}

fn answer(served: &Served, path: &str) -> Vec<u8> {
    let files = lock(&served.files);
    let Some(content) = files.get(path) else {
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec();
    };
    let kind = match mime_guess::from_path(path).first_or_octet_stream() {
        text if text.type_() == "text" => format!("{text}; charset=utf-8"),
        other => other.to_string(),
    };
    // A page that was put into its tab has no origin, and asks for its font from another one.
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nCache-Control: no-store\r\n\
         Access-Control-Allow-Origin: *\r\nContent-Length: {}\r\n\r\n",
        content.len()
    );
    [head.as_bytes(), content].concat()
}
