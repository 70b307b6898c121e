//! Engines beside the fake one that are never there: a cheaper one, and one that finishes.

use async_trait::async_trait;
use platen::engines::Engine;
use platen::engines::document::Document;
use platen::engines::error::EngineError;
use platen::engines::plan::Ability;
use platen::engines::requirement::{Part, Requirement};
use platen::engines::runner::{StepContext, StepRunner};
use platen::engines::step::Step;

use crate::fake;

/// Would set LaTeX more cheaply than the press and heeds other options, and is never there.
pub const RIVAL: Engine = Engine {
    name: "rival",
    abilities: &[Ability { cost: 1, heeds: &[&["dpi"]], ..fake::ABILITIES[1] }],
    requires: &[Requirement {
        name: "The rival",
        part: Part::Program,
        paths: &["/nowhere/rival"],
        version: None,
        package: "fake-rival",
        command: "scripts/setup --rival",
    }],
    reads_files: false,
    slots: None,
    start: |_| Box::new(Nobody),
};

/// Puts a PDF under seal where it is asked for (by the option `tagged`), and is never there.
pub const SEAL: Engine = Engine {
    name: "seal",
    abilities: &[Ability {
        asked_by: Some(|options| options.extras.tagged == Some(true)),
        ..fake::ABILITIES[3]
    }],
    ..RIVAL
};

struct Nobody;

#[async_trait(?Send)]
impl StepRunner for Nobody {
    async fn run(&self, step: &Step, _: &mut StepContext<'_>, _: Document) -> Result<Document, EngineError> {
        panic!("{} is not there", step.name())
    }
}
