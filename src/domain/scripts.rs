//! What EJS generates of a template's files, kept beside them for whoever renders the template next.
//!
//! What is in here runs in the jobs of every account that may use the template. So it is made where no
//! template's code has run and no job's data is known, never taken from a job.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

/// How many times the length of its file a script may have, its text included where that is another one. Rows of
/// short cells make four to five of them; a longer one is not kept.
const GROWTH_LIMIT: u64 = 6;
/// What every script has of its own, its place in a map included.
const FIXED_BYTES: u64 = 1_024;

/// Endings of files that templates include. Programs are not among them: libraries have tags in their own
/// templates.
const PARTIALS: [&str; 8] = ["ejs", "html", "htm", "css", "svg", "tex", "txt", "xml"];

/// A file as EJS reads it, and what it generates of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The file's text, without what EJS cuts off before it looks for tags.
    pub text: Bytes,
    /// The script that renders it.
    pub source: Bytes,
}

impl Script {
    /// The script of `file`, whose text is `read`; `text` where EJS reads another one than that. None when it is too
    /// large to be kept.
    pub fn new(file: &Bytes, read: &Bytes, text: Option<String>, source: String) -> Option<Self> {
        let text = text.map_or_else(|| read.clone(), exact);
        let file_bytes = file.as_ptr_range();
        let is_shared = file_bytes.contains(&text.as_ptr()) || text.is_empty();
        let added = (source.len() + if is_shared { 0 } else { text.len() }) as u64;
        let fits = added + FIXED_BYTES / 2 <= weight(file);
        fits.then(|| Self { text, source: exact(source) })
    }
}

/// The scripts that were made, none for a file of which none can be.
pub type Made = Vec<(String, Option<Script>)>;

/// The scripts of one site, made as its jobs read the files. All clones of the site share them.
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

    /// The most bytes that they may ever take.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The script of the file at `path`, where it was made.
    pub fn get(&self, path: &str) -> Option<&Script> {
        self.made.get(path)?.get()?.as_ref()
    }

    /// Whether the file at `path` is a template of which nobody has tried to make the script.
    pub fn lacks(&self, path: &str) -> bool {
        self.made.get(path).is_some_and(|made| made.get().is_none())
    }

    /// True for the one who shall make some of them, until it has.
    pub fn begin(&self) -> bool {
        !self.begun.swap(true, Ordering::Relaxed)
    }

    /// Somebody else shall make them: it was not their fault that they were not made.
    pub fn release(&self) {
        self.begun.store(false, Ordering::Relaxed);
    }

    /// Keeps them; others can be made from now on. What is kept already stays.
    pub fn keep(&self, made: Made) {
        for (path, script) in made {
            if let Some(place) = self.made.get(&path) {
                let _ = place.set(script);
            }
        }
        self.release();
    }
}

/// Whether templates include files of this name.
pub(super) fn is_partial(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| PARTIALS.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

/// What the script of a file may take.
fn weight(file: &Bytes) -> u64 {
    file.len() as u64 * GROWTH_LIMIT + FIXED_BYTES
}

/// Without room to grow, which would be kept as well.
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
    fn templates_are_what_has_tags_and_may_be_included() {
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
    fn they_are_made_once_and_within_their_weight() {
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
