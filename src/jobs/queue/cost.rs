//! What a job is expected to cost, from the costs of earlier jobs of its kind. A cost is the time a job held its slot,
//! less its waits (`slots::meter`).

use std::collections::HashMap;
use std::time::Duration;

use crate::domain::kinds::{Target, TemplateKind};

/// The least that a job is charged. Without it, jobs that are measured as next to nothing would leave their account next
/// for ever.
pub const LEAST_COST: Duration = Duration::from_millis(5);

/// The most that an account which returns may be charged beyond the virtual time. Each busy account gets as much before
/// it: a dozen of them on eight tabs keep it waiting for some seconds. A higher limit would make it wait for minutes and
/// into `jobs.queue_timeout_s`, for capacity that was idle; a much lower one would make slow jobs free for an account that
/// sends one at a time.
pub const DEBT_LIMIT: Duration = Duration::from_secs(5);

/// The estimate while no job of the kind has ended: between a page and a run of LaTeX.
const FIRST_COST: Duration = Duration::from_millis(250);

/// The weight of the latest cost in the average is one part in so many.
const AVERAGE_OVER: u32 = 16;

/// Jobs that cost about the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobKind {
    pub kind: TemplateKind,
    pub target: Target,
}

/// Moving averages of the costs by kind.
#[derive(Debug, Default)]
pub struct CostEstimates {
    averages: HashMap<JobKind, Duration>,
}

impl CostEstimates {
    /// The expected cost of a job of this kind.
    pub fn of(&self, kind: JobKind) -> Duration {
        self.averages.get(&kind).copied().unwrap_or(FIRST_COST)
    }

    /// Takes the cost of a job into the average of its kind.
    pub fn learn(&mut self, kind: JobKind, cost: Duration) {
        let average = self.averages.entry(kind).or_insert(cost);
        *average = average.saturating_mul(AVERAGE_OVER - 1).saturating_add(cost) / AVERAGE_OVER;
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
