//! Where `platen render` and `platen lint` read from and write to: files, or the standard streams by the name `-`.

use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use bytes::Bytes;

/// A file, or a standard stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileOrStdio {
    /// `-`: stdin, or stdout.
    Stream,
    /// Anything else.
    File(PathBuf),
}

impl FromStr for FileOrStdio {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "-" { Self::Stream } else { Self::File(text.into()) })
    }
}

impl fmt::Display for FileOrStdio {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream => write!(formatter, "-"),
            Self::File(path) => write!(formatter, "{}", path.display()),
        }
    }
}

impl FileOrStdio {
    /// The extension of a file, in lower case.
    pub fn extension(&self) -> Option<String> {
        match self {
            Self::Stream => None,
            Self::File(path) => Some(path.extension()?.to_str()?.to_ascii_lowercase()),
        }
    }

    /// The whole content; an error if it is larger than `limit_bytes`.
    pub fn read(&self, limit_bytes: u64) -> Result<Bytes, String> {
        let opened: Box<dyn Read> = match self {
            Self::Stream => Box::new(io::stdin().lock()),
            Self::File(path) => Box::new(File::open(path).map_err(|error| self.unreadable(&error))?),
        };
        let mut content = Vec::new();
        let read = opened.take(limit_bytes.saturating_add(1)).read_to_end(&mut content);
        read.map_err(|error| self.unreadable(&error))?;
        if content.len() as u64 > limit_bytes {
            return Err(format!("{self} is larger than {limit_bytes} bytes (http.upload_limit_bytes)"));
        }
        Ok(content.into())
    }

    /// Whether a document can be written there: checked before a render whose result would be lost.
    pub fn check(&self, is_text: bool) -> Result<(), String> {
        match self {
            Self::Stream if io::stdout().is_terminal() && !is_text => {
                Err("-o - would fill the terminal; send stdout into a file or a program".to_owned())
            }
            Self::Stream => Ok(()),
            Self::File(path) if path.is_dir() => Err(format!("-o {self} is a folder; name a file in it")),
            Self::File(path) => match path.parent() {
                Some(folder) if folder != Path::new("") && !folder.is_dir() => {
                    Err(format!("-o {self}: there is no folder {}; make it first", folder.display()))
                }
                Some(_) | None => Ok(()),
            },
        }
    }

    /// Writes the document there.
    pub fn write(&self, document: &[u8]) -> Result<(), String> {
        let written = match self {
            Self::Stream => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(document).and_then(|()| stdout.flush())
            }
            Self::File(path) => std::fs::write(path, document),
        };
        written.map_err(|error| format!("cannot write {self}: {error}"))
    }

    fn unreadable(&self, error: &io::Error) -> String {
        format!("cannot read {self}: {error}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_is_a_stream_and_an_extension_has_no_case() {
        assert_eq!("-".parse::<FileOrStdio>().unwrap(), FileOrStdio::Stream);
        assert_eq!("./-".parse::<FileOrStdio>().unwrap(), FileOrStdio::File("./-".into()));
        assert_eq!("a/B.PDF".parse::<FileOrStdio>().unwrap().extension().as_deref(), Some("pdf"));
        assert_eq!("a.b/c".parse::<FileOrStdio>().unwrap().extension(), None);
    }

    #[test]
    fn an_output_that_cannot_be_written_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| FileOrStdio::File(folder.path().join(name)).check(false);
        assert_eq!(at("a.pdf"), Ok(()));
        assert!(at("b/a.pdf").unwrap_err().contains("there is no folder"));
        assert!(
            FileOrStdio::File(folder.path().to_owned()).check(false).unwrap_err().contains("is a folder")
        );
        assert_eq!(FileOrStdio::File("a.pdf".into()).check(false), Ok(()));
    }

    #[test]
    fn more_than_the_limit_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "12345").unwrap();
        let file = FileOrStdio::File(file.path().to_owned());
        assert_eq!(file.read(5).unwrap(), "12345");
        assert!(file.read(4).unwrap_err().ends_with("is larger than 4 bytes (http.upload_limit_bytes)"));
    }
}
