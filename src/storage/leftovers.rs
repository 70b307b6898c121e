//! Objects that no record names any more: their keys stand in the index until they are deleted, so that a
//! crash in between leaves nothing behind.
//!
//! `gone/<id>` holds the paths. It is written in the batch that stops naming them.

use std::collections::HashSet;

use futures_util::future::join_all;
use uuid::Uuid;

use super::index::{Change, Index, IndexError};
use super::{ObjectStore, StorageKey};

const PREFIX: &str = "gone/";
/// Marks read at a time.
const PAGE: usize = 500;
/// Marks whose objects are deleted at once: a store that is far away answers each after a while.
const AT_ONCE: usize = 8;

/// Objects that a job or a template had, under its id.
pub type Gone = (Uuid, Vec<StorageKey>);

/// The part of a batch that remembers what is to be deleted.
pub fn mark(id: Uuid, keys: &[StorageKey]) -> Change {
    if keys.is_empty() {
        return Change::new();
    }
    let paths: Vec<_> = keys.iter().map(ToString::to_string).collect();
    Change::new().put(mark_key(id), paths.join("\n"))
}

/// Deletes the objects and forgets them; what cannot be deleted now stays remembered.
pub async fn clear(index: &dyn Index, store: &dyn ObjectStore, gone: &[Gone]) {
    let mut forgotten = Change::new();
    for some in gone.chunks(AT_ONCE) {
        let deleted = join_all(some.iter().map(|(_, keys)| delete(store, keys))).await;
        for ((id, _), _) in some.iter().zip(deleted).filter(|(_, deleted)| *deleted) {
            forgotten = forgotten.delete(mark_key(*id));
        }
    }
    // What a crash brings back is deleted once more, which does no harm.
    if let Err(error) = index.write_unsynced(forgotten).await {
        tracing::warn!(error = %error, "marks of deleted objects stay behind");
    }
}

/// Deletes what an earlier life of the service, or a failing store, left; answers how many marks there were.
///
/// # Errors
/// When the index cannot be read.
pub async fn replay(index: &dyn Index, store: &dyn ObjectStore) -> Result<usize, IndexError> {
    let marks = index.scan(PREFIX, None, PAGE).await?;
    if marks.is_empty() {
        return Ok(0);
    }
    // A batch can be seen before it is on the disk: what it names no more may be what a crash brings back.
    index.sync().await?;
    let gone = marks.iter().filter_map(|mark| {
        let id = mark.key.strip_prefix(PREFIX)?.parse().ok()?;
        let paths = String::from_utf8_lossy(&mark.value);
        Some((id, paths.lines().filter_map(StorageKey::from_path).collect()))
    });
    clear(index, store, &gone.collect::<Vec<_>>()).await;
    Ok(marks.len())
}

/// Deletes objects that no record names, as the index says now; answers how many went.
pub async fn remove_unnamed(index: &dyn Index, store: &dyn ObjectStore, keys: &[StorageKey]) -> u64 {
    if keys.is_empty() {
        return 0;
    }
    // As for marks: what is not on the disk yet is not the truth.
    if let Err(error) = index.sync().await {
        tracing::warn!(error = %error, "objects that nobody names stay, for the index cannot be written");
        return 0;
    }
    let mut removed = 0;
    for key in keys {
        removed += u64::from(delete(store, std::slice::from_ref(key)).await);
    }
    removed
}

/// Everything that is deleted and only not gone yet.
///
/// # Errors
/// When the index cannot be read.
pub async fn marked(index: &dyn Index) -> Result<HashSet<StorageKey>, IndexError> {
    let (mut marked, mut after) = (HashSet::new(), None::<String>);
    loop {
        let page = index.scan(PREFIX, after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(marked) };
        after = Some(last.key.clone());
        for mark in &page {
            let paths = String::from_utf8_lossy(&mark.value);
            marked.extend(paths.lines().filter_map(StorageKey::from_path));
        }
    }
}

async fn delete(store: &dyn ObjectStore, keys: &[StorageKey]) -> bool {
    match store.delete_all(keys).await {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(error = %error, "objects stay behind until the next sweep");
            false
        }
    }
}

fn mark_key(id: Uuid) -> String {
    format!("{PREFIX}{id}")
}
