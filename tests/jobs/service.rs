//! A registry with everything below it, on the test's own thread.

use actix::prelude::*;
use bytes::Bytes;
use platen::accounts::actor::Administer;
use platen::accounts::admin::{AdminReply, AdminRequest};
use platen::accounts::{AccountStore, Accounts, OpenJobs};
use platen::app::{EngineResources, Engines};
use platen::clock::{Clock, SystemClock, Timestamp};
use platen::config::Config;
use platen::domain::error::Warnings;
use platen::domain::format_opts::Secrets;
use platen::domain::ids::AccountId;
use platen::domain::kinds::{Target, TemplateKind};
use platen::engines::catalog::Catalog;
use platen::jobs::cleanup::sweeper::{Sweeper, Swept};
use platen::jobs::context::JobContext;
use platen::jobs::messages::{Idempotency, InitJob, JobSpec, StartJob, WatchJob};
use platen::jobs::registry::JobRegistry;
use platen::jobs::registry::delete::{DeleteJob, DeleteOutcome};
use platen::jobs::store::journal::Journal;
use platen::jobs::store::record::JobRecord;
use platen::jobs::store::stored_inputs::StoredInputs;
use platen::jobs::view::JobView;
use platen::outbound::{Outbound, SystemResolver};
use platen::problem::{Code, Problem};
use platen::storage::data_dir::DataDir;
use platen::storage::index::{Index, SledIndex};
use platen::storage::metered::MeteredStore;
use platen::storage::{Folder, ObjectStore, StorageQuota};
use platen::telemetry::metrics::Metrics;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use strum::VariantArray as _;
use tokio::sync::watch;

use crate::objects::test_store::store_in;

/// Longer than anything takes on a loaded machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub type View = watch::Receiver<JobView>;

/// A registry with everything below it, on the test's own thread.
pub struct TestService {
    pub registry: Addr<JobRegistry>,
    pub journal: Journal,
    pub actor: Addr<Accounts>,
    pub stored: Arc<StorageQuota>,
    pub open_jobs: Arc<OpenJobs>,
    pub accounts: HashMap<&'static str, AccountId>,
    pub panics: Arc<AtomicBool>,
    pub store: Arc<dyn ObjectStore>,
    pub index: Arc<dyn Index>,
    pub context: Arc<JobContext>,
    pub passed_ms: Arc<AtomicU64>,
    /// The threads of the registry and of the job actors, where they are not the test's.
    pub apart: Option<[Arbiter; 2]>,
    /// Deleted with the service, where it was made for it.
    root: Option<tempfile::TempDir>,
}

/// The system's time and what the test adds to it. When it is armed, it panics once, in the actor that asks next.
struct TestClock {
    armed: Arc<AtomicBool>,
    passed_ms: Arc<AtomicU64>,
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        assert!(!self.armed.swap(false, Ordering::SeqCst), "the test's panic");
        SystemClock.now().plus_ms(self.passed_ms.load(Ordering::SeqCst))
    }
}

impl TestService {
    pub async fn build(slots: usize, settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut service = Self::open(folder.path(), slots, settings, None).await;
        service.account("one", None).await;
        service.account("two", None).await;
        service.root = Some(folder);
        service
    }

    /// As `build`, with registry and job actors on threads of their own, as in the service.
    pub async fn build_on_threads(slots: usize, settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut service =
            Self::open(folder.path(), slots, settings, Some([Arbiter::new(), Arbiter::new()])).await;
        service.account("one", None).await;
        service.root = Some(folder);
        service
    }

    /// A service on a folder that an earlier one may have used; makes no accounts.
    pub async fn open(
        folder: &Path,
        slots: usize,
        settings: &[(&str, &str)],
        apart: Option<[Arbiter; 2]>,
    ) -> Self {
        let variables = settings.iter().map(|(key, value)| {
            (format!("PLATEN__{}", key.to_uppercase().replace('.', "__")), (*value).to_owned())
        });
        let nowhere = ("PLATEN__BROWSER__EXECUTABLE".to_owned(), "/nonexistent".to_owned());
        let lazy = ("PLATEN__OFFICE__START".to_owned(), "lazy".to_owned());
        let config = Config::load(None, variables.chain([nowhere, lazy])).unwrap();
        let data = DataDir::open(&folder.join("data")).unwrap();
        let index: Arc<dyn Index> = Arc::new(SledIndex::open(&data.index(), &config.storage).await.unwrap());
        let store = store_in(&data).await;
        let here = Arbiter::current();
        let outbound = Outbound::new(config.outbound.clone(), &[], Arc::new(SystemResolver));
        let metrics = Metrics::new();
        // Fail points and counts stand between the service and its store; the tests look at the store itself.
        let metered = Arc::new(MeteredStore::new(store.clone(), metrics.store.clone()));
        let executable = env!("CARGO_BIN_EXE_platen").into();
        let catalog = Arc::new(Catalog::new(platen::engines::all(), true, metrics.engines.clone()));
        let engine_resources = EngineResources {
            executable,
            store: metered,
            work: data.work(),
            caches: None,
            catalog,
            templates: None,
            outbound,
            metrics,
        };
        let engines = Engines::start(engine_resources, &config, &here).await.unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let account_store = AccountStore::load(index.clone(), clock, &config.accounts).await.unwrap();
        let (stored, open_jobs) = (account_store.storage(), account_store.open_jobs());
        let document_returns = account_store.document_returns();
        let actor = Accounts::new(account_store, 64).start();
        let panics = Arc::new(AtomicBool::new(false));
        let passed_ms = Arc::new(AtomicU64::new(0));
        let context = JobContext {
            clock: Arc::new(TestClock { armed: panics.clone(), passed_ms: passed_ms.clone() }),
            journal: Journal::new(index.clone(), &config.jobs),
            pipeline: engines.pipeline,
            limits: config.jobs.clone(),
            reserve: actor.clone().recipient(),
            document_returns,
            open_jobs: open_jobs.clone(),
            stored: StoredInputs::new(stored.clone()),
        };
        let journal = context.journal.clone();
        let context = Arc::new(context);
        let handles = |[registry, jobs]: &[Arbiter; 2]| (registry.handle(), jobs.handle());
        let (thread, job_thread) = apart.as_ref().map_or((here.clone(), here), handles);
        let registry = JobRegistry::new(context.clone(), slots, vec![job_thread]);
        let registry = JobRegistry::start_in_arbiter(&thread, move |_| registry);
        let accounts = HashMap::new();
        Self {
            registry,
            journal,
            actor,
            stored,
            open_jobs,
            accounts,
            panics,
            store,
            index,
            context,
            passed_ms,
            apart,
            root: None,
        }
    }

    pub async fn account(&mut self, name: &'static str, documents: Option<u64>) {
        let request = AdminRequest::CreateAccount {
            name: name.to_owned(),
            plan: None,
            documents_per_month: documents,
            id: None,
        };
        let Ok(AdminReply::Account(view)) = self.actor.send(Administer(request)).await.unwrap() else {
            panic!("no account")
        };
        self.accounts.insert(name, view.account.id);
    }

    pub async fn init(&self, account: &str, template: &str, start: bool) -> Result<View, Problem> {
        self.init_with(account, template, start, None).await
    }

    pub async fn init_with(
        &self,
        account: &str,
        template: &str,
        start: bool,
        idempotency: Option<Idempotency>,
    ) -> Result<View, Problem> {
        let spec = html_spec(Secrets::default());
        let template = (!template.is_empty()).then(|| Bytes::copy_from_slice(template.as_bytes()));
        let account = self.accounts[account];
        let (data, deliver_to, refusal, request_id) = (None, None, None, None);
        let message =
            InitJob { account, spec, data, template, start, deliver_to, refusal, idempotency, request_id };
        self.registry.send(message).await.unwrap()
    }

    pub async fn watch(&self, view: &View) -> View {
        let (account, job) = (view.borrow().account, view.borrow().id);
        self.registry.send(WatchJob { account, job }).await.unwrap().unwrap()
    }

    pub async fn start(&self, view: &View) -> Result<View, Problem> {
        let (account, job) = (view.borrow().account, view.borrow().id);
        self.registry
            .send(StartJob { account, job, deliver_to: None, warnings: Warnings::default() })
            .await
            .unwrap()
    }

    /// The job's final view; asks again when a view closes without an end, as callers do.
    pub async fn ended(&self, view: &View) -> JobView {
        let mut view = view.clone();
        let end = async {
            loop {
                if let Ok(last) = view.wait_for(JobView::is_done).await {
                    return last.clone();
                }
                view = self.watch(&view).await;
            }
        };
        tokio::time::timeout(PATIENCE, end).await.expect("the job ends")
    }

    pub async fn record(&self, view: &View) -> JobRecord {
        let (account, job) = (view.borrow().account, view.borrow().id);
        self.journal.read(account, job).await.unwrap().unwrap()
    }

    /// Cancels or deletes.
    pub async fn delete(&self, view: &View) -> Result<DeleteOutcome, Code> {
        let (account, job) = (view.borrow().account, view.borrow().id);
        self.registry.send(DeleteJob { account, job }).await.unwrap().map_err(|problem| problem.code)
    }

    /// Moves the clock on.
    pub fn pass(&self, ms: u64) {
        self.passed_ms.fetch_add(ms, Ordering::SeqCst);
    }

    pub fn sweeper(&self) -> Sweeper {
        Sweeper::new(self.context.clone(), self.registry.clone())
    }

    pub async fn sweep(&self) -> Swept {
        self.sweeper().sweep().await.unwrap()
    }

    /// How many objects there are.
    pub async fn objects(&self) -> usize {
        let mut count = 0;
        for &folder in Folder::VARIANTS {
            count += self.store.list(folder, None, usize::MAX).await.unwrap().len();
        }
        count
    }

    pub async fn until_objects(&self, wanted: usize) {
        let wait = async {
            while self.objects().await != wanted {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("objects come and go");
    }

    /// Documents that the account `one` has used.
    pub async fn used(&self) -> usize {
        let Ok(AdminReply::Accounts(views)) =
            self.actor.send(Administer(AdminRequest::ListAccounts { after: None })).await.unwrap()
        else {
            panic!("no list")
        };
        let used = views.iter().find(|view| view.account.name == "one").unwrap().used;
        usize::try_from(used).unwrap()
    }

    /// Every key of the index that is one of jobs.
    pub async fn keys(&self) -> Vec<String> {
        let entries = self.index.scan("", None, usize::MAX).await.unwrap();
        let others = ["account/", "token/", "usage/"];
        let keys = entries.into_iter().map(|entry| entry.key);
        keys.filter(|key| !others.iter().any(|other| key.starts_with(other))).collect()
    }
}

impl Drop for TestService {
    fn drop(&mut self) {
        for thread in self.apart.take().into_iter().flatten() {
            thread.stop();
            let _ = thread.join();
        }
    }
}

/// A job from html to html.
pub fn html_spec(secrets: Secrets) -> JobSpec {
    let (kind, target) = (TemplateKind::Html, Target::Html);
    JobSpec { secrets, ..JobSpec::new(kind, target) }
}
