//! Which of an archive's files is the entry. One folder that wraps everything is taken off.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::content::{self, ContentKind};
use super::paths::quoted;
use super::{ArchiveLimits, Package, PackageError, invalid, office};
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

/// The names among these that an entry of this kind has; none for a page, which may be written with or without EJS.
fn own_entries(wanted: Option<TemplateKind>) -> Vec<&'static str> {
    let is_own = |name: &&str| match kind_of_name(name) {
        Some(NamedKind::Latex) => wanted == Some(TemplateKind::Latex),
        Some(NamedKind::Office(format)) => wanted == Some(format.kind()),
        Some(NamedKind::Page | NamedKind::Ejs) | None => false,
    };
    ENTRIES.into_iter().filter(is_own).collect()
}

/// Names that a sentence lists.
const SHOWN_LIMIT: usize = 5;

/// What a file may be by its extension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamedKind {
    Page,
    Ejs,
    Latex,
    Office(OfficeFormat),
}

impl NamedKind {
    /// Whether it is preferred as the entry. An older Office file beside such a one may be there for download.
    fn goes_first(self) -> bool {
        match self {
            Self::Page | Self::Ejs | Self::Latex => true,
            Self::Office(format) => format.is_current(),
        }
    }
}

/// The package of an archive's files; an entry of the kind that is `wanted` goes before others.
pub(super) fn package(
    files: Files,
    wanted: Option<TemplateKind>,
    limits: &ArchiveLimits,
) -> Result<Package, PackageError> {
    let own = own_entries(wanted);
    if files.is_empty() {
        let usual = own.first().copied().unwrap_or("index.html");
        return Err(invalid(format!("the archive holds no files; pack {usual} and what belongs to it")));
    }
    let files = unwrapped(files);
    let wrapped_office = files.iter().any(|(path, list)| {
        path.eq_ignore_ascii_case(content::CONTENT_TYPES) && office::listed(list).is_some()
    });
    if wrapped_office {
        return Err(invalid(
            "the archive is an Office file packed together with the folder it lay in; upload the Office file \
             itself",
        ));
    }
    let Some(entry) = entry(&files, &own) else { return Err(no_entry(&files, &own)) };
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
    let known = || ENTRIES.into_iter().find(|name| files.contains_key(*name));
    own_entry(files, own).or_else(known).or_else(|| only(files, |_| true))
}

/// The only file at the top that may be an entry and `fits`: of those that go first, or, where there are none, of the others.
fn only(files: &Files, fits: impl Fn(NamedKind) -> bool) -> Option<&str> {
    let candidates =
        top(files).filter_map(|path| Some((path, kind_of_name(path).filter(|kind| fits(*kind))?)));
    let (first, others): (Vec<_>, Vec<_>) = candidates.partition(|(_, kind)| kind.goes_first());
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
    let wanted = kind_of_name(own.first()?)?;
    let is_wanted = |found: NamedKind| match (wanted, found) {
        (NamedKind::Office(one), NamedKind::Office(other)) => one.kind() == other.kind(),
        _ => wanted == found,
    };
    only(files, is_wanted)
}

fn top(files: &Files) -> impl Iterator<Item = &str> {
    files.keys().map(String::as_str).filter(|path| !path.contains('/'))
}

fn kind_of_name(path: &str) -> Option<NamedKind> {
    match path.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "html" | "htm" => Some(NamedKind::Page),
        "ejs" => Some(NamedKind::Ejs),
        "tex" => Some(NamedKind::Latex),
        extension => OfficeFormat::from_extension(extension).map(NamedKind::Office),
    }
}

fn kind(entry: &str, content: &Bytes, limits: &ArchiveLimits) -> Result<TemplateKind, PackageError> {
    let found = content::of(content);
    let shown = quoted(entry);
    match (kind_of_name(entry), found) {
        (Some(NamedKind::Office(_)), _) => office(&shown, content, limits),
        (_, ContentKind::Compound | ContentKind::Rtf) => Err(invalid(format!(
            "the archive's {shown} is an Office file; name it by its format, as .doc or .rtf"
        ))),
        (_, ContentKind::Foreign { what, remedy }) => {
            Err(invalid(format!("the archive's {shown} is {what}; {remedy}")))
        }
        (_, ContentKind::Archive) => Err(invalid(format!(
            "the archive's {shown} is itself an archive; pack the template's files, not an archive of them"
        ))),
        (Some(NamedKind::Ejs), _) => Ok(TemplateKind::Ejs),
        (Some(NamedKind::Latex), _) => Ok(TemplateKind::Latex),
        (_, ContentKind::Empty | ContentKind::Text(_)) => Ok(content::page_kind(content)),
    }
}

fn office(shown: &str, content: &[u8], limits: &ArchiveLimits) -> Result<TemplateKind, PackageError> {
    let sentence = format!("the archive's {shown} is no Office file; save it anew as .docx, .xlsx or .pptx");
    match office::format_of_bytes(content, limits) {
        Ok(found) => found.map(OfficeFormat::kind).ok_or_else(|| invalid(sentence)),
        Err(PackageError(why)) => Err(invalid(format!("{sentence} (inside it, {why})"))),
    }
}

fn no_entry(files: &Files, own: &[&'static str]) -> PackageError {
    let usual = own.first().copied().unwrap_or("index.html");
    let candidates: Vec<&str> = top(files).filter(|path| kind_of_name(path).is_some()).collect();
    if !candidates.is_empty() {
        let names = listed(&candidates);
        let name = office_entries(&candidates).unwrap_or_else(|| usual.to_owned());
        return invalid(format!(
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
        return invalid(format!(
            "the archive has no {name} at its top; it has {name} in {folder}: pack what that folder holds"
        ));
    }
    let paths: Vec<&str> = files.keys().map(String::as_str).collect();
    let names = listed(&paths);
    let what = if usual == "index.html" { "the page" } else { "the document" };
    invalid(format!("the archive has no {usual} at its top, only {names}; put {what} there"))
}

/// The names that the entry may get, where all of these files are Office files.
fn office_entries(paths: &[&str]) -> Option<String> {
    let entry = |path: &&str| match kind_of_name(path) {
        Some(NamedKind::Office(format)) => Some(format!("index.{}", format.extension())),
        Some(NamedKind::Page | NamedKind::Ejs | NamedKind::Latex) | None => None,
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
