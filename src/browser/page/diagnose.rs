//! Diagnosis of a page that failed or never became idle: which deadline, its configuration key, what was pending.

use std::fmt::Write;
use std::time::Duration;

use super::error::{PageError, Retry, StepError, ended};
use super::load;
use super::open::{OpenPage, PageStep};
use super::scripts;
use crate::browser::tab::events::{PageEnd, PageState};
use crate::browser::tab::failed_requests;
use crate::domain::fault::{FaultCode, JobFault, Warnings};
use crate::domain::format_opts::PageOptions;

/// What is said beside what was pending.
const REMEDY: &str = "; where the document waits for that, say by waitForExpression when it is complete";
/// How long a page may take to say what it waits for: one that is busy does not.
const PENDING_LIMIT: Duration = Duration::from_millis(300);
/// That a renderer died is told within 15 ms, and by what it died soon after (tried); a loaded machine takes longer.
const END_LIMIT: Duration = Duration::from_secs(1);
/// How long a browser may take to say that it is there, which takes it a millisecond, before what is late
/// is laid to its charge and not the page's.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);
/// A page may go to another document a few times (a language, a sign-in): more is a loop.
const DOCUMENT_LIMIT: u32 = 10;

impl OpenPage {
    /// A page that answers nothing any more is not at rest, it is stuck.
    pub(in crate::browser) async fn stuck(&mut self) -> StepError {
        if self.is_browser_stalled().await {
            return StepError::Ended(PageEnd::BrowserLost);
        }
        let (cap_ms, call_ms) = (self.limits.rest_cap.as_millis(), self.limits.call.as_millis());
        StepError::fault(
            FaultCode::ReadinessTimeout,
            format!(
                "the page did not come to rest within {cap_ms} ms (browser.rest_cap_ms), and a script \
                 keeps it so busy that it answered nothing for {call_ms} ms (browser.call_timeout_ms)"
            ),
        )
    }

    /// A page that moves is printed as it is; of one that goes from document to document there is
    /// nothing to print.
    pub(in crate::browser) fn accept_busy(
        &mut self,
        computing: usize,
        options: &PageOptions,
    ) -> Result<(), StepError> {
        let cap_ms = self.limits.rest_cap.as_millis();
        let documents = self.state.borrow().documents;
        if documents > DOCUMENT_LIMIT {
            return Err(StepError::fault(
                FaultCode::ReadinessTimeout,
                format!(
                    "the page keeps navigating: {documents} documents within {cap_ms} ms \
                     (browser.rest_cap_ms)"
                ),
            ));
        }
        let mut pending = self.state.borrow().idle.pending();
        if computing > 0 {
            let separator = if pending.is_empty() { "" } else { ", " };
            let _ = write!(pending, "{separator}a worker that computes ({computing} of them)");
        }
        let pending = self.visit.as_ref().map_or(pending.clone(), |visit| visit.without_host(&pending));
        let mut text =
            format!("the page never came to rest; printed after {cap_ms} ms (browser.rest_cap_ms)");
        if !pending.is_empty() {
            let _ = write!(text, "; pending: {pending}");
        }
        if options.wait_for_expression.is_none() {
            text.push_str(REMEDY);
        }
        self.warnings.push(&text);
        Ok(())
    }

    /// Nobody is printed while something of theirs is pending without being told; who said by an expression when the
    /// page is ready knows better.
    pub(in crate::browser) fn warn_of_pending(&mut self, options: &PageOptions) {
        let pending = self.state.borrow().idle.left_over();
        if pending.is_empty() || options.wait_for_expression.is_some() {
            return;
        }
        self.warnings
            .push(&format!("the page was printed while it had something pending: {pending}{REMEDY}"));
    }

    /// So many looks were all that it gets, and the last one had something load that nobody waits for.
    pub(in crate::browser) fn warn_of_lazy_loads(&mut self, looks: usize) {
        self.warnings.push(&format!(
            "the page was printed while pictures or frames of it were loading: each of {looks} looks found more that \
             waits until somebody scrolls to it (loading=lazy); have less of it in frames within frames"
        ));
    }

    pub(in crate::browser) fn check_reached(&self) -> Result<(), StepError> {
        self.check_status()?;
        let unreachable = self.state.borrow().unreachable.clone();
        let Some(address) = unreachable else { return Ok(()) };
        let shown = self.visit.as_ref().map_or(address.clone(), |visit| visit.shown(&address));
        Err(StepError::fault(
            FaultCode::PageFailed,
            format!("the page went to {shown}, which it cannot reach (a page reaches its own files only)"),
        ))
    }

    /// What a host shows instead of a page that it does not have, or cannot make, is no document of anybody's.
    fn check_status(&self) -> Result<(), StepError> {
        let state = self.state.borrow();
        let answered = state.document.as_deref().and_then(|document| state.failures.status_of(document));
        let Some((status, address)) = answered else { return Ok(()) };
        let shown = failed_requests::shown(address);
        Err(StepError::fault(
            FaultCode::PageFailed,
            format!("the page went to {shown}, which was answered with {status}: there is nothing to print"),
        ))
    }

    pub(in crate::browser) fn never_matches(selector: Option<&str>) -> StepError {
        StepError::fault(
            FaultCode::ReadinessTimeout,
            format!(
                "nothing matches the selector '{}' (waitForSelector), and a page without script does not change",
                selector.unwrap_or_default()
            ),
        )
    }

    /// Everything the author wants to know, until now.
    pub(in crate::browser) fn all_warnings(&self) -> Warnings {
        let (mut warnings, failures) = {
            let state = self.state.borrow();
            let failures = || state.failures.warnings(self.visit.as_deref());
            (state.warnings.clone(), self.failures.clone().unwrap_or_else(failures))
        };
        if let Some(visit) = &self.visit {
            warnings.extend(&visit.warnings());
        }
        warnings.extend(&failures);
        warnings.extend(&self.warnings);
        warnings
    }

    /// Says what happened; the tab goes back with the page.
    pub(in crate::browser) async fn fail(
        mut self,
        step: PageStep,
        trouble: StepError,
        options: &PageOptions,
    ) -> PageError {
        let known = self.known_end(&trouble).await;
        let (fault, retry) = match (known, trouble) {
            (Some(end), _) | (None, StepError::Ended(end)) => (ended(end, &self.limits), self.retry(end)),
            (None, StepError::Late) if self.is_browser_stalled().await => {
                (ended(PageEnd::BrowserLost, &self.limits), self.retry(PageEnd::BrowserLost))
            }
            (None, StepError::Late) => (self.late(step, options).await, Retry::No),
            (None, StepError::Refused(error)) => {
                let fault = JobFault::new(FaultCode::PageFailed, format!("the page failed: {error}"));
                (fault, Retry::No)
            }
            (None, StepError::Fault(fault)) => (fault, Retry::No),
        };
        PageError { fault, retry, warnings: self.all_warnings() }
    }

    /// Where the same page may succeed: in a used tab the pages before it may have taken too much, and in a browser
    /// that died somebody else's page may have been the one that killed it, unless it was alone.
    fn retry(&self, end: PageEnd) -> Retry {
        match end {
            PageEnd::BrowserLost | PageEnd::BrowserFilled if !self.lease.is_alone() => Retry::Alone,
            PageEnd::Killed | PageEnd::BrowserReplaced => Retry::OtherTab,
            PageEnd::Crashed | PageEnd::TookMemory if self.lease.was_used() => Retry::OtherTab,
            PageEnd::BrowserLost
            | PageEnd::BrowserFilled
            | PageEnd::Crashed
            | PageEnd::TookMemory
            | PageEnd::ToldTooMuch
            | PageEnd::Exceeded(_)
            | PageEnd::Closed => Retry::No,
        }
    }

    /// How the page ended, if it did. Its calls may be refused, or end with the connection, before that is heard of;
    /// by what a renderer died is said a moment after it did.
    async fn known_end(&self, trouble: &StepError) -> Option<PageEnd> {
        let mut state = self.state.clone();
        let may_have_ended = matches!(trouble, StepError::Refused(_) | StepError::Ended(_));
        let is_known = |state: &PageState| match state.end {
            None => !may_have_ended,
            Some(PageEnd::Crashed) => state.crash_is_known,
            Some(_) => true,
        };
        let _ = tokio::time::timeout(END_LIMIT, state.wait_for(is_known)).await;
        state.borrow().end
    }

    /// A browser that is stopped or stuck ends no connection, and its pages' deadlines come before the
    /// next ping: it is asked here, and the pool is told.
    async fn is_browser_stalled(&mut self) -> bool {
        let Some(tab) = self.lease.tab() else { return false };
        let stalled = !tab.browser_answers(ANSWER_LIMIT).await;
        if stalled {
            self.lease.report_stalled();
        }
        stalled
    }

    async fn late(&self, step: PageStep, options: &PageOptions) -> JobFault {
        let limits = &self.limits;
        let (code, what, key, limit) = match step {
            PageStep::Load => {
                (FaultCode::LoadTimeout, "the page's load event did not come", "load", limits.load)
            }
            PageStep::Readiness => {
                (FaultCode::ReadinessTimeout, "the page was not ready", "readiness", limits.readiness)
            }
            PageStep::Print => (FaultCode::PrintTimeout, "the file was not made", "print", limits.print),
        };
        let pending = self.pending(options).await;
        let limit_ms = limit.as_millis();
        JobFault::new(
            code,
            format!("{what} within {limit_ms} ms (browser.{key}_timeout_ms); pending: {pending}"),
        )
    }

    /// What the page waits for, asked of the page; one that does not answer is busy.
    async fn pending(&self, options: &PageOptions) -> String {
        let expression = scripts::pending(options.wait_for_selector.as_deref());
        let asking = async { load::ask(self.tab()?, self.lane, expression, PENDING_LIMIT).await };
        let mut pending = match tokio::time::timeout(PENDING_LIMIT, asking).await {
            Ok(Ok(Some(text))) if !text.is_empty() => text,
            Ok(Ok(Some(_))) if options.wait_for_expression.is_some() => "waitForExpression".to_owned(),
            Ok(Ok(Some(_))) => "nothing that the page would name".to_owned(),
            Ok(Ok(None)) => "a navigation".to_owned(),
            Ok(Err(_)) | Err(_) => "a script or the layout keeps the page busy".to_owned(),
        };
        let (dialogs, documents) = {
            let state = self.state.borrow();
            (state.dialogs, state.documents)
        };
        if dialogs > 0 {
            let _ = write!(pending, "; {dialogs} dialog(s) were dismissed");
        }
        if documents > 1 {
            let _ = write!(pending, "; the page navigated {} time(s)", documents - 1);
        }
        pending
    }
}
