//! The catalogue: which engines there are, what they need, and whether it is there. All that is said of what can become
//! what is made of it.

use std::fmt::{self, Write as _};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::Engine;
use super::plan::{self, Plan};
use super::requirement::{Lack, ProgramFile, Requirement};
use super::step::Step;
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::{Target, TemplateKind};
use crate::telemetry::Gauges;
use crate::workers::Starter;

/// A look is as good as the truth for so long: who asks costs a few system calls, and anybody may ask.
const GOOD_FOR: Duration = Duration::from_secs(1);

/// The engines, and what was seen of what they need.
pub struct Catalog {
    entries: Vec<Entry>,
    /// Files can be kept from programs here.
    confines: bool,
    available: Gauges<1>,
    /// Starts programs that are asked for their versions.
    starter: OnceLock<Starter>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unplanned {
    /// No engine can do it; what the kind can become instead.
    Impossible(Possible),
    /// An engine could, and lacks this.
    Lacking(Lack),
    /// A file would come out that is not what this key of `formatOpts` promises; with what would be.
    Unkept(&'static str, String),
}

/// What a kind can become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Possible {
    /// As it is.
    pub here: Vec<Target>,
    /// Where this were not lacking.
    pub otherwise: Vec<(Lack, Vec<Target>)>,
}

struct Entry {
    engine: Engine,
    seen: Mutex<Seen>,
    /// The files that were asked for their versions, by requirement; none before they were.
    asked: tokio::sync::Mutex<Option<Vec<Option<ProgramFile>>>>,
}

/// What was seen of an engine's requirements.
#[derive(Clone, Copy)]
struct Seen {
    at: Instant,
    lack: Option<Lack>,
    /// A program that said that it is older than it may be.
    old: Option<Lack>,
    /// Its programs were asked, or need not be.
    is_known: bool,
    /// All of them have been there, and new enough, since the start.
    was_whole: bool,
}

impl Catalog {
    /// The catalogue of `engines`, which are looked at now. `confines`: files can be kept from programs here, or the
    /// operator does without.
    pub fn new(engines: Vec<Engine>, confines: bool, available: Gauges<1>) -> Self {
        let entry = |engine: Engine| {
            let lack = lack_of(&engine, confines);
            let asked = if has_versions(&engine) { None } else { Some(Vec::new()) };
            let is_known = asked.is_some();
            let was_whole = lack.is_none() && is_known;
            let seen = Seen { at: Instant::now(), lack, old: None, is_known, was_whole };
            Entry { engine, seen: Mutex::new(seen), asked: tokio::sync::Mutex::new(asked) }
        };
        let catalog = Self {
            entries: engines.into_iter().map(entry).collect(),
            confines,
            available,
            starter: OnceLock::new(),
        };
        catalog.look();
        catalog
    }

    /// Asks the programs for their versions, where these matter; `renew` asks again by the same starter. One that does
    /// not say it is taken as it is: what is wrong with it shows when it is used.
    pub async fn ask_versions(&self, starter: &Starter) {
        let starter = self.starter.get_or_init(|| starter.clone());
        let asking = self.entries.iter().map(|entry| async move { entry.ask(starter).await });
        let asked = join_all(asking).await;
        for (entry, _) in self.entries.iter().zip(asked).filter(|(_, asked)| *asked) {
            let _ = self.look_again(entry.engine.name);
        }
    }

    /// Asks those whose program's file is another one than when they were asked last; a few system calls otherwise.
    pub async fn renew(&self) {
        if let Some(starter) = self.starter.get() {
            self.ask_versions(starter).await;
        }
    }

    /// The engines, in their order.
    pub fn engines(&self) -> impl Iterator<Item = &Engine> + Clone {
        self.entries.iter().map(|entry| &entry.engine)
    }

    /// How `kind` becomes `target`, with all that `options` promise.
    ///
    /// # Errors
    /// When nobody can do it, or not here.
    pub fn plan(&self, kind: TemplateKind, target: Target, options: &PageOptions) -> Result<Plan, Unplanned> {
        match self.planned(kind, target, options) {
            Ok(Some(plan)) => match plan.unkept(options) {
                Some(key) => Err(Unplanned::Unkept(key, self.keepers(key, (kind, target), options))),
                None => Ok(plan),
            },
            Ok(None) => Err(Unplanned::Impossible(self.possible(kind))),
            Err(lack) => Err(Unplanned::Lacking(lack)),
        }
    }

    /// No plan where nobody can do it.
    fn planned(
        &self,
        kind: TemplateKind,
        target: Target,
        options: &PageOptions,
    ) -> Result<Option<Plan>, Lack> {
        let Some(route) = self.route(kind, target, options) else { return Ok(None) };
        // Looked at once: of two looks the second may find that another one has gone.
        let looked: Vec<_> = self.engines().map(|engine| (engine, self.lack(engine.name))).collect();
        let lack_of = |step: &Step| {
            let of = |(engine, _): &&(&Engine, Option<Lack>)| engine.name == step.engine;
            looked.iter().find(of).and_then(|(_, lack)| *lack)
        };
        let Some(lack) = route.steps().iter().find_map(lack_of) else { return Ok(Some(route)) };
        // Hazard: a way around a missing engine leaves out what only that one finishes, and a file that was to have a
        // password goes out without one. So the way around is for making the file; what finishes it must be there.
        if let Some(lack) = route.finishing().find_map(lack_of) {
            return Err(lack);
        }
        let whole = looked.iter().filter(|(_, lack)| lack.is_none()).map(|(engine, _)| *engine);
        let around = plan::search(whole, (kind, target), options);
        // What the way around would not keep, and the route would, is lacking as well.
        let keeps = |around: &Plan| around.unkept(options).is_none_or(|key| !route.keeps(key));
        around.filter(keeps).map(Some).ok_or(lack)
    }

    /// What would keep what `key` promises, in the words that follow "it cannot be kept".
    fn keepers(&self, key: &str, (kind, target): (TemplateKind, Target), options: &PageOptions) -> String {
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

    /// How `kind` would become `target` if everything were installed.
    pub fn route(&self, kind: TemplateKind, target: Target, options: &PageOptions) -> Option<Plan> {
        plan::search(self.engines(), (kind, target), options)
    }

    /// Whether nobody makes `target` of `kind` any more where the engines of which `is_without` says so are missing.
    pub fn needs(&self, kind: TemplateKind, target: Target, is_without: impl Fn(&Engine) -> bool) -> bool {
        let options = PageOptions::default();
        let others: Vec<_> = self.engines().filter(|engine| !is_without(engine)).collect();
        self.route(kind, target, &options).is_some()
            && plan::search(others.into_iter(), (kind, target), &options).is_none()
    }

    /// Of the engines of `plan` that have `slots` the one that has the fewest, and how many.
    pub fn narrowest(
        &self,
        plan: &Plan,
        slots: impl Fn(&Engine) -> Option<usize>,
    ) -> Option<(&'static str, usize)> {
        let taken = |engine: &&Engine| plan.steps().iter().any(|step| step.engine == engine.name);
        let limited = self.engines().filter(taken).filter_map(|engine| Some((engine.name, slots(engine)?)));
        limited.min_by_key(|(_, slots)| *slots)
    }

    /// What a kind can become, here and where more is installed.
    pub fn possible(&self, kind: TemplateKind) -> Possible {
        let mut possible = Possible::default();
        for target in Target::ALL {
            match self.planned(kind, target, &PageOptions::default()) {
                Ok(Some(_)) => possible.here.push(target),
                Ok(None) => {}
                Err(lack) => possible.add(lack, target),
            }
        }
        possible
    }

    /// What the engine lacks, by a look that is not older than a second.
    pub fn lack(&self, engine: &str) -> Option<Lack> {
        self.look_at(engine, GOOD_FOR)
    }

    /// What the engine lacks now: it could not be started.
    pub fn look_again(&self, engine: &str) -> Option<Lack> {
        self.look_at(engine, Duration::ZERO)
    }

    /// Looks at what all engines need, as far as nobody has for a second.
    pub fn look(&self) {
        for engine in self.engines() {
            let _ = self.lack(engine.name);
        }
    }

    /// What was there since the start and is not now, an engine a line. What was never installed is nobody's loss.
    pub fn lost(&self) -> Vec<String> {
        let lost = |entry: &Entry| {
            let lack = self.lack(entry.engine.name)?;
            let was_whole = entry.seen.lock().unwrap_or_else(PoisonError::into_inner).was_whole;
            was_whole.then(|| format!("{}: {lack}", entry.engine.name))
        };
        self.entries.iter().filter_map(lost).collect()
    }

    /// What can become what and by whom, a line a kind and target, with whether it is so here. `besides` says what a plan lacks that its engine sees to itself.
    pub fn matrix_here(&self, besides: impl Fn(&Plan) -> Option<String>) -> String {
        self.table(|plan| {
            let lack = self.lack_of_route(plan).map(|lack| lack.brief());
            lack.or_else(|| besides(plan)).unwrap_or_else(|| "ok".to_owned())
        })
    }

    /// The same with what `state` says of each plan.
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

    fn lack_of_route(&self, plan: &Plan) -> Option<Lack> {
        plan.steps().iter().find_map(|step| self.lack(step.engine))
    }

    fn look_at(&self, engine: &str, good_for: Duration) -> Option<Lack> {
        let entry = self.entries.iter().find(|entry| entry.engine.name == engine)?;
        // One that needs nothing of its own, or sees to it itself as the browser does, is not counted.
        if entry.engine.requires.is_empty() && !entry.engine.reads_files {
            return None;
        }
        let lack = entry.look(self.confines, good_for);
        // What was never installed is nobody's loss, and no alert's: it has no series.
        if entry.seen.lock().unwrap_or_else(PoisonError::into_inner).was_whole {
            self.available.of([entry.engine.name]).set(i64::from(lack.is_none()));
        }
        lack
    }
}

impl Possible {
    fn add(&mut self, lack: Lack, target: Target) {
        match self.otherwise.iter_mut().find(|(other, _)| *other == lack) {
            Some((_, targets)) => targets.push(target),
            None => self.otherwise.push((lack, vec![target])),
        }
    }
}

/// `pdf, png; docx once the package x is installed (command)`.
impl fmt::Display for Possible {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |targets: &[Target]| targets.iter().map(|target| target.name()).collect::<Vec<_>>().join(", ");
        match (self.here.is_empty(), self.otherwise.is_empty()) {
            (true, true) => formatter.write_str("nothing in this build")?,
            (true, false) => formatter.write_str("nothing here as it is")?,
            (false, _) => formatter.write_str(&names(&self.here))?,
        }
        for (lack, targets) in &self.otherwise {
            write!(formatter, "; {} {}", names(targets), lack.once())?;
        }
        Ok(())
    }
}

impl Entry {
    /// Asks the programs for their versions, where they were not asked or are other files now; whether it did. Who
    /// asks at the same time waits for the answer.
    async fn ask(&self, starter: &Starter) -> bool {
        let mut asked = self.asked.lock().await;
        let files: Vec<_> = self
            .engine
            .requires
            .iter()
            .filter(|needed| needed.version.is_some())
            .map(Requirement::file)
            .collect();
        if asked.as_ref() == Some(&files) {
            return false;
        }
        let mut old = None;
        for requirement in self.engine.requires {
            match requirement.too_old(starter).await {
                Ok(found) => old = old.or(found.map(|found| Lack::Version(requirement, found))),
                Err(error) => {
                    let name = requirement.name;
                    tracing::warn!(engine.name = self.engine.name, error = %error, "{name} does not say its version");
                }
            }
        }
        *asked = Some(files);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        (seen.old, seen.is_known) = (old, true);
        let lack = seen.lack.filter(|lack| !matches!(lack, Lack::Version(..))).or(old);
        (seen.lack, seen.was_whole) = (lack, seen.was_whole || lack.is_none());
        true
    }

    /// What the engine lacks, looked at again where that is longer ago than `good_for`.
    fn look(&self, confines: bool, good_for: Duration) -> Option<Lack> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.at.elapsed() < good_for {
            return seen.lack;
        }
        let lack = lack_of(&self.engine, confines).or(seen.old);
        if lack != seen.lack {
            let told = lack.map_or_else(|| "nothing".to_owned(), |lack| lack.to_string());
            tracing::warn!(
                engine.name = self.engine.name,
                engine.lack = told,
                "what an engine lacks has changed"
            );
        }
        *seen = Seen {
            at: Instant::now(),
            lack,
            was_whole: seen.was_whole || (lack.is_none() && seen.is_known),
            ..*seen
        };
        lack
    }
}

fn has_versions(engine: &Engine) -> bool {
    engine.requires.iter().any(|requirement| requirement.version.is_some())
}

fn lack_of(engine: &Engine, confines: bool) -> Option<Lack> {
    let missing = engine.requires.iter().find(|requirement| requirement.installed().is_none());
    missing.map(Lack::Missing).or((engine.reads_files && !confines).then_some(Lack::Landlock))
}
