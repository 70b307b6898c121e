//! Fixtures for the tests of this folder: the application with real templates, and a job registry that has stopped.

mod served;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use actix::{Actor, AsyncContext as _, Context, Handler};
use actix_web::body::to_bytes;
use actix_web::dev::ServiceResponse;
use actix_web::http::{Method, StatusCode, header};
use actix_web::test::{self, TestRequest};
use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::objects::presigned_url;
use crate::accounts::actor::Authenticate;
use crate::clock::{Clock, FixedClock, Timestamp};
use crate::config::Config;
use crate::domain::ids::{AccountId, TemplateId};
use crate::domain::kinds::{Target, TemplateKind};
use crate::engines::{self, catalog::Catalog};
use crate::http::middleware::rate_limit::RateLimit;
use crate::http::serve::{application, serve};
use crate::http::state::{HttpState, Readiness, ReadinessResult, Shared};
use crate::jobs::messages::JobSpec;
use crate::jobs::registry::JobRegistry;
use crate::jobs::store::record::JobRecord;
use crate::jobs::view::JobView;
use crate::outbound::{Outbound, Resolve};
use crate::problem::{Code, Problem};
use crate::storage::ObjectStore;
use crate::storage::disk::DiskStore;
use crate::storage::index::{Index, SledIndex};
use crate::storage::presigned_urls::{OwnPresignedUrls, Signer};
use crate::telemetry::metrics::Metrics;
use crate::templates::registry::messages::InitTemplate;
use crate::templates::registry::{TemplateContext, TemplateReader, TemplateRegistry};

pub(super) use served::{Served, answer_of, answer_until, until};

pub(super) const TOKEN: &str = "a-valid-token";
const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// The token of another account.
pub(super) const OTHER_TOKEN: &str = "another-valid-token";

/// In place of the accounts: two accounts with a token each.
struct FakeAccounts([AccountId; 2]);

impl Actor for FakeAccounts {
    type Context = Context<Self>;
}

impl Handler<Authenticate> for FakeAccounts {
    type Result = Result<AccountId, Problem>;

    fn handle(&mut self, message: Authenticate, _: &mut Context<Self>) -> Self::Result {
        let known = [TOKEN, OTHER_TOKEN].into_iter().zip(self.0).find(|(token, _)| message.token == *token);
        let refused = || Problem::new(Code::Unauthorized, "the token is not valid");
        known.map(|(_, account)| account).ok_or_else(refused)
    }
}

struct AlwaysReady;

#[async_trait]
impl Readiness for AlwaysReady {
    async fn check(&self) -> ReadinessResult {
        Ok(Vec::new())
    }
}

/// Resolves no name: a unit test must not ask the network.
struct EmptyResolver;

#[async_trait]
impl Resolve for EmptyResolver {
    async fn resolve(&self, _: &str, _: u16) -> std::io::Result<Vec<SocketAddr>> {
        Ok(Vec::new())
    }
}

pub(super) struct TestServer {
    pub(super) state: HttpState,
    pub(super) account: AccountId,
    _folder: TempDir,
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
        let account = AccountId::generate();
        let clock: Arc<dyn Clock> = Arc::new(FixedClock::at(NOW));
        let metrics = Metrics::new();
        let index = SledIndex::open(&folder.path().join("index"), &config.storage).await.unwrap();
        let index: Arc<dyn Index> = Arc::new(index);
        let storage = (Arc::clone(&index), Arc::clone(&store));
        let templates = TemplateContext::new(clock.clone(), storage, &config, metrics.templates.clone());
        let templates = Arc::new(templates);
        let state = HttpState {
            templates: TemplateRegistry::new(Arc::clone(&templates), index, 64).start(),
            template_reader: TemplateReader::new(templates),
            jobs: Context::<JobRegistry>::new().address(),
            accounts: FakeAccounts([account, AccountId::generate()]).start().into(),
            rate_limit: Arc::new(RateLimit::new(&config.http)),
            presigned_urls: Arc::new(OwnPresignedUrls::new(
                Arc::new(Signer::new(&[7; 32])),
                clock.clone(),
                "https://render.example".to_owned(),
                config.storage.address_ttl_s,
            )),
            signer: Arc::new(Signer::new(&[7; 32])),
            store,
            shared: Shared::new(&config, None, &metrics.http),
            outbound: Outbound::new(config.outbound.clone(), &[], Arc::new(EmptyResolver)),
            config: Arc::new(config),
            clock,
            public_url: "https://render.example".to_owned(),
            stopping: CancellationToken::new(),
            idle: CancellationToken::new(),
            readiness: Arc::new(AlwaysReady),
            catalog: Arc::new(Catalog::new(engines::all(), true, metrics.engines.clone())),
            metrics,
        };
        Self { state, account, _folder: folder }
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

    /// Begins a template; gives its id, and path and query of the address for its upload.
    pub(super) async fn begin_template(&self) -> (TemplateId, String) {
        let begun = self.state.templates.send(InitTemplate { account: self.account }).await;
        let template = begun.unwrap().unwrap();
        (template, self.local(&presigned_url::for_template(&self.state, self.account, template).url))
    }

    /// Path and query of a URL of an answer.
    pub(super) fn local(&self, url: &str) -> String {
        url.strip_prefix(&self.state.public_url).unwrap().to_owned()
    }
}

/// Status and JSON of an answer.
pub(super) async fn read(answer: ServiceResponse) -> (StatusCode, Value) {
    let status = answer.status();
    let body = to_bytes(answer.into_body()).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

/// The errors of a 422 as "pointer detail" lines.
pub(super) fn errors(body: &Value) -> Vec<String> {
    let errors = body["errors"].as_array().unwrap().iter();
    errors
        .map(|error| format!("{} {}", error["pointer"].as_str().unwrap(), error["detail"].as_str().unwrap()))
        .collect()
}

/// A job that waits for its start.
pub(super) fn job_view() -> JobView {
    let (kind, target) = (TemplateKind::Html, Target::Pdf);
    let spec = JobSpec::new(kind, target);
    JobRecord::new(AccountId::generate(), spec, NOW).view()
}
