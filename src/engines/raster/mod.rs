//! Raster: draws pages of a PDF as pictures, or as slides of a presentation, in sandboxed children (`workers/raster`).
//! `pandoc` uses `pool` for pictures; else only `ENGINE` is used outside.

mod errors;
mod exchange;

use std::time::Duration;

use async_trait::async_trait;

use self::errors::Diagnosis;
use self::exchange::DocumentExchange;
use super::document::{Document, DocumentKind};
use super::error::EngineError;
use super::plan::Ability;
use super::runner::{StepContext, StepResult, StepRunner};
use super::step::{Step, StepKind};
use super::{Engine, EngineContext};
use crate::config::{RasterConfig, as_count};
use crate::domain::format_opts::{Key, KeySet, PageOptions};
use crate::domain::kinds::FileKind;
use crate::slots::engines::EngineSlots;
use crate::workers::raster::{
    Format, PART_LIMIT_BYTES, PageRange, RasterJob, RasterLimits, RasterOutput, Rastered, Selection,
    raster_child,
};
use crate::workers::{Job, Pool, PoolSettings, User};

const NAME: &str = "raster";

/// Documents at once, for one account.
const SLOTS: usize = 2;

/// The cost of a picture: more than Chromium's picture of a page.
const COST: u32 = 4;

/// The cost of slides of pictures: more than that of any engine which makes editable slides.
const SLIDES_COST: u32 = 20;

/// Dots per inch of a picture where the options give none.
const DPI: u16 = 150;

/// The warning for slides that are pictures.
const OF_PICTURES: &str = "each slide is a picture of a page, whose text stands in the notes and in the picture's alternative text; \
    nothing on the slides can be edited";

const PAGES: KeySet = KeySet::of(&[Key::Dpi, Key::Page, Key::Pages, Key::FromPage, Key::ToPage]);

/// The engine. It requires nothing; fonts that a PDF does not embed are used if installed.
pub const ENGINE: Engine = Engine {
    name: NAME,
    abilities: &[
        ability(FileKind::Png, COST, PAGES),
        ability(FileKind::Jpg, COST, PAGES.and(KeySet::of(&[Key::Quality]))),
        ability(FileKind::Pptx, SLIDES_COST, PAGES),
    ],
    requires: &[],
    reads_files: false,
    slots: Some(SLOTS),
    start: |context| Box::new(Raster::new(context)),
};

const fn ability(to: FileKind, cost: u32, heeds: KeySet) -> Ability {
    Ability::new(StepKind::Raster, (DocumentKind::File(FileKind::Pdf), DocumentKind::File(to)), cost, heeds)
}

struct Raster {
    pool: Pool,
    slots: EngineSlots,
    config: RasterConfig,
}

#[async_trait(?Send)]
impl StepRunner for Raster {
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult {
        let (kind, known_pages) = (step.file()?, input.pages);
        let output = output(kind, job.options)?;
        let is_deck = output == RasterOutput::Slides;
        let given = job.options.raster.dpi;
        let raster_job = RasterJob {
            selection: selection(job, is_deck),
            dpi: given.or((!is_deck).then_some(DPI)),
            output,
        };
        let diagnosis = Diagnosis { config: &self.config, dpi: raster_job.dpi };
        let deadline = self.deadline(&raster_job.selection, known_pages);
        let _slot = self.slots.acquire(job.meter, 1).await;
        let exchange = DocumentExchange::new(input.into_chunks()?, job.outlet.open().await?);
        let work = Job { header: &raster_job, body: &[], files: &exchange, environment: &[] };
        let ran = self.pool.run_within::<_, Rastered>(job.meter, work, deadline).await;
        let sink = exchange.end()?;
        match ran.map_err(|error| diagnosis.of_worker(&error))?.0 {
            Rastered::Made { pages, pictures, warnings } => {
                if raster_job.selection == Selection::default() && pages > 1 {
                    job.warnings.push(&format!(
                        "1 of {pages} pages is in the picture; formatOpts.pages asks for others (\"all\", or a range \
                         such as \"2-4\")"
                    ));
                }
                if is_deck {
                    job.warnings.push(OF_PICTURES);
                }
                job.warnings.push_all(warnings);
                let (kind, pages) = match (is_deck, pictures) {
                    (true, slides) => (kind, slides),
                    (false, 2..) => (FileKind::Zip, pages),
                    (false, _) => (kind, pages),
                };
                sink.finish(kind, Some(pages)).await
            }
            Rastered::Failed(error) => Err(diagnosis.of_document(&error).into()),
            Rastered::Broken(cause) => Err(EngineError::internal(&cause)),
        }
    }
}

impl Raster {
    fn new(context: &EngineContext<'_>) -> Self {
        let config = context.config.raster.clone();
        let reused = (as_count(config.spares), as_count(config.kept));
        let pool = pool(context, NAME, context.budget.slot_count(NAME, SLOTS), reused);
        Self { pool, slots: context.budget.slots_of(NAME, SLOTS), config }
    }

    /// The deadline grows with the largest possible number of pages.
    fn deadline(&self, selection: &Selection, known_pages: Option<u32>) -> Duration {
        let most = self.config.pages_limit.min(u64::from(known_pages.unwrap_or(u32::MAX)));
        let length = |range: &PageRange| match range.last {
            Some(last) => u64::from(last.saturating_sub(range.first)) + 1,
            None => most,
        };
        let ranges = &selection.ranges;
        let whole = selection.within.filter(|_| ranges.is_empty());
        let pages = whole.iter().chain(ranges).map(length).fold(0, u64::saturating_add).clamp(1, most.max(1));
        let more = self.config.page_timeout_ms.saturating_mul(pages);
        Duration::from_millis(self.config.timeout_ms.saturating_add(more))
    }
}

/// A pool of children that draw PDF for the engine `name`; `spares` are started ahead, `kept` wait for a further job.
pub(super) fn pool(
    context: &EngineContext<'_>,
    name: &'static str,
    processes: usize,
    (spares, kept): (usize, usize),
) -> Pool {
    let config = &context.config.raster;
    let user = User::of_computing_children();
    let settings = PoolSettings {
        name,
        spec: raster_child(&limits(config), user),
        spares,
        kept,
        child_jobs: config.child_jobs,
        processes,
        share: context.share,
        // Its children never wait for a file of another host.
        waiting: 1,
        start_timeout: Duration::from_millis(config.start_timeout_ms),
        undisturbed: Duration::from_millis(config.yield_after_ms),
        deadline: Duration::from_millis(config.timeout_ms),
        still: context.programs.bounds().still,
        answer_limit_bytes: PART_LIMIT_BYTES as u64,
        resident_limit_bytes: None,
        server: None,
    };
    Pool::new(context.starter.clone(), settings, context.metrics.children.clone())
}

/// The pages that the options select. Where an earlier step has already cut the document to `fromPage` and `toPage`, all its
/// pages. A presentation has all pages by default.
fn selection(job: &StepContext<'_>, is_deck: bool) -> Selection {
    let options = job.options;
    let before = job.plan.steps().iter().take_while(|step| step.kind != StepKind::Raster);
    let is_cut = before.into_iter().any(|step| step.heeds(Key::FromPage));
    let is_asked = options.from_page.is_some() || options.to_page.is_some();
    let given = PageRange { first: options.from_page.unwrap_or(1), last: options.to_page };
    let within = (is_asked || is_deck).then_some(if is_cut { PageRange::ALL } else { given });
    let ranges = options.raster.pages.iter().map(|pages| PageRange { first: pages.first, last: pages.last });
    Selection { within, ranges: ranges.collect() }
}

fn output(kind: FileKind, options: &PageOptions) -> Result<RasterOutput, EngineError> {
    match kind {
        FileKind::Png => Ok(RasterOutput::Pictures(Format::Png)),
        FileKind::Jpg => {
            let quality = u8::try_from(options.picture.quality).unwrap_or(100);
            Ok(RasterOutput::Pictures(Format::Jpeg(quality)))
        }
        FileKind::Pptx => Ok(RasterOutput::Slides),
        FileKind::Xlsx | FileKind::Docx | FileKind::Html | FileKind::Pdf | FileKind::Zip => {
            Err(EngineError::internal(&format!("a picture is never a {}", kind.name())))
        }
    }
}

fn limits(config: &RasterConfig) -> RasterLimits {
    let pages = config.page_timeout_ms.saturating_mul(config.pages_limit);
    let job_s = config.timeout_ms.saturating_add(pages).div_ceil(1_000) + 5;
    RasterLimits {
        memory_bytes: config.memory_limit_mb << 20,
        picture_pixels: config.picture_limit_pixels,
        pages: u32::try_from(config.pages_limit).unwrap_or(u32::MAX),
        font_dirs: config.font_dirs.iter().map(Into::into).collect(),
        // RLIMIT_CPU counts a process' whole life, so this is for all its jobs together.
        cpu_s: job_s.saturating_mul(config.child_jobs),
    }
}
