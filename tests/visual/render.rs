//! From files and data to a document, by the engines that the service itself has.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use actix::{Actor, Addr};
use async_trait::async_trait;
use bytes::Bytes;
use platen::browser::{BrowserPool, ShutDown};
use platen::config::Config;
use platen::domain::error::Warnings;
use platen::domain::format_opts::PageOptions;
use platen::domain::ids::AccountId;
use platen::domain::kinds::FileKind;
use platen::domain::reach::Reach;
use platen::domain::site::Site;
use platen::engines::ejs::Assembler;
use platen::engines::page::{PageEngine, PageRequest};
use platen::engines::runner::Sink;
use platen::outbound::{Outbound, SystemResolver};
use platen::slots::AccountShare;
use platen::slots::engines::EngineBudget;
use platen::storage::{ObjectMeta, StagedObject, StorageKey, StoreError};
use platen::telemetry::metrics::Metrics;
use platen::workers::Starter;

use crate::assembler::assembler;
use crate::compare::Document;
use crate::poppler;

/// The engines of a service with its default settings. `close` it.
pub struct DocumentRenderer {
    assembler: Assembler,
    pages: PageEngine,
    pool: Addr<BrowserPool>,
}

/// A file, its page count, and the warnings for its author.
struct File {
    bytes: Vec<u8>,
    pages: Option<u32>,
    warnings: Vec<String>,
    took: Duration,
}

/// A file that is kept in memory.
#[derive(Clone, Default)]
struct MemoryObject(Arc<Mutex<Vec<u8>>>);

#[async_trait]
impl StagedObject for MemoryObject {
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        self.0.lock().unwrap().extend_from_slice(&bytes);
        Ok(())
    }

    async fn content(&mut self) -> Result<Bytes, StoreError> {
        Ok(self.0.lock().unwrap().clone().into())
    }

    async fn commit(self: Box<Self>, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        panic!("the engine writes a file, and does not commit it as {key}")
    }
}

impl DocumentRenderer {
    pub fn open() -> Self {
        let mut config = Config::default();
        // A page yields to others, and a loaded machine takes long to lay out a book.
        config.browser.rest_cap_ms = 60_000;
        let starter = Starter::new(PathBuf::from(env!("CARGO_BIN_EXE_platen"))).unwrap();
        let metrics = Metrics::new();
        let assembler = assembler(starter.clone(), &config.assemble, metrics.children.clone());
        let outbound = Outbound::new(config.outbound, &[], Arc::new(SystemResolver));
        let (share, browser) = (AccountShare::whole(), metrics.browser.clone());
        let budget = EngineBudget::new(&config.engines, share, metrics.slots.clone());
        let pool = BrowserPool::new(config.browser.clone(), starter, outbound.clone(), budget, browser);
        let pool = pool.start();
        let pages = PageEngine::new(pool.clone(), config.browser, share, metrics.phases.clone(), &outbound);
        Self { assembler, pages, pool }
    }

    /// The document as PDF and as picture.
    pub async fn document(&self, name: &'static str, site: &Site, data: Bytes) -> Document {
        let account = AccountId::generate();
        let page = self.assembler.assemble(account, site, &data, &mut Warnings::default()).await.unwrap();
        let site = site.clone().with_page(page);
        let request = PageRequest {
            meter: account.into(),
            site,
            data,
            file: FileKind::Pdf,
            options: PageOptions::default(),
            reach: Reach::OwnFiles,
            limit_bytes: 64 << 20,
            alone: false,
            fresh: false,
            with_graphics: false,
        };
        let pdf = self.file(&request).await;
        let png = self.file(&PageRequest { file: FileKind::Png, ..request }).await;
        eprintln!("{name}: PDF in {:?}, PNG in {:?}", pdf.took, png.took);
        let pages = poppler::pages(&pdf.bytes);
        let mut errors = [pdf.warnings, png.warnings].concat();
        errors.extend(poppler::fonts_left_out(&pdf.bytes));
        if pdf.pages != Some(pages) {
            errors.push(format!("it has {pages} pages, and the service says {:?}", pdf.pages));
        }
        Document { name, text: poppler::text(&pdf.bytes), pages, pdf: pdf.bytes, png: png.bytes, errors }
    }

    async fn file(&self, request: &PageRequest) -> File {
        let started = Instant::now();
        let kept = MemoryObject::default();
        let mut sink = Sink::Store(Box::new(kept.clone()));
        let mut warnings = Warnings::default();
        let (paid, turn) = (request.meter.cost(), request.meter.begin_turn());
        let pages = self.pages.render(request, &mut sink, &mut warnings).await.unwrap();
        drop(turn);
        assert!(request.meter.cost() > paid, "a tab is paid for");
        let bytes = std::mem::take(&mut *kept.0.lock().unwrap());
        File { bytes, pages, warnings: warnings.lines(), took: started.elapsed() }
    }

    pub async fn close(self) {
        self.pool.send(ShutDown).await.unwrap();
    }
}
