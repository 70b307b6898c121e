//! A small disk of a test's own: a tmpfs in a mount namespace, in which the test starts itself again.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::statvfs::statvfs;

/// Set in the environment of a test that runs inside the namespace.
const INSIDE: &str = "PLATEN_TEST_SMALL_DISK";
const CHUNK_BYTES: u64 = 64 << 10;

/// Outside the namespace, runs the test `name` in a mount namespace of its own, asserts that it passes, and returns its stderr
/// with that of the services it started. Inside, returns `None`: the test goes on.
pub fn rerun_in_mount_namespace(name: &str) -> Option<String> {
    if std::env::var_os(INSIDE).is_some() {
        return None;
    }
    let own_namespace = || {
        let mut command = Command::new("unshare");
        if !nix::unistd::geteuid().is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--mount", "--"]);
        command
    };
    let tried = own_namespace().arg("true").output().expect("unshare is a part of every Debian");
    assert!(
        tried.status.success(),
        "this test fills a disk of its own, which it may not mount here ({}): run it as root, or where users may make \
         namespaces (sysctl kernel.unprivileged_userns_clone=1)",
        String::from_utf8_lossy(&tried.stderr).trim()
    );
    let program = std::env::current_exe().expect("this program has a path");
    let mut again = own_namespace();
    again.arg(program).args(["--exact", name, "--nocapture"]).env(INSIDE, "1");
    let output = again.output().expect("the program runs");
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "on its small disk: {}\n{out}\n{errors}", output.status);
    assert!(out.contains("1 passed"), "no test of the name {name}: {out}");
    Some(errors.into_owned())
}

/// A mounted disk; dropped, it is gone.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a disk of so many MiB over the folder `path`.
    pub fn over(path: &Path, mib: u64) -> Self {
        let size = format!("size={mib}m,mode=0755");
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(path).status();
        assert!(status.expect("mount is a part of every Debian").success());
        Self(path.to_owned())
    }

    /// Bytes that are free.
    pub fn free_bytes(&self) -> u64 {
        let disk = statvfs(&self.0).expect("the disk is mounted");
        disk.blocks_available() * disk.fragment_size()
    }

    /// Fills it until only so many bytes are free.
    pub fn fill(&self, left_bytes: u64) {
        let mut filler = File::options().create(true).append(true).open(self.filler()).expect("a file");
        let chunk = vec![7; usize::try_from(CHUNK_BYTES).expect("it is small")];
        while self.free_bytes() > left_bytes {
            let wanted = CHUNK_BYTES.min(self.free_bytes() - left_bytes);
            match filler.write(&chunk[..usize::try_from(wanted).expect("it is small")]) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => return,
                Err(error) => panic!("the disk cannot be filled: {error}"),
            }
        }
    }

    /// Frees what was filled.
    pub fn clear(&self) {
        std::fs::remove_file(self.filler()).expect("it was filled");
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a test that fails may have files open there.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}
