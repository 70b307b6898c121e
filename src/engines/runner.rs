//! The interface of an engine: `StepRunner`, the context of a step, and the outlet for its file.

use async_trait::async_trait;
use bytes::Bytes;

use super::document::{Body, Document, DocumentKind};
use super::error::EngineError;
use super::plan::Plan;
use super::step::Step;
use super::work_files::{WorkFolder, WorkWriter};
use crate::domain::error::Warnings;
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::FileKind;
use crate::domain::reach::Reach;
use crate::slots::meter::CostMeter;
use crate::storage::{ObjectStore, StagedObject};

/// The result of a step.
pub type StepResult = Result<Document, EngineError>;

/// Runs the steps of an engine. Its futures stay on the thread of their job.
#[async_trait(?Send)]
pub trait StepRunner: Send + Sync {
    /// Runs `step`, one of the engine's abilities, on `input`, which is of the step's `from` kind.
    ///
    /// # Errors
    /// [`EngineError::Job`] where the job's author can do something about it.
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult;
}

/// What a step is given beside its document.
pub struct StepContext<'a> {
    /// The job's account, and what measures its cost.
    pub meter: &'a CostMeter,
    /// The data: complete JSON, as it was received.
    pub data: &'a Bytes,
    /// The caller's options.
    pub options: &'a PageOptions,
    /// What the template may reach: its own files, or allowed hosts, too.
    pub reach: Reach,
    /// The whole plan.
    pub plan: &'a Plan,
    /// Where the step writes its file.
    pub outlet: Outlet<'a>,
    /// Warnings for the author; kept also when the step fails.
    pub warnings: &'a mut Warnings,
}

/// Where a step writes its file: the last one of a plan straight into the object to be stored, so that no document is written
/// twice; all others into the work folder.
#[derive(Clone, Copy)]
pub enum Outlet<'a> {
    /// Into the store, at most so many bytes.
    Store(&'a dyn ObjectStore, u64),
    /// Into the work folder.
    Work(&'a WorkFolder),
}

/// A file that a step is writing; it is removed when this is dropped unfinished.
#[derive(Debug)]
pub enum Sink {
    /// In the store.
    Store(Box<dyn StagedObject>),
    /// In the work folder.
    Work(WorkWriter),
}

impl Outlet<'_> {
    /// Most bytes of a file.
    pub fn limit_bytes(&self) -> u64 {
        match self {
            Self::Store(_, limit_bytes) => *limit_bytes,
            Self::Work(folder) => folder.limit_bytes(),
        }
    }

    /// Begins an empty file.
    ///
    /// # Errors
    /// When the store or the work folder fails.
    pub async fn open(&self) -> Result<Sink, EngineError> {
        match self {
            Self::Store(store, limit_bytes) => {
                Ok(Sink::Store(store.stage(*limit_bytes).await.map_err(EngineError::Store)?))
            }
            Self::Work(folder) => Ok(Sink::Work(folder.file().await?)),
        }
    }
}

impl Sink {
    /// Appends bytes.
    ///
    /// # Errors
    /// When there are too many of them, or the store or the work folder fails.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), EngineError> {
        match self {
            Self::Store(staged) => staged.write(bytes).await.map_err(EngineError::Store),
            Self::Work(writer) => writer.write(&bytes).await,
        }
    }

    /// Ends the file: the document.
    ///
    /// # Errors
    /// When the work folder fails.
    pub async fn finish(self, kind: FileKind, pages: Option<u32>) -> Result<Document, EngineError> {
        let body = match self {
            Self::Store(staged) => Body::Stored(staged),
            Self::Work(writer) => Body::Work(writer.finish().await?),
        };
        Ok(Document { kind: DocumentKind::File(kind), body, pages })
    }
}
