//! The parts that render: the starter of children, the pool of browsers, the engines of the catalogue. Shared by the service
//! and by `platen render`.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use actix::{Actor, Addr, ArbiterHandle};

use crate::browser::BrowserPool;
use crate::config::{Config, EnginesConfig, as_count};
use crate::engines::catalog::Catalog;
use crate::engines::lint::Linter;
use crate::engines::script::TemplateCodePool;
use crate::engines::work_files::{WorkFolder, WorkLimits};
use crate::engines::{self, Runners};
use crate::outbound::Outbound;
use crate::pipeline::{PipelineContext, RunLimits};
use crate::slots::engines::EngineBudget;
use crate::slots::{AccountShare, AccountSlots};
use crate::storage::ObjectStore;
use crate::telemetry::metrics::Metrics;
use crate::templates::registry::{TemplateContext, TemplateReader};
use crate::workers::{Programs, Starter, landlock};

/// The resources that the engines are started with.
pub struct EngineResources {
    /// Our own binary, which starts children.
    pub executable: PathBuf,
    /// Where inputs come from and documents go.
    pub store: Arc<dyn ObjectStore>,
    /// The folder for documents between two steps of a run.
    pub work: PathBuf,
    /// The folder for caches that are built once for a machine; without it nothing is cached.
    pub caches: Option<PathBuf>,
    /// The engines to be started.
    pub catalog: Arc<Catalog>,
    /// Where saved templates come from; none in a command that has none.
    pub templates: Option<TemplateReader>,
    /// What sends deliveries and the requests that pages may make.
    pub outbound: Outbound,
    /// Where all of it is counted.
    pub metrics: Metrics,
}

/// Everything a run needs, and the pool of browsers, whose status is asked for.
pub struct Engines {
    /// The pool of browsers, started.
    pub pool: Addr<BrowserPool>,
    /// What a run works with.
    pub pipeline: Arc<PipelineContext>,
    programs: Programs,
    linter: Linter,
}

impl Engines {
    /// Starts them, the pool's actor on `arbiter`.
    ///
    /// # Errors
    /// When the system gives no thread, the work folder cannot be used, or `engines.slots` names no engine.
    pub async fn start(
        resources: EngineResources,
        config: &Config,
        arbiter: &ArbiterHandle,
    ) -> io::Result<Self> {
        let EngineResources { executable, store, work, caches, catalog, templates, outbound, metrics } =
            resources;
        if let Some(wrong) = unknown_engine(&catalog, &config.engines) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("engines.slots: {wrong}")));
        }
        let starter = Starter::new(executable)?;
        catalog.ask_versions(&starter).await;
        let share =
            AccountShare::new(config.jobs.running_account_limit).with_overflow(config.engines.overflow_slots);
        let work = WorkFolder::open(&work, WorkLimits::of(config))?;
        let budget = EngineBudget::new(&config.engines, share, metrics.slots.clone());
        let pool = BrowserPool::start_in_arbiter(arbiter, {
            let (browser, outbound, budget) = (config.browser.clone(), outbound.clone(), budget.clone());
            let (metrics, starter) = (metrics.browser.clone(), starter.clone());
            move |_| BrowserPool::new(browser, starter, outbound, budget, metrics)
        });
        let children = metrics.children.clone();
        let programs = Programs::new(starter.clone(), &config.workers, landlock(), children);
        let script =
            TemplateCodePool::new(starter.clone(), &config.assemble, share, metrics.children.clone());
        let linter = Linter::new(script.clone(), config);
        let context = engines::EngineContext {
            starter: &starter,
            script: &script,
            programs: &programs,
            pool: &pool,
            share,
            budget: budget.clone(),
            outbound: &outbound,
            caches: caches.as_deref(),
            config,
            metrics: &metrics,
        };
        let runners = Runners::start(catalog.engines(), &context);
        let delivery_share = AccountShare::new(config.outbound.delivery_account_limit);
        let deliveries = AccountSlots::new(as_count(config.outbound.delivery_limit), delivery_share);
        let limits = RunLimits {
            run_timeout_s: config.jobs.run_timeout_s,
            input_limit_bytes: config.http.upload_limit_bytes,
            json_depth_limit: config.http.json_depth_limit,
            output_limit_bytes: config.storage.output_limit_bytes,
            delivery_tries: config.outbound.delivery_tries,
            delivery_timeout_s: config.outbound.delivery_timeout_s,
            templates: config.templates.clone(),
        };
        let unpacking = AccountSlots::new(as_count(config.templates.unpacking_limit), share);
        let pipeline = PipelineContext {
            store,
            templates,
            unpacking,
            catalog,
            runners,
            budget,
            work,
            outbound,
            deliveries,
            limits,
            metrics,
        };
        Ok(Self { pool, pipeline: Arc::new(pipeline), programs, linter })
    }

    /// What a service needs and a single render does not: prepares external programs, and gives the templates the
    /// reader of their variables.
    pub fn prepare(&self, templates: &TemplateContext) {
        templates.set_variable_reader(Arc::new(self.linter.clone()));
        actix::spawn(self.programs.clone().prepare());
    }
}

/// What is wrong with `engines.slots`: a name that no engine has would leave the engine that was meant with the slots it
/// comes with.
pub fn unknown_engine(catalog: &Catalog, config: &EnginesConfig) -> Option<String> {
    let names: Vec<_> = catalog.engines().map(|engine| engine.name).collect();
    let unknown = config.unknown(&names)?;
    Some(format!("there is no engine '{unknown}'; there are: {}", names.join(", ")))
}
