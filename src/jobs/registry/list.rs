//! `ListJobs`: an account's jobs, newest first, by their records and, where they are in memory, by their views.
//!
//! Hazard: a filter that matches nothing would read every record of the account. One request reads a bounded number of
//! records, in portions; what matched is the page, and the cursor continues behind the last job that was read.

use actix::prelude::*;

use crate::domain::ids::{AccountId, JobId};
use crate::domain::kinds::{Target, TemplateKind};
use crate::jobs::registry::JobRegistry;
use crate::jobs::store::journal::ListedJob;
use crate::jobs::view::{JobView, WireStatus};
use crate::problem::Problem;
use crate::storage::index::paging::{Page, Search};

/// Which jobs a list shows; `None` matches all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Jobs with this status.
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
    pub fn shows(&self, view: &JobView) -> bool {
        self.status.is_none_or(|status| status == view.status)
            && self.success.is_none_or(|success| view.success() == Some(success))
            && self.target.is_none_or(|target| target == view.target)
            && self.kind.is_none_or(|kind| kind == view.kind)
    }
}

/// Asks for a page of the account's jobs, newest first.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<JobPage, Problem>")]
pub struct ListJobs {
    /// Whose.
    pub account: AccountId,
    /// Which.
    pub filter: JobFilter,
    /// Only jobs made before this one: the last job of the page before.
    pub before: Option<JobId>,
    /// Most jobs of the page; at least one.
    pub limit: usize,
}

/// A page of the list.
pub type JobPage = Page<JobId, JobView>;

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

    /// Replaces what records say by the views of jobs in memory. A record may be visible before it is durable, the view
    /// changes after that: a list must not show a state that a crash can take back.
    fn freshen(&self, records: Vec<ListedJob>) -> Vec<ListedJob> {
        let known = |(id, record)| match self.active.get(&id) {
            Some(active) => (id, Some(active.view.borrow().clone())),
            None => (id, record),
        };
        records.into_iter().map(known).collect()
    }
}
