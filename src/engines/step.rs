//! A step of a plan: what it does, by which engine, from and to which kind of document.

use super::document::DocumentKind;
use super::error::EngineError;
use crate::domain::format_opts::{Key, KeySet};
use crate::domain::kinds::FileKind;

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
    /// The name of the engine that runs it.
    pub engine: &'static str,
    /// The kind of step.
    pub kind: StepKind,
    /// The kind of document that it takes.
    pub from: DocumentKind,
    /// The kind of document that it makes.
    pub to: DocumentKind,
    /// The keys of `formatOpts` that have an effect on it.
    pub heeds: KeySet,
}

impl StepKind {
    /// The name in routes, spans and errors.
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
    /// Engine and kind of step, as in `chromium:print`.
    pub fn name(&self) -> String {
        match self.kind {
            // The engine's name says it already.
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
    pub fn file(&self) -> Result<FileKind, EngineError> {
        match self.to {
            DocumentKind::File(kind) => Ok(kind),
            DocumentKind::Template(_) | DocumentKind::Page | DocumentKind::Source => {
                Err(EngineError::internal(&format!("the step '{}' makes no file", self.kind.name())))
            }
        }
    }

    /// Whether the key has an effect on it.
    pub fn heeds(&self, key: Key) -> bool {
        self.heeds.has(key)
    }
}
