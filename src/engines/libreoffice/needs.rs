//! What must be installed, and what of the machine LibreOffice may read.

use std::path::{Path, PathBuf};

use crate::engines::requirement::{Part, Requirement};
use crate::workers::{Profile, Signals};

/// Where a library of LibreOffice's lies: as Debian and Fedora install it, and as its makers do.
macro_rules! places {
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

const UI: &str = "libreoffice-uiconfig-writer";

/// LibreOffice itself.
const LIBRARY: Requirement = part("LibreOffice", places!("libmergedlo.so"), "libreoffice-core-nogui");

/// Everything, for documents of every kind; without Math formulas would be blank.
pub(super) const NEEDS: &[Requirement] = &[
    LIBRARY,
    part("Writer", places!("libswlo.so"), "libreoffice-writer-nogui"),
    part("Calc", places!("libsclo.so"), "libreoffice-calc-nogui"),
    part("Impress", places!("libsdlo.so"), "libreoffice-impress-nogui"),
    part("Math", places!("libsmlo.so"), "libreoffice-math-nogui"),
    // Without it no document with a comment is read.
    part("Writer's windows", places!("../share/config/soffice.cfg/modules/swriter/ui/annotation.ui"), UI),
];

/// What LibreOffice reads beside its profile: itself with its data, fonts, what the loader needs, a seed.
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

const fn part(name: &'static str, paths: &'static [&'static str], package: &'static str) -> Requirement {
    Requirement {
        name,
        part: Part::Library,
        paths,
        version: None,
        package,
        command: "scripts/setup --office",
    }
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

/// What a server may reach.
pub(super) fn profile() -> Profile {
    Profile {
        // How much memory it has mapped, and its children before each opens its document.
        read: readable().into_iter().chain([PathBuf::from("/proc")]).collect(),
        write: vec![PathBuf::from("/dev/null")],
        // The children that it ends.
        signals: Signals::Anybody,
        yields: true,
        ..Profile::default()
    }
}
