//! The composition root: the only place that knows every concrete type.
//!
//! `App::build` opens index and store, starts the actors on their threads, resumes the jobs that the journal has as
//! unfinished, and listens. `run_until_stopped` serves until SIGINT or SIGTERM, or until the server ends by itself.
//! Then everything ends in the order of its dependencies: long-polls are answered, running jobs finish (requests that
//! wait for their documents get them) or are parked, connections close, browsers end, the index is closed.

mod account_deleter;
mod metrics;
mod persistence;
mod ready;
mod rendering;

use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Addr, Arbiter, ArbiterHandle};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::accounts::control::{self, ControlSocket};
use crate::accounts::{AccountStore, Accounts, DocumentReturns, OpenJobs};
use crate::browser::{BrowserPool, GetPoolStatus, ShutDown};
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::engines::catalog::Catalog;
use crate::engines::{self, Engine, can_confine_files};
use crate::http::{self, HttpState, RateLimit, ServerHandle, Shared};
use crate::jobs::cleanup::sweeper::Sweeper;
use crate::jobs::context::JobContext;
use crate::jobs::registry::JobRegistry;
use crate::jobs::registry::requests::ResumeJobs;
use crate::jobs::registry::shutdown::StopJobs;
use crate::jobs::store::journal::Journal;
use crate::jobs::store::stored_inputs::StoredInputs;
use crate::outbound::{Outbound, SystemResolver};
use crate::storage::StorageQuota;
use crate::telemetry::metrics::Metrics;
use crate::templates::registry::{TemplateContext, TemplateReader, TemplateRegistry};
use crate::templates::repair::garbage_collector::GarbageCollector;

use account_deleter::AccountDeleter;
pub use account_deleter::{DeletedData, delete_account_data};
use metrics::MetricsPage;
use persistence::Persistence;
pub use persistence::store_taken_over;
pub use rendering::{EngineResources, Engines, unknown_engine};

/// Why the service cannot start or ended badly.
pub type AppError = Box<dyn std::error::Error + Send + Sync>;

/// The service, listening.
pub struct App {
    address: String,
    public_url: String,
    grace: Duration,
    server: ServerHandle,
    serving: JoinHandle<io::Result<()>>,
    metrics: Option<MetricsPage>,
    stopping: CancellationToken,
    idle: CancellationToken,
    registry: Addr<JobRegistry>,
    pool: Addr<BrowserPool>,
    persistence: Persistence,
    control: ControlSocket,
    arbiters: Vec<Arbiter>,
}

impl App {
    /// Opens, starts and listens. `executable` is our own binary, which starts children.
    ///
    /// # Errors
    /// A sentence for the operator: the data folder, the index, the address or a thread cannot be had.
    pub async fn build(config: Config, executable: PathBuf) -> Result<Self, AppError> {
        Self::build_with(config, executable, engines::all()).await
    }

    /// The same with these engines.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub async fn build_with(
        config: Config,
        executable: PathBuf,
        engines: Vec<Engine>,
    ) -> Result<Self, AppError> {
        let open_files = raise_descriptor_limit();
        let (clock, metrics): (Arc<dyn Clock>, _) = (Arc::new(SystemClock), Metrics::new());
        let listener = listen(&config.http.bind, "http.bind")?;
        let catalog = Arc::new(Catalog::new(engines, can_confine_files(&config), metrics.engines.clone()));
        let metrics_page = MetricsPage::open(&config, &metrics, &catalog)?;
        let persistence = Persistence::open(&config, &metrics).await?;
        let (stopping, idle) = (CancellationToken::new(), CancellationToken::new());
        let arbiters = arbiters(&config, &metrics);
        let (control_thread, browser_thread, job_threads) = split(&arbiters)?;

        let outbound = outbound(&config, &listener, metrics_page.as_ref())?;
        let index = persistence.index.clone();
        let account_store = AccountStore::load(index, clock.clone(), &config.accounts).await?;
        let (quota, open_jobs) = (account_store.storage(), account_store.open_jobs());
        let (removal, returns) = (account_store.account_deleted(), account_store.document_returns());
        let context = template_context(&config, &persistence, (&clock, &metrics), Some(&quota));
        let templates = start_templates(&context, &persistence, &config, (&control_thread, &stopping));
        let template_reader = TemplateReader::new(context.clone());
        let resources = (&persistence, &template_reader, &catalog);
        let resources = engine_resources(executable, resources, &outbound, &metrics);
        let engines = Engines::start(resources, &config, &browser_thread).await?;
        engines.prepare(&context);
        let accounts = start_on(&control_thread, Accounts::new(account_store, config.accounts.mailbox_limit));
        let commanded = (accounts.clone(), persistence.backups.clone());
        let control = control::serve(&persistence.control_socket, commanded, &config.accounts)?;

        let counts = (returns, open_jobs, StoredInputs::new(quota));
        let context = job_context(&config, (&persistence, &clock), (&engines, &accounts), counts);
        let deleter = AccountDeleter::new(&persistence, context.journal.clone(), templates.clone(), removal);
        let (slots, threads) = (slots(&config, &engines.pool).await?, (&control_thread, job_threads));
        let registry = start_jobs(context, slots, threads, (deleter, &stopping)).await?;

        let bound = listener.local_addr()?;
        let (address, public_url) = (http::local_url(bound), http::public_url(&config, bound));
        let state = HttpState {
            jobs: registry.clone(),
            templates,
            template_reader,
            accounts: accounts.recipient(),
            rate_limit: Arc::new(RateLimit::new(&config.http)),
            presigned_urls: persistence.presigned_urls(&config, &clock, public_url.clone())?,
            signer: persistence.signer.clone(),
            store: persistence.store.clone(),
            outbound,
            public_url: public_url.clone(),
            stopping: stopping.clone(),
            idle: idle.clone(),
            readiness: Arc::new(ready::ReadinessCheck::new(&engines.pool, &persistence, &catalog)),
            catalog,
            shared: Shared::new(&config, open_files, &metrics.http),
            metrics,
            clock,
            config: Arc::new(config.clone()),
        };
        let server = http::serve(listener, state)?;
        Ok(Self {
            address,
            public_url,
            grace: Duration::from_secs(config.http.shutdown_grace_s),
            server: server.handle(),
            serving: actix::spawn(server),
            metrics: metrics_page,
            stopping,
            idle,
            registry,
            pool: engines.pool,
            persistence,
            control,
            arbiters,
        })
    }

    /// Where the service listens, as callers on this machine write it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The base of the URLs in its answers.
    pub fn public_url(&self) -> &str {
        &self.public_url
    }

    /// Where metrics are read, if at another address.
    pub fn metrics_address(&self) -> Option<String> {
        self.metrics.as_ref().map(|page| format!("http://{}/metrics", page.bound()))
    }

    /// The handle that stops the server.
    pub fn server(&self) -> &ServerHandle {
        &self.server
    }

    /// Serves until SIGINT or SIGTERM, then ends everything in order.
    ///
    /// # Errors
    /// When signals cannot be received, or the server failed or ended by itself.
    pub async fn run_until_stopped(mut self) -> Result<(), AppError> {
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let ended = tokio::select! {
            _ = interrupt.recv() => {
                tracing::info!("SIGINT: the service stops");
                None
            }
            _ = terminate.recv() => {
                tracing::info!("SIGTERM: the service stops");
                None
            }
            ended = &mut self.serving => {
                tracing::error!("the HTTP server ended by itself: the service stops");
                Some(ended)
            }
        };
        self.stop(ended).await
    }

    /// Takes every step even if an earlier one failed: what is not parked and closed is recovered by the next start, as
    /// after a crash. `ended` is how the server ended, if it has.
    async fn stop(self, ended: Option<Result<io::Result<()>, JoinError>>) -> Result<(), AppError> {
        self.stopping.cancel();
        let parked = self.registry.send(StopJobs { grace: self.grace }).await.map_err(AppError::from);
        self.idle.cancel();
        let served = if let Some(ended) = ended {
            Err(by_itself(ended))
        } else {
            self.server.stop(true).await;
            self.serving.await.map_err(AppError::from).and_then(|served| Ok(served?))
        };
        let closed = self.pool.send(ShutDown).await.map_err(AppError::from);
        let metrics_closed = match self.metrics {
            Some(metrics) => metrics.close().await,
            None => Ok(()),
        };
        drop(self.control);
        self.persistence.index.close().await;
        for arbiter in self.arbiters {
            arbiter.stop();
            let _ = arbiter.join();
        }
        served.and(parked).and(closed.map(drop)).and(metrics_closed)
    }
}

fn by_itself(ended: Result<io::Result<()>, JoinError>) -> AppError {
    let cause = match ended {
        Ok(Ok(())) => "it said nothing".to_owned(),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    format!("the HTTP server ended by itself ({cause}); what was running begins again when the service does")
        .into()
}

fn template_context(
    config: &Config,
    persistence: &Persistence,
    (clock, metrics): (&Arc<dyn Clock>, &Metrics),
    quota: Option<&Arc<StorageQuota>>,
) -> Arc<TemplateContext> {
    let storage = (persistence.index.clone(), persistence.store.clone());
    let context = TemplateContext::new(clock.clone(), storage, config, metrics.templates.clone());
    Arc::new(match quota {
        Some(quota) => context.with_quota(Arc::clone(quota)),
        None => context,
    })
}

/// The rules for outgoing connections. They also refuse the service's own listeners: a page or a delivery must not reach the
/// service from inside.
fn outbound(
    config: &Config,
    listener: &TcpListener,
    metrics: Option<&MetricsPage>,
) -> std::io::Result<Outbound> {
    let mut own = vec![listener.local_addr()?];
    own.extend(metrics.map(MetricsPage::bound));
    Ok(Outbound::new(config.outbound.clone(), &own, Arc::new(SystemResolver)))
}

/// The resources that the engines are started with.
fn engine_resources(
    executable: PathBuf,
    (persistence, templates, catalog): (&Persistence, &TemplateReader, &Arc<Catalog>),
    outbound: &Outbound,
    metrics: &Metrics,
) -> EngineResources {
    EngineResources {
        executable,
        store: persistence.store.clone(),
        work: persistence.work.clone(),
        caches: persistence.caches.clone(),
        catalog: catalog.clone(),
        templates: Some(templates.clone()),
        outbound: outbound.clone(),
        metrics: metrics.clone(),
    }
}

/// The parts that jobs share, collected from the rest of the service.
fn job_context(
    config: &Config,
    (persistence, clock): (&Persistence, &Arc<dyn Clock>),
    (engines, accounts): (&Engines, &Addr<Accounts>),
    (document_returns, open_jobs, stored): (DocumentReturns, Arc<OpenJobs>, StoredInputs),
) -> JobContext {
    JobContext {
        clock: clock.clone(),
        journal: Journal::new(persistence.index.clone(), &config.jobs),
        pipeline: engines.pipeline.clone(),
        limits: config.jobs.clone(),
        reserve: accounts.clone().recipient(),
        document_returns,
        open_jobs,
        stored,
    }
}

/// The template registry, and its garbage collector.
fn start_templates(
    context: &Arc<TemplateContext>,
    persistence: &Persistence,
    config: &Config,
    (control_thread, stopping): (&ArbiterHandle, &CancellationToken),
) -> Addr<TemplateRegistry> {
    let registry =
        TemplateRegistry::new(context.clone(), persistence.index.clone(), config.jobs.mailbox_limit);
    let registry = start_on(control_thread, registry);
    control_thread.spawn(GarbageCollector::new(context.clone(), &registry).run(stopping.clone()));
    registry
}

/// Starts the registry with the unfinished jobs of the journal, the sweeper, and the deleter of accounts.
async fn start_jobs(
    context: JobContext,
    slots: usize,
    (control_thread, job_threads): (&ArbiterHandle, Vec<ArbiterHandle>),
    (deleter, stopping): (AccountDeleter, &CancellationToken),
) -> Result<Addr<JobRegistry>, AppError> {
    let unfinished = context.journal.unfinished().await?;
    context.restore_stored_inputs(&unfinished).await;
    let context = Arc::new(context);
    let registry = start_on(control_thread, JobRegistry::new(Arc::clone(&context), slots, job_threads));
    let resumed = registry.send(ResumeJobs(unfinished)).await?;
    if resumed > 0 {
        tracing::info!(job.count = resumed, "unfinished jobs are taken up again");
    }
    control_thread.spawn(Sweeper::new(context, registry.clone()).run(stopping.clone()));
    control_thread.spawn(deleter.run(registry.clone(), stopping.clone()));
    Ok(registry)
}

fn listen(bind: &str, key: &str) -> Result<TcpListener, AppError> {
    TcpListener::bind(bind).map_err(|error| {
        format!("cannot listen on {bind} ({key}): {error}; end what uses the port, or choose another").into()
    })
}

/// Splits the threads: the first one runs the actors that exist once (registries, accounts, sweepers), the others run jobs. The
/// browser pool runs on the first thread of jobs. On a thread of its own, each answer of Chromium, about twenty a document,
/// would have to wake the job's thread as well.
fn split(arbiters: &[Arbiter]) -> Result<(ArbiterHandle, ArbiterHandle, Vec<ArbiterHandle>), AppError> {
    let [control, jobs @ ..] = arbiters else { return Err("there is no thread for the actors".into()) };
    let browsers = jobs.first().ok_or("jobs.threads must be at least 1")?;
    Ok((control.handle(), browsers.handle(), jobs.iter().map(Arbiter::handle).collect()))
}

/// The threads that actors share, as [`split`] takes them. They are observed, and the present one; the server observes its own.
fn arbiters(config: &Config, metrics: &Metrics) -> Vec<Arbiter> {
    let watch =
        |thread| metrics.threads.clone().watch(thread, Duration::from_millis(config.metrics.watch_ms));
    actix::spawn(watch("main"));
    let started = (0..=config.jobs.threads).map(|number| {
        let arbiter = Arbiter::new();
        arbiter.spawn(watch(if number == 0 { "control" } else { "jobs" }));
        arbiter
    });
    started.collect()
}

fn start_on<A>(arbiter: &ArbiterHandle, actor: A) -> Addr<A>
where
    A: Actor<Context = actix::Context<A>> + Send,
{
    A::start_in_arbiter(arbiter, move |_| actor)
}

/// Jobs that run at once: one more than there are tabs, so that the next template is assembled while the pages before it
/// print.
async fn slots(config: &Config, pool: &Addr<BrowserPool>) -> Result<usize, AppError> {
    match config.jobs.concurrency {
        0 => Ok(pool.send(GetPoolStatus).await?.tabs + 1),
        slots => Ok(usize::try_from(slots)?),
    }
}

/// Raises the limit of open files to the most the system allows, and answers it: every waiting client needs one.
fn raise_descriptor_limit() -> Option<u64> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let raised = getrlimit(Resource::RLIMIT_NOFILE)
        .and_then(|(_, hard)| setrlimit(Resource::RLIMIT_NOFILE, hard, hard));
    if let Err(error) = raised {
        tracing::warn!(error = %error, "the limit of open files stays as it is");
    }
    getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(soft, _)| soft)
}
