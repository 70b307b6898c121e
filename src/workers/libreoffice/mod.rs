//! Office documents by LibreOffice: what is said between the service and a server that holds LibreOffice, and how that
//! is started.
//!
//! A server is this program. It loads LibreOffice once and one small document of each kind; then it makes a child for
//! each document, which has all that loaded already. What a document makes of LibreOffice goes with its child.

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

/// What a server is told at its start, for all documents.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServerOrder {
    /// The folder of LibreOffice's programs and libraries.
    pub programs: PathBuf,
    /// What a document's child may read beside its own folder.
    pub read: Vec<PathBuf>,
    /// Until a document is done (`office.timeout_ms`).
    pub deadline_ms: u64,
    /// Memory of a document, beside what the server holds (`office.memory_limit_mb`).
    pub memory_bytes: u64,
    /// Longest file that it writes.
    pub file_bytes: u64,
}

/// A document to be made another kind of; the body is the document.
#[derive(Debug, Deserialize, Serialize)]
pub struct ConvertJob<'a> {
    /// What kind the document is, as its name would end.
    pub extension: Cow<'a, str>,
    /// What LibreOffice is to do with it first, in this order.
    pub commands: Vec<UnoCommand<'a>>,
    /// What it is to become, by LibreOffice's name.
    pub format: Cow<'a, str>,
    /// What is said of that, as LibreOffice takes it.
    pub options: Cow<'a, str>,
    /// The first page that is wanted of it, where not all are; the options say which.
    pub first_page: Option<u32>,
    /// What is said of a PDF beside what the document says of itself.
    pub metadata: Option<Metadata>,
    /// It becomes HTML of ours instead.
    pub html: Option<HtmlOrder<'a>>,
    /// Whether the families of fonts are told that the document asks for.
    pub fonts: bool,
}

/// How a document becomes HTML.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct HtmlOrder<'a> {
    /// What LibreOffice saves it as, of which the HTML is made.
    pub saved: Cow<'a, str>,
    /// Whether it is slides, which are drawn.
    pub slides: bool,
    /// Longest HTML.
    pub output_bytes: usize,
}

/// What there is to know of a document that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Remarks {
    /// What its author should know.
    pub warnings: Vec<String>,
    /// The families of fonts that it asks for.
    pub fonts: Vec<String>,
}

/// What a menu of LibreOffice would do.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct UnoCommand<'a> {
    /// Its name, `.uno:…`.
    pub name: Cow<'a, str>,
    /// What it is told, as JSON.
    pub arguments: Cow<'a, str>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Converted {
    /// The body is the file.
    Made(Remarks),
    /// LibreOffice cannot read the document, and what it says of it.
    Unreadable(String),
    /// It cannot write the file, and what it says of it.
    Unwritable(String),
    /// The document ends before the pages that are wanted of it: it has so many.
    NoSuchPages(u32),
    /// The document does not become HTML, and why.
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
pub fn server_child(binary: PathBuf, order: &ServerOrder) -> ChildSpec {
    let spec = ChildSpec::of_ours(COMMAND, order)
        .variable("PATH", "/usr/bin:/bin")
        .variable("LANG", "C.UTF-8")
        .variable("TZ", "UTC")
        // What threads free goes to where the main one finds it, and a child copies less.
        .variable("MALLOC_ARENA_MAX", "2")
        // Threads of one document; it has as many cores as are paid for, and one.
        .variable("MAX_CONCURRENCY", "2");
    // Started as such, for LibreOffice reads its environment where C keeps it.
    ChildSpec { binary: Some(binary), ..spec }
}
