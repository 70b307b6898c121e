//! What an upload holds: decided by its content, not by what somebody says of it.

use bytes::Bytes;

use crate::config::TemplatesConfig;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Files;

/// The files of a template and which of them is the template itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The path of the entry.
    pub entry: String,
    /// What the entry is: `Html`, `Ejs`, `Latex`, `Docx`, `Xlsx` or `Pptx`.
    pub kind: TemplateKind,
    /// Every file, the entry included.
    pub files: Files,
}

/// Why an upload is no template: a sentence that names the entry and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PackageFault(pub String);

impl Package {
    /// Reads an upload: an archive is unpacked, an Office file or plain text is the entry by itself.
    ///
    /// # Errors
    /// See [`PackageFault`].
    pub fn read(upload: &Bytes, limits: &TemplatesConfig) -> Result<Self, PackageFault> {
        let _ = (upload, limits);
        Err(PackageFault("not built yet".to_owned()))
    }

    /// The archive of these files: the entry first, then the others in the order of their paths.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn pack(&self) -> Result<Bytes, PackageFault> {
        Err(PackageFault("not built yet".to_owned()))
    }
}
