//! A connection to Chromium over its pipe, as bare as one can be that several threads share.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// Longest wait for anything that should come.
pub const WAIT: Duration = Duration::from_secs(30);

/// The waiting ends of calls (by id) and of sessions (by session).
#[derive(Default)]
struct Routes {
    calls: HashMap<u64, Sender<Value>>,
    sessions: HashMap<String, Sender<String>>,
}

/// A connection, as bare as one can be that several threads share.
pub struct Pipe {
    writer: Mutex<File>,
    routes: Arc<Mutex<Routes>>,
    next_id: AtomicU64,
}

impl Pipe {
    /// A connection over the two ends of a browser's pipe.
    pub fn open(reader: File, writer: File) -> Self {
        let routes = Arc::<Mutex<Routes>>::default();
        let shared = Arc::clone(&routes);
        std::thread::spawn(move || route(BufReader::with_capacity(1 << 18, reader), &shared));
        Self { writer: Mutex::new(writer), routes, next_id: AtomicU64::new(1) }
    }

    /// Calls and waits for the answer.
    pub fn call(&self, session: Option<&str>, method: &str, params: &Value) -> io::Result<Value> {
        let (sender, answer) = channel();
        let call = self.message(session, method, params);
        lock(&self.routes).calls.insert(call["id"].as_u64().unwrap_or_default(), sender);
        self.send(&call)?;
        let mut answer = answer.recv_timeout(WAIT).map_err(io::Error::other)?;
        if answer["error"].is_object() {
            return Err(io::Error::other(format!("{method}: {}", answer["error"])));
        }
        Ok(answer["result"].take())
    }

    /// Calls without waiting for the answer.
    pub fn tell(&self, session: Option<&str>, method: &str, params: &Value) -> io::Result<()> {
        self.send(&self.message(session, method, params))
    }

    /// The names of a session's events from now on.
    pub fn listen(&self, session: &str) -> Receiver<String> {
        let (sender, events) = channel();
        lock(&self.routes).sessions.insert(session.to_owned(), sender);
        events
    }

    /// No more events of a session.
    pub fn forget(&self, session: &str) {
        lock(&self.routes).sessions.remove(session);
    }

    fn message(&self, session: Option<&str>, method: &str, params: &Value) -> Value {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        message
    }

    fn send(&self, call: &Value) -> io::Result<()> {
        let mut text = serde_json::to_vec(call)?;
        text.push(0);
        lock(&self.writer).write_all(&text)
    }
}

/// A mutex whose data stay valid when a holder panics.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn route(mut reader: impl BufRead, routes: &Mutex<Routes>) {
    let mut text = Vec::new();
    while reader.read_until(0, &mut text).is_ok_and(|read| read > 0) {
        text.pop();
        if let Ok(message) = serde_json::from_slice::<Value>(&text) {
            if let Some(id) = message["id"].as_u64() {
                if let Some(sender) = lock(routes).calls.remove(&id) {
                    let _ = sender.send(message);
                }
            } else if let (Some(session), Some(method)) =
                (message["sessionId"].as_str(), message["method"].as_str())
                && let Some(sender) = lock(routes).sessions.get(session)
            {
                let _ = sender.send(method.to_owned());
            }
        }
        text.clear();
    }
}
