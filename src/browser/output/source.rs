//! Where the pieces of a file come from, and the reading of them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use headless_chrome::protocol::cdp::IO;

use super::html::Snapshot;
use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::config::as_count;
use crate::domain::error::ErrorCode;
use crate::thread;

/// Where the pieces of a file come from.
pub(super) enum Source {
    /// A stream of Chromium's; the offset to read from, if not where the last piece ended.
    Stream(IO::StreamHandle, Option<u32>),
    /// A piece that was read already, and what comes behind it.
    Held(Bytes, Box<Source>),
    /// The whole file, as it came.
    Text(String),
    /// A document that the page holds.
    Document(Box<Snapshot>),
    Ended,
}

impl Source {
    /// The next piece, and what comes behind it; an empty one after the last.
    pub(super) async fn read(self, page: &OpenPage) -> Result<(Bytes, Self), StepError> {
        let (handle, from) = match self {
            Self::Ended => return Ok((Bytes::new(), Self::Ended)),
            Self::Held(piece, rest) => return Ok((piece, *rest)),
            Self::Text(text) => return Ok((decode(text).await?, Self::Ended)),
            Self::Document(mut snapshot) => {
                let size = as_count(page.limits.chunk_bytes.into());
                return Ok(match snapshot.next(page, size).await? {
                    Some(chunk) => (chunk, Self::Document(snapshot)),
                    None => (Bytes::new(), Self::Ended),
                });
            }
            Self::Stream(handle, from) => (handle, from),
        };
        let (chunk, is_last) = read_stream(page, &handle, from).await?;
        let rest = Self::Stream(handle, None);
        if !is_last {
            return Ok((chunk, rest));
        }
        rest.close(page)?;
        Ok((chunk, Self::Ended))
    }

    /// Closes a stream. A tab that is disposed of closes its own, one that is reused does not.
    pub(super) fn close(self, page: &OpenPage) -> Result<(), StepError> {
        match self {
            Self::Stream(handle, _) => drop(page.tab()?.send(&IO::Close { handle })),
            Self::Held(_, rest) => return rest.close(page),
            Self::Text(_) | Self::Document(_) | Self::Ended => {}
        }
        Ok(())
    }
}

/// A piece of a stream, and whether it is the last one.
pub(super) async fn read_stream(
    page: &OpenPage,
    handle: &IO::StreamHandle,
    from: Option<u32>,
) -> Result<(Bytes, bool), StepError> {
    let (tab, limit) = (page.tab()?, page.limits.print);
    let read = IO::Read { handle: handle.clone(), offset: from, size: Some(page.limits.chunk_bytes) };
    next_part(async || Ok(tab.call_within(read.clone(), limit).await?)).await
}

/// The next part of a stream, and whether it is the last. Hazard: Chromium may answer nothing before the end (its reader
/// has nothing yet). Given on, that would be taken for the end, and half a document would be published as a whole one.
async fn next_part(
    mut ask: impl AsyncFnMut() -> Result<IO::ReadReturnObject, StepError>,
) -> Result<(Bytes, bool), StepError> {
    loop {
        let part = ask().await?;
        let is_encoded = part.base_64_encoded == Some(true);
        let chunk = if is_encoded { decode(part.data).await? } else { Bytes::from(part.data) };
        if part.eof || !chunk.is_empty() {
            return Ok((chunk, part.eof));
        }
    }
}

async fn decode(text: String) -> Result<Bytes, StepError> {
    match thread::by_size(text.len(), move || STANDARD.decode(text)).await {
        Ok(Ok(bytes)) => Ok(Bytes::from(bytes)),
        Ok(Err(_)) | Err(_) => {
            Err(StepError::job(ErrorCode::PageFailed, "the browser's file cannot be read"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_before_the_end_is_not_the_end() {
        let part = |data: &str, base_64_encoded, eof| IO::ReadReturnObject {
            data: data.to_owned(),
            base_64_encoded: Some(base_64_encoded),
            eof,
        };
        let answers = [
            part("", true, false),
            part("QUI=", true, false),
            part("", false, false),
            part("", true, false),
            part("CD", false, false),
            part("", true, true),
        ];
        let mut answers = answers.into_iter();
        let mut ask = async || Ok(answers.next().unwrap());
        let mut parts = Vec::new();
        for _ in 0..3 {
            parts.push(next_part(&mut ask).await.unwrap());
        }
        let wanted = [("AB", false), ("CD", false), ("", true)];
        assert_eq!(parts, wanted.map(|(text, is_last)| (Bytes::from(text), is_last)));
        let failed = next_part(async || Err(StepError::job(ErrorCode::PageFailed, "gone"))).await;
        assert!(failed.is_err(), "what fails is not asked again");
    }
}
