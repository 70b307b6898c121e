//! Files that a document may need besides itself: pictures and included documents.

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
