//! Collects the files that a page or a LaTeX source names, and those that these name, when it is rendered alone.
//!
//! Hazard: a page may come from a stranger, and its files end up in the document. So only files in the page's folder or below
//! it are taken, after resolving links; hidden files are not; and the limits of archives apply. Names are guessed: every word
//! of the text that is the path of a file, except the targets of its links. So a file that cannot be read or exceeds a limit
//! is left out with a warning only: the page may not need it.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use crate::config::TemplatesConfig;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Files;

/// Pages, by their extension.
const PAGES: [&str; 2] = ["html", "htm"];
/// Other text files, which may name further files.
const TEXTS: [&str; 11] = ["ejs", "css", "js", "mjs", "json", "svg", "tex", "sty", "cls", "ltx", "bib"];
/// What TeX and its packages add to a name without an extension.
const LATEX: [&str; 9] = [".tex", ".pdf", ".png", ".jpg", ".jpeg", ".sty", ".cls", ".bib", ".bst"];
/// What `include` of EJS adds.
const EJS: [&str; 1] = [".ejs"];
/// Longest word that is tried as a path.
const WORD_LIMIT_BYTES: usize = 2_048;
/// Most warnings about files left out.
const WARNINGS_LIMIT: usize = 20;
/// Characters that end a path. A blank is not among them: a quoted path may have one.
const SEPARATORS: &str = "\"'`()<>=,;{}[]|\\\r\n\t";

/// The files found beside a page.
#[derive(Default)]
pub(super) struct LinkedFiles {
    /// By their paths from the page's folder.
    pub files: Files,
    /// The files left out, with the reason.
    pub warnings: Vec<String>,
}

/// The files that `text`, the content of `page`, names in its folder.
pub(super) fn files(page: &Path, text: &[u8], kind: TemplateKind, limits: &TemplatesConfig) -> LinkedFiles {
    let folder = page.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(root) = folder.canonicalize() else { return LinkedFiles::default() };
    // Not in the root folder: every file of the machine is below it, `/etc` included.
    if root.parent().is_none() {
        return LinkedFiles::default();
    }
    let left = limits.archive_bytes_limit.saturating_sub(text.len() as u64);
    let mut collector = LinkedFileCollector {
        own: page.canonicalize().ok(),
        root,
        left,
        limits,
        tried: HashSet::new(),
        beside: LinkedFiles::default(),
    };
    let mut texts = vec![(String::new(), text.to_vec(), true)];
    let is_latex = kind == TemplateKind::Latex;
    while let Some((folder, text, is_page)) = texts.pop() {
        let text = String::from_utf8_lossy(&text);
        let text = if is_latex { text } else { without_links(&text).into() };
        let endings: &[&str] = match is_latex {
            true => &LATEX,
            false if text.contains("include") => &EJS,
            false => &[],
        };
        for word in words(&text) {
            let endings = if word.contains('.') { &[""][..] } else { endings };
            // TeX resolves names against the main document's folder, whichever file names them.
            let folders = [folder.as_str(), ""];
            let folders = if is_latex { &folders[..] } else { &folders[..1] };
            let named =
                endings.iter().flat_map(|ending| folders.iter().map(move |folder| (*folder, *ending)));
            for path in named.filter_map(|(folder, ending)| inside(folder, &format!("{word}{ending}"))) {
                let Some(text) = collector.take(&path) else { continue };
                // Other pages are not searched: through their links a whole site would be taken.
                if is_page || !PAGES.contains(&extension(&path).as_str()) {
                    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                    texts.push((folder.to_owned(), text, false));
                }
            }
        }
    }
    collector.beside
}

/// Takes files of the page's folder, as long as the limits of an archive allow.
struct LinkedFileCollector<'a> {
    /// The page itself.
    own: Option<PathBuf>,
    root: PathBuf,
    /// Bytes that may still be taken.
    left: u64,
    limits: &'a TemplatesConfig,
    /// Paths that were tried before, with or without success.
    tried: HashSet<String>,
    beside: LinkedFiles,
}

impl LinkedFileCollector<'_> {
    /// Takes the file at `path` if it is one of the folder's; answers its content if it may name others.
    fn take(&mut self, path: &str) -> Option<Vec<u8>> {
        let most = self.limits.archive_path_limit_bytes;
        let depth = path.matches('/').count() as u64;
        let fits = path.len() as u64 <= most && depth <= self.limits.archive_depth_limit;
        if !fits || !self.tried.insert(path.to_owned()) {
            return None;
        }
        // The resolved path: a link may lead out of the folder.
        let real = self.root.join(path).canonicalize().ok()?;
        let below = real.strip_prefix(&self.root).ok()?;
        let is_hidden = below.iter().any(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_hidden || Some(&real) == self.own.as_ref() || !real.is_file() {
            return None;
        }
        match self.content(&real) {
            Ok(content) => {
                let extension = extension(path);
                let is_text = [&PAGES[..], &TEXTS].concat().contains(&extension.as_str());
                let text = is_text.then(|| content.clone());
                self.beside.files.insert(path.to_owned(), content.into());
                text
            }
            Err(why) => {
                if self.beside.warnings.len() < WARNINGS_LIMIT {
                    self.beside.warnings.push(format!("{} is left out: {why}", real.display()));
                }
                None
            }
        }
    }

    /// The content of a file, if the limits leave room for it.
    fn content(&mut self, real: &Path) -> Result<Vec<u8>, String> {
        let entries = self.limits.archive_entries_limit;
        if self.beside.files.len() as u64 + 1 >= entries {
            return Err(format!(
                "the page names more than {entries} files beside it (templates.archive_entries_limit)"
            ));
        }
        let unreadable = |error: std::io::Error| format!("it cannot be read ({error})");
        let file = File::open(real).map_err(unreadable)?;
        let mut content = Vec::new();
        // A file that is too large is not read at all.
        if file.metadata().map_err(unreadable)?.len() <= self.left {
            file.take(self.left.saturating_add(1)).read_to_end(&mut content).map_err(unreadable)?;
            if let Some(left) = self.left.checked_sub(content.len() as u64) {
                self.left = left;
                return Ok(content);
            }
        }
        let most = self.limits.archive_bytes_limit;
        Err(format!(
            "with it the page and the files beside it have more than {most} bytes (templates.archive_bytes_limit)"
        ))
    }
}

/// The text without the targets of its links (`<a href>`), which are not part of the page.
fn without_links(text: &str) -> String {
    let mut without = String::with_capacity(text.len());
    // Each part but the first follows a `<`.
    for part in text.split_inclusive('<') {
        let target = link_target(part).unwrap_or_default();
        without.extend([part.get(..target.start), part.get(target.end..)].into_iter().flatten());
    }
    without
}

/// The range of the target in a link's tag; `None` for other tags.
fn link_target(tag: &str) -> Option<Range<usize>> {
    tag.strip_prefix(['a', 'A'])
        .filter(|rest| rest.starts_with(|letter: char| letter.is_ascii_whitespace()))?;
    let tag = tag.split('>').next()?;
    let name = tag.to_ascii_lowercase().find("href")?;
    let rest = tag.get(name..)?.get("href".len()..)?.trim_start().strip_prefix('=')?.trim_start();
    let begin = tag.len() - rest.len();
    let end = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest.get(1..)?.find(quote).map(|end| end + 2),
        _ => rest.find(|letter: char| letter.is_ascii_whitespace()),
    };
    Some(begin..begin + end.unwrap_or(rest.len()))
}

fn extension(path: &str) -> String {
    path.rsplit_once('.').map_or_else(String::new, |(_, extension)| extension.to_ascii_lowercase())
}

/// The parts of the text that could be a path: between separators, whole and split at blanks.
fn words(text: &str) -> HashSet<String> {
    let parts = text.split(|letter| SEPARATORS.contains(letter));
    let words = parts.flat_map(|part| std::iter::once(part).chain(part.split(' ')));
    let words = words.map(|word| word.trim_matches(' '));
    words.filter(|word| (1..=WORD_LIMIT_BYTES).contains(&word.len())).map(str::to_owned).collect()
}

/// The path of an address named in a file of `folder`; `None` if it leads out of the top folder or to a hidden file.
fn inside(folder: &str, address: &str) -> Option<String> {
    let path = address.split(['?', '#']).next()?;
    if path.contains(':') || path.starts_with("//") || path.ends_with('/') {
        return None;
    }
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let (folder, path) = match path.strip_prefix('/') {
        Some(path) => ("", path),
        None => (folder, path.as_ref()),
    };
    let mut segments: Vec<&str> = Vec::new();
    for segment in folder.split('/').chain(path.split('/')) {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()?),
            segment if segment.starts_with('.') || segment.contains('\0') => return None,
            segment => segments.push(segment),
        }
    }
    (!segments.is_empty()).then(|| segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn names(folder: &Path, name: &str, kind: TemplateKind) -> Vec<String> {
        let page = folder.join(name);
        let text = std::fs::read(&page).unwrap();
        let found = files(&page, &text, kind, &Config::default().templates);
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        found.files.into_keys().collect()
    }

    fn write(folder: &Path, path: &str, content: &str) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    #[test]
    fn files_named_by_a_page_are_found_but_none_outside_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("page");
        write(
            &folder,
            "invoice.html",
            "<link rel=stylesheet href=css/main.css?v=1><img src='my logo.png' srcset=\"a.png 1x, b%20b.png 2x\">\
             <img src=../outside.png><img src=/top.svg><img src=link.png><img src=git/config><img src=.env><a href=invoice.html><a class=b\n HREF = 'unnamed.png'><iframe src=frame.html>\
             <%- include('partials/head') %><script>fetch(`data/${x}`); const at = \"data/one.json\"</script>",
        );
        write(&folder, "frame.html", "<img src=framed.png><embed src=next.html>");
        write(&folder, "next.html", "<img src=unnamed.png>");
        write(&folder, "css/main.css", "@import 'more.css'; p { background: url(../img/back.png#x) }");
        write(&folder, "css/more.css", "@font-face { src: url(\"fonts/a.woff2\") }");
        for path in [
            "my logo.png",
            "a.png",
            "b b.png",
            "top.svg",
            ".env",
            ".git/config",
            "partials/head.ejs",
            "data/one.json",
            "img/back.png",
            "css/fonts/a.woff2",
            "unnamed.png",
            "framed.png",
        ] {
            write(&folder, path, "x");
        }
        write(root.path(), "outside.png", "x");
        std::os::unix::fs::symlink("../outside.png", folder.join("link.png")).unwrap();
        std::os::unix::fs::symlink(".git", folder.join("git")).unwrap();
        let found = names(&folder, "invoice.html", TemplateKind::Html);
        let expected = [
            "a.png",
            "b b.png",
            "css/fonts/a.woff2",
            "css/main.css",
            "css/more.css",
            "data/one.json",
            "frame.html",
            "framed.png",
            "img/back.png",
            "my logo.png",
            "next.html",
            "partials/head.ejs",
            "top.svg",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn files_included_by_a_latex_source_are_found() {
        let root = tempfile::tempdir().unwrap();
        write(
            root.path(),
            "main.tex",
            "\\input{parts/intro}\\includegraphics[width=3cm]{img/logo}\\bibliography{refs}",
        );
        write(root.path(), "parts/intro.tex", "\\input{parts/more}");
        for path in ["parts/more.tex", "img/logo.pdf", "refs.bib", "other.tex"] {
            write(root.path(), path, "x");
        }
        let found = names(root.path(), "main.tex", TemplateKind::Latex);
        assert_eq!(found, ["img/logo.pdf", "parts/intro.tex", "parts/more.tex", "refs.bib"]);
    }

    #[test]
    fn files_beyond_a_limit_are_left_out_with_a_warning() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "a.html", "");
        write(root.path(), "a.png", &"x".repeat(60));
        write(root.path(), "b.png", &"x".repeat(60));
        // A sparse file far beyond the limit: the test would take long if it were read.
        File::create(root.path().join("film.mp4")).unwrap().set_len(5 << 30).unwrap();
        let found = |limits: &TemplatesConfig, text: &str| {
            files(&root.path().join("a.html"), text.as_bytes(), TemplateKind::Html, limits)
        };
        let limits = TemplatesConfig { archive_bytes_limit: 100, ..Config::default().templates };
        let LinkedFiles { files: some, warnings } = found(&limits, "a.png film.mp4 b.png");
        assert_eq!((some.len(), warnings.len()), (1, 2), "{warnings:?}");
        assert!(
            warnings.iter().all(|warning| warning.contains("templates.archive_bytes_limit")),
            "{warnings:?}"
        );
        let limits = TemplatesConfig { archive_entries_limit: 2, ..Config::default().templates };
        let LinkedFiles { files: some, warnings } = found(&limits, "a.png b.png");
        assert_eq!((some.len(), warnings.len()), (1, 1), "{warnings:?}");
        assert!(warnings[0].contains("templates.archive_entries_limit"), "{warnings:?}");
    }
}
