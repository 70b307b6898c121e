//! What the readers of templates, the registry, its changes and the garbage collector share.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::index::TemplateIndex;
use super::messages::TemplateRef;
use super::problems;
use super::record::TemplateRecord;
use super::variables::{KnownVariables, VariableReader, Variables};
use crate::clock::Clock;
use crate::config::{Config, TemplatesConfig};
use crate::domain::ids::AccountId;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Site;
use crate::problem::{Code, Problem};
use crate::storage::index::Index;
use crate::storage::{ObjectStore, StorageQuota};
use crate::telemetry::TemplateMetrics;
use crate::templates::cache::ContentCache;
use crate::templates::cache::unpacking::UnpackingLimits;

/// Shared by many threads. It reads the index and never writes it: that is the registry's.
pub struct TemplateContext {
    pub(in crate::templates) clock: Arc<dyn Clock>,
    pub(in crate::templates) index: TemplateIndex,
    pub(in crate::templates) store: Arc<dyn ObjectStore>,
    pub(in crate::templates) limits: TemplatesConfig,
    pub(in crate::templates) upload_limit_bytes: u64,
    pub(in crate::templates) text_limit_bytes: u64,
    pub(in crate::templates) cache: ContentCache,
    pub(in crate::templates) unpacking: UnpackingLimits,
    pub(in crate::templates) quota: Arc<StorageQuota>,
    /// None where nothing finds variables: then no template is loaded for them.
    pub(in crate::templates) variable_reader: OnceLock<Arc<dyn VariableReader>>,
    pub(in crate::templates) metrics: TemplateMetrics,
}

impl TemplateContext {
    /// A context with records in `index`, everything else in `store`.
    pub fn new(
        clock: Arc<dyn Clock>,
        (index, store): (Arc<dyn Index>, Arc<dyn ObjectStore>),
        config: &Config,
        metrics: TemplateMetrics,
    ) -> Self {
        Self {
            clock,
            index: TemplateIndex::new(index),
            store,
            limits: config.templates.clone(),
            upload_limit_bytes: config.http.upload_limit_bytes,
            text_limit_bytes: config.http.json_limit_bytes,
            cache: ContentCache::new(config.templates.cache_bytes, metrics.clone()),
            unpacking: UnpackingLimits::new(&config.templates),
            quota: StorageQuota::new(config.accounts.stored_bytes_limit),
            variable_reader: OnceLock::new(),
            metrics,
        }
    }

    /// The same, with templates counted together with whatever else the accounts have stored.
    pub fn with_quota(self, quota: Arc<StorageQuota>) -> Self {
        Self { quota, ..self }
    }

    /// Sets what finds the variables of templates: it uses the engines, which start after the templates. A second call
    /// changes nothing.
    pub fn set_variable_reader(&self, reader: Arc<dyn VariableReader>) {
        let _ = self.variable_reader.set(reader);
    }

    /// The variables of a template with these files, within `templates.variables_timeout_ms`.
    pub(in crate::templates) async fn variables(
        &self,
        account: AccountId,
        template: (TemplateKind, &Site),
    ) -> KnownVariables {
        let limit = Duration::from_millis(self.limits.variables_timeout_ms);
        let Some(reader) = self.variable_reader.get() else {
            return KnownVariables::NotYet;
        };
        match reader.variables(account, template, limit).await {
            KnownVariables::Found(all) => {
                KnownVariables::Found(Variables::bounded(all, self.limits.variables_limit))
            }
            KnownVariables::Unreadable => KnownVariables::Unreadable,
            KnownVariables::NotYet => KnownVariables::NotYet,
        }
    }

    /// The record of a template that the account may change.
    ///
    /// # Errors
    /// `template_not_found`, `not_owner`.
    pub(in crate::templates) async fn editable(&self, of: TemplateRef) -> Result<TemplateRecord, Problem> {
        let TemplateRef { account, template } = of;
        let record = self.index.usable(account, template).await?;
        let record = record.ok_or_else(|| problems::not_found(template))?;
        if record.account == account {
            return Ok(record);
        }
        let detail = format!(
            "Template '{template}' is public and another account's; clone it by POST /templates/{template}/clone and \
             change the clone."
        );
        Err(Problem::new(Code::NotOwner, detail))
    }
}
