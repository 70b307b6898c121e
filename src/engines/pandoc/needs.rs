//! What must be installed, and what of the machine pandoc may read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// What it is made of, where it is not one file.
const EXECUTE: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];
/// Data of a pandoc that is not one file, and what tells the time.
const READ: [&str; 4] = ["/usr/share/pandoc", "/usr/share/zoneinfo", "/etc/localtime", "/dev/urandom"];

/// Where it lies; where it is not installed, where it would be.
pub(super) fn path() -> PathBuf {
    PANDOC.installed().unwrap_or(Path::new(PATHS[0])).to_owned()
}

/// What a run may reach.
pub(super) fn profile() -> Profile {
    let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
    Profile {
        execute: [paths(&PATHS), paths(&EXECUTE)].concat(),
        read: paths(&READ),
        yields: true,
        ..Profile::default()
    }
}

/// What a run is told; `zone` is where it is the day that `\today` prints.
pub(super) fn environment(zone: &str) -> BTreeMap<String, String> {
    let told = [("LANG", "C.UTF-8"), ("TZ", zone)];
    told.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}
