//! The account that is measured: one client, one job after the other.

use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::bodies::Job;
use crate::common::figures::Figures;
use crate::common::program::Program;

/// A job that takes longer is unfinished.
const TIMEOUT: Duration = Duration::from_secs(25);
/// After a refusal, and after a failure that may come at once.
const PAUSE: Duration = Duration::from_millis(100);
/// How many times its quiet time a job may take, of 95 in 100 jobs.
const FACTOR: f64 = 4.0;

/// Jobs of one kind within a time.
#[derive(Default)]
pub struct Measured {
    /// Of the jobs that were made, and [`TIMEOUT`] for each that was not finished by then.
    figures: Figures,
    pub refused: usize,
    pub unfinished: usize,
    pub failures: Vec<String>,
}

/// How a job ended.
enum End {
    Made,
    Refused,
    Unfinished,
    Failed(String),
}

/// Has the job made again and again for so long, and so many times at least.
pub async fn measure(program: &Program, job: &Job, window: Duration, least: usize) -> Measured {
    let (begun, mut measured) = (Instant::now(), Measured::default());
    for made in 0.. {
        if made >= least && begun.elapsed() >= window {
            break;
        }
        let asked = Instant::now();
        let end = tokio::time::timeout(TIMEOUT, ask(program, job)).await.unwrap_or(End::Unfinished);
        match end {
            End::Made => measured.figures.latencies.push(asked.elapsed()),
            End::Unfinished => {
                measured.figures.latencies.push(TIMEOUT);
                measured.unfinished += 1;
            }
            End::Refused => {
                measured.refused += 1;
                tokio::time::sleep(PAUSE).await;
            }
            End::Failed(why) => {
                measured.failures.push(why);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    measured
}

/// The document itself is the answer, so a job is one request.
async fn ask(program: &Program, job: &Job) -> End {
    let request = program.request(Method::POST, "/v1/documents/immediate-render");
    let answer = match job.body.on(request.header("accept", "application/pdf")).send().await {
        Ok(answer) => answer,
        Err(error) => return End::Failed(error.to_string()),
    };
    let status = answer.status();
    let Ok(file) = answer.bytes().await else { return End::Failed("the answer broke off".to_owned()) };
    let told = || String::from_utf8_lossy(&file).into_owned();
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => End::Refused,
        StatusCode::OK if file.starts_with(b"%PDF-") => End::Made,
        _ => {
            let problem: Value = serde_json::from_slice(&file).unwrap_or_default();
            if problem["code"] == "render_pending" { End::Unfinished } else { End::Failed(told()) }
        }
    }
}

impl Measured {
    /// Whether another account's flood left these jobs what they are promised.
    pub fn holds(&self, quiet: &Self) -> bool {
        let is_whole = self.refused == 0 && self.unfinished == 0 && self.failures.is_empty();
        let [before, beside] = [quiet, self].map(|measured| measured.figures.percentile_ms(0.95));
        is_whole && !self.figures.latencies.is_empty() && beside <= FACTOR * before
    }

    /// Those of several clients.
    pub fn together(all: Vec<Self>) -> Self {
        all.into_iter().fold(Self::default(), |mut sum, mut one| {
            sum.figures.latencies.append(&mut one.figures.latencies);
            sum.failures.append(&mut one.failures);
            (sum.refused, sum.unfinished) = (sum.refused + one.refused, sum.unfinished + one.unfinished);
            sum
        })
    }

    /// Jobs a second, p50, p95 and p99 in milliseconds, and how many were not made.
    pub fn summary(&self, wall: Duration) -> String {
        let made = u32::try_from(self.figures.latencies.len() - self.unfinished).unwrap_or(u32::MAX);
        let made = f64::from(made) / wall.as_secs_f64();
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| self.figures.percentile_ms(share));
        let (refused, unfinished, failed) = (self.refused, self.unfinished, self.failures.len());
        format!("{made:.1} | {p50:.0} | {p95:.0} | {p99:.0} | {refused}, {unfinished}, {failed}")
    }

    /// Whether there is nothing to compare with.
    pub fn is_empty(&self) -> bool {
        self.figures.latencies.is_empty()
    }

    /// A cell of the table: p50 and p95 when quiet and beside a flood, in milliseconds, and how many times as long.
    pub fn beside(&self, quiet: &Self) -> String {
        let figures = |measured: &Self| [0.5, 0.95].map(|share| measured.figures.percentile_ms(share));
        let ([p50, p95], [quiet_p50, quiet_p95]) = (figures(self), figures(quiet));
        if self.is_empty() {
            return format!("{quiet_p50:.0}, {quiet_p95:.0} → none");
        }
        let ratios = [p50 / quiet_p50, p95 / quiet_p95];
        let [r50, r95] = ratios.map(|ratio| format!("{ratio:.1} ×"));
        format!("{quiet_p50:.0}, {quiet_p95:.0} → {p50:.0}, {p95:.0} ({r50}, {r95})")
    }
}
