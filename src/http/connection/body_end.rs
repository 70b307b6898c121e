//! Where the body of a request ends, by its length or by its chunks (RFC 9112, 7.1): what follows is another request.
//!
//! Hazard: were a body longer for us than for actix, what follows it would reach actix without a look at its head. So chunks
//! are read as actix reads them. Those that cannot be read have no end: all that comes goes to actix, which refuses it and
//! closes the connection.

/// How much of a body is still to come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyEnd {
    /// So many bytes.
    Bytes(u64),
    /// Chunks, up to the last one and its trailers.
    Chunks(Chunks),
}

/// The part of a chunked body that comes next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chunks {
    /// The digits of a size, so far.
    Size(Option<u64>),
    /// Blanks behind a size.
    Blanks(u64),
    /// The rest of the line of a size.
    Extension(u64),
    /// The line feed behind a size.
    SizeEnd(u64),
    /// So many bytes of a chunk.
    Data(u64),
    /// The line end behind a chunk.
    DataEnd,
    DataLineFeed,
    /// The start of a line: a trailer, or the end.
    LineStart,
    Trailer,
    TrailerLineFeed,
    LastLineFeed,
    Ended,
    /// It is no chunked body.
    Unreadable,
}

impl BodyEnd {
    /// A body that is not made of chunks.
    pub const UNREADABLE: Self = Self::Chunks(Chunks::Unreadable);

    /// The end of a chunked body of which nothing has come.
    pub fn of_chunks() -> Self {
        Self::Chunks(Chunks::Size(None))
    }

    /// Whether all of the body has come.
    pub fn is_reached(&self) -> bool {
        matches!(self, Self::Bytes(0) | Self::Chunks(Chunks::Ended))
    }

    /// How many of these bytes, which come next, are of the body.
    pub fn take(&mut self, bytes: &[u8]) -> usize {
        match self {
            Self::Bytes(left) => {
                let count = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= count as u64;
                count
            }
            Self::Chunks(chunks) => chunks.take(bytes),
        }
    }
}

impl Chunks {
    fn take(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() && *self != Self::Ended {
            if let Self::Data(left) = self {
                let count = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len() - at);
                *left -= count as u64;
                at += count;
                if *left == 0 {
                    *self = Self::DataEnd;
                }
            } else {
                *self = self.after(bytes[at]);
                at += 1;
            }
        }
        at
    }

    /// What comes after a byte that is not of a chunk's data.
    fn after(&self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Size(size), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = u64::from(char::from(byte).to_digit(16).unwrap_or(0));
                let size = size.unwrap_or(0).checked_mul(16);
                size.map_or(Self::Unreadable, |size| Self::Size(Some(size + digit)))
            }
            (Self::Size(Some(size)) | Self::Blanks(size) | Self::Extension(size), b'\r') => {
                Self::SizeEnd(*size)
            }
            (Self::Size(Some(size)) | Self::Blanks(size), b' ' | b'\t') => Self::Blanks(*size),
            (Self::Extension(_), b'\n') => Self::Unreadable,
            (Self::Size(Some(size)) | Self::Blanks(size), b';') | (Self::Extension(size), _) => {
                Self::Extension(*size)
            }
            (Self::SizeEnd(0) | Self::TrailerLineFeed, b'\n') => Self::LineStart,
            (Self::SizeEnd(size), b'\n') => Self::Data(*size),
            (Self::DataEnd, b'\r') => Self::DataLineFeed,
            (Self::DataLineFeed, b'\n') => Self::Size(None),
            (Self::LineStart, b'\r') => Self::LastLineFeed,
            (Self::LastLineFeed, b'\n') => Self::Ended,
            (Self::Trailer, b'\r') => Self::TrailerLineFeed,
            (Self::LineStart | Self::Trailer, _) => Self::Trailer,
            _ => Self::Unreadable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunked_body_ends_behind_its_last_line_wherever_it_is_cut() {
        for body in [
            "0\r\n\r\n",
            "2\r\n{}\r\n0\r\n\r\n",
            "00A;a=b\r\n0\r\n\r\n0\r\n\r\n\r\n1 \r\nx\r\n0\r\nX: y\r\nZ: 0\r\n\r\n",
        ] {
            let sent = format!("{body}GET / HTTP/1.1\r\n\r\n");
            for cut in 0..sent.len() {
                let mut end = BodyEnd::of_chunks();
                let (first, rest) = sent.as_bytes().split_at(cut);
                let taken = end.take(first);
                assert_eq!(
                    (taken, end.is_reached()),
                    (cut.min(body.len()), cut >= body.len()),
                    "{body:?} at {cut}"
                );
                assert_eq!(taken + end.take(rest), body.len());
                assert!(end.is_reached());
            }
        }
    }

    #[test]
    fn what_actix_refuses_has_no_end() {
        for body in [
            "+2\r\n{}",
            "2\n{}",
            "g",
            ";a\r\n",
            "1\r\n{}\r\n",
            "2\r\n{}\r0",
            "1ffffffffffffffff\r\n",
            "0\r\n\r0",
        ] {
            let mut end = BodyEnd::of_chunks();
            let sent = format!("{body}\r\n0\r\n\r\n0\r\n\r\n");
            assert_eq!(end.take(sent.as_bytes()), sent.len(), "{body:?}");
            assert_eq!(end, BodyEnd::UNREADABLE);
        }
    }
}
