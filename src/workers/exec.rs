//! `platen exec`: gives up what a child shall not have, then becomes the program.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use caps::{CapSet, Capability};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{self, Gid, Pid, Uid};

use super::cage::Fence;
use super::priority::yield_from_now_on;
use super::scratch::Tenant;
use super::spec::{ChildSpec, Limits, OWN_PROGRAM, Order, User};

/// The exit code of a child whose program could not be started; the reason is on its standard error.
pub const EXEC_FAILED: u8 = 125;

/// What went wrong before the program ran, in a sentence for the log.
type Failure = String;

/// What runs the commands of the program that is running; `None`: it has no such command.
pub type Dispatch = fn(&[OsString]) -> Option<ExitCode>;

/// Runs `exec <order>` of a program whose commands `dispatch` knows; another program returns only when it could not be
/// started.
pub fn run_exec(arguments: &[OsString], dispatch: Dispatch) -> ExitCode {
    become_child(arguments, dispatch).unwrap_or_else(|failure| {
        let _ = writeln!(std::io::stderr(), "platen exec: {failure}");
        ExitCode::from(EXEC_FAILED)
    })
}

fn become_child(arguments: &[OsString], dispatch: Dispatch) -> Result<ExitCode, Failure> {
    let [order] = arguments else {
        return Err("wants one argument, the child to become; the service calls it, not you".to_owned());
    };
    let order: Order = serde_json::from_slice(order.as_encoded_bytes())
        .map_err(|error| format!("its argument is not an order: {error}"))?;
    close_others(&order.descriptors)?;
    let starter = open_starter(&order)?;
    let child = &order.child;
    let mut command = Command::new(&child.program);
    command.args(&child.arguments).env_clear().envs(&child.environment);
    // Made while we still have the service's rights: the child's user may reach none of these paths.
    let has_own_user = child.user.is_some();
    let prepare = |cage| Fence::prepare(cage, &child.program, has_own_user);
    let fence = child.cage.as_ref().map(prepare).transpose()?;

    unistd::setsid().map_err(failed("start a session"))?;
    if child.yields {
        // In its new session, and while the system still lets it change that as often as it likes.
        yield_from_now_on().map_err(|error| format!("cannot yield the processor: {error}"))?;
    }
    umask(Mode::from_bits_truncate(0o077));
    if let Some(path) = &child.tenant {
        Tenant::of_this_process(child.user)?.write(path)?;
    }
    drop_capabilities(child.user)?;
    if let Some(user) = child.user {
        become_user(user)?;
    }
    if child.alone {
        be_alone()?;
    }
    let folder = child.working_directory.as_path();
    unistd::chdir(folder).map_err(|errno| format!("cannot enter '{}': {errno}", folder.display()))?;
    die_with(order.parent, starter)?;
    prctl::set_no_new_privs().map_err(failed("give up new privileges"))?;
    limit(&child.limits)?;
    if child.cage.as_ref().is_some_and(|cage| cage.together) {
        // What loses its parent becomes this process' child and so stays in sight of whoever watches it.
        prctl::set_child_subreaper(true).map_err(failed("keep what it starts together"))?;
    }
    if let Some(fence) = fence {
        fence.close()?;
    }
    if child.program.as_os_str() == OWN_PROGRAM {
        // This very binary need not be started again, which costs a millisecond of processor time.
        let arguments: Vec<OsString> = child.arguments.iter().map(OsString::from).collect();
        return dispatch(&arguments).ok_or_else(|| format!("{:?} is no child's command", child.arguments));
    }
    // `exec` also gives SIGPIPE and the signal mask their defaults back, which our runtime changed.
    Err(cannot_start(child, &command.exec()))
}

/// Closes what the service itself inherited and what a library of ours opened carelessly.
fn close_others(kept: &[RawFd]) -> Result<(), Failure> {
    let told = |error: std::io::Error| format!("cannot list the open descriptors: {error}");
    let open = std::fs::read_dir("/proc/self/fd").map_err(told)?;
    let numbers: Vec<RawFd> =
        open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for number in numbers {
        if number > 2 && !kept.contains(&number) {
            // One of them was the listing's own and is closed by now: that error says nothing.
            let _ = unistd::close(number);
        }
    }
    Ok(())
}

/// Empties the bounding set first: that needs a capability which the change of user takes away.
fn drop_capabilities(user: Option<User>) -> Result<(), Failure> {
    let told = |error: caps::errors::CapsError| format!("cannot drop capabilities: {error}");
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP).map_err(told)? {
        caps::clear(None, CapSet::Bounding).map_err(told)?;
    }
    caps::clear(None, CapSet::Ambient).map_err(told)?;
    caps::clear(None, CapSet::Inheritable).map_err(told)?;
    if user.is_none() {
        caps::clear(None, CapSet::Effective).map_err(told)?;
        caps::clear(None, CapSet::Permitted).map_err(told)?;
    }
    Ok(())
}

/// From root to another user; the kernel takes the capabilities away with the user id.
fn become_user(user: User) -> Result<(), Failure> {
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    unistd::setgroups(&[]).map_err(failed("give up groups (only root can start another user's child)"))?;
    unistd::setresgid(gid, gid, gid).map_err(failed("change the group"))?;
    unistd::setresuid(uid, uid, uid).map_err(failed("change the user"))
}

/// Ends whoever still runs as this process' user, which belongs to it alone: an earlier child's leavings.
fn be_alone() -> Result<(), Failure> {
    if unistd::getuid().is_root() || unistd::geteuid().is_root() {
        return Err("root is never alone".to_owned());
    }
    // -1 are all that may be signalled but the caller: without capabilities, those of the same user.
    match kill(Pid::from_raw(-1), Signal::SIGKILL) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(format!("cannot end what still runs as its user: {errno}")),
    }
}

/// Asks for the death signal, after the change of user, which clears it, and checks that whoever would
/// send it had not died before.
fn die_with(parent: u32, starter: File) -> Result<(), Failure> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(failed("ask for the death signal"))?;
    let expected = i32::try_from(parent).map(Pid::from_raw).map_err(|error| error.to_string())?;
    let name = std::io::read_to_string(starter);
    if unistd::getppid() == expected && name.is_ok() {
        Ok(())
    } else {
        Err("the service has ended".to_owned())
    }
}

/// The file of the starting thread's name, which can be read as long as that thread lives.
fn open_starter(order: &Order) -> Result<File, Failure> {
    let path = format!("/proc/{}/task/{}/comm", order.parent, order.thread);
    File::open(&path).map_err(|error| format!("the service has ended: {path}: {error}"))
}

fn limit(limits: &Limits) -> Result<(), Failure> {
    if let Some(seconds) = limits.cpu_s {
        // First the signal that tells why, a second later the one that nobody can ignore.
        let (_, most) = getrlimit(Resource::RLIMIT_CPU).map_err(failed("ask for its limits"))?;
        setrlimit(Resource::RLIMIT_CPU, seconds.min(most), (seconds + 1).min(most))
            .map_err(|errno| format!("cannot set the processor time to {seconds}: {errno}"))?;
    }
    let wanted = [
        (Resource::RLIMIT_CORE, Some(0)),
        (Resource::RLIMIT_FSIZE, limits.file_bytes),
        (Resource::RLIMIT_NPROC, limits.processes),
        (Resource::RLIMIT_NOFILE, limits.open_files),
        (Resource::RLIMIT_AS, limits.address_space_bytes),
    ];
    for (resource, value) in wanted {
        if let Some(value) = value {
            // Nobody may have more than was left to the service; who wants more has that.
            let (_, most) = getrlimit(resource).map_err(failed("ask for its limits"))?;
            let value = value.min(most);
            setrlimit(resource, value, value)
                .map_err(|errno| format!("cannot set {resource:?} to {value}: {errno}"))?;
        }
    }
    Ok(())
}

fn cannot_start(child: &ChildSpec, error: &std::io::Error) -> Failure {
    let whom = child.user.map_or(String::new(), |user| format!(" as user {}", user.uid));
    format!("cannot start '{}'{whom}: {error}; it must exist and be executable for that user", {
        child.program.display()
    })
}

fn failed(what: &'static str) -> impl Fn(Errno) -> Failure {
    move |errno| format!("cannot {what}: {errno}")
}
