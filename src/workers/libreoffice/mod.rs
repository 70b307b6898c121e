//! LibreOffice servers: the protocol between the service and a server, and how it is started. `engines/libreoffice` uses them.
//!
//! A server is this binary. It loads LibreOffice and one small document of each kind, then forks a child for each document,
//! which has all that loaded already. Whatever a document does to LibreOffice ends with its child.

mod document;
mod page;
mod server;

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::spec::ChildSpec;
use crate::domain::format_opts::Metadata;

pub(super) use server::run;

/// The command of our binary that is a server.
pub(super) const COMMAND: &str = "libreoffice-server";

/// The options of a server, for all its documents.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServerOptions {
    /// The folder of LibreOffice's programs and libraries.
    pub programs: PathBuf,
    /// What a document's child may read beside its own folder.
    pub read: Vec<PathBuf>,
    /// The deadline of a document (`office.timeout_ms`).
    pub deadline_ms: u64,
    /// Memory of a document, beside what the server holds (`office.memory_limit_mb`).
    pub memory_bytes: u64,
    /// Longest file that it writes.
    pub file_bytes: u64,
}

/// A document to convert; the body is the document.
#[derive(Debug, Deserialize, Serialize)]
pub struct ConvertJob<'a> {
    /// The file extension of its format.
    pub extension: Cow<'a, str>,
    /// Commands that LibreOffice runs first, in this order.
    pub commands: Vec<UnoCommand<'a>>,
    /// LibreOffice's name of the target format.
    pub format: Cow<'a, str>,
    /// The filter options, in LibreOffice's syntax.
    pub options: Cow<'a, str>,
    /// The locale of numbers, dates and currencies that follow it, a BCP 47 tag; `None` for en-US.
    pub locale: Option<Cow<'a, str>>,
    /// The first requested page, if not all are; the range itself is in `options`.
    pub first_page: Option<u32>,
    /// Properties to add to a PDF.
    pub metadata: Option<Metadata>,
    /// Makes HTML of ours instead.
    pub html: Option<HtmlOptions<'a>>,
    /// Whether to list the font families that the document names.
    pub fonts: bool,
}

/// How a document becomes HTML.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct HtmlOptions<'a> {
    /// The format that LibreOffice saves, from which the HTML is made.
    pub saved: Cow<'a, str>,
    /// Whether it has slides, which become pictures.
    pub slides: bool,
    /// Longest HTML.
    pub output_bytes: usize,
}

/// Remarks on a converted document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Remarks {
    /// Warnings for the author.
    pub warnings: Vec<String>,
    /// The font families that it names.
    pub fonts: Vec<String>,
}

/// A UNO command, as LibreOffice's menus run them.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct UnoCommand<'a> {
    /// Its name, `.uno:…`.
    pub name: Cow<'a, str>,
    /// Its arguments, as JSON.
    pub arguments: Cow<'a, str>,
}

/// The result of a [`ConvertJob`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Converted {
    /// The body is the file.
    Made(Remarks),
    /// LibreOffice cannot read the document; holds its message.
    Unreadable(String),
    /// It cannot write the file; holds its message.
    Unwritable(String),
    /// The document ends before the requested pages; holds their number.
    NoSuchPages(u32),
    /// The document cannot become HTML; holds the reason.
    NoHtml(String),
    /// It was not done in time.
    Late,
    /// It needs more memory than it may have.
    OutOfMemory,
    /// What it writes is longer than it may be.
    TooLong,
    /// LibreOffice ended by this signal.
    Crashed(i32),
    /// The server cannot do it; the cause is for the log.
    Broken(String),
}

/// A server, started by our binary at `binary`.
pub fn server_child(binary: PathBuf, options: &ServerOptions) -> ChildSpec {
    let spec = ChildSpec::of_ours(COMMAND, options)
        .variable("PATH", "/usr/bin:/bin")
        .variable("LANG", "C.UTF-8")
        .variable("TZ", "UTC")
        // With few arenas freed memory is reused, and a fork copies less.
        .variable("MALLOC_ARENA_MAX", "2")
        // LibreOffice's threads for one document: one more than the core that its step acquires.
        .variable("MAX_CONCURRENCY", "2");
    // `binary`: the environment must be set at the process' start, for LibreOffice reads it through C's `environ`.
    ChildSpec { binary: Some(binary), ..spec }
}
