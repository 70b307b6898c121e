//! Targets pdf, png, jpg, and html with files beside it: leases a tab, lets the browser make the file, and passes it on in chunks.

use actix::Addr;
use bytes::Bytes;
use std::cell::RefCell;

use super::document_state::leaves_document_state;
use super::inlined::{InlinedPage, Inliner};
use super::lane::lane_of;
use super::page_rules::{files_with_styles, rules_may_matter};
use super::references::has_references;
use super::scripting_media;
use crate::browser::{
    self, BrowserPool, LeaseError, LeaseTab, PageError, PageOutput, PageStep, PageTask, Retry, Way,
};
use crate::config::{BrowserConfig, ScriptedReuse};
use crate::domain::error::{ErrorCode, JobError, Warnings};
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::FileKind;
use crate::domain::lane::Lane;
use crate::domain::reach::Reach;
use crate::domain::site::{ContentHash, Site};
use crate::engines::error::EngineError;
use crate::engines::runner::Sink;
use crate::outbound::Outbound;
use crate::slots::meter::CostMeter;
use crate::slots::{AccountShare, AccountSlots};
use crate::telemetry::{JobPhase, StepMetrics};
use crate::thread;

/// Makes files of pages.
pub struct PageEngine {
    pool: Addr<BrowserPool>,
    config: BrowserConfig,
    metrics: StepMetrics,
    /// Whether pages may reach any hosts.
    opens_hosts: bool,
    /// A static page computes all the time: more of them at once than cores finish none earlier. One account does not get all
    /// slots.
    statics: AccountSlots,
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
    /// Its browser died: it is rendered in one that has no other page.
    pub alone: bool,
    /// Its tab was lost: with script it gets a new one.
    pub fresh: bool,
}

/// Why there is no file.
#[derive(Debug)]
pub enum RenderError {
    /// Its browser died; alone in another one it may succeed.
    BrowserLost(JobError),
    /// Others caused the loss of its tab; in another one it may succeed.
    TabLost(JobError),
    /// There was no tab for the page.
    Unleased(JobError),
    /// The page's error.
    Page(JobError),
    /// The file could not be written.
    Sink(EngineError),
}

impl PageEngine {
    /// An engine that leases its tabs from `pool`, and of whose turns an account gets its `share`.
    pub fn new(
        pool: Addr<BrowserPool>,
        config: BrowserConfig,
        share: AccountShare,
        metrics: StepMetrics,
    ) -> Self {
        let statics = AccountSlots::new(browser::static_pages(config.static_pages), share);
        let inliner = Inliner::new(&config);
        Self { pool, config, metrics, opens_hosts: false, statics, inliner }
    }

    /// The same engine whose pages reach what `outbound` allows.
    pub fn going_by(self, outbound: &Outbound) -> Self {
        Self { opens_hosts: outbound.opens_hosts(), ..self }
    }

    /// Renders the page and appends the file to `sink`; what the author should know goes to
    /// `warnings`, also when it fails. Answers how many pages a file has that has pages.
    ///
    /// # Errors
    /// [`RenderError`], by what may be tried next.
    pub async fn render(
        &self,
        order: &PageRequest,
        sink: &mut Sink,
        warnings: &mut Warnings,
    ) -> Result<Option<u32>, RenderError> {
        let Some(task) = task_of(order, self.opens_hosts, &self.inliner).await.map_err(RenderError::Page)?
        else {
            let sentence = format!("a page cannot become {}", order.file.name());
            return Err(RenderError::Page(JobError::new(ErrorCode::Internal, sentence)));
        };
        let timer = RefCell::new(self.metrics.begin(JobPhase::Lease));
        let account = order.meter.account();
        // The job does not pay while it waits for what others hold, unless it holds a slot of static pages that others wait for.
        let mut wait = Some(order.meter.begin_wait());
        // A page with script switched off is kept apart as if it ran: its author is as little trusted.
        let lane = if order.options.javascript { task.lane } else { Lane::Scripted };
        let slot = match lane {
            // Alone it waits for a browser of its own, and meanwhile takes no slot from others.
            Lane::Static if order.alone => None,
            Lane::Static => Some(self.statics.acquire(account).await),
            Lane::Scripted => None,
        };
        if slot.is_some() {
            drop(wait.take());
        }
        let content = match lane {
            Lane::Static => None,
            Lane::Scripted if order.fresh || self.config.scripted_reuse == ScriptedReuse::Never => None,
            // In a reused tab whose pages reach hosts a late request could not be told to be of this page or of an earlier
            // one.
            Lane::Scripted if self.opens_hosts && order.reach == Reach::AllowedHosts => None,
            Lane::Scripted => Some(content_of(&order.site).await.map_err(RenderError::Page)?),
        };
        let asked = LeaseTab { account, lane, alone: order.alone, content };
        let leased = self.pool.send(asked).await;
        let lease = leased.unwrap_or(Err(LeaseError::Stopping)).map_err(|error| unleased(&error))?;
        drop(wait);
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
        order.options.check_warnings(printed.warnings()).map_err(RenderError::Page)?;
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
    order: &PageRequest,
    opens_hosts: bool,
    inliner: &Inliner,
) -> Result<Option<PageTask>, JobError> {
    let output = match order.file {
        FileKind::Pdf => PageOutput::Pdf,
        FileKind::Png => PageOutput::Png,
        FileKind::Jpg => PageOutput::Jpg,
        FileKind::Html => PageOutput::Html,
        FileKind::Docx | FileKind::Xlsx | FileKind::Pptx | FileKind::Zip => return Ok(None),
    };
    let Some(page) = order.site.page().cloned() else { return Ok(None) };
    // An expression is script, and may read the data, which is there only with script. Pictures need painting.
    let asked = order.options.wait_for_expression.is_some() || output.is_picture();
    // Headers and cookies of `formatOpts.requests` are added where requests are intercepted, which only that lane does.
    let asked = asked || !order.options.requests.is_empty();
    let hosts = opens_hosts && order.reach == Reach::AllowedHosts;
    let site = order.site.clone();
    let looked = thread::by_size(page.len() + scripting_media::length(&site), move || {
        let lane = if asked { Lane::Scripted } else { lane_of(&page) };
        let way = if lane == Lane::Static { way_of(&page) } else { Way::Served };
        // A page that is written into its tab has no sheets beside it.
        let asks =
            lane == Lane::Static && way == Way::Served && scripting_media::ask_for_scripting(&site, hosts);
        (if asks { Lane::Scripted } else { lane }, way)
    });
    let (lane, way) = looked.await?;
    let (lane, way) = if order.options.javascript { (lane, way) } else { (Lane::Static, Way::Served) };
    let is_alone = way != Way::Served;
    let has_page_rules = output == PageOutput::Pdf && may_have_page_rules(order, is_alone).await?;
    // A selector by address would not match a file's `data:` address.
    let by_attribute = [&order.options.selector, &order.options.wait_for_selector];
    let by_attribute = by_attribute.into_iter().flatten().any(|selector| selector.contains('['));
    let may_inline = lane == Lane::Static && !is_alone && !by_attribute;
    let may_inline = may_inline && order.options.javascript && output == PageOutput::Pdf;
    let whole = if may_inline { with_files(&order.site, inliner).await } else { None };
    let (way, whole) = whole.map_or((way, None), |page| (page.way, Some(Bytes::from(page.html))));
    Ok(Some(PageTask {
        site: order.site.clone(),
        data: order.data.clone(),
        lane,
        way,
        inlined: whole,
        has_page_rules,
        options: order.options.clone(),
        reach: order.reach,
        output,
        limit_bytes: order.limit_bytes,
    }))
}

/// Whether the page, or a file that it may use, may have rules of `@page` that matter.
async fn may_have_page_rules(order: &PageRequest, is_alone: bool) -> Result<bool, JobError> {
    let files = files_with_styles(&order.site, is_alone);
    let bytes: usize = files.iter().map(Bytes::len).sum();
    if bytes <= thread::HERE_BYTES {
        return Ok(files.iter().any(|file| rules_may_matter(file, &order.options)));
    }
    let options = order.options.clone();
    Ok(thread::apart(move || files.iter().any(|file| rules_may_matter(file, &options))).await?)
}

/// The page with its files inlined, where it looks the same so.
async fn with_files(site: &Site, inliner: &Inliner) -> Option<InlinedPage> {
    if !inliner.may_inline(site) {
        return None;
    }
    let (site, inliner) = (site.clone(), inliner.clone());
    match thread::apart(move || inliner.inlined(&site)).await {
        Ok(page) => page,
        Err(error) => {
            tracing::error!(error = %error, "a page is served, for its files could not be put in");
            None
        }
    }
}

/// How a page without script comes into its tab.
fn way_of(page: &[u8]) -> Way {
    if has_references(page) {
        Way::Served
    } else if leaves_document_state(page) {
        Way::Put
    } else {
        Way::PutInPlace
    }
}

fn unleased(error: &LeaseError) -> RenderError {
    RenderError::Unleased(JobError::new(ErrorCode::BrowserUnavailable, error.to_string()))
}

fn failed(page: PageError, warnings: &mut Warnings) -> RenderError {
    warnings.extend(&page.warnings);
    match page.retry {
        Retry::No => RenderError::Page(page.error),
        Retry::OtherTab => RenderError::TabLost(page.error),
        Retry::Alone => RenderError::BrowserLost(page.error),
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
        let mut order = PageRequest {
            meter: AccountId::generate().into(),
            site: Site::new("index.html", Files::from(files)),
            data: Bytes::new(),
            file: FileKind::Pdf,
            limit_bytes: 1,
            options: PageOptions::default(),
            reach: Reach::OwnFiles,
            alone: false,
            fresh: false,
        };
        change(&mut order);
        task_of(&order, false, &Inliner::new(&Config::default().browser)).await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn files_are_put_into_pdfs_of_pages_without_script() {
        const PAGE: &str = "<link rel=stylesheet href=a.css><p>x";
        let known = task(PAGE, |_| {}).await;
        let inlined = known.inlined.unwrap();
        assert_eq!((known.way, known.lane), (Way::PutInPlace, Lane::Static));
        assert!(inlined.starts_with(b"<link rel=\"stylesheet\" href=\"data:text/css;"), "{inlined:?}");
        assert_eq!(known.site.page().unwrap(), PAGE, "everything else goes by the page itself");
        for (page, lane) in [
            ("<link rel=stylesheet href=a.css><img src=missing.png>", Lane::Static),
            ("<link rel=stylesheet href=a.css><script></script>", Lane::Scripted),
            ("<link rel=stylesheet href=a.css><p>asks", Lane::Scripted),
        ] {
            let task = task(page, |_| {}).await;
            assert_eq!((task.way, task.lane, task.inlined), (Way::Served, lane, None), "{page}");
        }
        let changes: [fn(&mut PageRequest); 3] = [
            |order| order.options.javascript = false,
            |order| order.file = FileKind::Png,
            |order| order.file = FileKind::Html,
        ];
        for change in changes {
            let task = task(PAGE, change).await;
            assert_eq!((task.way, task.inlined), (Way::Served, None));
        }
        let alone = task("<p>x", |_| {}).await;
        assert_eq!((alone.way, alone.inlined), (Way::PutInPlace, None));
    }
}
