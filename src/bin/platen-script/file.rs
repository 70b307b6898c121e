//! The files of a template, which the service has and the child asks for.

use javascriptcore6::glib::Bytes;
use platen::workers::child::{self, Given};

/// A file of the template that is there.
pub struct File {
    pub path: String,
    /// None: it is no text.
    pub text: Option<Bytes>,
    /// What EJS generated of it before; empty where it shall do so now.
    pub script: Bytes,
}

impl File {
    /// One whose script EJS generates.
    pub fn of_text(path: &str, text: Vec<u8>) -> Self {
        Self { path: path.to_owned(), text: Some(Bytes::from_owned(text)), script: Bytes::from_static(b"") }
    }
}

/// Where a file is no text, if it is not.
pub fn no_text(path: &str, content: &[u8]) -> Option<String> {
    let error = std::str::from_utf8(content).err()?;
    let line = content[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
    Some(format!("{path}:{line}: this is no text"))
}

/// Asks the service for a file of the template: its text, and its script where one is kept.
pub fn ask(path: String) -> Result<File, String> {
    let (given, mut text) = child::ask(&path)?;
    let (is_found, made_bytes) = match given {
        Given::File { made_bytes } => (true, made_bytes),
        Given::Refused(_) => (false, 0),
    };
    let script = text.split_off(text.len().saturating_sub(made_bytes));
    let is_text = is_found && std::str::from_utf8(&text).is_ok() && std::str::from_utf8(&script).is_ok();
    Ok(File { path, text: is_text.then(|| Bytes::from_owned(text)), script: Bytes::from_owned(script) })
}
