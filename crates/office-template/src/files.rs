//! What a document may need besides itself.

/// Where files that a template names come from: what lies beside it, and addresses that it may have pictures of.
pub trait Files {
    /// The content of the file `name`: a path beside the template, or an address (`https://…`).
    ///
    /// # Errors
    ///
    /// Why it cannot be had, a sentence for the template's author.
    fn file(&mut self, name: &str) -> Result<Vec<u8>, String>;
}

/// There are none.
pub struct NoFiles;

impl Files for NoFiles {
    fn file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        Err(format!("there is no file '{name}' beside the template"))
    }
}
