//! What passes from one step of a plan to the next: a document of some kind, in memory or where it is worked on.

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};

use super::error::EngineError;
use super::work::WorkFile;
use crate::domain::kinds::{FileKind, TemplateKind};
use crate::domain::site::Site;
use crate::storage::StagedObject;

/// What a document is between two steps. Which steps follow each other is decided by this alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// A template, as it was uploaded or saved.
    Template(TemplateKind),
    /// HTML with the data in it, and the files that lie beside it.
    Page,
    /// LaTeX with the data in it, and the files that lie beside it.
    Source,
    /// A file of its own.
    File(FileKind),
}

/// A document on its way.
#[derive(Debug)]
pub struct Document {
    /// What it is.
    pub kind: DocumentKind,
    /// What there is of it.
    pub body: Body,
    /// How many pages it has, if it has pages.
    pub pages: Option<u32>,
}

/// What there is of a document.
#[derive(Debug)]
pub enum Body {
    /// The files of a template, or of a source, which stands in the entry's place.
    Template(Site),
    /// A page and what belongs to it.
    Page(Box<Page>),
    /// A file in memory; whoever holds it has bounded it.
    Held(Bytes),
    /// A file in the work place.
    Work(WorkFile),
    /// A file that is written into the object to be stored already: nobody reads it any more.
    Stored(Box<dyn StagedObject>),
}

/// A page that is assembled.
#[derive(Clone, Debug)]
pub struct Page {
    /// The page in the entry's place, and the files beside it.
    pub site: Site,
    /// The header that every sheet of it gets.
    pub header: Option<String>,
    /// The footer.
    pub footer: Option<String>,
}

impl DocumentKind {
    /// How it is called in a log and in an error.
    pub fn name(self) -> &'static str {
        match self {
            Self::Template(kind) => kind.name(),
            Self::Page => "page",
            Self::Source => "LaTeX source",
            Self::File(kind) => kind.name(),
        }
    }

    /// A step was given what it cannot work on: the plan, or the step before, is wrong.
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
    pub fn source(site: Site) -> Self {
        Self { kind: DocumentKind::Source, body: Body::Template(site), pages: None }
    }

    /// A file in memory.
    pub fn held(kind: FileKind, bytes: Bytes) -> Self {
        Self { kind: DocumentKind::File(kind), body: Body::Held(bytes), pages: None }
    }

    /// The files of the template, or the source, that it is.
    ///
    /// # Errors
    /// `internal` when it is none.
    pub fn into_template(self) -> Result<Site, EngineError> {
        match self.body {
            Body::Template(site) => Ok(site),
            Body::Page(_) | Body::Held(_) | Body::Work(_) | Body::Stored(_) => Err(self.kind.unusable()),
        }
    }

    /// The page that it is.
    ///
    /// # Errors
    /// `internal` when it is none.
    pub fn into_page(self) -> Result<Page, EngineError> {
        match self.body {
            Body::Page(page) => Ok(*page),
            Body::Template(_) | Body::Held(_) | Body::Work(_) | Body::Stored(_) => Err(self.kind.unusable()),
        }
    }

    /// The bytes of the file that it is, in chunks, wherever they are.
    ///
    /// # Errors
    /// `internal` when it is no file, or one that is being stored.
    pub fn into_chunks(self) -> Result<BoxStream<'static, std::io::Result<Bytes>>, EngineError> {
        match self.body {
            Body::Held(bytes) => Ok(stream::iter([Ok(bytes)]).boxed()),
            Body::Work(file) => Ok(file.into_chunks()),
            Body::Template(_) | Body::Page(_) | Body::Stored(_) => Err(self.kind.unusable()),
        }
    }
}
