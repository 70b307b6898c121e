//! Frames between the service and a child over its standard streams: a JSON header and raw bytes. The service refuses frames
//! longer than it expects; the child trusts the service.
//!
//! A frame is the header's length (4 bytes, little endian), the body's length (8 bytes), the header,
//! the body.

use std::io::{self, Read, Write};

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// A message of a child: `Ready`, then for each job any number of `Want` and `Part`, and one `Done`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChildMessage<R> {
    /// Everything is loaded; a job may come.
    Ready,
    /// The child requests the file of this name; answered by [`FileReply`].
    Want(String),
    /// The frame's body is a part of the output. It is not answered.
    Part,
    /// The job's result, with the frame's body.
    Done(R),
}

/// The answer to [`ChildMessage::Want`].
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileReply {
    /// The file is the body.
    File {
        /// How many bytes at the body's end are not the file but its generated script.
        made_bytes: usize,
    },
    /// There is no such file, or it is refused; holds the reason.
    Refused(String),
}

/// Longest header: a job lists the names of its files there.
pub(super) const HEADER_LIMIT_BYTES: u32 = 16 << 20;

/// Room that is made for a part of a frame before any of it came.
const FIRST_ROOM_BYTES: u64 = 64 << 10;
/// The chunk size of [`pass`].
const PASSED_BYTES: usize = 64 << 10;
const PREFIX_BYTES: usize = 12;

/// A frame could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The other side is gone, or the pipe broke.
    #[error("the pipe broke: {0}")]
    Broken(#[from] io::Error),
    /// The body is longer than the reader is ready to hold.
    #[error("a body of {0} bytes is longer than agreed")]
    TooLong(u64),
    /// Not a frame.
    #[error("this is no frame: {0}")]
    Malformed(String),
}

/// Sends a frame from the child's side.
///
/// # Errors
/// When the pipe breaks, or the header is longer than a frame's may be.
pub fn write(mut sink: impl Write, header: &impl Serialize, body: &[u8]) -> io::Result<()> {
    sink.write_all(&head(header, body.len() as u64)?)?;
    sink.write_all(body)?;
    sink.flush()
}

/// Sends a frame from the child's side with `length` bytes of `body`.
///
/// # Errors
/// When the pipe breaks, the header is too long, or the body is shorter than `length`: then the stream is out of step and the
/// child must end.
pub fn copy(mut sink: impl Write, header: &impl Serialize, body: impl Read, length: u64) -> io::Result<()> {
    sink.write_all(&head(header, length)?)?;
    if io::copy(&mut body.take(length), &mut sink)? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    sink.flush()
}

/// Reads a frame on the child's side, which trusts the service.
///
/// # Errors
/// See [`FrameError`].
pub fn read<H: DeserializeOwned>(mut source: impl Read) -> Result<(H, Vec<u8>), FrameError> {
    let mut prefix = [0; PREFIX_BYTES];
    source.read_exact(&mut prefix)?;
    let (header_length, body_length) = lengths(prefix);
    let header = exactly(&mut source, u64::from(header_length))?;
    let body = exactly(&mut source, body_length)?;
    Ok((parse(&header)?, body))
}

/// Reads a frame on the child's side into two files, header and body, which `open` makes when a frame arrives. Nothing of it stays
/// in this process' memory. The inner error is one of writing: the frame has been read to its end nevertheless.
///
/// # Errors
/// When the pipe breaks.
pub fn pass<W: Write>(
    mut source: impl Read,
    open: impl FnOnce() -> io::Result<[W; 2]>,
) -> io::Result<io::Result<()>> {
    let mut prefix = [0; PREFIX_BYTES];
    source.read_exact(&mut prefix)?;
    let (header_length, body_length) = lengths(prefix);
    let mut buffer = vec![0; PASSED_BYTES];
    let (mut files, mut written) = match open() {
        Ok(files) => (Some(files), Ok(())),
        Err(error) => (None, Err(error)),
    };
    for (number, mut left) in [u64::from(header_length), body_length].into_iter().enumerate() {
        let mut file = files.as_mut().and_then(|files| files.get_mut(number));
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(PASSED_BYTES).min(PASSED_BYTES);
            let Some(part) = buffer.get_mut(..most) else { break };
            source.read_exact(part)?;
            left = left.saturating_sub(most as u64);
            if let Some(file) = file.as_mut().filter(|_| written.is_ok()) {
                written = file.write_all(part);
            }
        }
    }
    buffer.fill(0);
    // Without this the compiler may drop the write above: nothing reads the buffer again.
    std::hint::black_box(&buffer);
    Ok(written)
}

/// Sends a frame from the service's side; the parts of the body are sent one after the other.
pub(super) async fn send(
    mut sink: impl AsyncWrite + Unpin,
    header: &impl Serialize,
    body: &[Bytes],
) -> io::Result<()> {
    let head = head(header, body.iter().map(|part| part.len() as u64).sum())?;
    sink.write_all(&head).await?;
    for part in body {
        sink.write_all(part).await?;
    }
    sink.flush().await
}

/// Receives a frame on the service's side, which does not trust the child.
pub(super) async fn receive<H: DeserializeOwned>(
    mut source: impl AsyncRead + Unpin,
    header_limit: u32,
    body_limit: u64,
) -> Result<(H, Bytes), FrameError> {
    let mut prefix = [0; PREFIX_BYTES];
    source.read_exact(&mut prefix).await?;
    let (header_length, body_length) = lengths(prefix);
    if header_length > header_limit {
        return Err(FrameError::Malformed(format!("a header of {header_length} bytes")));
    }
    if body_length > body_limit {
        return Err(FrameError::TooLong(body_length));
    }
    let header = take(&mut source, u64::from(header_length)).await?;
    let body = take(&mut source, body_length).await?;
    Ok((parse(&header)?, body.into()))
}

fn head(header: &impl Serialize, body_length: u64) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(header)?;
    let length = u32::try_from(json.len()).ok().filter(|&length| length <= HEADER_LIMIT_BYTES);
    let length = length.ok_or_else(|| io::Error::other("the header of a frame is too long"))?;
    let mut head = Vec::with_capacity(PREFIX_BYTES + json.len());
    head.extend_from_slice(&length.to_le_bytes());
    head.extend_from_slice(&body_length.to_le_bytes());
    head.extend_from_slice(&json);
    Ok(head)
}

fn lengths(prefix: [u8; PREFIX_BYTES]) -> (u32, u64) {
    let [a, b, c, d, body @ ..] = prefix;
    (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(body))
}

fn parse<H: DeserializeOwned>(header: &[u8]) -> Result<H, FrameError> {
    serde_json::from_slice(header).map_err(|error| FrameError::Malformed(error.to_string()))
}

fn exactly(source: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = first_room(length);
    source.take(length).read_to_end(&mut bytes)?;
    whole(bytes, length)
}

async fn take(source: &mut (impl AsyncRead + Unpin), length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = first_room(length);
    source.take(length).read_to_end(&mut bytes).await?;
    whole(bytes, length)
}

/// Room for what is usually sent, in one read. A length is only a claim: beyond this the buffer grows with what arrives.
fn first_room(length: u64) -> Vec<u8> {
    Vec::with_capacity(usize::try_from(length.min(FIRST_ROOM_BYTES)).unwrap_or(0))
}

fn whole(bytes: Vec<u8>, length: u64) -> io::Result<Vec<u8>> {
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(header: &ChildMessage<u8>, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, header, body).unwrap();
        bytes
    }

    #[tokio::test]
    async fn a_frame_is_received_as_it_was_sent() {
        let bytes = frame(&ChildMessage::Done(7), b"html");
        let (header, body) = receive::<ChildMessage<u8>>(&bytes[..], 64, 4).await.unwrap();
        assert!(matches!(header, ChildMessage::Done(7)));
        assert_eq!(body, "html");

        let mut sent = Vec::new();
        let parts = [Bytes::from("a"), Bytes::from("bc")];
        send(&mut sent, &FileReply::File { made_bytes: 2 }, &parts).await.unwrap();
        let (given, body) = read::<FileReply>(&sent[..]).unwrap();
        assert!(matches!(given, FileReply::File { made_bytes: 2 }));
        assert_eq!(body, b"abc");
    }

    #[test]
    fn a_frame_that_cannot_be_written_does_not_lose_the_next_one() {
        let body = vec![7; 3 * PASSED_BYTES + 1];
        let frames = [frame(&ChildMessage::Done(7), &body), frame(&ChildMessage::Done(8), b"next")].concat();
        let (mut unread, mut passed) = (&frames[..], (Vec::new(), Vec::new()));
        pass(&mut unread, || Ok([&mut passed.0, &mut passed.1])).unwrap().unwrap();
        assert_eq!((passed.0.as_slice(), passed.1 == body), (&br#"{"done":7}"#[..], true));
        let mut lost = &frames[..];
        let refused = || Err::<[Vec<u8>; 2], _>(io::ErrorKind::StorageFull.into());
        assert_eq!(pass(&mut lost, refused).unwrap().unwrap_err().kind(), io::ErrorKind::StorageFull);
        let mut short = [0; 4];
        let mut narrow = &mut short[..];
        assert!(
            pass(&frames[..], || Ok([Box::new(io::sink()) as Box<dyn Write>, Box::new(&mut narrow)]))
                .unwrap()
                .is_err()
        );
        for mut unread in [unread, lost] {
            assert_eq!(read::<ChildMessage<u8>>(&mut unread).unwrap().1, b"next");
        }
    }

    #[tokio::test]
    async fn the_service_refuses_frames_beyond_its_limits() {
        let bytes = frame(&ChildMessage::Want("a".repeat(100)), b"12345");
        let long_body = receive::<ChildMessage<u8>>(&bytes[..], 200, 4).await;
        assert!(matches!(long_body, Err(FrameError::TooLong(5))));
        let long_header = receive::<ChildMessage<u8>>(&bytes[..], 50, 5).await;
        assert!(matches!(long_header, Err(FrameError::Malformed(_))));
        let cut = receive::<ChildMessage<u8>>(&bytes[..bytes.len() - 1], 200, 5).await;
        assert!(matches!(cut, Err(FrameError::Broken(_))));
        let nonsense = [&[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], b"{}"].concat();
        let nonsense = receive::<ChildMessage<u8>>(&nonsense[..], 200, 5).await;
        assert!(matches!(nonsense, Err(FrameError::Malformed(_))));
    }
}
