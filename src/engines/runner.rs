//! What an engine implements to take steps, and what it is given for one: context, and where its file goes.

use async_trait::async_trait;
use bytes::Bytes;

use super::document::{Body, Document, DocumentKind};
use super::error::EngineError;
use super::plan::Plan;
use super::step::Step;
use super::work::{WorkPlace, WorkWriter};
use crate::domain::fault::Warnings;
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::FileKind;
use crate::domain::reach::Reach;
use crate::slots::meter::CostMeter;
use crate::storage::{ObjectStore, StagedObject};

/// What comes of a step.
pub type StepResult = Result<Document, EngineError>;

/// Takes the steps of an engine. Its futures stay on the thread of their job.
#[async_trait(?Send)]
pub trait StepRunner: Send + Sync {
    /// Takes `step`, which is one of the engine's abilities, on `input`, which is of the kind it works on.
    ///
    /// # Errors
    /// By who can do something about it.
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult;
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

impl Outlet<'_> {
    /// Most bytes of a file.
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
    pub async fn open(&self) -> Result<Sink, EngineError> {
        match self {
            Self::Store(store, limit_bytes) => {
                Ok(Sink::Store(store.stage(*limit_bytes).await.map_err(EngineError::Store)?))
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
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), EngineError> {
        match self {
            Self::Store(staged) => staged.write(bytes).await.map_err(EngineError::Store),
            Self::Work(writer) => writer.write(&bytes).await,
        }
    }

    /// The document whose file is whole with this.
    ///
    /// # Errors
    /// When the work place fails.
    pub async fn finish(self, kind: FileKind, pages: Option<u32>) -> Result<Document, EngineError> {
        let body = match self {
            Self::Store(staged) => Body::Stored(staged),
            Self::Work(writer) => Body::Work(writer.finish().await?),
        };
        Ok(Document { kind: DocumentKind::File(kind), body, pages })
    }
}
