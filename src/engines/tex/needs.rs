//! What must be installed, what of the machine TeX may read, and what it is told by its environment.

use std::collections::BTreeMap;

use crate::domain::format_opts::TexProgram;
use crate::engines::program;
use crate::engines::requirement::{Part, Requirement};
use crate::workers::Profile;

/// The folder of a job in which lualatex keeps what it has read of fonts. Relative, for it refuses to write an absolute
/// path when it may write below its own folder only.
pub(super) const CACHE: &str = "texmf-var";

const PDFLATEX: Requirement = of_tex("pdflatex", &["/usr/bin/pdflatex"], "texlive-latex-recommended");
const LUALATEX: Requirement = of_tex("lualatex", &["/usr/bin/lualatex"], "texlive-luatex");
const XELATEX: Requirement = of_tex("xelatex", &["/usr/bin/xelatex"], "texlive-xetex");
/// Makes the PDF of what xelatex writes.
pub(super) const XDVIPDFMX: Requirement = of_tex("xdvipdfmx", &["/usr/bin/xdvipdfmx"], "texlive-binaries");

/// Makes bibliographies of what an `.aux` cites.
pub(super) const BIBTEX: Requirement = of_tex("bibtex", &["/usr/bin/bibtex"], "texlive-binaries");
/// Makes those of biblatex.
pub(super) const BIBER: Requirement = of_tex("biber", &["/usr/bin/biber"], "biber");
/// Makes indexes and glossaries.
pub(super) const MAKEINDEX: Requirement = of_tex("makeindex", &["/usr/bin/makeindex"], "texlive-binaries");

/// What only some documents need, and what these are.
pub const EXTRAS: &[(Requirement, &str)] = &[
    (XELATEX, "latex by xelatex"),
    (BIBTEX, "latex with a bibliography of BibTeX"),
    (BIBER, "latex with a bibliography of biblatex"),
    (MAKEINDEX, "latex with an index or glossaries"),
];

/// What documents need that do not ask for another one. Who asks for xelatex is told where that is missing.
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

/// What changes when TeX, or something that it may load, is installed anew.
pub(super) const TREES: [&str; 3] =
    ["/usr/share/texlive/texmf-dist/ls-R", "/usr/share/texmf/ls-R", "/usr/local/share/texmf/ls-R"];

/// What biber is made of beside the libraries: it is written in Perl, whose modules lie in several places.
const PERL: [&str; 2] = ["/usr/bin/perl", "/etc/perl"];
const PERL_READ: [&str; 4] = ["/usr/share/perl", "/usr/share/perl5", "/etc/localtime", "/dev/urandom"];

/// Nothing but its folder may be read or written by name, nothing is started, no font is made of its outlines by scripts;
/// and the log has whole lines, which TeX would break. The two widths are the largest that it takes.
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
    // The longest line: a value may be a whole text.
    ("buf_size", "10000000"),
];

const fn of_tex(name: &'static str, paths: &'static [&'static str], package: &'static str) -> Requirement {
    Requirement { name, part: Part::Program, paths, version: None, package, command: "scripts/setup --latex" }
}

/// What a program needs.
pub(super) fn of(program: TexProgram) -> &'static Requirement {
    match program {
        TexProgram::Pdflatex => &PDFLATEX,
        TexProgram::Lualatex => &LUALATEX,
        TexProgram::Xelatex => &XELATEX,
    }
}

/// What a run may reach.
pub(super) fn profile() -> Profile {
    program::profile(&[], &READ)
}

/// What biber may reach. Hazard: it evaluates parts of a document as Perl (the replacements of source maps), which then does
/// what it likes within the cage. So there is nothing of TeX's in it and nothing else to start, `kpsewhich` neither.
pub(super) fn biber_profile() -> Profile {
    program::profile(&PERL, &PERL_READ)
}

/// What biber is told: texts are UTF-8, and there are no programs.
pub(super) fn biber_environment(zone: &str) -> BTreeMap<String, String> {
    program::environment([("PATH", "/nonexistent"), ("LC_ALL", "C.UTF-8"), ("TZ", zone)])
}

/// What a run is told; `zone` is where it is the day that `\today` prints.
pub(super) fn environment(zone: &str) -> BTreeMap<String, String> {
    let own = [("TZ", zone), ("TEXMFVAR", CACHE), ("TEXMFCACHE", CACHE)];
    program::environment(ENVIRONMENT.into_iter().chain(own))
}
