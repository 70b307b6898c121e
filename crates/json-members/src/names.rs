//! Members by name: what a reader asks for, what is wrong with one, and which ones nobody asked for.

/// A member's name, and the sentence that callers read about it.
pub trait Named: Copy {
    /// The name.
    fn name(self) -> &'static str;
    /// The sentence; empty where none was written.
    fn about(self) -> &'static str {
        ""
    }
}

impl Named for &'static str {
    fn name(self) -> &'static str {
        self
    }
}

impl Named for (&'static str, &'static str) {
    fn name(self) -> &'static str {
        self.0
    }
    fn about(self) -> &'static str {
        self.1
    }
}

/// One wrong member of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer (RFC 6901) to the member.
    pub pointer: String,
    /// What is wrong with it and what would be right.
    pub detail: String,
}

impl Fault {
    /// A fault of the member at `pointer`.
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), detail: detail.into() }
    }
}

/// A name in a nested object that nobody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Where it is, as `viewport.zoom`.
    pub path: String,
    /// The name beside it that was asked for and looks most like it.
    pub near: Option<&'static str>,
}
