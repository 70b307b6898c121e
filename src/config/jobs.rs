//! The job registry and its queue.

use serde::Deserialize;

use super::Faults;

/// Section `[jobs]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobsConfig {
    /// Jobs that run at once; 0: as many as there are tabs, and one more.
    pub concurrency: u64,
    /// Jobs of one account that run at once, and the most it holds of any resource that they use (tabs, turns of
    /// static pages, template processes, engines' slots, cores); 0: all but a quarter of each, at least one free.
    pub running_account_limit: u64,
    /// Jobs that wait; one more is refused with 503.
    pub queue_limit: u64,
    /// Jobs that wait of one account; one more is refused with 429.
    pub queue_account_limit: u64,
    /// Longest wait in the queue.
    pub queue_timeout_s: u64,
    /// Longest run of a job, all steps together.
    pub run_timeout_s: u64,
    /// Runs of one job that may take the service down with them.
    pub attempt_limit: u64,
    /// An initialized job that is not started by then expires.
    pub start_window_s: u64,
    /// Inputs that came with a request and are larger go to the store.
    pub journaled_input_limit_bytes: u64,
    /// An initialized job that nobody asks for leaves memory, not the disk, after so long.
    pub initialized_idle_s: u64,
    /// Largest formatOpts.
    pub format_opts_limit_bytes: u64,
    /// Messages waiting for the registry; one more is refused with 503.
    pub mailbox_limit: u64,
    /// Threads that job actors share.
    pub threads: u64,
    /// Jobs that one page of a filtered list looks at.
    pub list_scan_limit: u64,
    /// How long an `Idempotency-Key` stands for its job.
    pub idempotency_window_s: u64,
    /// How long a document is kept.
    pub output_retention_s: u64,
    /// How long the record of a job that has ended is kept.
    pub record_retention_s: u64,
    /// Between two sweeps.
    pub sweep_interval_s: u64,
    /// Jobs that one sweep does what is due for.
    pub sweep_limit: u64,
    /// Objects whose jobs one sweep looks for.
    pub sweep_objects_limit: u64,
    /// An object that no job names goes when it is so old.
    pub orphan_age_s: u64,
    /// So long after a cancellation another one of the same job means the same.
    pub cancel_grace_s: u64,
}

impl JobsConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        faults.within("jobs.concurrency", self.concurrency, 0, 1_024);
        faults.within("jobs.running_account_limit", self.running_account_limit, 0, 1_024);
        faults.within("jobs.queue_limit", self.queue_limit, 1, 1_000_000);
        faults.within("jobs.queue_account_limit", self.queue_account_limit, 1, self.queue_limit);
        faults.within("jobs.queue_timeout_s", self.queue_timeout_s, 1, 86_400);
        faults.within("jobs.run_timeout_s", self.run_timeout_s, 1, 86_400);
        faults.within("jobs.attempt_limit", self.attempt_limit, 1, 100);
        faults.within("jobs.start_window_s", self.start_window_s, 60, 31_536_000);
        let journaled = self.journaled_input_limit_bytes;
        faults.within("jobs.journaled_input_limit_bytes", journaled, 0, 1 << 20);
        faults.within("jobs.initialized_idle_s", self.initialized_idle_s, 1, 86_400);
        faults.within("jobs.format_opts_limit_bytes", self.format_opts_limit_bytes, 256, 1 << 24);
        faults.within("jobs.mailbox_limit", self.mailbox_limit, 16, 1 << 20);
        faults.within("jobs.threads", self.threads, 1, 64);
        faults.within("jobs.list_scan_limit", self.list_scan_limit, 100, 100_000);
        faults.within("jobs.idempotency_window_s", self.idempotency_window_s, 1, 31_536_000);
        faults.within("jobs.output_retention_s", self.output_retention_s, 60, 3_153_600_000);
        let least = self.output_retention_s;
        faults.within("jobs.record_retention_s", self.record_retention_s, least, 3_153_600_000);
        faults.within("jobs.sweep_interval_s", self.sweep_interval_s, 1, 86_400);
        faults.within("jobs.sweep_limit", self.sweep_limit, 10, 1_000_000);
        faults.within("jobs.orphan_age_s", self.orphan_age_s, 60, 31_536_000);
        faults.within("jobs.sweep_objects_limit", self.sweep_objects_limit, 10, 1_000_000);
        faults.within("jobs.cancel_grace_s", self.cancel_grace_s, 0, 86_400);
    }
}
