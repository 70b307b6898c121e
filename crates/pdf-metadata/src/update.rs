//! An incremental update: objects behind a file's end that replace those of the same numbers (ISO 32000-1, 7.5.6).

use std::fmt::Write as _;

/// Objects that are written behind a file's end.
pub struct Update {
    bytes: Vec<u8>,
    /// How long the file is before it.
    start: usize,
    /// Numbers, and where they begin.
    places: Vec<(u32, usize)>,
}

impl Update {
    /// An update of a file of `start` bytes.
    pub fn new(start: usize) -> Self {
        Self { bytes: b"\n".to_vec(), start, places: Vec::new() }
    }

    /// Replaces the object `number`.
    pub fn object(&mut self, number: u32, content: &[u8]) {
        self.places.push((number, self.start + self.bytes.len()));
        self.bytes.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        self.bytes.extend_from_slice(content);
        self.bytes.extend_from_slice(b"\nendobj\n");
    }

    /// Whether it replaces nothing.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Its bytes; `trailer` has the entries of the file's trailer, `previous` is where the file's table is.
    pub fn finish(mut self, trailer: &str, previous: usize) -> Vec<u8> {
        let table = self.start + self.bytes.len();
        self.places.sort_unstable();
        let mut text = String::from("xref\n");
        for (number, place) in &self.places {
            // Writing to a string cannot fail.
            let _ = write!(text, "{number} 1\n{place:010} 00000 n \n");
        }
        let _ = write!(text, "trailer\n<<{trailer}/Prev {previous}>>\nstartxref\n{table}\n%%EOF\n");
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes
    }
}
