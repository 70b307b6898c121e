//! Why the data folder cannot be used.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::FORMAT;

/// Why the data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// A newer platen wrote it.
    #[error(
        "the data folder {} has format {found}, this platen knows format {FORMAT} and older; \
         use a newer platen, or set storage.data_dir to another folder",
        path.display()
    )]
    Newer {
        /// The folder.
        path: PathBuf,
        /// The format found there.
        found: u32,
    },
    /// Something in it is not what it should be.
    #[error("{} {cause}", path.display())]
    Strange {
        /// What is strange.
        path: PathBuf,
        /// Why, and the remedy.
        cause: String,
    },
    /// There is no space left.
    #[error("the disk of {} is full ({cause}); free some space there, or set storage.data_dir to a folder elsewhere", path.display())]
    Full {
        /// What could not be written.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file system refuses.
    #[error("the data folder's {} cannot be used: {cause}; set storage.data_dir to a folder of the service's user", path.display())]
    Refused {
        /// Which part.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
}

/// What a refusal of the file system means, at `path`.
pub(super) fn refused(path: &Path) -> impl Fn(std::io::Error) -> DataDirError + use<> {
    let path = path.to_owned();
    move |cause| {
        let (path, is_full) =
            (path.clone(), matches!(cause.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded));
        if is_full { DataDirError::Full { path, cause } } else { DataDirError::Refused { path, cause } }
    }
}
