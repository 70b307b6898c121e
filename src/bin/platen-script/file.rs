//! The files of a template: the service has them, the child asks for each.

use javascriptcore6::glib::Bytes;
use platen::workers::child::{self, FileReply};

/// A file of the template.
pub struct File {
    pub path: String,
    /// `None` where the file is missing or not UTF-8.
    pub text: Option<Bytes>,
    /// The script that EJS generated of it before; empty where EJS has to generate it now.
    pub script: Bytes,
}

impl File {
    /// A file without a generated script.
    pub fn of_text(path: &str, text: Vec<u8>) -> Self {
        Self { path: path.to_owned(), text: Some(Bytes::from_owned(text)), script: Bytes::from_static(b"") }
    }
}

/// An error with the line of the first byte that is not UTF-8; `None` for a text.
pub fn utf8_error(path: &str, content: &[u8]) -> Option<String> {
    let error = std::str::from_utf8(content).err()?;
    let line = content[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
    Some(format!("{path}:{line}: this is no text"))
}

/// Asks the service for a file of the template: its text, and its script where one is cached.
pub fn request_file(path: String) -> Result<File, String> {
    let (given, mut text) = child::request_file(&path)?;
    let (is_found, made_bytes) = match given {
        FileReply::File { made_bytes } => (true, made_bytes),
        FileReply::Refused(_) => (false, 0),
    };
    let script = text.split_off(text.len().saturating_sub(made_bytes));
    let is_text = is_found && std::str::from_utf8(&text).is_ok() && std::str::from_utf8(&script).is_ok();
    Ok(File { path, text: is_text.then(|| Bytes::from_owned(text)), script: Bytes::from_owned(script) })
}
