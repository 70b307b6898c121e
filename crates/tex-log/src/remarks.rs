//! What the programs that make lists say: BibTeX and biber of bibliographies, makeindex of indexes and glossaries.

use std::fmt;

use crate::lines::{Lines, decoded};
use crate::text::{clean, number, quoted, sentence};

/// Most remarks of one run.
const REMARKS: usize = 50;
/// What is added to an error whose place BibTeX does not know exactly.
const OR_BEFORE: &str = ", in this line or the one before";

/// One thing that such a program said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Whether the program calls it an error: what it is about is not in the list.
    pub is_error: bool,
    /// The file as the program names it.
    pub file: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// In one sentence, without full stop.
    pub message: String,
    /// What it is about, where that is known.
    pub about: About,
}

/// What a remark is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// An entry that is cited and that no database has, by its key.
    MissingEntry(String),
    /// A file that is not there (`refs.bib`, `house.bst`).
    MissingFile(String),
    /// Anything else; the message says it.
    Other,
}

impl fmt::Display for Remark {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(to, "{file}:{line}: {}", self.message),
            (Some(file), None) => write!(to, "{file}: {}", self.message),
            (None, _) => to.write_str(&self.message),
        }
    }
}

/// Remarks in their order, each once; a bounded number of them.
#[derive(Default)]
struct Remarks(Vec<Remark>);

impl Remarks {
    fn add(&mut self, remark: Remark) {
        if self.0.len() < REMARKS && !self.0.contains(&remark) && !remark.message.is_empty() {
            self.0.push(remark);
        }
    }
}

impl Remark {
    fn new(is_error: bool, message: &str) -> Self {
        Self { is_error, file: None, line: None, message: sentence(message), about: About::Other }
    }

    fn missing_entry(key: &str) -> Self {
        let message = format!("no database has the entry '{}'", clean(key));
        Self { about: About::MissingEntry(clean(key)), ..Self::new(false, &message) }
    }

    fn missing_file(name: &str) -> Self {
        let message = format!("File '{}' not found", clean(name));
        Self { about: About::MissingFile(clean(name)), ..Self::new(true, &message) }
    }

    fn at(self, file: &str, line: Option<u32>) -> Self {
        Self { file: Some(clean(file)), line, ..self }
    }
}

/// Reads what `bibtex -terse` printed.
///
/// An error is a sentence with a place behind it, in its line (`…---line 8 of file refs.bib`) or below; then come what was
/// read, and what is skipped. Errors of the style's own code have no place in a file of the author's.
pub fn of_bibtex(printed: &[u8]) -> Vec<Remark> {
    let mut remarks = Remarks::default();
    let mut before = String::new();
    let mut lines = Lines::new(printed);
    while let Some(line) = lines.next() {
        let line = decoded(line);
        if let Some(text) = line.strip_prefix("Warning--") {
            let next = lines.peek();
            let place = next.as_ref().and_then(|next| Some(place(next.strip_prefix("--")?)?.1));
            remarks.add(bibtex_warning(text, place));
            if place.is_some() {
                lines.next();
            }
        } else if let Some((text, place)) = place(&line) {
            let text = if text.is_empty() { &before } else { text };
            remarks.add(bibtex_error(text, Some(place)));
        } else if line.starts_with("while executing---") {
            remarks.add(bibtex_error(&before, None));
        } else if let Some((text, _)) = line.split_once("---while reading file ") {
            remarks.add(bibtex_error(text, None));
        } else if line.starts_with("A bad cross reference---") {
            let refers = lines.next().map(|next| decoded(next).into_owned()).unwrap_or_default();
            remarks.add(bibtex_error(&format!("{} {refers}", line.replace("---", ": ")), None));
        } else if line.starts_with("(Error may have been on previous line)") {
            if let Some(last) = remarks.0.last_mut().filter(|last| !last.message.ends_with(OR_BEFORE)) {
                last.message.push_str(OR_BEFORE);
            }
        } else if line.starts_with("Sorry---") {
            remarks.add(bibtex_error(&line.replace("---", ", "), None));
        }
        before = line.into_owned();
    }
    remarks.0
}

/// Text, file and line of `text---line 8 of file refs.bib`.
fn place(line: &str) -> Option<(&str, (&str, u32))> {
    let at = line
        .rfind("line ")
        .filter(|at| *at == 0 || line.get(..*at).is_some_and(|text| text.ends_with("---")))?;
    let (text, rest) = line.split_at_checked(at)?;
    let (number, rest) = number(rest.strip_prefix("line ")?)?;
    let file = rest.strip_prefix(" of file ")?.trim_end();
    (!text.starts_with("while executing")).then_some((text.trim_end_matches('-'), (file, number)))
}

fn bibtex_warning(text: &str, place: Option<(&str, u32)>) -> Remark {
    if text.starts_with("I didn't find a database entry for ") {
        return Remark::missing_entry(text.split('"').nth(1).unwrap_or_default());
    }
    let remark = Remark::new(false, &spoken("BibTeX", text));
    match place {
        Some((file, line)) => remark.at(file, Some(line)),
        None => remark,
    }
}

/// An error; where it is in what TeX wrote down for BibTeX, that is no file of the author's.
fn bibtex_error(text: &str, place: Option<(&str, u32)>) -> Remark {
    let files = ["I couldn't open database file ", "I couldn't open style file "];
    let remark = match files.iter().find_map(|begin| text.strip_prefix(begin)) {
        Some(name) => Remark::missing_file(name),
        // That is no fault of the document, whose bibliography is as empty as its list of citations.
        None => Remark::new(!text.starts_with("I found no \\citation"), &spoken("BibTeX", text)),
    };
    let is_own = |(file, _): &(&str, u32)| !has_extension(file, "aux");
    match place.filter(is_own) {
        Some((file, line)) => remark.at(file, Some(line)),
        None => remark,
    }
}

/// These programs speak of themselves; who reads it is told who that is.
fn spoken(program: &str, text: &str) -> String {
    let text = text.trim_start_matches(['-', ' ']);
    let said = text.strip_prefix("I ").map(|said| format!("{program} {said}"));
    said.unwrap_or_else(|| text.to_owned())
}

/// Reads what `biber --nodieonerror` printed.
///
/// It reads databases in copies of its own, whose names are numbers: which number is which file follows from what it says
/// that it reads.
pub fn of_biber(printed: &[u8]) -> Vec<Remark> {
    let mut remarks = Remarks::default();
    let mut copies = Copies::default();
    for line in Lines::new(printed) {
        let line = decoded(line);
        if let Some(source) = line.strip_prefix("INFO - Found BibTeX data source ") {
            copies.sources.push(source.trim().trim_matches('\'').to_owned());
        } else if let Some(text) = line.strip_prefix("ERROR - ") {
            remarks.add(biber_remark(true, text, &mut copies));
        } else if let Some(text) = line.strip_prefix("WARN - ") {
            let is_echo =
                BIBER_ECHOES.iter().any(|(begin, end)| text.starts_with(begin) && text.contains(end));
            if !is_echo {
                remarks.add(biber_remark(false, text, &mut copies));
            }
        }
    }
    remarks.0
}

/// Warnings that only follow from an error, or that TeX gives as well.
const BIBER_ECHOES: [(&str, &str); 4] = [
    ("The file '", "' does not contain any citations"),
    ("Data source '", "' is empty, ignoring"),
    ("Entry with key '", "cited and found but not created"),
    ("BibTeX subsystem: ", "characters of junk seen at toplevel"),
];

fn biber_remark(is_error: bool, text: &str, copies: &mut Copies) -> Remark {
    if let Some(said) = text.strip_prefix("BibTeX subsystem: ") {
        let placed = said.split_once(", line ").and_then(|(path, rest)| {
            let (line, rest) = number(rest)?;
            Some((path, line, rest.trim_start_matches([',', ' '])))
        });
        return match placed {
            Some((path, line, said)) => {
                let remark = Remark::new(is_error, said.split(" (skipping to next").next().unwrap_or(said));
                match copies.source_of(path) {
                    Some(file) => remark.at(file, Some(line)),
                    None => remark,
                }
            }
            None => Remark::new(is_error, said),
        };
    }
    let of = |before: &str| text.starts_with(before).then(|| quoted(text, before)).flatten();
    if let Some(name) = of("Cannot find ") {
        return Remark::missing_file(name);
    }
    if let Some(address) = of("Could not fetch ") {
        let what = "is not fetched, for documents reach no network; put the file beside the template, in one archive";
        return Remark::new(true, &format!("'{address}' {what}"));
    }
    if let Some(key) = of("I didn't find a database entry for ") {
        return Remark::missing_entry(key);
    }
    let said = ["- ignoring", ", skipping ..."]
        .iter()
        .find_map(|end| text.split_once(end))
        .map_or(text, |(said, _)| said);
    Remark::new(is_error, &spoken("biber", said))
}

/// The databases that biber reads, and its copies of them.
#[derive(Default)]
struct Copies {
    sources: Vec<String>,
    known: Vec<(String, String)>,
}

impl Copies {
    /// A copy is first named while its database is read, which is the last one then.
    fn source_of(&mut self, copy: &str) -> Option<&str> {
        if !self.known.iter().any(|(known, _)| known == copy) {
            if self.known.len() >= REMARKS {
                return None;
            }
            self.known.push((copy.to_owned(), self.sources.last()?.clone()));
        }
        self.known.iter().find(|(known, _)| known == copy).map(|(_, source)| &**source)
    }
}

/// Reads what makeindex wrote into its log and printed: a place, and below it what is wrong there.
pub fn of_makeindex(log: &[u8]) -> Vec<Remark> {
    let mut remarks = Remarks::default();
    let mut lines = Lines::new(log);
    while let Some(line) = lines.next() {
        let line = decoded(line);
        let style = line
            .strip_prefix("Index style file ")
            .and_then(|rest| rest.trim_end().strip_suffix(" not found."));
        if let Some(style) = style {
            remarks.add(Remark::missing_file(style));
        }
        let Some(at) = ["!! ", "** ", "## Warning"].iter().find_map(|begin| line.find(begin)) else {
            continue;
        };
        let head = line.get(at..).unwrap_or_default();
        let Some(next) = lines.peek() else { continue };
        let Some(said) = next.trim_start().strip_prefix("-- ") else { continue };
        let remark = Remark::new(!head.starts_with("##"), said);
        let file = head.split_once("= ").and_then(|(_, rest)| rest.split(',').next());
        let line = head.split_once("line = ").and_then(|(_, rest)| Some(number(rest)?.0));
        remarks.add(match file {
            Some(file) => remark.at(file.strip_prefix("./").unwrap_or(file), line),
            None => remark,
        });
    }
    remarks.0
}

fn has_extension(file: &str, extension: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(_, found)| found == extension)
}
