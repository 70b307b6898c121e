//! PDF pictures of a document: neither HTML nor Word can show them, so the first page of each becomes a PNG.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use memchr::memmem;

use super::conversion::PICTURES;
use crate::domain::site::Site;
use crate::engines::EngineContext;
use crate::engines::error::EngineError;
use crate::engines::raster;
use crate::engines::runner::StepContext;
use crate::thread;
use crate::workers::raster::{DOCUMENT, Format, RasterJob, RasterOutput, Rastered, Selection};
use crate::workers::{FileSource, Input, Job, PartRefused, Pool, SuppliedFile};

/// Sharp enough for print; `safe.lua` computes sizes with the same number.
const DPI: u16 = 200;
/// Most PDF pictures of a document; each further one is left out with a warning.
const PICTURES_LIMIT: usize = 50;
/// Most PDF files of an archive whose names are searched for in the sources.
const FILES_LIMIT: usize = 500;
const PROCESSES: usize = 1;

pub(super) struct Pictures {
    pool: Pool,
    timeout: Duration,
    limit_bytes: usize,
}

/// The PDF for a child, and the picture that it returns.
struct PictureExchange {
    pdf: parking_lot::Mutex<Option<Bytes>>,
    picture: parking_lot::Mutex<BytesMut>,
    limit_bytes: usize,
}

impl Pictures {
    pub fn start(context: &EngineContext<'_>) -> Self {
        let config = &context.config;
        Self {
            pool: raster::pool(context, super::NAME, PROCESSES, (0, 0)),
            timeout: Duration::from_millis(
                config.raster.timeout_ms.saturating_add(config.raster.page_timeout_ms),
            ),
            limit_bytes: usize::try_from(config.pandoc.limits.files_limit_mb << 20).unwrap_or(usize::MAX),
        }
    }

    /// PNGs of the PDF files of `site` that one of `sources` names. A PDF that cannot be drawn is skipped; pandoc's log then
    /// reports a missing picture.
    pub async fn of(
        &self,
        job: &StepContext<'_>,
        site: &Site,
        sources: &Arc<Vec<(String, String)>>,
    ) -> Result<Vec<Input>, EngineError> {
        let mut made = Vec::new();
        let mut left = self.limit_bytes;
        for path in named(site, sources).await? {
            let Some(pdf) = site.get(&path) else { continue };
            if let Some(picture) = self.picture(job, pdf.clone(), left).await {
                left = left.saturating_sub(picture.len());
                made.push(Input::bytes(format!("{PICTURES}/{path}.png"), picture));
            }
        }
        Ok(made)
    }

    async fn picture(&self, job: &StepContext<'_>, pdf: Bytes, limit_bytes: usize) -> Option<Bytes> {
        let conversion = RasterJob {
            selection: Selection::default(),
            dpi: Some(DPI),
            output: RasterOutput::Pictures(Format::Png),
        };
        let exchange = PictureExchange {
            pdf: parking_lot::Mutex::new(Some(pdf)),
            picture: parking_lot::Mutex::default(),
            limit_bytes,
        };
        let work = Job { header: &conversion, body: &[], files: &exchange, environment: &[] };
        let ran = self.pool.run_within::<_, Rastered>(job.meter, work, self.timeout).await;
        match ran {
            Ok((Rastered::Made { .. }, _)) => Some(exchange.picture.into_inner().freeze()),
            Ok((Rastered::Failed(_) | Rastered::Broken(_), _)) => None,
            Err(error) => {
                tracing::warn!(error = %error, "a PDF picture of a document of LaTeX was not drawn");
                None
            }
        }
    }
}

/// The PDF files whose names occur in a source. Each is searched for in all sources, so their number is bounded.
async fn named(site: &Site, sources: &Arc<Vec<(String, String)>>) -> Result<Vec<String>, EngineError> {
    let stem =
        |path: &str| path.rsplit('/').next().and_then(|name| name.strip_suffix(".pdf")).map(str::to_owned);
    let (site, sources) = (site.clone(), Arc::clone(sources));
    let named = move || {
        let files = site.names().filter_map(|path| Some((path.to_owned(), stem(path)?))).take(FILES_LIMIT);
        let is_named = |stem: &str| {
            let stem = memmem::Finder::new(stem);
            sources.iter().any(|(_, text)| stem.find(text.as_bytes()).is_some())
        };
        let named = files.filter(|(_, stem)| is_named(stem)).map(|(path, _)| path);
        named.take(PICTURES_LIMIT).collect()
    };
    Ok(thread::on_blocking_thread(named).await?)
}

#[async_trait]
impl FileSource for PictureExchange {
    async fn file(&self, name: &str) -> Result<SuppliedFile, String> {
        if name != DOCUMENT {
            return Err(format!("there is no '{name}'"));
        }
        let pdf = self.pdf.lock().take();
        Ok(SuppliedFile { content: pdf.unwrap_or_default(), made: None })
    }

    async fn take(&self, part: Bytes) -> Result<(), PartRefused> {
        let mut picture = self.picture.lock();
        if picture.len() + part.len() > self.limit_bytes {
            return Err(PartRefused);
        }
        picture.extend_from_slice(&part);
        Ok(())
    }
}
