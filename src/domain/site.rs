//! The files of one template, as the assembler reads them and the page server serves them.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock, Weak};

use bytes::Bytes;
use icu_normalizer::ComposingNormalizerBorrowed;
use memchr::memmem;
use sha2::{Digest, Sha256};

use super::encoding::{self, Encoding, EncodingWarning, Syntax, UTF_8};
use super::scripts::{self, Script, Scripts};
use super::source_map::EncodedSourceMap;

/// Files by their path (`index.html`, `assets/logo.png`: relative, `/` between segments, no `.` or `..`).
pub type Files = BTreeMap<String, Bytes>;

const COMPOSE: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();

/// The files of one template. Cloning shares them, so a job may have its own page over the files that
/// a thousand others share.
#[derive(Clone, Debug, Default)]
pub struct Site {
    entry: Arc<str>,
    files: Arc<Files>,
    /// Paths that are not in Unicode's composed form, by that form where no file has it; collected once.
    decomposed: Arc<OnceLock<BTreeMap<String, String>>>,
    /// The page that the assembler made, in place of the entry.
    page: Option<Bytes>,
    /// Which lines of the files the page's lines come from, where that was recorded.
    source_map: Option<EncodedSourceMap>,
    /// The generated EJS, for a site that further jobs will render.
    scripts: Option<Arc<Scripts>>,
    /// The encoding of the entry's file; detected once.
    encoding: Arc<OnceLock<&'static Encoding>>,
    /// The hash of the files; computed once.
    hash: Arc<OnceLock<ContentHash>>,
}

/// SHA-256 of a template's content: the entry's path, and the paths and bytes of all its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ContentHash(pub [u8; 32]);

/// Identifies the files of a site without keeping them in memory; equal for two sites only if they share them.
#[derive(Clone, Debug)]
pub struct FilesId(Weak<Files>);

impl PartialEq for FilesId {
    fn eq(&self, other: &Self) -> bool {
        // A `Weak` keeps the allocation, so its address is not used again for other files.
        Weak::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for FilesId {}

impl Hash for FilesId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().hash(state);
    }
}

/// A file of a template as text, in UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteText {
    /// The text; that of a file in UTF-8 is not copied.
    pub content: Bytes,
    /// A warning for its author about the encoding.
    pub warning: Option<EncodingWarning>,
}

impl Site {
    /// The site whose page is the file `entry`.
    pub fn new(entry: &str, files: Files) -> Self {
        Self {
            entry: entry.into(),
            files: Arc::new(files),
            decomposed: Arc::default(),
            page: None,
            source_map: None,
            scripts: None,
            encoding: Arc::default(),
            hash: Arc::default(),
        }
    }

    /// A site of one file.
    pub fn single(entry: &str, content: Bytes) -> Self {
        Self::new(entry, Files::from([(entry.to_owned(), content)]))
    }

    /// The same files with `page` in the entry's place.
    pub fn with_page(self, page: Bytes) -> Self {
        // Source map and scripts were made of the entry and do not fit this page.
        Self { page: Some(page), source_map: None, scripts: None, ..self }
    }

    /// The same with the source map of the page.
    pub fn with_source_map(self, source_map: Option<EncodedSourceMap>) -> Self {
        Self { source_map, ..self }
    }

    /// The source map of the page; `None` if it is the entry itself, or none was recorded.
    pub fn source_map(&self) -> Option<&EncodedSourceMap> {
        self.source_map.as_ref()
    }

    /// The template as it was before a page was made of it: the same files, the entry's own among them.
    pub fn template(&self) -> Self {
        Self { page: None, ..self.clone() }
    }

    /// The same files with another entry: `text`, named `name`, in the folder of the current one.
    pub fn with_entry(&self, name: &str, text: Bytes) -> Self {
        let folder = self.folder();
        let entry = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        // Files that declare no encoding are in that of the original entry: detect it before the entry changes.
        let _ = self.legacy_encoding();
        let encoding = Arc::clone(&self.encoding);
        Self {
            entry: entry.into(),
            page: Some(text),
            source_map: None,
            scripts: None,
            encoding,
            hash: Arc::default(),
            ..self.clone()
        }
    }

    /// The hash of the template's content, whatever page was made of it. The first call for these files reads all of them.
    pub fn content_hash(&self) -> ContentHash {
        *self.hash.get_or_init(|| {
            let mut hash = Sha256::new();
            let mut add = |part: &[u8]| {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            };
            add(self.entry.as_bytes());
            for (path, content) in self.files.iter() {
                add(path.as_bytes());
                add(content);
            }
            ContentHash(hash.finalize().into())
        })
    }

    /// The bytes of all files that [`Site::content_hash`] would read; none where it is made already.
    pub fn unhashed_bytes(&self) -> usize {
        if self.hash.get().is_some() { 0 } else { self.files.values().map(Bytes::len).sum() }
    }

    /// The same site with room for the scripts of its templates, for a site that is cached.
    pub fn keeping_scripts(self) -> Self {
        let scripts = self.empty_scripts().filter(|_| self.page.is_none());
        Self { scripts: scripts.map(Arc::new), ..self }
    }

    /// Room for the scripts of its templates, none made yet. None where the entry has no tags: then nothing is rendered.
    pub fn empty_scripts(&self) -> Option<Scripts> {
        self.is_template(&self.entry).then(|| Scripts::of(self.templates()))
    }

    /// The entry, and the files with tags that it may include.
    fn templates(&self) -> impl Iterator<Item = (&str, &Bytes)> {
        let is_included =
            |path: &str| path == self.entry() || scripts::is_partial(path) && self.is_template(path);
        let paths = self.paths().filter(move |path| is_included(path));
        paths.filter_map(|path| Some((path, self.get(path)?)))
    }

    fn is_template(&self, path: &str) -> bool {
        self.text(path).is_some_and(|text| memmem::find(&text.content, b"<%").is_some())
    }

    /// The same site with `scripts`, which are those of a site of the same content.
    pub fn with_scripts(self, scripts: Arc<Scripts>) -> Self {
        Self { scripts: Some(scripts), ..self }
    }

    /// The entry, where it is the only file.
    pub fn only_file(&self) -> Option<&Bytes> {
        if self.files.len() == 1 && self.page.is_none() { self.files.get(&*self.entry) } else { None }
    }

    /// Room for the scripts of its templates; none in a site that is used once.
    pub fn scripts(&self) -> Option<&Arc<Scripts>> {
        self.scripts.as_ref()
    }

    /// The script of the file at `path`, where one is kept.
    pub fn script(&self, path: &str) -> Option<&Script> {
        self.scripts.as_ref()?.get(path)
    }

    /// The path of the entry, the page itself.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The folder of the entry, without a trailing slash; empty at the top.
    pub fn folder(&self) -> &str {
        self.entry.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The page that was made, else the entry.
    pub fn page(&self) -> Option<&Bytes> {
        self.page.as_ref().or_else(|| self.files.get(&*self.entry))
    }

    /// The file at `path`.
    pub fn get(&self, path: &str) -> Option<&Bytes> {
        self.find(path).map(|(_, content)| content)
    }

    /// The file at `path`, with its path as the template has it. The two may differ in Unicode normalisation: macOS packs
    /// names decomposed (NFD), and authors type them composed (NFC). A file of exactly this name comes first.
    pub fn find(&self, path: &str) -> Option<(&str, &Bytes)> {
        let other_form = || {
            let composed = COMPOSE.normalize(path);
            self.exact(self.decomposed().get(&*composed).map_or(&*composed, String::as_str))
        };
        self.exact(path).or_else(|| if path.is_ascii() { None } else { other_form() })
    }

    fn exact(&self, path: &str) -> Option<(&str, &Bytes)> {
        if path == &*self.entry {
            return Some((&self.entry, self.page()?));
        }
        self.files.get_key_value(path).map(|(path, content)| (path.as_str(), content))
    }

    fn decomposed(&self) -> &BTreeMap<String, String> {
        self.decomposed.get_or_init(|| {
            let others = self.paths().filter(|path| !COMPOSE.is_normalized(path));
            let pairs = others.map(|path| (COMPOSE.normalize(path).into_owned(), path.to_owned()));
            pairs.filter(|(composed, _)| !self.files.contains_key(composed)).collect()
        })
    }

    /// Its style sheets, by the ending of their names.
    pub fn style_sheets(&self) -> impl Iterator<Item = &Bytes> {
        let is_sheet =
            |path: &str| path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("css"));
        self.paths().filter(move |path| is_sheet(path)).filter_map(|path| self.get(path))
    }

    /// The file at `path` as text; without a declaration it is in the entry's encoding. `None` if there is none, or it is
    /// binary.
    pub fn text(&self, path: &str) -> Option<SiteText> {
        let (path, file) = self.find(path)?;
        let is_entry = path == &*self.entry;
        if is_entry && self.page.is_some() {
            return Some(SiteText { content: file.clone(), warning: None });
        }
        let around = Some(self).filter(|_| !is_entry).and_then(Self::legacy_encoding);
        let decoded = encoding::decode(file, Syntax::of(path), around)?;
        Some(SiteText { content: encoding::shared(file, decoded.text), warning: decoded.warning })
    }

    /// The encoding of the entry's file if that is not UTF-8. The page made of it is UTF-8, but files that it refers to and
    /// that declare nothing are still in this one.
    pub fn legacy_encoding(&self) -> Option<&'static Encoding> {
        let found = self.encoding.get_or_init(|| {
            let entry = self.files.get(&*self.entry);
            let decoded = entry.and_then(|entry| encoding::decode(entry, Syntax::Page, None));
            decoded.map_or(UTF_8, |decoded| decoded.encoding)
        });
        Some(*found).filter(|&found| found != UTF_8 && found.is_ascii_compatible())
    }

    /// The file at `path` as its author wrote it, even if a page was made of it.
    pub fn original(&self, path: &str) -> Option<&Bytes> {
        self.files.get(self.find(path)?.0)
    }

    /// The identity of its files.
    pub fn files_id(&self) -> FilesId {
        FilesId(Arc::downgrade(&self.files))
    }

    /// The paths of all files, the entry included.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The paths of all files, and the composed form of those that are not: for a folder in which a program looks for files
    /// by itself.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.paths().chain(self.decomposed().keys().map(String::as_str))
    }

    /// Whether there are files besides the entry.
    pub fn has_assets(&self) -> bool {
        self.files.len() > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_replaces_the_entry_and_the_files_are_shared() {
        let files = [("a/index.html", "entry"), ("a/x.css", "p{}")];
        let files = files.map(|(path, text)| (path.to_owned(), Bytes::from_static(text.as_bytes())));
        let site = Site::new("a/index.html", Files::from(files));
        let other = site.clone().with_page(Bytes::from_static(b"page"));
        assert_eq!((site.folder(), site.page().unwrap().as_ref()), ("a", &b"entry"[..]));
        assert_eq!(other.get("a/index.html").unwrap().as_ref(), b"page");
        assert_eq!(other.template().page().unwrap().as_ref(), b"entry");
        assert_eq!(other.get("a/x.css").unwrap().as_ptr(), site.get("a/x.css").unwrap().as_ptr());
        let cached = site.clone().keeping_scripts();
        assert!(cached.scripts().is_none(), "no file of it is a template");
        let cached = Site::single("index.html", Bytes::from_static(b"<%= 1 %>")).keeping_scripts();
        assert!(cached.scripts().is_some());
        assert!(cached.with_page(Bytes::new()).scripts().is_none(), "they are of another page");
        assert_eq!(other.paths().collect::<Vec<_>>(), ["a/index.html", "a/x.css"]);
        let header = site.with_entry("headerTemplate", Bytes::from_static(b"b"));
        assert_eq!((header.entry(), header.page().unwrap().as_ref()), ("a/headerTemplate", &b"b"[..]));
        assert_eq!(header.get("a/index.html").unwrap().as_ref(), b"entry");
    }

    #[test]
    fn a_name_in_another_normalisation_means_the_same_file_unless_one_has_exactly_it() {
        // é and ö, each in both forms; in `e\u{323}\u{301}` even the order of the marks may differ.
        let paths = [
            "e\u{301}.html",
            "o\u{308}/e\u{301}.png",
            "\u{f6}.css",
            "both/\u{e9}",
            "both/e\u{301}",
            "e\u{301}\u{323}.txt",
            "plain.txt",
        ];
        let files = paths.map(|path| (path.to_owned(), Bytes::from_static(path.as_bytes())));
        let site = Site::new(paths[0], Files::from(files));
        for (asked, found) in [
            ("\u{e9}.html", Some("e\u{301}.html")),
            ("\u{f6}/\u{e9}.png", Some("o\u{308}/e\u{301}.png")),
            ("o\u{308}/\u{e9}.png", Some("o\u{308}/e\u{301}.png")),
            ("o\u{308}.css", Some("\u{f6}.css")),
            ("both/\u{e9}", Some("both/\u{e9}")),
            ("both/e\u{301}", Some("both/e\u{301}")),
            ("e\u{323}\u{301}.txt", Some("e\u{301}\u{323}.txt")),
            ("\u{1eb9}\u{301}.txt", Some("e\u{301}\u{323}.txt")),
            ("\u{c9}.html", None),
            ("e.html", None),
            ("Plain.txt", None),
        ] {
            assert_eq!(site.find(asked).map(|(path, _)| path), found, "{asked}");
            let content = found.map(str::as_bytes);
            assert_eq!(site.get(asked).map(AsRef::as_ref), content, "{asked}");
            assert_eq!(site.original(asked).map(AsRef::as_ref), content, "{asked}");
            assert_eq!(site.text(asked).as_ref().map(|text| &text.content[..]), content, "{asked}");
        }
        let added: Vec<_> = site.names().filter(|name| !paths.contains(name)).collect();
        assert_eq!(added, ["\u{e9}.html", "\u{f6}/\u{e9}.png", "\u{1eb9}\u{301}.txt"]);
        let page = site.with_page(Bytes::from_static(b"page"));
        assert_eq!(page.get("\u{e9}.html").unwrap().as_ref(), b"page", "the page has its entry's names");
        assert_eq!(page.text("\u{e9}.html").unwrap().content, "page");
        assert_eq!(page.original("\u{e9}.html").unwrap().as_ref(), "e\u{301}.html".as_bytes());
    }

    #[test]
    fn a_text_is_in_its_declared_encoding_or_in_that_of_the_entry() {
        let files: [(&str, &[u8]); 6] = [
            ("index.html", b"<meta charset=windows-1251>\xe4"),
            ("a.ejs", b"\xe4"),
            ("b.css", b"@charset \"latin1\";\xe4"),
            ("c.ejs", "д".as_bytes()),
            ("d.ejs", b"\xff\xfe\x34\x04"),
            ("e.bin", b"\0\xe4"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), Bytes::from_static(text)));
        let site = Site::new("index.html", Files::from(files));
        let text = |path| site.text(path).map(|text| String::from_utf8(text.content.to_vec()).unwrap());
        assert_eq!(text("index.html").unwrap(), "<meta charset=windows-1251>д");
        assert_eq!(
            ["a.ejs", "b.css", "c.ejs", "d.ejs"].map(|path| text(path).unwrap()),
            ["д", "@charset \"latin1\";ä", "д", "д"]
        );
        assert_eq!((site.text("nothing"), site.legacy_encoding().unwrap().name()), (None, "windows-1251"));
        assert_eq!(site.text("e.bin").unwrap().content, "\0д", "the entry's encoding has all bytes");
        let shown = site.clone().with_page(Bytes::from_static("<meta charset=windows-1251>ä".as_bytes()));
        assert_eq!(shown.text("index.html").unwrap().content, "<meta charset=windows-1251>ä", "it is UTF-8");
        assert_eq!(shown.legacy_encoding(), site.legacy_encoding(), "its files are what they were");
        let plain = Site::single("index.html", Bytes::from_static("<p>ä".as_bytes()));
        assert_eq!(plain.text("index.html").unwrap().content.as_ptr(), plain.page().unwrap().as_ptr());
        assert_eq!(plain.legacy_encoding(), None);
    }
}
