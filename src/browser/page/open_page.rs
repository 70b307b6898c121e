//! A page in its tab: what it is asked, and how long a step of it may take.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::Runtime;
use serde_json::Value;
use tokio::sync::watch;

use super::emulate;
use super::error::{StepError, script_error};
use super::limits::PageLimits;
use super::task::{Delivery, PageTask};
use crate::browser::cdp::commands;
use crate::browser::cdp::error::CallError;
use crate::browser::chromium::network::NetworkProcess;
use crate::browser::proxy::page_session::PageSession;
use crate::browser::tab::lease::Lease;
use crate::browser::tab::own_host;
use crate::browser::tab::page_state::{PageEnd, PageState};
use crate::browser::tab::tab::{LARGE_CALL_BYTES, Tab};
use crate::config::BrowserConfig;
use crate::domain::error::Warnings;
use crate::domain::format_opts::PageOptions;
use crate::domain::lane::Lane;

/// How long a page may be asked for something that only becomes a warning.
pub(in crate::browser) const WARNING_LIMIT: Duration = Duration::from_secs(1);

/// A page in its tab.
#[expect(clippy::struct_excessive_bools, reason = "what is known of a page, each by its name")]
pub(in crate::browser) struct OpenPage {
    pub lease: Lease,
    /// How it is served; `None` where it was written into the tab.
    pub session: Option<Arc<PageSession>>,
    pub state: watch::Receiver<PageState>,
    pub warnings: Warnings,
    /// Warnings of failed requests, copied before we make requests of our own, so that none of ours is among them.
    pub failures: Option<Warnings>,
    pub limits: PageLimits,
    pub lane: Lane,
    pub length_bytes: usize,
    /// Chromium's identifiers of the scripts that we added for its documents.
    pub scripts: Vec<String>,
    /// Nothing of it outlives its elements: the next page may replace them without a reset.
    pub in_place: bool,
    /// Its files may have rules of `@page` that its options do not agree with.
    pub has_page_rules: bool,
    /// It was shown in another medium or viewport than a plain tab has.
    pub is_emulated: bool,
    /// It may have links that are not addresses of other hosts.
    pub may_have_links: bool,
    /// Its print medium was emulated, to measure it.
    pub is_measured: bool,
    /// Width and height of all that can be scrolled to, in CSS pixels, as found by the last scan of the page (`inspect.rs`).
    pub content_px: Option<(f64, f64)>,
    /// The network service when it was served.
    pub network: Option<NetworkProcess>,
}

impl OpenPage {
    /// A page that is to be loaded into the leased tab; `None` when the tab is gone.
    pub(super) fn new(lease: Lease, task: &PageTask, config: &BrowserConfig) -> Option<Self> {
        let (state, lane) = lease.tab().map(|tab| (tab.state(), tab.lane))?;
        Some(Self {
            lease,
            session: None,
            state,
            warnings: Warnings::default(),
            failures: None,
            limits: PageLimits::of(config, task.length_bytes() + task.data.len()),
            lane: task.lane,
            length_bytes: task.length_bytes(),
            scripts: Vec::new(),
            in_place: task.delivery == Delivery::PutInPlace && task.is_put(),
            has_page_rules: task.has_page_rules,
            is_emulated: emulate::differs(task, lane),
            may_have_links: task.may_have_links,
            is_measured: false,
            content_px: None,
            network: None,
        })
    }

    /// The tab; the lease holds it as long as the page lives.
    pub(in crate::browser) fn tab(&self) -> Result<&Tab, StepError> {
        self.lease.tab().ok_or(StepError::Ended(PageEnd::Closed))
    }

    /// Whether its browser's network service died since the page was served.
    pub(super) fn has_lost_network(&self) -> bool {
        self.session.is_some() && self.lease.tab().is_some_and(|tab| tab.network.present() != self.network)
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
            // First the end of the page: it explains the calls that fail by it.
            biased;
            end = ended => Err(StepError::Ended(end)),
            done = tokio::time::timeout(limit, step) => done.unwrap_or(Err(StepError::Late)),
        }
    }

    /// Waits until the page has loaded more than `seen` documents.
    pub(super) async fn loads_beyond(&self, seen: u32) {
        let mut state = self.state.clone();
        // An error means that no event follows: `within` ends the step.
        let _ = state.wait_for(|state| state.loads > seen).await;
    }

    /// Runs a script of ours and returns its text; `None` where the document was replaced meanwhile. What it throws is an
    /// error of `formatOpts`, of which the script is made.
    pub(in crate::browser) async fn ask(
        &self,
        expression: String,
        limit: Duration,
    ) -> Result<Option<String>, StepError> {
        self.ask_for("formatOpts", expression, limit).await
    }

    /// The same with an option's value in the script: an error names the option.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub(in crate::browser) async fn ask_for(
        &self,
        option: &str,
        expression: String,
        limit: Duration,
    ) -> Result<Option<String>, StepError> {
        let answer = self.run(expression, limit).await?;
        answer.map(|answer| answer.map_err(|thrown| script_error(option, thrown))).transpose()
    }

    /// The same for what only becomes a warning: within [`WARNING_LIMIT`]; a script that throws or is late answers `None`.
    ///
    /// # Errors
    /// That the page ended, or Chromium refused.
    pub(in crate::browser) async fn ask_for_warning(
        &self,
        expression: String,
    ) -> Result<Option<String>, StepError> {
        match self.within(WARNING_LIMIT, self.ask(expression, WARNING_LIMIT)).await {
            Err(StepError::Job(_) | StepError::Late) => Ok(None),
            answer => answer,
        }
    }

    /// Runs a script of ours in the page and returns its text, or what it throws; `None` where the document was replaced
    /// meanwhile.
    pub(in crate::browser) async fn run(
        &self,
        expression: String,
        limit: Duration,
    ) -> Result<Option<Result<String, Runtime::ExceptionDetails>>, StepError> {
        if self.lane == Lane::Static {
            // Where no script of the page runs, its own world is as safe, and saves a call of 2 ms.
            return self.run_in(commands::evaluate(expression), limit).await;
        }
        // A long expression would have to be copied, in case that the document was replaced.
        if expression.len() <= LARGE_CALL_BYTES
            && let Some(world) = self.known_world()
        {
            let call = commands::evaluate(expression.clone());
            let call = Runtime::Evaluate { unique_context_id: Some(world), ..call };
            let answer = self.run_in(call, limit).await?;
            if answer.is_some() {
                return Ok(answer);
            }
        }
        let documents = self.state.borrow().documents;
        let Some(number) = self.make_world(limit).await? else { return Ok(None) };
        if let Some(world) = self.known_world() {
            let call = commands::evaluate(expression);
            return self.run_in(Runtime::Evaluate { unique_context_id: Some(world), ..call }, limit).await;
        }
        if !self.has_lost_contexts()? {
            return Ok(None);
        }
        // Hazard: another process may give that number to a context of a page's. But a new document is reported before anything
        // in it answers.
        let call = Runtime::Evaluate { context_id: Some(number), ..commands::evaluate(expression) };
        let answer = self.run_in(call, limit).await?;
        Ok(answer.filter(|_| self.state.borrow().documents == documents))
    }

    /// Makes the script context of our own questions in the present document, unless it is there. The answer comes behind
    /// everything that the page has reported; `None` where the page's document went away meanwhile.
    pub(super) async fn make_world(
        &self,
        limit: Duration,
    ) -> Result<Option<Runtime::ExecutionContextId>, StepError> {
        let tab = self.tab()?;
        match tab.call_within(commands::isolated_world(&tab.frame), limit).await {
            Ok(made) => Ok(Some(made.execution_context_id)),
            Err(CallError::Refused { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the events of script contexts are off, so that our own one has no name.
    pub(super) fn has_lost_contexts(&self) -> Result<bool, StepError> {
        Ok(self.tab()?.events.has_lost_console())
    }

    fn known_world(&self) -> Option<String> {
        self.state.borrow().world.clone()
    }

    async fn run_in(
        &self,
        call: Runtime::Evaluate,
        limit: Duration,
    ) -> Result<Option<Result<String, Runtime::ExceptionDetails>>, StepError> {
        let tab = self.tab()?;
        let bytes = call.expression.len();
        let sent = tab.send_sized(call, bytes).await?;
        match sent.answer(limit).await {
            Ok(Runtime::EvaluateReturnObject { exception_details: Some(thrown), .. }) => {
                Ok(Some(Err(thrown)))
            }
            Ok(answer) => {
                let Some(Value::String(text)) = answer.result.value else {
                    return Ok(Some(Ok(String::new())));
                };
                Ok(Some(Ok(text)))
            }
            // The context was destroyed: the page shows another document.
            Err(CallError::Refused { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a reset can undo all that a page with script did: it had one document and no workers, and none of its events
    /// are switched off.
    pub(super) fn can_be_reset(&self, options: &PageOptions) -> bool {
        let Some(tab) = self.lease.tab() else { return false };
        let state = self.state.borrow();
        // The headers that requests are to carry are set for the life of a tab.
        let is_plain = options.javascript && options.requests.is_empty();
        is_plain
            && state.documents == 1
            && !state.idle.is_flooded()
            && tab.events.may_make_entries()
            && !tab.events.has_lost_console()
            && !tab.events.monitor.has_had_workers()
    }

    /// Everything that its author is warned of, until now, without the name of its own host.
    pub(in crate::browser) fn all_warnings(&self) -> Warnings {
        let (mut warnings, failures) = {
            let state = self.state.borrow();
            let failures = || state.failures.warnings(self.session.as_deref());
            (state.warnings.clone(), self.failures.clone().unwrap_or_else(failures))
        };
        if let Some(session) = &self.session {
            warnings.extend(&session.warnings());
        }
        warnings.extend(&failures);
        warnings.extend(&self.warnings);
        warnings.map(own_host::without_own_host)
    }
}
