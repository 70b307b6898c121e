//! Engines beside the fake one that are never installed: one with a lower cost, and one that finishes.

use async_trait::async_trait;
use platen::domain::format_opts::{Key, KeySet};
use platen::engines::Engine;
use platen::engines::document::Document;
use platen::engines::error::EngineError;
use platen::engines::plan::Ability;
use platen::engines::requirement::{Install, Part, Requirement};
use platen::engines::runner::{StepContext, StepRunner};
use platen::engines::step::Step;

use crate::fake;

/// Would set LaTeX at a lower cost than the fake engine and with other options; it is never installed.
pub const RIVAL: Engine = Engine {
    name: "rival",
    abilities: &[Ability { cost: 1, heeds: KeySet::of(&[Key::Dpi]), ..fake::ABILITIES[1] }],
    requires: &[Requirement {
        name: "The rival",
        part: Part::Program,
        paths: &["/nowhere/rival"],
        version: None,
        install: Install::Command("scripts/setup --rival"),
    }],
    reads_files: false,
    slots: None,
    start: |_| Box::new(NeverInstalled),
};

/// A finishing engine that the option `tagged` asks for; it is never installed.
pub const SEAL: Engine = Engine {
    name: "seal",
    abilities: &[Ability {
        asked_by: Some(|options| options.extras.tagged == Some(true)),
        ..fake::ABILITIES[3]
    }],
    ..RIVAL
};

struct NeverInstalled;

#[async_trait(?Send)]
impl StepRunner for NeverInstalled {
    async fn run(&self, step: &Step, _: &mut StepContext<'_>, _: Document) -> Result<Document, EngineError> {
        panic!("{} is not there", step.name())
    }
}
