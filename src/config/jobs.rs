//! The job registry and its queue.

use serde::Deserialize;

use super::SettingErrors;

/// Section `[jobs]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobsConfig {
    /// Jobs that run at once; 0: as many as there are tabs, and one more.
    pub concurrency: u64,
    /// Jobs of one account that run at once, and the most it holds of any resource (tabs, slots, cores); 0: all but a
    /// quarter of each, at least one free.
    pub running_account_limit: u64,
    /// Jobs that wait; one more is refused with 503.
    pub queue_limit: u64,
    /// Jobs that wait of one account; one more is refused with 429.
    pub queue_account_limit: u64,
    /// Longest wait in the queue.
    pub queue_timeout_s: u64,
    /// Longest run of a job, all steps together.
    pub run_timeout_s: u64,
    /// A job fails, and is not run again, once the service went down during so many of its runs.
    pub attempt_limit: u64,
    /// An initialized job that is not started within this time expires.
    pub start_window_s: u64,
    /// Inputs of a request up to this size are kept in the index with their job; larger ones are stored objects.
    pub journaled_input_limit_bytes: u64,
    /// An initialized job without requests for so long is dropped from memory; it stays on the disk.
    pub initialized_idle_s: u64,
    /// Largest formatOpts.
    pub format_opts_limit_bytes: u64,
    /// Requests about accounts, templates and jobs handled at once; one more is refused with 503.
    pub mailbox_limit: u64,
    /// Threads shared by the actors of jobs; the first also has the browsers' connections, tabs and proxies.
    pub threads: u64,
    /// Jobs that one page of a filtered list examines.
    pub list_scan_limit: u64,
    /// How long an `Idempotency-Key` refers to its job.
    pub idempotency_window_s: u64,
    /// How long a document is kept.
    pub output_retention_s: u64,
    /// How long the record of a job that has ended is kept.
    pub record_retention_s: u64,
    /// Time between two sweeps for what has expired.
    pub sweep_interval_s: u64,
    /// Expired jobs that one sweep handles.
    pub sweep_limit: u64,
    /// Stored objects of jobs that one sweep examines.
    pub sweep_objects_limit: u64,
    /// An object that no job names is deleted at this age; before, its job's record may still be on its way to the
    /// index.
    pub orphan_age_s: u64,
    /// Cancelling a cancelled job again within this time answers the same; later it deletes the job.
    pub cancel_grace_s: u64,
}

impl JobsConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        errors.within("jobs.concurrency", self.concurrency, 0, 1_024);
        errors.within("jobs.running_account_limit", self.running_account_limit, 0, 1_024);
        errors.within("jobs.queue_limit", self.queue_limit, 1, 1_000_000);
        errors.within("jobs.queue_account_limit", self.queue_account_limit, 1, self.queue_limit);
        errors.within("jobs.queue_timeout_s", self.queue_timeout_s, 1, 86_400);
        errors.within("jobs.run_timeout_s", self.run_timeout_s, 1, 86_400);
        errors.within("jobs.attempt_limit", self.attempt_limit, 1, 100);
        errors.within("jobs.start_window_s", self.start_window_s, 60, 31_536_000);
        let journaled = self.journaled_input_limit_bytes;
        errors.within("jobs.journaled_input_limit_bytes", journaled, 0, 1 << 20);
        errors.within("jobs.initialized_idle_s", self.initialized_idle_s, 1, 86_400);
        errors.within("jobs.format_opts_limit_bytes", self.format_opts_limit_bytes, 256, 1 << 24);
        errors.within("jobs.mailbox_limit", self.mailbox_limit, 16, 1 << 20);
        errors.within("jobs.threads", self.threads, 1, 64);
        errors.within("jobs.list_scan_limit", self.list_scan_limit, 100, 100_000);
        errors.within("jobs.idempotency_window_s", self.idempotency_window_s, 1, 31_536_000);
        errors.within("jobs.output_retention_s", self.output_retention_s, 60, 3_153_600_000);
        let least = self.output_retention_s;
        errors.within("jobs.record_retention_s", self.record_retention_s, least, 3_153_600_000);
        errors.within("jobs.sweep_interval_s", self.sweep_interval_s, 1, 86_400);
        errors.within("jobs.sweep_limit", self.sweep_limit, 10, 1_000_000);
        errors.within("jobs.orphan_age_s", self.orphan_age_s, 60, 31_536_000);
        errors.within("jobs.sweep_objects_limit", self.sweep_objects_limit, 10, 1_000_000);
        errors.within("jobs.cancel_grace_s", self.cancel_grace_s, 0, 86_400);
    }
}
