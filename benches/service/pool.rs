//! Our own path without the service: lease, open, print, read, give back.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::{Actor, Addr, System};
use bytes::Bytes;
use platen::browser::{BrowserPool, GetPoolStatus, LeaseTab, PageOutput, PageTask, ShutDown, open};
use platen::config::{BrowserConfig, Config};
use platen::domain::format_opts::PageOptions;
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;
use platen::domain::reach::Reach;
use platen::domain::site::Site;
use platen::outbound::{Outbound, SystemResolver};
use platen::telemetry::metrics::Metrics;
use platen::workers::Starter;

use crate::common::document::Document;
use crate::common::figures::{Figures, group_time, own_time};
use crate::lines;

/// Renders `documents` documents, `clients` at once, in as many tabs as the configuration says.
pub fn measure(document: &Document, clients: usize, documents: usize) -> io::Result<Figures> {
    let config = Config::default().browser;
    System::new().block_on(measure_with(config, &task(document), clients, documents))
}

/// The throughput of different numbers of tabs, under more clients than tabs.
pub fn compare_tabs(documents: usize) -> io::Result<()> {
    lines::print_head("tabs, twelve clients");
    let put = Document::invoice()?;
    let served = Document { served: true, ..put.clone() };
    let scripted = Document { scripted: true, ..served.clone() };
    for (name, document) in [("put", put), ("served", served), ("with script", scripted)] {
        let task = task(&document);
        for tabs in [1, 2, 3, 4, 6, 8] {
            let config = BrowserConfig { tabs, ..Config::default().browser };
            let figures = System::new().block_on(measure_with(config, &task, 12, documents))?;
            lines::print(&format!("{name}, {tabs} tabs"), &figures, &[]);
        }
    }
    Ok(())
}

fn task(document: &Document) -> PageTask {
    PageTask {
        site: Site::single("index.html", Bytes::from(document.page.clone())),
        data: Bytes::from_static(b"{}"),
        lane: if document.scripted { Lane::Scripted } else { Lane::Static },
        direct: !document.served,
        options: PageOptions::default(),
        reach: Reach::OwnFiles,
        output: PageOutput::Pdf,
        limit_bytes: u64::MAX,
    }
}

async fn measure_with(
    config: BrowserConfig,
    task: &PageTask,
    clients: usize,
    documents: usize,
) -> io::Result<Figures> {
    let starter = Starter::new(env!("CARGO_BIN_EXE_platen").into())?;
    let outbound = Outbound::new(Config::default().outbound, &[], Arc::new(SystemResolver));
    let pool = BrowserPool::new(config.clone(), starter, outbound, Metrics::new().browser).start();
    render_all(&pool, &config, task, (clients, clients * 4)).await?;
    let status = pool.send(GetPoolStatus).await.map_err(io::Error::other)?;
    let chromium_time = || status.browsers.iter().map(|&id| group_time(id)).sum::<Duration>();
    let (chromium, own, begun) = (chromium_time(), own_time(), Instant::now());
    let latencies = render_all(&pool, &config, task, (clients, documents)).await?;
    let figures = Figures {
        latencies,
        wall: begun.elapsed(),
        chromium: chromium_time().saturating_sub(chromium),
        own: own_time().saturating_sub(own),
        children: Duration::ZERO,
    };
    pool.send(ShutDown).await.map_err(io::Error::other)?;
    Ok(figures)
}

async fn render_all(
    pool: &Addr<BrowserPool>,
    config: &BrowserConfig,
    task: &PageTask,
    (clients, documents): (usize, usize),
) -> io::Result<Vec<Duration>> {
    let (next, latencies) = (Cell::new(0), RefCell::new(Vec::new()));
    let client = async || -> io::Result<()> {
        while next.replace(next.get() + 1) < documents {
            let begun = Instant::now();
            render(pool, config, task).await?;
            latencies.borrow_mut().push(begun.elapsed());
        }
        Ok(())
    };
    futures_util::future::try_join_all((0..clients).map(|_| client())).await?;
    Ok(latencies.into_inner())
}

async fn render(pool: &Addr<BrowserPool>, config: &BrowserConfig, task: &PageTask) -> io::Result<()> {
    let message = LeaseTab { account: AccountId::generate(), lane: task.lane };
    let lease = pool.send(message).await.map_err(io::Error::other)?.map_err(io::Error::other)?;
    let page = open(lease, task, config, |_| {}).await.map_err(io::Error::other)?;
    let mut printed = page.print().await.map_err(io::Error::other)?;
    let mut length = 0;
    while let Some(chunk) = printed.next_chunk().await.map_err(io::Error::other)? {
        length += chunk.len();
    }
    if length == 0 { Err(io::Error::other("no PDF came")) } else { Ok(()) }
}
