//! Files that a document may need besides itself: pictures and included documents.

use crate::error::Fault;

/// The source of files that a template or its data name: those beside the template, and pictures from the web.
pub trait Files {
    /// The content of the file `name`: a path beside the template, or an address (`https://…`).
    ///
    /// # Errors
    ///
    /// Why it cannot be read or fetched, a sentence for the template's author.
    fn file(&mut self, name: &str) -> Result<Vec<u8>, String>;
}

/// A source without any files.
pub struct NoFiles;

impl Files for NoFiles {
    fn file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        Err(format!("there is no file '{name}' beside the template"))
    }
}

/// A source that is not asked in earnest: the document will not be made, and its other faults are looked for.
pub(crate) struct Unasked;

/// What it answers; no name has such a letter.
const UNASKED: &str = "\u{1}";

impl Unasked {
    /// Whether a fault says only that a file was not fetched.
    pub(crate) fn is_told(fault: &Fault) -> bool {
        fault.message.contains(UNASKED)
    }
}

impl Files for Unasked {
    fn file(&mut self, _: &str) -> Result<Vec<u8>, String> {
        Err(UNASKED.to_owned())
    }
}
