//! Fixtures for the tests of this folder: the application with small actors in place of job registry and accounts.

mod served;

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use actix::{Actor, Context, Handler, ResponseFuture};
use actix_web::body::to_bytes;
use actix_web::dev::ServiceResponse;
use actix_web::http::{Method, StatusCode, header};
use actix_web::test::{self, TestRequest};
use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::accounts::actor::Authenticate;
use crate::clock::{Clock, FixedClock, Timestamp};
use crate::config::Config;
use crate::domain::fault::{FaultCode, JobFault, Warnings};
use crate::domain::ids::{AccountId, JobId};
use crate::engines::{self, catalog::Catalog};
use crate::http::middleware::rate_limit::RateLimit;
use crate::http::serve::{application, serve};
use crate::http::state::{Checked, HttpState, JobGate, Readiness};
use crate::jobs::messages::{
    CloseUpload, FindRepeat, Idempotency, InitJob, InputPart, OpenUpload, StartJob, WatchJob,
};
use crate::jobs::registry::list::{JobPage, ListJobs};
use crate::jobs::view::{JobView, Output, WireStatus};
use crate::outbound::{Outbound, Resolve};
use crate::problem::{Code, Problem};
use crate::storage::disk::DiskStore;
use crate::storage::index::{Index, SledIndex};
use crate::storage::presigned_urls::{OwnPresignedUrls, Signer};
use crate::storage::{CountedUpload, ObjectStore, StorageKey, StorageQuota};
use crate::telemetry::metrics::Metrics;
use crate::templates::registry::{TemplateContext, TemplateReader, TemplateRegistry};

pub(super) use served::{Served, answer_of, answer_until};

pub(super) const TOKEN: &str = "a-valid-token";
pub(super) const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// How a started job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Document,
    Fault,
    StaysRunning,
}

/// The jobs of the fake registry; tests read and change them.
pub(super) struct Jobs {
    pub(super) outcome: Outcome,
    pub(super) inits: Vec<InitJob>,
    pub(super) views: HashMap<JobId, watch::Sender<JobView>>,
    pub(super) uploads: HashMap<(JobId, InputPart), u64>,
    keys: HashMap<Idempotency, JobId>,
}

impl Jobs {
    fn watch(&self, account: AccountId, job: JobId) -> Result<watch::Receiver<JobView>, Problem> {
        let found = self.views.get(&job).filter(|view| view.borrow().account == account);
        found.map(watch::Sender::subscribe).ok_or_else(|| Problem::new(Code::JobNotFound, "no such job"))
    }

    /// Ends a job as `outcome` says.
    pub(super) fn end(&self, job: JobId, outcome: Outcome) {
        self.views[&job].send_modify(|view| {
            view.started_at = Some(NOW);
            view.status =
                if outcome == Outcome::StaysRunning { WireStatus::InProgress } else { WireStatus::Done };
            view.finished_at = view.is_done().then_some(NOW);
            match outcome {
                Outcome::Document => {
                    view.output = Some(Output {
                        file: None,
                        bytes: 9,
                        pages: Some(2),
                        render_ms: 120,
                        queue_ms: 3,
                        content: None,
                    });
                }
                Outcome::Fault => {
                    view.fault =
                        Some(JobFault::new(FaultCode::TemplateError, "index.html:1: 'x' is not defined"));
                }
                Outcome::StaysRunning => {}
            }
        });
    }
}

/// In place of the job registry.
pub(super) struct FakeRegistry {
    pub(super) jobs: Arc<Mutex<Jobs>>,
    store: Arc<dyn ObjectStore>,
    quota: Arc<StorageQuota>,
}

impl Actor for FakeRegistry {
    type Context = Context<Self>;
}

impl Handler<InitJob> for FakeRegistry {
    type Result = Result<watch::Receiver<JobView>, Problem>;

    fn handle(&mut self, mut message: InitJob, _: &mut Context<Self>) -> Self::Result {
        message.refusal.take().map_or(Ok(()), Err)?;
        let view = JobView {
            id: JobId::generate(),
            account: message.account,
            kind: message.spec.kind,
            target: message.spec.target,
            template: message.spec.template,
            format_opts: message.spec.format_opts.clone(),
            status: WireStatus::Initialized,
            output: None,
            fault: None,
            warnings: Warnings::default(),
            created_at: NOW,
            started_at: None,
            finished_at: None,
        };
        let (id, start) = (view.id, message.start);
        let (sender, receiver) = watch::channel(view);
        let mut jobs = self.jobs.lock().unwrap();
        jobs.views.insert(id, sender);
        jobs.keys.extend(message.idempotency.map(|key| (key, id)));
        jobs.inits.push(message);
        if start {
            jobs.end(id, jobs.outcome);
        }
        Ok(receiver)
    }
}

impl Handler<FindRepeat> for FakeRegistry {
    type Result = Result<Option<watch::Receiver<JobView>>, Problem>;

    fn handle(&mut self, message: FindRepeat, _: &mut Context<Self>) -> Self::Result {
        let jobs = self.jobs.lock().unwrap();
        jobs.keys.get(&message.idempotency).map(|job| jobs.watch(message.account, *job)).transpose()
    }
}

impl Handler<StartJob> for FakeRegistry {
    type Result = Result<watch::Receiver<JobView>, Problem>;

    fn handle(&mut self, message: StartJob, _: &mut Context<Self>) -> Self::Result {
        let jobs = self.jobs.lock().unwrap();
        let view = jobs.watch(message.account, message.job)?;
        if view.borrow().status == WireStatus::Initialized {
            jobs.end(message.job, jobs.outcome);
        }
        Ok(view)
    }
}

impl Handler<WatchJob> for FakeRegistry {
    type Result = Result<watch::Receiver<JobView>, Problem>;

    fn handle(&mut self, message: WatchJob, _: &mut Context<Self>) -> Self::Result {
        self.jobs.lock().unwrap().watch(message.account, message.job)
    }
}

impl Handler<ListJobs> for FakeRegistry {
    type Result = Result<JobPage, Problem>;

    fn handle(&mut self, message: ListJobs, _: &mut Context<Self>) -> Self::Result {
        let mut jobs: Vec<_> = self.jobs.lock().unwrap().views.values().map(|v| v.borrow().clone()).collect();
        jobs.sort_by_key(|view| std::cmp::Reverse(view.id));
        jobs.retain(|view| message.filter.shows(view) && message.before.is_none_or(|id| view.id < id));
        let more = jobs.len() > message.limit;
        jobs.truncate(message.limit);
        let next = jobs.last().filter(|_| more).map(|view| view.id);
        Ok(JobPage { items: jobs, next })
    }
}

impl Handler<OpenUpload> for FakeRegistry {
    type Result = ResponseFuture<Result<CountedUpload, Problem>>;

    fn handle(&mut self, message: OpenUpload, _: &mut Context<Self>) -> Self::Result {
        let watched = self.jobs.lock().unwrap().watch(message.account, message.job);
        let (store, stored) = (Arc::clone(&self.store), self.quota.begin(message.account));
        Box::pin(async move {
            if watched?.borrow().status != WireStatus::Initialized {
                return Err(Problem::new(Code::UploadClosed, "the job has started"));
            }
            let staged = store.stage(message.limit_bytes).await.map_err(Problem::internal)?;
            Ok(CountedUpload::new(staged, stored))
        })
    }
}

impl Handler<CloseUpload> for FakeRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: CloseUpload, _: &mut Context<Self>) -> Self::Result {
        let jobs = Arc::clone(&self.jobs);
        Box::pin(async move {
            let key = match message.part {
                InputPart::Data => StorageKey::JobData(message.account, message.job),
                InputPart::Template => StorageKey::JobTemplate(message.account, message.job),
            };
            let stored = message.upload.commit(&key).await.map_err(Problem::internal)?;
            jobs.lock().unwrap().uploads.insert((message.job, message.part), stored.bytes());
            Ok(())
        })
    }
}

/// In place of the accounts: one account with one token.
struct FakeAccounts(AccountId);

impl Actor for FakeAccounts {
    type Context = Context<Self>;
}

impl Handler<Authenticate> for FakeAccounts {
    type Result = Result<AccountId, Problem>;

    fn handle(&mut self, message: Authenticate, _: &mut Context<Self>) -> Self::Result {
        if message.token == TOKEN {
            return Ok(self.0);
        }
        Err(Problem::new(Code::Unauthorized, "the token is not valid"))
    }
}

struct FixedReadiness(Checked);

#[async_trait]
impl Readiness for FixedReadiness {
    async fn check(&self) -> Checked {
        self.0.clone()
    }
}

/// The application with its fakes.
pub(super) struct TestServer {
    pub(super) state: HttpState,
    pub(super) jobs: Arc<Mutex<Jobs>>,
    pub(super) account: AccountId,
    pub(super) clock: Arc<FixedClock>,
    _folder: TempDir,
}

/// Resolves no name: a unit test must not ask the network.
struct EmptyResolver;

#[async_trait]
impl Resolve for EmptyResolver {
    async fn resolve(&self, _: &str, _: u16) -> std::io::Result<Vec<SocketAddr>> {
        Ok(Vec::new())
    }
}

impl TestServer {
    pub(super) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// With other settings.
    pub(super) async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::default();
        change(&mut config);
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn ObjectStore> =
            Arc::new(DiskStore::open(folder.path().join("objects")).await.unwrap());
        let jobs = Arc::new(Mutex::new(Jobs {
            outcome: Outcome::Document,
            inits: Vec::new(),
            views: HashMap::new(),
            uploads: HashMap::new(),
            keys: HashMap::new(),
        }));
        let account = AccountId::generate();
        let clock = Arc::new(FixedClock::at(NOW));
        let quota = StorageQuota::new(config.accounts.stored_bytes_limit);
        let registry = FakeRegistry { jobs: Arc::clone(&jobs), store: Arc::clone(&store), quota }.start();
        let metrics = Metrics::new();
        let index = SledIndex::open(&folder.path().join("index"), &config.storage).await.unwrap();
        let index: Arc<dyn Index> = Arc::new(index);
        let places = (Arc::clone(&index), Arc::clone(&store));
        let time = Arc::clone(&clock) as Arc<dyn Clock>;
        let templates = TemplateContext::new(time, places, &config, metrics.templates.clone());
        let templates = Arc::new(templates);
        let state = HttpState {
            templates: TemplateRegistry::new(Arc::clone(&templates), index, 64).start(),
            template_reader: TemplateReader::new(templates),
            jobs: JobGate {
                init: registry.clone().into(),
                repeat: registry.clone().into(),
                start: registry.clone().into(),
                watch: registry.clone().into(),
                delete: registry.clone().into(),
                list: registry.clone().into(),
                open_upload: registry.clone().into(),
                close_upload: registry.into(),
            },
            accounts: FakeAccounts(account).start().into(),
            rate_limit: Arc::new(RateLimit::new(&config.http)),
            presigned_urls: Arc::new(OwnPresignedUrls::new(
                Arc::new(Signer::new(&[7; 32])),
                Arc::clone(&clock) as Arc<dyn Clock>,
                "https://render.example".to_owned(),
                config.storage.address_ttl_s,
            )),
            signer: Arc::new(Signer::new(&[7; 32])),
            store,
            bodies: Arc::new(Semaphore::new(super::body_room(&config.http))),
            questions: Arc::new(Semaphore::new(usize::try_from(config.jobs.mailbox_limit).unwrap())),
            outbound: Outbound::new(config.outbound.clone(), &[], Arc::new(EmptyResolver)),
            config: Arc::new(config),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            public_url: "https://render.example".to_owned(),
            stopping: CancellationToken::new(),
            idle: CancellationToken::new(),
            readiness: Arc::new(FixedReadiness(Ok(Vec::new()))),
            catalog: Arc::new(Catalog::new(engines::all(), true, metrics.engines.clone())),
            metrics,
        };
        Self { state, jobs, account, clock, _folder: folder }
    }

    /// Makes `/health/ready` fail for these reasons.
    pub(super) fn unready(&mut self, reasons: &[&str]) {
        self.state.readiness =
            Arc::new(FixedReadiness(Err(reasons.iter().map(ToString::to_string).collect())));
    }

    /// Makes `/health/ready` name an engine that is lost.
    pub(super) fn degraded(&mut self, lost: &str) {
        self.state.readiness = Arc::new(FixedReadiness(Ok(vec![lost.to_owned()])));
    }

    /// Serves on a free port of the loopback.
    pub(super) fn serve(&self) -> Served {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = serve(listener, self.state.clone()).unwrap();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        Served::new(address, handle)
    }

    /// The answer to a request as it is.
    pub(super) async fn send(&self, request: TestRequest) -> ServiceResponse {
        let application = test::init_service(application(self.state.clone())).await;
        test::call_service(&application, request.to_request()).await
    }

    /// The answer to a request with the token.
    pub(super) async fn request(&self, method: Method, path: &str, body: &str) -> ServiceResponse {
        let request = TestRequest::default()
            .method(method)
            .uri(path)
            .insert_header((header::AUTHORIZATION, format!("Bearer {TOKEN}")))
            .set_payload(Bytes::from(body.to_owned()));
        self.send(request).await
    }

    /// Status and JSON of the answer to a request with the token.
    pub(super) async fn call(&self, method: Method, path: &str, body: &str) -> (StatusCode, Value) {
        read(self.request(method, path, body).await).await
    }

    /// Posts `body`; the status and JSON of the answer.
    pub(super) async fn post(&self, path: &str, body: &str) -> (StatusCode, Value) {
        self.call(Method::POST, path, body).await
    }

    /// Creates a job and gives its id and the answer.
    pub(super) async fn init(&self) -> (JobId, Value) {
        let (status, body) = self.post("/v1/documents/init", r#"{"type":"html","target":"pdf"}"#).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        (body["jobId"].as_str().unwrap().parse().unwrap(), body)
    }

    /// Path and query of a URL of an answer.
    pub(super) fn local(&self, url: &Value) -> String {
        url.as_str().unwrap().strip_prefix(&self.state.public_url).unwrap().to_owned()
    }
}

/// Status and JSON of an answer.
pub(super) async fn read(answer: ServiceResponse) -> (StatusCode, Value) {
    let status = answer.status();
    let body = to_bytes(answer.into_body()).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

/// The faults of a 422 as "pointer detail" lines.
pub(super) fn faults(body: &Value) -> Vec<String> {
    let faults = body["errors"].as_array().unwrap().iter();
    faults
        .map(|fault| format!("{} {}", fault["pointer"].as_str().unwrap(), fault["detail"].as_str().unwrap()))
        .collect()
}
