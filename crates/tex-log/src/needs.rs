//! What a run leaves to do, and how many pages it made.

use crate::files::{Files, shown};
use crate::text::{clean, number, quoted};

/// Most lists of one kind in one document.
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
    /// Bibliographies that are read and not there (`book.bbl`).
    pub bibliographies: Vec<String>,
    /// Files of entries that were written for indexes (`book.idx`).
    pub indexes: Vec<String>,
    /// What imakeidx wants to be called (`makeindex -s book.ist names.idx`).
    pub index_calls: Vec<String>,
    /// Files of entries that were written for glossaries (`book.glo`).
    pub glossaries: Vec<String>,
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
        let call = quoted(text, "again after calling ").filter(|call| call.starts_with("makeindex "));
        if let Some(call) = call {
            add(&mut self.index_calls, call);
            return true;
        }
        let small = text.to_lowercase();
        let asks = ["rerun", "(re)run", "re-run"].iter().any(|word| small.contains(word));
        // Who makes bibliographies sees by what they are made of whether they are to be made again.
        self.rerun |= asks && !["biber", "bibtex"].iter().any(|program| small.contains(program));
        asks
    }

    fn missing(&mut self, name: &str, files: &Files) {
        let (Some((stem, extension)), Some(main)) = (name.rsplit_once('.'), files.main()) else { return };
        let is_own = main.rsplit_once('.').map_or(main, |(stem, _)| stem).rsplit('/').next()
            == stem.rsplit('/').next();
        if extension == "bbl" {
            add(&mut self.bibliographies, name);
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
        add(list, name);
    }
}

/// Adds what is not in a list of names that is not full.
fn add(list: &mut Vec<String>, name: &str) {
    let name = clean(&shown(name));
    if list.len() < NAMED && !list.contains(&name) {
        list.push(name);
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
