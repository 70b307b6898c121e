//! What jobs cost: how long they held a tab, a turn, a template process or an engine's slot, and what the next one of
//! its sort may be expected to.

use std::collections::HashMap;
use std::time::Duration;

use crate::domain::kinds::{Target, TemplateKind};

/// No job costs less. One that holds nothing, a page that is its own document, would otherwise leave its account the
/// first in line for ever, and a thousand of them everybody else the last.
pub const LEAST_COST: Duration = Duration::from_millis(5);

/// What a job is expected to cost as long as none of its sort has ended: between a page and a run of LaTeX.
const FIRST_COST: Duration = Duration::from_millis(250);

/// The last job counts for one part in so many of its sort's average.
const MEMORY: u32 = 16;

/// What is to become what: jobs of one sort cost about the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobSort {
    /// The template's kind.
    pub kind: TemplateKind,
    /// What it becomes.
    pub target: Target,
}

/// What jobs of each sort cost on average, the latest counting most.
#[derive(Debug, Default)]
pub struct CostEstimates {
    averages: HashMap<JobSort, Duration>,
}

impl CostEstimates {
    /// What a job of this sort may cost.
    #[must_use]
    pub fn of(&self, sort: JobSort) -> Duration {
        self.averages.get(&sort).copied().unwrap_or(FIRST_COST)
    }

    /// A job of this sort has cost so much.
    pub fn learn(&mut self, sort: JobSort, cost: Duration) {
        let average = self.averages.entry(sort).or_insert(cost);
        *average = average.saturating_mul(MEMORY - 1).saturating_add(cost) / MEMORY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_follows_what_jobs_of_its_sort_cost() {
        let of = |target| JobSort { kind: TemplateKind::Html, target };
        let (mut estimates, ms) = (CostEstimates::default(), Duration::from_millis);
        assert_eq!(estimates.of(of(Target::Pdf)), FIRST_COST);
        estimates.learn(of(Target::Pdf), ms(20));
        assert_eq!([Target::Pdf, Target::Png].map(|it| estimates.of(of(it))), [ms(20), FIRST_COST]);
        estimates.learn(of(Target::Pdf), ms(20 + 160));
        assert_eq!(estimates.of(of(Target::Pdf)), ms(30));
        (0..200).for_each(|_| estimates.learn(of(Target::Pdf), ms(100)));
        assert!(estimates.of(of(Target::Pdf)) > ms(99));
    }
}
