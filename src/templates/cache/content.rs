//! The content cache: what renders of a template need, kept in memory within a bound.
//!
//! What lies under a package's id never changes, so nothing in here is ever out of date. Two who want the same
//! package at once unpack it once.

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::domain::ids::ObjectId;
use crate::domain::kinds::TemplateKind;
use crate::domain::reach::Reach;
use crate::domain::site::Site;
use crate::telemetry::TemplateMetrics;
use crate::templates::package::Package;

/// What a file costs beside its bytes: its path, its place in a map.
const FILE_WEIGHT_BYTES: u64 = 256;
/// Packages that the cache makes room for at first; so few that it is in one part, and one package may fill it.
const FIRST_ROOM: usize = 32;

/// An unpacked package.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its files, and what EJS generates of them where that is kept.
    pub site: Site,
    /// What its entry is.
    pub kind: TemplateKind,
    /// How far its page may go: no farther than its files, unless whose use it is says so.
    pub reach: Reach,
    /// The version of the saved content that it is, where it comes from one.
    pub version: Option<ObjectId>,
}

impl Loaded {
    /// One that is kept, with room for what EJS generates of its files.
    pub(in crate::templates) fn kept(package: Package) -> Self {
        let loaded = Self::from(package);
        Self { site: loaded.site.keeping_scripts(), ..loaded }
    }

    /// The same for a use in which its page may go as far as `reach`.
    #[must_use]
    pub fn reaching(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }
}

impl From<Package> for Loaded {
    fn from(package: Package) -> Self {
        let site = Site::new(&package.entry, package.files);
        Self { site, kind: package.kind, reach: Reach::OwnFiles, version: None }
    }
}

/// Unpacked packages by their id.
pub(in crate::templates) struct ContentCache {
    kept: Cache<ObjectId, Loaded, Weights>,
    metrics: TemplateMetrics,
}

#[derive(Clone)]
struct Weights;

impl Weighter<ObjectId, Loaded> for Weights {
    fn weight(&self, _: &ObjectId, loaded: &Loaded) -> u64 {
        let site = &loaded.site;
        let bytes = site.paths().map(|path| site.get(path).map_or(0, |file| file.len() as u64));
        let files: u64 = bytes.map(|bytes| bytes + FILE_WEIGHT_BYTES).sum();
        // They are made later: room for the most that they may become is taken now.
        files + site.scripts().map_or(0, |scripts| scripts.weight())
    }
}

impl ContentCache {
    /// A cache of at most `bytes`.
    pub fn new(bytes: u64, metrics: TemplateMetrics) -> Self {
        Self { kept: Cache::with_weighter(FIRST_ROOM, bytes, Weights), metrics }
    }

    /// The package `id`, unpacked by `load` where it is not kept.
    ///
    /// # Errors
    /// What `load` says; nothing is kept then.
    pub async fn get<E>(
        &self,
        id: ObjectId,
        load: impl Future<Output = Result<Loaded, E>>,
    ) -> Result<Loaded, E> {
        let mut was_loaded = false;
        let loading = async {
            was_loaded = true;
            load.await
        };
        let loaded = self.kept.get_or_insert_async(&id, loading).await;
        self.metrics.cache.of([if was_loaded { "miss" } else { "hit" }]).inc();
        self.tell();
        loaded
    }

    /// What is kept under one id is kept under the other as well: they are the same package.
    pub fn share(&self, id: ObjectId, other: ObjectId) {
        if let Some(loaded) = self.kept.peek(&id).filter(|_| id != other) {
            self.kept.insert(other, loaded);
            self.tell();
        }
    }

    /// Forgets packages that no template names any more.
    pub fn forget(&self, ids: impl IntoIterator<Item = ObjectId>) {
        for id in ids {
            self.kept.remove(&id);
        }
        self.tell();
    }

    fn tell(&self) {
        self.metrics.cached_bytes.set(i64::try_from(self.kept.weight()).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::domain::scripts::Script;

    #[test]
    fn what_a_package_may_become_is_weighed_before() {
        let entry = Bytes::from("<p><%= name %></p>\n".repeat(50));
        let package = Package {
            entry: "index.html".to_owned(),
            kind: TemplateKind::Ejs,
            files: [("index.html".to_owned(), entry.clone())].into(),
        };
        let weight = |loaded: &Loaded| Weights.weight(&ObjectId::generate(), loaded);
        let once = Loaded::from(package.clone());
        assert_eq!(weight(&once), entry.len() as u64 + FILE_WEIGHT_BYTES);
        let kept = Loaded::kept(package);
        let before = weight(&kept);
        let source = "x".repeat(entry.len() * 4);
        assert!(before > (entry.len() + source.len()) as u64 + FILE_WEIGHT_BYTES);
        let script = Script::new(&entry, &entry, None, source).unwrap();
        kept.site.scripts().unwrap().keep(vec![("index.html".to_owned(), Some(script))]);
        assert_eq!(weight(&kept), before, "the cache takes off what it put on");
    }
}
