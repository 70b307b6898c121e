//! Fetch: the job's inputs, from memory or from the store, and the check that the data is JSON.

use bytes::Bytes;

use super::{Parts, RunInput};
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::json;
use crate::domain::site::Site;
use crate::engines::thread;
use crate::storage::{StorageKey, StoreError};

/// The template as a site of one file, and the data as the bytes received.
pub(super) async fn fetch(parts: &Parts, input: &RunInput) -> Result<(Site, Bytes), JobFault> {
    let (account, job, held) = (input.account, input.job, &input.held);
    let template = read(parts, held.template.clone(), StorageKey::JobTemplate(account, job));
    let data = read(parts, held.data.clone(), StorageKey::JobData(account, job));
    let (template, data) = tokio::try_join!(template, data)?;
    if (input.given.template && template.is_none()) || (input.given.data && data.is_none()) {
        // It was acknowledged; a document without it would be a wrong one.
        tracing::error!("an input that came with the request is gone");
        return Err(JobFault::new(FaultCode::Internal, "the service lost an input of the job"));
    }
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
    let checked = thread::by_size(data.len(), move || json::check(&data, limit)).await?;
    checked.map_err(|fault| {
        let sentence = format!("the data is not complete JSON: {fault}");
        JobFault::new(FaultCode::DataInvalid, sentence)
    })
}
