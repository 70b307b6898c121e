//! What a run leaves to do, and how many pages it made.

use crate::files::{Files, shown};
use crate::text::{clean, number, quoted};

/// Most indexes and glossaries of one document.
const NAMED: usize = 16;
/// What LaTeX looks for without a word when it is not there: the next run finds it.
const LISTS: [&str; 7] = ["toc", "lof", "lot", "loa", "lol", "nav", "thm"];
/// Entries for an index, and for glossaries.
const INDEXES: [&str; 1] = ["idx"];
const GLOSSARIES: [&str; 4] = ["glo", "acn", "slo", "nlo"];

/// What a further run is needed for.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Needs {
    /// References, outlines or tables were not settled, by the log's own words. What packages keep in files of theirs without a
    /// word is not in it: compare these files.
    pub rerun: bool,
    /// The program that makes the bibliography: it is missing, or no longer the one of the citations.
    pub bibliography: Option<Bibliography>,
    /// Files of entries that were written for indexes (`book.idx`).
    pub indexes: Vec<String>,
    /// Files of entries that were written for glossaries (`book.glo`).
    pub glossaries: Vec<String>,
}

/// The programs that make a bibliography.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bibliography {
    /// LaTeX's own, by the `.aux`.
    Bibtex,
    /// That of biblatex, by the `.bcf`.
    Biber,
}

impl Needs {
    /// Reads a line that is no message; whether it was one of these.
    pub(crate) fn read(&mut self, line: &str, files: &Files) -> bool {
        if let Some(name) = line.strip_prefix("No file ") {
            self.missing(name.trim_end().trim_end_matches('.'), files);
        } else if let Some(name) = line.strip_prefix("Writing index file ") {
            self.written(name.trim());
        } else if let Some(name) = line.strip_prefix("Writing glossary file ") {
            self.written(name.trim());
        } else if line.starts_with("\\openout") {
            let plain = line.split_once(" = ").map(|(_, name)| name.trim_end_matches('.'));
            self.written(quoted(line, "=").or(plain).unwrap_or_default());
        } else {
            return false;
        }
        true
    }

    /// Reads a warning's text; whether it only asks for another run.
    pub(crate) fn warned(&mut self, text: &str) -> bool {
        let small = text.to_lowercase();
        let asks = ["rerun", "(re)run", "re-run"].iter().any(|word| small.contains(word));
        if !asks {
            return false;
        }
        if small.contains("biber") {
            self.bibliography = Some(Bibliography::Biber);
        } else if small.contains("bibtex") {
            self.bibliography = Some(Bibliography::Bibtex);
        } else {
            self.rerun = true;
        }
        true
    }

    fn missing(&mut self, name: &str, files: &Files) {
        let (Some((stem, extension)), Some(main)) = (name.rsplit_once('.'), files.main()) else { return };
        let is_own = main.rsplit_once('.').map_or(main, |(stem, _)| stem).rsplit('/').next()
            == stem.rsplit('/').next();
        if extension == "bbl" {
            self.bibliography = self.bibliography.or(Some(Bibliography::Bibtex));
        } else if is_own && LISTS.contains(&extension) {
            self.rerun = true;
        }
    }

    fn written(&mut self, name: &str) {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let list = if INDEXES.contains(&extension) {
            &mut self.indexes
        } else if GLOSSARIES.contains(&extension) {
            &mut self.glossaries
        } else {
            return;
        };
        let name = clean(&shown(name));
        if list.len() < NAMED && !list.contains(&name) {
            list.push(name);
        }
    }
}

/// How many pages were written, where the line tells.
pub(crate) fn pages(line: &str) -> Option<u32> {
    if line.starts_with("No pages of output") || line.ends_with("no pages of output.") {
        return Some(0);
    }
    let (_, rest) = line.strip_prefix("Output written on ")?.rsplit_once(" (")?;
    let (pages, rest) = number(rest)?;
    rest.starts_with(" page").then_some(pages)
}
