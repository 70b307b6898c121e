//! What one step of a plan hands to the next: a document of some kind, in memory or in a work file.

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};

use super::error::EngineError;
use super::source_map::EncodedSourceMap;
use super::work_files::WorkFile;
use crate::domain::kinds::{FileKind, TemplateKind};
use crate::domain::site::Site;
use crate::storage::StagedObject;

/// The kind of a document between two steps. It alone decides which step can follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// A template, as it was uploaded or saved.
    Template(TemplateKind),
    /// HTML with the data in it, and the template's other files.
    Page,
    /// LaTeX with the data in it, and the template's other files.
    Source,
    /// One file.
    File(FileKind),
}

/// A document between two steps.
#[derive(Debug)]
pub struct Document {
    /// Its kind.
    pub kind: DocumentKind,
    /// Its content.
    pub body: Body,
    /// How many pages it has, if it has pages.
    pub pages: Option<u32>,
}

/// The content of a document.
#[derive(Debug)]
pub enum Body {
    /// The files of a template.
    Template(Site),
    /// A LaTeX source with its files.
    Source(Source),
    /// A page with its files, header and footer.
    Page(Box<Page>),
    /// A file in memory, bounded by the step that made it.
    Held(Bytes),
    /// A file in the work folder.
    Work(WorkFile),
    /// A file that was written straight into the object to be stored: no further step can read it.
    Stored(Box<dyn StagedObject>),
}

/// A LaTeX source with the data in it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The source as the entry, and the template's other files.
    pub site: Site,
    /// Which lines of the template's files its lines come from, where that was recorded.
    pub source_map: Option<EncodedSourceMap>,
}

/// A page with the data in it.
#[derive(Clone, Debug)]
pub struct Page {
    /// The page as the entry, and the template's other files.
    pub site: Site,
    /// The header that every sheet of it gets.
    pub header: Option<String>,
    /// The footer.
    pub footer: Option<String>,
}

impl DocumentKind {
    /// Its name in logs and errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Template(kind) => kind.name(),
            Self::Page => "page",
            Self::Source => "LaTeX source",
            Self::File(kind) => kind.name(),
        }
    }

    /// A step got a document that it cannot work on: a bug in the plan or in the step before.
    fn unusable(self) -> EngineError {
        EngineError::internal(&format!(
            "a step was given a document of the kind '{}' and cannot use it",
            self.name()
        ))
    }
}

impl Document {
    /// The template that a plan begins with.
    pub fn template(kind: TemplateKind, site: Site) -> Self {
        Self { kind: DocumentKind::Template(kind), body: Body::Template(site), pages: None }
    }

    /// A page.
    pub fn page(page: Page) -> Self {
        Self { kind: DocumentKind::Page, body: Body::Page(Box::new(page)), pages: None }
    }

    /// A source.
    pub fn source(source: Source) -> Self {
        Self { kind: DocumentKind::Source, body: Body::Source(source), pages: None }
    }

    /// A file in memory.
    pub fn held(kind: FileKind, bytes: Bytes) -> Self {
        Self { kind: DocumentKind::File(kind), body: Body::Held(bytes), pages: None }
    }

    /// The files of the template that it is.
    ///
    /// # Errors
    /// `internal` when it is none.
    pub fn into_template(self) -> Result<Site, EngineError> {
        if let Body::Template(site) = self.body { Ok(site) } else { Err(self.kind.unusable()) }
    }

    /// The source that it is.
    ///
    /// # Errors
    /// `internal` when it is none.
    pub fn into_source(self) -> Result<Source, EngineError> {
        if let Body::Source(source) = self.body { Ok(source) } else { Err(self.kind.unusable()) }
    }

    /// The page that it is.
    ///
    /// # Errors
    /// `internal` when it is none.
    pub fn into_page(self) -> Result<Page, EngineError> {
        if let Body::Page(page) = self.body { Ok(*page) } else { Err(self.kind.unusable()) }
    }

    /// The bytes of the file that it is, in chunks, wherever they are.
    ///
    /// # Errors
    /// `internal` when it is no file, or one that is being stored.
    pub fn into_chunks(self) -> Result<BoxStream<'static, std::io::Result<Bytes>>, EngineError> {
        match self.body {
            Body::Held(bytes) => Ok(stream::iter([Ok(bytes)]).boxed()),
            Body::Work(file) => Ok(file.into_chunks()),
            Body::Template(_) | Body::Source(_) | Body::Page(_) | Body::Stored(_) => {
                Err(self.kind.unusable())
            }
        }
    }
}
