//! Indexes and glossaries: makeindex sorts the entries that TeX writes.

use bytes::Bytes;
use tex_log::Remark;

use super::folder::is_inside;
use super::list_program::{List, ListProgram, RunOutput, digest};
use super::origin::line_of;
use crate::workers::Finished;

/// An entry of an index, as TeX writes it.
const ENTRY: &str = "\\indexentry{";
/// Extension of the file that nomencl writes, that of makeindex's output, and the style.
const NOMENCLATURE: [&str; 3] = ["nlo", "nls", "nomencl.ist"];
/// How the `.aux` names the glossaries of a document: `\@newglossary{main}{glg}{gls}{glo}`.
const GLOSSARY: &str = "\\@newglossary{";
/// How it names makeindex's style, and the order of entries.
const STYLE: &str = "\\@istfilename{";
const ORDER_BY_LETTERS: &str = "\\@glsorder{letter}";
/// Most glossaries of one document.
const GLOSSARIES: usize = 16;
/// The options of imakeidx that are passed on beside a style: how blanks, cases and pages are treated.
const FLAGS: [&str; 4] = ["-c", "-g", "-l", "-r"];
/// The longest file of entries that is searched.
const ENTRIES_BYTES: u64 = 16 << 20;

/// The indexes and glossaries of a document.
pub(super) fn lists(output: &RunOutput<'_>) -> Vec<List> {
    let mut wanted = Vec::new();
    for entries in &output.report.needs.indexes {
        let Some(stem) = entries.strip_suffix(".idx") else { continue };
        wanted.push(IndexTask {
            entries: entries.clone(),
            list: format!("{stem}.ind"),
            options: options(&output.report.needs.index_calls, entries),
        });
    }
    let glossaries = glossaries(&String::from_utf8_lossy(&output.aux), &output.folder.name);
    for entries in &output.report.needs.glossaries {
        let [from, to, style] = NOMENCLATURE;
        let Some(stem) = entries.strip_suffix(from).and_then(|stem| stem.strip_suffix('.')) else { continue };
        // The package glossaries uses the same file names for its list of numbers.
        if !glossaries.iter().any(|glossary| glossary.entries == *entries) {
            let options = vec!["-s".to_owned(), style.to_owned()];
            wanted.push(IndexTask { entries: entries.clone(), list: format!("{stem}.{to}"), options });
        }
    }
    let mut lists = Vec::new();
    for wanted in wanted.into_iter().chain(glossaries) {
        let IndexTask { entries, list, options } = wanted;
        let is_own = is_inside(&entries) && is_inside(&list) && !output.folder.brings_index(&list, &entries);
        let content = if is_own { output.file(&entries) } else { continue };
        if content.is_empty() {
            continue;
        }
        let input = digest([&*content]);
        let named = ["-q", "-t", &transcript(&list), "-o", &list].map(str::to_owned);
        let arguments = named.into_iter().chain(options).chain([entries]).collect();
        lists.push(List { program: ListProgram::Makeindex, arguments, name: list, input });
    }
    lists
}

/// A list that makeindex makes.
#[derive(Debug, PartialEq, Eq)]
struct IndexTask {
    entries: String,
    list: String,
    options: Vec<String>,
}

/// The options of an index, from the call of makeindex that imakeidx writes into the log: a style and flags. Others are dropped:
/// the document could name any file.
fn options(calls: &[String], entries: &str) -> Vec<String> {
    let Some(call) = calls.iter().find(|call| call.split(' ').next_back() == Some(entries)) else {
        return Vec::new();
    };
    let mut options = Vec::new();
    let mut words = call.split(' ');
    while let Some(word) = words.next() {
        let style =
            if word == "-s" { words.next() } else { word.strip_prefix("-s").filter(|name| !name.is_empty()) };
        if let Some(style) = style.filter(|style| is_inside(style)) {
            options.extend(["-s".to_owned(), style.to_owned()]);
        } else if FLAGS.contains(&word) {
            options.push(word.to_owned());
        }
    }
    options
}

/// The glossaries that the `.aux` names, but those for xindy, whose style is a `.xdy`.
fn glossaries(aux: &str, name: &str) -> Vec<IndexTask> {
    let value = |command: &str| {
        let mut lines = aux.lines().filter_map(|line| line.strip_prefix(command));
        lines.find_map(|rest| rest.strip_suffix('}'))
    };
    let Some(style) = value(STYLE).filter(|style| style.strip_suffix(".ist").is_some_and(is_inside)) else {
        return Vec::new();
    };
    let flags = aux.lines().any(|line| line == ORDER_BY_LETTERS).then_some("-l");
    let options: Vec<_> = ["-s", style].into_iter().chain(flags).map(str::to_owned).collect();
    let named = aux.lines().filter_map(|line| line.strip_prefix(GLOSSARY)?.strip_suffix('}'));
    let named = named.filter_map(|rest| {
        let mut parts = rest.split("}{").skip(2);
        let mut file = || parts.next().map(|extension| format!("{name}.{extension}"));
        let (list, entries) = (file()?, file()?);
        Some(IndexTask { entries, list, options: options.clone() })
    });
    named.take(GLOSSARIES).collect()
}

/// The log of the run that makes `list`, under a name that TeX does not use.
fn transcript(list: &str) -> String {
    format!("{list}.ilg")
}

/// makeindex's messages. Those about a line of the entries' file quote the entry instead: no author knows that file.
pub(super) fn remarks(list: &str, finished: &Finished) -> Vec<Remark> {
    let read = |name: &str| finished.read_blocking(name, ENTRIES_BYTES).unwrap_or_default();
    let mut remarks = tex_log::of_makeindex(&[&*read(&transcript(list)), &*finished.stderr].concat());
    // Each file is read once: messages about lines of one file follow each other.
    let mut known = (String::new(), Bytes::new());
    for remark in &mut remarks {
        let (Some(file), Some(line)) = (&remark.file, remark.line) else { continue };
        if !is_inside(file) || file.strip_suffix(".ist").is_some() {
            continue;
        }
        if known.0 != *file {
            known = (file.clone(), read(file));
        }
        let entry = line_of(&known.1, line).map(String::from_utf8_lossy);
        if let Some(key) = entry.as_deref().and_then(key_of) {
            remark.message = format!("the entry '{key}' of the index: {}", remark.message);
            (remark.file, remark.line) = (None, None);
        }
    }
    remarks
}

/// The author's text of an entry such as `\indexentry{pear!green}{12}`, cut to what a message quotes.
fn key_of(entry: &str) -> Option<String> {
    let (key, _) = entry.strip_prefix(ENTRY)?.rsplit_once("}{")?;
    let visible = |letter: char| if letter.is_control() { ' ' } else { letter };
    Some(key.chars().take(60).map(visible).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_the_style_that_imakeidx_names_and_no_other_option() {
        let calls = [
            "makeindex -s fancy.ist main.idx",
            "makeindex -l -sfancy -c b.idx",
            "makeindex -s ../../x -o /etc/x -t /tmp/x -p any c.idx",
            "makeindex d.idx",
        ]
        .map(str::to_owned);
        for (entries, wanted) in [
            ("main.idx", &["-s", "fancy.ist"][..]),
            ("b.idx", &["-l", "-s", "fancy", "-c"]),
            ("c.idx", &[]),
            ("d.idx", &[]),
            ("e.idx", &[]),
        ] {
            assert_eq!(options(&calls, entries), wanted, "{entries}");
        }
    }

    #[test]
    fn glossaries_are_those_of_the_aux() {
        let aux = "\\@newglossary{main}{glg}{gls}{glo}\n\\@newglossary{acronym}{alg}{acr}{acn}\n\\@istfilename{main.ist}\n\
                   \\@glsorder{letter}\n\\@newglossary{x}{y}\n";
        let wanted = |list: &str, entries: &str| IndexTask {
            entries: entries.to_owned(),
            list: list.to_owned(),
            options: ["-s", "main.ist", "-l"].map(str::to_owned).to_vec(),
        };
        assert_eq!(glossaries(aux, "main"), [wanted("main.gls", "main.glo"), wanted("main.acr", "main.acn")]);
        assert_eq!(glossaries(&aux.replace(".ist", ".xdy"), "main"), []);
        assert_eq!(glossaries(&aux.replace("main.ist", "../main.ist"), "main"), []);
    }

    #[test]
    fn an_entry_is_reported_as_it_was_written() {
        assert_eq!(key_of("\\indexentry{pear!green|(textbf}{12}").as_deref(), Some("pear!green|(textbf"));
        assert_eq!(key_of("\\glossaryentry{a}{1}"), None);
    }
}
