//! What must be installed, and which files of the machine pandoc may read.

use std::collections::BTreeMap;

use crate::engines::program;
use crate::engines::requirement::{Install, Numbers, Part, Requirement, Version};
use crate::workers::SandboxProfile;

/// Where `scripts/setup --latex`, our package, an operator and a newer Debian install it.
const PATHS: [&str; 4] =
    ["/usr/local/lib/platen/pandoc", "/usr/lib/platen/pandoc", "/usr/local/bin/pandoc", "/usr/bin/pandoc"];

/// The program. Older versions number fewer things and report less of what they leave out.
pub(super) const PANDOC: Requirement = Requirement {
    name: "pandoc",
    part: Part::Program,
    paths: &PATHS,
    version: Some(Version { arguments: &["--version"], least: Numbers(3, 9) }),
    install: Install::Command("apt-get install ./platen-pandoc_*.deb, or scripts/setup --latex"),
};

/// Data of a pandoc that is not a single file, the time zone, and random bytes.
const READ: [&str; 4] = ["/usr/share/pandoc", "/usr/share/zoneinfo", "/etc/localtime", "/dev/urandom"];

/// The sandbox profile of a run.
pub(super) fn profile() -> SandboxProfile {
    program::profile(&PATHS, &READ)
}

/// The environment of a run; `zone` is the time zone of `\today`.
pub(super) fn environment(zone: &str) -> BTreeMap<String, String> {
    program::environment([("LANG", "C.UTF-8"), ("TZ", zone)])
}
