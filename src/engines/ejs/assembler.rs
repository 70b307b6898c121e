//! EJS over a site's entry, with the data's top-level keys as locals: the engine of html, ejs and framework.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use memchr::memmem;
use tokio::sync::Semaphore;

use super::recent::Recent;
use crate::config::AssembleConfig;
use crate::domain::fault::{FaultCode, JobFault, Warnings};
use crate::domain::lines::Notes;
use crate::domain::scripts::Script;
use crate::domain::site::{Site, SiteText};
use crate::engines::script::TemplateCodePool;
use crate::slots::AccountShare;
use crate::slots::meter::CostMeter;
use crate::telemetry::ChildMetrics;
use crate::thread;
use crate::workers::assemble::{AssembleJob, Assembled, Language, Order};
use crate::workers::{Asked, Pool, Starter};

/// Makes pages. Cloning shares its processes.
#[derive(Clone)]
pub struct Assembler {
    pub(super) script: TemplateCodePool,
    pub(super) config: AssembleConfig,
    pub(super) metrics: ChildMetrics,
    /// Whose scripts are made: one template's at a time.
    pub(super) ahead: Arc<Semaphore>,
    recent: Recent,
    /// What the templates are written in.
    pub(super) language: Language,
}

/// What every tag begins with.
const TAG: &[u8] = b"<%";

/// What a further tag of LaTeX begins with.
const LATEX_TAG: &[u8] = br"\VAR{";

impl Assembler {
    /// An assembler with processes of its own, whose spares start at once; must be called inside a runtime.
    pub fn new(
        starter: Starter,
        config: &AssembleConfig,
        share: AccountShare,
        metrics: ChildMetrics,
    ) -> Self {
        Self::on(TemplateCodePool::new(starter, config, share, metrics.clone()), config, metrics)
    }

    /// An assembler on `script`, which others use too.
    pub fn on(script: TemplateCodePool, config: &AssembleConfig, metrics: ChildMetrics) -> Self {
        let recent = Recent::new(config.recent_scripts_mb << 20);
        let (config, ahead) = (config.clone(), Arc::new(Semaphore::new(1)));
        Self { script, config, metrics, ahead, recent, language: Language::default() }
    }

    /// The same for templates of another locale or time zone.
    pub fn localized(&self, locale: Option<&str>, timezone: Option<&str>) -> Self {
        Self { script: self.script.localized(locale, timezone), ..self.clone() }
    }

    /// The same for templates that are written in `language`.
    pub fn of(&self, language: Language) -> Self {
        Self { language, ..self.clone() }
    }

    /// Its processes.
    pub fn pool(&self) -> &Pool {
        &self.script.pool
    }

    /// The page that the site's entry and the data make, in UTF-8, for the job of `meter`. A page without a tag is its
    /// own page, byte by byte where it was UTF-8. `data` is valid JSON. What EJS generates of a site that somebody keeps
    /// is generated once, beside the jobs, and used from then on.
    ///
    /// # Errors
    /// A sentence for the template's author, which names file and line where there is one.
    pub async fn assemble(
        &self,
        meter: impl Into<CostMeter>,
        site: &Site,
        data: &Bytes,
        warnings: &mut Warnings,
    ) -> Result<Bytes, JobFault> {
        self.noted(meter, site, data, warnings).await.map(|(page, _)| page)
    }

    /// The same, with what was noted of where the page's lines come from: where it has a tag, and is LaTeX.
    pub(super) async fn noted(
        &self,
        meter: impl Into<CostMeter>,
        site: &Site,
        data: &Bytes,
        warnings: &mut Warnings,
    ) -> Result<(Bytes, Option<Notes>), JobFault> {
        let meter = meter.into();
        let data = object(data)?;
        let entry = &self.entry(site, warnings).await?;
        if !has_tags(self.language, entry) {
            return Ok((entry.clone(), None));
        }
        self.script.check_size(entry.len() + data.len())?;
        // Not cloned otherwise: how many hold its scripts tells whether anybody keeps them.
        let recent =
            self.recent.scripts(meter.account(), site).map(|scripts| site.clone().with_scripts(scripts));
        let site = recent.as_ref().unwrap_or(site);
        let asked = Mutex::new(Vec::new());
        let (Assembled { outcome, generated, included, notes_bytes }, mut page) =
            self.run(&meter, site, [entry, &data], &asked).await?;
        let notes = page.split_off(page.len().saturating_sub(notes_bytes));
        self.metrics.scripts.of(["in_job"]).inc_by(generated);
        outcome.map_err(|error| self.script.refused(error))?;
        let asked = asked.into_inner().unwrap_or_else(PoisonError::into_inner);
        let read: BTreeMap<_, _> = included.into_iter().filter_map(|at| asked.get(at).cloned()).collect();
        warnings.push_all(read.values().flatten());
        let paths = read.into_keys().chain([site.entry().to_owned()]).collect();
        self.compile_ahead(meter.account(), site, &paths);
        Ok((page, Notes::new(notes)))
    }

    /// The header or footer that `template`, the text of the option `name`, makes beside the page of `site`: of the same
    /// data, and with the same files to include.
    ///
    /// # Errors
    /// As [`Self::assemble`]; the sentence names the option and a line of it.
    pub async fn assemble_header(
        &self,
        meter: impl Into<CostMeter>,
        site: &Site,
        (name, template): (&str, &str),
        data: &Bytes,
    ) -> Result<String, JobFault> {
        let site = site.with_entry(name, Bytes::copy_from_slice(template.as_bytes()));
        // The text came with a request, so there is no doubt of it.
        let made = self.assemble(meter, &site, data, &mut Warnings::default()).await?;
        let limit = self.config.banner_limit_bytes;
        if made.len() as u64 > limit {
            let sentence = format!("{name} became larger than {limit} bytes (assemble.banner_limit_bytes)");
            return Err(JobFault::new(FaultCode::TemplateLimit, sentence));
        }
        // What the engine makes is text.
        Ok(String::from_utf8_lossy(&made).into_owned())
    }

    /// The entry's text. A file of LaTeX says by a package what it is in, so it stays as it is.
    async fn entry(&self, site: &Site, warnings: &mut Warnings) -> Result<Bytes, JobFault> {
        match self.language {
            Language::Html => entry_text(site, warnings).await,
            Language::Latex => site.page().cloned().ok_or_else(|| no_entry(site)),
        }
    }

    async fn run(
        &self,
        meter: &CostMeter,
        site: &Site,
        [entry, data]: [&Bytes; 2],
        requests: &Mutex<Vec<Request>>,
    ) -> Result<(Assembled, Bytes), JobFault> {
        let script = site.script(site.entry());
        let body = [
            script.map_or(entry, |script| &script.text).clone(),
            script.map(|script| script.source.clone()).unwrap_or_default(),
            data.clone(),
        ];
        let order = Order::Assemble(AssembleJob {
            language: self.language,
            entry: Cow::Borrowed(site.entry()),
            entry_bytes: body[0].len(),
            source_bytes: body[1].len(),
            files: site.paths().map(Cow::Borrowed).collect(),
            locale: Cow::Borrowed(self.script.locale()),
            timezone: Cow::Borrowed(self.script.timezone()),
        });
        let files = |name: &str| {
            let (asked, doubt) = asked(site, name)?;
            let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.push((name.to_owned(), doubt));
            Some(asked)
        };
        self.script.run(meter, (&order, &body), &files).await
    }
}

/// Whether there is anything in `text` for template code to do.
pub(in crate::engines) fn has_tags(language: Language, text: &[u8]) -> bool {
    let is_there = |tag| memmem::find(text, tag).is_some();
    is_there(TAG) || (language == Language::Latex && is_there(LATEX_TAG))
}

/// The data if it is an object. Only its first character is looked at: it is valid JSON already.
pub(in crate::engines) fn object(data: &Bytes) -> Result<Bytes, JobFault> {
    if data.trim_ascii_start().starts_with(b"{") {
        return Ok(data.clone());
    }
    let sentence = "the data must be a JSON object, because its keys are the names the template uses";
    Err(JobFault::new(FaultCode::DataInvalid, sentence))
}

/// A file that a template may include, by its path, and what its author should know of it where it does.
type Request = (String, Option<String>);

/// The entry's text, whatever its encoding. What is no text goes on as it is: where it must be text, the engine says
/// which line is not.
pub(in crate::engines) async fn entry_text(site: &Site, warnings: &mut Warnings) -> Result<Bytes, JobFault> {
    let entry = site.page().ok_or_else(|| no_entry(site))?;
    let reading = site.clone();
    let text = thread::by_size(entry.len(), move || reading.text(reading.entry())).await?;
    let Some(SiteText { content, doubt }) = text else { return Ok(entry.clone()) };
    if let Some(doubt) = doubt {
        warnings.push(&doubt.of(site.entry()));
    }
    Ok(content)
}

/// A file that a template includes, with its script where one is kept, and what its author should know of it.
fn asked(site: &Site, name: &str) -> Option<(Asked, Option<String>)> {
    let text = site.text(name);
    let doubt = text.as_ref().and_then(|text| text.doubt).map(|doubt| doubt.of(name));
    let of_script =
        |script: &Script| Asked { content: script.text.clone(), made: Some(script.source.clone()) };
    // The engine says that what is no text cannot be included.
    let of_file = || text.map(|text| text.content).or_else(|| site.get(name).cloned());
    let asked = site
        .script(name)
        .map(of_script)
        .or_else(|| of_file().map(|content| Asked { content, made: None }))?;
    Some((asked, doubt))
}

fn no_entry(site: &Site) -> JobFault {
    JobFault::new(FaultCode::TemplateInvalid, format!("the template has no file '{}'", site.entry()))
}
