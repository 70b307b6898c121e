//! The elements of a sheet as bytes, which are packed piece by piece.

use super::text::{has_blanks, push};
use crate::error::Error;
use crate::package::packer::Packer;

/// How many bytes are collected before they are packed.
const PIECE_BYTES: usize = 64 << 10;

/// Where a sheet is written to.
pub(super) struct Output<'a, 'p> {
    packer: &'p mut Packer,
    /// The namespace prefix of elements with its colon; mostly empty.
    prefix: &'a str,
    out: Vec<u8>,
}

impl<'a, 'p> Output<'a, 'p> {
    pub(super) fn new(packer: &'p mut Packer, prefix: &'a str) -> Self {
        Self { packer, prefix, out: Vec::new() }
    }

    pub(super) fn text(&mut self, text: &str, is_of_data: bool) {
        self.open("t");
        self.push(if has_blanks(text) { " xml:space=\"preserve\">" } else { ">" });
        push(&mut self.out, text, is_of_data);
        self.close("t");
    }

    /// The cell's type, and the end of its tag.
    pub(super) fn kind(&mut self, kind: &str) {
        if !kind.is_empty() && kind != "n" {
            self.push(" t=\"");
            self.push(kind);
            self.push("\"");
        }
        self.push(">");
    }

    pub(super) fn element(&mut self, name: &str, text: &str) {
        self.open(name);
        self.push(">");
        self.push(text);
        self.close(name);
    }

    pub(super) fn open(&mut self, name: &str) {
        self.out.push(b'<');
        self.out.extend_from_slice(self.prefix.as_bytes());
        self.push(name);
    }

    pub(super) fn close(&mut self, name: &str) {
        self.push("</");
        self.out.extend_from_slice(self.prefix.as_bytes());
        self.push(name);
        self.out.push(b'>');
    }

    pub(super) fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Packs what has been written.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        self.packer.write(&self.out)?;
        self.out.clear();
        Ok(())
    }

    pub(super) fn number(&mut self, number: u32) {
        push_number(&mut self.out, number);
    }

    /// A column by its letters.
    pub(super) fn column(&mut self, column: u32) {
        push_column(&mut self.out, column);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// A text with XML's own characters escaped.
    pub(super) fn shown(&mut self, text: &str, is_of_data: bool) {
        push(&mut self.out, text, is_of_data);
    }

    /// Drops what has not been packed.
    pub(super) fn clear(&mut self) {
        self.out.clear();
    }

    /// Packs what has been written once it is large enough.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        if self.out.len() >= PIECE_BYTES { self.flush() } else { Ok(()) }
    }
}

fn push_number(out: &mut Vec<u8>, number: u32) {
    let mut digits = [0; 10];
    let (mut at, mut left) = (digits.len(), number);
    while let Some(digit) = at.checked_sub(1).and_then(|at| digits.get_mut(at)) {
        *digit = b'0' + u8::try_from(left % 10).unwrap_or_default();
        (at, left) = (at - 1, left / 10);
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

fn push_column(out: &mut Vec<u8>, column: u32) {
    let mut letters = [0; 7];
    let (mut at, mut left) = (letters.len(), column);
    while left > 0 {
        left -= 1;
        at -= 1;
        if let Some(letter) = letters.get_mut(at) {
            *letter = b'A' + u8::try_from(left % 26).unwrap_or_default();
        }
        left /= 26;
    }
    out.extend_from_slice(letters.get(at..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::{push_column, push_number};

    #[test]
    fn places_are_written_as_excel_names_them() {
        for (column, row, name) in
            [(1, 1, "A1"), (26, 10, "Z10"), (27, 99, "AA99"), (16_384, 1_048_576, "XFD1048576")]
        {
            let mut out = Vec::new();
            push_column(&mut out, column);
            push_number(&mut out, row);
            assert_eq!(String::from_utf8(out).expect("text"), name);
        }
    }
}
