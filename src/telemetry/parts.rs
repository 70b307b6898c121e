//! The parts of the metrics, one for each part of the service, with the names under which they are read.

use std::time::{Duration, Instant};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::metrics::{Count, Counts, Level, Levels, Spread, Spreads};
use super::register::{Label, Register};
use crate::domain::fault::FaultCode;
use crate::domain::kinds::{Target, TemplateKind};
use crate::domain::lane::Lane;
use crate::problem::Code;

/// From a millisecond to two minutes.
const SECONDS: [f64; 16] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];
/// The index writes at most 256 changes at once.
const CHANGES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// The queue and how jobs end.
#[derive(Clone, Debug)]
pub struct JobMetrics {
    /// Jobs that wait for their turn.
    pub waiting: Level,
    /// Jobs that run.
    pub running: Level,
    /// By `outcome`: `admitted`, `queue_full`, `account_full`.
    pub admissions: Counts<1>,
    ended: Counts<1>,
    documents: Counts<3>,
}

/// How long each step of a job takes.
#[derive(Clone, Debug)]
pub struct StepMetrics {
    seconds: Spreads<1>,
}

/// What a job spends its time with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It waits for its turn.
    Queue,
    /// Its inputs are read.
    Fetch,
    /// Template and data become a page.
    Assemble,
    /// It waits for a tab.
    Lease,
    /// The page loads.
    Load,
    /// The page becomes ready.
    Readiness,
    /// The file is made and read.
    Print,
    /// The file is made durable.
    Publish,
    /// The file is sent where the caller wants it.
    Deliver,
}

/// Measures a step until it is dropped, also when the step is broken off.
#[derive(Debug)]
pub struct StepTimer {
    seconds: Spread,
    since: Instant,
}

/// Engine processes: children that do jobs.
#[derive(Clone, Debug)]
pub struct ChildMetrics {
    /// By `engine` and `state`: `starting`, `spare`, `kept`, `working`.
    pub children: Levels<2>,
    /// By `engine` and `end`: `answered`, or how the child failed its job.
    pub jobs: Counts<2>,
}

/// Browsers and their tabs.
#[derive(Clone, Debug)]
pub struct BrowserMetrics {
    /// By `state`: `up`, `successor` (answers, its tabs are being made), `leaving` (its last pages end).
    pub browsers: Levels<1>,
    /// By `outcome`: `answered`, `failed`.
    pub launches: Counts<1>,
    /// By `reason`: `documents`, `age`, `memory`.
    pub recycles: Counts<1>,
    /// Browsers that died, or were ended because they did not answer or took too much memory.
    pub lost: Count,
    /// Replaced browsers that were ended with pages still in them.
    pub drains_cut: Count,
    /// Jobs that waited for a browser to start.
    pub launch_waits: Count,
    /// By `lane`.
    pub leases: Counts<1>,
    /// By `lane`.
    pub leased: Levels<1>,
    /// By `state`: `making`, `spare`.
    pub tabs: Levels<1>,
    /// Jobs that wait for a tab.
    pub waiting: Level,
    /// By `part`: `own` (Chromium's own process), `pages` (renderers), `other`.
    pub memory: Levels<1>,
}

/// Objects.
#[derive(Clone, Debug)]
pub struct StoreMetrics {
    /// By `operation`: `write`, `read`.
    pub bytes: Counts<1>,
    /// By `operation`: `write`, `read`, `delete`.
    pub objects: Counts<1>,
    /// By `operation`, as for objects.
    pub errors: Counts<1>,
}

/// Records.
#[derive(Clone, Debug)]
pub struct IndexMetrics {
    /// By `durability`: `durable`, `unsynced`.
    pub commits: Counts<1>,
    /// Commits that failed.
    pub errors: Count,
    /// How many changes were made durable together.
    pub batch: Spread,
    /// Until a durable commit was on the disk, waiting included.
    pub seconds: Spread,
}

/// Requests and connections.
#[derive(Clone, Debug)]
pub struct HttpMetrics {
    requests: Counts<3>,
    seconds: Spreads<1>,
    problems: Counts<1>,
    /// What came in on all connections.
    pub received_bytes: Count,
    /// What went out on all connections.
    pub sent_bytes: Count,
    /// Connections that are open.
    pub connections: Level,
}

impl JobMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let codes = FaultCode::ALL.iter().map(|code| [code.name()]);
        let admissions = register.labelled(
            "platen_queue_admissions",
            ["outcome"],
            "Starts that were given a place in the queue, or refused one",
            Counter::default,
        );
        let ended = register.labelled(
            "platen_jobs_ended",
            ["code"],
            "Jobs that ended, by errorCode; ok has a document",
            Counter::default,
        );
        Self {
            waiting: register.one(
                "platen_queue_jobs",
                "Started jobs that wait for their turn",
                Level::default(),
            ),
            running: register.one("platen_jobs_running", "Jobs that run", Level::default()),
            admissions: admissions.beginning_with([["admitted"], ["queue_full"], ["account_full"]]),
            ended: ended.beginning_with([["ok"]].into_iter().chain(codes)),
            documents: register.labelled(
                "platen_jobs_by_kind",
                ["type", "target", "outcome"],
                "Jobs that ended, by what was to become what; outcome is ok or failed",
                Counter::default,
            ),
        }
    }

    /// A job ended, without a document for the reason `fault`, or with one.
    pub fn ended(&self, kind: TemplateKind, target: Target, fault: Option<FaultCode>) {
        let outcome = if fault.is_some() { "failed" } else { "ok" };
        self.ended.of([fault.map_or("ok", FaultCode::name)]).inc();
        self.documents.of([kind.name(), target.name(), outcome]).inc();
    }
}

impl StepMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let meaning = "How long a step of a job took, failed ones too";
        let seconds = register.labelled("platen_step_seconds", ["step"], meaning, in_seconds);
        Self { seconds: seconds.beginning_with(Step::ALL.map(|step| [step.name()])) }
    }

    /// Begins to measure a step.
    #[must_use = "the step ends when the timer is dropped"]
    pub fn begin(&self, step: Step) -> StepTimer {
        StepTimer { seconds: self.seconds.of([step.name()]), since: Instant::now() }
    }

    /// Notes a step that was measured otherwise.
    pub fn took(&self, step: Step, time: Duration) {
        self.seconds.of([step.name()]).observe(time.as_secs_f64());
    }
}

impl Step {
    const ALL: [Self; 9] = [
        Self::Queue,
        Self::Fetch,
        Self::Assemble,
        Self::Lease,
        Self::Load,
        Self::Readiness,
        Self::Print,
        Self::Publish,
        Self::Deliver,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Fetch => "fetch",
            Self::Assemble => "assemble",
            Self::Lease => "lease",
            Self::Load => "load",
            Self::Readiness => "readiness",
            Self::Print => "print",
            Self::Publish => "publish",
            Self::Deliver => "deliver",
        }
    }
}

impl Drop for StepTimer {
    fn drop(&mut self) {
        self.seconds.observe(self.since.elapsed().as_secs_f64());
    }
}

impl ChildMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let children = register.labelled(
            "platen_engine_children",
            ["engine", "state"],
            "Engine processes: starting, spare, kept for their account, working",
            Gauge::default,
        );
        let jobs = register.labelled(
            "platen_engine_jobs",
            ["engine", "end"],
            "Jobs of engine processes: answered, abandoned, or by which fault they ended",
            Counter::default,
        );
        let states = ["starting", "spare", "kept", "working"];
        let ends = ["answered", "deadline", "died", "abandoned"];
        Self {
            children: children.beginning_with(states.map(|state| ["assemble", state])),
            jobs: jobs.beginning_with(ends.map(|end| ["assemble", end])),
        }
    }
}

impl BrowserMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let lanes = [[Lane::Static.name()], [Lane::Scripted.name()]];
        let mut levels = |name, label, meaning| register.labelled(name, [label], meaning, Gauge::default);
        let browsers = levels(
            "platen_browsers",
            "state",
            "Chromiums: up, successor (being warmed), leaving (its last pages end)",
        );
        let leased = levels("platen_browser_leased_tabs", "lane", "Tabs in use, by lane");
        let tabs = levels("platen_browser_tabs", "state", "Tabs that nobody uses yet: making, spare");
        let memory = levels(
            "platen_browser_memory_bytes",
            "part",
            "Memory of all Chromiums: own processes, pages, other",
        );
        let mut counts = |name, label, meaning| register.labelled(name, [label], meaning, Counter::default);
        let launches = counts("platen_browser_launches", "outcome", "Chromiums started: answered, failed");
        let recycles =
            counts("platen_browser_recycles", "reason", "Planned replacements: by documents, age, memory");
        let given = counts("platen_browser_leases", "lane", "Tabs given to jobs, by lane");
        let mut count = |name, meaning| register.one(name, meaning, Count::default());
        Self {
            browsers: browsers.beginning_with([["up"], ["successor"], ["leaving"]]),
            launches: launches.beginning_with([["answered"], ["failed"]]),
            recycles: recycles.beginning_with([["documents"], ["age"], ["memory"]]),
            lost: count(
                "platen_browser_lost",
                "Chromiums that died, stopped answering or took too much memory",
            ),
            drains_cut: count(
                "platen_browser_drains_cut",
                "Replaced Chromiums that were ended with pages still in them",
            ),
            launch_waits: count("platen_browser_launch_waits", "Jobs that waited for a Chromium to start"),
            leases: given.beginning_with(lanes),
            leased: leased.beginning_with(lanes),
            tabs: tabs.beginning_with([["making"], ["spare"]]),
            waiting: register.one("platen_browser_waiting", "Jobs that wait for a tab", Level::default()),
            memory: memory.beginning_with([["own"], ["pages"], ["other"]]),
        }
    }
}

impl StoreMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let mut counts = |name, meaning| register.labelled(name, ["operation"], meaning, Counter::default);
        let (bytes, objects, errors) = (
            counts("platen_store_bytes", "Bytes of objects: write, read"),
            counts("platen_store_objects", "Objects: write, read, delete"),
            counts("platen_store_errors", "Operations on objects that the store failed"),
        );
        let operations = [["write"], ["read"], ["delete"]];
        Self {
            bytes: bytes.beginning_with([["write"], ["read"]]),
            objects: objects.beginning_with(operations),
            errors: errors.beginning_with(operations),
        }
    }
}

impl IndexMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let commits = register.labelled(
            "platen_index_commits",
            ["durability"],
            "Commits of the index: durable, or unsynced",
            Counter::default,
        );
        let (batch, seconds) = (
            "Commits that were written together",
            "Until a durable commit was on the disk, its wait included",
        );
        Self {
            commits: commits.beginning_with([["durable"], ["unsynced"]]),
            errors: register.one("platen_index_errors", "Commits that failed", Count::default()),
            batch: register.one("platen_index_batch_commits", batch, Spread::new(CHANGES)),
            seconds: register.one("platen_index_commit_seconds", seconds, in_seconds()),
        }
    }
}

impl HttpMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let codes = Code::ALL.iter().map(|code| [code.name()]);
        let requests = register.labelled(
            "platen_http_requests",
            ["method", "route", "status"],
            "Requests answered, by the route's template",
            Counter::default,
        );
        let meaning =
            "From a request's head to the head of its answer; waits that the caller asked for count";
        let seconds = register.labelled("platen_http_request_seconds", ["route"], meaning, in_seconds);
        let problems = register.labelled(
            "platen_http_problems",
            ["code"],
            "Requests answered with a problem, by its code; rate_limited is one",
            Counter::default,
        );
        let mut count = |name, meaning| register.one(name, meaning, Count::default());
        Self {
            requests,
            seconds,
            problems: problems.beginning_with(codes),
            received_bytes: count("platen_http_received_bytes", "Bytes that came in, heads included"),
            sent_bytes: count("platen_http_sent_bytes", "Bytes that went out, heads included"),
            connections: register.one("platen_http_connections", "Connections held", Level::default()),
        }
    }

    /// A request was answered. `route` is the template it matched, never the path as sent.
    pub fn answered(&self, method: &'static str, route: Label, status: u16, time: Duration) {
        self.requests.of([Label::Borrowed(method), route.clone(), status.to_string().into()]).inc();
        self.seconds.of([route]).observe(time.as_secs_f64());
    }

    /// A request was answered with a problem.
    pub fn problem(&self, code: Code) {
        self.problems.of([code.name()]).inc();
    }
}

fn in_seconds() -> Histogram {
    Histogram::new(SECONDS)
}
