//! The store that a test works on: the disk, or with `PLATEN_TEST_STORE=s3` a bucket whose folder is in the data folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use platen::config::Config;
use platen::storage::ObjectStore;
use platen::storage::data_dir::DataDir;
use platen::storage::disk::DiskStore;
use platen::storage::s3::S3Store;

use super::{ObjectServer, settings};

/// One server for all tests of a process, with a bucket for each data folder.
struct Buckets {
    server: ObjectServer,
    root: tempfile::TempDir,
    known: Mutex<HashMap<PathBuf, String>>,
}

/// The store of a data folder, new or used before.
pub async fn store_in(data: &DataDir) -> Arc<dyn ObjectStore> {
    if !is_bucket() {
        return Arc::new(DiskStore::open(data.objects()).await.expect("a store"));
    }
    let buckets = buckets();
    let (endpoint, bucket) = (buckets.server.endpoint(), buckets.of(data.path()));
    let mut settings = settings(&endpoint);
    settings.push(("s3.bucket", &bucket));
    let variable = |(key, value): (&str, &str)| {
        (format!("PLATEN__{}", key.to_uppercase().replace('.', "__")), value.to_owned())
    };
    let config = Config::load(None, settings.into_iter().map(variable)).expect("settings").s3;
    Arc::new(S3Store::open(&config, data.objects(), 0).await.expect("a store"))
}

/// Whether the tests are to work on a bucket.
pub fn is_bucket() -> bool {
    std::env::var_os("PLATEN_TEST_STORE").is_some_and(|store| store == "s3")
}

fn buckets() -> &'static Buckets {
    static BUCKETS: OnceLock<Buckets> = OnceLock::new();
    BUCKETS.get_or_init(|| {
        let root = tempfile::tempdir().expect("a folder for buckets");
        Buckets { server: ObjectServer::start(root.path()), root, known: Mutex::default() }
    })
}

impl Buckets {
    fn of(&self, data: &Path) -> String {
        let mut known = self.known.lock().expect("nobody panics with it");
        let next = format!("bucket-{}", known.len());
        let bucket = known.entry(data.to_owned()).or_insert(next).clone();
        let folder = data.join("bucket");
        std::fs::create_dir_all(&folder).expect("a folder for the bucket");
        // A data folder that is gone may have had the name; its bucket's name is not used again.
        let _ = std::os::unix::fs::symlink(folder, self.root.path().join(&bucket));
        bucket
    }
}
