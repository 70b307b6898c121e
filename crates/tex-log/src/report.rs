//! The report of a run, and the pass over its log that makes it.

use std::collections::HashMap;

use crate::error::{self, Error};
use crate::files::Files;
use crate::header::header;
use crate::lines::{Lines, decoded};
use crate::needs::{self, Needs};
use crate::text::clean;
use crate::warning::{self, Kind, Message, Warning};

/// Most errors that are kept.
const ERRORS: usize = 20;
/// Most warnings that are kept.
const WARNINGS: usize = 1_000;
/// Files that TeX writes in a run and reads in the next.
const KEPT: [&str; 4] = [".aux", ".toc", ".lof", ".lot"];

/// What a log says.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Report {
    /// The errors in their order: the first is what is to be mended, others often come of it. A bounded number of them.
    pub errors: Vec<Error>,
    /// How many more there were.
    pub more_errors: u32,
    /// The warnings in their order, each once for a place. A bounded number of them.
    pub warnings: Vec<Warning>,
    /// How many more there were.
    pub more_warnings: u32,
    /// What a further run is needed for.
    pub needs: Needs,
    /// How many pages were written; nothing where the run came to no end, or to a bad one.
    pub pages: Option<u32>,
}

/// Reads a log, in one pass.
pub fn read(log: &[u8]) -> Report {
    let mut reader = Reader::default();
    let mut lines = Lines::new(log);
    while let Some(line) = lines.next() {
        reader.line(line, &mut lines);
    }
    reader.report
}

#[derive(Default)]
struct Reader {
    report: Report,
    files: Files,
    /// What was read as an argument that has no end; its error comes next.
    runaway: Option<String>,
    /// Where the warnings are that are kept: by their sentence, file and line.
    known: HashMap<(String, Option<String>, Option<u32>), usize>,
}

impl Reader {
    fn line(&mut self, raw: &[u8], lines: &mut Lines<'_>) {
        let line = decoded(raw);
        if is_runaway(&line) {
            self.runaway = self.take_runaway(lines);
        } else if let Some(head) = header(&line, &self.files) {
            let is_end = error::is_end(head.message);
            let error = error::read(head, lines, &self.files, self.runaway.take());
            self.add_error(error, is_end);
        } else if let Some(message) = warning::read(&line, lines, &self.files) {
            self.add_message(message);
        } else if let Some(pages) = needs::pages(&line) {
            self.report.pages = Some(pages);
        } else if !self.report.needs.read(&line, &self.files) {
            self.files.pass(raw);
        }
    }

    /// What was read, unless that is nothing.
    fn take_runaway(&self, lines: &mut Lines<'_>) -> Option<String> {
        let shown = lines.peek().filter(|text| header(text, &self.files).is_none())?;
        lines.next();
        Some(clean(&shown)).filter(|text| !text.is_empty())
    }

    fn add_error(&mut self, error: Error, is_end: bool) {
        let report = &mut self.report;
        let is_full = report.errors.len() >= ERRORS;
        match report.errors.last_mut() {
            Some(last) if is_end => last.ended_at(error),
            Some(last) if *last == error => {}
            _ if is_full => report.more_errors = report.more_errors.saturating_add(1),
            _ => report.errors.push(error),
        }
    }

    fn add_message(&mut self, message: Message) {
        match message {
            Message::Warning(kind, line) => self.add_warning(kind, line),
            Message::Said(said, line) => {
                if !said.is_summary() && !self.report.needs.warned(&said.text) {
                    self.add_warning(said.kind(), line);
                }
            }
            Message::Nothing => {}
        }
    }

    fn add_warning(&mut self, kind: Kind, line: Option<u32>) {
        // What TeX kept of the run before is nothing that the author wrote.
        let is_kept = |file: &str| KEPT.iter().any(|extension| file.ends_with(extension));
        let file = self.files.current().filter(|file| !is_kept(file)).or(self.files.main()).map(clean);
        let report = &mut self.report;
        let key = (kind.to_string(), file.clone(), line);
        if let Some(known) = self.known.get(&key).and_then(|at| report.warnings.get_mut(*at)) {
            known.times = known.times.saturating_add(1);
        } else if report.warnings.len() < WARNINGS {
            self.known.insert(key, report.warnings.len());
            report.warnings.push(Warning { kind, file, line, times: 1 });
        } else {
            report.more_warnings = report.more_warnings.saturating_add(1);
        }
    }
}

fn is_runaway(line: &str) -> bool {
    ["Runaway argument?", "Runaway definition?", "Runaway text?", "Runaway preamble?"]
        .contains(&line.trim_end())
}
