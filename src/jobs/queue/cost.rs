//! What jobs cost: how long they held their turn without waiting for others, and what the next one of its kind may be
//! expected to.

use std::collections::HashMap;
use std::time::Duration;

use crate::domain::kinds::{Target, TemplateKind};

/// No job costs less. One that is measured as next to nothing would otherwise leave its account the first in line for
/// ever, and a thousand of them everybody else the last.
pub const LEAST_COST: Duration = Duration::from_millis(5);

/// The most that an account which comes back may have been charged beyond the others. Each of them gets as much before
/// it, so a dozen busy accounts on eight tabs keep it waiting for some seconds. More would be minutes for capacity that
/// nobody wanted, and end in `jobs.queue_timeout_s`; much less would make a slow job free for who sends one at a time.
pub const DEBT_LIMIT: Duration = Duration::from_secs(5);

/// What a job is expected to cost as long as none of its kind has ended: between a page and a run of LaTeX.
const FIRST_COST: Duration = Duration::from_millis(250);

/// The last job counts for one part in so many of its kind's average.
const MEMORY: u32 = 16;

/// What is to become what: jobs of one kind cost about the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobKind {
    /// The template's kind.
    pub kind: TemplateKind,
    /// What it becomes.
    pub target: Target,
}

/// What jobs of each kind cost on average, the latest counting most.
#[derive(Debug, Default)]
pub struct CostEstimates {
    averages: HashMap<JobKind, Duration>,
}

impl CostEstimates {
    /// What a job of this kind may cost.
    #[must_use]
    pub fn of(&self, kind: JobKind) -> Duration {
        self.averages.get(&kind).copied().unwrap_or(FIRST_COST)
    }

    /// A job of this kind has cost so much.
    pub fn learn(&mut self, kind: JobKind, cost: Duration) {
        let average = self.averages.entry(kind).or_insert(cost);
        *average = average.saturating_mul(MEMORY - 1).saturating_add(cost) / MEMORY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_follows_the_latest_costs_of_its_kind() {
        let of = |target| JobKind { kind: TemplateKind::Html, target };
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
