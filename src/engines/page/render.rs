//! Targets pdf, png, jpg, and html with files beside it: leases a tab, lets the browser make the file, and passes it on in chunks.

use actix::Addr;
use bytes::Bytes;
use std::cell::RefCell;

use super::inlined::{InlinedPage, Inliner};
use super::lane::lane_of;
use super::outlasting::outlasts_its_elements;
use super::page_rules::{files_with_styles, rules_may_matter};
use super::references::has_references;
use super::sheets;
use crate::browser::{
    self, BrowserPool, LeaseError, LeaseTab, PageError, PageOutput, PageStep, PageTask, Retry, Way,
};
use crate::config::BrowserConfig;
use crate::domain::fault::{FaultCode, JobFault, Warnings};
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
use crate::telemetry::{Step, StepMetrics};
use crate::thread;

/// Makes files of pages.
pub struct PageEngine {
    pool: Addr<BrowserPool>,
    config: BrowserConfig,
    metrics: StepMetrics,
    /// Pages reach any host at all beside their own.
    opens_hosts: bool,
    /// A page without script computes from its first moment to its last: more of them at once than there
    /// are cores make none earlier and cost each of them more. One account does not get all turns.
    statics: AccountSlots,
    inliner: Inliner,
}

/// One page to be made into a file.
#[derive(Clone, Debug)]
pub struct PageOrder {
    /// For whom, and what the job pays by.
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
    /// A browser died under it: it is rendered where nobody else has a page.
    pub alone: bool,
}

/// Why there is no file.
#[derive(Debug)]
pub enum RenderError {
    /// The browser died under the page; alone in another one it may do better.
    BrowserLost(JobFault),
    /// Its tab died by what others did; in another one it may do better.
    TabLost(JobFault),
    /// There was no tab for the page.
    Unleased(JobFault),
    /// The page's fault.
    Page(JobFault),
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

    /// The same whose pages go by `outbound`.
    pub fn going_by(self, outbound: &Outbound) -> Self {
        Self { opens_hosts: outbound.opens_hosts(), ..self }
    }

    /// Renders the page and appends the file to `sink`; what the author should know goes to
    /// `warnings`, also when it fails. Answers how many pages a file has that has pages.
    ///
    /// # Errors
    /// By whose fault it was.
    pub async fn render(
        &self,
        order: &PageOrder,
        sink: &mut Sink,
        warnings: &mut Warnings,
    ) -> Result<Option<u32>, RenderError> {
        let Some(task) = task_of(order, self.opens_hosts, &self.inliner).await.map_err(RenderError::Page)?
        else {
            let sentence = format!("a page cannot become {}", order.file.name());
            return Err(RenderError::Page(JobFault::new(FaultCode::Internal, sentence)));
        };
        let timer = RefCell::new(self.metrics.begin(Step::Lease));
        let account = order.meter.account();
        // The job does not pay while it waits for what others hold, unless it keeps a turn of static pages from them.
        let mut wait = Some(order.meter.begin_wait());
        // What would run script is kept apart as if it did: who wrote the page is as little trusted.
        let lane = if order.options.javascript { task.lane } else { Lane::Scripted };
        let turn = match lane {
            // Alone it waits for a browser of its own: meanwhile the turn is somebody else's.
            Lane::Static if order.alone => None,
            Lane::Static => Some(self.statics.acquire(account).await),
            Lane::Scripted => None,
        };
        if turn.is_some() {
            drop(wait.take());
        }
        let content = match lane {
            Lane::Static => None,
            // Of a tab whose pages reach hosts nobody knows of which page a late request is.
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
        let mut printed = Box::pin(browser::print(ready)).await.map_err(|fault| failed(fault, warnings))?;
        while let Some(chunk) =
            Box::pin(printed.next_chunk()).await.map_err(|fault| failed(fault, warnings))?
        {
            sink.write(chunk).await.map_err(RenderError::Sink)?;
        }
        warnings.extend(printed.warnings());
        // Not those that were there before: an attempt that was lost may have had others.
        order.options.check_warnings(printed.warnings()).map_err(RenderError::Page)?;
        Ok(printed.pages())
    }
}

/// What template the page is made of.
async fn content_of(site: &Site) -> Result<ContentHash, JobFault> {
    let hashed = site.clone();
    Ok(thread::by_size(site.unhashed_bytes(), move || hashed.content_hash()).await?)
}

fn measured(step: PageStep) -> Step {
    match step {
        PageStep::Load => Step::Load,
        PageStep::Readiness => Step::Readiness,
        PageStep::Print => Step::Print,
    }
}

async fn task_of(
    order: &PageOrder,
    opens_hosts: bool,
    inliner: &Inliner,
) -> Result<Option<PageTask>, JobFault> {
    let output = match order.file {
        FileKind::Pdf => PageOutput::Pdf,
        FileKind::Png => PageOutput::Png,
        FileKind::Jpg => PageOutput::Jpg,
        FileKind::Html => PageOutput::Html,
        FileKind::Docx | FileKind::Xlsx | FileKind::Pptx | FileKind::Zip => return Ok(None),
    };
    let Some(page) = order.site.page().cloned() else { return Ok(None) };
    // An expression is script, and may ask for the data, which is there where script runs. A picture is painted.
    let asked = order.options.wait_for_expression.is_some() || output.is_picture();
    // What requests carry is put in by who hears them, which is done in that lane only.
    let asked = asked || !order.options.requests.is_empty();
    let hosts = opens_hosts && order.reach == Reach::AllowedHosts;
    let site = order.site.clone();
    let looked = thread::by_size(page.len() + sheets::length(&site), move || {
        let lane = if asked { Lane::Scripted } else { lane_of(&page) };
        let way = if lane == Lane::Static { way_of(&page) } else { Way::Served };
        // One that is put into its tab has no sheets beside it.
        let asks = lane == Lane::Static && way == Way::Served && sheets::ask_for_scripting(&site, hosts);
        (if asks { Lane::Scripted } else { lane }, way)
    });
    let (lane, way) = looked.await?;
    let (lane, way) = if order.options.javascript { (lane, way) } else { (Lane::Static, Way::Served) };
    let is_alone = way != Way::Served;
    let has_page_rules = output == PageOutput::Pdf && may_have_page_rules(order, is_alone).await?;
    // What is looked for by an address would not be found behind another one.
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
async fn may_have_page_rules(order: &PageOrder, is_alone: bool) -> Result<bool, JobFault> {
    let files = files_with_styles(&order.site, is_alone);
    let bytes: usize = files.iter().map(Bytes::len).sum();
    if bytes <= thread::HERE_BYTES {
        return Ok(files.iter().any(|file| rules_may_matter(file, &order.options)));
    }
    let options = order.options.clone();
    Ok(thread::apart(move || files.iter().any(|file| rules_may_matter(file, &options))).await?)
}

/// The page with the files beside it in it, where it is the same so.
async fn with_files(site: &Site, inliner: &Inliner) -> Option<InlinedPage> {
    if !inliner.may_inline(site) {
        return None;
    }
    let (site, inliner) = (site.clone(), inliner.clone());
    match thread::apart(move || inliner.inlined(&site)).await {
        Ok(page) => page,
        Err(fault) => {
            tracing::error!(error = %fault, "a page is served, for its files could not be put in");
            None
        }
    }
}

/// How a page without script comes into its tab.
fn way_of(page: &[u8]) -> Way {
    if has_references(page) {
        Way::Served
    } else if outlasts_its_elements(page) {
        Way::Put
    } else {
        Way::PutInPlace
    }
}

fn unleased(error: &LeaseError) -> RenderError {
    RenderError::Unleased(JobFault::new(FaultCode::BrowserUnavailable, error.to_string()))
}

fn failed(page: PageError, warnings: &mut Warnings) -> RenderError {
    warnings.extend(&page.warnings);
    match page.retry {
        Retry::No => RenderError::Page(page.fault),
        Retry::OtherTab => RenderError::TabLost(page.fault),
        Retry::Alone => RenderError::BrowserLost(page.fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::domain::ids::AccountId;
    use crate::domain::site::Files;

    async fn task(page: &'static str, change: impl FnOnce(&mut PageOrder)) -> PageTask {
        let sheet: &[u8] =
            if page.contains("asks") { b"@media (scripting: none) {p{color:red}}" } else { b"p{}" };
        let files = [("index.html", page.as_bytes()), ("a.css", sheet)];
        let files = files.map(|(path, content)| (path.to_owned(), Bytes::copy_from_slice(content)));
        let mut order = PageOrder {
            meter: AccountId::generate().into(),
            site: Site::new("index.html", Files::from(files)),
            data: Bytes::new(),
            file: FileKind::Pdf,
            limit_bytes: 1,
            options: PageOptions::default(),
            reach: Reach::OwnFiles,
            alone: false,
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
        let changes: [fn(&mut PageOrder); 3] = [
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
