//! The files beside a page, or a LaTeX source, that is rendered alone: those that it names, and that these name.
//!
//! Hazard: a page may come from somebody else, and what it shows goes into the document. So a file counts only if it
//! lies in the page's folder or below it, wherever links lead; hidden ones do not count; and the limits of archives
//! bound it all. What a page names is guessed: every word of its text that could be a path, and is one.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use crate::config::TemplatesConfig;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Files;

/// Pages, by their extension.
const PAGES: [&str; 2] = ["html", "htm"];
/// Other files that may name some.
const TEXTS: [&str; 11] = ["ejs", "css", "js", "mjs", "json", "svg", "tex", "sty", "cls", "ltx", "bib"];
/// What TeX and its packages add to a name without an extension.
const LATEX: [&str; 9] = [".tex", ".pdf", ".png", ".jpg", ".jpeg", ".sty", ".cls", ".bib", ".bst"];
/// What `include` of EJS adds.
const EJS: [&str; 1] = [".ejs"];
/// Longest word that is looked at.
const WORD_LIMIT_BYTES: usize = 2_048;
/// What stands before and behind a path; a blank may also be in one, where it is quoted.
const AROUND: &str = "\"'`()<>=,;{}[]|\\\r\n\t";

/// The files that `text`, which lies at `page`, names in its folder, by their paths from there.
pub(super) fn files(
    page: &Path,
    text: &[u8],
    kind: TemplateKind,
    limits: &TemplatesConfig,
) -> Result<Files, String> {
    let folder = page.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(root) = folder.canonicalize() else { return Ok(Files::new()) };
    let left = limits.archive_bytes_limit.saturating_sub(text.len() as u64);
    let mut found = Found {
        own: page.canonicalize().ok(),
        root,
        left,
        limits,
        tried: HashSet::new(),
        files: Files::new(),
    };
    let mut texts = vec![(String::new(), text.to_vec(), true)];
    let is_latex = kind == TemplateKind::Latex;
    while let Some((folder, text, is_page)) = texts.pop() {
        let text = String::from_utf8_lossy(&text);
        let endings: &[&str] = match is_latex {
            true => &LATEX,
            false if text.contains("include") => &EJS,
            false => &[],
        };
        for word in words(&text) {
            let endings = if word.contains('.') { &[""][..] } else { endings };
            // What TeX includes is looked for beside the document, wherever it is named.
            let folders = [folder.as_str(), ""];
            let folders = if is_latex { &folders[..] } else { &folders[..1] };
            let named =
                endings.iter().flat_map(|ending| folders.iter().map(move |folder| (*folder, *ending)));
            for path in named.filter_map(|(folder, ending)| inside(folder, &format!("{word}{ending}"))) {
                let Some(text) = found.take(&path)? else { continue };
                // A page links to others, and these to all of a site, which is not what belongs to it.
                if is_page || !PAGES.contains(&extension(&path).as_str()) {
                    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                    texts.push((folder.to_owned(), text, false));
                }
            }
        }
    }
    Ok(found.files)
}

struct Found<'a> {
    /// The page itself.
    own: Option<PathBuf>,
    root: PathBuf,
    left: u64,
    limits: &'a TemplatesConfig,
    tried: HashSet<String>,
    files: Files,
}

impl Found<'_> {
    /// Takes the file at `path` if it is one of the folder's; answers its content if it may name others.
    fn take(&mut self, path: &str) -> Result<Option<Vec<u8>>, String> {
        let most = self.limits.archive_path_limit_bytes;
        let depth = path.matches('/').count() as u64;
        let fits = path.len() as u64 <= most && depth <= self.limits.archive_depth_limit;
        if !fits || !self.tried.insert(path.to_owned()) {
            return Ok(None);
        }
        // Where it really is: a link may lead anywhere.
        let Ok(real) = self.root.join(path).canonicalize() else { return Ok(None) };
        if !real.starts_with(&self.root) || Some(&real) == self.own.as_ref() || !real.is_file() {
            return Ok(None);
        }
        let entries = self.limits.archive_entries_limit;
        if self.files.len() as u64 + 1 >= entries {
            return Err(format!(
                "the page names more than {entries} files beside it (templates.archive_entries_limit)"
            ));
        }
        let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", real.display());
        let mut content = Vec::new();
        let file = File::open(&real).map_err(unreadable)?;
        file.take(self.left.saturating_add(1)).read_to_end(&mut content).map_err(unreadable)?;
        self.left = self.left.checked_sub(content.len() as u64).ok_or_else(|| {
            let most = self.limits.archive_bytes_limit;
            format!(
                "the page and the files beside it have more than {most} bytes (templates.archive_bytes_limit)"
            )
        })?;
        let extension = extension(path);
        let is_text = [&PAGES[..], &TEXTS].concat().contains(&extension.as_str());
        let text = is_text.then(|| content.clone());
        self.files.insert(path.to_owned(), content.into());
        Ok(text)
    }
}

fn extension(path: &str) -> String {
    path.rsplit_once('.').map_or_else(String::new, |(_, extension)| extension.to_ascii_lowercase())
}

/// What in the text could be a path: between blanks, and where these may be part of it.
fn words(text: &str) -> HashSet<String> {
    let parts = text.split(|letter| AROUND.contains(letter));
    let words = parts.flat_map(|part| std::iter::once(part).chain(part.split(' ')));
    let words = words.map(|word| word.trim_matches(' '));
    words.filter(|word| (1..=WORD_LIMIT_BYTES).contains(&word.len())).map(str::to_owned).collect()
}

/// The path that an address means, named in a file of `folder`; none if it leads out of the top, or to what is hidden.
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
        files(&page, &text, kind, &Config::default().templates).unwrap().into_keys().collect()
    }

    fn write(folder: &Path, path: &str, content: &str) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    #[test]
    fn what_a_page_names_is_found_and_nothing_outside_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("page");
        write(
            &folder,
            "invoice.html",
            "<link rel=stylesheet href=css/main.css?v=1><img src='my logo.png' srcset=\"a.png 1x, b%20b.png 2x\">\
             <img src=../outside.png><img src=/top.svg><img src=link.png><img src=.env><a href=invoice.html><iframe src=frame.html>\
             <%- include('partials/head') %><script>fetch(`data/${x}`); const at = \"data/one.json\"</script>",
        );
        write(&folder, "frame.html", "<img src=framed.png><a href=next.html>");
        write(&folder, "next.html", "<img src=unnamed.png>");
        write(&folder, "css/main.css", "@import 'more.css'; p { background: url(../img/back.png#x) }");
        write(&folder, "css/more.css", "@font-face { src: url(\"fonts/a.woff2\") }");
        for path in [
            "my logo.png",
            "a.png",
            "b b.png",
            "top.svg",
            ".env",
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
    fn a_source_of_latex_finds_what_it_includes() {
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
    fn the_limits_of_archives_hold() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "a.html", "<img src=a.png><img src=b.png>");
        write(root.path(), "a.png", &"x".repeat(60));
        write(root.path(), "b.png", &"x".repeat(60));
        let limits = TemplatesConfig { archive_bytes_limit: 100, ..Config::default().templates };
        let told =
            files(&root.path().join("a.html"), b"a.png b.png", TemplateKind::Html, &limits).unwrap_err();
        assert!(told.contains("templates.archive_bytes_limit"), "{told}");
        let limits = TemplatesConfig { archive_entries_limit: 2, ..Config::default().templates };
        let told =
            files(&root.path().join("a.html"), b"a.png b.png", TemplateKind::Html, &limits).unwrap_err();
        assert!(told.contains("templates.archive_entries_limit"), "{told}");
    }
}
