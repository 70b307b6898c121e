//! Which names of an archive's entries are taken, and what becomes of them.

use std::collections::BTreeMap;

use super::{Limits, PackageFault, fault};

/// Files that systems put into archives without being asked.
const JUNK: [&str; 3] = [".ds_store", "thumbs.db", "desktop.ini"];

/// Longest name in a sentence.
const SHOWN_LIMIT_CHARS: usize = 120;

/// The path that an entry's name means: `/` between segments, without `.` and empty segments.
pub(super) fn clean(name: &str, limits: &Limits) -> Result<String, PackageFault> {
    let shown = quoted(name);
    if name.chars().any(char::is_control) {
        return Err(fault(format!(
            "the archive's entry {shown} has a control character in its name; rename it"
        )));
    }
    let slashed = name.replace('\\', "/");
    let drive = matches!(slashed.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if slashed.starts_with('/') || drive {
        return Err(fault(format!(
            "the archive's entry {shown} has an absolute path; pack the files by paths inside their folder"
        )));
    }
    let segments: Vec<&str> =
        slashed.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
    if segments.contains(&"..") {
        return Err(fault(format!(
            "the archive's entry {shown} leads out of its folder by '..'; pack the files from the folder that \
             holds them all"
        )));
    }
    if slashed.len() as u64 > limits.path_bytes {
        let limit = limits.path_bytes;
        return Err(fault(format!(
            "the path of the archive's entry {shown} is longer than {limit} bytes \
             (templates.archive_path_limit_bytes); shorten it"
        )));
    }
    if segments.len().saturating_sub(1) as u64 > limits.depth {
        let limit = limits.depth;
        return Err(fault(format!(
            "the archive's entry {shown} lies in more than {limit} folders inside each other \
             (templates.archive_depth_limit); pack it less deep"
        )));
    }
    Ok(segments.join("/"))
}

/// Whether a file is there only because a system keeps its notes in folders.
pub(super) fn is_junk(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("._")
        || JUNK.contains(&name.to_lowercase().as_str())
        || path.split('/').any(|segment| segment == "__MACOSX")
}

/// The names that are taken; one that is a file can be neither a second file nor a folder.
#[derive(Default)]
pub(super) struct Taken {
    /// By their spelling in lower case: what two systems would take for one name.
    files: BTreeMap<String, String>,
    folders: BTreeMap<String, String>,
}

impl Taken {
    /// Takes `path` as a file.
    pub(super) fn file(&mut self, path: &str) -> Result<(), PackageFault> {
        let folded = path.to_lowercase();
        if let Some(other) = self.files.get(&folded) {
            return Err(twice(other, path));
        }
        if let Some(folder) = self.folders.get(&folded) {
            return Err(file_and_folder(path, folder));
        }
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.folder(folder)?;
        }
        self.files.insert(folded, path.to_owned());
        Ok(())
    }

    /// Takes `path` as a folder, and those that it lies in.
    pub(super) fn folder(&mut self, path: &str) -> Result<(), PackageFault> {
        let mut rest = path;
        loop {
            let folded = rest.to_lowercase();
            if self.folders.contains_key(&folded) {
                return Ok(());
            }
            if let Some(file) = self.files.get(&folded) {
                return Err(file_and_folder(file, rest));
            }
            self.folders.insert(folded, rest.to_owned());
            match rest.rsplit_once('/') {
                Some((parent, _)) => rest = parent,
                None => return Ok(()),
            }
        }
    }
}

pub(super) fn twice(one: &str, other: &str) -> PackageFault {
    let (one, other, same) = (quoted(one), quoted(other), one == other);
    if same {
        return fault(format!("the archive has the entry {one} twice; pack it once"));
    }
    fault(format!(
        "the archive's entries {one} and {other} differ only in capital letters, which many systems take for \
         one name; rename one"
    ))
}

fn file_and_folder(file: &str, folder: &str) -> PackageFault {
    let (file, folder) = (quoted(file), quoted(folder));
    fault(format!("the archive has {file} as a file and {folder} as a folder; rename one"))
}

/// A name as sentences show it: shortened, and with what would not print spelled out.
pub(super) fn quoted(name: &str) -> String {
    let spelled = |letter: char| {
        let hidden =
            letter.is_control() || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}');
        if hidden { letter.escape_unicode().to_string() } else { letter.to_string() }
    };
    let shown: String = name.chars().take(SHOWN_LIMIT_CHARS).map(spelled).collect();
    let more = if name.chars().nth(SHOWN_LIMIT_CHARS).is_some() { "…" } else { "" };
    format!("'{shown}{more}'")
}
