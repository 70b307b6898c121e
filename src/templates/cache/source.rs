//! What renders get of a template: its files, from the content cache.

pub use super::content::Loaded;
use crate::domain::ids::{AccountId, TemplateId};
use crate::domain::reach::Reach;
use crate::problem::Problem;
use crate::storage::{StorageKey, StoreError};
use crate::templates::package::Package;
use crate::templates::registry::context::TemplateContext;
use crate::templates::registry::problems;
use crate::templates::registry::record::{Content, TemplateRecord};
use crate::thread;

/// Attempts to read a package, which a change may delete between the read of the record and the read of the object.
const ATTEMPTS: usize = 4;

/// Who wants to render which template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateUse {
    /// For whom.
    pub account: AccountId,
    /// Which template.
    pub template: TemplateId,
    /// For a preview, which a template that is not saved may have as well.
    pub preview: bool,
}

/// The content of a template as it is now, and its unpacked files.
///
/// # Errors
/// `template_not_found`, `template_unfinished`, `template_archive_invalid` when it has no files.
pub(in crate::templates) async fn present(
    templates: &TemplateContext,
    wanted: TemplateUse,
) -> Result<(Content, Loaded), Problem> {
    let mut attempts = 1;
    loop {
        let (record, content) = usable(templates, wanted).await?;
        match load(templates, record.account, (&content, record.package(&content))).await {
            Ok(loaded) => {
                let own = record.account == wanted.account;
                let reach = if own { Reach::AllowedHosts } else { Reach::OwnFiles };
                let version = Some(content.version());
                return Ok((content, Loaded { version, ..loaded.reaching(reach) }));
            }
            // A change has replaced it since; the record names another one now.
            Err(LoadError::Gone(_)) if attempts < ATTEMPTS => attempts += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Why the parts of a template are not there.
pub(in crate::templates) enum LoadError {
    /// The store does not have one of them any more.
    Gone(StoreError),
    /// Anything else.
    Other(Problem),
}

impl From<StoreError> for LoadError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound(_) => Self::Gone(error),
            StoreError::TooLarge { .. } | StoreError::Range { .. } | StoreError::Failed(_) => {
                Self::Other(error.into())
            }
        }
    }
}

impl From<Problem> for LoadError {
    fn from(problem: Problem) -> Self {
        Self::Other(problem)
    }
}

impl From<LoadError> for Problem {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Gone(error) => problems::lost(error),
            LoadError::Other(problem) => problem,
        }
    }
}

/// The unpacked files of a template of `account` whose content is the object `key`.
pub(in crate::templates) async fn load(
    templates: &TemplateContext,
    account: AccountId,
    (content, key): (&Content, StorageKey),
) -> Result<Loaded, LoadError> {
    templates.cache.get(content.object, unpack(templates, account, key)).await
}

/// Hazard: unpacking goes on in its thread when the render that wanted it is cancelled. The slot is the thread's, so
/// cancelled renders never hold more archives in memory than there are slots.
async fn unpack(
    templates: &TemplateContext,
    account: AccountId,
    key: StorageKey,
) -> Result<Loaded, LoadError> {
    let slot = templates.unpacking.for_render(account).await;
    let bytes = templates.store.get(&key, u64::MAX).await?;
    let reopen = move || {
        let loaded = Package::reopen(&bytes).map(Loaded::cached);
        drop((bytes, slot));
        loaded
    };
    let loaded = thread::apart(reopen).await.map_err(Problem::from)?;
    loaded.map_err(|error| LoadError::Other(Problem::internal(format!("{key}: {error}"))))
}

/// The record and content of a template that may be rendered.
///
/// # Errors
/// `template_not_found`, `template_unfinished`, `template_archive_invalid` when it has no files.
pub(in crate::templates) async fn usable(
    templates: &TemplateContext,
    wanted: TemplateUse,
) -> Result<(TemplateRecord, Content), Problem> {
    let TemplateUse { account, template, preview } = wanted;
    let record = templates.index.usable(account, template).await?;
    let record = if preview {
        record.ok_or_else(|| problems::not_found(template))
    } else {
        problems::saved(record, template)
    };
    let mut record = record?;
    let content = record.content.take().ok_or_else(|| problems::empty(template))?;
    Ok((record, content))
}
