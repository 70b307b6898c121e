//! A template registry with its garbage collector over the real index and store, on the test's own thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use actix::prelude::*;
use bytes::Bytes;
use platen::clock::{Clock, FixedClock, SystemClock, Timestamp};
use platen::config::Config;
use platen::domain::ids::{AccountId, JobId, TemplateId};
use platen::domain::kinds::{Target, TemplateKind};
use platen::failpoint;
use platen::problem::{Code, Problem};
use platen::storage::data_dir::DataDir;
use platen::storage::metered::MeteredStore;
use platen::storage::{CountedUpload, ObjectStore, StorageKey, StorageQuota};
use platen::telemetry::metrics::Metrics;
use platen::templates::cache::source::{LoadedTemplate, TemplateUse};
use platen::templates::registry::messages::{
    CloneTemplate, CloseTemplateUpload, DeleteTemplate, InitTemplate, PreviewJob, PreviewJobs, PreviewSource,
    SaveTemplate, TemplateInfo, TemplateRef, UnzipTemplate, UpdateTemplate, WriteIndexHtml,
};
use platen::templates::registry::record::Permissions;
use platen::templates::registry::view::TemplateView;
use platen::templates::registry::{TemplateContext, TemplateReader, TemplateRegistry};
use platen::templates::repair::garbage_collector::{GarbageCollector, Swept};

use serde_json::value::RawValue;

use crate::full_index::FullIndex;
use crate::objects::test_store::store_in;
use crate::prepared_folder::archive;
use crate::state::Places;

/// A registry's result, or the code of its problem.
pub type RegistryResult<T> = Result<T, Code>;

pub struct TestRegistry {
    pub places: Places,
    pub registry: Addr<TemplateRegistry>,
    pub context: Arc<TemplateContext>,
    pub reader: TemplateReader,
    pub clock: Arc<FixedClock>,
    pub metrics: Metrics,
    pub collector: GarbageCollector,
    pub account: AccountId,
    pub quota: Arc<StorageQuota>,
    /// When it was opened.
    opened_at: Timestamp,
    /// Whether the disk of the index is full.
    pub is_full: Arc<AtomicBool>,
    /// Goes with the fixture, when it was made for it.
    root: Option<tempfile::TempDir>,
}

/// A clock that tests set, and that faults put back.
struct FaultyClock(Arc<FixedClock>);

impl Clock for FaultyClock {
    fn now(&self) -> Timestamp {
        let behind_ms = u64::try_from(failpoint::clock_behind().as_millis()).unwrap();
        Timestamp(self.0.now().0 - behind_ms)
    }
}

impl TestRegistry {
    pub async fn build(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut fixture = Self::open(folder.path(), change).await;
        fixture.root = Some(folder);
        fixture
    }

    /// On a folder that an earlier registry may have used.
    pub async fn open(folder: &Path, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::default();
        change(&mut config);
        let data = DataDir::open(&folder.join("data")).unwrap();
        let mut places = Places::over(&data, store_in(&data).await).await;
        let is_full = Arc::new(AtomicBool::new(false));
        places.index = Arc::new(FullIndex { index: places.index, is_full: Arc::clone(&is_full) });
        let opened_at = SystemClock.now();
        let (clock, metrics) = (Arc::new(FixedClock::at(opened_at)), Metrics::new());
        // Fail points and counts stand between the registry and its store; the tests look at the store itself.
        let metered = Arc::new(MeteredStore::new(Arc::clone(&places.store), metrics.store.clone()));
        let both = (Arc::clone(&places.index), metered as Arc<dyn ObjectStore>);
        let time: Arc<dyn Clock> = Arc::new(FaultyClock(Arc::clone(&clock)));
        let limit = config.accounts.stored_bytes_limit;
        let quota = StorageQuota::load(places.index.as_ref(), limit).await.unwrap();
        let context = TemplateContext::new(time, both, &config, metrics.templates.clone());
        let context = Arc::new(context.with_quota(quota.clone()));
        let reader = TemplateReader::new(Arc::clone(&context));
        let registry = TemplateRegistry::new(Arc::clone(&context), Arc::clone(&places.index), 1_000).start();
        let collector = GarbageCollector::new(Arc::clone(&context), &registry);
        let account = AccountId::generate();
        Self {
            places,
            registry,
            context,
            reader,
            clock,
            metrics,
            collector,
            account,
            quota,
            opened_at,
            is_full,
            root: None,
        }
    }

    /// The path of an object, in a fixture that has a folder of its own.
    pub fn file(&self, key: &StorageKey) -> PathBuf {
        self.root.as_ref().unwrap().path().join("data/objects").join(key.to_string())
    }

    /// How far its clock was moved.
    pub fn passed_ms(&self) -> u64 {
        self.clock.now().since_ms(self.opened_at)
    }

    pub fn of(&self, template: TemplateId) -> TemplateRef {
        TemplateRef { account: self.account, template }
    }

    pub async fn ask<M, T>(&self, message: M) -> RegistryResult<T>
    where
        M: Message<Result = Result<T, Problem>> + Send + 'static,
        T: Send + 'static,
        TemplateRegistry: Handler<M>,
    {
        code_of(self.registry.send(message).await.unwrap())
    }

    /// A new template.
    pub async fn begun(&self) -> TemplateId {
        self.ask(InitTemplate { account: self.account }).await.unwrap()
    }

    /// An upload that is begun.
    pub async fn opened(&self, template: TemplateId) -> CountedUpload {
        self.reader.stage_upload(self.of(template), 1 << 24).await.unwrap()
    }

    pub async fn upload(&self, template: TemplateId, bytes: Vec<u8>) -> RegistryResult<()> {
        let account = self.account;
        let mut upload = code_of(self.reader.stage_upload(self.of(template), 1 << 24).await)?;
        upload.count(bytes.len()).map_err(|problem| problem.code)?;
        code_of(upload.write(bytes.into()).await.map_err(Problem::from))?;
        self.ask(CloseTemplateUpload { account, template, upload }).await
    }

    /// A template with an upload.
    pub async fn uploaded(&self, text: &str) -> TemplateId {
        let template = self.begun().await;
        self.upload(template, archive(text)).await.unwrap();
        template
    }

    pub async fn unzip(&self, template: TemplateId) -> RegistryResult<()> {
        self.ask(UnzipTemplate(self.of(template))).await
    }

    /// A template with files.
    pub async fn unzipped(&self, text: &str) -> TemplateId {
        let template = self.uploaded(text).await;
        self.unzip(template).await.unwrap();
        template
    }

    /// A saved template.
    pub async fn saved(&self, text: &str, permissions: Permissions) -> TemplateId {
        let template = self.unzipped(text).await;
        self.save(template, text, permissions).await.unwrap();
        template
    }

    pub async fn save(
        &self,
        template: TemplateId,
        title: &str,
        permissions: Permissions,
    ) -> RegistryResult<()> {
        let previews = self.previews(template, title).await;
        let info = info(title, permissions);
        self.ask(SaveTemplate { of: self.of(template), info, previews }).await
    }

    pub async fn update(&self, template: TemplateId, content: TemplateId, title: &str) -> RegistryResult<()> {
        let previews = self.previews(content, title).await;
        let info = TemplateInfo { permissions: None, ..info(title, Permissions::Private) };
        self.ask(UpdateTemplate { of: self.of(template), content, info, previews }).await
    }

    pub async fn copy(&self, template: TemplateId) -> RegistryResult<TemplateId> {
        self.ask(CloneTemplate(self.of(template))).await
    }

    pub async fn delete(&self, template: TemplateId) -> RegistryResult<()> {
        self.ask(DeleteTemplate(self.of(template))).await
    }

    pub async fn get(&self, template: TemplateId) -> RegistryResult<TemplateView> {
        code_of(self.reader.get(self.of(template)).await)
    }

    pub async fn rewrite(&self, template: TemplateId, text: &str) -> RegistryResult<()> {
        let text = Bytes::copy_from_slice(text.as_bytes());
        self.ask(WriteIndexHtml { of: self.of(template), text }).await
    }

    pub async fn load(&self, template: TemplateId) -> RegistryResult<LoadedTemplate> {
        let account = self.account;
        code_of(self.reader.load(TemplateUse { account, template, preview: false }).await)
    }

    /// The text of the entry, as a render gets it.
    pub async fn page(&self, template: TemplateId) -> RegistryResult<String> {
        let loaded = self.load(template).await?;
        Ok(String::from_utf8(loaded.site.page().unwrap().to_vec()).unwrap())
    }

    /// Two jobs with their documents, whose text tells what they show.
    pub async fn previews(&self, of: TemplateId, text: &str) -> PreviewJobs {
        let preview = async |target: Target| {
            let job = JobId::generate();
            let document = format!("{text} as {target:?}");
            let key = StorageKey::JobOutput(self.account, job, target.file());
            self.places.store.put(&key, document.into()).await.unwrap();
            PreviewJob { job, source: Ok(PreviewSource { template: of, version: None }) }
        };
        PreviewJobs { png: preview(Target::Png).await, pdf: preview(Target::Pdf).await }
    }

    /// Packages asked for: in the cache, and unpacked.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        let of = |outcome| self.metrics.templates.cache.of([outcome]).get();
        (of("hit"), of("miss"))
    }

    /// Sweeps until there is nothing to do; what was done.
    pub async fn sweep(&mut self) -> Swept {
        let mut done = Swept::default();
        loop {
            let swept = self.collector.sweep().await.unwrap();
            if swept == Swept::default() {
                return done;
            }
            done.unfinished += swept.unfinished;
            done.orphans += swept.orphans;
        }
    }
}

/// The answer with the code of its problem, which is none of the service's own where no fault comes.
pub fn code_of<T>(answer: Result<T, Problem>) -> RegistryResult<T> {
    answer.map_err(|problem| {
        assert!(problem.code != Code::Internal || failpoint::is_armed(), "{problem:?}");
        problem.code
    })
}

/// What an owner says of a template.
pub fn info(title: &str, permissions: Permissions) -> TemplateInfo {
    TemplateInfo {
        title: title.to_owned(),
        description: "For tests.".to_owned(),
        kind: TemplateKind::Html,
        sample_data: RawValue::from_string(r#"{"name": "Ann"}"#.to_owned()).unwrap(),
        categories: vec!["invoice".to_owned()],
        permissions: Some(permissions),
        link: None,
    }
}
