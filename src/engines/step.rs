//! A step of a plan: what it does, what it is done with, how it can fail, and who does it.

use async_trait::async_trait;
use bytes::Bytes;

use super::document::{Body, Document, DocumentKind};
use super::plan::Plan;
use super::work::{WorkPlace, WorkWriter};
use crate::domain::fault::{FaultCode, JobFault, Warnings};
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::FileKind;
use crate::domain::reach::Reach;
use crate::slots::meter::CostMeter;
use crate::storage::{ObjectStore, StagedObject, StoreError};

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// Puts the data into a template.
    Assemble,
    /// Makes another kind of file of a document.
    Convert,
    /// Lays a page out on sheets.
    Print,
    /// Takes the picture of a page.
    Picture,
    /// Writes a page as one file that opens by itself.
    Snapshot,
    /// Makes pictures of sheets.
    Raster,
    /// Changes a file into one of its own kind.
    Finish,
}

/// A step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The name of the engine that takes it.
    pub engine: &'static str,
    /// What it does.
    pub kind: StepKind,
    /// What it works on.
    pub from: DocumentKind,
    /// What it makes.
    pub to: DocumentKind,
    /// The keys of `formatOpts` that have an effect on it, in groups.
    pub heeds: &'static [&'static [&'static str]],
}

/// What a step is done with, beside the document that it works on.
pub struct StepContext<'a> {
    /// For whom, and what it pays by.
    pub meter: &'a CostMeter,
    /// The data: complete JSON, as it was received.
    pub data: &'a Bytes,
    /// What the caller asked for.
    pub options: &'a PageOptions,
    /// How far a page may go.
    pub reach: Reach,
    /// The whole plan.
    pub plan: &'a Plan,
    /// Where the step writes a file.
    pub outlet: Outlet<'a>,
    /// What the author should know, also when the step fails.
    pub warnings: &'a mut Warnings,
}

/// Where a step's file goes: the last step of a plan writes into the object that is being stored, so that no byte of
/// a document is written twice; any other one into the work place.
#[derive(Clone, Copy)]
pub enum Outlet<'a> {
    /// Into the store, at most so many bytes.
    Store(&'a dyn ObjectStore, u64),
    /// Into the work place.
    Work(&'a WorkPlace),
}

/// A file that a step is writing; nothing of it is left when it is dropped.
#[derive(Debug)]
pub enum Sink {
    /// In the store.
    Store(Box<dyn StagedObject>),
    /// In the work place.
    Work(WorkWriter),
}

/// Why a step made no document.
#[derive(Debug)]
pub enum StepFault {
    /// The job's: its author can do something about it, or nobody can.
    Job(JobFault),
    /// The store's, while it took the file.
    Store(StoreError),
    /// The engine could not be started, with the cause for the log: something that it needs may be gone.
    NotStarted(String),
}

/// Takes the steps of an engine. Its futures stay on the thread of their job.
#[async_trait(?Send)]
pub trait StepRunner: Send + Sync {
    /// Takes `step`, which is one of the engine's abilities, on `input`, which is of the kind it works on.
    ///
    /// # Errors
    /// By who can do something about it.
    async fn run(
        &self,
        step: &Step,
        job: &mut StepContext<'_>,
        input: Document,
    ) -> Result<Document, StepFault>;
}

impl StepKind {
    /// The name in routes, spans and errors.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Assemble => "assemble",
            Self::Convert => "convert",
            Self::Print => "print",
            Self::Picture => "picture",
            Self::Snapshot => "snapshot",
            Self::Raster => "raster",
            Self::Finish => "finish",
        }
    }
}

impl Step {
    /// Who does what: `chromium:print`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.kind {
            // What the engine is there for.
            StepKind::Assemble | StepKind::Convert => self.engine.to_owned(),
            StepKind::Print
            | StepKind::Picture
            | StepKind::Snapshot
            | StepKind::Raster
            | StepKind::Finish => format!("{}:{}", self.engine, self.kind.name()),
        }
    }

    /// The kind of file that it makes.
    ///
    /// # Errors
    /// `internal` when it makes none.
    pub fn file(&self) -> Result<FileKind, StepFault> {
        match self.to {
            DocumentKind::File(kind) => Ok(kind),
            DocumentKind::Template(_) | DocumentKind::Page | DocumentKind::Source => {
                Err(StepFault::internal(&format!("the step '{}' makes no file", self.kind.name())))
            }
        }
    }

    /// Whether the key `name` of `formatOpts` has an effect on it.
    #[must_use]
    pub fn heeds(&self, name: &str) -> bool {
        self.heeds.iter().any(|group| group.contains(&name))
    }
}

impl Outlet<'_> {
    /// Most bytes of a file.
    #[must_use]
    pub fn limit_bytes(&self) -> u64 {
        match self {
            Self::Store(_, limit_bytes) => *limit_bytes,
            Self::Work(place) => place.limit_bytes(),
        }
    }

    /// An empty file.
    ///
    /// # Errors
    /// When the store, or the work place, fails.
    pub async fn open(&self) -> Result<Sink, StepFault> {
        match self {
            Self::Store(store, limit_bytes) => {
                Ok(Sink::Store(store.stage(*limit_bytes).await.map_err(StepFault::Store)?))
            }
            Self::Work(place) => Ok(Sink::Work(place.file().await?)),
        }
    }
}

impl Sink {
    /// Appends bytes.
    ///
    /// # Errors
    /// When there are too many of them, or the store or the work place fails.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), StepFault> {
        match self {
            Self::Store(staged) => staged.write(bytes).await.map_err(StepFault::Store),
            Self::Work(writer) => writer.write(&bytes).await,
        }
    }

    /// The document whose file is whole with this.
    ///
    /// # Errors
    /// When the work place fails.
    pub async fn finish(self, kind: FileKind, pages: Option<u32>) -> Result<Document, StepFault> {
        let body = match self {
            Self::Store(staged) => Body::Stored(staged),
            Self::Work(writer) => Body::Work(writer.finish().await?),
        };
        Ok(Document { kind: DocumentKind::File(kind), body, pages })
    }
}

impl StepFault {
    /// A fault of the service; the log has `cause`.
    pub(super) fn internal(cause: &str) -> Self {
        tracing::error!(error = cause, "a step failed");
        Self::Job(JobFault::new(
            FaultCode::Internal,
            "the service failed at a step of the job; its log has the cause",
        ))
    }
}

impl From<JobFault> for StepFault {
    fn from(fault: JobFault) -> Self {
        Self::Job(fault)
    }
}
