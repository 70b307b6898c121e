//! Which names an archive's entries may have, and the paths that they mean.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::iter;

use super::{ArchiveLimits, PackageError, invalid};
use crate::domain::shown::escape_control;

/// Files that systems add to archives by themselves.
const JUNK: [&str; 4] = [".ds_store", "thumbs.db", "desktop.ini", "icon\r"];

/// Longest name in a sentence.
const SHOWN_LIMIT_CHARS: usize = 120;

/// The path that an entry's name means: `/` between segments, without `.` and empty segments. None for what is dropped: no
/// segment is left, or a system added it; of that neither length nor depth matters.
pub(super) fn clean(name: &str, limits: &ArchiveLimits) -> Result<Option<String>, PackageError> {
    let shown = quoted(name);
    let slashed = name.replace('\\', "/");
    let drive = matches!(slashed.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if slashed.starts_with('/') || drive {
        return Err(invalid(format!(
            "the archive's entry {shown} has an absolute path; pack the files by paths inside their folder"
        )));
    }
    let segments: Vec<&str> =
        slashed.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
    if segments.contains(&"..") {
        return Err(invalid(format!(
            "the archive's entry {shown} leads out of its folder by '..'; pack the files from the folder that \
             holds them all"
        )));
    }
    if segments.is_empty() || is_junk(&slashed) {
        return Ok(None);
    }
    if name.chars().any(char::is_control) {
        return Err(invalid(format!(
            "the archive's entry {shown} has a control character in its name; rename it"
        )));
    }
    if slashed.len() as u64 > limits.path_bytes {
        let limit = limits.path_bytes;
        return Err(invalid(format!(
            "the path of the archive's entry {shown} is longer than {limit} bytes \
             (templates.archive_path_limit_bytes); shorten it"
        )));
    }
    if segments.len().saturating_sub(1) as u64 > limits.depth {
        let limit = limits.depth;
        return Err(invalid(format!(
            "the archive's entry {shown} lies in more than {limit} folders inside each other \
             (templates.archive_depth_limit); pack it less deep"
        )));
    }
    Ok(Some(segments.join("/")))
}

/// Whether a system added the file by itself.
pub(super) fn is_junk(path: &str) -> bool {
    let mut segments = path.split(['/', '\\']).rev().filter(|segment| !segment.is_empty() && *segment != ".");
    let name = segments.next().unwrap_or_default();
    let has_junk_name = name.starts_with("._") || JUNK.contains(&name.to_lowercase().as_str());
    has_junk_name || name == "__MACOSX" || segments.any(|segment| segment == "__MACOSX")
}

/// The names that are in use: one that is a file can be neither a second file nor a folder. Each folder is kept once, however
/// many paths lead through it: an archive of deep paths costs no more memory than its names.
#[derive(Default)]
pub(super) struct TakenNames {
    nodes: Vec<Node>,
    /// By folder and name in lower case: names that differ only in capital letters are one name to many systems.
    known: HashMap<(Option<usize>, String), usize>,
}

struct Node {
    name: String,
    folder: Option<usize>,
    is_file: bool,
}

impl TakenNames {
    /// Adds `path` as a file, and the folders around it.
    pub(super) fn file(&mut self, path: &str) -> Result<(), PackageError> {
        let (folder, name) =
            path.rsplit_once('/').map_or((None, path), |(folder, name)| (Some(folder), name));
        let folder = folder.map(|folder| self.enter(folder)).transpose()?;
        let Some(node) = self.node(folder, name, true) else { return Ok(()) };
        let other = self.path(node);
        Err(if self.nodes[node].is_file { twice(&other, path) } else { file_and_folder(path, &other) })
    }

    /// Adds `path` as a folder, and those around it.
    pub(super) fn folder(&mut self, path: &str) -> Result<(), PackageError> {
        self.enter(path).map(drop)
    }

    fn enter(&mut self, path: &str) -> Result<usize, PackageError> {
        let mut folder = None;
        let mut innermost = 0;
        for name in path.split('/') {
            innermost = self.node(folder, name, false).unwrap_or(self.nodes.len() - 1);
            if self.nodes[innermost].is_file {
                return Err(file_and_folder(&self.path(innermost), path));
            }
            folder = Some(innermost);
        }
        Ok(innermost)
    }

    /// The node that has the name already; none where it was added now.
    fn node(&mut self, folder: Option<usize>, name: &str, is_file: bool) -> Option<usize> {
        match self.known.entry((folder, name.to_lowercase())) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(place) => {
                place.insert(self.nodes.len());
                self.nodes.push(Node { name: name.to_owned(), folder, is_file });
                None
            }
        }
    }

    fn path(&self, node: usize) -> String {
        let upwards = iter::successors(Some(&self.nodes[node]), |node| Some(&self.nodes[node.folder?]));
        let mut names: Vec<&str> = upwards.map(|node| node.name.as_str()).collect();
        names.reverse();
        names.join("/")
    }
}

pub(super) fn twice(one: &str, other: &str) -> PackageError {
    let (one, other, same) = (quoted(one), quoted(other), one == other);
    if same {
        return invalid(format!("the archive has the entry {one} twice; pack it once"));
    }
    invalid(format!(
        "the archive's entries {one} and {other} differ only in capital letters, which many systems take for \
         one name; rename one"
    ))
}

fn file_and_folder(file: &str, folder: &str) -> PackageError {
    let (file, folder) = (quoted(file), quoted(folder));
    invalid(format!("the archive has {file} as a file and {folder} as a folder; rename one"))
}

/// A name as sentences show it: shortened, and with characters that do not print spelled out.
pub(super) fn quoted(name: &str) -> String {
    let shown: String = name.chars().take(SHOWN_LIMIT_CHARS).map(escape_control).collect();
    let more = if name.chars().nth(SHOWN_LIMIT_CHARS).is_some() { "…" } else { "" };
    format!("'{shown}{more}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_kept_once_however_many_paths_lead_through_it() {
        let mut taken = TakenNames::default();
        let deep = "folder/".repeat(32);
        for number in 0..500 {
            taken.file(&format!("{deep}{number}.css")).unwrap();
        }
        assert_eq!(taken.nodes.len(), 32 + 500);
        let error = taken.file(&format!("{deep}7.CSS")).unwrap_err().0;
        assert!(error.contains("differ only in capital letters"), "{error}");
    }
}
