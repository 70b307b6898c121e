//! What became of all jobs.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::common::figures::Figures;
use crate::documents::{KINDS, Kind};

/// What a request without an answer counts as: nobody knows whether there is a job.
pub const UNANSWERED: &str = "no answer";

/// One job that was acknowledged.
pub struct Job {
    pub kind: Kind,
    /// The account that asked for it.
    pub account: usize,
    /// From asking to having the file, or the failure.
    pub taken: Duration,
    pub end: End,
    /// The job as it was when it ended, without what is made anew for each answer.
    pub view: Value,
}

/// How a job ended.
pub enum End {
    Made,
    /// Its text is not its own.
    Wrong(String),
    /// By `errorCode`, with the sentence for the author.
    Failed(String, String),
    /// It was acknowledged and did not end.
    Lost,
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Made => formatter.write_str("made"),
            Self::Wrong(why) => formatter.write_str(why),
            Self::Failed(code, sentence) => write!(formatter, "{code}: {sentence}"),
            Self::Lost => formatter.write_str("lost"),
        }
    }
}

/// All jobs by their ids, and the requests that were not acknowledged.
#[derive(Default)]
pub struct Tally {
    pub jobs: BTreeMap<String, Job>,
    /// Refusals by their code.
    pub refused: BTreeMap<String, usize>,
    /// Jobs that came twice, and why.
    pub twice: Vec<String>,
    /// Jobs that the service does not know any more, or that have not ended.
    pub lost: Vec<String>,
}

impl Tally {
    /// Prints the tables; gives the line that sums up. So many jobs ended, as the service counts.
    pub fn summary(mut self, ended: usize) -> String {
        let known = self.jobs.len() + self.refused.get(UNANSWERED).copied().unwrap_or(0);
        if ended > known {
            self.twice.push(format!("twice: {ended} jobs ended, {known} were asked for"));
        }
        println!("\n| type | jobs | failed | p50 ms | p95 ms | p99 ms |\n|---|{}", "--:|".repeat(5));
        for kind in KINDS {
            let jobs = || self.jobs.values().filter(move |job| job.kind == kind);
            let made = jobs().filter(|job| matches!(job.end, End::Made)).count();
            let (count, failed) = (jobs().count(), jobs().count() - made);
            let latencies = jobs().map(|job| job.taken).collect();
            let figures = Figures { latencies, ..Figures::default() };
            let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| figures.percentile_ms(share));
            println!("| {} | {count} | {failed} | {p50:.0} | {p95:.0} | {p99:.0} |", kind.name());
        }
        let failures = self.failures();
        if !failures.is_empty() || !self.refused.is_empty() {
            println!("\n| failed, refused | jobs | of which kinds | one of them |\n|---|--:|---|---|");
        }
        for (code, failed) in &failures {
            let kinds: Vec<_> =
                failed.kinds.iter().map(|(kind, count)| format!("{count} x {kind}")).collect();
            println!("| {code} | {} | {} | {} |", failed.count, kinds.join("; "), failed.sentence);
        }
        for (code, count) in &self.refused {
            println!("| {code} | {count} | | not acknowledged |");
        }
        for (id, why) in self.wrong() {
            println!("\nwrong: {id}: {why}");
        }
        for told in self.lost.iter().map(|id| format!("lost: {id}")).chain(self.twice.iter().cloned()) {
            println!("\n{told}");
        }
        let count = |code: &str| failures.get(code).map_or(0, |failed| failed.count);
        format!(
            "lost {}, twice {}, wrong {}, failed {} of {}, browser_unavailable {}",
            self.lost.len(),
            self.twice.len(),
            self.wrong().count(),
            failures.values().map(|failed| failed.count).sum::<usize>(),
            self.jobs.len(),
            count("browser_unavailable")
        )
    }

    fn wrong(&self) -> impl Iterator<Item = (&String, &String)> {
        self.jobs.iter().filter_map(|(id, job)| match &job.end {
            End::Wrong(why) => Some((id, why)),
            End::Made | End::Failed(..) | End::Lost => None,
        })
    }

    fn failures(&self) -> BTreeMap<&str, Failed<'_>> {
        let mut failures = BTreeMap::<&str, Failed<'_>>::new();
        for job in self.jobs.values() {
            if let End::Failed(code, sentence) = &job.end {
                let failed = failures.entry(code).or_default();
                failed.count += 1;
                *failed.kinds.entry(job.kind.name()).or_default() += 1;
                failed.sentence = sentence;
            }
        }
        failures
    }
}

/// Jobs that failed with one code.
#[derive(Default)]
struct Failed<'a> {
    count: usize,
    kinds: BTreeMap<&'a str, usize>,
    /// Of one of them.
    sentence: &'a str,
}
