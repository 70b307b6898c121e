//! The metrics of each part of the service, with their names.

use std::time::Duration;

use strum::VariantNames as _;
use tokio::time::Instant;

use super::register::{Counter, Counters, Gauge, Gauges, Histogram, Histograms, Label, Register};
use crate::domain::error::ErrorCode;
use crate::domain::kinds::{Target, TemplateKind};
use crate::problem::Code;

/// Buckets of histograms in seconds: from a millisecond to two minutes.
const SECONDS: [f64; 16] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];
/// Buckets of the index's batches: it writes at most 256 changes at once.
const CHANGES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// The queue and how jobs end.
#[derive(Clone, Debug)]
pub struct JobMetrics {
    /// Jobs that wait in the queue.
    pub waiting: Gauge,
    /// Jobs that run.
    pub running: Gauge,
    /// By `outcome`: `admitted`, `queue_full`, `account_full`.
    pub admissions: Counters<1>,
    /// Jobs that made way for other accounts.
    pub made_way: Counter,
    ended: Counters<1>,
    documents: Counters<3>,
}

/// How long each phase of a job takes.
#[derive(Clone, Debug)]
pub struct PhaseMetrics {
    seconds: Histograms<1>,
}

/// A phase of a job, for the time that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum JobPhase {
    /// It waits in the queue.
    Queue,
    /// Its inputs are read.
    Fetch,
    /// Template and data become a page.
    Assemble,
    /// A document becomes another kind of file.
    Convert,
    /// Sheets become pictures.
    Raster,
    /// A file becomes one of its own kind.
    Finish,
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
    /// The file is sent to the caller's URL.
    Deliver,
}

/// Measures a phase, or a wait, until drop, so that a cancelled one counts as well.
#[derive(Debug)]
pub struct PhaseTimer {
    seconds: Histogram,
    since: Instant,
}

/// Engine processes: children that do jobs.
#[derive(Clone, Debug)]
pub struct ChildMetrics {
    /// By `engine` and `state`: `starting`, `spare`, `kept`, `working`, `waiting`.
    pub children: Gauges<2>,
    /// By `engine` and `end`: `answered`, `put_off` (it had to wait for a file, and as many children as may wait did so; it
    /// is run again when one more may), or the error by which the child failed its job.
    pub jobs: Counters<2>,
    /// Scripts that EJS generated from templates, by `made`: `in_job` (a job waited for it), `ahead` (before a job needed it).
    pub scripts: Counters<1>,
}

/// Precompiled formats of LaTeX preambles, for documents that begin with the same one.
#[derive(Clone, Debug)]
pub struct TexMetrics {
    /// By `outcome`: `made`, `refused`, `used`, `evicted`.
    pub formats: Counters<1>,
    /// Bytes of those that are kept.
    pub format_bytes: Gauge,
}

/// Objects.
#[derive(Clone, Debug)]
pub struct StoreMetrics {
    /// By `operation`: `write`, `read`.
    pub bytes: Counters<1>,
    /// By `operation`: `write`, `read`, `delete`.
    pub objects: Counters<1>,
    /// By `operation`, as for objects.
    pub errors: Counters<1>,
}

/// Records.
#[derive(Clone, Debug)]
pub struct IndexMetrics {
    /// By `durability`: `durable`, `unsynced`.
    pub commits: Counters<1>,
    /// Commits that failed.
    pub errors: Counter,
    /// How many changes were made durable together.
    pub batch: Histogram,
    /// Seconds until a durable commit was on the disk, waiting included.
    pub seconds: Histogram,
}

/// Requests and connections.
#[derive(Clone, Debug)]
pub struct HttpMetrics {
    requests: Counters<3>,
    seconds: Histograms<1>,
    problems: Counters<1>,
    /// Bytes received on all connections.
    pub received_bytes: Counter,
    /// Bytes sent on all connections.
    pub sent_bytes: Counter,
    /// Connections that are open.
    pub connections: Gauge,
    /// Connections that came while `http.connection_limit` was reached, by `outcome`: `refused`, `made_way`.
    pub full: Counters<1>,
    /// Bytes of request bodies in memory.
    pub body_bytes: Gauge,
}

impl JobMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let codes = ErrorCode::VARIANTS.iter().map(|&code| [code]);
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
            waiting: register.single(
                "platen_queue_jobs",
                "Started jobs that wait for their turn",
                Gauge::default(),
            ),
            running: register.single("platen_jobs_running", "Jobs that run", Gauge::default()),
            admissions: admissions.preset([["admitted"], ["queue_full"], ["account_full"]]),
            made_way: register.single(
                "platen_jobs_made_way",
                "Long jobs that made way for other accounts: they went on beside the slots",
                Counter::default(),
            ),
            ended: ended.preset([["ok"]].into_iter().chain(codes)),
            documents: register.labelled(
                "platen_jobs_by_kind",
                ["type", "target", "outcome"],
                "Jobs that ended, by what was to become what; outcome is ok or failed",
                Counter::default,
            ),
        }
    }

    /// Counts a job that ended with a document, or without one because of `error`.
    pub fn ended(&self, kind: TemplateKind, target: Target, error: Option<ErrorCode>) {
        let outcome = if error.is_some() { "failed" } else { "ok" };
        self.ended.of([error.map_or("ok", ErrorCode::name)]).inc();
        self.documents.of([kind.name(), target.name(), outcome]).inc();
    }
}

impl PhaseMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let meaning = "How long a step of a job took, failed ones too";
        let seconds = register.labelled("platen_step_seconds", ["step"], meaning, in_seconds);
        Self { seconds: seconds.preset(JobPhase::VARIANTS.iter().map(|&phase| [phase])) }
    }

    /// Starts the timer of a phase.
    #[must_use = "the phase ends when the timer is dropped"]
    pub fn begin(&self, phase: JobPhase) -> PhaseTimer {
        PhaseTimer::new(self.seconds.of([<&str>::from(phase)]))
    }

    /// Records a phase that was measured elsewhere.
    pub fn took(&self, phase: JobPhase, time: Duration) {
        self.seconds.of([<&str>::from(phase)]).observe(time.as_secs_f64());
    }
}

impl PhaseTimer {
    pub(super) fn new(seconds: Histogram) -> Self {
        Self { seconds, since: Instant::now() }
    }
}

impl Drop for PhaseTimer {
    fn drop(&mut self) {
        self.seconds.observe(self.since.elapsed().as_secs_f64());
    }
}

impl ChildMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let children = register.labelled(
            "platen_engine_children",
            ["engine", "state"],
            "Engine processes: starting, spare, kept for their account, working, waiting for a file",
            Gauge::default,
        );
        let jobs = register.labelled(
            "platen_engine_jobs",
            ["engine", "end"],
            "Jobs of engine processes: answered, abandoned, put_off, or by which error they ended",
            Counter::default,
        );
        let meaning = "Scripts that EJS generated of templates: in_job, or ahead for all later jobs";
        let scripts = register.labelled("platen_ejs_scripts", ["made"], meaning, Counter::default);
        let states = ["starting", "spare", "kept", "working", "waiting"];
        let ends = ["answered", "deadline", "died", "abandoned", "put_off"];
        Self {
            children: children.preset(states.map(|state| ["assemble", state])),
            jobs: jobs.preset(ends.map(|end| ["assemble", end])),
            scripts: scripts.preset([["in_job"], ["ahead"]]),
        }
    }
}

/// Registers the counter of pictures that Office documents name by URL, by `outcome` of the download.
pub(super) fn office_pictures(register: &mut Register) -> Counters<1> {
    let meaning = "Pictures that documents have at addresses: fetched, refused, failed, too_long, late";
    let pictures = register.labelled("platen_office_pictures", ["outcome"], meaning, Counter::default);
    let outcomes = ["fetched", "refused", "failed", "too_long", "late"];
    pictures.preset(outcomes.map(|outcome| [outcome]))
}

impl TexMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let meaning = "Formats of preambles: made, refused (pages would differ), used by a document, evicted";
        let formats = register.labelled("platen_tex_formats", ["outcome"], meaning, Counter::default);
        let outcomes = ["made", "refused", "used", "evicted"];
        let meaning = "Bytes of the formats of preambles that are kept";
        Self {
            formats: formats.preset(outcomes.map(|outcome| [outcome])),
            format_bytes: register.single("platen_tex_format_bytes", meaning, Gauge::default()),
        }
    }
}

/// Registers the gauge of each `engine`: 1 if all its requirements are installed, else 0.
pub(super) fn available_engines(register: &mut Register) -> Gauges<1> {
    let meaning = "1 where all is there that the engine needs, else 0";
    register.labelled("platen_engine_available", ["engine"], meaning, Gauge::default)
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
            bytes: bytes.preset([["write"], ["read"]]),
            objects: objects.preset(operations),
            errors: errors.preset(operations),
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
            commits: commits.preset([["durable"], ["unsynced"]]),
            errors: register.single("platen_index_errors", "Commits that failed", Counter::default()),
            batch: register.single("platen_index_batch_commits", batch, Histogram::new(CHANGES)),
            seconds: register.single("platen_index_commit_seconds", seconds, in_seconds()),
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
        let full = register.labelled(
            "platen_http_connections_full",
            ["outcome"],
            "Connections beyond http.connection_limit: refused, or another one made way",
            Counter::default,
        );
        let mut count = |name, meaning| register.single(name, meaning, Counter::default());
        Self {
            requests,
            seconds,
            full: full.preset([["refused"], ["made_way"]]),
            problems: problems.preset(codes),
            received_bytes: count("platen_http_received_bytes", "Bytes that came in, heads included"),
            sent_bytes: count("platen_http_sent_bytes", "Bytes that went out, heads included"),
            connections: register.single("platen_http_connections", "Connections held", Gauge::default()),
            body_bytes: register.single(
                "platen_http_body_bytes",
                "Bytes of request bodies in memory",
                Gauge::default(),
            ),
        }
    }

    /// Counts an answered request. `route` is the template that it matched, never the path as sent: anyone could make any number
    /// of series.
    pub fn answered(&self, method: &'static str, route: Label, status: u16, time: Duration) {
        self.requests.of([Label::Borrowed(method), route.clone(), status.to_string().into()]).inc();
        self.seconds.of([route]).observe(time.as_secs_f64());
    }

    /// Counts a request that was answered with a problem.
    pub fn problem(&self, code: Code) {
        self.problems.of([code.name()]).inc();
    }
}

pub(super) fn in_seconds() -> Histogram {
    Histogram::new(SECONDS)
}
