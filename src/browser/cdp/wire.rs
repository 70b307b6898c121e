//! Chromium's pipe as messages: JSON texts, each ended by a NUL byte.

use std::io;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Longest messages that are kept.
pub(in crate::browser) const LIMITS: MessageLimits =
    MessageLimits { answer_bytes: 128 << 20, event_bytes: 1 << 20 };
/// Longest call that is sent. Hazard: a call of more than 100 MiB ends the browser, with all pages in it.
pub(in crate::browser) const CALL_LIMIT_BYTES: usize = 80 << 20;
/// How much is kept of both ends of a longer message: the start has the call's number or the event's name, the end its
/// session.
const KEPT_BYTES: usize = 256;
/// How Chromium begins every answer, and no event.
const ANSWER_START: &[u8] = b"{\"id\":";

/// A call as Chromium reads it.
#[derive(Serialize)]
pub(in crate::browser) struct Request<'a, M> {
    pub id: u32,
    pub method: &'static str,
    pub params: &'a M,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    pub session: Option<&'a str>,
}

/// An answer (it has an id) or an event (it has a method).
#[derive(Deserialize)]
pub(in crate::browser) struct Envelope<'a> {
    pub id: Option<u32>,
    #[serde(borrow)]
    pub method: Option<&'a str>,
    #[serde(borrow, rename = "sessionId")]
    pub session: Option<&'a str>,
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
    pub error: Option<Refusal>,
}

/// Why Chromium did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(in crate::browser) struct Refusal {
    pub code: i64,
    pub message: String,
}

/// What came out of the pipe.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::browser) enum Incoming {
    /// A whole message, without its NUL.
    Message(Bytes),
    /// An answer over the limit, which is an error of its call.
    LongAnswer { id: u32 },
    /// An event over the limit.
    LongEvent(LongEvent),
}

/// What is known of an event that was skipped.
#[derive(Debug, PartialEq, Eq)]
pub struct LongEvent {
    /// How long it was.
    pub bytes: u64,
    start: Vec<u8>,
    end: Vec<u8>,
}

impl LongEvent {
    /// Its name.
    pub(in crate::browser) fn method(&self) -> Option<&str> {
        quoted(self.start.strip_prefix(b"{\"method\":\"")?)
    }

    /// Whether it begins with this text.
    pub(in crate::browser) fn begins(&self, text: &str) -> bool {
        self.start.starts_with(text.as_bytes())
    }

    /// The session that it is about, where that is its first member.
    pub(in crate::browser) fn subject(&self) -> Option<&str> {
        let key = b"\"params\":{\"sessionId\":\"";
        quoted(&self.start[memchr::memmem::find(&self.start, key)? + key.len()..])
    }

    /// Its session, which Chromium writes after all that a page can choose.
    pub(in crate::browser) fn session(&self) -> Option<&str> {
        let key = b"\"sessionId\":\"";
        quoted(&self.end[memchr::memmem::rfind(&self.end, key)? + key.len()..])
    }
}

/// An answer may be a file. Hazard: an event has what a page chooses to send: 200 MB in the text of a dialog, 80 MB a second
/// on the console. The longest that is needed has an address: 2 MB at most, usually a few hundred bytes. A main frame at an
/// address beyond the limit counts as unreachable (`PageEvents::navigated_to_long_address`).
#[derive(Clone, Copy)]
pub(in crate::browser) struct MessageLimits {
    answer_bytes: usize,
    event_bytes: usize,
}

/// A call's text and its NUL.
pub(in crate::browser) fn encode<M: Serialize>(request: &Request<'_, M>) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(request)?;
    text.push(0);
    Ok(text)
}

/// The next message; `None` when the other end closed.
pub(in crate::browser) async fn read_message(
    reader: &mut (impl AsyncBufRead + Unpin),
    limits: MessageLimits,
) -> io::Result<Option<Incoming>> {
    let mut message = PartialMessage { limits, kept: Vec::new(), end: Vec::new(), bytes: 0 };
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(None);
        }
        let end = memchr::memchr(0, available);
        let part = &available[..end.unwrap_or(available.len())];
        message.take(part);
        let consumed = part.len() + usize::from(end.is_some());
        reader.consume(consumed);
        if end.is_some() {
            return Ok(Some(message.into_incoming()));
        }
    }
}

/// A message that is being read.
struct PartialMessage {
    limits: MessageLimits,
    /// All of it, or its start when it is too long.
    kept: Vec<u8>,
    /// Its last bytes when it is too long.
    end: Vec<u8>,
    bytes: usize,
}

impl PartialMessage {
    fn take(&mut self, part: &[u8]) {
        let was_long = self.is_long();
        self.bytes += part.len();
        if !was_long {
            // Answers and events have different limits, so the bytes that tell them apart come first.
            let missing = ANSWER_START.len().saturating_sub(self.kept.len()).min(part.len());
            self.kept.extend_from_slice(&part[..missing]);
            if !self.is_long() {
                return self.kept.extend_from_slice(&part[missing..]);
            }
            self.end = self.kept[self.kept.len().saturating_sub(KEPT_BYTES)..].to_vec();
            self.kept.extend_from_slice(&part[missing..part.len().min(missing + KEPT_BYTES)]);
            self.kept.truncate(KEPT_BYTES);
            self.kept.shrink_to_fit();
            return self.take_end(&part[missing..]);
        }
        self.take_end(part);
    }

    fn take_end(&mut self, part: &[u8]) {
        self.end.extend_from_slice(&part[part.len().saturating_sub(KEPT_BYTES)..]);
        self.end.drain(..self.end.len().saturating_sub(KEPT_BYTES));
    }

    fn is_long(&self) -> bool {
        let is_answer = self.kept.starts_with(ANSWER_START);
        let limit = if is_answer { self.limits.answer_bytes } else { self.limits.event_bytes };
        self.bytes > limit
    }

    fn into_incoming(self) -> Incoming {
        if !self.is_long() {
            return Incoming::Message(Bytes::from(self.kept));
        }
        if let Some(id) = leading_id(&self.kept) {
            return Incoming::LongAnswer { id };
        }
        let bytes = u64::try_from(self.bytes).unwrap_or(u64::MAX);
        Incoming::LongEvent(LongEvent { bytes, start: self.kept, end: self.end })
    }
}

/// The number in `{"id":7,…`.
fn leading_id(start: &[u8]) -> Option<u32> {
    let digits = start.strip_prefix(ANSWER_START)?;
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&digits[..length]).ok()?.parse().ok()
}

/// The text before the next quote.
fn quoted(text: &[u8]) -> Option<&str> {
    std::str::from_utf8(&text[..memchr::memchr(b'"', text)?]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_all(text: &[u8], answer_bytes: usize, event_bytes: usize) -> Vec<Incoming> {
        // A small buffer, so that messages come in parts.
        let mut reader = tokio::io::BufReader::with_capacity(5, text);
        let limits = MessageLimits { answer_bytes, event_bytes };
        let mut messages = Vec::new();
        while let Some(message) = read_message(&mut reader, limits).await.unwrap() {
            messages.push(message);
        }
        messages
    }

    #[tokio::test]
    async fn messages_end_at_their_nul() {
        let messages = read_all(b"{\"id\":1}\0{}\0cut off", 100, 100).await;
        let expected = [&b"{\"id\":1}"[..], b"{}"].map(|text| Incoming::Message(Bytes::from(text)));
        assert_eq!(messages, expected);
    }

    #[tokio::test]
    async fn a_message_over_the_limit_is_skipped_and_the_next_one_is_read() {
        let text = b"{\"id\":12,\"result\":\"xxxxxxxxxxxxxxxxxxxxxxxx\"}\0{}\0";
        let messages = read_all(text, 20, 20).await;
        let expected = [Incoming::LongAnswer { id: 12 }, Incoming::Message(Bytes::from_static(b"{}"))];
        assert_eq!(messages, expected);
    }

    #[tokio::test]
    async fn an_event_over_its_limit_keeps_its_name_and_session() {
        let text = format!("\"sessionId\":\"page's\"{}", "x".repeat(2_000));
        let event =
            format!("{{\"method\":\"Page.said\",\"params\":{{\"text\":{text:?}}},\"sessionId\":\"AB\"}}\0");
        let answer = format!("{{\"id\":3,\"result\":{text:?}}}\0");
        let messages = read_all(format!("{event}{answer}").as_bytes(), 10_000, 100).await;
        let [Incoming::LongEvent(long), Incoming::Message(whole)] = &messages[..] else {
            panic!("{messages:?}");
        };
        assert_eq!((long.method(), long.session()), (Some("Page.said"), Some("AB")));
        assert_eq!(long.bytes + 1, event.len() as u64);
        assert!(long.start.len() <= KEPT_BYTES && long.end.len() <= KEPT_BYTES);
        assert_eq!(whole.len() + 1, answer.len());
    }

    #[tokio::test]
    async fn an_event_over_the_limit_in_one_part_keeps_its_session_too() {
        let mut event = PartialMessage {
            limits: MessageLimits { answer_bytes: 99, event_bytes: 20 },
            kept: Vec::new(),
            end: Vec::new(),
            bytes: 0,
        };
        event.take(b"{\"method\":\"Page.said\",\"params\":{},\"sessionId\":\"AB\"}");
        let Incoming::LongEvent(long) = event.into_incoming() else { panic!() };
        assert_eq!((long.method(), long.session()), (Some("Page.said"), Some("AB")));
    }
}
