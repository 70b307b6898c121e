//! Commands of the operator run as the service's user, also where root gives them.

use std::ffi::CString;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::errno::Errno;
use nix::unistd::{self, Gid, Uid, User};

use super::CommandError;

/// Where root runs a command on a data folder of another user, becomes that user, with its groups.
///
/// Hazard: what root creates there belongs to root, and the service could not open it again. Besides, the service's control
/// socket answers its own user only. A folder that is not there has no owner: what makes it makes it for root.
///
/// # Errors
/// When the system refuses.
pub(super) fn become_owner(folder: &Path) -> Result<(), CommandError> {
    let Ok(folder) = folder.metadata() else { return Ok(()) };
    let uid = Uid::from_raw(folder.uid());
    if !unistd::geteuid().is_root() || uid.is_root() {
        return Ok(());
    }
    become_user(uid, Gid::from_raw(folder.gid())).map_err(|errno| {
        format!("cannot become user {uid}, who owns the data folder: {errno}; run the command as that user")
            .into()
    })
}

/// Becomes the user. One that has no name has no groups but that of the folder.
fn become_user(uid: Uid, folders_gid: Gid) -> nix::Result<()> {
    let gid = if let Some(user) = User::from_uid(uid)? {
        let name = CString::new(user.name).map_err(|_| Errno::EINVAL)?;
        unistd::initgroups(&name, user.gid)?;
        user.gid
    } else {
        unistd::setgroups(&[])?;
        folders_gid
    };
    unistd::setresgid(gid, gid, gid)?;
    unistd::setresuid(uid, uid, uid)
}
