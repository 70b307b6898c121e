//! The cage: Landlock for files, seccomp for the network and the kernel's rarer doors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use nix::libc::{self, c_long};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use super::spec::Cage;

/// Whether this kernel fences files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landlock {
    /// Yes.
    Available,
    /// No: built without, or switched off at boot (`lsm=` without `landlock`).
    Missing,
}

/// The newest rules we know; older kernels enforce those they know.
const NEWEST_ABI: ABI = ABI::V7;

/// On x86-64 every call has a second number with this bit, which must not be a way round a refusal.
const X32_BIT: c_long = 0x4000_0000;

/// `CLONE_NEWTIME`, `NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`.
const NAMESPACE_FLAGS: &[u64] =
    &[0x80, 0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];

/// `PROT_EXEC`.
const PROT_EXEC: u64 = 4;

/// Opening and using sockets, refused to a child without network.
const NETWORK_CALLS: &[c_long] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
];

/// What no child of ours needs and exploits of the kernel or of neighbours begin with.
const REFUSED_CALLS: &[c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_personality,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// All that a child needs which only computes: what it has open, memory, its end.
const COMPUTING_CALLS: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_tgkill,
    libc::SYS_write,
    libc::SYS_writev,
];

/// A cage that is built but not closed yet.
pub(super) struct Fence {
    files: Option<RulesetCreated>,
    calls: [BpfProgram; 2],
    files_must_be_fenced: bool,
}

impl Fence {
    /// Opens the paths that shall stay reachable and compiles the filters, with the rights of now.
    pub fn prepare(cage: &Cage, program: &Path) -> Result<Self, String> {
        let files = match landlock() {
            Landlock::Available => Some(file_rules(cage, program)?),
            Landlock::Missing if cage.files_must_be_fenced => {
                return Err("this kernel has no Landlock, so files cannot be fenced".to_owned());
            }
            Landlock::Missing => None,
        };
        let calls = call_filters(cage.network).map_err(|error| format!("cannot build a filter: {error}"))?;
        Ok(Self { files, calls, files_must_be_fenced: cage.files_must_be_fenced })
    }

    /// Shuts it, for this process and all it starts, for good.
    pub fn close(self) -> Result<(), String> {
        if let Some(files) = self.files {
            let status = files.restrict_self().map_err(|error| format!("cannot fence files: {error}"))?;
            if self.files_must_be_fenced && status.ruleset == RulesetStatus::NotEnforced {
                return Err("the kernel does not enforce the fence round files".to_owned());
            }
        }
        for filter in &self.calls {
            apply(filter)?;
        }
        Ok(())
    }
}

/// Asks the kernel.
#[must_use]
pub fn landlock() -> Landlock {
    let asked = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create);
    if asked.is_ok() { Landlock::Available } else { Landlock::Missing }
}

/// Refuses every system call but those of a process that only computes, for good. Opening files, memory
/// that is written and executed, signals to others are all gone.
pub(super) fn compute_only() -> Result<(), String> {
    let rules = || {
        let mut rules: BTreeMap<c_long, Vec<SeccompRule>> =
            COMPUTING_CALLS.iter().map(|&call| (call, Vec::new())).collect();
        rules.insert(libc::SYS_mmap, vec![without_flag(2, PROT_EXEC)?]);
        rules.insert(libc::SYS_tgkill, vec![equal(0, u64::from(std::process::id()))?]);
        filter(rules, SeccompAction::Errno(errno(libc::EPERM)), SeccompAction::Allow)
    };
    apply(&rules().map_err(|error| format!("cannot build a filter: {error}"))?)
}

/// Applies a filter, from now on and for all this process starts.
fn apply(filter: &BpfProgram) -> Result<(), String> {
    seccompiler::apply_filter(filter).map_err(|error| format!("cannot filter system calls: {error}"))
}

fn file_rules(cage: &Cage, program: &Path) -> Result<RulesetCreated, String> {
    let read = cage.read.iter().map(PathBuf::as_path).chain([program]);
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
            .add_rules(path_beneath_rules(read, AccessFs::from_read(NEWEST_ABI)))?
            .add_rules(path_beneath_rules(&cage.write, AccessFs::from_all(NEWEST_ABI)))
    };
    build().map_err(|error: RulesetError| format!("cannot build the fence round files: {error}"))
}

fn call_filters(network: bool) -> Result<[BpfProgram; 2], BackendError> {
    let refused = REFUSED_CALLS.iter().chain(if network { &[] } else { NETWORK_CALLS });
    let mut rules = BTreeMap::new();
    for &call in refused {
        rules.insert(call, Vec::new());
        rules.insert(call | X32_BIT, Vec::new());
    }
    rules.insert(libc::SYS_clone, new_namespaces()?);
    rules.insert(libc::SYS_prlimit64, vec![other_process()?]);
    let refusals = filter(rules, SeccompAction::Allow, SeccompAction::Errno(errno(libc::EPERM)))?;
    // The flags of `clone3` lie in memory, where a filter cannot look. Told that there is no such call,
    // the C library takes `clone`.
    let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let absences = filter(rules, SeccompAction::Allow, SeccompAction::Errno(errno(libc::ENOSYS)))?;
    Ok([refusals, absences])
}

fn filter(
    rules: BTreeMap<c_long, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(rules, otherwise, matched, std::env::consts::ARCH.try_into()?)?.try_into()
}

/// `clone` with any flag that makes a namespace, for in one of its own a child would be root.
fn new_namespaces() -> Result<Vec<SeccompRule>, BackendError> {
    NAMESPACE_FLAGS
        .iter()
        .map(|&flag| {
            let set = SeccompCmpOp::MaskedEq(flag);
            SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Qword, set, flag)?])
        })
        .collect()
}

/// Limits of any process but the caller: a neighbour of the same user could be choked.
fn other_process() -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?])
}

fn without_flag(argument: u8, flag: u64) -> Result<SeccompRule, BackendError> {
    let unset = SeccompCmpOp::MaskedEq(flag);
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Qword, unset, 0)?])
}

fn equal(argument: u8, value: u64) -> Result<SeccompRule, BackendError> {
    let equal = SeccompCmpOp::Eq;
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, equal, value)?])
}

fn errno(number: libc::c_int) -> u32 {
    number.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A filter holds for the thread that applies it, so a thread can stand for a child.
    #[test]
    fn what_only_computes_reaches_nothing() {
        let outcome = std::thread::spawn(|| {
            let before = std::fs::read("/etc/hostname").map(|text| text.len());
            compute_only().unwrap();
            let refused = [
                std::fs::read("/etc/hostname").unwrap_err(),
                std::net::TcpListener::bind("127.0.0.1:0").unwrap_err(),
                std::os::unix::net::UnixStream::pair().unwrap_err(),
                std::thread::Builder::new().spawn(|| ()).unwrap_err(),
                nix::unistd::dup(std::io::stdin()).unwrap_err().into(),
                nix::sys::signal::kill(nix::unistd::getppid(), None).unwrap_err().into(),
            ];
            (before.is_ok(), refused.map(|error| error.raw_os_error()), vec![1; 1 << 20].len())
        });
        let (readable, refused, computed) = outcome.join().unwrap();
        assert!(readable, "the file is there");
        assert_eq!(refused, [Some(libc::EPERM); 6]);
        assert_eq!(computed, 1 << 20);
    }
}
