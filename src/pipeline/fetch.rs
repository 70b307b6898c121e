//! Fetch: the job's inputs, from memory or from the store, and the check that the data is JSON.

use bytes::Bytes;

use super::{Parts, RunInput};
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::json;
use crate::domain::site::Site;
use crate::engines::thread;
use crate::problem::Code;
use crate::storage::{StorageKey, StoreError};
use crate::templates::source::{Loaded, TemplateUse};

/// The template as a site of one file, and the data as the bytes received.
pub(super) async fn fetch(parts: &Parts, input: &RunInput) -> Result<(Site, Bytes), JobFault> {
    let (account, job, held) = (input.account, input.job, &input.held);
    let data = read(parts, held.data.clone(), StorageKey::JobData(account, job));
    if let Some(wanted) = input.template {
        let (loaded, data) = tokio::try_join!(saved(parts, wanted), data)?;
        if input.given.data && data.is_none() {
            return Err(lost());
        }
        return Ok((loaded.site, checked(parts, data).await?));
    }
    let template = read(parts, held.template.clone(), StorageKey::JobTemplate(account, job));
    let (template, data) = tokio::try_join!(template, data)?;
    if (input.given.template && template.is_none()) || (input.given.data && data.is_none()) {
        return Err(lost());
    }
    let template = template.ok_or_else(|| {
        let sentence =
            "the job was started without a template: upload one to presignedTemplateUploadUrl first";
        JobFault::new(FaultCode::TemplateMissing, sentence)
    })?;
    Ok((Site::single("index.html", template), checked(parts, data).await?))
}

/// The template that the job names, as it is now.
async fn saved(parts: &Parts, wanted: TemplateUse) -> Result<Loaded, JobFault> {
    let Some(templates) = &parts.templates else {
        return Err(JobFault::new(FaultCode::Internal, "there are no saved templates here"));
    };
    templates.load(wanted).await.map_err(|problem| {
        let code = match problem.code {
            Code::TemplateNotFound | Code::TemplateUnfinished => FaultCode::TemplateMissing,
            Code::TemplateArchiveInvalid => FaultCode::TemplateInvalid,
            _ => {
                tracing::error!(error = %problem, "a saved template cannot be read");
                FaultCode::Internal
            }
        };
        JobFault::new(code, problem.detail)
    })
}

/// It was acknowledged; a document without it would be a wrong one.
fn lost() -> JobFault {
    tracing::error!("an input that came with the request is gone");
    JobFault::new(FaultCode::Internal, "the service lost an input of the job")
}

/// The data, which is JSON; none counts as an empty object.
async fn checked(parts: &Parts, data: Option<Bytes>) -> Result<Bytes, JobFault> {
    let data = data.filter(|bytes| !bytes.is_empty()).unwrap_or_else(|| Bytes::from_static(b"{}"));
    check(parts.limits.json_depth_limit, data.clone()).await?;
    Ok(data)
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
