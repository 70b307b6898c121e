//! The catalogue: which engines there are, and whether what they need is installed. It decides which target a kind of template
//! can become; routes, errors, `doctor` and docs/matrix.txt all take that from here.

use std::fmt::{self, Write as _};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use parking_lot::Mutex;

use super::Engine;
use super::plan::{self, Plan};
use super::requirement::{ProgramFile, Requirement, UnmetRequirement};
use super::step::Step;
use crate::domain::format_opts::{Key, PageOptions};
use crate::domain::kinds::{Target, TemplateKind};
use crate::telemetry::Gauges;
use crate::workers::Starter;

/// How long the result of a check is used again: each takes a few system calls, and any request may cause one.
const CHECK_LIFETIME: Duration = Duration::from_secs(1);

/// The engines, and the last check of what they need.
pub struct Catalog {
    entries: Vec<Entry>,
    /// Landlock can keep files from programs, or the operator does without.
    confines_files: bool,
    available: Gauges<1>,
    /// Starts programs to ask for their versions.
    starter: OnceLock<Starter>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// No engine can do it; holds what the kind can become instead.
    Impossible(PossibleTargets),
    /// An engine could, if this were installed.
    Unmet(UnmetRequirement),
    /// The file would not be what this key of `formatOpts` promises; the text says which targets or kinds would be.
    Unkept(Key, String),
}

/// What a kind can become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PossibleTargets {
    /// With what is installed.
    pub here: Vec<Target>,
    /// Once the given requirement is installed.
    pub otherwise: Vec<(UnmetRequirement, Vec<Target>)>,
}

struct Entry {
    engine: Engine,
    last_check: Mutex<RequirementCheck>,
    /// The program files whose versions are known, by requirement; `None` before the first check.
    checked_files: tokio::sync::Mutex<Option<Vec<Option<ProgramFile>>>>,
}

/// The last check of an engine's requirements.
#[derive(Clone, Copy)]
struct RequirementCheck {
    at: Instant,
    unmet: Option<UnmetRequirement>,
    /// A program that is too old, by its own answer.
    old: Option<UnmetRequirement>,
    /// The versions are known, or do not matter.
    is_known: bool,
    /// Nothing was lacking at some check since the start.
    was_available: bool,
}

impl Catalog {
    /// The catalogue of `engines`, which are checked now. `confines_files`: Landlock can keep files from programs, or the
    /// operator does without.
    pub fn new(engines: Vec<Engine>, confines_files: bool, available: Gauges<1>) -> Self {
        let entry = |engine: Engine| {
            let unmet = unmet_of(&engine, confines_files);
            let checked_files = if has_versions(&engine) { None } else { Some(Vec::new()) };
            let is_known = checked_files.is_some();
            let was_available = unmet.is_none() && is_known;
            let last_check =
                RequirementCheck { at: Instant::now(), unmet, old: None, is_known, was_available };
            Entry {
                engine,
                last_check: Mutex::new(last_check),
                checked_files: tokio::sync::Mutex::new(checked_files),
            }
        };
        let catalog = Self {
            entries: engines.into_iter().map(entry).collect(),
            confines_files,
            available,
            starter: OnceLock::new(),
        };
        catalog.check();
        catalog
    }

    /// Asks the programs for their versions, where these matter; `recheck_versions` later uses the same starter. A program that
    /// does not answer counts as new enough: what is wrong with it shows when it is used.
    pub async fn ask_versions(&self, starter: &Starter) {
        let starter = self.starter.get_or_init(|| starter.clone());
        let asking = self.entries.iter().map(|entry| async move { entry.ask(starter).await });
        let has_asked = join_all(asking).await;
        for (entry, _) in self.entries.iter().zip(has_asked).filter(|(_, has_asked)| *has_asked) {
            let _ = self.check_now(entry.engine.name);
        }
    }

    /// Asks those whose program file has changed since the last time; takes a few system calls where none has.
    pub async fn recheck_versions(&self) {
        if let Some(starter) = self.starter.get() {
            self.ask_versions(starter).await;
        }
    }

    /// The engines, in their order.
    pub fn engines(&self) -> impl Iterator<Item = &Engine> + Clone {
        self.entries.iter().map(|entry| &entry.engine)
    }

    /// The plan to make `target` of `kind` that keeps what `options` promise.
    ///
    /// # Errors
    /// When no engine can do it, or not here.
    pub fn plan(&self, kind: TemplateKind, target: Target, options: &PageOptions) -> Result<Plan, PlanError> {
        match self.planned(kind, target, options) {
            Ok(Some(plan)) => match plan.unkept(options) {
                Some(key) => Err(PlanError::Unkept(key, self.what_would_keep(key, (kind, target), options))),
                None => Ok(plan),
            },
            Ok(None) => Err(PlanError::Impossible(self.possible(kind))),
            Err(unmet) => Err(PlanError::Unmet(unmet)),
        }
    }

    /// `None` where no engine can do it.
    fn planned(
        &self,
        kind: TemplateKind,
        target: Target,
        options: &PageOptions,
    ) -> Result<Option<Plan>, UnmetRequirement> {
        let Some(route) = self.route(kind, target, options) else { return Ok(None) };
        // Checked once for all uses below: a second check could find that another engine has gone.
        let checked: Vec<_> = self.engines().map(|engine| (engine, self.unmet(engine.name))).collect();
        let unmet_of = |step: &Step| {
            let of = |(engine, _): &&(&Engine, Option<UnmetRequirement>)| engine.name == step.engine;
            checked.iter().find(of).and_then(|(_, unmet)| *unmet)
        };
        let Some(unmet) = route.steps().iter().find_map(unmet_of) else { return Ok(Some(route)) };
        // Hazard: a detour around a missing engine skips its finishing step, and a file that was to have a password goes out
        // without one. So only steps that make the file may be replaced; those that finish it must be available.
        if let Some(unmet) = route.finishing().find_map(unmet_of) {
            return Err(unmet);
        }
        let whole = checked.iter().filter(|(_, unmet)| unmet.is_none()).map(|(engine, _)| *engine);
        let detour = plan::search(whole, (kind, target), options);
        // A detour that breaks a promise which the route keeps is no plan either.
        let keeps = |detour: &Plan| detour.unkept(options).is_none_or(|key| !route.keeps(key));
        detour.filter(keeps).map(Some).ok_or(unmet)
    }

    /// Which targets or kinds keep what `key` promises: the end of the sentence "it cannot be kept …".
    fn what_would_keep(
        &self,
        key: Key,
        (kind, target): (TemplateKind, Target),
        options: &PageOptions,
    ) -> String {
        let keeps = |kind: TemplateKind, target: Target| {
            self.route(kind, target, options).is_some_and(|route| route.keeps(key))
        };
        let names = |names: Vec<&'static str>| (!names.is_empty()).then(|| names.join(", "));
        let targets = Target::ALL.into_iter().filter(|target| keeps(kind, *target)).map(Target::name);
        let kinds = TemplateKind::ALL.into_iter().filter(|kind| keeps(*kind, target)).map(TemplateKind::name);
        let (of, to) = (kind.name(), target.name());
        match (names(targets.collect()), names(kinds.collect())) {
            (Some(targets), _) => format!("for {to}; it can for {targets}"),
            (None, Some(kinds)) => format!("for {to} made of {of}; it can for {to} made of {kinds}"),
            (None, None) => format!("for {to} made of {of}, and nothing here can yet"),
        }
    }

    /// The plan to make `target` of `kind` if everything were installed.
    pub fn route(&self, kind: TemplateKind, target: Target, options: &PageOptions) -> Option<Plan> {
        plan::search(self.engines(), (kind, target), options)
    }

    /// Whether `target` of `kind` can be made, but not without the engines for which `is_without` is true.
    pub fn needs(&self, kind: TemplateKind, target: Target, is_without: impl Fn(&Engine) -> bool) -> bool {
        let options = PageOptions::default();
        let others: Vec<_> = self.engines().filter(|engine| !is_without(engine)).collect();
        self.route(kind, target, &options).is_some()
            && plan::search(others.into_iter(), (kind, target), &options).is_none()
    }

    /// The engine of `plan` with the fewest `slots`, and how many.
    pub fn with_fewest_slots(
        &self,
        plan: &Plan,
        slots: impl Fn(&Engine) -> Option<usize>,
    ) -> Option<(&'static str, usize)> {
        let taken = |engine: &&Engine| plan.steps().iter().any(|step| step.engine == engine.name);
        let limited = self.engines().filter(taken).filter_map(|engine| Some((engine.name, slots(engine)?)));
        limited.min_by_key(|(_, slots)| *slots)
    }

    /// What a kind can become, now and once more is installed.
    pub fn possible(&self, kind: TemplateKind) -> PossibleTargets {
        let mut possible = PossibleTargets::default();
        for target in Target::ALL {
            match self.planned(kind, target, &PageOptions::default()) {
                Ok(Some(_)) => possible.here.push(target),
                Ok(None) => {}
                Err(unmet) => possible.add(unmet, target),
            }
        }
        possible
    }

    /// What the engine lacks, by a check not older than a second.
    pub fn unmet(&self, engine: &str) -> Option<UnmetRequirement> {
        self.check_within(engine, CHECK_LIFETIME)
    }

    /// What the engine lacks now; for an engine that could not be started.
    pub fn check_now(&self, engine: &str) -> Option<UnmetRequirement> {
        self.check_within(engine, Duration::ZERO)
    }

    /// Checks all engines whose last check is more than a second old.
    pub fn check(&self) {
        for engine in self.engines() {
            let _ = self.unmet(engine.name);
        }
    }

    /// What was available since the start and is not now, an engine a line. What was never installed does not count.
    pub fn lost(&self) -> Vec<String> {
        let lost = |entry: &Entry| {
            let unmet = self.unmet(entry.engine.name)?;
            let was_available = entry.last_check.lock().was_available;
            was_available.then(|| format!("{}: {unmet}", entry.engine.name))
        };
        self.entries.iter().filter_map(lost).collect()
    }

    /// A line for each kind and target: the route, and `ok` or what is lacking. `besides` adds what the catalogue cannot check,
    /// such as the browser.
    pub fn matrix_here(&self, besides: impl Fn(&Plan) -> Option<String>) -> String {
        self.table(|plan| {
            let unmet = self.unmet_of_route(plan).map(|unmet| unmet.brief());
            unmet.or_else(|| besides(plan)).unwrap_or_else(|| "ok".to_owned())
        })
    }

    /// A line for each kind and target: the route, and the `state` of its plan.
    pub fn table(&self, state: impl Fn(&Plan) -> String) -> String {
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

    fn unmet_of_route(&self, plan: &Plan) -> Option<UnmetRequirement> {
        plan.steps().iter().find_map(|step| self.unmet(step.engine))
    }

    fn check_within(&self, engine: &str, lifetime: Duration) -> Option<UnmetRequirement> {
        let entry = self.entries.iter().find(|entry| entry.engine.name == engine)?;
        // An engine that needs nothing, or checks it itself as the browser does, has no gauge.
        if entry.engine.requires.is_empty() && !entry.engine.reads_files {
            return None;
        }
        let unmet = entry.check(self.confines_files, lifetime);
        // An engine that was never installed has no series, so no alert fires for it.
        if entry.last_check.lock().was_available {
            self.available.of([entry.engine.name]).set(i64::from(unmet.is_none()));
        }
        unmet
    }
}

impl PossibleTargets {
    fn add(&mut self, unmet: UnmetRequirement, target: Target) {
        match self.otherwise.iter_mut().find(|(other, _)| *other == unmet) {
            Some((_, targets)) => targets.push(target),
            None => self.otherwise.push((unmet, vec![target])),
        }
    }
}

/// `pdf, png; docx once x is installed (command)`.
impl fmt::Display for PossibleTargets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |targets: &[Target]| targets.iter().map(|target| target.name()).collect::<Vec<_>>().join(", ");
        match (self.here.is_empty(), self.otherwise.is_empty()) {
            (true, true) => formatter.write_str("nothing in this build")?,
            (true, false) => formatter.write_str("nothing here as it is")?,
            (false, _) => formatter.write_str(&names(&self.here))?,
        }
        for (unmet, targets) in &self.otherwise {
            write!(formatter, "; {} {}", names(targets), unmet.once())?;
        }
        Ok(())
    }
}

impl Entry {
    /// Asks the programs for their versions, if never asked or their files have changed; returns whether it did. Concurrent
    /// callers wait for the answer.
    async fn ask(&self, starter: &Starter) -> bool {
        let mut checked_files = self.checked_files.lock().await;
        let files: Vec<_> = self
            .engine
            .requires
            .iter()
            .filter(|needed| needed.version.is_some())
            .map(Requirement::file)
            .collect();
        if checked_files.as_ref() == Some(&files) {
            return false;
        }
        let mut old = None;
        for requirement in self.engine.requires {
            match requirement.too_old(starter).await {
                Ok(found) => old = old.or(found.map(|found| UnmetRequirement::Version(requirement, found))),
                Err(error) => {
                    let name = requirement.name;
                    tracing::warn!(engine.name = self.engine.name, error = %error, "{name} does not say its version");
                }
            }
        }
        *checked_files = Some(files);
        let mut last_check = self.last_check.lock();
        (last_check.old, last_check.is_known) = (old, true);
        let unmet = last_check.unmet.filter(|unmet| !matches!(unmet, UnmetRequirement::Version(..))).or(old);
        (last_check.unmet, last_check.was_available) = (unmet, last_check.was_available || unmet.is_none());
        true
    }

    /// What the engine lacks; checks again where the last check is older than `lifetime`.
    fn check(&self, confines_files: bool, lifetime: Duration) -> Option<UnmetRequirement> {
        let mut last_check = self.last_check.lock();
        if last_check.at.elapsed() < lifetime {
            return last_check.unmet;
        }
        let unmet = unmet_of(&self.engine, confines_files).or(last_check.old);
        if unmet != last_check.unmet {
            let shown = unmet.map_or_else(|| "nothing".to_owned(), |unmet| unmet.to_string());
            tracing::warn!(
                engine.name = self.engine.name,
                engine.lack = shown,
                "what an engine lacks has changed"
            );
        }
        *last_check = RequirementCheck {
            at: Instant::now(),
            unmet,
            was_available: last_check.was_available || (unmet.is_none() && last_check.is_known),
            ..*last_check
        };
        unmet
    }
}

fn has_versions(engine: &Engine) -> bool {
    engine.requires.iter().any(|requirement| requirement.version.is_some())
}

fn unmet_of(engine: &Engine, confines_files: bool) -> Option<UnmetRequirement> {
    let missing = engine.requires.iter().find(|requirement| requirement.installed().is_none());
    missing
        .map(UnmetRequirement::Missing)
        .or((engine.reads_files && !confines_files).then_some(UnmetRequirement::Landlock))
}
