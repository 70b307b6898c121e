//! Targets pdf, png, jpg, and html with files beside it: leases a tab, lets the browser make the file, and passes it on in chunks.

use actix::Addr;
use bytes::Bytes;
use std::cell::RefCell;

use super::css_page;
use super::document_state::leaves_document_state;
use super::inlined::{InlinedPage, Inliner};
use super::lane::lane_of;
use super::page_rules::{files_with_styles, rules_may_matter};
use super::references::{has_references, has_relative_links};
use super::scripting_media;
use crate::browser::{
    self, BrowserPool, Delivery, LeaseError, LeaseTab, PageError, PageGraphics, PageOutput, PageStep,
    PageTask, Retry,
};
use crate::config::{BrowserConfig, ScriptedReuse};
use crate::domain::error::{ErrorCode, JobError, Warnings};
use crate::domain::format_opts::{CssPage, PageOptions, check_warnings};
use crate::domain::kinds::FileKind;
use crate::domain::lane::Lane;
use crate::domain::reach::Reach;
use crate::domain::site::{ContentHash, Site};
use crate::engines::error::EngineError;
use crate::engines::runner::Sink;
use crate::outbound::Outbound;
use crate::slots::meter::CostMeter;
use crate::slots::{AccountShare, AccountSlots};
use crate::telemetry::{JobPhase, PhaseMetrics};
use crate::thread;

/// Makes files of pages.
pub struct PageEngine {
    pool: Addr<BrowserPool>,
    config: BrowserConfig,
    metrics: PhaseMetrics,
    /// Whether the operator allows pages any hosts.
    allows_hosts: bool,
    /// Static pages at once. They never wait for anything but the processor, so with more of them than cores each takes longer
    /// and none is done earlier. One account does not get all slots.
    static_slots: AccountSlots,
    inliner: Inliner,
}

/// One page to be made into a file.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// The job's account, and what measures its cost.
    pub meter: CostMeter,
    /// The assembled page and its assets.
    pub site: Site,
    /// The data, for the page's scripts.
    pub data: Bytes,
    /// Pdf, png, jpg or html.
    pub file: FileKind,
    /// Largest file.
    pub limit_bytes: u64,
    /// How the page is made.
    pub options: PageOptions,
    /// How far it may go.
    pub reach: Reach,
    /// Whether it is rendered in a browser that has no other page, since its own died at an earlier attempt.
    pub alone: bool,
    /// Whether its browser has WebGL, since it asked for that at an earlier attempt.
    pub with_graphics: bool,
    /// Whether a page with script gets a new tab, since its own was lost at an earlier attempt.
    pub fresh: bool,
}

/// Why there is no file.
#[derive(Debug)]
pub enum RenderError {
    /// Its browser died; alone in another one it may succeed.
    BrowserLost(JobError),
    /// Others caused the loss of its tab; in another one it may succeed.
    TabLost(JobError),
    /// What showed it hung, with which it has nothing to do; anywhere else it may succeed.
    Hung(JobError),
    /// It asked for WebGL, which other browsers have.
    NeedsGraphics(JobError),
    /// There was no tab for the page.
    Unleased(JobError),
    /// The page's error.
    Page(JobError),
    /// The file could not be written.
    Sink(EngineError),
}

impl PageEngine {
    /// An engine that leases its tabs from `pool`, for pages that reach what `outbound` allows. One account gets at most its
    /// `share` of the slots for static pages.
    pub fn new(
        pool: Addr<BrowserPool>,
        config: BrowserConfig,
        share: AccountShare,
        metrics: PhaseMetrics,
        outbound: &Outbound,
    ) -> Self {
        let static_slots = AccountSlots::new(browser::static_pages(config.static_pages), share);
        let (allows_hosts, inliner) = (outbound.opens_hosts(), Inliner::new(&config));
        Self { pool, config, metrics, allows_hosts, static_slots, inliner }
    }

    /// How often a page is rendered again because its Chromium hung (`browser.hung_retry_limit`).
    pub(super) fn hung_retry_limit(&self) -> u64 {
        self.config.hung_retry_limit
    }

    /// Renders the page and appends the file to `sink`; what the author should know goes to
    /// `warnings`, also when it fails. Answers how many pages a file has that has pages.
    ///
    /// # Errors
    /// [`RenderError`], by what may be tried next.
    pub async fn render(
        &self,
        request: &PageRequest,
        sink: &mut Sink,
        warnings: &mut Warnings,
    ) -> Result<Option<u32>, RenderError> {
        let Some(task) =
            task_of(request, self.allows_hosts, &self.inliner).await.map_err(RenderError::Page)?
        else {
            let sentence = format!("a page cannot become {}", request.file.name());
            return Err(RenderError::Page(JobError::new(ErrorCode::Internal, sentence)));
        };
        let timer = RefCell::new(self.metrics.begin(JobPhase::Lease));
        let account = request.meter.account();
        // The job does not pay while it waits for what others hold, unless it holds a slot of static pages that others wait for.
        let mut wait = Some(request.meter.begin_wait());
        // A page whose script the caller has switched off may have some. It gets no tab of the static lane, where tabs are used
        // again for pages that surely have none.
        let lane = if request.options.javascript { task.lane } else { Lane::Scripted };
        let slot = match lane {
            // Alone it waits for a browser of its own, and meanwhile takes no slot from others.
            Lane::Static if request.alone => None,
            Lane::Static => Some(self.static_slots.acquire_for(request.meter.way(), 1).await),
            Lane::Scripted => None,
        };
        if slot.is_some() {
            drop(wait.take());
        }
        let content = match lane {
            Lane::Static => None,
            Lane::Scripted if request.fresh || self.config.scripted_reuse == ScriptedReuse::Never => None,
            // In a reused tab whose pages reach hosts a late request could not be told to be of this page or of an earlier
            // one.
            Lane::Scripted if self.allows_hosts && request.reach == Reach::AllowedHosts => None,
            Lane::Scripted => Some(content_of(&request.site).await.map_err(RenderError::Page)?),
        };
        let graphics = if request.with_graphics { PageGraphics::Given } else { PageGraphics::OnDemand };
        let lease_tab = LeaseTab { account, lane, alone: request.alone, content, graphics };
        let leased = self.pool.send(lease_tab).await;
        let lease = leased.unwrap_or(Err(LeaseError::Stopping)).map_err(|error| {
            RenderError::Unleased(JobError::new(ErrorCode::BrowserUnavailable, error.to_string()))
        })?;
        drop(wait);
        lease.make_way_with(request.meter.way());
        let step = |step| {
            tracing::debug!(page.step = ?step, "step begins");
            timer.replace(self.metrics.begin(measured(step)));
        };
        let ready = Box::pin(browser::open(lease, &task, &self.config, step))
            .await
            .map_err(|f| failed(f, warnings))?;
        step(PageStep::Print);
        let mut printed = Box::pin(browser::print(ready)).await.map_err(|error| failed(error, warnings))?;
        while let Some(chunk) =
            Box::pin(printed.next_chunk()).await.map_err(|error| failed(error, warnings))?
        {
            sink.write(chunk).await.map_err(RenderError::Sink)?;
        }
        warnings.extend(printed.warnings());
        // Without earlier warnings: those of a lost attempt may not be of this document.
        check_warnings(&request.options, printed.warnings()).map_err(RenderError::Page)?;
        Ok(printed.pages())
    }
}

/// Hash of the template that the page is made of.
async fn content_of(site: &Site) -> Result<ContentHash, JobError> {
    let hashed = site.clone();
    Ok(thread::by_size(site.unhashed_bytes(), move || hashed.content_hash()).await?)
}

fn measured(step: PageStep) -> JobPhase {
    match step {
        PageStep::Load => JobPhase::Load,
        PageStep::Readiness => JobPhase::Readiness,
        PageStep::Print => JobPhase::Print,
    }
}

async fn task_of(
    request: &PageRequest,
    allows_hosts: bool,
    inliner: &Inliner,
) -> Result<Option<PageTask>, JobError> {
    let output = match request.file {
        FileKind::Pdf => PageOutput::Pdf,
        FileKind::Png => PageOutput::Png,
        FileKind::Jpg => PageOutput::Jpg,
        FileKind::Html => PageOutput::Html,
        FileKind::Docx | FileKind::Xlsx | FileKind::Pptx | FileKind::Zip => return Ok(None),
    };
    let Some(page) = request.site.page().cloned() else { return Ok(None) };
    // An expression is script, and may read the data, which is there only with script. Pictures need painting.
    let needs_scripted_lane = request.options.wait_for_expression.is_some() || output.is_picture();
    // Headers and cookies of `formatOpts.requests` are added where requests are intercepted, which only that lane does.
    let needs_scripted_lane = needs_scripted_lane || !request.options.requests.is_empty();
    let hosts = allows_hosts && request.reach == Reach::AllowedHosts;
    let site = request.site.clone();
    let looked = thread::by_size(page.len() + scripting_media::length(&site), move || {
        // Scripts may make links.
        let may_have_links = needs_scripted_lane || has_relative_links(&page);
        let lane = if needs_scripted_lane { Lane::Scripted } else { lane_of(&page) };
        let delivery = if lane == Lane::Static { delivery_of(&page) } else { Delivery::Served };
        // A page that is written into its tab has no sheets beside it.
        let asks = lane == Lane::Static
            && delivery == Delivery::Served
            && scripting_media::ask_for_scripting(&site, hosts);
        let lane = if asks { Lane::Scripted } else { lane };
        (lane, delivery, may_have_links || lane == Lane::Scripted)
    });
    let (lane, delivery, may_have_links) = looked.await?;
    let (lane, delivery) =
        if request.options.javascript { (lane, delivery) } else { (Lane::Static, Delivery::Served) };
    let is_alone = delivery != Delivery::Served;
    let has_page_rules = output == PageOutput::Pdf && may_have_page_rules(request, is_alone).await?;
    let css_page = css_page(request, output, lane).await?;
    // A selector by address would not match a file's `data:` address.
    let by_attribute = [&request.options.selector, &request.options.wait_for_selector];
    let by_attribute = by_attribute.into_iter().flatten().any(|selector| selector.contains('['));
    let may_inline = lane == Lane::Static && !is_alone && !by_attribute;
    let may_inline = may_inline && request.options.javascript && output == PageOutput::Pdf;
    let whole = if may_inline { with_files(&request.site, inliner).await } else { None };
    let (delivery, whole) =
        whole.map_or((delivery, None), |page| (page.delivery, Some(Bytes::from(page.html))));
    Ok(Some(PageTask {
        site: request.site.clone(),
        data: request.data.clone(),
        lane,
        delivery,
        inlined: whole,
        has_page_rules,
        css_page,
        may_have_links,
        options: request.options.clone(),
        reach: request.reach,
        output,
        limit_bytes: request.limit_bytes,
    }))
}

/// Whether the page, or a file that it may use, may have rules of `@page` that matter.
async fn may_have_page_rules(request: &PageRequest, is_alone: bool) -> Result<bool, JobError> {
    let files = files_with_styles(&request.site, is_alone);
    let bytes: usize = files.iter().map(Bytes::len).sum();
    if bytes <= thread::INLINE_LIMIT_BYTES {
        return Ok(files.iter().any(|file| rules_may_matter(file, &request.options)));
    }
    let options = request.options.clone();
    Ok(thread::on_blocking_thread(move || files.iter().any(|file| rules_may_matter(file, &options))).await?)
}

/// What the style sheets of the page say of every sheet, where it is laid out by that before its print.
async fn css_page(request: &PageRequest, output: PageOutput, lane: Lane) -> Result<CssPage, JobError> {
    if output != PageOutput::Pdf || lane == Lane::Static {
        return Ok(CssPage::default());
    }
    let sheets = css_page::sheets(&request.site);
    let bytes = sheets.iter().map(Bytes::len).sum();
    Ok(thread::by_size(bytes, move || css_page::said_of_every_page(&sheets)).await?)
}

/// The page with its files inlined, where it looks the same so.
async fn with_files(site: &Site, inliner: &Inliner) -> Option<InlinedPage> {
    if !inliner.may_inline(site) {
        return None;
    }
    let (site, inliner) = (site.clone(), inliner.clone());
    match thread::on_blocking_thread(move || inliner.inlined(&site)).await {
        Ok(page) => page,
        Err(error) => {
            tracing::error!(error = %error, "a page is served, for its files could not be put in");
            None
        }
    }
}

/// How a page without script comes into its tab.
fn delivery_of(page: &[u8]) -> Delivery {
    if has_references(page) {
        Delivery::Served
    } else if leaves_document_state(page) {
        Delivery::Put
    } else {
        Delivery::PutInPlace
    }
}

fn failed(page: PageError, warnings: &mut Warnings) -> RenderError {
    warnings.extend(&page.warnings);
    match page.retry {
        Retry::No => RenderError::Page(page.error),
        Retry::OtherTab => RenderError::TabLost(page.error),
        Retry::Anywhere => RenderError::Hung(page.error),
        Retry::Alone => RenderError::BrowserLost(page.error),
        Retry::WithGraphics => RenderError::NeedsGraphics(page.error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::domain::ids::AccountId;
    use crate::domain::site::Files;

    async fn task(page: &'static str, change: impl FnOnce(&mut PageRequest)) -> PageTask {
        let sheet: &[u8] =
            if page.contains("asks") { b"@media (scripting: none) {p{color:red}}" } else { b"p{}" };
        let files = [("index.html", page.as_bytes()), ("a.css", sheet)];
        let files = files.map(|(path, content)| (path.to_owned(), Bytes::copy_from_slice(content)));
        let mut request = PageRequest {
            meter: AccountId::generate().into(),
            site: Site::new("index.html", Files::from(files)),
            data: Bytes::new(),
            file: FileKind::Pdf,
            limit_bytes: 1,
            options: PageOptions::default(),
            reach: Reach::OwnFiles,
            alone: false,
            fresh: false,
            with_graphics: false,
        };
        change(&mut request);
        task_of(&request, false, &Inliner::new(&Config::default().browser)).await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn files_are_put_into_pdfs_of_pages_without_script() {
        const PAGE: &str = "<link rel=stylesheet href=a.css><p>x";
        let known = task(PAGE, |_| {}).await;
        let inlined = known.inlined.unwrap();
        assert_eq!((known.delivery, known.lane), (Delivery::PutInPlace, Lane::Static));
        assert!(inlined.starts_with(b"<link rel=\"stylesheet\" href=\"data:text/css;"), "{inlined:?}");
        assert_eq!(known.site.page().unwrap(), PAGE, "everything else goes by the page itself");
        for (page, lane) in [
            ("<link rel=stylesheet href=a.css><img src=missing.png>", Lane::Static),
            ("<link rel=stylesheet href=a.css><script></script>", Lane::Scripted),
            ("<link rel=stylesheet href=a.css><p>asks", Lane::Scripted),
        ] {
            let task = task(page, |_| {}).await;
            assert_eq!((task.delivery, task.lane, task.inlined), (Delivery::Served, lane, None), "{page}");
        }
        let changes: [fn(&mut PageRequest); 3] = [
            |request| request.options.javascript = false,
            |request| request.file = FileKind::Png,
            |request| request.file = FileKind::Html,
        ];
        for change in changes {
            let task = task(PAGE, change).await;
            assert_eq!((task.delivery, task.inlined), (Delivery::Served, None));
        }
        let alone = task("<p>x", |_| {}).await;
        assert_eq!((alone.delivery, alone.inlined), (Delivery::PutInPlace, None));
    }
}
