//! What a child process is to be: program, environment, user, limits, cage.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The sub-command of our binary that turns an order into the program it names.
pub const EXEC_COMMAND: &str = "exec";

/// Our own binary, also where the child's user could not reach it by its name.
pub(super) const OWN_PROGRAM: &str = "/proc/self/exe";

/// What a child reads before it gives up opening files: where its stack ends and how much memory it has mapped, the seed of
/// its hash tables.
const READ_AT_START: [&str; 2] = ["/proc", "/dev/urandom"];

/// A child process. What is not said is not given: no argument, no variable, no file of a cage.
///
/// Every child has the standard streams and the descriptors it is given and no other, leads a session,
/// and so a process group, of its own, can gain no privilege (`no_new_privs`), holds no capability and
/// writes no core file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ChildSpec {
    /// The program by its path. `/proc/self/exe` is our own binary, also where the child's user could
    /// not reach it by its name.
    pub program: PathBuf,
    /// Its arguments, without its own name.
    pub arguments: Vec<String>,
    /// Which program of ours is started to become the child; `None`: the service's own. It is started by its path with
    /// the service's rights, so the child's user need not reach it; where [`Self::program`] is `/proc/self/exe`, the
    /// child is that very process. It has [`Self::environment`] from its start.
    pub binary: Option<PathBuf>,
    /// Its whole environment.
    pub environment: BTreeMap<String, String>,
    /// Where it starts; entered as the child's user.
    pub working_directory: PathBuf,
    /// Whom it runs as; `None`: whom the service runs as. Only root may give another user.
    pub user: Option<User>,
    /// What it may use.
    pub limits: Limits,
    /// What it may reach; `None`: all that its user may.
    pub cage: Option<Cage>,
    /// Whether it leaves the processor to everybody else, from its start.
    pub yields: bool,
    /// Whether nobody else is its user: whatever still runs as that user is killed before it starts. Only
    /// for a user that is given here, and never for root.
    pub alone: bool,
    /// The file in which it says which process it is, before it becomes the program.
    pub tenant: Option<PathBuf>,
}

/// A user and its group; further groups are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

impl User {
    /// `nobody`: there without setup on every system, owns no file, and is not the browser's user, so
    /// that neither side can signal, trace or choke the other.
    pub const NOBODY: Self = Self { uid: 65_534, gid: 65_534 };
}

/// Resource limits; `None` leaves the service's own.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
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

/// Whom a caged child may signal. Where the kernel can tell (Landlock, from Linux 6.12 on) it is never
/// anybody outside of the cage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signals {
    /// Nobody but its first process itself, which is how a program aborts.
    #[default]
    Itself,
    /// Everybody its user may: it has children that it ends.
    Anybody,
}

/// What a child that reads strangers' input may reach.
///
/// Files by Landlock; the network, signals and the kernel's rarer doors by seccomp. The program itself may
/// always be executed.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cage {
    /// Files and folders (with all below) it may execute and read; those that do not exist are skipped.
    pub execute: Vec<PathBuf>,
    /// Files and folders (with all below) it may read.
    pub read: Vec<PathBuf>,
    /// Files and folders (with all below) it may read and write; what is made there is no program for it.
    pub write: Vec<PathBuf>,
    /// Whom it may signal.
    pub signals: Signals,
    /// Whether all that it starts stays in its session and process group, where one kill ends everything.
    pub together: bool,
    /// Whether it may open sockets.
    pub network: bool,
    /// Whether it must not start where the kernel has no Landlock and files cannot be fenced.
    pub files_must_be_fenced: bool,
}

/// What the starter hands to `platen exec`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    /// The service's process id: a child that finds another parent is an orphan already.
    pub parent: u32,
    /// The service's thread that starts it: the kernel's death signal comes when that thread ends.
    pub thread: i32,
    /// The numbers of the descriptors it gets beside the standard streams; all others are closed.
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
            limits: Limits::default(),
            cage: None,
            yields: false,
            alone: false,
            tenant: None,
        }
    }

    /// A child of our own binary, whose `command` has `order` for its argument, in JSON.
    pub(super) fn of_ours(command: &str, order: &impl Serialize) -> Self {
        let order = serde_json::to_string(order).unwrap_or_default();
        Self::new(OWN_PROGRAM).arguments([command.to_owned(), order])
    }

    /// One of these that works on strangers' input alone: one process without threads, files or network, with so much
    /// processor time and so many open files.
    pub(super) fn computing(
        command: &str,
        order: &impl Serialize,
        user: Option<User>,
        (cpu_s, open_files): (u64, u64),
    ) -> Self {
        Self {
            user,
            limits: Limits {
                // The child bounds its memory itself, on top of what it has without a job.
                address_space_bytes: None,
                cpu_s: Some(cpu_s),
                file_bytes: Some(0),
                processes: Some(0),
                open_files: Some(open_files),
            },
            cage: Some(Cage {
                read: READ_AT_START.map(PathBuf::from).to_vec(),
                // Without Landlock the call filter still keeps the child from opening any file.
                files_must_be_fenced: false,
                ..Cage::default()
            }),
            ..Self::of_ours(command, order)
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
