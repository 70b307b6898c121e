//! What must be installed, and which files of the machine LibreOffice may read.

use std::path::{Path, PathBuf};

use crate::engines::requirement::{Install, Numbers, Part, Requirement};
use crate::workers::{SandboxProfile, Signals};

/// The paths of a library of LibreOffice in the packages of Debian, Fedora and The Document Foundation.
macro_rules! paths {
    ($library:literal) => {
        &[
            concat!("/usr/lib/libreoffice/program/", $library),
            concat!("/usr/lib64/libreoffice/program/", $library),
            concat!("/opt/libreoffice26.2/program/", $library),
            concat!("/opt/libreoffice25.8/program/", $library),
            concat!("/opt/libreoffice25.2/program/", $library),
            concat!("/opt/libreoffice24.8/program/", $library),
        ]
    };
}

/// What installs all components.
pub const INSTALL: &str = "apt-get install --no-install-recommends libreoffice-writer-nogui libreoffice-calc-nogui \
                           libreoffice-impress-nogui libreoffice-math-nogui libreoffice-uiconfig-writer; on Debian 12 with \
                           -t bookworm-backports, see docs/deployment.md";

const LIBRARY: Requirement = part("LibreOffice", paths!("libmergedlo.so"));

/// All components for all kinds of documents; without Math formulas are blank.
pub(super) const NEEDS: &[Requirement] = &[
    LIBRARY,
    part("Writer", paths!("libswlo.so")),
    part("Calc", paths!("libsclo.so")),
    part("Impress", paths!("libsdlo.so")),
    part("Math", paths!("libsmlo.so")),
    // Without this file LibreOffice cannot open a document with comments. It is in libreoffice-uiconfig-writer.
    part("Writer's windows", paths!("../share/config/soffice.cfg/modules/swriter/ui/annotation.ui")),
];

/// What LibreOffice reads beside its profile: its libraries and data, fonts, the loader's cache, random bytes.
const READ: [&str; 11] = [
    "/usr/lib",
    "/usr/lib64",
    "/usr/share",
    "/usr/local/share/fonts",
    "/etc/libreoffice",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/var/spool/libreoffice",
    "/var/lib/libreoffice",
    "/var/cache/fontconfig",
    "/dev/urandom",
];

const fn part(name: &'static str, paths: &'static [&'static str]) -> Requirement {
    Requirement { name, part: Part::Library, paths, version: None, install: Install::Command(INSTALL) }
}

/// The oldest version that Platen is measured and tested with.
pub const OLDEST_TESTED: Numbers = Numbers(25, 2);

/// The version that is installed, as its own settings name it; `None` where they cannot be read.
pub fn version() -> Option<Numbers> {
    std::fs::read_to_string(programs().join("bootstraprc")).ok().and_then(|settings| version_in(&settings))
}

fn version_in(settings: &str) -> Option<Numbers> {
    settings.lines().find_map(|line| Numbers::in_text(line.strip_prefix("ProductKey=")?))
}

/// The folder of its programs.
pub(super) fn programs() -> PathBuf {
    LIBRARY.path().parent().map(Path::to_owned).unwrap_or_default()
}

/// What a document's child may read.
pub(super) fn readable() -> Vec<PathBuf> {
    let own = programs().parent().map(Path::to_owned);
    READ.iter().map(PathBuf::from).chain(own).collect()
}

/// The sandbox profile of a server.
pub(super) fn profile() -> SandboxProfile {
    SandboxProfile {
        // /proc: a server reads its own memory there, and that of each child before it opens its document.
        read: readable().into_iter().chain([PathBuf::from("/proc")]).collect(),
        write: vec![PathBuf::from("/dev/null")],
        // It ends its children at their deadline.
        signals: Signals::Anybody,
        yields: true,
        ..SandboxProfile::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_product() {
        let settings = "[Bootstrap]\nUserInstallation=$SYSUSERCONFIG/x/4.1\nProductKey=LibreOffice 7.4\n";
        assert_eq!(version_in(settings), Some(Numbers(7, 4)));
        assert_eq!(version_in("[Bootstrap]\n"), None);
    }
}
