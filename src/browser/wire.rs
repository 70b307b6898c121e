//! Chromium's pipe as messages: JSON texts, each ended by a NUL byte.

use std::io;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// A message longer than this is not kept: a page can put 200 MB into the text of a dialog. An answer
/// that long is an error of its call, an event that long is not heard.
const MESSAGE_LIMIT_BYTES: usize = 128 << 20;
/// How much of such a message is kept, to find the call it answers.
const KEPT_BYTES: usize = 256;

/// A call as Chromium reads it.
#[derive(Serialize)]
pub(super) struct Request<'a, M> {
    pub id: u32,
    pub method: &'static str,
    pub params: &'a M,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    pub session: Option<&'a str>,
}

/// An answer (it has an id) or an event (it has a method).
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
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
pub(super) struct Refusal {
    pub code: i64,
    pub message: String,
}

/// What came out of the pipe.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    /// A whole message, without its NUL.
    Message(Bytes),
    /// A message over the limit; the call that it answers, if it answers one.
    TooLong { id: Option<u32> },
}

/// The next message; `None` when the other end closed.
pub(super) async fn read_message(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Incoming>> {
    read_limited(reader, MESSAGE_LIMIT_BYTES).await
}

/// A call's text and its NUL.
pub(super) fn encode<M: Serialize>(request: &Request<'_, M>) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(request)?;
    text.push(0);
    Ok(text)
}

async fn read_limited(
    reader: &mut (impl AsyncBufRead + Unpin),
    limit: usize,
) -> io::Result<Option<Incoming>> {
    let mut message = Vec::new();
    let mut too_long = false;
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(None);
        }
        let end = memchr::memchr(0, available);
        let part = &available[..end.unwrap_or(available.len())];
        if message.len() + part.len() > limit {
            too_long = true;
            message.extend_from_slice(&part[..part.len().min(KEPT_BYTES)]);
            message.truncate(KEPT_BYTES);
            message.shrink_to_fit();
        } else if !too_long {
            message.extend_from_slice(part);
        }
        let consumed = part.len() + usize::from(end.is_some());
        reader.consume(consumed);
        if end.is_some() && too_long {
            return Ok(Some(Incoming::TooLong { id: leading_id(&message) }));
        }
        if end.is_some() {
            return Ok(Some(Incoming::Message(Bytes::from(message))));
        }
    }
}

/// The number in `{"id":7,…`, which is how Chromium begins every answer.
fn leading_id(start: &[u8]) -> Option<u32> {
    let digits = start.strip_prefix(b"{\"id\":")?;
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&digits[..length]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_all(text: &[u8], limit: usize) -> Vec<Incoming> {
        // A small buffer, so that messages come in parts.
        let mut reader = tokio::io::BufReader::with_capacity(5, text);
        let mut messages = Vec::new();
        while let Some(message) = read_limited(&mut reader, limit).await.unwrap() {
            messages.push(message);
        }
        messages
    }

    #[tokio::test]
    async fn messages_end_at_their_nul() {
        let messages = read_all(b"{\"id\":1}\0{}\0cut off", 100).await;
        let expected = [&b"{\"id\":1}"[..], b"{}"].map(|text| Incoming::Message(Bytes::from(text)));
        assert_eq!(messages, expected);
    }

    #[tokio::test]
    async fn a_message_over_the_limit_is_passed_over_and_the_next_one_is_heard() {
        let text =
            b"{\"id\":12,\"result\":\"xxxxxxxxxxxxxxxxxxxxxxxx\"}\0{\"method\":\"yyyyyyyyyyyyyyy\"}\0{}\0";
        let messages = read_all(text, 20).await;
        let expected = [
            Incoming::TooLong { id: Some(12) },
            Incoming::TooLong { id: None },
            Incoming::Message(Bytes::from_static(b"{}")),
        ];
        assert_eq!(messages, expected);
    }
}
