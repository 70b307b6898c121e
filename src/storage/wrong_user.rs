//! A data folder that is another user's: who owns it, and as whom to run platen.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::unistd::{Uid, User, geteuid};

/// Why this user may not use a data folder.
#[derive(Debug)]
pub struct WrongUser {
    /// The folder, its owner and this user.
    pub cause: String,
    /// As whom to run platen.
    pub remedy: String,
}

/// What is wrong where the folder is there and is another user's, or is where this user cannot see it.
pub fn wrong_user(path: &Path) -> Option<WrongUser> {
    let (folder, own) = (path.display(), geteuid());
    let (cause, owner) = match path.metadata() {
        Ok(metadata) if metadata.uid() == own.as_raw() => return None,
        Ok(metadata) => {
            let owner = Uid::from_raw(metadata.uid());
            (format!("belongs to user {}", name(owner)), name(owner))
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            ("is in a folder that is closed to this user".to_owned(), "OWNER".to_owned())
        }
        Err(_) => return None,
    };
    // The operator's commands become the owner where root gives them; the service does not.
    let root = if own.is_root() { "" } else { ", or any command but serve as root" };
    Some(WrongUser {
        cause: format!("{folder} {cause}, and this is user {}", name(own)),
        remedy: format!("run platen as its owner (sudo -u {owner} platen …){root}"),
    })
}

/// A user's name; the number, as sudo takes it, of one that has none.
fn name(user: Uid) -> String {
    let known = User::from_uid(user).ok().flatten();
    known.map_or_else(|| format!("'#{user}'"), |user| user.name)
}
