//! The seccomp filters: which system calls a caged child may make.

use std::collections::BTreeMap;

use nix::libc::{self, c_long};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

use super::super::spec::{Cage, Signals, Starts};

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// The x32 ABI of x86-64: every call has a second number with this bit. Hazard: a filter by single numbers would not match those,
/// so all numbers with the bit are refused.
const X32_BIT: u32 = 0x4000_0000;

/// `BPF_LD|BPF_W|BPF_ABS`: load a word of the call's description.
const LOAD: u16 = 0x20;
/// `BPF_JMP|BPF_JSET|BPF_K`: jump where a bit is set.
const JUMP_IF_SET: u16 = 0x45;
/// `BPF_RET|BPF_K`: answer.
const ANSWER: u16 = 0x06;

/// `CLONE_NEWTIME`, `NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`.
const NAMESPACE_FLAGS: &[u64] =
    &[0x80, 0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];

const PROT_EXEC: u64 = 4;

/// `CLONE_PARENT`: the new process would become a child of the service, which neither waits for it nor watches it.
const CLONE_PARENT: u64 = 0x8000;

/// `CLONE_THREAD` and `CLONE_FILES`: a thread with open files of its own could hide them from the watch.
const CLONE_THREAD: u64 = 0x0001_0000;
const CLONE_FILES: u64 = 0x0400;

/// `CLOSE_RANGE_UNSHARE`: would give a thread open files of its own, too.
const CLOSE_RANGE_UNSHARE: u64 = 2;

/// Opening and using sockets, refused to a child without network.
const NETWORK_CALLS: &[c_long] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_socketpair,
];

/// Signals to a process; `tgkill` is a case of its own.
const SIGNAL_CALLS: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_pidfd_send_signal,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_tkill,
];

/// Leaving the session or process group: a kill of the group would not reach such a process.
const GROUP_CALLS: &[c_long] = &[libc::SYS_setpgid, libc::SYS_setsid];

/// Becoming another program.
const PROGRAM_CALLS: &[c_long] = &[libc::SYS_execve, libc::SYS_execveat];

/// Older calls that make a process, which only x86-64 has.
#[cfg(target_arch = "x86_64")]
const OLD_PROCESS_CALLS: &[c_long] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const OLD_PROCESS_CALLS: &[c_long] = &[];

/// The older call to wait for descriptors, which only x86-64 has. `GLib` before 2.82 waits by it.
#[cfg(target_arch = "x86_64")]
const OLD_WAITING_CALLS: &[c_long] = &[libc::SYS_poll];
#[cfg(not(target_arch = "x86_64"))]
const OLD_WAITING_CALLS: &[c_long] = &[];

/// Calls on the process that the first argument names, 0 for the caller; only that is allowed.
const CALLS_ON_A_PROCESS: &[c_long] = &[
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// `F_SETOWN`, `F_SETSIG`, `F_SETOWN_EX`: make the kernel send a signal of the child's choice to another process.
const SIGNALLING_COMMANDS: &[u64] = &[8, 10, 15];

/// `FIOSETOWN`, `SIOCSPGRP`, the same as `F_SETOWN`; and `TIOCSTI`, which injects input into a terminal.
const SIGNALLING_CONTROLS: &[u64] = &[0x8901, 0x8902, 0x5412];

/// `PR_SET_DUMPABLE`, which would hide a process from the watch, and `PR_SET_CHILD_SUBREAPER`, by which it would adopt the
/// orphans of its group.
const HIDING_OPTIONS: &[u64] = &[4, 36];

/// `PR_SET_PDEATHSIG`: with anything but `SIGKILL` a process could outlive the service.
const PARENT_DEATH_OPTION: u64 = 1;
const SIGKILL: u64 = 9;

/// Watching files and setting their attributes: Landlock does not restrict these for files that the child's user may access.
const MARKING_CALLS: &[c_long] = &[
    libc::SYS_inotify_add_watch,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
];

/// Changing owner and mode by path: Landlock does not restrict these for files of the child's user. Where that is the service's
/// user, these are the service's locks, records and programs. By descriptor they stay allowed: the child could open that file.
const OWNER_CALLS: &[c_long] = &[libc::SYS_fchmodat, SYS_FCHMODAT2, libc::SYS_fchownat];

/// Older calls for the same, which only x86-64 has.
#[cfg(target_arch = "x86_64")]
const OLD_OWNER_CALLS: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_futimesat,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_OWNER_CALLS: &[c_long] = &[];

// Missing in the `libc` crate; the same number on every architecture.
const SYS_FCHMODAT2: c_long = 452;
const SYS_SETXATTRAT: c_long = 463;
const SYS_REMOVEXATTRAT: c_long = 466;
const SYS_FILE_SETATTR: c_long = 469;

/// `PRIO_PROCESS` of `setpriority`.
const PRIO_PROCESS: u64 = 0;

/// `IOPRIO_WHO_PROCESS` of `ioprio_set`.
const IOPRIO_WHO_PROCESS: u64 = 1;

/// Calls that no child of ours needs, and by which the kernel or other processes are attacked.
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
    libc::SYS_io_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
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
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    // Landlock knows it only from Linux 6.2 on.
    libc::SYS_truncate,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// All calls of a child that only computes: on open descriptors, for memory, to end.
///
/// Hazard: `GLib` ends the process if it cannot wait or start a thread. So a thread that a library starts must be there before the
/// filter is, and what it waits with is allowed.
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
    // Threads of the engine's library wait for the descriptors that they opened during the warm-up.
    libc::SYS_ppoll,
    // Reads `/proc/self/statm`, which was opened before.
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    // The script engine's spin locks yield.
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    libc::SYS_tgkill,
    libc::SYS_write,
    libc::SYS_writev,
];

/// The filters of a cage, for the process `leader` and all that it starts; `has_own_user`: its user owns no file outside of its
/// folder.
pub(super) fn of_cage(cage: &Cage, leader: u32, has_own_user: bool) -> Result<[BpfProgram; 2], BackendError> {
    let mut rules = Rules::new();
    refuse(&mut rules, REFUSED_CALLS);
    refuse(&mut rules, MARKING_CALLS);
    if !cage.network {
        refuse(&mut rules, NETWORK_CALLS);
    }
    if !has_own_user {
        refuse(&mut rules, OWNER_CALLS);
        refuse(&mut rules, OLD_OWNER_CALLS);
        // Without a path it changes an open file, which is allowed.
        let has_path = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
        rules.insert(libc::SYS_utimensat, vec![SeccompRule::new(vec![has_path])?]);
    }
    rules.insert(libc::SYS_clone, refused_clones()?);
    if cage.starts == Starts::Threads {
        refuse_processes(&mut rules)?;
    }
    let unshared = rule(2, SeccompCmpOp::MaskedEq(CLOSE_RANGE_UNSHARE), CLOSE_RANGE_UNSHARE)?;
    rules.insert(libc::SYS_close_range, vec![unshared]);
    for &call in CALLS_ON_A_PROCESS {
        rules.insert(call, vec![rule(0, SeccompCmpOp::Ne, 0)?]);
    }
    let theirs = |own| Ok(vec![rule(0, SeccompCmpOp::Ne, own)?, rule(1, SeccompCmpOp::Ne, 0)?]);
    rules.insert(libc::SYS_setpriority, theirs(PRIO_PROCESS)?);
    rules.insert(libc::SYS_ioprio_set, theirs(IOPRIO_WHO_PROCESS)?);
    if cage.together {
        refuse(&mut rules, GROUP_CALLS);
        rules.insert(libc::SYS_prctl, hiding()?);
    }
    if cage.signals == Signals::Itself {
        refuse_signals(&mut rules, leader)?;
    }
    let refusals = refusals(rules)?;
    // The flags of `clone3` are in memory, which a filter cannot read. When it fails with ENOSYS, the C library falls back to
    // `clone`, whose flags are an argument.
    let rules = Rules::from([(libc::SYS_clone3, Vec::new())]);
    let absences = filter(rules, SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()))?;
    Ok([refusals, absences])
}

/// The filter by which the process `itself` signals no other process, and starts none.
pub(super) fn by_itself(itself: u32) -> Result<BpfProgram, BackendError> {
    let mut rules = Rules::new();
    refuse_signals(&mut rules, itself)?;
    refuse_processes(&mut rules)?;
    refusals(rules)
}

/// The filter that leaves the process `itself` only what it needs to compute.
pub(super) fn computing(itself: u32) -> Result<BpfProgram, BackendError> {
    let mut rules = Rules::new();
    let allowed = COMPUTING_CALLS.iter().chain(OLD_WAITING_CALLS);
    rules.extend(allowed.map(|&call| (call, Vec::new())));
    rules.insert(libc::SYS_mmap, vec![rule(2, SeccompCmpOp::MaskedEq(PROT_EXEC), 0)?]);
    rules.insert(libc::SYS_tgkill, vec![rule(0, SeccompCmpOp::Eq, u64::from(itself))?]);
    filter(rules, SeccompAction::Errno(libc::EPERM.unsigned_abs()), SeccompAction::Allow)
}

fn refuse_signals(rules: &mut Rules, itself: u32) -> Result<(), BackendError> {
    refuse(rules, SIGNAL_CALLS);
    rules.insert(libc::SYS_tgkill, vec![rule(0, SeccompCmpOp::Ne, u64::from(itself))?]);
    rules.insert(libc::SYS_fcntl, any_of(1, SIGNALLING_COMMANDS)?);
    rules.insert(libc::SYS_ioctl, any_of(1, SIGNALLING_CONTROLS)?);
    Ok(())
}

/// Refuses new processes and other programs; threads may start.
fn refuse_processes(rules: &mut Rules) -> Result<(), BackendError> {
    refuse(rules, PROGRAM_CALLS);
    refuse(rules, OLD_PROCESS_CALLS);
    let no_thread = rule(0, SeccompCmpOp::MaskedEq(CLONE_THREAD), 0)?;
    rules.entry(libc::SYS_clone).or_default().push(no_thread);
    Ok(())
}

fn refuse(rules: &mut Rules, calls: &[c_long]) {
    // A call without conditions matches always.
    rules.extend(calls.iter().map(|&call| (call, Vec::new())));
}

/// A filter that refuses these calls, and every number with [`X32_BIT`]. The library's filters match single numbers only, so the
/// test of the bit is written out before them.
fn refusals(rules: Rules) -> Result<BpfProgram, BackendError> {
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let instruction = |code, jf, k| sock_filter { code, jt: 0, jf, k };
    let mut program = vec![
        // The number of a call is the first word of its description.
        instruction(LOAD, 0, 0),
        instruction(JUMP_IF_SET, 1, X32_BIT),
        instruction(ANSWER, 0, refused.clone().into()),
    ];
    // Jumps are relative, so one program can be appended to another.
    program.extend(filter(rules, SeccompAction::Allow, refused)?);
    Ok(program)
}

fn filter(
    rules: Rules,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(rules, otherwise, matched, std::env::consts::ARCH.try_into()?)?.try_into()
}

/// `clone` with a flag that makes a namespace, in which a child could be root, or that hides the new process from the watch.
fn refused_clones() -> Result<Vec<SeccompRule>, BackendError> {
    let alone = NAMESPACE_FLAGS.iter().chain([&CLONE_PARENT]).map(|&flag| (flag, flag));
    alone
        .chain([(CLONE_THREAD | CLONE_FILES, CLONE_THREAD)])
        .map(|(mask, value)| {
            let set = SeccompCmpOp::MaskedEq(mask);
            SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Qword, set, value)?])
        })
        .collect()
}

/// The options of `prctl` by which a process would hide from the watch or outlive the service.
fn hiding() -> Result<Vec<SeccompRule>, BackendError> {
    let mut rules = any_of(0, HIDING_OPTIONS)?;
    let condition =
        |argument, compared, value| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compared, value);
    let outliving =
        vec![condition(0, SeccompCmpOp::Eq, PARENT_DEATH_OPTION)?, condition(1, SeccompCmpOp::Ne, SIGKILL)?];
    rules.push(SeccompRule::new(outliving)?);
    Ok(rules)
}

fn any_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    values.iter().map(|&value| rule(argument, SeccompCmpOp::Eq, value)).collect()
}

/// A condition on one argument; 32 bits, as the kernel reads it.
fn rule(argument: u8, compared: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compared, value)?])
}
