//! Engines, which make documents, and the search for a plan from a template to a target.
//!
//! An engine is a folder: its constant `ENGINE` declares its abilities, its requirements and how it is started, and is listed in
//! `all`. Plans, and all that callers and operators read about possible targets, are derived from these constants
//! (`catalog.rs`, `plan.rs`). The pipeline runs steps through `Runners` and `runner.rs` alone.

pub mod catalog;
pub mod document;
pub mod ejs;
pub mod error;
pub mod libreoffice;
pub mod lint;
pub mod office;
pub mod page;
pub mod pandoc;
pub mod plain;
pub mod plan;
pub mod program;
pub mod qpdf;
pub mod raster;
pub mod requirement;
pub mod runner;
pub mod script;
pub mod source_map;
pub mod step;
pub mod tex;
pub mod work_files;
mod works_on;

use std::path::Path;

use actix::Addr;

use self::plan::Ability;
use self::requirement::Requirement;
use self::runner::StepRunner;
use self::script::TemplateCodePool;
use crate::browser::BrowserPool;
use crate::config::Config;
use crate::outbound::Outbound;
use crate::slots::AccountShare;
use crate::slots::engines::EngineBudget;
use crate::telemetry::metrics::Metrics;
use crate::workers::{Landlock, Programs, Starter, landlock};

/// An engine's declaration.
#[derive(Clone, Copy)]
pub struct Engine {
    /// Its name in routes, metrics and errors.
    pub name: &'static str,
    /// What it can do.
    pub abilities: &'static [Ability],
    /// What must be installed; without it the engine is not available.
    pub requires: &'static [Requirement],
    /// Its programs can read files of the machine, so Landlock must confine them.
    pub reads_files: bool,
    /// How many programs it runs at once for one account, where these are heavy and `engines.slots` says nothing else.
    /// `None`: it has no slots in `slots::engines`, and jobs do not wait there.
    pub slots: Option<usize>,
    /// Starts the runner of its steps.
    pub start: fn(&EngineContext<'_>) -> Box<dyn StepRunner>,
}

/// What engines are given at their start.
pub struct EngineContext<'a> {
    /// Starts children.
    pub starter: &'a Starter,
    /// Runs foreign programs in the sandbox.
    pub programs: &'a Programs,
    /// Runs template code.
    pub script: &'a TemplateCodePool,
    /// Leases tabs.
    pub pool: &'a Addr<BrowserPool>,
    /// How much of a resource one account gets while others want some.
    pub share: AccountShare,
    /// Slots and cores for heavy programs.
    pub budget: EngineBudget,
    /// Connects to allowed hosts.
    pub outbound: &'a Outbound,
    /// The folder for caches that outlive the service; `None`: nothing is stored.
    pub caches: Option<&'a Path>,
    /// All settings.
    pub config: &'a Config,
    /// All metrics.
    pub metrics: &'a Metrics,
}

/// The engines that are started.
pub struct Runners(Vec<(&'static str, Box<dyn StepRunner>)>);

/// All engines. Where two can do the same at the same cost, the first one does it.
pub fn all() -> Vec<Engine> {
    vec![
        ejs::ENGINE,
        plain::ENGINE,
        office::ENGINE,
        libreoffice::ENGINE,
        tex::ENGINE,
        pandoc::ENGINE,
        page::ENGINE,
        raster::ENGINE,
        qpdf::ENGINE,
    ]
}

/// Whether programs that can read files of the machine may run: Landlock confines them, or the operator does without
/// (`workers.allow_unfenced_files`).
pub fn can_confine_files(config: &Config) -> bool {
    landlock() == Landlock::Available || config.workers.allow_unfenced_files
}

impl Runners {
    /// Starts `engines`; must be called inside a runtime.
    pub fn start<'e>(engines: impl Iterator<Item = &'e Engine>, context: &EngineContext<'_>) -> Self {
        Self(engines.map(|engine| (engine.name, (engine.start)(context))).collect())
    }

    /// The runner of the engine `name`.
    pub fn of(&self, name: &str) -> Option<&dyn StepRunner> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, runner)| runner.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::catalog::{Catalog, PlanError, PossibleTargets};

    use super::*;
    use crate::domain::format_opts::{Key, KeySet, PageOptions};
    use crate::domain::kinds::{Target, TemplateKind};

    fn catalog() -> Catalog {
        Catalog::new(all(), true, Metrics::new().engines)
    }

    /// The committed table: a changed cell shows as one line of the diff.
    #[test]
    fn all_cells_are_as_committed() {
        let matrix = catalog().table(|_| String::new());
        assert_eq!(matrix.lines().count(), 49);
        assert!(
            matrix == include_str!("../../docs/matrix.txt"),
            "docs/matrix.txt differs; if that is meant, write:\n{matrix}"
        );
    }

    #[test]
    fn what_no_engine_makes_is_refused_with_what_can_be_made() {
        let options = PageOptions::default();
        let here = vec![Target::Jpg, Target::Png, Target::Pptx, Target::Html, Target::Pdf];
        let of_page = PlanError::Impossible(PossibleTargets { here, ..PossibleTargets::default() });
        assert_eq!(catalog().plan(TemplateKind::Framework, Target::Docx, &options), Err(of_page));
        let none = Catalog::new(Vec::new(), true, Metrics::new().engines);
        let nothing = PlanError::Impossible(PossibleTargets::default());
        assert_eq!(none.plan(TemplateKind::Latex, Target::Pdf, &options), Err(nothing));
    }

    /// The library of template code, at a path where nothing is.
    const NO_LIBRARY: &[Requirement] =
        &[Requirement { paths: &["/nowhere/lib.so"], ..script::JAVASCRIPT_CORE }];

    #[test]
    fn without_the_engine_of_template_code_pages_that_have_none_are_still_made() {
        let missing = |engine: Engine| {
            let needs_it = engine.requires.contains(&script::JAVASCRIPT_CORE);
            Engine { requires: if needs_it { NO_LIBRARY } else { engine.requires }, ..engine }
        };
        let engines = all().into_iter().map(missing).collect();
        let catalog = Catalog::new(engines, true, Metrics::new().engines);
        let options = PageOptions::default();
        for kind in [TemplateKind::Html, TemplateKind::Framework] {
            let plan = catalog.plan(kind, Target::Pdf, &options).unwrap();
            assert_eq!(plan.route(), "plain > chromium:print");
        }
        let refused = catalog.plan(TemplateKind::Ejs, Target::Pdf, &options).unwrap_err();
        assert_eq!(refused, PlanError::Unmet(requirement::UnmetRequirement::Missing(&NO_LIBRARY[0])));
        assert!(
            catalog
                .possible(TemplateKind::Ejs)
                .to_string()
                .contains("apt-get install --no-install-recommends libjavascriptcoregtk-6.0-1")
        );
    }

    #[test]
    fn engine_names_are_unique_and_every_read_option_is_heeded() {
        let engines = all();
        for (at, engine) in engines.iter().enumerate() {
            assert!(engines[..at].iter().all(|other| other.name != engine.name), "{}", engine.name);
        }
        let abilities = engines.iter().flat_map(|engine| engine.abilities);
        let heeded = abilities.fold(KeySet::NONE, |heeded, ability| heeded.and(ability.heeds));
        for &key in Key::ALL {
            let is_read = !key.is_refused() && !key.is_of_service();
            // One that promises something is refused where no engine heeds it.
            assert!(heeded.has(key) == is_read || key.promises(), "{key:?}");
        }
    }

    #[test]
    fn pptx_of_pages_ignores_pdf_only_options() {
        let route = catalog().route(TemplateKind::Html, Target::Pptx, &PageOptions::default()).unwrap();
        let heeded =
            [Key::Outline, Key::Tagged, Key::Metadata, Key::Scale, Key::Dpi].map(|key| route.heeds(key));
        assert_eq!(heeded, [false, false, false, true, true]);
    }

    /// The keys that have an effect for each target, written out: changing an engine's `heeds` must not lose one.
    #[test]
    fn each_target_has_its_own_options() {
        let catalog = catalog();
        for (key, heeded) in [
            (Key::Quality, [false, false, true, false]),
            (Key::OmitBackground, [false, true, false, false]),
            (Key::FullPage, [false, true, true, false]),
            (Key::Outline, [true, false, false, false]),
            (Key::Viewport, [true, true, true, true]),
            (Key::MediaType, [true, true, true, false]),
            (Key::Dpi, [false, false, false, false]),
        ] {
            let found = [Target::Pdf, Target::Png, Target::Jpg, Target::Html].map(|target| {
                let route = catalog.route(TemplateKind::Html, target, &PageOptions::default());
                route.is_some_and(|route| route.heeds(key))
            });
            assert_eq!(found, heeded, "{key:?}");
        }
    }
}
