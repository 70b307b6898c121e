//! Lists of an account's jobs, newest first: from the journal, with what memory knows better.
//!
//! One request reads a bounded number of records, in portions; what it found by then is a page, and the
//! cursor goes on behind the last job it looked at.

use actix::prelude::*;

use super::registry::JobRegistry;
use super::view::{JobView, WireStatus};
use crate::domain::ids::{AccountId, JobId};
use crate::domain::kinds::{Target, TemplateKind};
use crate::problem::Problem;

/// Records read at a time while a filter is looking for its jobs.
const PORTION: usize = 128;

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

/// A part of a list.
#[derive(Debug)]
pub struct JobPage {
    /// The jobs, newest first.
    pub jobs: Vec<JobView>,
    /// Where the next page begins; none when there are no more.
    pub next: Option<JobId>,
}

/// A job as its record says; nothing when the record cannot be read.
pub(super) type Listed = (JobId, Option<JobView>);

/// A list under way.
struct Search {
    asked: ListJobs,
    found: Vec<JobView>,
    /// Records that may still be read.
    left: usize,
}

impl Search {
    /// Records to read next: an unfiltered page needs one more than it shows, to know whether it is the last.
    fn portion(&self) -> usize {
        let filtered = self.asked.filter != JobFilter::default();
        let wanted = if filtered { PORTION } else { self.asked.limit - self.found.len() + 1 };
        wanted.min(self.left)
    }

    /// Takes over what a portion of `wanted` records held; answers the page once it is complete.
    fn take(&mut self, portion: Vec<Listed>, wanted: usize) -> Option<JobPage> {
        let count = portion.len();
        for (at, (id, view)) in portion.into_iter().enumerate() {
            self.asked.before = Some(id);
            self.left -= 1;
            self.found.extend(view.filter(|view| self.asked.filter.shows(view)));
            let more = at + 1 < count || count == wanted;
            if self.found.len() == self.asked.limit {
                return Some(self.page(more));
            }
        }
        (count < wanted || self.left == 0).then(|| self.page(count == wanted))
    }

    fn page(&mut self, more: bool) -> JobPage {
        JobPage { jobs: std::mem::take(&mut self.found), next: self.asked.before.filter(|_| more) }
    }
}

impl Handler<ListJobs> for JobRegistry {
    type Result = ResponseActFuture<Self, Result<JobPage, Problem>>;

    fn handle(&mut self, message: ListJobs, _: &mut Self::Context) -> Self::Result {
        let left = usize::try_from(self.deps.limits.list_scan_limit).unwrap_or(usize::MAX);
        self.search(Search { asked: message, found: Vec::new(), left })
    }
}

impl JobRegistry {
    fn search(&self, mut search: Search) -> ResponseActFuture<Self, Result<JobPage, Problem>> {
        let (journal, asked, wanted) = (self.deps.journal.clone(), search.asked, search.portion());
        let read = async move { journal.newest(asked.account, asked.before, wanted).await };
        Box::pin(read.into_actor(self).then(move |records, registry, _| {
            let page = records.map(|records| search.take(registry.freshen(records), wanted));
            match page.map_err(Problem::internal).transpose() {
                Some(page) => Box::pin(fut::ready(page)),
                None => registry.search(search),
            }
        }))
    }

    /// What memory knows of a job is what its callers were told; its record may be ahead, not yet durable.
    /// The record of a job that is not in memory was the truth when it was read.
    fn freshen(&self, records: Vec<Listed>) -> Vec<Listed> {
        let known = |(id, record)| match self.live.get(&id) {
            Some(live) => (id, Some(live.view.borrow().clone())),
            None => (id, record),
        };
        records.into_iter().map(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::jobs::messages::JobSpec;
    use crate::jobs::record::JobRecord;

    fn views(count: usize) -> Vec<JobView> {
        let spec =
            JobSpec { kind: TemplateKind::Html, target: Target::Pdf, template: None, format_opts: None };
        let account = AccountId::generate();
        let view = |_| JobRecord::new(account, spec.clone(), Timestamp(1)).view();
        let mut views: Vec<_> = (0..count).map(view).collect();
        views.reverse();
        views
    }

    fn listed(job: &JobView) -> Listed {
        (job.id, Some(job.clone()))
    }

    /// The pages of a list over `jobs`, as their lengths, and how many records each has read.
    fn pages(jobs: &[JobView], filter: JobFilter, limit: usize, left: usize) -> Vec<(usize, usize)> {
        let mut pages = Vec::new();
        let mut before = None;
        loop {
            let asked = ListJobs { account: jobs[0].account, filter, before, limit };
            let mut search = Search { asked, found: Vec::new(), left };
            let page = loop {
                let (wanted, before) = (search.portion(), search.asked.before);
                assert!(wanted > 0, "a portion of nothing would go on for ever");
                let older = jobs.iter().filter(|job| before.is_none_or(|before| job.id < before));
                if let Some(page) = search.take(older.take(wanted).map(listed).collect(), wanted) {
                    break page;
                }
            };
            pages.push((page.jobs.len(), left - search.left));
            before = page.next;
            if before.is_none() {
                return pages;
            }
        }
    }

    #[test]
    fn pages_are_full_and_the_last_one_is_known() {
        let jobs = views(40);
        let all = JobFilter::default();
        assert_eq!(pages(&jobs, all, 100, 1_000), [(40, 40)]);
        assert_eq!(pages(&jobs, all, 40, 1_000), [(40, 40)]);
        assert_eq!(pages(&jobs, all, 20, 1_000), [(20, 20), (20, 20)]);
        assert_eq!(pages(&jobs, all, 39, 1_000), [(39, 39), (1, 1)]);
        assert_eq!(pages(&jobs, all, 30, 30), [(30, 30), (10, 10)], "the bound is as large as the page");
    }

    #[test]
    fn a_record_that_cannot_be_read_ends_no_list() {
        let jobs = views(3);
        let asked =
            ListJobs { account: jobs[0].account, filter: JobFilter::default(), before: None, limit: 3 };
        let mut search = Search { asked, found: Vec::new(), left: 100 };
        let portion = vec![listed(&jobs[0]), (jobs[1].id, None), listed(&jobs[2])];
        let page = search.take(portion, 4).unwrap();
        assert_eq!((page.jobs.len(), page.next), (2, None));
    }

    #[test]
    fn a_filter_reads_no_more_than_the_bound_and_finds_everything() {
        let mut jobs = views(1_000);
        for at in [0, 500, 501, 999] {
            jobs[at].target = Target::Png;
        }
        let filter = JobFilter { target: Some(Target::Png), ..JobFilter::default() };
        assert_eq!(pages(&jobs, filter, 20, 300), [(1, 300), (2, 300), (0, 300), (1, 100)]);
        assert_eq!(pages(&jobs, filter, 2, 1_000), [(2, 501), (2, 499)]);
        assert_eq!(pages(&jobs, filter, 20, 1_000), [(4, 1_000), (0, 0)]);
        let none = JobFilter { status: Some(WireStatus::Done), ..JobFilter::default() };
        assert_eq!(pages(&jobs, none, 20, 400), [(0, 400), (0, 400), (0, 200)]);
    }
}
