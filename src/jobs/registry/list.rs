//! Lists of an account's jobs, newest first: from the journal, with what memory knows better.
//!
//! One request reads a bounded number of records, in portions; what it found by then is a page, and the
//! cursor goes on behind the last job it looked at.

use actix::prelude::*;

use crate::domain::ids::{AccountId, JobId};
use crate::domain::kinds::{Target, TemplateKind};
use crate::domain::search::{Page, Search};
use crate::jobs::registry::JobRegistry;
use crate::jobs::view::{JobView, WireStatus};
use crate::problem::Problem;

/// Which jobs a list shows; what is not given does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Jobs that stand there.
    pub status: Option<WireStatus>,
    /// Jobs that ended with a document, or without.
    pub success: Option<bool>,
    /// Jobs that make this.
    pub target: Option<Target>,
    /// Jobs with a template of this kind.
    pub kind: Option<TemplateKind>,
}

impl JobFilter {
    /// Whether the list shows the job.
    #[must_use]
    pub fn shows(&self, view: &JobView) -> bool {
        self.status.is_none_or(|status| status == view.status)
            && self.success.is_none_or(|success| view.success() == Some(success))
            && self.target.is_none_or(|target| target == view.target)
            && self.kind.is_none_or(|kind| kind == view.kind)
    }
}

/// Asks for the newest jobs of an account.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<JobPage, Problem>")]
pub struct ListJobs {
    /// Whose.
    pub account: AccountId,
    /// Which.
    pub filter: JobFilter,
    /// Only those made before this one: where the last page ended.
    pub before: Option<JobId>,
    /// Most jobs of the page; at least one.
    pub limit: usize,
}

/// A page of the list.
pub type JobPage = Page<JobId, JobView>;

/// A job as its record says; nothing when the record cannot be read.
pub(in crate::jobs) type Listed = (JobId, Option<JobView>);

impl Handler<ListJobs> for JobRegistry {
    type Result = ResponseActFuture<Self, Result<JobPage, Problem>>;

    fn handle(&mut self, message: ListJobs, _: &mut Self::Context) -> Self::Result {
        let filtered = message.filter != JobFilter::default();
        let scan_limit = self.context.limits.list_scan_limit;
        self.search(message, Search::new(message.before, message.limit, filtered, scan_limit))
    }
}

impl JobRegistry {
    fn search(
        &self,
        asked: ListJobs,
        mut search: Search<JobId, JobView>,
    ) -> ResponseActFuture<Self, Result<JobPage, Problem>> {
        let (journal, before, wanted) = (self.context.journal.clone(), search.before(), search.portion());
        let read = async move { journal.views(asked.account, before, wanted).await };
        Box::pin(read.into_actor(self).then(move |records, registry, _| {
            let page = records.map(|records| {
                search.take(registry.freshen(records), wanted, |view| asked.filter.shows(view))
            });
            match page.map_err(Problem::from).transpose() {
                Some(page) => Box::pin(fut::ready(page)),
                None => registry.search(asked, search),
            }
        }))
    }

    /// What memory knows of a job is what its callers were told; its record may be ahead, not yet durable.
    /// The record of a job that is not in memory was the truth when it was read.
    fn freshen(&self, records: Vec<Listed>) -> Vec<Listed> {
        let known = |(id, record)| match self.active.get(&id) {
            Some(active) => (id, Some(active.view.borrow().clone())),
            None => (id, record),
        };
        records.into_iter().map(known).collect()
    }
}
