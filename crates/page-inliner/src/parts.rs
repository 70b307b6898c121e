//! A text made of pieces, some of which are the long addresses that others share.

use std::sync::Arc;

/// A text in pieces.
#[derive(Debug, Default)]
pub struct Parts {
    pieces: Vec<Piece>,
    length: usize,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Address(Arc<str>),
}

impl Parts {
    pub fn push(&mut self, text: &str) {
        self.length += text.len();
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    pub fn push_address(&mut self, address: Arc<str>) {
        self.length += address.len();
        self.pieces.push(Piece::Address(address));
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is an address in it.
    pub fn has_addresses(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Address(_)))
    }

    /// The same with what may not stand in the value of an attribute escaped.
    pub fn escaped(self) -> Self {
        let mut escaped = Self::default();
        for piece in self.pieces {
            match piece {
                Piece::Text(text) => escaped.push(&text.replace('&', "&amp;").replace('"', "&quot;")),
                Piece::Address(address) => escaped.push_address(address),
            }
        }
        escaped
    }

    pub fn write(&self, out: &mut String) {
        for piece in &self.pieces {
            out.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Address(address) => address,
            });
        }
    }

    pub fn joined(&self) -> String {
        let mut out = String::with_capacity(self.length);
        self.write(&mut out);
        out
    }
}
