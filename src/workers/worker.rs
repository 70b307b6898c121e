//! One child of a pool: its start, its jobs, its end.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::frame::{self, ChildMessage, FileReply, FrameError};
use super::group::ProcessStat;
use super::hung::{Hung, KilledFromOutside, Scope, hung};
use super::job_slots::JobSlot;
use super::program::Excess;
use super::server::ServerGuard;
use super::spec::ChildSpec;
use super::starter::{Starter, Streams, end, kill_group};
use super::work_clock::WorkClock;

/// A job for a child.
pub struct Job<'a, H> {
    /// The job's description; becomes the frame's JSON header.
    pub header: &'a H,
    /// The frame's body, in parts.
    pub body: &'a [Bytes],
    /// The files that the child may ask for. The deadline pauses while one is waited for.
    pub files: &'a dyn FileSource,
    /// Further environment variables that its child must have; empty: a usual child. Where no child with these is kept, one is
    /// started.
    pub environment: &'a [(&'static str, &'a str)],
}

/// The files for a child, and the receiver of its output's parts.
#[async_trait]
pub trait FileSource: Sync {
    /// The file of this name. The implementation must bound its time: the job's deadline is paused meanwhile.
    ///
    /// # Errors
    /// A sentence for the job's author.
    async fn file(&self, name: &str) -> Result<SuppliedFile, String>;

    /// Whether the file comes from another host and may take long. The job gives up its slot while it waits.
    fn is_remote(&self, _name: &str) -> bool {
        false
    }

    /// Takes a part of the output, while the child makes the next one. After an error the child is killed.
    async fn take(&self, _part: Bytes) -> Result<(), PartRefused> {
        Err(PartRefused)
    }
}

/// A part of the output was not taken; the [`FileSource`] knows why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartRefused;

/// A lookup of files in memory.
#[async_trait]
impl<F: Fn(&str) -> Option<SuppliedFile> + Sync> FileSource for F {
    async fn file(&self, name: &str) -> Result<SuppliedFile, String> {
        self(name).ok_or_else(|| format!("there is no file '{name}'"))
    }
}

/// A file that a child asked for.
#[derive(Clone, Debug)]
pub struct SuppliedFile {
    /// The file.
    pub content: Bytes,
    /// The script that was generated from it before, if the child can use it.
    pub made: Option<Bytes>,
}

/// Why a child did not do its job. The texts are for the log.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// It could not be started, or did not get ready: the installation is wrong.
    #[error("a child process cannot start: {0}")]
    NotStarted(String),
    /// It exceeded its deadline and was killed.
    #[error("the child was killed at its deadline")]
    Deadline,
    /// Its answer is longer than the limit.
    #[error("the child's answer is too long")]
    TooLong,
    /// It ended without an answer.
    #[error("the child ended without an answer ({status}): {stderr}")]
    Died {
        /// How it ended; by a signal where a limit of the system ended it.
        status: ExitStatus,
        /// The last lines of its standard error.
        stderr: String,
    },
    /// Somebody else killed it.
    #[error("the child {0}")]
    KilledFromOutside(KilledFromOutside),
    /// It hung and was killed.
    #[error("the child {0}")]
    Hung(Hung),
    /// It violates the protocol, so hostile input has taken it over.
    #[error("the child does not keep to the protocol: {0}")]
    Protocol(String),
    /// It exceeded a limit, with all that it has started, and was killed.
    #[error("the child was killed, for it took too much: {}", .0.description())]
    TooMuch(Excess),
}

impl WorkerError {
    /// The error's name in metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "not_started",
            Self::Deadline => "deadline",
            Self::TooLong => "too_long",
            Self::Died { .. } => "died",
            Self::KilledFromOutside(_) => "killed",
            Self::Hung(_) => "hung",
            Self::Protocol(_) => "astray",
            Self::TooMuch(excess) => excess.name(),
        }
    }
}

const ANSWER_HEADER_LIMIT_BYTES: u32 = 64 << 10;

/// How much of a child's standard error is kept for the log.
const STDERR_LIMIT_BYTES: usize = 2_048;

/// The pause between two checks whether a child has ended.
const ENDED_PAUSE: Duration = Duration::from_millis(2);

/// How long a child that closed its output may take to end before it is killed.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// A child that is ready for a job. Dropping it kills it and what it started.
pub(super) struct Worker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    stderr: JoinHandle<String>,
    jobs: u64,
    /// Set once a server's replacement is requested.
    replacement: Option<Replacement>,
    guard: Option<ServerGuard>,
    /// Environment variables that the pool's other children do not have.
    environment: Vec<(&'static str, String)>,
}

/// Whether the replacement of a server is ready. The pool sets it, the server's worker reads it.
pub(super) type Replacement = Arc<AtomicBool>;

impl Worker {
    /// Starts a child, with these environment variables beside those of `spec`, and waits until it is ready.
    pub async fn start(
        starter: &Starter,
        spec: ChildSpec,
        environment: &[(&'static str, &str)],
        start_timeout: Duration,
        guard: Option<ServerGuard>,
    ) -> Result<Self, WorkerError> {
        let unable = |error: io::Error| WorkerError::NotStarted(error.to_string());
        let spec = environment.iter().fold(spec, |spec, &(name, value)| spec.variable(name, value));
        let mut child = starter.spawn(spec, Streams::piped()).await.map_err(unable)?;
        let streams = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let Some(((input, output), errors)) = streams else {
            return Err(WorkerError::NotStarted("it has no pipes".to_owned()));
        };
        let mut worker = Self {
            child,
            input,
            output,
            stderr: tokio::spawn(read_tail(errors)),
            jobs: 0,
            replacement: None,
            guard,
            environment: environment.iter().map(|&(name, value)| (name, value.to_owned())).collect(),
        };
        if let (Some(process), Some(guard)) = (worker.process(), &mut worker.guard) {
            guard.watch(process).map_err(unable)?;
        }
        // What starts may sleep for long, but not be stopped.
        let process = worker.process().unwrap_or_default();
        let hung = hung(process, Scope::Whole, Duration::MAX, || false);
        let first = frame::receive::<ChildMessage<()>>(&mut worker.output, ANSWER_HEADER_LIMIT_BYTES, 0);
        let first = tokio::select! {
            first = timeout(start_timeout, first) => first,
            hung = hung => return Err(WorkerError::Hung(hung)),
        };
        match first {
            Ok(Ok((ChildMessage::Ready, _))) => Ok(worker),
            Ok(first) => {
                let end = worker.diagnose_end(first.err()).await;
                let is_killed = matches!(end, WorkerError::KilledFromOutside(_));
                Err(if is_killed { end } else { WorkerError::NotStarted(end.to_string()) })
            }
            Err(_) => Err(WorkerError::NotStarted(format!(
                "it was not ready after {} ms",
                start_timeout.as_millis()
            ))),
        }
    }

    /// Its process id; `None` when it has been waited for.
    pub fn process(&self) -> Option<i32> {
        self.child.id().and_then(|id| i32::try_from(id).ok())
    }

    /// Whether it was started with this environment and no other.
    pub fn has(&self, environment: &[(&'static str, &str)]) -> bool {
        let own = self.environment.iter().map(|(name, value)| (*name, value.as_str()));
        own.eq(environment.iter().copied())
    }

    /// How many jobs it was given.
    pub fn jobs(&self) -> u64 {
        self.jobs
    }

    /// Requests a replacement: it is to end when another server is ready.
    pub fn request_replacement(&mut self) {
        self.replacement.get_or_insert_default();
    }

    /// Its replacement; `None` where none was requested.
    pub fn replacement(&self) -> Option<&Replacement> {
        self.replacement.as_ref()
    }

    /// Whether its replacement is ready.
    pub fn is_replaced(&self) -> bool {
        self.replacement.as_ref().is_some_and(|is_ready| is_ready.load(Ordering::Acquire))
    }

    /// Waits until it is ready for a further job; false if it ended instead, as a child may after any job.
    pub async fn wait_until_ready(&mut self, limit: Duration) -> bool {
        let next = frame::receive::<ChildMessage<()>>(&mut self.output, ANSWER_HEADER_LIMIT_BYTES, 0);
        matches!(timeout(limit, next).await, Ok(Ok((ChildMessage::Ready, _))))
    }

    /// Whether it is alive.
    pub fn is_waiting(&mut self) -> bool {
        match self.process().filter(|_| self.guard.is_some()) {
            // A server is not reaped here: its number must not be reused before its group is killed.
            Some(process) => ProcessStat::of(process).is_some_and(|stat| !stat.is_zombie),
            None => matches!(self.child.try_wait(), Ok(None)),
        }
    }

    /// Sends it the job, and answers its requests until it is done. `None` when it requests a file of another host and there is no
    /// permit to wait.
    pub async fn work<H: Serialize, R: DeserializeOwned>(
        &mut self,
        job: &Job<'_, H>,
        (clock, job_slot): (&WorkClock, &mut JobSlot),
        answer_limit_bytes: u64,
    ) -> Result<Option<(R, Bytes)>, WorkerError> {
        self.jobs += 1;
        if let Err(error) = frame::send(&mut self.input, job.header, job.body).await {
            return Err(self.diagnose_end(Some(error.into())).await);
        }
        loop {
            let message =
                frame::receive(&mut self.output, ANSWER_HEADER_LIMIT_BYTES, answer_limit_bytes).await;
            let name = match message {
                Ok((ChildMessage::Done(result), body)) => return Ok(Some((result, body))),
                Ok((ChildMessage::Want(name), _)) => name,
                Ok((ChildMessage::Part, part)) => {
                    // Storing a part may be slower than the child; that does not count against its deadline.
                    clock
                        .pause_for(job.files.take(part))
                        .await
                        .map_err(|PartRefused| WorkerError::TooLong)?;
                    continue;
                }
                Ok((ChildMessage::Ready, _)) => return Err(WorkerError::Protocol("ready twice".to_owned())),
                Err(error) => return Err(self.diagnose_end(Some(error)).await),
            };
            let file = if !job.files.is_remote(&name) {
                clock.pause_for(job.files.file(&name)).await
            } else if job_slot.may_wait() {
                clock.pause_for(job_slot.wait_for(job.files.file(&name))).await
            } else {
                return Ok(None);
            };
            let (given, body) = match file {
                Ok(SuppliedFile { content, made }) => {
                    let made = made.unwrap_or_default();
                    (FileReply::File { made_bytes: made.len() }, [content, made])
                }
                Err(why) => (FileReply::Refused(why), Default::default()),
            };
            if let Err(error) = frame::send(&mut self.input, &given, &body).await {
                return Err(self.diagnose_end(Some(error.into())).await);
            }
        }
    }

    /// Kills it with all that it started, without waiting.
    pub fn kill(&self) {
        kill_group(&self.child);
    }

    /// Kills and reaps it.
    pub async fn end(mut self) {
        if let Some(guard) = &mut self.guard {
            guard.stop_watch().await;
        }
        if let Err(error) = end(&mut self.child).await {
            tracing::warn!(error = %error, "a child process cannot be waited for");
        }
        if let Some(guard) = self.guard.take() {
            guard.wait_until_empty().await;
        }
    }

    /// Kills what a dying server has started. The server itself is waited for afterwards, so that its exit status is known.
    async fn kill_started(&mut self) {
        let Some(guard) = &mut self.guard else { return };
        guard.stop_watch().await;
        let Some(process) = self.process() else { return };
        let is_over = || ProcessStat::of(process).is_none_or(|stat| stat.is_zombie);
        let waited = async {
            while !is_over() {
                sleep(ENDED_PAUSE).await;
            }
        };
        // A server that closed its output and goes on is killed as well.
        let _ = timeout(END_TIMEOUT, waited).await;
        self.kill();
    }

    /// The error where a frame could not be read or written.
    async fn diagnose_end(&mut self, error: Option<FrameError>) -> WorkerError {
        match error {
            Some(FrameError::TooLong(_)) => return WorkerError::TooLong,
            Some(FrameError::Malformed(what)) => return WorkerError::Protocol(what),
            None => return WorkerError::Protocol("an answer before the question".to_owned()),
            Some(FrameError::Broken(_)) => {}
        }
        self.kill_started().await;
        if let Some(excess) = self.guard.as_ref().and_then(ServerGuard::excess) {
            return WorkerError::TooMuch(excess);
        }
        let gone = match timeout(END_TIMEOUT, self.child.wait()).await {
            Ok(gone) => gone,
            Err(_) => end(&mut self.child).await,
        };
        let stderr = timeout(END_TIMEOUT, &mut self.stderr).await;
        let stderr = stderr.ok().and_then(Result::ok).unwrap_or_default();
        match gone {
            Ok(status) => KilledFromOutside::of(status)
                .map_or(WorkerError::Died { status, stderr }, WorkerError::KilledFromOutside),
            Err(error) => WorkerError::Protocol(format!("it cannot be waited for: {error}")),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
        self.stderr.abort();
    }
}

/// Reads to the end, so that the child never blocks on a full pipe; returns the last bytes, where a child writes why it ends.
async fn read_tail(mut errors: impl AsyncRead + Unpin) -> String {
    let (mut tail, mut chunk) = (Vec::new(), [0; 1_024]);
    while let Ok(length @ 1..) = errors.read(&mut chunk).await {
        tail.extend_from_slice(chunk.get(..length).unwrap_or_default());
        tail.drain(..tail.len().saturating_sub(STDERR_LIMIT_BYTES));
    }
    String::from_utf8_lossy(&tail).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_long_standard_error_is_kept() {
        let stderr = format!("first{} last\n", " again".repeat(STDERR_LIMIT_BYTES));
        let tail = read_tail(stderr.as_bytes()).await;
        assert!(tail.len() <= STDERR_LIMIT_BYTES && tail.ends_with("again last"), "{tail}");
    }
}
