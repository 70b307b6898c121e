//! Drives one page: loads it, waits until it is ready. Printing it is the next file's.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;

use super::error::{PageError, StepError};
use super::load;
use super::pictures::Pictures;
use super::scripts;
use super::wait_idle::IdleOutcome;
use crate::browser::chromium::capacity;
use crate::browser::proxy::server::PageSession;
use crate::browser::tab::events::{PageEnd, PageState};
use crate::browser::tab::lease::Lease;
use crate::browser::tab::tab::Tab;
use crate::config::BrowserConfig;
use crate::domain::fault::{FaultCode, Warnings};
use crate::domain::format_opts::{OptionLimits, PageOptions};
use crate::domain::lane::Lane;
use crate::domain::reach::Reach;
use crate::domain::site::Site;

/// A text given to the browser in one message may not be larger, for each byte of it may take six there
/// (`wire::CALL_LIMIT_BYTES`). Larger pages come from the origin.
const PUT_LIMIT_BYTES: usize = 12 << 20;
/// A page without script that is no longer fills a few dozen sheets at most.
const SHORT_LIMIT_BYTES: usize = 128 << 10;

/// How often a page is looked at that goes on loading by it: frames may hold others that wait to be scrolled to.
const LOOKS_LIMIT: usize = 4;

/// What is to be rendered.
#[derive(Clone, Debug)]
pub struct PageTask {
    /// The files; the entry is the page as assembled.
    pub site: Site,
    /// The data as JSON text, for the page's scripts.
    pub data: Bytes,
    /// Whether script may run.
    pub lane: Lane,
    /// How it comes into the tab.
    pub way: Way,
    /// Its files may have rules of `@page` that its options do not agree with.
    pub has_page_rules: bool,
    /// Paper, margins, readiness.
    pub options: PageOptions,
    /// How far it may go.
    pub reach: Reach,
    /// What it becomes.
    pub output: PageOutput,
    /// Largest file; larger ones may be given up before they are made.
    pub limit_bytes: u64,
}

/// How a page comes into its tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From an origin of its own.
    Served,
    /// A page without script and without references is put there, which saves a navigation.
    Put,
    /// The same, and nothing of it outlasts its elements: the next page may take their place.
    PutInPlace,
}

/// What a page becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOutput {
    /// All its pages, or a range of them.
    Pdf,
    /// A picture without loss: its first viewport, unless the options say otherwise.
    Png,
    /// The same as a JPEG.
    Jpg,
    /// Its document as it stands, with the files that it refers to in it.
    Html,
}

impl PageOutput {
    /// Whether it shows the page as it is painted.
    #[must_use]
    pub fn is_picture(self) -> bool {
        matches!(self, Self::Png | Self::Jpg)
    }
}

/// What is being done with a page; each step has a deadline of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageStep {
    /// Until the load event.
    Load,
    /// Until fonts and selector are there and the page is at rest.
    Readiness,
    /// Until the file is made.
    Print,
}

/// A page in its tab.
pub(in crate::browser) struct OpenPage {
    pub lease: Lease,
    pub visit: Option<Arc<PageSession>>,
    pub state: watch::Receiver<PageState>,
    pub warnings: Warnings,
    /// What it asked for in vain, where more is asked for from now on that is not its doing.
    pub failures: Option<Warnings>,
    pub limits: Limits,
    pub lane: Lane,
    pub length_bytes: usize,
    /// Nothing of it outlasts its elements.
    pub passing: bool,
    /// Its files may have rules of `@page` that its options do not agree with.
    pub has_page_rules: bool,
    /// It was shown as it is on paper, to be measured.
    pub measured: bool,
}

/// The part of the configuration that a page is bound by.
#[derive(Clone, Copy, Debug)]
pub(in crate::browser) struct Limits {
    pub load: Duration,
    pub readiness: Duration,
    pub print: Duration,
    pub rest_cap: Duration,
    pub quiet: Duration,
    pub timer: Duration,
    pub call: Duration,
    pub heap_mb: u64,
    pub renderer_mb: u64,
    pub own_mb: u64,
    pub told_mb: u64,
    pub blob_mb: u64,
    pub locks: u64,
    pub frame_address_mb: u64,
    pub chunk_bytes: u32,
    pub picture_pixels: f64,
    pub tagged_pages: u64,
    pub wait: Duration,
}

/// A page that can be printed.
pub struct ReadyPage {
    pub(in crate::browser) page: OpenPage,
    pub(in crate::browser) output: PageOutput,
    pub(in crate::browser) limit_bytes: u64,
    pub(in crate::browser) site: Site,
    pub(in crate::browser) options: PageOptions,
    /// It may fill so many sheets that they are worth counting.
    pub(in crate::browser) may_be_long: bool,
}

/// Loads the page of `task` into the leased tab and waits until it is ready.
///
/// # Errors
/// The step that failed, with what it waited for. The tab is given back.
pub async fn open(
    lease: Lease,
    task: &PageTask,
    config: &BrowserConfig,
    progress: impl Fn(PageStep),
) -> Result<ReadyPage, PageError> {
    let Some(state) = lease.tab().map(Tab::state) else { return Err(PageError::lost()) };
    let limits = Limits::of(config);
    let length_bytes = entry_length(task);
    let mut page = OpenPage {
        lease,
        visit: None,
        state,
        warnings: Warnings::default(),
        failures: None,
        limits,
        lane: task.lane,
        length_bytes,
        passing: task.way == Way::PutInPlace && is_put(task),
        has_page_rules: task.has_page_rules,
        measured: false,
    };
    progress(PageStep::Load);
    if let Err(trouble) = page.load(task).await {
        return Err(page.fail(PageStep::Load, trouble, &task.options).await);
    }
    progress(PageStep::Readiness);
    if let Err(trouble) = page.settle(task).await {
        return Err(page.fail(PageStep::Readiness, trouble, &task.options).await);
    }
    let may_be_long = task.lane == Lane::Scripted || length_bytes > SHORT_LIMIT_BYTES;
    let (output, limit_bytes) = (task.output, task.limit_bytes);
    let (site, options) = (task.site.clone(), task.options.clone());
    Ok(ReadyPage { page, output, limit_bytes, site, options, may_be_long })
}

impl Limits {
    fn of(config: &BrowserConfig) -> Self {
        Self {
            load: Duration::from_millis(config.load_timeout_ms),
            readiness: Duration::from_millis(config.readiness_timeout_ms),
            print: Duration::from_millis(config.print_timeout_ms),
            timer: Duration::from_millis(config.timer_limit_ms),
            rest_cap: Duration::from_millis(config.rest_cap_ms),
            quiet: Duration::from_millis(config.quiet_window_ms),
            call: Duration::from_millis(config.call_timeout_ms),
            heap_mb: config.heap_limit_mb,
            renderer_mb: capacity::renderer_limit_mb(config.renderer_memory_limit_mb),
            own_mb: config.own_memory_limit_mb,
            told_mb: config.told_limit_mb,
            blob_mb: config.blob_limit_mb,
            locks: config.lock_limit,
            frame_address_mb: config.frame_address_limit_mb,
            chunk_bytes: u32::try_from(config.output_chunk_bytes).unwrap_or(u32::MAX),
            picture_pixels: OptionLimits::of(config).picture_pixels,
            tagged_pages: config.tagged_pages_limit,
            wait: Duration::from_millis(config.wait_limit_ms),
        }
    }
}

impl OpenPage {
    /// The tab; the lease holds it as long as the page lives.
    pub(in crate::browser) fn tab(&self) -> Result<&Tab, StepError> {
        self.lease.tab().ok_or(StepError::Ended(PageEnd::Closed))
    }

    async fn load(&mut self, task: &PageTask) -> Result<(), StepError> {
        if !is_put(task) {
            let fetched = task.lane == Lane::Scripted && scripts::is_large(&task.data);
            let data = fetched.then(|| task.data.clone());
            let tab = self.tab()?;
            let served = tab.origin().serve(
                &tab.site(),
                task.site.clone(),
                data,
                (task.reach, task.options.javascript),
            );
            let no_name = |error: io::Error| StepError::fault(FaultCode::Internal, error.to_string());
            self.visit = Some(served.map_err(no_name)?);
        }
        let loading = load::load(self.tab()?, task, self.visit.as_deref(), self.limits.load);
        self.within(self.limits.load, loading).await?;
        self.check_reached()
    }

    async fn settle(&mut self, task: &PageTask) -> Result<(), StepError> {
        let readiness = self.limits.readiness;
        let ready = async {
            let is_watched = task.lane == Lane::Scripted && task.options.wait_for_selector.is_none();
            let mut seen = None;
            if !(is_watched && self.is_soon_idle().await) {
                seen = self.become_ready(task).await?;
            }
            self.expression_holds(&task.options).await?;
            Ok(seen)
        };
        let seen = self.within(readiness, ready).await?;
        self.linger(&task.options).await?;
        let is_at_rest = self.look_until_at_rest(task).await?;
        if task.lane == Lane::Scripted && is_at_rest {
            self.warn_of_pending(&task.options);
        }
        if let Some(pictures) = seen {
            Box::pin(self.check_pictures(pictures)).await?;
        }
        Ok(())
    }

    /// Looks at the page whenever it is at rest, until nothing of it has begun to load by that; false for one that is
    /// taken as it is. One cap is over all of it.
    async fn look_until_at_rest(&mut self, task: &PageTask) -> Result<bool, StepError> {
        let begun = Instant::now();
        for _ in 0..LOOKS_LIMIT {
            let left = self.limits.rest_cap.saturating_sub(begun.elapsed());
            let is_at_rest = task.lane == Lane::Static || self.rests(left, &task.options).await?;
            self.check_reached()?;
            if !Box::pin(self.inspect(task)).await? || !is_at_rest {
                return Ok(is_at_rest);
            }
        }
        self.warn_of_lazy_loads(LOOKS_LIMIT);
        Ok(false)
    }

    /// Waits for so long until the page is at rest; false for one that is taken as it is.
    async fn rests(&mut self, cap: Duration, options: &PageOptions) -> Result<bool, StepError> {
        // A page that answers nothing any more is not at rest, it is stuck.
        let limit = cap + self.limits.call * 2;
        match self.within(limit, self.wait_until_idle(cap)).await {
            Ok(IdleOutcome::InTime) => Ok(true),
            Ok(IdleOutcome::NotBeforeCap { computing }) => {
                self.accept_busy(computing, options).map(|()| false)
            }
            Err(StepError::Late) => Err(self.stuck().await),
            Err(trouble) => Err(trouble),
        }
    }

    /// A page may leave for another document while it is waited for: then the waiting starts again. Answers what
    /// there is to say of the pictures of a page without script.
    async fn become_ready(&self, task: &PageTask) -> Result<Option<Pictures>, StepError> {
        let scripted = task.lane == Lane::Scripted;
        let selector = task.options.wait_for_selector.as_deref();
        loop {
            let seen = self.state.borrow().loads;
            let question = scripts::readiness(selector, scripted, self.limits.timer);
            match self.ask(question, self.limits.readiness).await? {
                Some(answer) if answer == scripts::MISSING => return Err(Self::never_matches(selector)),
                Some(answer) => match answer.strip_prefix(scripts::READY) {
                    Some(pictures) => return Ok(serde_json::from_str(pictures).ok()),
                    None => self.loads_beyond(seen).await,
                },
                None => self.loads_beyond(seen).await,
            }
        }
    }

    /// Runs a script of ours; `None` when the document went away under it.
    async fn ask(&self, expression: String, limit: Duration) -> Result<Option<String>, StepError> {
        load::ask(self.tab()?, self.lane, expression, limit).await
    }

    pub(in crate::browser) async fn loads_beyond(&self, seen: u32) {
        let mut state = self.state.clone();
        // An error means that nobody hears the page any more: `within` ends the step.
        let _ = state.wait_for(|state| state.loads > seen).await;
    }

    /// Runs a step until it is done, its deadline comes or the page ends.
    pub(in crate::browser) async fn within<T>(
        &self,
        limit: Duration,
        step: impl Future<Output = Result<T, StepError>>,
    ) -> Result<T, StepError> {
        let mut state = self.state.clone();
        let ended = async move {
            let end = state.wait_for(|state| state.end.is_some()).await;
            end.map_or(PageEnd::BrowserLost, |state| state.end.unwrap_or(PageEnd::Closed))
        };
        tokio::select! {
            // The end is known first: it says more than the calls that it ended.
            biased;
            end = ended => Err(StepError::Ended(end)),
            done = tokio::time::timeout(limit, step) => done.unwrap_or(Err(StepError::Late)),
        }
    }
}

/// Whether the page is put into the tab, without an origin.
fn is_put(task: &PageTask) -> bool {
    task.way != Way::Served && task.lane == Lane::Static && entry_length(task) <= PUT_LIMIT_BYTES
}

fn entry_length(task: &PageTask) -> usize {
    task.site.page().map_or(0, Bytes::len)
}
