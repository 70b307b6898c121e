//! EJS over a site's entry, with the data's top-level keys as locals: the engine of html, ejs and framework.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use memchr::memmem;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

use super::recent::RecentTexts;
use crate::config::AssembleConfig;
use crate::domain::error::{ErrorCode, JobError, Warnings};
use crate::domain::scripts::Script;
use crate::domain::site::{Site, SiteText};
use crate::engines::script::TemplateCodePool;
use crate::engines::source_map::EncodedSourceMap;
use crate::slots::meter::CostMeter;
use crate::telemetry::ChildMetrics;
use crate::thread;
use crate::workers::assemble::{AssembleJob, Assembled, Language, ScriptRequest};
use crate::workers::{FileSource, SuppliedFile};

/// Makes pages. Cloning shares its processes.
#[derive(Clone)]
pub struct Assembler {
    /// Its processes.
    pub script: TemplateCodePool,
    pub(super) config: AssembleConfig,
    pub(super) metrics: ChildMetrics,
    /// Scripts are generated for one template at a time.
    pub(super) precompiling: Arc<Semaphore>,
    recent: RecentTexts,
    pub(super) language: Language,
}

const TAG: &[u8] = b"<%";

/// What a further tag of LaTeX begins with.
const LATEX_TAG: &[u8] = br"\VAR{";

impl Assembler {
    /// An assembler on `script`, which others use too.
    pub fn on(script: TemplateCodePool, config: &AssembleConfig, metrics: ChildMetrics) -> Self {
        let recent = RecentTexts::new(config.recent_scripts_mb << 20);
        let (config, precompiling) = (config.clone(), Arc::new(Semaphore::new(1)));
        Self { script, config, metrics, precompiling, recent, language: Language::default() }
    }

    /// This assembler for another locale or time zone.
    pub fn localized(&self, locale: Option<&str>, timezone: Option<&str>) -> Self {
        Self { script: self.script.localized(locale, timezone), ..self.clone() }
    }

    /// Renders the site's entry with the data, which must be valid JSON, for the job of `meter`: a page in UTF-8. An entry
    /// without a tag is returned as it is. Scripts of a cached site are generated once, in the background, and used from then on.
    ///
    /// # Errors
    /// A sentence for the template's author, which names file and line where there is one.
    pub async fn assemble(
        &self,
        meter: impl Into<CostMeter>,
        site: &Site,
        data: &Bytes,
        warnings: &mut Warnings,
    ) -> Result<Bytes, JobError> {
        self.assemble_with_source_map(meter, site, data, warnings).await.map(|(page, _)| page)
    }

    /// As [`Self::assemble`], with the page's source map, which is recorded for LaTeX with a tag only.
    pub(super) async fn assemble_with_source_map(
        &self,
        meter: impl Into<CostMeter>,
        site: &Site,
        data: &Bytes,
        warnings: &mut Warnings,
    ) -> Result<(Bytes, Option<EncodedSourceMap>), JobError> {
        let meter = meter.into();
        let data = object(data)?;
        let (entry, has_tags) = &entry_text(site, self.language, warnings).await?;
        if !has_tags {
            return Ok((entry.clone(), None));
        }
        self.script.check_size(entry.len() + data.len())?;
        // A clone that lives on would count for `precompile`, which sees by the owners of the scripts whether the site is cached.
        let recent =
            self.recent.scripts(meter.account(), site).map(|scripts| site.clone().with_scripts(scripts));
        let site = recent.as_ref().unwrap_or(site);
        let requested_files = Mutex::new(Vec::new());
        let (Assembled { outcome, generated, included, notes_bytes }, mut page) =
            self.run(&meter, site, [entry, &data], &requested_files).await?;
        let notes = page.split_off(page.len().saturating_sub(notes_bytes));
        self.metrics.scripts.of(["in_job"]).inc_by(generated);
        outcome.map_err(|error| self.script.refused(error))?;
        let requested_files = requested_files.into_inner();
        let read: BTreeMap<_, _> =
            included.into_iter().filter_map(|at| requested_files.get(at).cloned()).collect();
        warnings.push_all(read.values().flatten());
        let paths = read.into_keys().chain([site.entry().to_owned()]).collect();
        self.precompile(meter.account(), site, &paths);
        Ok((page, EncodedSourceMap::new(notes)))
    }

    /// Renders `template`, the text of the option `name`, as a header or footer: with the same data as the page of `site`, and
    /// the same files to include.
    ///
    /// # Errors
    /// As [`Self::assemble`]; the sentence names the option and a line of it.
    pub async fn assemble_header(
        &self,
        meter: impl Into<CostMeter>,
        site: &Site,
        (name, template): (&str, &str),
        data: &Bytes,
    ) -> Result<String, JobError> {
        let site = site.with_entry(name, Bytes::copy_from_slice(template.as_bytes()));
        // The text came in a JSON request: its encoding is certain, and there is nothing to warn of.
        let made = self.assemble(meter, &site, data, &mut Warnings::default()).await?;
        let limit = self.config.banner_limit_bytes;
        if made.len() as u64 > limit {
            let sentence = format!("{name} became larger than {limit} bytes (assemble.banner_limit_bytes)");
            return Err(JobError::new(ErrorCode::TemplateLimit, sentence));
        }
        // The engine's output is always UTF-8.
        Ok(String::from_utf8_lossy(&made).into_owned())
    }

    async fn run(
        &self,
        meter: &CostMeter,
        site: &Site,
        [entry, data]: [&Bytes; 2],
        requests: &Mutex<Vec<RequestedFile>>,
    ) -> Result<(Assembled, Bytes), JobError> {
        let script = site.script(site.entry());
        let body = [
            script.map_or(entry, |script| &script.text).clone(),
            script.map(|script| script.source.clone()).unwrap_or_default(),
            data.clone(),
        ];
        let request = ScriptRequest::Assemble(AssembleJob {
            language: self.language,
            entry: Cow::Borrowed(site.entry()),
            entry_bytes: body[0].len(),
            source_bytes: body[1].len(),
            files: Cow::Borrowed(listing(site).await?),
            locale: Cow::Borrowed(&self.script.locale),
            timezone: Cow::Borrowed(&self.script.timezone),
        });
        let files = IncludedFiles { site, requests };
        self.script.run(meter, (&request, &body), &files).await
    }
}

/// Whether `text` has a tag: otherwise there is no code to run.
pub(in crate::engines) fn has_tags(language: Language, text: &[u8]) -> bool {
    let is_there = |tag| memmem::find(text, tag).is_some();
    is_there(TAG) || (language.is_latex() && is_there(LATEX_TAG))
}

/// The data if it is an object. Only its first character is checked: it is known to be valid JSON.
pub(in crate::engines) fn object(data: &Bytes) -> Result<Bytes, JobError> {
    if data.trim_ascii_start().starts_with(b"{") {
        return Ok(data.clone());
    }
    let sentence = "the data must be a JSON object, because its keys are the names the template uses";
    Err(JobError::new(ErrorCode::DataInvalid, sentence))
}

/// The path of a file that the child asked for, and a warning if the file is really included.
type RequestedFile = (String, Option<String>);

/// The entry's text, and whether it has tags of `language`; a warning if its encoding is in doubt. LaTeX is read as it is.
pub(in crate::engines) async fn entry_text(
    site: &Site,
    language: Language,
    warnings: &mut Warnings,
) -> Result<(Bytes, bool), JobError> {
    let entry = site.page().cloned().ok_or_else(|| no_entry(site))?;
    let (bytes, reading) = (entry.len(), site.clone());
    let read = move || {
        let text = if language.is_latex() { None } else { reading.text(reading.entry()) };
        let SiteText { content, warning } = text.unwrap_or(SiteText { content: entry, warning: None });
        let has_tags = has_tags(language, &content);
        (content, has_tags, warning)
    };
    let (content, has_tags, warning) = thread::by_size(bytes, read).await?;
    if let Some(warning) = warning {
        warnings.push(&warning.of(site.entry()));
    }
    Ok((content, has_tags))
}

/// The files that a template includes.
struct IncludedFiles<'a> {
    site: &'a Site,
    /// Those that were requested.
    requests: &'a Mutex<Vec<RequestedFile>>,
}

#[async_trait]
impl FileSource for IncludedFiles<'_> {
    async fn file(&self, name: &str) -> Result<SuppliedFile, String> {
        let found = on_site(self.site, name, |site, name| {
            let name = site.find(name)?.0;
            let (file, warning) = supplied_file(site, name)?;
            Some((file, (name.to_owned(), warning)))
        });
        let (file, request) = found.await?;
        self.requests.lock().push(request);
        Ok(file)
    }
}

/// The paths of all files as a JSON array, written on a thread for blocking work where they are many.
pub(in crate::engines) async fn listing(site: &Site) -> Result<&RawValue, JobError> {
    let bytes = site.unlisted_bytes();
    if bytes > 0 {
        let listed = site.clone();
        thread::by_size(bytes, move || _ = listed.listing()).await?;
    }
    Ok(site.listing())
}

/// What `look` finds of the file `name`, on a thread for blocking work where that may take long. A text is decoded as often as it
/// is included.
///
/// # Errors
/// A sentence where there is no such file.
pub(in crate::engines) async fn on_site<T: Send + 'static>(
    site: &Site,
    name: &str,
    look: impl FnOnce(&Site, &str) -> Option<T> + Send + 'static,
) -> Result<T, String> {
    let (bytes, site, sought) = (site.bytes_to_read(name), site.clone(), name.to_owned());
    let found = thread::by_size(bytes, move || look(&site, &sought)).await;
    found.map_err(|error| error.to_string())?.ok_or_else(|| format!("there is no file '{name}'"))
}

/// A file for the child, with its script if one is cached, and a warning about its encoding.
fn supplied_file(site: &Site, name: &str) -> Option<(SuppliedFile, Option<String>)> {
    let text = site.text(name);
    let warning = text.as_ref().and_then(|text| text.warning).map(|warning| warning.of(name));
    let of_script =
        |script: &Script| SuppliedFile { content: script.text.clone(), made: Some(script.source.clone()) };
    // A file that is no text is sent as it is: the engine reports that it cannot be included.
    let of_file = || text.map(|text| text.content).or_else(|| site.get(name).cloned());
    let file = site
        .script(name)
        .map(of_script)
        .or_else(|| of_file().map(|content| SuppliedFile { content, made: None }))?;
    Some((file, warning))
}

fn no_entry(site: &Site) -> JobError {
    JobError::new(ErrorCode::TemplateInvalid, format!("the template has no file '{}'", site.entry()))
}
