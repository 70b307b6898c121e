//! What runs the code of templates, of whatever kind: a library that must be installed, and the processes that use it,
//! which all engines share.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use nix::libc;
use serde::de::DeserializeOwned;

use super::requirement::{Lack, Part, Requirement};
use crate::config::AssembleConfig;
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::ids::AccountId;
use crate::slots::AccountShare;
use crate::slots::meter::CostMeter;
use crate::telemetry::ChildMetrics;
use crate::workers::assemble::{AssembleLimits, Order, PROGRAM, ScriptError, ZONE, assemble_child};
use crate::workers::{FileSource, Job, Pool, PoolSettings, Starter, User, WorkerFault};

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
    package: "libjavascriptcoregtk-6.0-1",
    command: "apt-get install libjavascriptcoregtk-6.0-1",
};

/// What a process holds that has no job, with room: the engine's library and its tables.
const OWN_BYTES: u64 = 96 << 20;

/// Processes that run template code, with a locale and a time zone. Cloning shares the processes.
#[derive(Clone)]
pub struct TemplateCodePool {
    /// The processes.
    pub pool: Pool,
    program: Arc<Path>,
    config: Arc<AssembleConfig>,
    locale: Arc<str>,
    timezone: Arc<str>,
}

impl TemplateCodePool {
    /// A pool whose spares start at once, and of whose processes an account gets its `share`; must be called inside a
    /// runtime.
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
            // The system counts a process' whole life, so it is the bound of all its jobs together.
            cpu_s: (config.timeout_ms.div_ceil(1_000) + 5).saturating_mul(config.child_jobs),
        };
        let program =
            if config.program.is_empty() { starter.beside(PROGRAM) } else { PathBuf::from(&config.program) };
        let user = nix::unistd::geteuid().is_root().then_some(User::NOBODY);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let settings = PoolSettings {
            name: "assemble",
            spec: assemble_child(program.clone(), limits, &config.timezone, user),
            spares: count(config.spares),
            kept: count(config.kept),
            child_jobs: config.child_jobs,
            // One of them is always left to other accounts.
            processes: if config.processes == 0 { cores + 1 } else { count(config.processes) },
            share,
            waiting: if config.waiting_limit == 0 { 2 * cores } else { count(config.waiting_limit) },
            start_timeout: Duration::from_millis(config.start_timeout_ms),
            undisturbed: Duration::from_millis(config.yield_after_ms),
            deadline: Duration::from_millis(config.timeout_ms),
            answer_limit_bytes: config.output_limit_bytes,
            resident_limit_bytes: Some((config.memory_limit_mb << 20) + OWN_BYTES),
            housing: None,
        };
        Self {
            pool: Pool::new(starter, settings, metrics),
            program: program.into(),
            locale: config.locale.as_str().into(),
            timezone: config.timezone.as_str().into(),
            config: Arc::new(config.clone()),
        }
    }

    /// The same for templates of another locale (a BCP 47 tag) or time zone (an IANA name): the defaults of what their code
    /// formats. `None`: those of the configuration (`assemble.locale`, `assemble.timezone`).
    pub fn localized(&self, locale: Option<&str>, timezone: Option<&str>) -> Self {
        Self {
            locale: locale.unwrap_or(&self.config.locale).into(),
            timezone: timezone.unwrap_or(&self.config.timezone).into(),
            ..self.clone()
        }
    }

    /// The locale, a BCP 47 tag.
    pub fn locale(&self) -> &str {
        &self.locale
    }

    /// The time zone, an IANA name.
    pub fn timezone(&self) -> &str {
        &self.timezone
    }

    /// Has `order` done with `body` for the job of `meter`.
    ///
    /// # Errors
    /// By who can do something about it; the sentences name the limit that was met.
    pub async fn run<R: DeserializeOwned>(
        &self,
        meter: &CostMeter,
        (order, body): (&Order<'_>, &[Bytes]),
        files: &dyn FileSource,
    ) -> Result<(R, Bytes), JobFault> {
        // A process learns its zone when it starts.
        let zone = [(ZONE, self.timezone())];
        let is_usual = *self.timezone == *self.config.timezone;
        let environment = if is_usual { &[][..] } else { &zone[..] };
        let job = Job { header: order, body, files, environment };
        self.pool.run(meter, job).await.map_err(|fault| match (order, &fault) {
            (Order::Lint(_), WorkerFault::Deadline) => self.unread(),
            _ => self.fault(&fault),
        })
    }

    /// Has `order` done where no job waits for it: in a process that has had no job, when one is free.
    ///
    /// # Errors
    /// See [`WorkerFault`]; `None` when there was no room within `limit`.
    pub async fn run_aside<R: DeserializeOwned>(
        &self,
        account: AccountId,
        (order, body): (&Order<'_>, &[Bytes]),
        files: &dyn FileSource,
        limit: Duration,
    ) -> Result<Option<(R, Bytes)>, WorkerFault> {
        let job = Job { header: order, body, files, environment: &[] };
        self.pool.run_aside(account, job, limit).await
    }

    /// Refuses inputs of so many bytes that they alone are more than the memory.
    ///
    /// # Errors
    /// `template_limit`.
    pub fn check_size(&self, bytes: usize) -> Result<(), JobFault> {
        if bytes as u64 > self.config.memory_limit_mb << 20 { Err(self.out_of_memory()) } else { Ok(()) }
    }

    /// What a job fails with whose template needs more memory than it may have.
    pub fn out_of_memory(&self) -> JobFault {
        let limit = self.config.memory_limit_mb;
        let sentence = format!(
            "the template and its data need more than {limit} MB of memory (assemble.memory_limit_mb)"
        );
        JobFault::new(FaultCode::TemplateLimit, sentence)
    }

    /// What a job fails with that makes more than it may.
    pub fn too_large(&self) -> JobFault {
        let limit = self.config.output_limit_bytes;
        let sentence = format!("the document is larger than {limit} bytes (assemble.output_limit_bytes)");
        JobFault::new(FaultCode::TemplateLimit, sentence)
    }

    /// What a job fails with that came to nothing.
    pub fn refused(&self, error: ScriptError) -> JobFault {
        let (code, sentence) = match error {
            ScriptError::Code(sentence) => (FaultCode::TemplateError, sentence),
            ScriptError::Template(sentence) => (FaultCode::TemplateInvalid, sentence),
            ScriptError::Options(sentence) => (FaultCode::OptionsInvalid, sentence),
            ScriptError::Data(why) => (FaultCode::DataInvalid, format!("the data cannot be read: {why}")),
            ScriptError::Limit(sentence) => (FaultCode::TemplateLimit, sentence),
            ScriptError::OutOfMemory => return self.out_of_memory(),
            ScriptError::TooLarge => return self.too_large(),
            ScriptError::Broken(cause) => return broken(&cause),
        };
        JobFault::new(code, sentence)
    }

    fn fault(&self, fault: &WorkerFault) -> JobFault {
        match fault {
            WorkerFault::Deadline => self.too_late(),
            WorkerFault::TooLong => self.too_large(),
            WorkerFault::Died { status, words } => self.death(*status, words),
            WorkerFault::NotStarted(_) => self.not_started(fault),
            WorkerFault::TooMuch(_) => self.out_of_memory(),
            WorkerFault::Astray(_) => broken(&fault.to_string()),
        }
    }

    /// A process ends by itself only where a limit strikes below the engine, or by a fault in it.
    fn death(&self, status: ExitStatus, words: &str) -> JobFault {
        tracing::warn!(status = %status, words, "a template's process died");
        let limit = self.config.memory_limit_mb;
        match status.signal() {
            // The engine aborts where it is not given memory; so does our code, and its library traps.
            Some(libc::SIGKILL | libc::SIGABRT | libc::SIGTRAP) => self.out_of_memory(),
            // In many places it does not look whether it was given any, and writes to where there is none.
            Some(libc::SIGSEGV | libc::SIGBUS | libc::SIGILL) => {
                let sentence = format!(
                    "the template and its data need more than {limit} MB of memory (assemble.memory_limit_mb), or crashed \
                     the template engine"
                );
                JobFault::new(FaultCode::TemplateLimit, sentence)
            }
            Some(libc::SIGXCPU) => self.too_late(),
            // Template code ends a process by a signal only.
            _ => broken("its process ended by itself"),
        }
    }

    /// What it needs may be gone since the job was accepted; otherwise only the log can say why.
    fn not_started(&self, fault: &WorkerFault) -> JobFault {
        tracing::error!(error = %fault, "template code could not be run");
        let sentence = if JAVASCRIPT_CORE.installed().is_none() {
            Lack::Missing(&JAVASCRIPT_CORE).to_string()
        } else if !self.program.is_file() {
            let program = self.program.display();
            format!("there is no {program}; install it beside platen, or say in assemble.program where it is")
        } else {
            "the engine of template code could not be started; the service's log has the cause".to_owned()
        };
        JobFault::new(FaultCode::EngineUnavailable, sentence)
    }

    /// What is said of a template that is too long to be looked through.
    fn unread(&self) -> JobFault {
        let limit = self.config.timeout_ms;
        let sentence = format!(
            "the template was not looked through within {limit} ms (assemble.timeout_ms); divide it into files that it includes, \
             or raise the limit"
        );
        JobFault::new(FaultCode::TemplateLimit, sentence)
    }

    fn too_late(&self) -> JobFault {
        let limit = self.config.timeout_ms;
        let sentence = format!(
            "the template did not become a document within {limit} ms (assemble.timeout_ms); look for a loop that does \
             not end, or shorten the data"
        );
        JobFault::new(FaultCode::TemplateLimit, sentence)
    }
}

fn broken(cause: &str) -> JobFault {
    tracing::error!(error = cause, "template code could not be run");
    JobFault::new(FaultCode::Internal, "the template engine failed; its operator finds the cause in the log")
}

fn count(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
