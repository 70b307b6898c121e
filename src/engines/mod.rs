//! What can become what, and who does it.
//!
//! An engine is a folder: its constant says what it can do, what it needs and how it is started, and stands in the one
//! list below. Plans are searched in what the engines say, and so is everything that callers and operators are told
//! of what can become what.

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
pub mod step;
pub mod tex;
pub mod work;

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

/// An engine: what it says of itself, and how it is started.
#[derive(Clone, Copy)]
pub struct Engine {
    /// Its name in routes, metrics and errors.
    pub name: &'static str,
    /// What it can do.
    pub abilities: &'static [Ability],
    /// What must be installed for it; without it nothing of it can be done.
    pub requires: &'static [Requirement],
    /// Its programs read files of the machine: what they may not read must be kept from them (Landlock).
    pub reads_files: bool,
    /// How many programs it runs at once for one account, where these are heavy and `engines.slots` says nothing else.
    /// `None`: it has no slots of that kind (`slots::engines`), and no job waits for it there.
    pub slots: Option<usize>,
    /// Starts what takes its steps.
    pub start: fn(&EngineContext<'_>) -> Box<dyn StepRunner>,
}

/// What engines are started of.
pub struct EngineContext<'a> {
    /// Starts children.
    pub starter: &'a Starter,
    /// Runs foreign programs in the cage.
    pub programs: &'a Programs,
    /// Runs template code.
    pub script: &'a TemplateCodePool,
    /// Leases tabs.
    pub pool: &'a Addr<BrowserPool>,
    /// How much of a resource one account gets while others want some.
    pub share: AccountShare,
    /// The slots of those that run heavy programs, and the cores for these.
    pub budget: EngineBudget,
    /// Where pages may go.
    pub outbound: &'a Outbound,
    /// The folder of what is made once a machine; nothing is kept where there is none.
    pub caches: Option<&'a Path>,
    /// All settings.
    pub config: &'a Config,
    /// Where it is counted.
    pub metrics: &'a Metrics,
}

/// The engines that are started.
pub struct Runners(Vec<(&'static str, Box<dyn StepRunner>)>);

/// All engines of ours, a line each. Where two can do the same at the same cost, the first one does it.
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

/// Whether programs that read files of the machine may run here: files can be kept from them, or the operator does
/// without (`workers.allow_unfenced_files`).
pub fn can_confine_files(config: &Config) -> bool {
    landlock() == Landlock::Available || config.workers.allow_unfenced_files
}

impl Runners {
    /// Starts `engines`; must be called inside a runtime.
    pub fn start<'e>(engines: impl Iterator<Item = &'e Engine>, context: &EngineContext<'_>) -> Self {
        Self(engines.map(|engine| (engine.name, (engine.start)(context))).collect())
    }

    /// Who takes the steps of the engine `name`.
    pub fn of(&self, name: &str) -> Option<&dyn StepRunner> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, runner)| runner.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::catalog::{Catalog, Possible, Unplanned};
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::format_opts::{Handling, KEYS, PageOptions};
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
    fn what_nobody_can_make_is_told_with_what_somebody_can() {
        let options = PageOptions::default();
        let here = vec![Target::Jpg, Target::Png, Target::Pptx, Target::Html, Target::Pdf];
        let of_page = Unplanned::Impossible(Possible { here, ..Possible::default() });
        assert_eq!(catalog().plan(TemplateKind::Framework, Target::Docx, &options), Err(of_page));
        let none = Catalog::new(Vec::new(), true, Metrics::new().engines);
        let nothing = Unplanned::Impossible(Possible::default());
        assert_eq!(none.plan(TemplateKind::Latex, Target::Pdf, &options), Err(nothing));
    }

    /// The library of template code as one that is nowhere.
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
        assert_eq!(refused, Unplanned::Lacking(requirement::Lack::Missing(&NO_LIBRARY[0])));
        assert!(
            catalog
                .possible(TemplateKind::Ejs)
                .to_string()
                .contains("apt-get install libjavascriptcoregtk-6.0-1")
        );
    }

    #[test]
    fn engines_are_told_apart_and_heed_every_key_that_is_read() {
        let engines = all();
        for (at, engine) in engines.iter().enumerate() {
            assert!(engines[..at].iter().all(|other| other.name != engine.name), "{}", engine.name);
        }
        let abilities = engines.iter().flat_map(|engine| engine.abilities);
        let heeded: BTreeSet<_> = abilities.flat_map(|ability| ability.heeds.concat()).collect();
        let of = |wanted: Handling| {
            KEYS.iter().filter(move |(_, handling)| *handling == wanted).map(|(name, _)| *name)
        };
        // One that promises something is refused where nobody heeds it.
        let promised = of(Handling::Promised).filter(|name| heeded.contains(name));
        assert_eq!(heeded, of(Handling::Read).chain(promised).collect::<BTreeSet<_>>());
    }

    #[test]
    fn slides_of_pages_have_nothing_of_what_a_pdf_has_beside_them() {
        let route = catalog().route(TemplateKind::Html, Target::Pptx, &PageOptions::default()).unwrap();
        let heeded = ["outline", "tagged", "metadata", "scale", "dpi"].map(|key| route.heeds(key));
        assert_eq!(heeded, [false, false, false, true, true]);
    }

    /// What each target had an effect of before engines said so themselves.
    #[test]
    fn each_target_has_its_own_options() {
        let catalog = catalog();
        for (key, heeded) in [
            ("quality", [false, false, true, false]),
            ("omitBackground", [false, true, false, false]),
            ("fullPage", [false, true, true, false]),
            ("outline", [true, false, false, false]),
            ("viewport", [true, true, true, true]),
            ("mediaType", [true, true, true, false]),
            ("dpi", [false, false, false, false]),
        ] {
            let found = [Target::Pdf, Target::Png, Target::Jpg, Target::Html].map(|target| {
                let route = catalog.route(TemplateKind::Html, target, &PageOptions::default());
                route.is_some_and(|route| route.heeds(key))
            });
            assert_eq!(found, heeded, "{key}");
        }
    }
}
