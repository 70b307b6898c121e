//! Loads a page and waits until it is ready to be printed.

use std::io;
use std::time::Duration;

use tokio::time::Instant;

use super::diagnose;
use super::error::{PageError, StepError};
use super::follow;
use super::inspect;
use super::load::{self, LoadMethod};
use super::open_page::OpenPage;
use super::pictures::{self, Pictures};
use super::scripts;
use super::scroll;
use super::task::{PageOutput, PageStep, PageTask};
use super::wait;
use super::wait_idle;
use crate::browser::tab::lease::Lease;
use crate::browser::tab::reset;
use crate::config::BrowserConfig;
use crate::domain::error::ErrorCode;
use crate::domain::format_opts::PageOptions;
use crate::domain::lane::Lane;
use crate::domain::site::Site;

/// A static page that is no longer than this fills a few dozen sheets at most.
const SHORT_LIMIT_BYTES: usize = 128 << 10;
/// How often a page is scanned while each scan starts further loads: lazy frames may hold others.
const SCANS_LIMIT: usize = 4;

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
    let Some(mut page) = OpenPage::new(lease, task, config) else { return Err(PageError::lost()) };
    progress(PageStep::Load);
    if let Err(error) = load(&mut page, task).await {
        return Err(diagnose::into_page_error(page, PageStep::Load, error, &task.options).await);
    }
    progress(PageStep::Readiness);
    if let Err(error) = wait_until_ready(&mut page, task).await {
        return Err(diagnose::into_page_error(page, PageStep::Readiness, error, &task.options).await);
    }
    let may_be_long = task.lane == Lane::Scripted || page.length_bytes > SHORT_LIMIT_BYTES;
    let (output, limit_bytes) = (task.output, task.limit_bytes);
    let (site, options) = (task.site.clone(), task.options.clone());
    Ok(ReadyPage { page, output, limit_bytes, site, options, may_be_long })
}

async fn load(page: &mut OpenPage, task: &PageTask) -> Result<(), StepError> {
    let left = page.lease.traces().filter(|traces| traces.unreplaced_since.is_some()).cloned();
    let left = match left {
        Some(traces) if !follow::may_follow(task) => {
            let shown = reset::reset(page.tab()?, &traces, page.limits.reset).await;
            shown.map_err(|error| StepError::Unready(error.to_string()))?;
            None
        }
        left => left,
    };
    if !task.is_put() {
        let is_fetched = task.lane == Lane::Scripted && scripts::is_large(&task.data);
        let data = is_fetched.then(|| task.data.clone());
        let tab = page.tab()?;
        let permitted = (task.reach, task.options.javascript);
        let served = tab.server.serve(&tab.site(), task.site.clone(), data, permitted);
        let no_name = |error: io::Error| StepError::job(ErrorCode::Internal, error.to_string());
        let session = served.map_err(no_name)?;
        if tab.lane == Lane::Scripted && page.lease.was_used() {
            session.note_tab_was_used();
        }
        let network = tab.network.present();
        (page.session, page.network) = (Some(session), network);
    }
    let limit = page.limits.load;
    let method = match (&page.session, &left) {
        (None, _) => LoadMethod::Put,
        (Some(session), Some(traces)) => LoadMethod::Following(session, traces, page.limits.reset),
        (Some(session), None) => LoadMethod::Served(session),
    };
    page.scripts = page.within(limit, load::load(page.tab()?, task, method, limit)).await?;
    diagnose::check_reached(page)
}

async fn wait_until_ready(page: &mut OpenPage, task: &PageTask) -> Result<(), StepError> {
    let options = &task.options;
    let ready = async {
        let is_watched = task.lane == Lane::Scripted && options.wait_for_selector.is_none();
        let mut seen = None;
        if !(is_watched && wait_idle::is_soon_idle(page).await) {
            seen = become_ready(page, task).await?;
        }
        wait::for_expression(page, options).await?;
        Ok(seen)
    };
    let seen = page.within(page.limits.readiness, ready).await?;
    wait::for_timeout(page, options).await?;
    let is_idle = scan_until_idle(page, task).await?;
    diagnose::check_network(page)?;
    Box::pin(scroll::back(page, task)).await?;
    if task.lane == Lane::Scripted && is_idle {
        diagnose::warn_of_pending(page, options);
    }
    if let Some(pictures) = seen {
        Box::pin(pictures::check(page, pictures)).await?;
    }
    Ok(())
}

/// Scans the page each time it is idle, until a scan starts no further loads; false where it is printed while busy. One cap
/// is over all of it.
async fn scan_until_idle(page: &mut OpenPage, task: &PageTask) -> Result<bool, StepError> {
    let begun = Instant::now();
    for _ in 0..SCANS_LIMIT {
        let left = page.limits.rest_cap.saturating_sub(begun.elapsed());
        let is_idle = task.lane == Lane::Static || become_idle(page, left, &task.options).await?;
        diagnose::check_reached(page)?;
        let was_scrolled = is_idle && Box::pin(scroll::to_end(page, task, left)).await?;
        let was_woken = Box::pin(inspect::inspect(page, task)).await?;
        if !is_idle || !(was_scrolled || was_woken) {
            return Ok(is_idle);
        }
    }
    diagnose::warn_of_lazy_loads(page, SCANS_LIMIT);
    Ok(false)
}

/// Waits up to `cap` until the page is idle; false where it is printed while busy.
async fn become_idle(page: &mut OpenPage, cap: Duration, options: &PageOptions) -> Result<bool, StepError> {
    let limit = cap + page.limits.call * 2;
    match page.within(limit, wait_idle::until_idle(page, cap)).await {
        Ok(None) => Ok(true),
        Ok(Some(computing)) => diagnose::accept_busy(page, computing, options).map(|()| false),
        Err(StepError::Late) => Err(diagnose::stuck_error(page).await),
        Err(error) => Err(error),
    }
}

/// Waits until the page is ready, anew for each document that it navigates to meanwhile. A static page answers with its
/// broken pictures.
async fn become_ready(page: &OpenPage, task: &PageTask) -> Result<Option<Pictures>, StepError> {
    let is_scripted = task.lane == Lane::Scripted;
    let selector = task.options.wait_for_selector.as_deref();
    loop {
        let seen = page.state.borrow().loads;
        let question = scripts::readiness(selector, is_scripted, page.limits.timer);
        let answer = page.ask_for("waitForSelector", question, page.limits.readiness).await?;
        if answer.as_deref() == Some(scripts::MISSING) {
            return Err(diagnose::never_matches(selector));
        }
        if let Some(pictures) = answer.as_deref().and_then(|answer| answer.strip_prefix(scripts::READY)) {
            return Ok(serde_json::from_str(pictures).ok());
        }
        page.loads_beyond(seen).await;
    }
}
