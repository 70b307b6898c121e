//! The content cache: unpacked packages in memory, within a bound (`templates.cache_bytes`).
//!
//! An object is never replaced, so what is cached under its id is never out of date. Two renders that want the same package
//! at the same time unpack it once.

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::domain::ids::ObjectId;
use crate::domain::kinds::TemplateKind;
use crate::domain::reach::Reach;
use crate::domain::site::Site;
use crate::telemetry::TemplateMetrics;
use crate::templates::package::Package;

/// What a file takes in memory beside its bytes: its path, its entry in a map.
const FILE_WEIGHT_BYTES: u64 = 256;
/// Packages that the cache expects: so few that the library does not split the bound into shards, and one package may
/// fill it.
const EXPECTED_PACKAGES: usize = 32;

/// An unpacked package.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its files, and the scripts that EJS generates of them where they are kept.
    pub site: Site,
    /// What its entry is.
    pub kind: TemplateKind,
    /// What its page may reach: only its own files, unless it is set otherwise for a use.
    pub reach: Reach,
    /// The version of the saved content, where it comes from a saved template.
    pub version: Option<ObjectId>,
}

impl Loaded {
    /// One for the cache, with room for the scripts that EJS generates of its files.
    pub(in crate::templates) fn cached(package: Package) -> Self {
        let loaded = Self::from(package);
        Self { site: loaded.site.keeping_scripts(), ..loaded }
    }

    /// The same for a use in which its page may reach `reach`.
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
    packages: Cache<ObjectId, Loaded, Weights>,
    metrics: TemplateMetrics,
}

#[derive(Clone)]
struct Weights;

impl Weighter<ObjectId, Loaded> for Weights {
    fn weight(&self, _: &ObjectId, loaded: &Loaded) -> u64 {
        let site = &loaded.site;
        let bytes = site.paths().map(|path| site.get(path).map_or(0, |file| file.len() as u64));
        let files: u64 = bytes.map(|bytes| bytes + FILE_WEIGHT_BYTES).sum();
        // The scripts are generated later, when the cache does not weigh it again: what they may become at most counts now.
        files + site.scripts().map_or(0, |scripts| scripts.weight())
    }
}

impl ContentCache {
    /// A cache of at most `bytes`.
    pub fn new(bytes: u64, metrics: TemplateMetrics) -> Self {
        Self { packages: Cache::with_weighter(EXPECTED_PACKAGES, bytes, Weights), metrics }
    }

    /// The package `id`, unpacked by `load` where it is not cached.
    ///
    /// # Errors
    /// Those of `load`; nothing is cached then.
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
        let loaded = self.packages.get_or_insert_async(&id, loading).await;
        self.metrics.cache.of([if was_loaded { "miss" } else { "hit" }]).inc();
        self.report_weight();
        loaded
    }

    /// Caches under `other` what is cached under `id`: a copy of the same package.
    pub fn share(&self, id: ObjectId, other: ObjectId) {
        if let Some(loaded) = self.packages.peek(&id).filter(|_| id != other) {
            self.packages.insert(other, loaded);
            self.report_weight();
        }
    }

    /// Forgets packages that no template names any more.
    pub fn forget(&self, ids: impl IntoIterator<Item = ObjectId>) {
        for id in ids {
            self.packages.remove(&id);
        }
        self.report_weight();
    }

    fn report_weight(&self) {
        self.metrics.cached_bytes.set(i64::try_from(self.packages.weight()).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::domain::scripts::Script;

    #[test]
    fn a_package_weighs_its_later_scripts_from_the_beginning() {
        let entry = Bytes::from("<p><%= name %></p>\n".repeat(50));
        let package = Package {
            entry: "index.html".to_owned(),
            kind: TemplateKind::Ejs,
            files: [("index.html".to_owned(), entry.clone())].into(),
        };
        let weight = |loaded: &Loaded| Weights.weight(&ObjectId::generate(), loaded);
        let once = Loaded::from(package.clone());
        assert_eq!(weight(&once), entry.len() as u64 + FILE_WEIGHT_BYTES);
        let cached = Loaded::cached(package);
        let before = weight(&cached);
        let source = "x".repeat(entry.len() * 4);
        assert!(before > (entry.len() + source.len()) as u64 + FILE_WEIGHT_BYTES);
        let script = Script::new(&entry, &entry, None, source).unwrap();
        cached.site.scripts().unwrap().keep(vec![("index.html".to_owned(), Some(script))]);
        assert_eq!(weight(&cached), before, "the cache subtracts the weight that it added");
    }
}
