//! The document of a page as it stands, as one file that opens by itself: what `assets/snapshot.js` writes,
//! with the files of the template put in.

use std::collections::VecDeque;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;

use crate::browser::page::error::{StepError, thrown_line};
use crate::browser::page::open_page::OpenPage;
use crate::browser::proxy::mime;
use crate::domain::error::ErrorCode;
use crate::domain::site::Site;
use crate::thread;

const FRAME: &str = include_str!("../../../assets/snapshot.js");
const STYLES: &str = include_str!("../../../assets/snapshot_style.js");
const ELEMENTS: &str = include_str!("../../../assets/snapshot_element.js");
const SPECIALS: &str = include_str!("../../../assets/snapshot_special.js");

/// How many characters of the document are asked for at a time: each takes one to six bytes of an answer.
const SLICE_CHARS: usize = 4 << 20;
/// Longest text that the script is given; a larger style sheet is written from its rules instead.
const TEXT_LIMIT_BYTES: usize = 16 << 20;
/// How much of a text is given to the script at a time, measured in the call.
const PROVIDED_BYTES: usize = 512 << 10;
/// The answer where the script has not run.
const LEFT: &str = "left";
/// How much of a file is encoded at a time; a multiple of three, so that the pieces can be joined.
const ENCODED_BYTES: usize = 3 << 20;

/// A document that the page still holds, and that is taken piece by piece.
pub(super) struct Snapshot {
    site: Site,
    limit: Duration,
    /// The template's files that are in it, by the number that the script gave them.
    files: Vec<String>,
    pieces: VecDeque<Piece>,
    /// How much has been given of the file that is the first piece.
    given_bytes: usize,
}

/// A text, or the number of a file.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Piece {
    Text(String),
    File(usize),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SnapshotReply<T> {
    Failed {
        #[serde(rename = "fault")]
        reason: String,
        large: bool,
    },
    Done(T),
}

#[derive(Deserialize)]
struct Walked {
    needs: Vec<String>,
}

#[derive(Deserialize)]
struct Written {
    length: u64,
    uses: Vec<(String, u64)>,
    warnings: Vec<String>,
}

/// Has a script in the page write the document; returns it with its warnings.
pub(super) async fn take(
    page: &OpenPage,
    site: &Site,
    limit_bytes: u64,
) -> Result<(Snapshot, Vec<String>), StepError> {
    let limit = page.limits.print;
    let walked = ask(page, script(page, site, limit_bytes), limit).await?;
    let walked: Walked = done(&walked, limit_bytes)?;
    for path in walked.needs {
        if site.get(&path).is_none_or(|content| content.len() > TEXT_LIMIT_BYTES) {
            continue;
        }
        let (read, named) = (site.clone(), path.clone());
        let text = thread::by_size(site.bytes_to_read(&path), move || text_of(&read, &named)).await?;
        // Each slice is short, and only one of them is in memory as a call.
        for slice in text.iter().flat_map(|text| slices(text, PROVIDED_BYTES)) {
            let provide = format!("provide({},{})", json!(path), json!(slice));
            ask_made(page, provide, limit).await?;
        }
    }
    let finished = ask_made(page, "finish()".to_owned(), limit).await?;
    let written: Written = done(&finished, limit_bytes)?;
    check_size(site, &written, limit_bytes)?;
    let files = written.uses.into_iter().map(|(path, _)| path).collect();
    let pieces = VecDeque::new();
    Ok((Snapshot { site: site.clone(), limit, files, pieces, given_bytes: 0 }, written.warnings))
}

/// A file as text; `None` for one that is none.
fn text_of(site: &Site, path: &str) -> Option<String> {
    let text = site.text(path)?;
    let text = String::from_utf8_lossy(&text.content);
    Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

impl Snapshot {
    /// The next part of the file, about `size` long; `None` after the last.
    pub(super) async fn next(&mut self, page: &OpenPage, size: usize) -> Result<Option<Bytes>, StepError> {
        let mut chunk = Vec::new();
        while chunk.len() < size {
            if self.pieces.is_empty() {
                let asked = ask_made(page, format!("next({SLICE_CHARS})"), self.limit).await?;
                let pieces = thread::by_size(asked.len(), move || serde_json::from_str(&asked)).await;
                self.pieces = pieces.ok().and_then(Result::ok).ok_or_else(unreadable)?;
            }
            let Some(piece) = self.pieces.pop_front() else { break };
            match piece {
                Piece::Text(text) => chunk.extend_from_slice(text.as_bytes()),
                Piece::File(number) => self.encode(number, &mut chunk).await?,
            }
        }
        Ok(Some(Bytes::from(chunk)).filter(|chunk| !chunk.is_empty()))
    }

    /// Some of a file in its `data:` address; the file stays the first piece until it has been given.
    async fn encode(&mut self, number: usize, chunk: &mut Vec<u8>) -> Result<(), StepError> {
        let path = self.files.get(number).ok_or_else(unreadable)?;
        let content = self.site.get(path).ok_or_else(unreadable)?;
        if self.given_bytes == 0 {
            chunk.extend_from_slice(address_start(path).as_bytes());
        }
        let end = content.len().min(self.given_bytes + ENCODED_BYTES);
        let part = content.slice(self.given_bytes..end);
        let encoded = thread::by_size(part.len(), move || STANDARD.encode(part)).await?;
        chunk.extend_from_slice(encoded.as_bytes());
        self.given_bytes = if end == content.len() { 0 } else { end };
        if self.given_bytes > 0 {
            self.pieces.push_front(Piece::File(number));
        }
        Ok(())
    }
}

fn address_start(path: &str) -> String {
    format!("data:{};base64,", mime::essence(path))
}

/// How long the file is in its address.
fn encoded_length(site: &Site, path: &str) -> u64 {
    let content = site.get(path).map_or(0, Bytes::len);
    (address_start(path).len() + content.div_ceil(3) * 4) as u64
}

/// A picture that a document shows a hundred times is in the file a hundred times. So the size is checked before anything is
/// written, and the error names the largest file.
fn check_size(site: &Site, written: &Written, limit_bytes: u64) -> Result<(), StepError> {
    let sizes = written.uses.iter().map(|(path, count)| (encoded_length(site, path) * count, path, count));
    let total: u64 = written.length + sizes.clone().map(|(size, ..)| size).sum::<u64>();
    if total <= limit_bytes {
        return Ok(());
    }
    let largest = sizes.max().map_or(String::new(), |(size, path, count)| {
        format!("; {path} takes {size} of them (it stands there {count} times)")
    });
    Err(StepError::job(
        ErrorCode::OutputTooLarge,
        format!(
            "the document with its files in it has {total} bytes, more than {limit_bytes} \
             (storage.output_limit_bytes){largest}"
        ),
    ))
}

fn script(page: &OpenPage, site: &Site, limit_bytes: u64) -> String {
    let frame = FRAME.replacen("  STYLES\n", STYLES, 1);
    let frame = frame.replacen("  ELEMENTS\n", &format!("{ELEMENTS}\n{SPECIALS}"), 1);
    let host = page.session.as_ref().map_or("nowhere.localhost", |session| session.host());
    let files: Vec<&str> = site.paths().collect();
    format!("{frame}({})", json!({ "files": files, "host": host, "limit": limit_bytes }))
}

fn done<T: serde::de::DeserializeOwned>(answer: &str, limit_bytes: u64) -> Result<T, StepError> {
    match serde_json::from_str(answer) {
        Ok(SnapshotReply::Done(done)) => Ok(done),
        Ok(SnapshotReply::Failed { large: true, .. }) => Err(StepError::job(
            ErrorCode::OutputTooLarge,
            format!("the document is larger than {limit_bytes} bytes (storage.output_limit_bytes)"),
        )),
        Ok(SnapshotReply::Failed { reason, .. }) => Err(unwritten(&reason)),
        Err(_) => Err(unreadable()),
    }
}

/// Asks for what the script made; it is gone when the page shows another document.
async fn ask_made(page: &OpenPage, call: String, limit: Duration) -> Result<String, StepError> {
    let there = "Object.hasOwn(globalThis,'platenSnapshot')";
    ask(page, format!("{there}?platenSnapshot.{call}:'{LEFT}'"), limit).await
}

async fn ask(page: &OpenPage, expression: String, limit: Duration) -> Result<String, StepError> {
    let left = "the page left for another one while its document was written";
    match page.run(expression, limit).await? {
        Some(Ok(answer)) if answer != LEFT => Ok(answer),
        Some(Err(thrown)) => Err(unwritten(&thrown_line(thrown))),
        Some(Ok(_)) | None => Err(StepError::job(ErrorCode::PageFailed, left)),
    }
}

fn unwritten(why: &str) -> StepError {
    StepError::job(ErrorCode::PageFailed, format!("the document could not be written: {why}"))
}

/// `text` in slices that take at most `limit` bytes each in a call: as JSON, which is JSON there once more.
fn slices(mut text: &str, limit: usize) -> impl Iterator<Item = &str> {
    let in_call = |character: char| match character {
        '"' | '\\' => 4,
        '\0'..='\u{1f}' => 7,
        _ => character.len_utf8(),
    };
    let mut is_first = true;
    std::iter::from_fn(move || {
        // A text without a character is one slice.
        if text.is_empty() && !std::mem::take(&mut is_first) {
            return None;
        }
        is_first = false;
        let mut length = 0;
        let fits = |&(_, character): &(usize, char)| {
            length += in_call(character);
            length <= limit
        };
        let end = text.char_indices().take_while(fits).last().map_or(0, |(at, last)| at + last.len_utf8());
        let (slice, rest) = text.split_at(end);
        text = rest;
        Some(slice)
    })
}

fn unreadable() -> StepError {
    StepError::job(ErrorCode::PageFailed, "the document of the page cannot be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_slice_takes_more_than_its_share_of_a_call() {
        for text in ["", "plain text", "\u{1}\0\u{1f}\n\r\t\u{7f}\u{80}", "\"\\/\u{2028}<>", "ä€\u{1f600}'`"]
        {
            let text = text.repeat(5);
            let taken: Vec<&str> = slices(&text, 12).collect();
            assert_eq!(taken.concat(), text);
            assert!(!taken.is_empty() && (text.is_empty() || taken.iter().all(|slice| !slice.is_empty())));
            for slice in taken {
                // The quotes of both are written once a call.
                let in_call = json!(json!(slice).to_string()).to_string().len() - 6;
                assert!(in_call <= 12, "{slice:?} takes {in_call}");
            }
        }
    }
}
