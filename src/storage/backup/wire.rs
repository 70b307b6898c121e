//! The frames that a running service sends to `platen backup` over the control socket, each preceded by its length.

use std::io::{Error, ErrorKind, Read, Result};

use crate::storage::index::{Exported, KEY_LIMIT_BYTES, VALUE_LIMIT_BYTES};

/// Longest frame: a key, a value and their headers.
const LIMIT_BYTES: usize = KEY_LIMIT_BYTES + VALUE_LIMIT_BYTES + 16;

const VALUE: u8 = b'v';
const COUNTER: u8 = b'n';
const DELETED: u8 = b'-';
const COMPLETE: u8 = b'c';
const HOLD_CONFIRMED: u8 = b'k';
const REFUSED: u8 = b'!';

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// An entry of the index; a later one with the same key replaces it.
    Entry(String, Exported),
    /// The index is complete; objects can be copied now.
    Complete,
    /// Deletions were held until now: no object was deleted while the command copied.
    HoldConfirmed,
    /// The backup fails for this reason.
    Refused(String),
}

impl Frame {
    /// Appends the frame's bytes.
    pub fn append_to(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.extend([0; 4]);
        match self {
            Self::Entry(key, found) => {
                let (kind, value) = match found {
                    Exported::Value(value) => (VALUE, value.as_slice()),
                    Exported::Counter(number) => (COUNTER, &number.to_le_bytes()[..]),
                    Exported::Deleted => (DELETED, &[][..]),
                };
                // Keys have at most `KEY_LIMIT_BYTES`.
                bytes.extend([kind, u8::try_from(key.len()).unwrap_or(u8::MAX)]);
                bytes.extend(key.as_bytes());
                bytes.extend(value);
            }
            Self::Complete => bytes.push(COMPLETE),
            Self::HoldConfirmed => bytes.push(HOLD_CONFIRMED),
            Self::Refused(why) => {
                bytes.push(REFUSED);
                bytes.extend(why.as_bytes());
            }
        }
        let length = u32::try_from(bytes.len() - start - 4).unwrap_or(u32::MAX);
        bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// Reads one frame.
    ///
    /// # Errors
    /// `UnexpectedEof` if the service closed the connection, `InvalidData` if it is another version of platen.
    pub fn read(mut from: impl Read) -> Result<Self> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > LIMIT_BYTES {
            return Err(unexpected());
        }
        let mut bytes = vec![0; length];
        from.read_exact(&mut bytes)?;
        Self::parse(&bytes).ok_or_else(unexpected)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        let entry = || {
            let (&length, rest) = rest.split_first()?;
            let (key, value) = rest.split_at_checked(usize::from(length))?;
            Some((String::from_utf8(key.to_vec()).ok()?, value))
        };
        Some(match kind {
            VALUE => entry().map(|(key, value)| Self::Entry(key, Exported::Value(value.to_vec())))?,
            COUNTER => {
                let (key, number) = entry()?;
                Self::Entry(key, Exported::Counter(i64::from_le_bytes(number.try_into().ok()?)))
            }
            DELETED => entry().map(|(key, _)| Self::Entry(key, Exported::Deleted))?,
            COMPLETE => Self::Complete,
            HOLD_CONFIRMED => Self::HoldConfirmed,
            REFUSED => Self::Refused(String::from_utf8_lossy(rest).into_owned()),
            _ => return None,
        })
    }
}

fn unexpected() -> Error {
    Error::new(ErrorKind::InvalidData, "the service speaks otherwise; use the same platen for both")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_parsed_in_order_and_invalid_ones_refused() {
        let key = "k".repeat(KEY_LIMIT_BYTES);
        let frames = [
            Frame::Entry(key.clone(), Exported::Value(vec![7; 100_000])),
            Frame::Entry("n".to_owned(), Exported::Counter(-3)),
            Frame::Entry(key, Exported::Deleted),
            Frame::Refused("no".to_owned()),
            Frame::Complete,
            Frame::HoldConfirmed,
        ];
        let mut bytes = Vec::new();
        for frame in &frames {
            frame.append_to(&mut bytes);
        }
        let mut rest = bytes.as_slice();
        for frame in &frames {
            assert_eq!(Frame::read(&mut rest).unwrap(), *frame);
        }
        assert_eq!(Frame::read(rest).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        for nonsense in [&b"\xff\xff\xff\xff"[..], b"\x01\0\0\0x", b"\x03\0\0\0v\x09a", b"\0\0\0\0"] {
            assert_eq!(Frame::read(nonsense).unwrap_err().kind(), ErrorKind::InvalidData);
        }
    }
}
