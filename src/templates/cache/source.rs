//! What renders get of a template: its files, from the content cache.

use std::sync::Arc;

use actix::prelude::*;

pub use super::content::Loaded;
use crate::domain::ids::{AccountId, TemplateId};
use crate::domain::reach::Reach;
use crate::problem::Problem;
use crate::storage::{StorageKey, StoreError};
use crate::templates::package::Package;
use crate::templates::registry::TemplateRegistry;
use crate::templates::registry::context::{Deps, lost};
use crate::templates::registry::record::{Content, TemplateRecord};
use crate::templates::registry::refusal;

/// How often a package is looked for anew that a change took away between two looks.
const ATTEMPTS: usize = 4;

/// Asks whether a template may be rendered.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<(), Problem>")]
pub struct CheckTemplate(pub TemplateUse);

/// Asks for the files of a template.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<Loaded, Problem>")]
pub struct LoadTemplate(pub TemplateUse);

/// Who wants to render which template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateUse {
    /// For whom.
    pub account: AccountId,
    /// Which template.
    pub template: TemplateId,
    /// For a preview: one that is not saved will do.
    pub preview: bool,
}

/// Where the pipeline gets templates from.
#[derive(Clone)]
pub struct TemplateSource(Recipient<LoadTemplate>);

impl TemplateSource {
    /// What `registry` has.
    #[must_use]
    pub fn new(registry: Recipient<LoadTemplate>) -> Self {
        Self(registry)
    }

    /// The files of a template, as they are now.
    ///
    /// # Errors
    /// `template_not_found`, `template_unfinished`, `template_archive_invalid` when it has no files.
    pub async fn load(&self, wanted: TemplateUse) -> Result<Loaded, Problem> {
        self.0.send(LoadTemplate(wanted)).await.unwrap_or_else(|error| Err(Problem::internal(error)))
    }
}

impl Handler<CheckTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: CheckTemplate, _: &mut Self::Context) -> Self::Result {
        let deps = Arc::clone(&self.deps);
        Box::pin(async move { usable(&deps, message.0).await.map(drop) })
    }
}

impl Handler<LoadTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<Loaded, Problem>>;

    fn handle(&mut self, message: LoadTemplate, _: &mut Self::Context) -> Self::Result {
        let deps = Arc::clone(&self.deps);
        Box::pin(async move { present(&deps, message.0).await.map(|(_, loaded)| loaded) })
    }
}

/// The content of a template as it is now, and its unpacked files.
///
/// # Errors
/// `template_not_found`, `template_unfinished`, `template_archive_invalid` when it has no files.
pub(in crate::templates) async fn present(
    deps: &Deps,
    wanted: TemplateUse,
) -> Result<(Content, Loaded), Problem> {
    let mut attempts = 1;
    loop {
        let (record, content) = usable(deps, wanted).await?;
        match load(deps, &record, &content).await {
            Ok(loaded) => {
                let own = record.account == wanted.account;
                let reach = if own { Reach::AllowedHosts } else { Reach::OwnFiles };
                let version = Some(content.version());
                return Ok((content, Loaded { version, ..loaded.reaching(reach) }));
            }
            // A change has replaced it since; the record names another one now.
            Err(LoadFault::Gone(_)) if attempts < ATTEMPTS => attempts += 1,
            Err(fault) => return Err(fault.into()),
        }
    }
}

/// Why a package is not there.
pub(in crate::templates) enum LoadFault {
    /// The store has none.
    Gone(StoreError),
    /// Anything else.
    Other(Problem),
}

impl From<LoadFault> for Problem {
    fn from(fault: LoadFault) -> Self {
        match fault {
            LoadFault::Gone(error) => lost(error),
            LoadFault::Other(problem) => problem,
        }
    }
}

/// The unpacked files of a template.
///
/// # Errors
/// See [`LoadFault`].
pub(in crate::templates) async fn load(
    deps: &Deps,
    record: &TemplateRecord,
    content: &Content,
) -> Result<Loaded, LoadFault> {
    load_package(deps, record.account, (content, record.package(content))).await
}

/// The unpacked files of a template of `account` whose content lies under `key`.
///
/// # Errors
/// See [`LoadFault`].
pub(in crate::templates) async fn load_package(
    deps: &Deps,
    account: AccountId,
    (content, key): (&Content, StorageKey),
) -> Result<Loaded, LoadFault> {
    deps.cache.get(content.object, unpack(deps, account, key)).await
}

async fn unpack(deps: &Deps, account: AccountId, key: StorageKey) -> Result<Loaded, LoadFault> {
    let _place = deps.room.load(account).await.map_err(LoadFault::Other)?;
    let bytes = deps.store.get(&key, u64::MAX).await.map_err(|error| match error {
        StoreError::NotFound(_) => LoadFault::Gone(error),
        StoreError::TooLarge { .. } | StoreError::Range { .. } | StoreError::Failed(_) => {
            LoadFault::Other(error.into())
        }
    })?;
    // What a look for templates among the files costs belongs there as well.
    let read = move || Package::reopen(&bytes).map(Loaded::kept);
    let read = tokio::task::spawn_blocking(read).await;
    let loaded = read.map_err(|error| LoadFault::Other(Problem::internal(error)))?;
    loaded.map_err(|fault| LoadFault::Other(Problem::internal(format!("{key}: {fault}"))))
}

async fn usable(deps: &Deps, wanted: TemplateUse) -> Result<(TemplateRecord, Content), Problem> {
    let TemplateUse { account, template, preview } = wanted;
    let record = deps.index.usable(account, template).await?;
    let record = if preview {
        record.ok_or_else(|| refusal::not_found(template))
    } else {
        refusal::saved(record, template)
    };
    let mut record = record?;
    let content = record.content.take().ok_or_else(|| refusal::empty(template))?;
    Ok((record, content))
}
