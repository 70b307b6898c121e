//! The data folder: objects, index, addresses.

use serde::Deserialize;

use super::Faults;

/// Section `[storage]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageConfig {
    /// Everything that lasts; made with mode 0700.
    pub data_dir: String,
    /// Where files lie between two steps of a job; empty: in `data_dir`.
    pub work_dir: String,
    /// Where objects live.
    pub objects: Objects,
    /// Lifetime of presigned addresses.
    pub address_ttl_s: u64,
    /// Largest output (512 MiB).
    pub output_limit_bytes: u64,
    /// Memory the index may use as a cache.
    pub index_cache_bytes: u64,
    /// Changes waiting for the index' writer.
    pub index_queue_limit: u64,
    /// With less space free on its disk, the store takes no more objects.
    pub objects_free_limit_bytes: u64,
    /// With less space free on its disk, the index takes no more changes.
    pub free_limit_bytes: u64,
    /// A backup beside a running service that takes longer is broken off.
    pub backup_limit_s: u64,
}

/// Where objects live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objects {
    /// In the data folder.
    Disk,
    /// In the bucket of section `[s3]`.
    S3,
}

impl StorageConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        if self.data_dir.is_empty() {
            faults.add("storage.data_dir", "must name a folder");
        }
        faults.within("storage.address_ttl_s", self.address_ttl_s, 10, 604_800);
        faults.within("storage.output_limit_bytes", self.output_limit_bytes, 1_024, 1 << 40);
        faults.within("storage.index_cache_bytes", self.index_cache_bytes, 1 << 20, 1 << 40);
        faults.within("storage.index_queue_limit", self.index_queue_limit, 16, 1 << 20);
        // Always more than the index keeps: what fills the disk must not stop what says so.
        let least = self.free_limit_bytes;
        faults.within("storage.objects_free_limit_bytes", self.objects_free_limit_bytes, least, 1 << 50);
        faults.within("storage.free_limit_bytes", self.free_limit_bytes, 1 << 20, 1 << 50);
        faults.within("storage.backup_limit_s", self.backup_limit_s, 1, 604_800);
    }
}
