//! The lines of a log, each of a bounded length.

use std::borrow::Cow;

/// Of longer lines the beginning is read: a message has its say there.
const LINE_BYTES: usize = 4096;

/// Lines not yet read; a copy looks ahead.
#[derive(Clone)]
pub(crate) struct Lines<'log> {
    rest: &'log [u8],
}

impl<'log> Lines<'log> {
    pub(crate) fn new(log: &'log [u8]) -> Self {
        Self { rest: log }
    }

    /// The next line, which stays the next.
    pub(crate) fn peek(&self) -> Option<Cow<'log, str>> {
        self.clone().next().map(decoded)
    }
}

impl<'log> Iterator for Lines<'log> {
    type Item = &'log [u8];

    fn next(&mut self) -> Option<&'log [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let mut parts = self.rest.splitn(2, |byte| *byte == b'\n');
        let line = parts.next().unwrap_or_default();
        self.rest = parts.next().unwrap_or_default();
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// A line as text: pdfTeX writes bytes as they come, of whatever encoding.
pub(crate) fn decoded(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line.get(..LINE_BYTES).unwrap_or(line))
}
