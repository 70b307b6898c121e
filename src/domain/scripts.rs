//! The scripts that EJS generates from a template's files. They are cached beside the files, so that later jobs need not
//! generate them again.
//!
//! Hazard: a cached script runs in the jobs of every account that may use the template. Template code that could write a script
//! into the cache would run in the jobs of others. So scripts are generated in a process that has run no template code and has
//! seen no job's data; none is taken from a job.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

/// Largest script, as a multiple of its file's length (including its text where that differs). Rows of short cells need four
/// to five; a longer script is not cached.
const GROWTH_LIMIT: u64 = 6;
/// Fixed size of a script, its entry in the map included.
const FIXED_BYTES: u64 = 1_024;

/// Extensions of files that templates include. Not JavaScript: libraries contain tags in template strings of their own.
const PARTIALS: [&str; 8] = ["ejs", "html", "htm", "css", "svg", "tex", "txt", "xml"];

/// A file as EJS reads it, and the script that EJS generated from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The file's text, without what EJS cuts off before it looks for tags.
    pub text: Bytes,
    /// The script that renders it.
    pub source: Bytes,
}

impl Script {
    /// The script of `file`, whose text is `read`, or `text` where EJS reads it differently. `None` if it is too large to be
    /// cached.
    pub fn new(file: &Bytes, read: &Bytes, text: Option<String>, source: String) -> Option<Self> {
        let text = text.map_or_else(|| read.clone(), exact);
        let file_bytes = file.as_ptr_range();
        let is_shared = file_bytes.contains(&text.as_ptr()) || text.is_empty();
        let added = (source.len() + if is_shared { 0 } else { text.len() }) as u64;
        let fits = added + FIXED_BYTES / 2 <= weight(file);
        fits.then(|| Self { text, source: exact(source) })
    }
}

/// Scripts by the paths of their files; `None` for a file of which none can be made.
pub type Made = Vec<(String, Option<Script>)>;

/// The cached scripts of one site. All clones of the site share them.
#[derive(Debug)]
pub struct Scripts {
    /// By the paths of the files that are templates.
    made: BTreeMap<String, OnceLock<Option<Script>>>,
    weight: u64,
    begun: AtomicBool,
}

impl Scripts {
    /// Room for the scripts of `files`, the templates of a site, by path.
    pub fn of<'a>(files: impl Iterator<Item = (&'a str, &'a Bytes)>) -> Self {
        let mut bytes = 0;
        let made = files.map(|(path, file)| {
            bytes += weight(file);
            (path.to_owned(), OnceLock::new())
        });
        let made: BTreeMap<_, _> = made.collect();
        Self { made, weight: bytes, begun: AtomicBool::new(false) }
    }

    /// Most bytes that they can take.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The script of the file at `path`, if it was made.
    pub fn get(&self, path: &str) -> Option<&Script> {
        self.made.get(path)?.get()?.as_ref()
    }

    /// Whether the file at `path` is a template whose script was not tried yet.
    pub fn lacks(&self, path: &str) -> bool {
        self.made.get(path).is_some_and(|made| made.get().is_none())
    }

    /// Claims the making of scripts: true for one caller at a time, until `keep` or `release`.
    pub fn begin(&self) -> bool {
        !self.begun.swap(true, Ordering::Relaxed)
    }

    /// Gives the claim up without scripts, so that another caller may try again.
    pub fn release(&self) {
        self.begun.store(false, Ordering::Relaxed);
    }

    /// Stores scripts and releases the claim. Scripts that are there already stay.
    pub fn keep(&self, made: Made) {
        for (path, script) in made {
            if let Some(slot) = self.made.get(&path) {
                let _ = slot.set(script);
            }
        }
        self.release();
    }
}

/// Whether templates may include a file of this name.
pub(super) fn is_partial(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| PARTIALS.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

/// Most bytes of a file's script.
fn weight(file: &Bytes) -> u64 {
    file.len() as u64 * GROWTH_LIMIT + FIXED_BYTES
}

/// Without spare capacity, which would stay allocated.
fn exact(text: String) -> Bytes {
    Bytes::from(text.into_boxed_str().into_boxed_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::site::Site;

    fn site(entry: &str, files: &[(&str, &'static [u8])]) -> Site {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), Bytes::from_static(text)));
        Site::new(entry, files.collect())
    }

    #[test]
    fn templates_are_includable_files_with_tags() {
        let files: [(&str, &[u8]); 8] = [
            ("a.ejs", b"<%= 1 %>"),
            ("index.html", b"<%- include('a') %>"),
            ("app.js", b"'<%= 1 %>'"),
            ("b.HTML", b"<% %>"),
            ("latin.html", b"<%= 1 %>\xe4"),
            ("picture.svg", b"<svg/>"),
            ("picture.png", b"<%"),
            ("none.txt", b"<%\0\xff"),
        ];
        let all = site("index.html", &files);
        let scripts = all.clone().keeping_scripts().scripts().cloned().unwrap();
        let templates: Vec<&str> = all.paths().filter(|path| scripts.lacks(path)).collect();
        assert_eq!(templates, ["a.ejs", "b.HTML", "index.html", "latin.html"]);
        assert_eq!(scripts.weight(), 6 * (19 + 8 + 5 + 9) + 4 * 1_024);
        assert!(
            site("picture.svg", &files).keeping_scripts().scripts().is_none(),
            "nothing of it is rendered"
        );
    }

    #[test]
    fn scripts_are_made_once_and_within_their_weight() {
        let all = site("index.html", &[("index.html", b"<%= 1 %>")]);
        let scripts = all.clone().keeping_scripts().scripts().cloned().unwrap();
        assert!(scripts.begin() && !scripts.begin());
        scripts.release();
        assert!(scripts.begin() && scripts.lacks("index.html"));

        let file = all.get("index.html").unwrap();
        let script = Script::new(file, file, None, "x".to_owned()).unwrap();
        assert_eq!(script.text.as_ptr(), file.as_ptr(), "not even copied");
        let room = 6 * 8 + 512;
        assert!(Script::new(file, file, None, "x".repeat(room)).is_some());
        assert_eq!(Script::new(file, file, Some("t".to_owned()), "x".repeat(room)), None);
        assert_eq!(
            Script::new(file, &Bytes::from_static(b"t"), None, "x".repeat(room)),
            None,
            "made of another"
        );
        scripts.keep(vec![("index.html".to_owned(), Some(script.clone()))]);
        scripts.keep(vec![("index.html".to_owned(), None), ("a.ejs".to_owned(), None)]);
        assert_eq!(scripts.get("index.html"), Some(&script));
        assert_eq!(scripts.get("a.ejs"), None);
        assert!(!scripts.lacks("index.html") && !scripts.lacks("a.ejs"));
        assert!(scripts.begin(), "others may be made");
    }
}
