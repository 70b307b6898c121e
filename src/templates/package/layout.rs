//! Which of an archive's files is the template, and where it begins when one folder wraps everything.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::content::{self, Content};
use super::paths::quoted;
use super::{Limits, Package, PackageError, fault, office};
use crate::domain::kinds::TemplateKind;
use crate::domain::office_format::OfficeFormat;
use crate::domain::site::Files;

/// Names that are the entry, in this order.
const ENTRIES: [&str; 14] = [
    "index.html",
    "index.ejs",
    "index.tex",
    "main.tex",
    "index.docx",
    "index.xlsx",
    "index.pptx",
    "index.odt",
    "index.ods",
    "index.odp",
    "index.doc",
    "index.xls",
    "index.ppt",
    "index.rtf",
];

/// The names of these entries that a template of this kind has.
fn own_entries(wanted: Option<TemplateKind>) -> &'static [&'static str] {
    match wanted {
        Some(TemplateKind::Latex) => &["index.tex", "main.tex"],
        Some(TemplateKind::Docx) => &["index.docx", "index.odt", "index.doc", "index.rtf"],
        Some(TemplateKind::Xlsx) => &["index.xlsx", "index.ods", "index.xls"],
        Some(TemplateKind::Pptx) => &["index.pptx", "index.odp", "index.ppt"],
        // Pages with EJS and without are either's.
        Some(TemplateKind::Html | TemplateKind::Ejs | TemplateKind::Framework) | None => &[],
    }
}

/// The name that a sentence tells.
fn usual(own: &[&'static str]) -> &'static str {
    own.first().copied().unwrap_or("index.html")
}

/// Names that a sentence lists.
const SHOWN_LIMIT: usize = 5;

/// What the extension of a file makes it, as far as that goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Page,
    Ejs,
    Latex,
    Office(OfficeFormat),
}

impl Sort {
    /// Whether it is the template where others lie beside it: an old Office file may be there to be downloaded.
    fn goes_first(self) -> bool {
        match self {
            Self::Page | Self::Ejs | Self::Latex => true,
            Self::Office(format) => format.is_present(),
        }
    }
}

/// The package of an archive's files, where a template of this kind is wanted before others.
pub(super) fn package(
    files: Files,
    wanted: Option<TemplateKind>,
    limits: &Limits,
) -> Result<Package, PackageError> {
    let own = own_entries(wanted);
    if files.is_empty() {
        let usual = usual(own);
        return Err(fault(format!("the archive holds no files; pack {usual} and what belongs to it")));
    }
    let files = unwrapped(files);
    let wrapped_office = files.iter().any(|(path, list)| {
        path.eq_ignore_ascii_case(office::CONTENT_TYPES) && office::listed(list).is_some()
    });
    if wrapped_office {
        return Err(fault(
            "the archive is an Office file packed together with the folder it lay in; upload the Office file \
             itself",
        ));
    }
    let Some(entry) = entry(&files, own) else { return Err(no_entry(&files, own)) };
    let kind = kind(entry, &files[entry], limits)?;
    Ok(Package { entry: entry.to_owned(), kind, files })
}

/// The files without the one folder that holds them all.
fn unwrapped(files: Files) -> Files {
    let mut paths = files.keys().map(|path| path.split_once('/').map(|(folder, _)| folder));
    let Some(Some(folder)) = paths.next() else { return files };
    if paths.any(|other| other != Some(folder)) {
        return files;
    }
    let cut = folder.len() + 1;
    files.into_iter().map(|(path, content)| (path[cut..].to_owned(), content)).collect()
}

fn entry<'f>(files: &'f Files, own: &[&'static str]) -> Option<&'f str> {
    if let Some(entry) = own_entry(files, own) {
        return Some(entry);
    }
    let known = ENTRIES.into_iter().find(|name| files.contains_key(*name));
    if known.is_some() {
        return known;
    }
    only(files, |_| true)
}

/// The only file at the top that may be a template and `fits`; where there is none of those that go first, the only other one.
fn only(files: &Files, fits: impl Fn(Sort) -> bool) -> Option<&str> {
    let candidates = top(files).filter_map(|path| Some((path, sort(path).filter(|sort| fits(*sort))?)));
    let (first, others): (Vec<_>, Vec<_>) = candidates.partition(|(_, sort)| sort.goes_first());
    match (&first[..], &others[..]) {
        ([(only, _)], _) | ([], [(only, _)]) => Some(only),
        _ => None,
    }
}

/// The entry among files of the wanted kind: one of its names, or the only such file.
fn own_entry<'f>(files: &'f Files, own: &[&'static str]) -> Option<&'f str> {
    let known = own.iter().find_map(|name| files.get_key_value(*name));
    if let Some((name, _)) = known {
        return Some(name);
    }
    let wanted = sort(own.first()?)?;
    let is_wanted = |sort: Sort| match (wanted, sort) {
        (Sort::Office(one), Sort::Office(other)) => one.kind() == other.kind(),
        _ => wanted == sort,
    };
    only(files, is_wanted)
}

fn top(files: &Files) -> impl Iterator<Item = &str> {
    files.keys().map(String::as_str).filter(|path| !path.contains('/'))
}

fn sort(path: &str) -> Option<Sort> {
    match path.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "html" | "htm" => Some(Sort::Page),
        "ejs" => Some(Sort::Ejs),
        "tex" => Some(Sort::Latex),
        extension => OfficeFormat::from_extension(extension).map(Sort::Office),
    }
}

fn kind(entry: &str, content: &Bytes, limits: &Limits) -> Result<TemplateKind, PackageError> {
    let found = content::of(content);
    let shown = quoted(entry);
    match (sort(entry), found) {
        (Some(Sort::Office(_)), _) => office(&shown, content, limits),
        (_, Content::Compound | Content::Rtf) => Err(fault(format!(
            "the archive's {shown} is an Office file; name it by its format, as .doc or .rtf"
        ))),
        (_, Content::Foreign { what, remedy }) => {
            Err(fault(format!("the archive's {shown} is {what}; {remedy}")))
        }
        (_, Content::Archive) => Err(fault(format!(
            "the archive's {shown} is itself an archive; pack the template's files, not an archive of them"
        ))),
        (Some(Sort::Ejs), _) => Ok(TemplateKind::Ejs),
        (Some(Sort::Latex), _) => Ok(TemplateKind::Latex),
        (_, Content::Empty | Content::Text(_)) => Ok(content::page(content)),
    }
}

fn office(shown: &str, content: &[u8], limits: &Limits) -> Result<TemplateKind, PackageError> {
    let told = format!("the archive's {shown} is no Office file; save it anew as .docx, .xlsx or .pptx");
    match office::format_of_bytes(content, limits) {
        Ok(found) => found.map(OfficeFormat::kind).ok_or_else(|| fault(told)),
        Err(PackageError(why)) => Err(fault(format!("{told} (inside it, {why})"))),
    }
}

fn no_entry(files: &Files, own: &[&'static str]) -> PackageError {
    let usual = usual(own);
    let candidates: Vec<&str> = top(files).filter(|path| sort(path).is_some()).collect();
    if !candidates.is_empty() {
        let names = listed(&candidates);
        let name = office_entries(&candidates).unwrap_or_else(|| usual.to_owned());
        return fault(format!(
            "the archive has no {name} at its top, and more than one file that could be the template: {names}; \
             rename the one that is it to {name}"
        ));
    }
    let deeper = own.iter().chain(&ENTRIES).find_map(|name| {
        let lies = |path: &&String| path.rsplit_once('/').is_some_and(|(_, last)| last == *name);
        files.keys().filter(lies).min_by_key(|path| path.matches('/').count())
    });
    if let Some((folder, name)) = deeper.and_then(|path| path.rsplit_once('/')) {
        let folder = quoted(folder);
        return fault(format!(
            "the archive has no {name} at its top; it has {name} in {folder}: pack what that folder holds"
        ));
    }
    let paths: Vec<&str> = files.keys().map(String::as_str).collect();
    let names = listed(&paths);
    let what = if usual == "index.html" { "the page" } else { "the document" };
    fault(format!("the archive has no {usual} at its top, only {names}; put {what} there"))
}

/// What the entry may be called among these files, if all are Office files.
fn office_entries(paths: &[&str]) -> Option<String> {
    let entry = |path: &&str| match sort(path) {
        Some(Sort::Office(format)) => Some(format!("index.{}", format.extension())),
        Some(Sort::Page | Sort::Ejs | Sort::Latex) | None => None,
    };
    let entries: BTreeSet<String> = paths.iter().map(entry).collect::<Option<_>>()?;
    Some(Vec::from_iter(entries).join(" or "))
}

fn listed(paths: &[&str]) -> String {
    let names: Vec<String> = paths.iter().take(SHOWN_LIMIT).map(|path| quoted(path)).collect();
    let more = paths.len().saturating_sub(SHOWN_LIMIT);
    let names = names.join(", ");
    if more == 0 { names } else { format!("{names} and {more} more") }
}
