//! What must be installed, and what of the machine pandoc may read.

use std::collections::BTreeMap;

use crate::engines::program;
use crate::engines::requirement::{Numbers, Part, Requirement, Version};
use crate::workers::Profile;

/// Where `scripts/setup --latex` puts it, and where a newer Debian or an operator has it.
const PATHS: [&str; 3] = ["/usr/local/lib/platen/pandoc", "/usr/local/bin/pandoc", "/usr/bin/pandoc"];

/// The program. Older ones number less, and say less of what they leave out.
pub(super) const PANDOC: Requirement = Requirement {
    name: "pandoc",
    part: Part::Program,
    paths: &PATHS,
    version: Some(Version { arguments: &["--version"], least: Numbers(3, 9) }),
    package: "pypandoc_binary",
    command: "scripts/setup --latex",
};

/// Data of a pandoc that is not one file, and what tells the time.
const READ: [&str; 4] = ["/usr/share/pandoc", "/usr/share/zoneinfo", "/etc/localtime", "/dev/urandom"];

/// What a run may reach: the libraries where it is not one file.
pub(super) fn profile() -> Profile {
    program::profile(&PATHS, &READ)
}

/// What a run is told; `zone` is where it is the day that `\today` prints.
pub(super) fn environment(zone: &str) -> BTreeMap<String, String> {
    program::environment([("LANG", "C.UTF-8"), ("TZ", zone)])
}
