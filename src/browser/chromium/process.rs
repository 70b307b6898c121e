//! The process of one Chromium: how it is found, started and ended.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Gid, Pid, Uid};
use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStderr};

use super::flags::{self, Graphics};
use super::launch_error::LaunchError;
use super::profile::Profile;
use super::swiftshader;
use crate::browser::cdp::error::CallError;
use crate::config::BrowserConfig;
use crate::workers::{ChildSpec, Starter, Streams, User, is_from_outside, kill_group};

/// Where distributions install it. The program, not the script in `/usr/bin`: the death signal and
/// the process id would be the shell's.
const KNOWN_EXECUTABLES: [&str; 5] = [
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
];
/// The numbers by which `--remote-debugging-pipe` reads and writes.
const CHILD_READS: i32 = 3;
const CHILD_WRITES: i32 = 4;
/// The largest pipe that the kernel gives without privilege: a large page takes fewer reads.
const PIPE_BYTES: i32 = 1 << 20;
/// How much of what Chromium prints is kept for an error.
const KEPT_LINES: usize = 8;
const KEPT_LINE_CHARS: usize = 300;
/// What it prints when its sandbox cannot be made; the advice that follows there is for desktops.
const NO_SANDBOX: &str = "No usable sandbox!";
/// A killed group is gone in a few milliseconds; longer than this it is not waited for.
const END_LIMIT: Duration = Duration::from_secs(5);
/// How long a Chromium that does not answer may take to have ended.
const EXIT_LIMIT: Duration = Duration::from_millis(200);
const END_PAUSE: Duration = Duration::from_millis(5);

/// A Chromium process, without the connection to it. Dropped, it is killed with all its processes, and its folder
/// removed.
pub struct Process {
    child: Child,
    group: Pid,
    profile: ProfileGuard,
    executable: PathBuf,
    printed: StderrTail,
}

/// Our ends of its two pipes.
#[derive(Debug)]
pub struct PipeEnds {
    /// Its answers and events.
    pub reader: OwnedFd,
    /// Calls to it.
    pub writer: OwnedFd,
}

/// The last lines that Chromium printed.
type StderrTail = Arc<Mutex<VecDeque<String>>>;

/// Removes the folder on a thread of its own when dropped: that blocks.
struct ProfileGuard(Option<Profile>);

impl Process {
    /// Starts it; whether it runs is seen by its first answer.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub async fn start(
        starter: &Starter,
        config: &BrowserConfig,
        graphics: Graphics,
    ) -> Result<(Self, PipeEnds), LaunchError> {
        let executable = find_executable(&config.executable)?;
        let owner = find_owner(config).await?;
        let profile = tokio::task::spawn_blocking(move || Profile::create(owner));
        let profile = ProfileGuard(Some(profile.await.map_err(io::Error::other)??));
        let (spec, streams, ends) = describe(&executable, config, graphics, owner, &profile)?;
        let mut child = starter.spawn(spec, streams).await?;
        let printed = StderrTail::default();
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(keep_printed(stderr, Arc::clone(&printed)));
        }
        let id = child.id().and_then(|id| i32::try_from(id).ok()).unwrap_or_default();
        Ok((Self { child, group: Pid::from_raw(id), profile, executable, printed }, ends))
    }

    /// The process id, which is also the id of its group.
    pub fn id(&self) -> i32 {
        self.group.as_raw()
    }

    /// Kills it with all its processes; returns when they and its folder are gone.
    pub async fn end(mut self) {
        kill_group(&self.child);
        let _ = tokio::time::timeout(END_LIMIT, self.child.wait()).await;
        let _ = tokio::time::timeout(END_LIMIT, group_gone(self.group)).await;
        // The number may be another group's from now on.
        self.group = Pid::from_raw(0);
        let profile = self.profile.0.take();
        let _ = tokio::task::spawn_blocking(move || drop(profile)).await;
    }

    /// Why it does not answer: how it ended, or `error`, and what it printed last.
    pub(in crate::browser) async fn explain(mut self, error: CallError) -> LaunchError {
        let exited = tokio::time::timeout(EXIT_LIMIT, self.child.wait()).await;
        let status = exited.ok().and_then(Result::ok);
        let reason = status.map_or_else(|| error.to_string(), |status| status.to_string());
        let signal = status.and_then(|status| status.signal());
        // Behind a deadline our closing of the connection ends it, in whatever way.
        let has_crashed = matches!(error, CallError::Closed { .. })
            && signal.is_some_and(|signal| !is_from_outside(signal));
        // What it printed last is still on its way through the pipe.
        tokio::time::sleep(END_PAUSE).await;
        let lines = self.printed.lock().clone();
        let printed = lines.into_iter().collect::<Vec<_>>().join(" | ");
        if printed.contains(NO_SANDBOX) {
            return LaunchError::NoSandbox;
        }
        LaunchError::Silent {
            executable: self.executable.display().to_string(),
            reason,
            printed,
            has_crashed,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The leader may have been reaped and its group live on.
        if self.group.as_raw() > 1 {
            let _ = killpg(self.group, Signal::SIGKILL);
        }
        kill_group(&self.child);
    }
}

impl Drop for ProfileGuard {
    fn drop(&mut self) {
        let Some(profile) = self.0.take() else { return };
        let removing = std::thread::Builder::new().name("platen-sweep".to_owned());
        // Without a thread to be had the folder is removed by the next service's sweep.
        let _ = removing.spawn(move || drop(profile));
    }
}

/// The Chromium that is started: the configured one, or the first known one that is installed.
///
/// # Errors
/// When there is none.
pub fn find_executable(configured: &str) -> Result<PathBuf, LaunchError> {
    if !configured.is_empty() {
        return Ok(PathBuf::from(configured));
    }
    let known = KNOWN_EXECUTABLES.iter().map(PathBuf::from).find(|path| path.exists());
    known.ok_or(LaunchError::NotInstalled)
}

/// The user that it is started as; none where we are not root and cannot choose.
async fn find_owner(config: &BrowserConfig) -> Result<Option<(Uid, Gid)>, LaunchError> {
    if !Uid::effective().is_root() {
        return Ok(None);
    }
    let name = config.user.clone();
    let found = tokio::task::spawn_blocking(move || nix::unistd::User::from_name(&name)).await;
    match found.map_err(io::Error::other)?.map_err(io::Error::from)? {
        Some(user) => Ok(Some((user.uid, user.gid))),
        None => Err(LaunchError::NoUser(config.user.clone())),
    }
}

fn describe(
    executable: &Path,
    config: &BrowserConfig,
    graphics: Graphics,
    owner: Option<(Uid, Gid)>,
    profile: &ProfileGuard,
) -> Result<(ChildSpec, Streams, PipeEnds), LaunchError> {
    let ProfileGuard(Some(profile)) = profile else {
        return Err(io::Error::from(io::ErrorKind::NotFound).into());
    };
    let mut spec = ChildSpec::new(executable)
        .arguments(flags::arguments(config, graphics, &profile.user_data()))
        .variable("HOME", profile.home().display().to_string())
        .variable("TMPDIR", profile.temporary().display().to_string())
        .variable("PATH", "/usr/bin:/bin")
        .variable("LANG", "C.UTF-8");
    if let Some(fonts) = profile.fonts() {
        spec = spec.variable("FONTCONFIG_FILE", fonts.display().to_string());
    }
    if graphics == Graphics::WebGl {
        spec = swiftshader::preloaded(spec, executable, profile)?;
    }
    profile.home().clone_into(&mut spec.working_directory);
    spec.user = owner.map(|(uid, gid)| User { uid: uid.as_raw(), gid: gid.as_raw() });
    let (child_reads, writer) = io::pipe()?;
    let (reader, child_writes) = io::pipe()?;
    let ends = PipeEnds { reader: reader.into(), writer: writer.into() };
    for end in [&ends.reader, &ends.writer] {
        // A system that gives less is only slower.
        let _ = fcntl(end, FcntlArg::F_SETPIPE_SZ(PIPE_BYTES));
    }
    let streams = Streams {
        stdin: Stdio::null(),
        stdout: Stdio::null(),
        stderr: Stdio::piped(),
        descriptors: vec![(child_reads.into(), CHILD_READS), (child_writes.into(), CHILD_WRITES)],
    };
    Ok((spec, streams, ends))
}

async fn keep_printed(stderr: ChildStderr, printed: StderrTail) {
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let text: String = String::from_utf8_lossy(&line).chars().take(KEPT_LINE_CHARS).collect();
        tracing::debug!(line = text, "Chromium printed");
        let mut kept = printed.lock();
        if kept.len() == KEPT_LINES {
            kept.pop_front();
        }
        kept.push_back(text);
    }
}

async fn group_gone(group: Pid) {
    while killpg(group, None).is_ok() {
        tokio::time::sleep(END_PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_executable_is_taken_as_it_is() {
        assert_eq!(find_executable("/opt/x/chromium").unwrap(), Path::new("/opt/x/chromium"));
    }
}
