//! Commands of the operator run as the service's user, also where root gives them.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::unistd::{self, Gid, Uid};

use super::CommandError;

/// Where root runs a command on a data folder of another user, becomes that user.
///
/// Hazard: what root creates there belongs to root, and the service could not open it again. Besides, the service's control
/// socket answers its own user only.
///
/// # Errors
/// When the system refuses.
pub(super) fn become_owner(folder: &Path) -> Result<(), CommandError> {
    // A folder that is not there has no owner; the command itself says so.
    let Ok(folder) = folder.metadata() else { return Ok(()) };
    let (uid, gid) = (Uid::from_raw(folder.uid()), Gid::from_raw(folder.gid()));
    if !unistd::geteuid().is_root() || uid.is_root() {
        return Ok(());
    }
    unistd::setgroups(&[])
        .and_then(|()| unistd::setresgid(gid, gid, gid))
        .and_then(|()| unistd::setresuid(uid, uid, uid))
        .map_err(|errno| {
            format!(
                "cannot become user {uid}, who owns the data folder: {errno}; run the command as that user"
            )
            .into()
        })
}
