//! `platen exec`: gives up the rights that a child must not have, then becomes the program.

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

use super::cage::BuiltCage;
use super::priority::yield_from_now_on;
use super::scratch::ProcessRecord;
use super::spec::{ChildSpec, ExecRequest, OWN_PROGRAM, ResourceLimits, User};

/// The exit code of a child whose program could not be started; the reason is on its standard error.
pub const EXEC_FAILED: u8 = 125;

/// What went wrong before the program ran, in a sentence for the log.
type Failure = String;

/// Runs a sub-command of this binary; `None`: it has no such command.
pub type Dispatch = fn(&[OsString]) -> Option<ExitCode>;

/// Runs `exec <request>`. Where the request names this binary, its sub-command runs by `dispatch`; for another program this
/// returns only if it could not be started.
pub fn run_exec(arguments: &[OsString], dispatch: Dispatch) -> ExitCode {
    become_child(arguments, dispatch).unwrap_or_else(|failure| {
        let _ = writeln!(std::io::stderr(), "platen exec: {failure}");
        ExitCode::from(EXEC_FAILED)
    })
}

fn become_child(arguments: &[OsString], dispatch: Dispatch) -> Result<ExitCode, Failure> {
    let [request] = arguments else {
        return Err("wants one argument, the child to become; the service calls it, not you".to_owned());
    };
    let request: ExecRequest = serde_json::from_slice(request.as_encoded_bytes())
        .map_err(|error| format!("its argument is not an order: {error}"))?;
    close_others(&request.descriptors)?;
    let starter = open_starter(&request)?;
    let child = &request.child;
    let mut command = Command::new(&child.program);
    command.args(&child.arguments).env_clear().envs(&child.environment);
    let has_own_user = child.user.is_some();
    let prepare = |cage| BuiltCage::prepare(cage, &child.program, has_own_user);
    let cage = child.cage.as_ref().map(prepare).transpose()?;

    unistd::setsid().map_err(failed("start a session"))?;
    if child.yields {
        // After `setsid`, for the session is made nice, too; before rights are dropped, for the kernel then limits how often
        // that may be set.
        yield_from_now_on().map_err(|error| format!("cannot yield the processor: {error}"))?;
    }
    umask(Mode::from_bits_truncate(0o077));
    if let Some(path) = &child.process_record {
        ProcessRecord::of_this_process(child.user)?.write(path)?;
    }
    drop_capabilities(child.user)?;
    if let Some(user) = child.user {
        become_user(user)?;
    }
    if child.alone {
        kill_leftovers_of_user()?;
    }
    let folder = child.working_directory.as_path();
    unistd::chdir(folder).map_err(|errno| format!("cannot enter '{}': {errno}", folder.display()))?;
    die_with(request.parent, starter)?;
    prctl::set_no_new_privs().map_err(failed("give up new privileges"))?;
    limit(&child.limits)?;
    if child.cage.as_ref().is_some_and(|cage| cage.together) {
        // Orphans become children of this process, so the watch still finds them.
        prctl::set_child_subreaper(true).map_err(failed("keep what it starts together"))?;
    }
    if let Some(cage) = cage {
        cage.close()?;
    }
    if child.program.as_os_str() == OWN_PROGRAM {
        // This is that binary already: not starting it again saves a millisecond of processor time.
        let arguments: Vec<OsString> = child.arguments.iter().map(OsString::from).collect();
        return dispatch(&arguments).ok_or_else(|| format!("{:?} is no child's command", child.arguments));
    }
    // `exec` also resets SIGPIPE and the signal mask, which Rust's runtime has changed.
    Err(cannot_start(child, &command.exec()))
}

/// Closes descriptors that the service inherited, and those that a library opened without close-on-exec.
fn close_others(kept: &[RawFd]) -> Result<(), Failure> {
    let unlisted = |error: std::io::Error| format!("cannot list the open descriptors: {error}");
    let open = std::fs::read_dir("/proc/self/fd").map_err(unlisted)?;
    let numbers: Vec<RawFd> =
        open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for number in numbers {
        if number > 2 && !kept.contains(&number) {
            // The descriptor of the listing itself is closed already: its error means nothing.
            let _ = unistd::close(number);
        }
    }
    Ok(())
}

/// Empties the bounding set first: that needs a capability which the change of user takes away.
fn drop_capabilities(user: Option<User>) -> Result<(), Failure> {
    let not_dropped = |error: caps::errors::CapsError| format!("cannot drop capabilities: {error}");
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP).map_err(not_dropped)? {
        caps::clear(None, CapSet::Bounding).map_err(not_dropped)?;
    }
    caps::clear(None, CapSet::Ambient).map_err(not_dropped)?;
    caps::clear(None, CapSet::Inheritable).map_err(not_dropped)?;
    if user.is_none() {
        caps::clear(None, CapSet::Effective).map_err(not_dropped)?;
        caps::clear(None, CapSet::Permitted).map_err(not_dropped)?;
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

/// Kills all other processes of this process' user. No one else has that user now, so these were left by an earlier child.
fn kill_leftovers_of_user() -> Result<(), Failure> {
    if unistd::getuid().is_root() || unistd::geteuid().is_root() {
        return Err("root is never alone".to_owned());
    }
    // -1: all processes that may be signalled, but the caller; without capabilities these are the same user's.
    match kill(Pid::from_raw(-1), Signal::SIGKILL) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(format!("cannot end what still runs as its user: {errno}")),
    }
}

/// Asks for SIGKILL when the service's starting thread ends: after the change of user, which clears that. Then checks that the
/// service had not ended before, for no signal would come.
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
fn open_starter(request: &ExecRequest) -> Result<File, Failure> {
    let path = format!("/proc/{}/task/{}/comm", request.parent, request.thread);
    File::open(&path).map_err(|error| format!("the service has ended: {path}: {error}"))
}

fn limit(limits: &ResourceLimits) -> Result<(), Failure> {
    if let Some(seconds) = limits.cpu_s {
        // SIGXCPU first, from which the limit is recognised; a second later SIGKILL, which cannot be ignored.
        let (_, most) = getrlimit(Resource::RLIMIT_CPU).map_err(failed("ask for its limits"))?;
        // Where both are the same, SIGKILL comes alone.
        let soft = seconds.min(most.saturating_sub(1)).max(1);
        setrlimit(Resource::RLIMIT_CPU, soft, (soft + 1).min(most))
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
            // No limit can be above the service's own.
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
