//! Fetch: the job's inputs, from memory or from the store, what the template is, and whether the data is JSON.

use bytes::Bytes;

use super::{Parts, RunInput};
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::json;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Site;
use crate::engines::thread;
use crate::storage::{StorageKey, StoreError};
use crate::templates::package::Package;

/// The template's files, and the data as the bytes received.
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
    Ok((site(parts, input.kind, template).await?, data))
}

/// What the upload holds, if a job of this kind can use it.
async fn site(parts: &Parts, kind: TemplateKind, upload: Bytes) -> Result<Site, JobFault> {
    let read = if Package::is_quick(&upload) {
        Package::read(&upload, &parts.limits.templates)
    } else {
        let limits = parts.limits.templates.clone();
        thread::apart(move || Package::read(&upload, &limits)).await?
    };
    let package = read.map_err(|fault| JobFault::new(FaultCode::TemplateInvalid, fault.0))?;
    if !fits(kind, package.kind) {
        return Err(misfit(kind, &package));
    }
    Ok(Site::new(&package.entry, package.files))
}

/// Pages are one kind, whatever a job calls them: one engine makes them all.
fn fits(job: TemplateKind, found: TemplateKind) -> bool {
    let is_page = |kind| matches!(kind, TemplateKind::Framework | TemplateKind::Html | TemplateKind::Ejs);
    job == found || (is_page(job) && is_page(found))
}

fn misfit(job: TemplateKind, package: &Package) -> JobFault {
    let (job, found, entry) = (job.name(), package.kind.name(), &package.entry);
    JobFault::new(
        FaultCode::TemplateInvalid,
        format!(
            "the template is of the type {found} ({entry}), but the job's type is {job}; upload a template of \
             that type"
        ),
    )
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
