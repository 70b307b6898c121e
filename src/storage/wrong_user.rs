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

/// Why this user may not use the folder: another user owns it, or it lies in a folder that is closed to this user.
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
    let root = if own.is_root() { "" } else { "; root may run every command but serve" };
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

#[cfg(test)]
mod tests {
    use std::fs::{DirBuilder, Permissions, set_permissions};
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};

    use nix::unistd::setfsuid;

    use super::*;

    #[test]
    fn a_folder_behind_a_closed_one_has_an_owner_without_a_name() {
        let root = tempfile::tempdir().unwrap();
        let closed = root.path().join("closed");
        DirBuilder::new().mode(0o000).create(&closed).unwrap();
        // Root sees into every folder, except in a thread that reads files as another user. Other users may not change this,
        // and need not.
        setfsuid(Uid::from_raw(12_345));
        let found = wrong_user(&closed.join("data"));
        setfsuid(geteuid());
        set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
        let WrongUser { cause, remedy } = found.unwrap();
        assert!(cause.contains("is in a folder that is closed to this user"), "{cause}");
        assert!(remedy.contains("sudo -u OWNER platen"), "{remedy}");
    }
}
