//! The store between fail points: a fault is the error that it would be in a real store. Debug builds only.

use std::io::Error;
use std::path::Path;

use super::{StoreError, is_out_of_space, object_files, s3};
use crate::failpoint::{Step, meet};

/// A change between two fail points: an error before it leaves it undone, one after it does not.
pub(super) async fn around<T>(
    operation: &str,
    change: impl Future<Output = Result<T, StoreError>> + Send,
) -> Result<T, StoreError> {
    let step = if operation == "delete" { Step::Delete } else { Step::Write };
    meet(step).await.map_err(|error| store_error(&error))?;
    let changed = change.await;
    meet(step).await.map_err(|error| store_error(&error))?;
    changed
}

/// A part of an object is written, behind a fail point.
pub(super) async fn before_stage<T>(
    staged: impl Future<Output = Result<T, StoreError>> + Send,
) -> Result<T, StoreError> {
    meet(Step::Stage).await.map_err(|error| store_error(&error))?;
    staged.await
}

/// A read behind a fail point.
pub(super) async fn before_read<T>(
    read: impl Future<Output = Result<T, StoreError>> + Send,
) -> Result<T, StoreError> {
    meet(Step::Read).await.map_err(|error| store_error(&error))?;
    read.await
}

fn store_error(error: &Error) -> StoreError {
    let is_full = is_out_of_space(error);
    if is_full { object_files::with_path(error, Path::new("the disk of a test")) } else { s3::answer_500() }
}
