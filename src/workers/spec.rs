//! The specification of a child process: program, environment, user, limits, cage.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The sub-command of our binary that becomes the program that its argument describes.
pub const EXEC_COMMAND: &str = "exec";

/// Our own binary, also where the child's user could not reach it by its name.
pub(super) const OWN_PROGRAM: &str = "/proc/self/exe";

/// What a child reads before it can open no more files: its stack and mapped memory in `/proc`, and random bytes for hash tables.
const READ_AT_START: [&str; 2] = ["/proc", "/dev/urandom"];

/// A child process. It gets only what is named here: no other argument, no other variable, and from inside of a cage no other
/// file.
///
/// Every child has only the standard streams and the given descriptors, leads a session and process group of its own, can gain
/// no privileges (`no_new_privs`), holds no capability, and writes no core file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ChildSpec {
    /// The program's path. `/proc/self/exe` is our own binary, also where the child's user cannot reach it by its path.
    pub program: PathBuf,
    /// Its arguments, without its own name.
    pub arguments: Vec<String>,
    /// The binary of ours that runs `exec`; `None`: the service's own. It is started with the service's rights, so the child's
    /// user need not reach it, and with [`Self::environment`] from its start. Where [`Self::program`] is `/proc/self/exe`, the
    /// child is that same process.
    pub binary: Option<PathBuf>,
    /// Its whole environment.
    pub environment: BTreeMap<String, String>,
    /// Its working directory; entered with the rights of the child's user.
    pub working_directory: PathBuf,
    /// The user that it runs as; `None`: the service's. Only root can set another user.
    pub user: Option<User>,
    /// Its resource limits.
    pub limits: ResourceLimits,
    /// Its sandbox; `None`: it may reach all that its user may.
    pub cage: Option<Cage>,
    /// Whether it runs at low priority from its start.
    pub yields: bool,
    /// Whether no one else has its user: whatever still runs as that user is killed first. Only for a user that is given here,
    /// and never for root.
    pub alone: bool,
    /// The file into which it writes its process' record, before it becomes the program.
    pub process_record: Option<PathBuf>,
}

/// A user and its group; all other groups are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

impl User {
    /// `nobody`: exists on every system, owns no file, and is not the browser's user, so that neither can signal or trace the
    /// other, or use up its limit of processes.
    pub const NOBODY: Self = Self { uid: 65_534, gid: 65_534 };

    /// The user of children that only compute: [`Self::NOBODY`] where the service is root; else `None`, the service's own, for
    /// only root can start a child as another user.
    pub fn of_computing_children() -> Option<Self> {
        nix::unistd::geteuid().is_root().then_some(Self::NOBODY)
    }
}

/// Resource limits; `None` leaves the service's own.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceLimits {
    /// All memory it maps (`RLIMIT_AS`).
    pub address_space_bytes: Option<u64>,
    /// Processor time (`RLIMIT_CPU`); killed when it is used up.
    pub cpu_s: Option<u64>,
    /// Largest file it writes (`RLIMIT_FSIZE`).
    pub file_bytes: Option<u64>,
    /// Processes and threads of its user (`RLIMIT_NPROC`); 0: it cannot start any.
    pub processes: Option<u64>,
    /// Highest number of open files (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
}

/// Which processes a caged child may signal; from Linux 6.12 on (Landlock) never one outside of the cage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signals {
    /// Only its first process, which a program needs to abort.
    #[default]
    Itself,
    /// All that its user may: for a program that ends its children.
    Anybody,
}

/// What a caged child may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Starts {
    /// Threads, processes and programs, up to [`ResourceLimits::processes`].
    #[default]
    Anything,
    /// Threads only.
    Threads,
}

/// The sandbox of a child that reads untrusted input: what it may reach.
///
/// Files by Landlock; network, signals and rarely used system calls by seccomp. The program itself may always be executed.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cage {
    /// Files and folders (with all below) it may execute and read; those that do not exist are skipped.
    pub execute: Vec<PathBuf>,
    /// Files and folders (with all below) it may read.
    pub read: Vec<PathBuf>,
    /// Files and folders (with all below) it may read and write; it cannot execute what it writes there.
    pub write: Vec<PathBuf>,
    /// Which processes it may signal.
    pub signals: Signals,
    /// What it may start.
    pub starts: Starts,
    /// Whether all that it starts must stay in its session and process group, so that one kill ends everything.
    pub together: bool,
    /// Whether it may open sockets.
    pub network: bool,
    /// Whether it must not start where the kernel has no Landlock, so that files are not restricted.
    pub requires_landlock: bool,
}

/// The argument of `platen exec`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExecRequest {
    /// The service's process id: a child with another parent is an orphan already.
    pub parent: u32,
    /// The service's thread that starts it: the kernel sends the death signal when that thread ends.
    pub thread: i32,
    /// The descriptors that it gets beside the standard streams; all others are closed.
    pub descriptors: Vec<i32>,
    /// The child.
    pub child: ChildSpec,
}

impl ChildSpec {
    /// A child with nothing but its program: no arguments, no environment, in `/`, no limits, no cage.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            binary: None,
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            working_directory: PathBuf::from("/"),
            user: None,
            limits: ResourceLimits::default(),
            cage: None,
            yields: false,
            alone: false,
            process_record: None,
        }
    }

    /// A child of our own binary, whose `command` has `argument` for its argument, in JSON.
    pub(super) fn of_ours(command: &str, argument: &impl Serialize) -> Self {
        let argument = serde_json::to_string(argument).unwrap_or_default();
        Self::new(OWN_PROGRAM).arguments([command.to_owned(), argument])
    }

    /// As [`Self::of_ours`], for untrusted input: one process without further threads, files or network, with limits of
    /// processor time and open files.
    pub(super) fn computing(
        command: &str,
        argument: &impl Serialize,
        user: Option<User>,
        (cpu_s, open_files): (u64, u64),
    ) -> Self {
        Self {
            user,
            limits: ResourceLimits {
                // The child limits its memory itself, on top of what it has without a job (`memory.rs`).
                address_space_bytes: None,
                cpu_s: Some(cpu_s),
                file_bytes: Some(0),
                processes: Some(0),
                open_files: Some(open_files),
            },
            cage: Some(Cage {
                read: READ_AT_START.map(PathBuf::from).to_vec(),
                // Without Landlock the call filter still keeps the child from opening any file.
                requires_landlock: false,
                ..Cage::default()
            }),
            ..Self::of_ours(command, argument)
        }
    }

    /// Adds arguments.
    pub fn arguments<T: Into<String>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Adds a variable.
    pub fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }
}
