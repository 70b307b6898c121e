//! The scripts of templates that are kept: generated beside the jobs, where no template's code runs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::ejs::Assembler;
use crate::domain::ids::AccountId;
use crate::domain::scripts::{Script, Scripts};
use crate::domain::site::Site;
use crate::workers::assemble::{CompileJob, Compiled, MadeScript, Order};
use crate::workers::{Job, WorkerFault};

/// So much of the engine's memory may be texts: their scripts, and the JSON of these, are several times as large.
const MEMORY_SHARE: u64 = 16;

/// So much of a job's time is for generating; what one file takes on top of it is cut off with the job.
const TIME_SHARE: u64 = 2;

impl Assembler {
    /// Has the scripts of `site` generated in the background, if it is kept and nobody has done it yet.
    pub(super) fn compile_ahead(&self, account: AccountId, site: &Site) {
        // One that nobody else holds is gone with its job: the cache has no room for it.
        let kept = site.scripts().filter(|scripts| Arc::strong_count(scripts) > 1);
        let Some(scripts) = kept.filter(|scripts| scripts.begin()).cloned() else { return };
        let (assembler, site) = (self.clone(), site.clone());
        tokio::spawn(async move {
            match assembler.scripts(account, &site, &scripts).await {
                Ok(made) => {
                    assembler.metrics.scripts.of(["ahead"]).inc_by(made.len() as u64);
                    scripts.keep(made);
                }
                Err(fault) => {
                    tracing::warn!(error = %fault, "a template's scripts are not kept");
                    if matches!(fault, WorkerFault::NotStarted(_)) {
                        scripts.release();
                    }
                }
            }
        });
    }

    /// Generates them in a child that has had no job: what a template's code may have made of a child must not
    /// reach the jobs of others.
    async fn scripts(
        &self,
        account: AccountId,
        site: &Site,
        scripts: &Scripts,
    ) -> Result<BTreeMap<String, Script>, WorkerFault> {
        let files = self.templates(site, scripts);
        let body: Vec<Bytes> = files.iter().map(|(_, text)| (*text).clone()).collect();
        let header = Order::Compile(CompileJob {
            files: files.iter().map(|(path, text)| (Cow::Borrowed(*path), text.len())).collect(),
            time_ms: self.config.timeout_ms / TIME_SHARE,
        });
        let job = Job { header: &header, body: &body, files: &|_| None };
        let (compiled, answer) = self.pool.run_fresh(account, job).await?;
        if let Compiled::Nothing(why) = compiled {
            tracing::warn!(error = why, "a template's scripts are not kept");
            return Ok(BTreeMap::new());
        }
        let made: Vec<Option<MadeScript>> =
            serde_json::from_slice(&answer).map_err(|error| WorkerFault::Astray(error.to_string()))?;
        Ok(files.iter().zip(made).filter_map(|((path, file), made)| kept(path, file, made?)).collect())
    }

    /// As many of the site's templates as the engine has room for.
    fn templates<'a>(&self, site: &'a Site, scripts: &'a Scripts) -> Vec<(&'a str, &'a Bytes)> {
        let mut room = (self.config.memory_limit_mb << 20) / MEMORY_SHARE;
        let files = scripts.paths().iter().filter_map(|path| Some((path.as_str(), site.get(path)?)));
        let fits = |(_, file): &(&str, &Bytes)| {
            let left = room.checked_sub(file.len() as u64);
            room = left.unwrap_or(room);
            left.is_some()
        };
        files.filter(fits).collect()
    }
}

fn kept(path: &str, file: &Bytes, made: MadeScript) -> Option<(String, Script)> {
    Script::new(file, made.text, made.source).map(|script| (path.to_owned(), script))
}
