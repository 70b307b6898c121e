//! The catalogue: which engines there are, what they need, and whether it is there. All that is said of what can become
//! what is made of it.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Engine;
use super::plan::{self, Plan};
use super::requirement::Requirement;
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::{Target, TemplateKind};
use crate::telemetry::EngineMetrics;

/// A look is as good as the truth for so long: who asks costs a few system calls, and anybody may ask.
const GOOD_FOR: Duration = Duration::from_secs(1);

/// The engines, and what was seen of what they need.
pub struct Catalog {
    entries: Vec<Entry>,
    metrics: EngineMetrics,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unplanned {
    /// No engine can do it. The kind can become these.
    Impossible(Vec<Target>),
    /// An engine could, and lacks this.
    Missing(&'static Requirement),
}

struct Entry {
    engine: Engine,
    seen: Mutex<Seen>,
}

/// What was seen of an engine's requirements.
#[derive(Clone, Copy)]
struct Seen {
    at: Instant,
    missing: Option<&'static Requirement>,
    /// All of them have been there since the start.
    was_whole: bool,
}

impl Catalog {
    /// The catalogue of `engines`, whose requirements are looked at now.
    #[must_use]
    pub fn new(engines: Vec<Engine>, metrics: EngineMetrics) -> Self {
        let entry = |engine: Engine| {
            let missing = look(&engine);
            let seen = Seen { at: Instant::now(), missing, was_whole: missing.is_none() };
            Entry { engine, seen: Mutex::new(seen) }
        };
        let catalog = Self { entries: engines.into_iter().map(entry).collect(), metrics };
        catalog.entries.iter().for_each(|entry| catalog.note(entry, entry.seen(GOOD_FOR).missing));
        catalog
    }

    /// The engines, in their order.
    pub fn engines(&self) -> impl Iterator<Item = &Engine> + Clone {
        self.entries.iter().map(|entry| &entry.engine)
    }

    /// How `kind` becomes `target`.
    ///
    /// # Errors
    /// When nobody can do it, or not here.
    pub fn plan(&self, kind: TemplateKind, target: Target, options: &PageOptions) -> Result<Plan, Unplanned> {
        let Some(route) = self.route(kind, target, options) else {
            return Err(Unplanned::Impossible(self.targets_of(kind)));
        };
        let Some(missing) = self.missing_of(&route) else { return Ok(route) };
        // Perhaps there is a way around it.
        let whole = self.engines().filter(|engine| self.missing(engine.name).is_none());
        plan::search(whole, (kind, target), options).ok_or(Unplanned::Missing(missing))
    }

    /// How `kind` would become `target` if everything were installed.
    #[must_use]
    pub fn route(&self, kind: TemplateKind, target: Target, options: &PageOptions) -> Option<Plan> {
        plan::search(self.engines(), (kind, target), options)
    }

    /// What a kind can become here.
    #[must_use]
    pub fn targets_of(&self, kind: TemplateKind) -> Vec<Target> {
        let options = PageOptions::default();
        let whole = self.engines().filter(|engine| self.missing(engine.name).is_none());
        let can = |target: &Target| plan::search(whole.clone(), (kind, *target), &options).is_some();
        Target::ALL.into_iter().filter(can).collect()
    }

    /// What the engine lacks, by a look that is not older than a second.
    #[must_use]
    pub fn missing(&self, engine: &str) -> Option<&'static Requirement> {
        self.look_at(engine, GOOD_FOR)
    }

    /// What the engine lacks now: it could not be started.
    #[must_use]
    pub fn look_again(&self, engine: &str) -> Option<&'static Requirement> {
        self.look_at(engine, Duration::ZERO)
    }

    /// Looks at what all engines need, as far as nobody has for a second.
    pub fn look(&self) {
        for engine in self.engines() {
            let _ = self.missing(engine.name);
        }
    }

    /// What was there since the start and is not now, an engine a line. What was never installed is nobody's loss.
    #[must_use]
    pub fn lost(&self) -> Vec<String> {
        let lost = |entry: &Entry| {
            let missing = self.missing(entry.engine.name)?;
            let was_whole = entry.seen.lock().unwrap_or_else(PoisonError::into_inner).was_whole;
            was_whole.then(|| format!("{}: {missing}", entry.engine.name))
        };
        self.entries.iter().filter_map(lost).collect()
    }

    /// What can become what and by whom: a line a kind and target.
    #[must_use]
    pub fn matrix(&self) -> String {
        self.table(|_| String::new())
    }

    /// The same with whether it is so here.
    #[must_use]
    pub fn matrix_here(&self) -> String {
        self.table(|plan| match self.missing_of(plan) {
            None => "ok".to_owned(),
            Some(missing) => format!("missing: {} ({})", missing.name, missing.command),
        })
    }

    fn table(&self, state: impl Fn(&Plan) -> String) -> String {
        let options = PageOptions::default();
        let mut table = String::new();
        for kind in TemplateKind::ALL {
            for target in Target::ALL {
                let plan = self.route(kind, target, &options);
                let route = plan.as_ref().map_or_else(|| "-".to_owned(), Plan::route);
                let state = plan.as_ref().map(&state).unwrap_or_default();
                let line = format!("{:<11}{:<6}{route:<40}{state}", kind.name(), target.name());
                let _ = writeln!(table, "{}", line.trim_end());
            }
        }
        table
    }

    fn missing_of(&self, plan: &Plan) -> Option<&'static Requirement> {
        plan.steps().iter().find_map(|step| self.missing(step.engine))
    }

    fn look_at(&self, engine: &str, good_for: Duration) -> Option<&'static Requirement> {
        let entry = self.entries.iter().find(|entry| entry.engine.name == engine)?;
        if entry.engine.requires.is_empty() {
            return None;
        }
        let missing = entry.seen(good_for).missing;
        self.note(entry, missing);
        missing
    }

    /// An engine that needs nothing of its own, or sees to it itself as the browser does, is not counted.
    fn note(&self, entry: &Entry, missing: Option<&'static Requirement>) {
        if !entry.engine.requires.is_empty() {
            self.metrics.available.of([entry.engine.name]).set(i64::from(missing.is_none()));
        }
    }
}

impl Entry {
    /// What was seen, looked at again where that is longer ago than `good_for`.
    fn seen(&self, good_for: Duration) -> Seen {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.at.elapsed() >= good_for {
            let missing = look(&self.engine);
            if missing != seen.missing {
                tracing::warn!(engine.name = self.engine.name, engine.missing = ?missing, "what an engine needs changed");
            }
            *seen = Seen { at: Instant::now(), missing, was_whole: seen.was_whole || missing.is_none() };
        }
        *seen
    }
}

fn look(engine: &Engine) -> Option<&'static Requirement> {
    engine.requires.iter().find(|requirement| requirement.program().is_none())
}
