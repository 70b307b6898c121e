//! What an engine needs to be installed, and how a missing or old part is reported.

use std::fmt;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use crate::workers::{ChildSpec, Starter, Streams, end};

/// How long a program may take to print its version.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
/// How much of its output is read.
const ANSWER_LIMIT_BYTES: u64 = 4 << 10;

/// What must be installed for an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Its usual name.
    pub name: &'static str,
    /// Whether it is a program or a library.
    pub part: Part,
    /// Absolute paths; one of them is enough.
    pub paths: &'static [&'static str],
    /// The least version, where not every one will do.
    pub version: Option<Version>,
    /// What installs it.
    pub install: Install,
}

/// What installs a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Install {
    /// A package of Debian.
    Package(&'static str),
    /// Another command, as it is told to users.
    Command(&'static str),
}

/// What a requirement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A program.
    Program,
    /// A library or another file.
    Library,
}

/// The least version that will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Arguments that make the program print its version; the first two numbers with a point between them are taken for it.
    pub arguments: &'static [&'static str],
    /// Its first two numbers.
    pub least: Numbers,
}

/// The first two numbers of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Numbers(pub u32, pub u32);

/// What an engine lacks on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnmetRequirement {
    /// A program or a library is not installed.
    Missing(&'static Requirement),
    /// A program is too old; holds the version found.
    Version(&'static Requirement, Numbers),
    /// Its programs read files, and the kernel has no Landlock to confine them.
    Landlock,
}

/// Identifies a program's file: when it changes, the version may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProgramFile {
    path: &'static Path,
    file: (u64, u64),
    modified: (i64, i64),
}

impl Requirement {
    /// The first of its paths that exists and, for a program, is executable.
    pub fn installed(&self) -> Option<&'static Path> {
        let fits = |path: &&Path| {
            let may_run = |mode: u32| self.part == Part::Library || mode & 0o111 != 0;
            path.metadata().is_ok_and(|file| file.is_file() && may_run(file.permissions().mode()))
        };
        self.paths.iter().map(Path::new).find(fits)
    }

    /// The installed path; if it is not installed, the first possible one.
    pub fn path(&self) -> PathBuf {
        let usual = || Path::new(self.paths.first().copied().unwrap_or_default());
        self.installed().unwrap_or_else(usual).to_owned()
    }

    /// The command that installs it.
    pub fn command(&self) -> String {
        match self.install {
            Install::Package(package) => format!("apt-get install --no-install-recommends {package}"),
            Install::Command(command) => command.to_owned(),
        }
    }

    /// Its paths for an error; of more than two only the first, which is Debian's, and the number of the others.
    pub fn sought(&self) -> String {
        match self.paths {
            [first, others @ ..] if others.len() > 1 => {
                format!("{first}, and none in {} other places", others.len())
            }
            paths => paths.join(" or "),
        }
    }

    /// The version that its program prints, if that is less than required.
    ///
    /// # Errors
    /// When the program prints none.
    pub async fn too_old(&self, starter: &Starter) -> io::Result<Option<Numbers>> {
        let (Some(version), Some(program)) = (self.version, self.installed()) else { return Ok(None) };
        let spec = ChildSpec::new(program)
            .arguments(version.arguments.iter().copied())
            .variable("PATH", "/usr/bin:/bin")
            .variable("LANG", "C.UTF-8");
        let mut child = starter.spawn(spec, Streams { stdout: Stdio::piped(), ..Streams::null() }).await?;
        let mut printed = String::new();
        let read = async {
            match child.stdout.take() {
                Some(stdout) => stdout.take(ANSWER_LIMIT_BYTES).read_to_string(&mut printed).await,
                None => Ok(0),
            }
        };
        let read = timeout(ANSWER_LIMIT, read).await.map_err(io::Error::from).flatten();
        end(&mut child).await?;
        read?;
        let found = Numbers::in_text(&printed).ok_or_else(|| io::Error::other("it prints no version"))?;
        Ok(Some(found).filter(|found| *found < version.least))
    }

    /// Its program's file, where the version matters.
    pub(super) fn file(&self) -> Option<ProgramFile> {
        self.version?;
        let path = self.installed()?;
        let file = path.metadata().ok()?;
        Some(ProgramFile {
            path,
            file: (file.dev(), file.ino()),
            modified: (file.mtime(), file.mtime_nsec()),
        })
    }
}

impl Numbers {
    /// The first two numbers of `text` that have a point between them.
    pub(super) fn in_text(text: &str) -> Option<Self> {
        text.split(|character: char| !character.is_ascii_digit() && character != '.').find_map(|word| {
            let mut numbers = word.split('.');
            Some(Self(numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
        })
    }
}

impl UnmetRequirement {
    /// For a table: in a few words.
    pub fn brief(&self) -> String {
        match self {
            Self::Missing(requirement) => {
                format!("missing: {} ({})", requirement.name, requirement.command())
            }
            Self::Version(requirement, found) => {
                format!("too old: {} {found} ({})", requirement.name, requirement.command())
            }
            Self::Landlock => "files cannot be kept from its programs".to_owned(),
        }
    }

    /// For a sentence on what would be possible: "once … is installed".
    pub fn once(&self) -> String {
        match self {
            Self::Missing(requirement) => {
                format!("once {} is installed ({})", requirement.name, requirement.command())
            }
            Self::Version(requirement, _) => {
                format!("once a newer {} is installed ({})", requirement.name, requirement.command())
            }
            Self::Landlock => "on a kernel with Landlock".to_owned(),
        }
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.0, self.1)
    }
}

/// What is lacking, and what to do.
impl fmt::Display for UnmetRequirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(requirement) => {
                let (name, sought, command) = (requirement.name, requirement.sought(), requirement.command());
                write!(formatter, "{name} is not installed (there is no {sought}); install it by: {command}")
            }
            Self::Version(requirement, found) => {
                let Requirement { name, version, .. } = requirement;
                let command = requirement.command();
                let least = version.map(|version| format!(", and {} is needed", version.least));
                let least = least.unwrap_or_default();
                write!(
                    formatter,
                    "{name} is too old (it is {found}{least}); install a newer one by: {command}"
                )
            }
            Self::Landlock => formatter.write_str(
                "the programs for it read files, and this kernel has no Landlock to keep the others from them; it \
                 takes a kernel from 5.13 on with CONFIG_SECURITY_LANDLOCK, and 'landlock' in its lsm= parameter",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_places_the_first_is_reported() {
        let sought = |paths| {
            let (part, version) = (Part::Library, None);
            Requirement { name: "a", part, paths, version, install: Install::Package("b") }.sought()
        };
        assert_eq!(sought(&["/a"]), "/a");
        assert_eq!(sought(&["/a", "/b"]), "/a or /b");
        assert_eq!(sought(&["/a", "/b", "/c"]), "/a, and none in 2 other places");
    }

    #[test]
    fn a_version_is_the_first_that_looks_like_one() {
        for (printed, found) in [
            ("pandoc 3.9.1\nFeatures: +server 4.5", Some(Numbers(3, 9))),
            ("LibreOffice 25.2.3.2 520(Build:2)", Some(Numbers(25, 2))),
            ("pdfTeX 3.141592653-2.6-1.40.24 (TeX Live 2022/Debian)", Some(Numbers(3, 141_592_653))),
            ("version 7", None),
            ("", None),
        ] {
            assert_eq!(Numbers::in_text(printed), found, "{printed}");
        }
        assert!(Numbers(3, 10) > Numbers(3, 9) && Numbers(2, 17) < Numbers(3, 9));
    }
}
