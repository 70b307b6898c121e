//! Our own path without the service: lease, open, print, read, give back; all pages are of one account.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::{Actor, Addr, System, SystemRunner};
use bytes::Bytes;
use platen::browser::{
    BrowserPool, Delivery, GetPoolStatus, LeaseTab, PageError, PageOutput, PageStep, PageTask, ShutDown,
    open, print,
};
use platen::config::{BrowserConfig, Config, EnginesConfig};
use platen::domain::format_opts::{CssPage, PageOptions};
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;
use platen::domain::reach::Reach;
use platen::domain::site::Site;
use platen::outbound::{Outbound, SystemResolver};
use platen::slots::AccountShare;
use platen::slots::engines::EngineBudget;
use platen::telemetry::metrics::Metrics;
use platen::workers::Starter;

use crate::common::document::Document;
use crate::common::origin::PAGE;

/// A pool, and the account whose pages it makes.
pub struct OwnPath {
    system: SystemRunner,
    pool: Addr<BrowserPool>,
    config: BrowserConfig,
    account: AccountId,
}

impl OwnPath {
    /// Starts the pool.
    pub fn start(config: BrowserConfig) -> io::Result<Self> {
        let system = System::new();
        let pool = system.block_on(async {
            let starter = Starter::new(env!("CARGO_BIN_EXE_platen").into())?;
            let outbound = Outbound::new(Config::default().outbound, &[], Arc::new(SystemResolver));
            let metrics = Metrics::new();
            let budget = EngineBudget::new(&EnginesConfig::default(), AccountShare::default(), metrics.slots);
            io::Result::Ok(
                BrowserPool::new(config.clone(), starter, outbound, budget, metrics.browser).start(),
            )
        })?;
        Ok(Self { system, pool, config, account: AccountId::generate() })
    }

    /// Waits for what is rendered.
    pub fn block_on<T>(&self, rendered: impl Future<Output = T>) -> T {
        self.system.block_on(rendered)
    }

    /// The process groups of its browsers.
    pub fn browsers(&self) -> io::Result<Vec<i32>> {
        let status = self.block_on(self.pool.send(GetPoolStatus)).map_err(io::Error::other)?;
        Ok(status.browsers)
    }

    /// Renders; gives the time from the load event until the page is ready, and the file.
    pub async fn render(&self, task: &PageTask) -> io::Result<(Duration, Vec<u8>)> {
        let failed = |error: PageError| io::Error::other(error);
        let message = LeaseTab::new(self.account, task.lane);
        let lease = self.pool.send(message).await.map_err(io::Error::other)?.map_err(io::Error::other)?;
        let loaded = Cell::new(Instant::now());
        let note = |step| {
            if step == PageStep::Readiness {
                loaded.set(Instant::now());
            }
        };
        let page = open(lease, task, &self.config, note).await.map_err(failed)?;
        let wait = loaded.get().elapsed();
        let (mut printed, mut file) = (print(page).await.map_err(failed)?, Vec::new());
        while let Some(chunk) = printed.next_chunk().await.map_err(failed)? {
            file.extend_from_slice(&chunk);
        }
        Ok((wait, file))
    }

    /// Ends the browsers.
    pub fn finish(self) -> io::Result<()> {
        self.block_on(self.pool.send(ShutDown)).map_err(io::Error::other)
    }
}

/// How the path is asked for a document.
pub fn task(document: &Document) -> PageTask {
    let files = document.files.iter().map(|(path, content)| (path.clone(), Bytes::from(content.clone())));
    let page = (PAGE.to_owned(), Bytes::from(document.page.clone()));
    PageTask {
        site: Site::new(PAGE, files.chain([page]).collect()),
        data: Bytes::from_static(b"{}"),
        lane: if document.scripted { Lane::Scripted } else { Lane::Static },
        delivery: if document.served { Delivery::Served } else { Delivery::PutInPlace },
        inlined: None,
        has_page_rules: false,
        css_page: CssPage::default(),
        may_have_links: false,
        options: PageOptions::default(),
        reach: Reach::OwnFiles,
        output: PageOutput::Pdf,
        limit_bytes: u64::MAX,
    }
}
