//! One child that waits for jobs: its start, its jobs, its end.

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

use super::frame::{self, FrameError, Given, Saying};
use super::group::Standing;
use super::housing::House;
use super::place::Place;
use super::program::Excess;
use super::spec::ChildSpec;
use super::starter::{Starter, Streams, end, kill_group};
use super::waits::Waits;

/// A job for a child.
pub struct Job<'a, H> {
    /// What it is to do; becomes the frame's JSON header.
    pub header: &'a H,
    /// The bytes it works on, one part after the other.
    pub body: &'a [Bytes],
    /// The files it may ask for while it works. The deadline stands still while one is waited for.
    pub files: &'a dyn FileSource,
    /// What its child must have in its environment that others have not; empty: any child will do. A child is started
    /// for it where none is kept.
    pub environment: &'a [(&'static str, &'a str)],
}

/// Answers what a child asks for while it works.
#[async_trait]
pub trait FileSource: Sync {
    /// The file of this name. Nobody else bounds how long it takes, so this must.
    ///
    /// # Errors
    /// Why it cannot be had, a sentence for the job's author.
    async fn file(&self, name: &str) -> Result<Asked, String>;

    /// Whether the file of this name is somewhere else and may take long to come. The job gives its place to others while
    /// it waits for that.
    fn is_far(&self, _name: &str) -> bool {
        false
    }

    /// Takes a part of what the child makes, while it makes the next one. Where this fails, the child is killed.
    async fn take(&self, _part: Bytes) -> Result<(), Refused> {
        Err(Refused)
    }
}

/// A part of what a child makes has no place. Whoever refused it knows why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// Files that are there already.
#[async_trait]
impl<F: Fn(&str) -> Option<Asked> + Sync> FileSource for F {
    async fn file(&self, name: &str) -> Result<Asked, String> {
        self(name).ok_or_else(|| format!("there is no file '{name}'"))
    }
}

/// A file that a child asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The file.
    pub content: Bytes,
    /// What was made of it before, for a child that can use it.
    pub made: Option<Bytes>,
}

/// Why a child did not do its job. The texts are for the log.
#[derive(Debug, thiserror::Error)]
pub enum WorkerFault {
    /// It could not be started, or did not get ready: a fault of the installation.
    #[error("a child process cannot start: {0}")]
    NotStarted(String),
    /// It took longer than the deadline and was killed.
    #[error("the child was killed at its deadline")]
    Deadline,
    /// Its answer is longer than the limit.
    #[error("the child's answer is too long")]
    TooLong,
    /// It ended without an answer.
    #[error("the child ended without an answer ({status}): {words}")]
    Died {
        /// How it ended; a signal where a limit or the kernel struck.
        status: ExitStatus,
        /// What it wrote to standard error, at most its last few lines.
        words: String,
    },
    /// It does not keep to the protocol, which only a child does that hostile input has taken over.
    #[error("the child does not keep to the protocol: {0}")]
    Astray(String),
    /// It took too much of something, with what it has started, and was killed.
    #[error("the child was killed, for it took too much: {}", .0.words())]
    TooMuch(Excess),
}

impl WorkerFault {
    /// The fault's name in metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "not_started",
            Self::Deadline => "deadline",
            Self::TooLong => "too_long",
            Self::Died { .. } => "died",
            Self::Astray(_) => "astray",
            Self::TooMuch(excess) => excess.name(),
        }
    }
}

/// Longest header of an answer.
const ANSWER_HEADER_LIMIT_BYTES: u32 = 64 << 10;

/// How much of a child's standard error is kept for the log.
const WORDS_LIMIT_BYTES: usize = 2_048;

/// Between two looks whether a child has ended.
const ENDED_PAUSE: Duration = Duration::from_millis(2);

/// How long a child that closed its output may take to be gone before it is killed.
const PARTING_TIMEOUT: Duration = Duration::from_secs(1);

/// A child that is ready for a job. Dropping it kills it and what it started.
pub(super) struct Worker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    words: JoinHandle<String>,
    jobs: u64,
    /// Of one that did enough.
    relief: Option<Relief>,
    house: Option<House>,
    /// By what it differs from the pool's other children.
    environment: Vec<(&'static str, String)>,
}

/// What a server that did enough is told: whether another one is ready in its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Relief(Arc<AtomicBool>);

impl Relief {
    /// Whether it may go.
    pub fn has_come(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Another server is ready.
    pub fn come(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Worker {
    /// Starts a child and waits until it is ready.
    pub async fn start(
        starter: &Starter,
        spec: ChildSpec,
        start_timeout: Duration,
        house: Option<House>,
    ) -> Result<Self, WorkerFault> {
        let unable = |error: io::Error| WorkerFault::NotStarted(error.to_string());
        let mut child = starter.spawn(spec, Streams::piped()).await.map_err(unable)?;
        let streams = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let Some(((input, output), errors)) = streams else {
            return Err(WorkerFault::NotStarted("it has no pipes".to_owned()));
        };
        let mut worker = Self {
            child,
            input,
            output,
            words: tokio::spawn(listen(errors)),
            jobs: 0,
            relief: None,
            house,
            environment: Vec::new(),
        };
        if let (Some(process), Some(house)) = (worker.process(), &mut worker.house) {
            house.watch(process).map_err(unable)?;
        }
        let first = frame::receive::<Saying<()>>(&mut worker.output, ANSWER_HEADER_LIMIT_BYTES, 0);
        match timeout(start_timeout, first).await {
            Ok(Ok((Saying::Ready, _))) => Ok(worker),
            Ok(first) => Err(WorkerFault::NotStarted(worker.parting(first.err()).await.to_string())),
            Err(_) => Err(WorkerFault::NotStarted(format!(
                "it was not ready after {} ms",
                start_timeout.as_millis()
            ))),
        }
    }

    /// Its process; none when it has been waited for.
    pub fn process(&self) -> Option<i32> {
        self.child.id().and_then(|id| i32::try_from(id).ok())
    }

    /// The same child, marked as one of this environment, with which it was started.
    pub fn marked(mut self, environment: &[(&'static str, &str)]) -> Self {
        self.environment = environment.iter().map(|&(name, value)| (name, value.to_owned())).collect();
        self
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

    /// It did enough, and goes when another one is ready in its place.
    pub fn want_relief(&mut self) {
        self.relief.get_or_insert_default();
    }

    /// What it is told then; `None` where it did not do enough yet.
    pub fn relief(&self) -> Option<&Relief> {
        self.relief.as_ref()
    }

    /// Whether another one is ready in its place.
    pub fn may_go(&self) -> bool {
        self.relief.as_ref().is_some_and(Relief::has_come)
    }

    /// Waits until it is ready for a further job; false when it ended instead, which is its right.
    pub async fn renew(&mut self, limit: Duration) -> bool {
        let next = frame::receive::<Saying<()>>(&mut self.output, ANSWER_HEADER_LIMIT_BYTES, 0);
        matches!(timeout(limit, next).await, Ok(Ok((Saying::Ready, _))))
    }

    /// Whether it still waits for its job.
    pub fn is_waiting(&mut self) -> bool {
        match self.process().filter(|_| self.house.is_some()) {
            // Not waited for, so that its number stays its own until what it has started is killed.
            Some(process) => Standing::of(process).is_some_and(|standing| !standing.is_zombie),
            None => matches!(self.child.try_wait(), Ok(None)),
        }
    }

    /// Gives it the job and answers what it asks for until it is done; `None` when it asks for a file that it may not wait
    /// for now.
    pub async fn work<H: Serialize, R: DeserializeOwned>(
        &mut self,
        job: &Job<'_, H>,
        (waits, place): (&Waits, &mut Place),
        answer_limit_bytes: u64,
    ) -> Result<Option<(R, Bytes)>, WorkerFault> {
        self.jobs += 1;
        if let Err(error) = frame::send(&mut self.input, job.header, job.body).await {
            return Err(self.parting(Some(error.into())).await);
        }
        loop {
            let said = frame::receive(&mut self.output, ANSWER_HEADER_LIMIT_BYTES, answer_limit_bytes).await;
            let name = match said {
                Ok((Saying::Done(result), body)) => return Ok(Some((result, body))),
                Ok((Saying::Want(name), _)) => name,
                Ok((Saying::Part, part)) => {
                    // Who takes it may be slower than the child.
                    waits.of(job.files.take(part)).await.map_err(|Refused| WorkerFault::TooLong)?;
                    continue;
                }
                Ok((Saying::Ready, _)) => return Err(WorkerFault::Astray("ready twice".to_owned())),
                Err(error) => return Err(self.parting(Some(error)).await),
            };
            let file = if !job.files.is_far(&name) {
                waits.of(job.files.file(&name)).await
            } else if place.may_wait() {
                waits.of(place.wait_for(job.files.file(&name))).await
            } else {
                return Ok(None);
            };
            let (given, body) = match file {
                Ok(Asked { content, made }) => {
                    let made = made.unwrap_or_default();
                    (Given::File { made_bytes: made.len() }, [content, made])
                }
                Err(why) => (Given::Refused(why), Default::default()),
            };
            if let Err(error) = frame::send(&mut self.input, &given, &body).await {
                return Err(self.parting(Some(error.into())).await);
            }
        }
    }

    /// Kills it at once, with what it started.
    pub fn kill(&self) {
        kill_group(&self.child);
    }

    /// Kills and reaps it.
    pub async fn end(mut self) {
        if let Some(house) = &mut self.house {
            house.look_away().await;
        }
        if let Err(error) = end(&mut self.child).await {
            tracing::warn!(error = %error, "a child process cannot be waited for");
        }
        if let Some(house) = self.house.take() {
            house.leave().await;
        }
    }

    /// Kills what a server has started that is about to end, or has. Its own status is kept: it is waited for afterwards.
    async fn kill_started(&mut self) {
        let Some(house) = &mut self.house else { return };
        house.look_away().await;
        let Some(process) = self.process() else { return };
        let is_over = || Standing::of(process).is_none_or(|standing| standing.is_zombie);
        let waited = async {
            while !is_over() {
                sleep(ENDED_PAUSE).await;
            }
        };
        // One that closed its output and goes on is killed as well.
        let _ = timeout(PARTING_TIMEOUT, waited).await;
        self.kill();
    }

    /// What to say of a child whose frame could not be read or written.
    async fn parting(&mut self, error: Option<FrameError>) -> WorkerFault {
        match error {
            Some(FrameError::TooLong(_)) => return WorkerFault::TooLong,
            Some(FrameError::Malformed(what)) => return WorkerFault::Astray(what),
            None => return WorkerFault::Astray("an answer before the question".to_owned()),
            Some(FrameError::Broken(_)) => {}
        }
        self.kill_started().await;
        if let Some(excess) = self.house.as_ref().and_then(House::excess) {
            return WorkerFault::TooMuch(excess);
        }
        let gone = match timeout(PARTING_TIMEOUT, self.child.wait()).await {
            Ok(gone) => gone,
            Err(_) => end(&mut self.child).await,
        };
        let words = timeout(PARTING_TIMEOUT, &mut self.words).await;
        let words = words.ok().and_then(Result::ok).unwrap_or_default();
        match gone {
            Ok(status) => WorkerFault::Died { status, words },
            Err(error) => WorkerFault::Astray(format!("it cannot be waited for: {error}")),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
        self.words.abort();
    }
}

/// Reads to the end, so that the child never waits, and keeps the end: that is where a child says why it ends, whatever
/// was printed before.
async fn listen(mut errors: impl AsyncRead + Unpin) -> String {
    let (mut kept, mut chunk) = (Vec::new(), [0; 1_024]);
    while let Ok(length @ 1..) = errors.read(&mut chunk).await {
        kept.extend_from_slice(chunk.get(..length).unwrap_or_default());
        kept.drain(..kept.len().saturating_sub(WORDS_LIMIT_BYTES));
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn of_many_words_the_last_are_kept() {
        let words = format!("first{} last\n", " again".repeat(WORDS_LIMIT_BYTES));
        let kept = listen(words.as_bytes()).await;
        assert!(kept.len() <= WORDS_LIMIT_BYTES && kept.ends_with("again last"), "{kept}");
    }
}
