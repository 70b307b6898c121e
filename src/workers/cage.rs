//! The cage, a child's sandbox: Landlock for files; seccomp for the network, signals and rarely used system calls.

mod calls;

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use nix::sys::resource::{Resource, setrlimit};
use seccompiler::BpfProgram;

use super::spec::Cage;

/// Whether this kernel has Landlock, by which a cage confines a process to certain files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landlock {
    /// Yes.
    Available,
    /// No: built without, or switched off at boot (`lsm=` without `landlock`).
    Missing,
}

/// The newest version that is used; older kernels enforce what they know of it.
const NEWEST_ABI: ABI = ABI::V7;

/// A cage that is built but not yet applied.
pub(super) struct BuiltCage {
    files: Option<RulesetCreated>,
    calls: [BpfProgram; 2],
    requires_landlock: bool,
}

impl BuiltCage {
    /// Opens the paths that stay reachable and compiles the filters. Called before rights are given up: the child's user may
    /// not be able to open these paths.
    pub fn prepare(cage: &Cage, program: &Path, has_own_user: bool) -> Result<Self, String> {
        let files = match landlock() {
            Landlock::Available => Some(file_rules(cage, program)?),
            Landlock::Missing if cage.requires_landlock => {
                return Err("this kernel has no Landlock, so files cannot be fenced".to_owned());
            }
            Landlock::Missing => None,
        };
        let calls = calls::of_cage(cage, std::process::id(), has_own_user);
        let calls = calls.map_err(|error| format!("cannot build a filter: {error}"))?;
        Ok(Self { files, calls, requires_landlock: cage.requires_landlock })
    }

    /// Applies it to this process and all that it starts. It cannot be undone.
    pub fn close(self) -> Result<(), String> {
        if let Some(files) = self.files {
            let status = files.restrict_self().map_err(|error| format!("cannot fence files: {error}"))?;
            if self.requires_landlock && status.ruleset == RulesetStatus::NotEnforced {
                return Err("the kernel does not enforce the fence round files".to_owned());
            }
        }
        for filter in &self.calls {
            apply(filter)?;
        }
        Ok(())
    }
}

/// Asks the kernel whether it has Landlock.
pub fn landlock() -> Landlock {
    let asked = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create);
    if asked.is_ok() { Landlock::Available } else { Landlock::Missing }
}

/// Restricts a caged process further, before it opens a document: from now on it reads only `read`, writes only `write`, signals
/// no other process, and starts neither processes nor programs. Without Landlock only the file rules are left out.
pub(super) fn narrow(read: &[PathBuf], write: &[PathBuf]) -> Result<(), String> {
    if landlock() == Landlock::Available {
        let build = || {
            Ruleset::default()
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(AccessFs::from_all(NEWEST_ABI))?
                .create()?
                .add_rules(path_beneath_rules(read, reading()))?
                .add_rules(path_beneath_rules(write, writing()))?
                .restrict_self()
        };
        let status = build().map_err(|error: RulesetError| format!("cannot fence files: {error}"))?;
        if status.ruleset == RulesetStatus::NotEnforced {
            return Err("the kernel does not enforce the fence round files".to_owned());
        }
    }
    let filter = calls::by_itself(std::process::id());
    apply(&filter.map_err(|error| format!("cannot build a filter: {error}"))?)
}

/// Refuses every system call but those of a process that only computes, for all its threads. Among others it can no longer
/// start threads or processes, open files, map executable memory, or signal other processes.
///
/// # Errors
/// A sentence, when the system refuses.
pub fn compute_only() -> Result<(), String> {
    // The filter refuses it as well: code of strangers that starts something would have to pass both.
    setrlimit(Resource::RLIMIT_NPROC, 0, 0)
        .map_err(|errno| format!("cannot give up starting threads: {errno}"))?;
    let filter = calls::computing(std::process::id());
    let filter = filter.map_err(|error| format!("cannot build a filter: {error}"))?;
    seccompiler::apply_filter_all_threads(&filter)
        .map_err(|error| format!("cannot filter system calls: {error}"))
}

/// Applies a filter, from now on and for all this process starts.
fn apply(filter: &BpfProgram) -> Result<(), String> {
    seccompiler::apply_filter(filter).map_err(|error| format!("cannot filter system calls: {error}"))
}

fn file_rules(cage: &Cage, program: &Path) -> Result<RulesetCreated, String> {
    let execute = cage.execute.iter().map(PathBuf::as_path).chain([program]);
    let build = || {
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST_ABI))?
            .scope(Scope::from_all(NEWEST_ABI))?;
        if !cage.network {
            rules = rules.handle_access(AccessNet::from_all(NEWEST_ABI))?;
        }
        rules
            .create()?
            .add_rules(path_beneath_rules(execute, AccessFs::from_read(NEWEST_ABI)))?
            .add_rules(path_beneath_rules(&cage.read, reading()))?
            .add_rules(path_beneath_rules(&cage.write, writing()))
    };
    build().map_err(|error: RulesetError| format!("cannot build the fence round files: {error}"))
}

fn reading() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::ReadDir
}

/// All rights but executing what was written, and making devices and sockets.
fn writing() -> BitFlags<AccessFs> {
    let kept_back = AccessFs::Execute | AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock;
    AccessFs::from_all(NEWEST_ABI) & !kept_back
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use nix::errno::Errno;
    use nix::libc;
    use nix::poll::{PollTimeout, poll};
    use nix::sys::signal::kill;
    use nix::unistd::{Pid, execv, getppid};

    use super::super::spec::{Signals, Starts};
    use super::*;

    /// A filter applies to its thread only, so a thread can be tested in place of a child.
    #[test]
    fn a_process_that_only_computes_reaches_nothing() {
        let outcome = std::thread::spawn(|| {
            let before = std::fs::read("/etc/hostname").map(|text| text.len());
            apply(&calls::computing(std::process::id()).unwrap()).unwrap();
            let refused = [
                std::fs::read("/etc/hostname").unwrap_err(),
                std::net::TcpListener::bind("127.0.0.1:0").unwrap_err(),
                std::os::unix::net::UnixStream::pair().unwrap_err(),
                std::thread::Builder::new().spawn(|| ()).unwrap_err(),
                nix::unistd::dup(std::io::stdin()).unwrap_err().into(),
                kill(getppid(), None).unwrap_err().into(),
            ];
            let waited = poll(&mut [], PollTimeout::ZERO);
            (before.is_ok(), refused.map(|error| error.raw_os_error()), vec![1; 1 << 20].len(), waited)
        });
        let (readable, refused, computed, waited) = outcome.join().unwrap();
        assert!(readable, "the file is there");
        assert_eq!(refused, [Some(libc::EPERM); 6]);
        assert_eq!((computed, waited), (1 << 20, Ok(0)), "threads of the library wait");
    }

    /// As the child of template code: the library of its engine starts threads.
    #[test]
    fn a_process_that_starts_threads_only_starts_no_process() {
        let cage = Cage {
            execute: ["/bin", "/lib", "/lib64", "/usr"].map(PathBuf::from).into(),
            starts: Starts::Threads,
            ..Cage::default()
        };
        let caged = std::thread::spawn(move || {
            BuiltCage::prepare(&cage, Path::new("/bin/true"), true).unwrap().close().unwrap();
            let thread = std::thread::Builder::new().spawn(|| 42).map(|thread| thread.join().unwrap());
            let process = Command::new("/bin/true").status().unwrap_err().raw_os_error();
            (thread.ok(), process, execv(c"/bin/false", &[c"false"]))
        });
        assert_eq!(caged.join().unwrap(), (Some(42), Some(libc::EPERM), Err(Errno::EPERM)));
    }

    /// As a document's child: restricted further than its server, which is caged itself.
    #[test]
    fn a_narrowed_process_has_its_own_files_and_reaches_no_other_process() {
        let folder = tempfile::tempdir().unwrap();
        let [seen, own, others] = ["seen", "own", "others"].map(|name| folder.path().join(name));
        for place in [&seen, &own, &others] {
            std::fs::create_dir(place).unwrap();
            std::fs::write(place.join("file"), "text").unwrap();
        }
        let system = ["/bin", "/lib", "/lib64", "/usr"].map(PathBuf::from);
        let cage = Cage {
            execute: system.into(),
            read: vec![PathBuf::from("/proc")],
            write: vec![folder.path().to_owned()],
            signals: Signals::Anybody,
            ..Cage::default()
        };
        let narrowed = std::thread::spawn(move || {
            BuiltCage::prepare(&cage, Path::new("/bin/true"), true).unwrap().close().unwrap();
            let reads = |path: &Path| std::fs::read(path).err().and_then(|error| error.raw_os_error());
            let writes =
                |path: &Path| std::fs::write(path, "more").err().and_then(|error| error.raw_os_error());
            let files = [Path::new("/proc/self/status"), &others.join("file"), &seen.join("file")];
            let starts = || Command::new("/bin/true").status().err().and_then(|error| error.raw_os_error());
            let neighbour = Command::new("/bin/sleep").arg("60").spawn().unwrap();
            let aim = Pid::from_raw(i32::try_from(neighbour.id()).unwrap());
            let before = (files.map(reads), files[1..].iter().map(|path| writes(path)).max(), starts());
            let signalled = kill(aim, None);
            narrow(std::slice::from_ref(&seen), std::slice::from_ref(&own)).unwrap();
            let after = (files.map(reads), [&others, &seen, &own].map(|place| writes(&place.join("file"))));
            let refused = (starts(), execv(c"/bin/false", &[c"false"]), kill(aim, None));
            (neighbour, (before, signalled), after, refused)
        });
        let (mut neighbour, before, after, refused) = narrowed.join().unwrap();
        neighbour.kill().unwrap();
        neighbour.wait().unwrap();
        assert_eq!(before, (([None; 3], Some(None), None), Ok(())), "its server may");
        let no = Some(libc::EACCES);
        assert_eq!(after, ([no, no, None], [no, no, None]));
        assert_eq!(refused, (Some(libc::EPERM), Err(Errno::EPERM), Err(Errno::EPERM)));
    }
}
