//! What renders get of a template: its files, from the content cache.

pub use super::content::LoadedTemplate;
use crate::domain::ids::{AccountId, TemplateId};
use crate::domain::reach::Reach;
use crate::problem::Problem;
use crate::storage::{StorageKey, StoreError};
use crate::templates::package::Package;
use crate::templates::registry::context::TemplateContext;
use crate::templates::registry::problems;
use crate::templates::registry::record::{Content, TemplateRecord};
use crate::thread;

/// How often the objects that a record names are read, see [`retry_when_replaced`].
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
pub(in crate::templates) async fn load_current(
    templates: &TemplateContext,
    wanted: TemplateUse,
) -> Result<(Content, LoadedTemplate), Problem> {
    retry_when_replaced(|| async move {
        let (record, content) = usable(templates, wanted).await?;
        let loaded = load(templates, record.account, (&content, record.package(&content))).await?;
        let is_own = record.account == wanted.account;
        let reach = if is_own { Reach::AllowedHosts } else { Reach::OwnFiles };
        let version = Some(content.version());
        Ok::<_, LoadError>((content, LoadedTemplate { reach, version, ..loaded }))
    })
    .await
}

/// Repeats `attempt`, which reads a record and then objects that it names, where an object is missing.
///
/// Hazard: a change may replace an object between the two reads. The record that is read next names the new object; only an
/// object that is missing each time is lost.
pub(in crate::templates) async fn retry_when_replaced<T, F>(
    mut attempt: impl FnMut() -> F,
) -> Result<T, Problem>
where
    F: Future<Output = Result<T, LoadError>>,
{
    for _ in 1..ATTEMPTS {
        match attempt().await {
            Err(LoadError::Missing(_)) => {}
            done => return done.map_err(Problem::from),
        }
    }
    attempt().await.map_err(Problem::from)
}

/// Why the objects of a template cannot be read.
pub(in crate::templates) enum LoadError {
    /// The store does not have one of them: it was replaced meanwhile, or is lost.
    Missing(StoreError),
    /// Anything else.
    Other(Problem),
}

impl From<StoreError> for LoadError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound(_) => Self::Missing(error),
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
            LoadError::Missing(error) => problems::lost(error),
            LoadError::Other(problem) => problem,
        }
    }
}

/// The unpacked files of a template of `account` whose content is the object `key`.
pub(in crate::templates) async fn load(
    templates: &TemplateContext,
    account: AccountId,
    (content, key): (&Content, StorageKey),
) -> Result<LoadedTemplate, LoadError> {
    templates.cache.get(content.object, unpack(templates, account, key)).await
}

/// Hazard: unpacking goes on in its thread when the render that wanted it is cancelled. So the thread holds the slot, not the
/// render: cancelled renders never hold more archives in memory than there are slots.
async fn unpack(
    templates: &TemplateContext,
    account: AccountId,
    key: StorageKey,
) -> Result<LoadedTemplate, LoadError> {
    let slot = templates.unpacking.for_render(account).await;
    let bytes = templates.store.get(&key, u64::MAX).await?;
    let reopen = move || {
        let loaded = Package::reopen(&bytes).map(LoadedTemplate::cached);
        drop((bytes, slot));
        loaded
    };
    let loaded = thread::on_blocking_thread(reopen).await.map_err(Problem::from)?;
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
