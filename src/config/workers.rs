//! Foreign programs and servers of documents: where they work, whom they run as, what each may take.

use serde::Deserialize;

use super::Faults;

/// So many users behind those of the slots are for servers of documents, of all Platens that share the range.
pub const SERVER_USERS: u64 = 256;

/// Section `[workers]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkersConfig {
    /// Programs that run at once, each in a folder and, as root, as a user of its own.
    pub slots: u64,
    /// Where their folders are while they run; empty: the system's folder for temporary files.
    pub scratch_dir: String,
    /// The first of the users that they run as when the service runs as root, one for each slot; those of servers follow.
    pub first_uid: u64,
    /// Where the kernel has no Landlock: run them all the same.
    pub allow_unfenced_files: bool,
    /// Until a program has ended; then it is killed with all that it started.
    pub timeout_ms: u64,
    /// Memory of a program with all that it started.
    pub memory_limit_mb: u64,
    /// Processes and threads of a program.
    pub process_limit: u64,
    /// Processor time of each process.
    pub processor_limit_s: u64,
    /// What a program may have on the disk, its inputs included.
    pub scratch_limit_mb: u64,
    /// Files and folders that a program may have.
    pub scratch_files_limit: u64,
    /// What a program may print, to standard output and to standard error.
    pub printed_limit_bytes: u64,
    /// How often a running program is looked at.
    pub watch_ms: u64,
}

impl WorkersConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        faults.within("workers.slots", self.slots, 1, 512);
        // Not root and no user that a package made; `nobody` is template code's.
        faults.within("workers.first_uid", self.first_uid, 1_000, u64::from(u32::MAX) - 1_024);
        let users = self.first_uid..self.first_uid.saturating_add(self.slots).saturating_add(SERVER_USERS);
        if users.contains(&65_534) || users.contains(&65_535) {
            let detail = format!(
                "the users from it on, one for each of workers.slots and {SERVER_USERS} for servers, must not reach 65534, which \
                 is nobody"
            );
            faults.add("workers.first_uid", detail);
        }
        faults.within("workers.timeout_ms", self.timeout_ms, 100, 3_600_000);
        faults.within("workers.memory_limit_mb", self.memory_limit_mb, 16, 1 << 20);
        faults.within("workers.process_limit", self.process_limit, 1, 10_000);
        faults.within("workers.processor_limit_s", self.processor_limit_s, 1, 86_400);
        faults.within("workers.scratch_limit_mb", self.scratch_limit_mb, 1, 1 << 20);
        faults.within("workers.scratch_files_limit", self.scratch_files_limit, 16, 1_000_000);
        faults.within("workers.printed_limit_bytes", self.printed_limit_bytes, 1_024, 1 << 30);
        faults.within("workers.watch_ms", self.watch_ms, 10, 10_000);
    }
}
