//! What an engine needs of the machine.

use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A program that must be installed for an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// How people call it.
    pub name: &'static str,
    /// Where it lies, from the root; one of them is enough.
    pub programs: &'static [&'static str],
    /// The package of Debian that brings it.
    pub package: &'static str,
    /// The command that installs it.
    pub command: &'static str,
}

impl Requirement {
    /// The first of its programs that is there and may be run.
    #[must_use]
    pub fn program(&self) -> Option<&'static Path> {
        let runs = |path: &&Path| {
            path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
        };
        self.programs.iter().map(Path::new).find(runs)
    }
}

/// That it is missing, and what to do.
impl fmt::Display for Requirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, programs, package, command } = self;
        let programs = programs.join(" or ");
        write!(
            formatter,
            "{name} is not installed (there is no {programs}); install the package {package}: {command}"
        )
    }
}
