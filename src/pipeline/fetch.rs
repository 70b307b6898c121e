//! Fetch: reads the job's inputs from memory or the store, finds out what the template is, checks that the data is JSON.

use bytes::Bytes;

use super::{PipelineContext, RunInput, STORE_UNAVAILABLE};
use crate::config::as_count;
use crate::domain::encoding;
use crate::domain::error::{ErrorCode, JobError, Warnings};
use crate::domain::kinds::TemplateKind;
use crate::domain::no_data;
use crate::domain::numbers;
use crate::domain::office_format::OfficeFormat;
use crate::domain::reach::Reach;
use crate::problem::Code;
use crate::storage::{StorageKey, StoreError};
use crate::templates::cache::source::{LoadedTemplate, TemplateUse};
use crate::templates::package::Package;
use crate::thread;

/// The template, and the data as it was received.
pub(super) async fn fetch(
    context: &PipelineContext,
    input: &RunInput,
    warnings: &mut Warnings,
) -> Result<(LoadedTemplate, Bytes), JobError> {
    let key = StorageKey::JobData(input.account, input.job);
    let data = read(context, input.inline.data.clone(), key);
    let (template, data) = tokio::try_join!(template(context, input), data)?;
    if input.given.data && data.is_none() {
        return Err(lost());
    }
    let is_uploaded = !input.given.data && input.inline.data.is_none();
    let depth_limit = context.limits.json_depth_limit;
    let (data, lossy) = check(depth_limit, input.kind, data, is_uploaded).await?;
    warnings.push_all(lossy);
    if !input.kind.fits(template.kind) {
        return Err(misfit(input.kind, &template));
    }
    Ok((template, data))
}

/// The saved template that the job names, or the one that came with it.
async fn template(context: &PipelineContext, input: &RunInput) -> Result<LoadedTemplate, JobError> {
    if let Some(wanted) = input.template {
        return saved(context, wanted).await;
    }
    let key = StorageKey::JobTemplate(input.account, input.job);
    match read(context, input.inline.template.clone(), key).await? {
        Some(upload) => uploaded(context, input, upload).await,
        None if input.given.template => Err(lost()),
        None => {
            let sentence =
                "the job was started without a template: upload one to presignedTemplateUploadUrl first";
            Err(JobError::new(ErrorCode::TemplateMissing, sentence))
        }
    }
}

/// A saved template in its present version.
async fn saved(context: &PipelineContext, wanted: TemplateUse) -> Result<LoadedTemplate, JobError> {
    let Some(templates) = &context.templates else {
        return Err(JobError::new(ErrorCode::Internal, "there are no saved templates here"));
    };
    templates.load(wanted).await.map_err(|problem| {
        let missing = matches!(problem.code, Code::TemplateNotFound | Code::TemplateUnfinished);
        let code = if missing {
            ErrorCode::TemplateMissing
        } else if problem.code == Code::TemplateArchiveInvalid {
            ErrorCode::TemplateInvalid
        } else {
            tracing::error!(error = %problem, "a saved template cannot be read");
            ErrorCode::Internal
        };
        JobError::new(code, problem.detail)
    })
}

/// The template in an upload.
async fn uploaded(
    context: &PipelineContext,
    input: &RunInput,
    upload: Bytes,
) -> Result<LoadedTemplate, JobError> {
    let read = if Package::is_quick(&upload) {
        Package::read_for(Some(input.kind), &upload, &context.limits.templates)
    } else {
        let (kind, limits) = (input.kind, context.limits.templates.clone());
        let wait = input.meter.begin_wait();
        let slot = context.unpacking.acquire(input.account).await;
        drop(wait);
        let unpack = move || {
            // The thread holds the slot: it goes on unpacking when the job has ended.
            let read = Package::read_for(Some(kind), &upload, &limits);
            drop(slot);
            read
        };
        thread::on_blocking_thread(unpack).await?
    };
    // A template that came with the job is not shared, so its page may reach the hosts that the operator allows.
    let own = |package| LoadedTemplate { reach: Reach::AllowedHosts, ..LoadedTemplate::from(package) };
    read.map(own).map_err(|error| JobError::new(ErrorCode::TemplateInvalid, error.0))
}

/// The error of an input that was acknowledged and is gone: a document without it would be wrong.
fn lost() -> JobError {
    tracing::error!("an input that came with the request is gone");
    JobError::new(ErrorCode::Internal, "the service lost an input of the job")
}

fn misfit(job: TemplateKind, template: &LoadedTemplate) -> JobError {
    let (found, site) = (template.kind.name(), &template.site);
    let start = site.page().map(AsRef::as_ref).unwrap_or_default();
    let what = match OfficeFormat::of_start(template.kind, start) {
        Some(format) => format!("{} and goes with the type {found}", format.described()),
        // The caller sent a text, and does not know the file name that the service gives it.
        None if job.is_office() && !site.has_assets() => {
            format!("plain text, neither zip archive nor Office file, and goes with the type {found}")
        }
        None => format!("of the type {found} ({})", site.entry()),
    };
    let job = job.name();
    let sentence = format!(
        "the template is {what}, but the job's type is {job}; set the type to {found}, or give a template of the type \
         {job}"
    );
    JobError::new(ErrorCode::TemplateInvalid, sentence)
}

async fn read(
    context: &PipelineContext,
    inline: Option<Bytes>,
    key: StorageKey,
) -> Result<Option<Bytes>, JobError> {
    if inline.is_some() {
        return Ok(inline);
    }
    match context.store.get(&key, context.limits.input_limit_bytes).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error @ (StoreError::TooLarge { .. } | StoreError::Range { .. } | StoreError::Failed(_))) => {
            tracing::error!(storage.key = %key, error = %error, "an input cannot be read");
            let why = if error.is_transient() { STORE_UNAVAILABLE } else { "" };
            Err(JobError::new(
                ErrorCode::Internal,
                format!("the service could not read the job's inputs{why}"),
            ))
        }
    }
}

/// Checks that the data is JSON; answers it, `{}` where there is none, and a warning for each number that loses digits.
async fn check(
    depth_limit: u64,
    kind: TemplateKind,
    data: Option<Bytes>,
    is_uploaded: bool,
) -> Result<(Bytes, Vec<String>), JobError> {
    let (limit, bytes) = (as_count(depth_limit), data.as_ref().map_or(0, Bytes::len));
    let check = move || {
        // Some editors write a byte order mark, which a reader of JSON may ignore (RFC 8259, 8.1).
        let data = no_data::or_empty_object(data.map(encoding::without_bom));
        match json_members::check(&data, limit) {
            // Office files print integers as they are written, however long (`exact.js`). What reads the data after this looks at
            // its first byte, so megabytes of blanks before it are left out here.
            Ok(()) => Ok((data.slice_ref(data.trim_ascii()), numbers::warnings(&data, kind.is_office()))),
            Err(error) => {
                let cut = error.cut_by_length(&data).filter(|_| is_uploaded);
                let cut = cut.map(|cut| format!(". The upload {cut}")).unwrap_or_default();
                let sentence = format!("the data is not complete JSON: {error}{cut}");
                Err(JobError::new(ErrorCode::DataInvalid, sentence))
            }
        }
    };
    thread::by_size(bytes, check).await?
}
