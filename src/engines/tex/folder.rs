//! The files in a job's folder: the template's under their own names, and the source with the data in the entry's place.

use std::borrow::Cow;

use bytes::Bytes;

use super::needs::CACHE;
use crate::domain::site::Site;

/// The longest name of a source that is kept.
const NAME_LIMIT_BYTES: usize = 100;
/// The source's name where its own would mean something to TeX or its command line, or is in a subfolder: TeX runs at the top of
/// the job's folder, resolves all names from there, and lists that folder at every look for a file.
const USUAL: &str = "document";
const EXTENSION: &str = "tex";
/// Extensions of files that TeX writes. A template that was packed after a run of TeX brings them; TeX would read these stale
/// ones, so they are left out.
const PRODUCTS: [&str; 22] = [
    "acn",
    "aux",
    "bcf",
    "blg",
    "dvi",
    "fdb_latexmk",
    "fls",
    "glo",
    "idx",
    "ilg",
    "lof",
    "log",
    "lot",
    "nav",
    "nlo",
    "out",
    "pdf",
    "snm",
    "synctex.gz",
    "toc",
    "vrb",
    "xdv",
];

/// The folder of a job, before it is made.
pub(super) struct Folder<'a> {
    site: &'a Site,
    /// TeX's job name: that of the source without its extension.
    pub name: String,
}

impl<'a> Folder<'a> {
    /// The folder for `site`.
    pub fn of(site: &'a Site) -> Self {
        let entry = site.entry();
        let stem = entry.strip_suffix(".tex").filter(|stem| is_plain(stem)).map(str::to_owned);
        let is_free = |name: &String| site.get(&format!("{name}.{EXTENSION}")).is_none();
        let others = std::iter::once(USUAL.to_owned()).chain((2..).map(|number| format!("{USUAL}-{number}")));
        let name = stem.or_else(|| others.into_iter().find(is_free)).unwrap_or_else(|| USUAL.to_owned());
        Self { site, name }
    }

    /// The folder for `site` whose job name is known.
    pub fn named(site: &'a Site, name: String) -> Self {
        Self { site, name }
    }

    /// The text that TeX reads in the entry's place.
    pub fn source(&self) -> Cow<'a, str> {
        self.site.page().map(|page| String::from_utf8_lossy(page)).unwrap_or_default()
    }

    /// The source's name in the folder.
    pub fn source_name(&self) -> String {
        format!("{}.{EXTENSION}", self.name)
    }

    /// The source's name in the template.
    pub fn entry(&self) -> &str {
        self.site.entry()
    }

    /// The template's files.
    pub fn site(&self) -> &'a Site {
        self.site
    }

    /// A file's name in the template.
    pub fn template_name<'n>(&'n self, name: &'n str) -> &'n str {
        let name = name.strip_prefix("./").unwrap_or(name);
        if name == self.source_name() { self.site.entry() } else { name }
    }

    /// Whether the template has this bibliography and no database to make it from: then it is kept as the author wrote it.
    pub fn brings_bibliography(&self, name: &str) -> bool {
        self.site.get(name).is_some() && !self.has_databases()
    }

    /// Whether the template has this index and not the `entries` to make it from: then it is kept as the author wrote it.
    pub fn brings_index(&self, name: &str, entries: &str) -> bool {
        self.site.get(name).is_some() && self.site.get(entries).is_none()
    }

    fn has_databases(&self) -> bool {
        self.site.paths().any(|path| path.strip_suffix(".bib").is_some())
    }

    /// All files with their names.
    pub fn files(&self) -> Vec<(String, Bytes)> {
        let entry = self.site.entry();
        let is_cache = |path: &str| path.split('/').next() == Some(CACHE);
        let has_databases = self.has_databases();
        let is_product = |path: &str| {
            let extension = path.strip_prefix(&*self.name).and_then(|rest| rest.strip_prefix('.'));
            let is_stale = |extension| PRODUCTS.contains(&extension) || (extension == "bbl" && has_databases);
            extension.is_some_and(is_stale)
        };
        let others = self.site.names().filter(|path| *path != entry && !is_cache(path) && !is_product(path));
        let mut files: Vec<_> =
            others.filter_map(|path| Some((path.to_owned(), self.site.get(path)?.clone()))).collect();
        files.push((self.source_name(), self.site.page().cloned().unwrap_or_default()));
        files
    }
}

/// Whether a path that a document names stays inside its folder and cannot be taken for an option on a command line.
pub(super) fn is_inside(path: &str) -> bool {
    path.split('/').all(is_plain)
}

/// Whether a name has no meaning but itself, on a command line and in TeX.
fn is_plain(stem: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    stem.len() <= NAME_LIMIT_BYTES
        && stem.bytes().all(is_plain)
        && stem.starts_with(|first: char| first.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(entry: &str, others: &[&str]) -> Site {
        let file = |path: &str| (path.to_owned(), Bytes::from_static(b"x"));
        Site::new(entry, others.iter().copied().chain([entry]).map(file).collect())
            .with_page(Bytes::from_static(b"source"))
    }

    #[test]
    fn the_source_keeps_its_name_where_that_is_plain() {
        for (entry, others, name) in [
            ("main.tex", &["a.sty"][..], "main"),
            ("my letter.tex", &["a.sty"], "document"),
            ("-shell.tex", &["document.tex"], "document-2"),
            ("a$b.tex", &[], "document"),
            ("..tex", &[], "document"),
            ("LETTER.TEX", &[], "document"),
        ] {
            let site = site(entry, others);
            let folder = Folder::of(&site);
            assert_eq!(folder.name, name, "{entry}");
            assert_eq!(folder.template_name(&format!("./{name}.tex")), entry);
            let files = folder.files();
            assert_eq!(files.len(), others.len() + 1);
            assert_eq!(files.last().unwrap(), &(format!("{name}.tex"), Bytes::from_static(b"source")));
        }
    }

    #[test]
    fn what_an_earlier_run_made_is_left_out_but_not_what_other_programs_made() {
        let site = site("main.tex", &["main.aux", "main.pdf", "main.bbl", "a.aux", "figures/main.pdf"]);
        let names: Vec<_> = Folder::of(&site).files().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a.aux", "figures/main.pdf", "main.bbl", "main.tex"]);
    }

    #[test]
    fn a_bibliography_beside_its_database_is_stale() {
        for (others, names, is_kept) in [
            (&["main.bbl", "a.bib"][..], &["a.bib", "main.tex"][..], false),
            (&["main.bbl"], &["main.bbl", "main.tex"], true),
        ] {
            let site = site("main.tex", others);
            let folder = Folder::of(&site);
            assert_eq!(folder.files().into_iter().map(|(name, _)| name).collect::<Vec<_>>(), names);
            assert_eq!(folder.brings_bibliography("main.bbl"), is_kept);
        }
        let site = site("main.tex", &["main.ind", "names.ind", "names.idx"]);
        let folder = Folder::of(&site);
        let brings = |name: &str| folder.brings_index(&format!("{name}.ind"), &format!("{name}.idx"));
        assert_eq!(["main", "names", "none"].map(brings), [true, false, false]);
    }

    #[test]
    fn only_a_name_that_leads_down_is_inside() {
        for (path, is) in [
            ("main.aux", true),
            ("parts/one-2.aux", true),
            ("/etc/passwd", false),
            ("../x", false),
            ("parts/../../x", false),
            ("-o", false),
            ("parts/-o", false),
            (".htaccess", false),
            ("a b", false),
            ("a\nb", false),
            ("parts//x", false),
            ("$(x)", false),
            ("", false),
        ] {
            assert_eq!(is_inside(path), is, "{path}");
        }
    }

    #[test]
    fn a_decomposed_name_is_there_composed_too() {
        let site = site("main.tex", &["e\u{301}.png", "\u{f6}.png", "a\u{308}.png", "\u{e4}.png"]);
        let names: Vec<_> = Folder::of(&site).files().into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            ["a\u{308}.png", "e\u{301}.png", "\u{e4}.png", "\u{f6}.png", "\u{e9}.png", "main.tex"]
        );
    }

    #[test]
    fn nothing_is_taken_for_the_cache_of_fonts() {
        let site = site("main.tex", &["texmf-var/luatex-cache/x.luc", "texmf-var-2/x"]);
        let names: Vec<_> = Folder::of(&site).files().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["texmf-var-2/x", "main.tex"]);
    }
}
