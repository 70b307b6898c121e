//! The object store. A bucket is tried with every operation that the service uses.

use std::path::Path;
use std::sync::Arc;

use super::report::Finding;
use crate::clock::{Clock, SystemClock, random_bytes};
use crate::config::{Config, Objects};
use crate::storage::presigned_urls::{OwnPresignedUrls, Signer};
use crate::storage::s3::{S3PresignedUrls, self_test};

const PART: &str = "Store";

pub(super) async fn findings(config: &Config) -> Vec<Finding> {
    match config.storage.objects {
        Objects::S3 => bucket(config).await,
        Objects::Disk => {
            let folder = Path::new(&config.storage.data_dir).join("objects");
            vec![Finding::ok(PART, format!("the disk: {}", folder.display()))]
        }
    }
}

async fn bucket(config: &Config) -> Vec<Finding> {
    let errors = match presigned_urls(config) {
        Ok(urls) => self_test::examine(&config.s3, &urls).await,
        Err(error) => vec![error],
    };
    let missing = |error| {
        Finding::missing(PART, error).with_remedy(
            "documents and templates: nothing can be kept",
            "correct section [s3], or storage.objects",
        )
    };
    if errors.is_empty() {
        let bucket = &config.s3.bucket;
        let detail =
            format!("bucket '{bucket}': put, get, range, copy, list, delete and presigned addresses work");
        return vec![Finding::ok(PART, detail)];
    }
    errors.into_iter().map(missing).collect()
}

fn presigned_urls(config: &Config) -> Result<S3PresignedUrls, String> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    // The self test uses the bucket's URLs only, so the service's own get a random key and no base.
    let signer = Signer::new(&random_bytes().map_err(|error| error.to_string())?);
    let lifetime_s = config.storage.address_ttl_s;
    let own = OwnPresignedUrls::new(Arc::new(signer), Arc::clone(&clock), String::new(), lifetime_s);
    S3PresignedUrls::new(&config.s3, lifetime_s, clock, own).map_err(|error| error.to_string())
}
