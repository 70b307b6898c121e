//! Runs template code of all kinds: the pool of `platen-script` processes, which all engines share, and the library that they
//! need.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use nix::libc;
use serde::de::DeserializeOwned;

use super::error::lost;
use super::requirement::{Install, Part, Requirement, UnmetRequirement};
use crate::config::{AssembleConfig, as_count};
use crate::domain::error::{ErrorCode, JobError};
use crate::domain::ids::AccountId;
use crate::slots::AccountShare;
use crate::slots::meter::CostMeter;
use crate::telemetry::ChildMetrics;
use crate::workers::assemble::{AssembleLimits, PROGRAM, ScriptError, ScriptRequest, ZONE, assemble_child};
use crate::workers::{FileSource, Job, Pool, PoolSettings, Starter, User, WorkerError};

/// The engine of template code (docs/decisions/001-template-code.md).
pub const JAVASCRIPT_CORE: Requirement = Requirement {
    name: "JavaScriptCore",
    part: Part::Library,
    paths: &[
        "/usr/lib/x86_64-linux-gnu/libjavascriptcoregtk-6.0.so.1",
        "/usr/lib/aarch64-linux-gnu/libjavascriptcoregtk-6.0.so.1",
        "/usr/lib64/libjavascriptcoregtk-6.0.so.1",
        "/usr/lib/libjavascriptcoregtk-6.0.so.1",
    ],
    version: None,
    install: Install::Package("libjavascriptcoregtk-6.0-1"),
};

/// Its name in sentences.
const TEMPLATE_ENGINE: &str = "the template engine";

/// Memory of a process without a job, with a margin: the engine's library and its tables.
const OWN_BYTES: u64 = 96 << 20;

/// Processes that run template code, with a locale and a time zone. Cloning shares the processes.
#[derive(Clone)]
pub struct TemplateCodePool {
    /// The processes.
    pub pool: Pool,
    program: Arc<Path>,
    config: Arc<AssembleConfig>,
    /// The locale, a BCP 47 tag.
    pub locale: Arc<str>,
    /// The time zone, an IANA name.
    pub timezone: Arc<str>,
}

impl TemplateCodePool {
    /// A pool that starts its spare processes at once. One account gets at most its `share` of all processes. Must be called
    /// inside a runtime.
    pub fn new(
        starter: Starter,
        config: &AssembleConfig,
        share: AccountShare,
        metrics: ChildMetrics,
    ) -> Self {
        let limits = AssembleLimits {
            memory_bytes: config.memory_limit_mb << 20,
            output_bytes: config.output_limit_bytes,
            include_depth: config.include_depth_limit,
            // RLIMIT_CPU counts a process' whole life, so this is for all its jobs together.
            cpu_s: (config.timeout_ms.div_ceil(1_000) + 5).saturating_mul(config.child_jobs),
        };
        let program =
            if config.program.is_empty() { starter.beside(PROGRAM) } else { PathBuf::from(&config.program) };
        let user = User::of_computing_children();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let settings = PoolSettings {
            name: "assemble",
            spec: assemble_child(program.clone(), limits, &config.timezone, user),
            spares: as_count(config.spares),
            kept: as_count(config.kept),
            child_jobs: config.child_jobs,
            // One more than cores: one account never gets them all.
            processes: if config.processes == 0 { cores + 1 } else { as_count(config.processes) },
            share,
            waiting: if config.waiting_limit == 0 { 2 * cores } else { as_count(config.waiting_limit) },
            start_timeout: Duration::from_millis(config.start_timeout_ms),
            undisturbed: Duration::from_millis(config.yield_after_ms),
            deadline: Duration::from_millis(config.timeout_ms),
            // Template code may sleep (`Atomics.wait`), which is for its author to mend.
            still: Duration::MAX,
            answer_limit_bytes: config.output_limit_bytes,
            resident_limit_bytes: Some((config.memory_limit_mb << 20) + OWN_BYTES),
            server: None,
        };
        Self {
            pool: Pool::new(starter, settings, metrics),
            program: program.into(),
            locale: config.locale.as_str().into(),
            timezone: config.timezone.as_str().into(),
            config: Arc::new(config.clone()),
        }
    }

    /// This pool with another default locale (a BCP 47 tag) or time zone (an IANA name) for template code. `None`: those of the
    /// configuration (`assemble.locale`, `assemble.timezone`).
    pub fn localized(&self, locale: Option<&str>, timezone: Option<&str>) -> Self {
        Self {
            locale: locale.unwrap_or(&self.config.locale).into(),
            timezone: timezone.unwrap_or(&self.config.timezone).into(),
            ..self.clone()
        }
    }

    /// Runs `request` with `body` for the job of `meter`.
    ///
    /// # Errors
    /// A [`JobError`] where the job's author can do something about it; its sentence names the limit that was met.
    pub async fn run<R: DeserializeOwned>(
        &self,
        meter: &CostMeter,
        (request, body): (&ScriptRequest<'_>, &[Bytes]),
        files: &dyn FileSource,
    ) -> Result<(R, Bytes), JobError> {
        // A process reads its zone once, at its start, so another zone needs another process.
        let zone = [(ZONE, &*self.timezone)];
        let is_usual = *self.timezone == *self.config.timezone;
        let environment = if is_usual { &[][..] } else { &zone[..] };
        let job = Job { header: request, body, files, environment };
        self.pool.run(meter, job).await.map_err(|error| match (request, &error) {
            (ScriptRequest::Lint(_), WorkerError::Deadline) => self.unread(),
            _ => self.job_error(&error),
        })
    }

    /// Runs `request` in the background: in a process that has not run any template, when one is free. `None` when none was
    /// free within `limit`.
    ///
    /// # Errors
    /// See [`WorkerError`].
    pub async fn run_in_background<R: DeserializeOwned>(
        &self,
        account: AccountId,
        (request, body): (&ScriptRequest<'_>, &[Bytes]),
        files: &dyn FileSource,
        limit: Duration,
    ) -> Result<Option<(R, Bytes)>, WorkerError> {
        let job = Job { header: request, body, files, environment: &[] };
        self.pool.run_in_background(account, job, limit).await
    }

    /// Refuses inputs that alone are larger than the memory.
    ///
    /// # Errors
    /// `template_limit`.
    pub fn check_size(&self, bytes: usize) -> Result<(), JobError> {
        if bytes as u64 > self.config.memory_limit_mb << 20 { Err(self.out_of_memory()) } else { Ok(()) }
    }

    /// The error of a template that needs more memory than allowed.
    pub fn out_of_memory(&self) -> JobError {
        let limit = self.config.memory_limit_mb;
        let sentence = format!(
            "the template and its data need more than {limit} MB of memory (assemble.memory_limit_mb)"
        );
        JobError::new(ErrorCode::TemplateLimit, sentence)
    }

    /// The error of a document that is larger than allowed.
    pub fn too_large(&self) -> JobError {
        let limit = self.config.output_limit_bytes;
        let sentence = format!("the document is larger than {limit} bytes (assemble.output_limit_bytes)");
        JobError::new(ErrorCode::TemplateLimit, sentence)
    }

    /// The job's error for an error of its child.
    pub fn refused(&self, error: ScriptError) -> JobError {
        let (code, sentence) = match error {
            ScriptError::Code(sentence) => (ErrorCode::TemplateError, sentence),
            ScriptError::Template(sentence) => (ErrorCode::TemplateInvalid, sentence),
            ScriptError::Options(sentence) => (ErrorCode::OptionsInvalid, sentence),
            ScriptError::Data(why) => (ErrorCode::DataInvalid, format!("the data cannot be read: {why}")),
            ScriptError::Limit(sentence) => (ErrorCode::TemplateLimit, sentence),
            ScriptError::OutOfMemory => return self.out_of_memory(),
            ScriptError::TooLarge => return self.too_large(),
            ScriptError::Broken(cause) => return broken(&cause),
        };
        JobError::new(code, sentence)
    }

    fn job_error(&self, error: &WorkerError) -> JobError {
        match error {
            WorkerError::Deadline => self.too_late(),
            WorkerError::TooLong => self.too_large(),
            WorkerError::Died { status, stderr } => self.death(*status, stderr),
            WorkerError::NotStarted(_) => self.not_started(error),
            WorkerError::TooMuch(_) => self.out_of_memory(),
            WorkerError::KilledFromOutside(killed) => lost(TEMPLATE_ENGINE, killed),
            WorkerError::Hung(hung) => lost(TEMPLATE_ENGINE, hung),
            WorkerError::Protocol(_) => broken(&error.to_string()),
        }
    }

    /// The error of a process that died: a limit of the system ended it, or a bug of the engine.
    fn death(&self, status: ExitStatus, stderr: &str) -> JobError {
        tracing::warn!(status = %status, words = stderr, "a template's process died");
        let limit = self.config.memory_limit_mb;
        match status.signal() {
            // How the engine and our own code end when an allocation fails.
            Some(libc::SIGABRT | libc::SIGTRAP) => self.out_of_memory(),
            // In many places the engine does not check for a failed allocation and writes to an invalid address.
            Some(libc::SIGSEGV | libc::SIGBUS | libc::SIGILL) => {
                let sentence = format!(
                    "the template and its data need more than {limit} MB of memory (assemble.memory_limit_mb), or crashed \
                     the template engine"
                );
                JobError::new(ErrorCode::TemplateLimit, sentence)
            }
            Some(libc::SIGXCPU) => self.too_late(),
            // Template code cannot make the process exit.
            _ => broken("its process ended by itself"),
        }
    }

    /// The error where no process starts: what it needs may have been removed since the job was accepted.
    fn not_started(&self, error: &WorkerError) -> JobError {
        tracing::error!(error = %error, "template code could not be run");
        let sentence = if JAVASCRIPT_CORE.installed().is_none() {
            UnmetRequirement::Missing(&JAVASCRIPT_CORE).to_string()
        } else if !self.program.is_file() {
            let program = self.program.display();
            format!("there is no {program}; install it beside platen, or say in assemble.program where it is")
        } else {
            "the engine of template code could not be started; the service's log has the cause".to_owned()
        };
        JobError::new(ErrorCode::EngineUnavailable, sentence)
    }

    /// The error of a template that takes too long to lint.
    fn unread(&self) -> JobError {
        let limit = self.config.timeout_ms;
        let sentence = format!(
            "the template was not looked through within {limit} ms (assemble.timeout_ms); divide it into files that it includes, \
             or raise the limit"
        );
        JobError::new(ErrorCode::TemplateLimit, sentence)
    }

    fn too_late(&self) -> JobError {
        let limit = self.config.timeout_ms;
        let sentence = format!(
            "the template did not become a document within {limit} ms (assemble.timeout_ms); look for a loop that does \
             not end, or shorten the data"
        );
        JobError::new(ErrorCode::TemplateLimit, sentence)
    }
}

fn broken(cause: &str) -> JobError {
    tracing::error!(error = cause, "template code could not be run");
    JobError::new(ErrorCode::Internal, "the template engine failed; its operator finds the cause in the log")
}
