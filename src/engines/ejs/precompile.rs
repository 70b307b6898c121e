//! Generates the scripts of cached templates in the background, in a child that runs no template code.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::task::JoinError;

use super::assembler::Assembler;
use crate::domain::ids::AccountId;
use crate::domain::scripts::{Made, Script};
use crate::domain::site::Site;
use crate::thread;
use crate::workers::WorkerError;
use crate::workers::assemble::{CompileJob, Compiled, MadeScript, ScriptRequest};

/// One part in so many of the engine's memory is for texts: their scripts, and the JSON of these, are several times as large.
const MEMORY_SHARE: u64 = 16;

/// The child begins no further file after this part of the time, so that one long file still ends within the whole.
const TIME_SHARE: u64 = 2;

impl Assembler {
    /// Generates the scripts of `read`, the files of `site` that a job has read, in the background, if the site is cached and
    /// lacks them. One template at a time: one that is skipped here is tried again by its next job.
    pub(super) fn precompile(&self, account: AccountId, site: &Site, read: &BTreeSet<String>) {
        // A site that only this job holds is not in the cache, so its scripts would be dropped with the job.
        let kept = site.scripts().filter(|scripts| Arc::strong_count(scripts) > 1);
        let Some(scripts) = kept.filter(|scripts| read.iter().any(|path| scripts.lacks(path))) else {
            return;
        };
        let Ok(permit) = Arc::clone(&self.precompiling).try_acquire_owned() else { return };
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
                Err(error) => {
                    tracing::warn!(error = %error, "a template's scripts are not kept");
                    if matches!(error, WorkerError::NotStarted(_)) {
                        scripts.release();
                    }
                }
            }
            drop(permit);
        });
    }

    /// Generates the scripts of `wanted`. Hazard: scripts are reused by later jobs, so a child that a template has taken over could
    /// plant code in them. So a child is used that has not run any template.
    async fn scripts(
        &self,
        account: AccountId,
        site: &Site,
        wanted: &[String],
    ) -> Result<Option<Made>, WorkerError> {
        let (own, kept, names) = (self.clone(), site.clone(), wanted.to_vec());
        let failed = |error: JoinError| WorkerError::Protocol(error.to_string());
        let files = thread::on_blocking_thread(move || own.templates(&kept, names)).await.map_err(failed)?;
        let body: Vec<Bytes> = files.iter().map(|(_, text)| text.clone()).collect();
        let header = ScriptRequest::Compile(CompileJob {
            language: self.language,
            files: files.iter().map(|(path, text)| (Cow::Borrowed(path.as_str()), text.len())).collect(),
            time_ms: self.config.ahead_timeout_ms / TIME_SHARE,
        });
        let limit = Duration::from_millis(self.config.ahead_timeout_ms);
        let done = self
            .script
            .run_in_background::<Compiled>(account, (&header, &body), &|_: &str| None, limit)
            .await?;
        let Some((compiled, answer)) = done else { return Ok(None) };
        if let Err(why) = &compiled {
            // Nothing is tried again for these files.
            tracing::warn!(error = why, "a template's scripts are not kept");
        }
        let (kept, wanted) = (site.clone(), wanted.to_vec());
        let read = move || -> Result<Made, serde_json::Error> {
            let made: Vec<Option<MadeScript>> =
                if compiled.is_ok() { serde_json::from_slice(&answer)? } else { Vec::new() };
            let mut made = made.into_iter();
            let mut script = |path: &str| {
                let read = files.iter().find_map(|(name, read)| (*name == path).then_some(read))?;
                let made = made.next().flatten()?;
                Script::new(kept.get(path)?, read, made.text, made.source)
            };
            Ok(wanted.iter().map(|path| (path.clone(), script(path))).collect())
        };
        let made = thread::on_blocking_thread(read).await.map_err(failed)?;
        made.map(Some).map_err(|error| WorkerError::Protocol(error.to_string()))
    }

    /// As many of the wanted templates as fit into the engine's memory, in their order.
    fn templates(&self, site: &Site, wanted: Vec<String>) -> Vec<(String, Bytes)> {
        let mut free = (self.config.memory_limit_mb << 20) / MEMORY_SHARE;
        let files = wanted.into_iter().filter_map(|path| {
            let content = site.text(&path)?.content;
            Some((path, content))
        });
        let fits = |(_, file): &(String, Bytes)| {
            let left = free.checked_sub(file.len() as u64);
            free = left.unwrap_or(free);
            left.is_some()
        };
        files.filter(fits).collect()
    }
}
