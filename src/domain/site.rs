//! The files of one template, as the assembler reads them and the page server serves them.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock, Weak};

use bytes::Bytes;
use icu_normalizer::ComposingNormalizerBorrowed;
use memchr::memmem;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::encoding::{self, Encoding, EncodingWarning, Syntax, UTF_8};
use super::scripts::{self, Script, Scripts};

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
    /// The paths in JSON; written once.
    listing: Arc<OnceLock<Box<RawValue>>>,
    /// The page that the assembler made, in place of the entry.
    page: Option<Bytes>,
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
            listing: Arc::default(),
            page: None,
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
        // The scripts were made of the entry and do not fit this page.
        Self { page: Some(page), scripts: None, ..self }
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

    /// The bytes of all files, of the page, and of the paths: a scan of the site takes time by these.
    pub fn looked_at_bytes(&self) -> usize {
        let files = self.files.iter().map(|(path, content)| path.len() + content.len());
        files.sum::<usize>() + self.page.as_ref().map_or(0, Bytes::len)
    }

    /// The bytes that a look at one file reads: its own, and the entry's where its encoding is not known yet. A name beyond ASCII
    /// is looked for among the composed forms of all names, which may take long.
    pub fn bytes_to_read(&self, path: &str) -> usize {
        if !path.is_ascii() {
            return usize::MAX;
        }
        let entry = if self.encoding.get().is_some() { None } else { self.files.get(&*self.entry) };
        self.get(path).map_or(0, Bytes::len).saturating_add(entry.map_or(0, Bytes::len))
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

    /// The paths of all files as a JSON array. The first call for these files reads all of them.
    pub fn listing(&self) -> &RawValue {
        self.listing.get_or_init(|| {
            let paths: Vec<_> = self.paths().collect();
            serde_json::value::to_raw_value(&paths).unwrap_or_default()
        })
    }

    /// The bytes of all paths that [`Site::listing`] would read; none where it is made already.
    pub fn unlisted_bytes(&self) -> usize {
        if self.listing.get().is_some() { 0 } else { self.paths().map(str::len).sum() }
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
mod tests;
