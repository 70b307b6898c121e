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

/// A template as renders get it: its unpacked files, and what is known of them.
#[derive(Clone, Debug)]
pub struct LoadedTemplate {
    /// Its files. Of a package in the cache they come with the scripts that EJS generated from them.
    pub site: Site,
    /// What its entry is.
    pub kind: TemplateKind,
    /// What its page may reach. In the cache, which all accounts share, only its own files; more is set for one use.
    pub reach: Reach,
    /// The version of the saved content, where it comes from a saved template.
    pub version: Option<ObjectId>,
}

impl LoadedTemplate {
    /// The package for the cache, which keeps the scripts that EJS will generate from its files.
    pub(in crate::templates) fn cached(package: Package) -> Self {
        let loaded = Self::from(package);
        Self { site: loaded.site.keeping_scripts(), ..loaded }
    }
}

impl From<Package> for LoadedTemplate {
    fn from(package: Package) -> Self {
        let site = Site::new(&package.entry, package.files);
        Self { site, kind: package.kind, reach: Reach::OwnFiles, version: None }
    }
}

/// Unpacked packages by their id.
pub(in crate::templates) struct ContentCache {
    packages: Cache<ObjectId, LoadedTemplate, Weights>,
    metrics: TemplateMetrics,
}

#[derive(Clone)]
struct Weights;

impl Weighter<ObjectId, LoadedTemplate> for Weights {
    fn weight(&self, _: &ObjectId, loaded: &LoadedTemplate) -> u64 {
        let site = &loaded.site;
        let bytes = |path: &str| site.get(path).map_or(0, |file| file.len() as u64);
        let files: u64 = site.paths().map(|path| bytes(path) + path.len() as u64 + FILE_WEIGHT_BYTES).sum();
        // Hazard: the scripts and the list of the paths are made later, and the cache does not weigh an entry again. So their largest possible size
        // counts from the beginning, or the cache would exceed its bound.
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
        load: impl Future<Output = Result<LoadedTemplate, E>>,
    ) -> Result<LoadedTemplate, E> {
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
        let weight = |loaded: &LoadedTemplate| Weights.weight(&ObjectId::generate(), loaded);
        let once = LoadedTemplate::from(package.clone());
        assert_eq!(weight(&once), (entry.len() + "index.html".len()) as u64 + FILE_WEIGHT_BYTES);
        let cached = LoadedTemplate::cached(package);
        let before = weight(&cached);
        let source = "x".repeat(entry.len() * 4);
        assert!(before > (entry.len() + source.len()) as u64 + FILE_WEIGHT_BYTES);
        let script = Script::new(&entry, &entry, None, source).unwrap();
        cached.site.scripts().unwrap().keep(vec![("index.html".to_owned(), Some(script))]);
        assert_eq!(weight(&cached), before, "the cache subtracts the weight that it added");
    }
}
