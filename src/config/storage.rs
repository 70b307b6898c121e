//! The data folder, the index, presigned URLs and space on the disk.

use serde::Deserialize;

use super::SettingErrors;

/// Section `[storage]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageConfig {
    /// Folder of all persistent data; created with mode 0700.
    pub data_dir: String,
    /// Folder of the files passed between two steps of a job; empty: in `data_dir`.
    pub work_dir: String,
    /// Where objects are stored.
    pub objects: Objects,
    /// Lifetime of presigned URLs.
    pub address_ttl_s: u64,
    /// Largest output (512 MiB).
    pub output_limit_bytes: u64,
    /// Memory the index may use as a cache.
    pub index_cache_bytes: u64,
    /// Changes waiting for the index's writer.
    pub index_queue_limit: u64,
    /// With less space free, nothing is uploaded or rendered, so that the index can still write.
    pub objects_free_limit_bytes: u64,
    /// With less space free on its disk, the index takes no more changes.
    pub free_limit_bytes: u64,
    /// A `platen backup` beside the running service is broken off after so long: deletions wait for it.
    pub backup_limit_s: u64,
}

/// Where objects are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objects {
    /// In the data folder.
    Disk,
    /// In the bucket of section `[s3]`.
    S3,
}

impl StorageConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        if self.data_dir.is_empty() {
            errors.add("storage.data_dir", "must name a folder");
        }
        errors.within("storage.address_ttl_s", self.address_ttl_s, 10, 604_800);
        errors.within("storage.output_limit_bytes", self.output_limit_bytes, 1_024, 1 << 40);
        errors.within("storage.index_cache_bytes", self.index_cache_bytes, 1 << 20, 1 << 40);
        errors.within("storage.index_queue_limit", self.index_queue_limit, 16, 1 << 20);
        // Objects must run out of space before the index does, which has to record that they failed.
        let least = self.free_limit_bytes;
        errors.within("storage.objects_free_limit_bytes", self.objects_free_limit_bytes, least, 1 << 50);
        errors.within("storage.free_limit_bytes", self.free_limit_bytes, 1 << 20, 1 << 50);
        errors.within("storage.backup_limit_s", self.backup_limit_s, 1, 604_800);
    }
}
