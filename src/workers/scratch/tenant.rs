//! Who runs in a scratch folder: noted there by the child itself before it becomes the program, read by the
//! sweep of the next service.
//!
//! Hazard: a service that is killed takes its child along by the death signal, but not what that child had
//! started. It would go on, in a folder that is being removed, as a user that is given to somebody else.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::workers::group::{self, Standing};
use crate::workers::spec::User;

/// A child's process group, so that no other is ever taken for it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tenant {
    /// The first process, and so its group and session.
    process: i32,
    /// When that started.
    started: u64,
    /// Since which start of the system its number means something.
    boot: String,
    /// Whom it runs as.
    uid: u32,
}

/// The note is no longer than this.
const NOTE_LIMIT_BYTES: u64 = 4_096;
/// How long the sweep waits for those it has killed.
const END_LIMIT: Duration = Duration::from_secs(5);
const END_PAUSE: Duration = Duration::from_millis(5);

impl Tenant {
    /// This process, which is about to be a program of `user`.
    pub fn of_this_process(user: Option<User>) -> Result<Self, String> {
        let process = i32::try_from(std::process::id()).map_err(|error| error.to_string())?;
        let standing = Standing::of(process).ok_or("cannot read what it is from /proc")?;
        let uid = user.map_or_else(|| nix::unistd::geteuid().as_raw(), |user| user.uid);
        Ok(Self { process, started: standing.started, boot: boot()?, uid })
    }

    /// Notes it in a file that is not there yet.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let told = |error: std::io::Error| format!("cannot note who it is in '{}': {error}", path.display());
        let note = serde_json::to_vec(self).map_err(|error| told(error.into()))?;
        File::create_new(path).and_then(|mut file| file.write_all(&note)).map_err(told)
    }

    /// What is noted in a file; nothing where the child never came so far.
    pub fn read(file: File) -> Option<Self> {
        let mut note = Vec::new();
        file.take(NOTE_LIMIT_BYTES).read_to_end(&mut note).ok()?;
        serde_json::from_slice(&note).ok()
    }

    /// Ends what is left of it, and returns when that is gone; false when it is not.
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
        if let Some(leader) = Standing::of(self.process)
            && leader.started != self.started
        {
            // The number is another's, which the system gives only when nobody is left in the group.
            return false;
        }
        let members = group::members(self.process);
        // The leader dead, the number alone could be that of another group; a stranger in it ends the doubt.
        !members.is_empty() && members.into_iter().all(|member| self.is_ours(member))
    }

    /// In our session, of its user and behind filters: what our cage makes of all its inmates.
    fn is_ours(&self, process: i32) -> bool {
        let Some(standing) = Standing::of(process) else { return true };
        let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else { return true };
        let has = |name, value| group::field(&status, name) == Some(value);
        standing.session == self.process
            && has("Uid:", u64::from(self.uid))
            && (process == self.process || has("NoNewPrivs:", 1) && has("Seccomp:", 2))
    }
}

fn boot() -> Result<String, String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    Ok(id.map_err(|error| format!("cannot read the boot's id: {error}"))?.trim().to_owned())
}
