//! Files that a document may need besides itself: pictures and included documents.

/// The source of files that a template or its data name: those beside the template, and pictures from the web.
pub trait Files {
    /// The content of the file `name`: a path beside the template, or an address (`https://…`).
    ///
    /// # Errors
    ///
    /// Why it cannot be read or fetched, a sentence for the template's author.
    fn file(&mut self, name: &str) -> Result<Vec<u8>, String>;

    /// Whether files are fetched at all. If not, what takes one is left out and is no fault.
    fn are_fetched(&self) -> bool {
        true
    }
}

/// A source without any files.
pub struct NoFiles;

impl Files for NoFiles {
    fn file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        Err(format!("there is no file '{name}' beside the template"))
    }
}

/// A source that is not asked: the document will not be made, and its other faults are looked for.
pub(crate) struct Unasked;

impl Files for Unasked {
    fn file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        Err(format!("'{name}' is not fetched"))
    }

    fn are_fetched(&self) -> bool {
        false
    }
}
