//! The store in a bucket, against a strict server in this process.

use std::path::Path;
use std::sync::Arc;

use platen::config::{Config, S3Config};
use platen::storage::s3::S3Store;

use crate::contract::behaves;
use crate::objects::{ACCESS_KEY, BUCKET, ObjectServer, SECRET_KEY};

/// The settings of a bucket at `endpoint`, impatient enough for tests.
pub(crate) fn settings(endpoint: &str, changes: &[(&str, &str)]) -> S3Config {
    let fixed = [
        ("endpoint", endpoint),
        ("bucket", BUCKET),
        ("access_key", ACCESS_KEY),
        ("secret_key", SECRET_KEY),
        ("path_style", "true"),
        ("retry_pause_ms", "20"),
        ("stall_timeout_ms", "1000"),
    ];
    let variable = |&(key, value): &(&str, &str)| (format!("PLATEN__S3__{}", key.to_uppercase()), value.to_owned());
    Config::load(None, fixed.iter().chain(changes).map(variable)).unwrap().s3
}

pub(crate) async fn open(config: &S3Config, folder: &Path) -> S3Store {
    S3Store::open(config, folder.join("spool"), 0).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_a_bucket_behaves() {
    let root = tempfile::tempdir().unwrap();
    let server = ObjectServer::start(&root.path().join("server"));
    behaves(Arc::new(open(&settings(&server.endpoint(), &[]), root.path()).await)).await;
    let spooling = settings(&server.endpoint(), &[("prefix", "below/here/"), ("spool_bytes", "65536")]);
    behaves(Arc::new(open(&spooling, root.path()).await)).await;
    assert!(!server.objects("below/here/jobs").is_empty(), "everything lies below the prefix");
}
