//! The scripts of templates that are kept: generated beside the jobs, where no template's code runs.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::assembler::Assembler;
use crate::domain::ids::AccountId;
use crate::domain::scripts::{Made, Script};
use crate::domain::site::Site;
use crate::workers::WorkerFault;
use crate::workers::assemble::{CompileJob, Compiled, MadeScript, Order};

/// So much of the engine's memory may be texts: their scripts, and the JSON of these, are several times as large.
const MEMORY_SHARE: u64 = 16;

/// So much of the time is for generating; what one file takes on top of it is cut off with the rest.
const TIME_SHARE: u64 = 2;

impl Assembler {
    /// Has the scripts of `read`, what a job read of `site`, generated in the background, if the site is kept and
    /// nobody has done it yet. One at a time: the next job of the template sees to what is left out here.
    pub(super) fn compile_ahead(&self, account: AccountId, site: &Site, read: &BTreeSet<String>) {
        // One that nobody else holds is gone with its job: the cache has no room for it.
        let kept = site.scripts().filter(|scripts| Arc::strong_count(scripts) > 1);
        let Some(scripts) = kept.filter(|scripts| read.iter().any(|path| scripts.lacks(path))) else {
            return;
        };
        let Ok(turn) = Arc::clone(&self.ahead).try_acquire_owned() else { return };
        if !scripts.begin() {
            return;
        }
        let wanted: Vec<String> = read.iter().filter(|path| scripts.lacks(path)).cloned().collect();
        let (assembler, site, scripts) = (self.clone(), site.clone(), Arc::clone(scripts));
        tokio::spawn(async move {
            match assembler.scripts(account, &site, &wanted).await {
                Ok(Some(made)) => {
                    let count = made.iter().filter(|(_, script)| script.is_some()).count();
                    assembler.metrics.scripts.of(["ahead"]).inc_by(count as u64);
                    scripts.keep(made);
                }
                // No slot was free.
                Ok(None) => scripts.release(),
                Err(fault) => {
                    tracing::warn!(error = %fault, "a template's scripts are not kept");
                    if matches!(fault, WorkerFault::NotStarted(_)) {
                        scripts.release();
                    }
                }
            }
            drop(turn);
        });
    }

    /// Generates them in a child that has had no job: what a template's code may have made of a child must not
    /// reach the jobs of others.
    async fn scripts(
        &self,
        account: AccountId,
        site: &Site,
        wanted: &[String],
    ) -> Result<Option<Made>, WorkerFault> {
        let files = self.templates(site, wanted);
        let body: Vec<Bytes> = files.iter().map(|(_, text)| text.clone()).collect();
        let header = Order::Compile(CompileJob {
            language: self.language,
            files: files.iter().map(|(path, text)| (Cow::Borrowed(*path), text.len())).collect(),
            time_ms: self.config.ahead_timeout_ms / TIME_SHARE,
        });
        let limit = Duration::from_millis(self.config.ahead_timeout_ms);
        let done =
            self.script.run_aside::<Compiled>(account, (&header, &body), &|_: &str| None, limit).await?;
        let Some((compiled, answer)) = done else { return Ok(None) };
        let made: Vec<Option<MadeScript>> = match compiled {
            Ok(()) => {
                serde_json::from_slice(&answer).map_err(|error| WorkerFault::Astray(error.to_string()))?
            }
            Err(why) => {
                tracing::warn!(error = why, "a template's scripts are not kept");
                Vec::new()
            }
        };
        let mut made = made.into_iter();
        let mut script = |path: &str| {
            let read = files.iter().find_map(|(name, read)| (*name == path).then_some(read))?;
            let made = made.next().flatten()?;
            Script::new(site.get(path)?, read, made.text, made.source)
        };
        Ok(Some(wanted.iter().map(|path| (path.clone(), script(path))).collect()))
    }

    /// As many of the wanted templates as the engine has room for, in their order.
    fn templates<'a>(&self, site: &Site, wanted: &'a [String]) -> Vec<(&'a str, Bytes)> {
        let mut room = (self.config.memory_limit_mb << 20) / MEMORY_SHARE;
        let files = wanted.iter().filter_map(|path| Some((path.as_str(), site.text(path)?.content)));
        let fits = |(_, file): &(&str, Bytes)| {
            let left = room.checked_sub(file.len() as u64);
            room = left.unwrap_or(room);
            left.is_some()
        };
        files.filter(fits).collect()
    }
}
