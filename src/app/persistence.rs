//! The parts whose data outlive the process: the data folder, its index, and the configured object store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::AppError;
use crate::clock::Clock;
use crate::config::{Config, Objects};
use crate::storage::backup::{HeldObjects, LiveBackup};
use crate::storage::data_dir::DataDir;
use crate::storage::deletions::DeletionGate;
use crate::storage::disk::DiskStore;
use crate::storage::index::{Index, SledIndex};
use crate::storage::metered::MeteredStore;
use crate::storage::presigned_urls::{OwnPresignedUrls, PresignedUrls, Signer};
use crate::storage::s3::{S3PresignedUrls, S3Store};
use crate::storage::{ObjectStore, StoreError};
use crate::telemetry::metrics::Metrics;
use crate::templates::repair::index_check;

/// The data folder, opened: index, store, keys, and the folders in it.
pub(super) struct Persistence {
    pub store: Arc<dyn ObjectStore>,
    pub index: Arc<dyn Index>,
    pub signer: Arc<Signer>,
    pub control_socket: PathBuf,
    /// What serves `platen backup`.
    pub backups: Arc<LiveBackup>,
    /// The folder for the working files of runs.
    pub work: PathBuf,
    /// The folder for caches that are built once for a machine.
    pub caches: Option<PathBuf>,
}

impl Persistence {
    pub async fn open(config: &Config, metrics: &Metrics) -> Result<Self, AppError> {
        let folder = DataDir::open(Path::new(&config.storage.data_dir))?;
        // Opening the index locks the folder against other services, so nothing else is opened before it.
        let index = SledIndex::open_counted(&folder.index(), &config.storage, metrics.index.clone()).await?;
        let sled = Arc::new(index);
        let index: Arc<dyn Index> = sled.clone();
        let (store, deletions) = store(config, &folder, index.as_ref()).await?;
        let store: Arc<dyn ObjectStore> = Arc::new(MeteredStore::new(store, metrics.store.clone()));
        let held = deletions.map(|deletions| HeldObjects { deletions, folder: folder.objects() });
        let backups = Arc::new(LiveBackup::new(sled, held, &config.storage));
        let work_dir = &config.storage.work_dir;
        let work = if work_dir.is_empty() { folder.work() } else { work_dir.into() };
        let caches = config.tex.cache_dir_or(Some(folder.caches()));
        let signer = Arc::new(Signer::open(&folder)?);
        Ok(Self { store, index, signer, control_socket: folder.control_socket(), backups, work, caches })
    }

    /// Presigned URLs of our own routes, or of the store itself where it has some.
    pub fn presigned_urls(
        &self,
        config: &Config,
        clock: &Arc<dyn Clock>,
        base: String,
    ) -> Result<Arc<dyn PresignedUrls>, StoreError> {
        let lifetime_s = config.storage.address_ttl_s;
        let own = OwnPresignedUrls::new(self.signer.clone(), clock.clone(), base, lifetime_s);
        Ok(match config.storage.objects {
            Objects::S3 => Arc::new(S3PresignedUrls::new(&config.s3, lifetime_s, clock.clone(), own)?),
            Objects::Disk => Arc::new(own),
        })
    }
}

/// The configured store of objects, after the check that it goes with the index; for a disk also its deletions, which
/// wait while a backup runs.
async fn store(
    config: &Config,
    folder: &DataDir,
    index: &dyn Index,
) -> Result<(Arc<dyn ObjectStore>, Option<DeletionGate>), AppError> {
    if config.storage.objects != Objects::S3 {
        let store = disk(config, folder).await?;
        index_check::check(index, &store).await?;
        let deletions = store.deletions().clone();
        return Ok((Arc::new(store), Some(deletions)));
    }
    let bucket = bucket(config, folder).await?;
    let store = bucket.clone().belonging_to(index).await?;
    store.check_at_start().await?;
    let limit_ms = config.s3.probe_timeout_ms;
    let trusted = timeout(Duration::from_millis(limit_ms), index_check::check(index, &bucket));
    trusted.await.map_err(|_| {
        format!(
            "the index is new, and the store does not tell within {limit_ms} ms (s3.probe_timeout_ms) whether it holds \
             templates: start again when it answers"
        )
    })??;
    store.claim(index).await?;
    Ok((Arc::new(store), None))
}

/// The configured store of objects. A bucket belongs to this index from now on, whichever index it belonged to.
///
/// # Errors
/// When its folder cannot be used, its settings make no URL, or it fails.
pub async fn store_taken_over(
    config: &Config,
    folder: &DataDir,
    index: &dyn Index,
) -> Result<Arc<dyn ObjectStore>, AppError> {
    let store: Arc<dyn ObjectStore> = if config.storage.objects == Objects::S3 {
        Arc::new(bucket(config, folder).await?.taken_over(index).await?)
    } else {
        Arc::new(disk(config, folder).await?)
    };
    Ok(Arc::new(MeteredStore::new(store, Metrics::new().store)))
}

async fn bucket(config: &Config, folder: &DataDir) -> Result<S3Store, StoreError> {
    S3Store::open(&config.s3, folder.objects(), config.storage.objects_free_limit_bytes).await
}

async fn disk(config: &Config, folder: &DataDir) -> Result<DiskStore, StoreError> {
    DiskStore::with_free_limit(folder.objects(), config.storage.objects_free_limit_bytes).await
}
