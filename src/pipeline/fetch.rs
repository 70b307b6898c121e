//! Fetch: the job's inputs, from memory or from the store, and the check that the data is JSON.

use bytes::Bytes;

use super::{Parts, RunInput};
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::json;
use crate::domain::site::Site;
use crate::storage::{StorageKey, StoreError};

/// Larger data is checked off the actors' thread (the check reads about 500 MB a second).
const CHECK_HERE_BYTES: usize = 64 * 1024;

/// The template as a site of one file, and the data as the bytes received.
pub(super) async fn fetch(parts: &Parts, input: &RunInput) -> Result<(Site, Bytes), JobFault> {
    let template =
        read(parts, input.held.template.clone(), StorageKey::JobTemplate(input.account, input.job));
    let data = read(parts, input.held.data.clone(), StorageKey::JobData(input.account, input.job));
    let (template, data) = tokio::try_join!(template, data)?;
    let template = template.ok_or_else(|| {
        let sentence =
            "the job was started without a template: upload one to presignedTemplateUploadUrl first";
        JobFault::new(FaultCode::TemplateMissing, sentence)
    })?;
    let data = data.filter(|bytes| !bytes.is_empty()).unwrap_or_else(|| Bytes::from_static(b"{}"));
    check(parts.limits.json_depth_limit, data.clone()).await?;
    Ok((Site::single("index.html", template), data))
}

async fn read(parts: &Parts, held: Option<Bytes>, key: StorageKey) -> Result<Option<Bytes>, JobFault> {
    if held.is_some() {
        return Ok(held);
    }
    match parts.store.get(&key, parts.limits.input_limit_bytes).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error @ (StoreError::TooLarge { .. } | StoreError::Range { .. } | StoreError::Failed(_))) => {
            tracing::error!(storage.key = %key, error = %error, "an input cannot be read");
            Err(JobFault::new(FaultCode::Internal, "the service could not read the job's inputs"))
        }
    }
}

async fn check(depth_limit: u64, data: Bytes) -> Result<(), JobFault> {
    let limit = usize::try_from(depth_limit).unwrap_or(usize::MAX);
    let checked = if data.len() <= CHECK_HERE_BYTES {
        json::check(&data, limit)
    } else {
        tokio::task::spawn_blocking(move || json::check(&data, limit))
            .await
            .map_err(|error| JobFault::new(FaultCode::Internal, error.to_string()))?
    };
    checked.map_err(|fault| {
        let sentence = format!("the data is not complete JSON: {fault}");
        JobFault::new(FaultCode::DataInvalid, sentence)
    })
}
