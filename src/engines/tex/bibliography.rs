//! Bibliographies: BibTeX makes them from the citations in an `.aux`, biber from the `.bcf` that biblatex writes.

use std::collections::BTreeSet;
use std::iter;

use memchr::{memchr, memmem};

use super::folder::is_inside;
use super::list_program::{List, ListProgram, RunOutput, digest};

/// The lines of an `.aux` that BibTeX reads.
const COMMANDS: [&[u8]; 3] = [b"\\citation{", DATABASES, b"\\bibstyle{"];
const DATABASES: &[u8] = b"\\bibdata{";
/// How an `.aux` names the `.aux` of an included file; those do not nest.
const INCLUDED: &[u8] = b"\\@input{";
/// Most included files that are read.
const INCLUDED_LIMIT: usize = 500;
/// Reading stops after the file that passes this length.
const CITATIONS_BYTES: usize = 16 << 20;

/// The bibliographies of a document; `known` are the lists that were made before.
pub(super) fn lists<'k>(output: &RunOutput<'_>, known: impl Iterator<Item = &'k str>) -> Vec<List> {
    let mut lists = Vec::new();
    let main = format!("{}.bbl", output.folder.name);
    let control = output.file(&format!("{}.bcf", output.folder.name));
    if !control.is_empty() && !output.folder.brings_bibliography(&main) {
        // An error in one entry must not cost the others.
        let arguments = ["--noconf", "--nolog", "--nodieonerror", &output.folder.name];
        let arguments = arguments.map(str::to_owned).to_vec();
        lists.push(List {
            program: ListProgram::Biber,
            arguments,
            name: main.clone(),
            input: digest([&*control]),
        });
    }
    // Packages with several bibliographies (by chapter, by kind of source) write each to a file of its own.
    let missing = output.report.needs.bibliographies.iter().cloned();
    let names: BTreeSet<String> = missing.chain(known.map(str::to_owned)).chain([main]).collect();
    for name in names {
        let Some(stem) = name.strip_suffix(".bbl").filter(|stem| is_inside(stem)) else { continue };
        let citations = citations(output, stem);
        let lines = || lines_of(&citations);
        let databases = lines().filter(|line| line.starts_with(DATABASES)).count();
        // Several databases are those of included files, each with its own bibliography.
        if databases == 1 && !output.folder.brings_bibliography(&name) {
            let arguments = vec!["-terse".to_owned(), stem.to_owned()];
            let input = digest(lines());
            lists.push(List { program: ListProgram::Bibtex, arguments, name, input });
        }
    }
    lists
}

/// The lines for BibTeX in an `.aux` and in those that it includes.
fn citations(output: &RunOutput<'_>, stem: &str) -> Vec<u8> {
    let is_main = stem == output.folder.name;
    let own = if is_main { output.aux.clone() } else { output.file(&format!("{stem}.aux")) };
    let mut found = Vec::new();
    let mut included = BTreeSet::new();
    for line in lines_of(&own) {
        if let Some(rest) = line.strip_prefix(INCLUDED) {
            let name =
                rest.split(|byte| *byte == b'}').next().and_then(|name| std::str::from_utf8(name).ok());
            // Each file once, and a bounded number: the document decides how many it writes.
            let is_next = included.len() < INCLUDED_LIMIT && found.len() < CITATIONS_BYTES;
            let name = name.filter(|name| is_next && is_inside(name));
            if let Some(name) = name.filter(|name| included.insert((*name).to_owned())) {
                lines_of(&output.file(name)).for_each(|line| take(line, &mut found));
            }
        } else {
            take(line, &mut found);
        }
    }
    found
}

/// The lines that begin with a command: an `.aux` may have millions of others, which are passed over.
fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    iter::from_fn(move || {
        // A command at the very beginning, or the next one behind a line end.
        let begin = if rest.first() == Some(&b'\\') { 0 } else { memmem::find(rest, b"\n\\")? + 1 };
        let line = &rest[begin..];
        let end = memchr(b'\n', line).unwrap_or(line.len());
        rest = &line[end..];
        Some(&line[..end])
    })
}

fn take(line: &[u8], found: &mut Vec<u8>) {
    if COMMANDS.iter().any(|command| line.starts_with(command)) {
        found.extend_from_slice(line);
        found.push(b'\n');
    }
}
