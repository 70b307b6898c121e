//! What must be installed, which files of the machine TeX may read, and its environment variables.

use std::collections::BTreeMap;

use crate::domain::format_opts::TexProgram;
use crate::engines::program;
use crate::engines::requirement::{Install, Part, Requirement};
use crate::workers::SandboxProfile;

/// lualatex's font cache in the folder of a job. Relative: with `openout_any=p` it refuses to write absolute paths.
pub(super) const CACHE: &str = "texmf-var";

const PDFLATEX: Requirement = of_tex("pdflatex", &["/usr/bin/pdflatex"], "texlive-latex-recommended");
const LUALATEX: Requirement = of_tex("lualatex", &["/usr/bin/lualatex"], "texlive-luatex");
const XELATEX: Requirement = of_tex("xelatex", &["/usr/bin/xelatex"], "texlive-xetex");
/// Makes the PDF from xelatex's output.
pub(super) const XDVIPDFMX: Requirement = of_tex("xdvipdfmx", &["/usr/bin/xdvipdfmx"], "texlive-binaries");

/// Makes bibliographies from an `.aux`.
pub(super) const BIBTEX: Requirement = of_tex("bibtex", &["/usr/bin/bibtex"], "texlive-binaries");
/// Makes the bibliographies of biblatex.
pub(super) const BIBER: Requirement = of_tex("biber", &["/usr/bin/biber"], "biber");
/// Makes indexes and glossaries.
pub(super) const MAKEINDEX: Requirement = of_tex("makeindex", &["/usr/bin/makeindex"], "texlive-binaries");

/// Programs that only some documents need, and which documents those are. The engine is available without them.
pub const EXTRAS: &[(Requirement, &str)] = &[
    (XELATEX, "latex by xelatex"),
    (BIBTEX, "latex with a bibliography of BibTeX"),
    (BIBER, "latex with a bibliography of biblatex"),
    (MAKEINDEX, "latex with an index or glossaries"),
];

/// The engine is available with these: the programs that are chosen for a document that names none. One that names xelatex,
/// where that is missing, fails by itself.
pub(super) const NEEDS: &[Requirement] = &[PDFLATEX, LUALATEX];

/// TeX's tree with its settings and formats, fonts of the machine, and what tells the paper and the time.
const READ: [&str; 13] = [
    "/usr/bin",
    "/usr/share",
    "/usr/local/share/texmf",
    "/usr/local/share/fonts",
    "/var/lib/texmf",
    "/var/cache/fontconfig",
    "/etc/texmf",
    "/etc/fonts",
    "/etc/papersize",
    "/etc/paperspecs",
    "/etc/libpaper.d",
    "/etc/localtime",
    "/dev/urandom",
];

/// Files that change whenever a package of TeX is installed or removed.
pub(super) const TREES: [&str; 3] =
    ["/usr/share/texlive/texmf-dist/ls-R", "/usr/share/texmf/ls-R", "/usr/local/share/texmf/ls-R"];

/// What biber reads beside the libraries: Perl and its modules.
const PERL: [&str; 2] = ["/usr/bin/perl", "/etc/perl"];
const PERL_READ: [&str; 4] = ["/usr/share/perl", "/usr/share/perl5", "/etc/localtime", "/dev/urandom"];

/// TeX's own restrictions, inside of the sandbox: files by relative paths only, no programs, no fonts made by scripts. The
/// widths keep TeX from breaking lines of the log, which is parsed; 254 and 238 are the largest that it accepts.
const ENVIRONMENT: [(&str, &str); 12] = [
    ("PATH", "/usr/bin"),
    ("openin_any", "p"),
    ("openout_any", "p"),
    ("shell_escape", "f"),
    ("MKTEXTFM", "0"),
    ("MKTEXPK", "0"),
    ("MKTEXMF", "0"),
    ("MKTEXFMT", "0"),
    ("max_print_line", "1000000"),
    ("error_line", "254"),
    ("half_error_line", "238"),
    // The longest line of input in bytes: a value may be a whole text.
    ("buf_size", "10000000"),
];

const fn of_tex(name: &'static str, paths: &'static [&'static str], package: &'static str) -> Requirement {
    Requirement { name, part: Part::Program, paths, version: None, install: Install::Package(package) }
}

/// The requirement of a program.
pub(super) fn of(program: TexProgram) -> &'static Requirement {
    match program {
        TexProgram::Pdflatex => &PDFLATEX,
        TexProgram::Lualatex => &LUALATEX,
        TexProgram::Xelatex => &XELATEX,
    }
}

/// The sandbox profile of a run.
pub(super) fn profile() -> SandboxProfile {
    program::profile(&[], &READ)
}

/// The sandbox profile of biber. Hazard: it evaluates parts of a document as Perl (the replacements of source maps), so a
/// document runs any code in there. So nothing of TeX can be read and no other program started, not even `kpsewhich`.
pub(super) fn biber_profile() -> SandboxProfile {
    program::profile(&PERL, &PERL_READ)
}

/// biber's environment: texts are UTF-8, and no program is found.
pub(super) fn biber_environment(zone: &str) -> BTreeMap<String, String> {
    program::environment([("PATH", "/nonexistent"), ("LC_ALL", "C.UTF-8"), ("TZ", zone)])
}

/// The environment of a run; `zone` is the time zone of `\today`.
pub(super) fn environment(zone: &str) -> BTreeMap<String, String> {
    let own = [("TZ", zone), ("TEXMFVAR", CACHE), ("TEXMFCACHE", CACHE)];
    program::environment(ENVIRONMENT.into_iter().chain(own))
}
