//! Foreign programs and servers that work on documents: their folders, users and limits.

use serde::Deserialize;

use super::SettingErrors;

/// How many users follow those of the slots; servers run as these. Services on one machine may share the range.
pub const SERVER_USERS: u64 = 256;

/// Section `[workers]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkersConfig {
    /// Foreign programs that run at once, each in a folder of its own; further ones wait; servers such as LibreOffice
    /// do not count.
    pub slots: u64,
    /// Where these folders are; empty: the system's folder for temporary files.
    pub scratch_dir: String,
    /// As root, each program runs as a user of its own: this one or one of the next, as many as slots, then 256 for
    /// servers; they must belong to nobody else.
    pub first_uid: u64,
    /// Run programs even where the kernel has no Landlock, though they can then read whatever their user can; logged
    /// at every start.
    pub allow_unfenced_files: bool,
    /// Longest time for a program to end; beyond this or any of the following limits it is killed with all that it
    /// started.
    pub timeout_ms: u64,
    /// A program that sleeps for so long with all that it started is killed, a stopped one within two seconds, and its job
    /// runs again once.
    pub hung_ms: u64,
    /// Processor time after which a program, or LibreOffice with a document, has the lowest priority while another program works.
    /// It has low priority from its start.
    pub yield_after_ms: u64,
    /// Memory of a program and all that it started.
    pub memory_limit_mb: u64,
    /// Processes and threads of a program.
    pub process_limit: u64,
    /// Processor time of each process.
    pub processor_limit_s: u64,
    /// Disk space of a program, its inputs included.
    pub scratch_limit_mb: u64,
    /// Files and folders of a program.
    pub scratch_files_limit: u64,
    /// Output of a program (1 MiB each for standard output and standard error).
    pub printed_limit_bytes: u64,
    /// How often the memory and files of a running program are measured.
    pub watch_ms: u64,
}

impl WorkersConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        errors.within("workers.slots", self.slots, 1, 512);
        // Below 1000 are root and the users of packages; `nobody` runs template code.
        errors.within("workers.first_uid", self.first_uid, 1_000, u64::from(u32::MAX) - 1_024);
        let users = self.first_uid..self.first_uid.saturating_add(self.slots).saturating_add(SERVER_USERS);
        if users.contains(&65_534) || users.contains(&65_535) {
            let detail = format!(
                "the users from it on, one for each of workers.slots and {SERVER_USERS} for servers, must not reach 65534, which \
                 is nobody"
            );
            errors.add("workers.first_uid", detail);
        }
        errors.within("workers.timeout_ms", self.timeout_ms, 100, 3_600_000);
        errors.within("workers.hung_ms", self.hung_ms, 1_000, 3_600_000);
        errors.within("workers.yield_after_ms", self.yield_after_ms, 1, 86_400_000);
        errors.within("workers.memory_limit_mb", self.memory_limit_mb, 16, 1 << 20);
        errors.within("workers.process_limit", self.process_limit, 1, 10_000);
        errors.within("workers.processor_limit_s", self.processor_limit_s, 1, 86_400);
        errors.within("workers.scratch_limit_mb", self.scratch_limit_mb, 1, 1 << 20);
        errors.within("workers.scratch_files_limit", self.scratch_files_limit, 16, 1_000_000);
        errors.within("workers.printed_limit_bytes", self.printed_limit_bytes, 1_024, 1 << 30);
        errors.within("workers.watch_ms", self.watch_ms, 10, 10_000);
    }
}
