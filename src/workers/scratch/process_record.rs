//! The record of the process in a scratch folder: the child writes it before it becomes the program, and the next service
//! reads it to end what is left.
//!
//! Hazard: when the service is killed, the death signal ends its child, but not what that child has started. Such a process
//! would go on in a folder that is being removed, as a user that another program gets.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::procfs::{status, status_number};
use crate::workers::group::{self, ProcessStat};
use crate::workers::spec::User;

/// A child's process group, and what distinguishes it from a later one with the same number.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessRecord {
    /// The first process; also the number of its group and session.
    process: i32,
    /// Its start time, in clock ticks since boot.
    started: u64,
    /// The boot id: the number means nothing after another boot.
    boot: String,
    /// The user that it runs as.
    uid: u32,
}

/// The longest record that is read.
const RECORD_LIMIT_BYTES: u64 = 4_096;
/// How long the sweep waits for processes that it has killed.
const END_LIMIT: Duration = Duration::from_secs(5);
const END_PAUSE: Duration = Duration::from_millis(5);

impl ProcessRecord {
    /// The record of this process, which is about to become a program of `user`.
    pub fn of_this_process(user: Option<User>) -> Result<Self, String> {
        let process = i32::try_from(std::process::id()).map_err(|error| error.to_string())?;
        let stat = ProcessStat::of(process).ok_or("cannot read what it is from /proc")?;
        let uid = user.map_or_else(|| nix::unistd::geteuid().as_raw(), |user| user.uid);
        Ok(Self { process, started: stat.started, boot: boot()?, uid })
    }

    /// Writes it into a new file.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let unwritten =
            |error: std::io::Error| format!("cannot note who it is in '{}': {error}", path.display());
        let record = serde_json::to_vec(self).map_err(|error| unwritten(error.into()))?;
        File::create_new(path).and_then(|mut file| file.write_all(&record)).map_err(unwritten)
    }

    /// Reads a record; `None` where the child ended before it had written all of it.
    pub fn read(file: File) -> Option<Self> {
        let mut record = Vec::new();
        file.take(RECORD_LIMIT_BYTES).read_to_end(&mut record).ok()?;
        serde_json::from_slice(&record).ok()
    }

    /// Kills what is left of the group, and waits until it is gone; false if it does not end in time.
    pub fn end(&self) -> bool {
        let begun = Instant::now();
        while self.is_left() {
            group::kill(self.process);
            if begun.elapsed() > END_LIMIT {
                return false;
            }
            std::thread::sleep(END_PAUSE);
        }
        true
    }

    fn is_left(&self) -> bool {
        if boot().as_ref() != Ok(&self.boot) {
            return false;
        }
        if let Some(leader) = ProcessStat::of(self.process)
            && leader.started != self.started
        {
            // The number belongs to a new process: the system reuses it only when no process is left in the old group.
            return false;
        }
        let members = group::members(self.process);
        // With the leader dead, the number may by now be another group's. A member that is not ours shows that it is.
        !members.is_empty() && members.into_iter().all(|member| self.is_ours(member))
    }

    /// Whether a process is one of the recorded child's: in its session, with its user, and under seccomp, as all in our cage.
    fn is_ours(&self, process: i32) -> bool {
        let Some(stat) = ProcessStat::of(process) else { return true };
        let Some(status) = status(process) else { return true };
        let has = |name, value| status_number(&status, name) == Some(value);
        stat.session == self.process
            && has("Uid:", u64::from(self.uid))
            && (process == self.process || has("NoNewPrivs:", 1) && has("Seccomp:", 2))
    }
}

fn boot() -> Result<String, String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    Ok(id.map_err(|error| format!("cannot read the boot's id: {error}"))?.trim().to_owned())
}
