//! A job's state machine: a pure function from state and event to verdict.
//!
//! ```text
//! Initialized ──start──▶ Queued ──assigned──▶ Running ──succeeded──▶ Done
//!      │                 │   ▲                 │ │
//!      │                 │   └────resumed──────┘ └──failed──▶ Failed
//!    expire            failed (timeout)
//!      ▼                 ▼            cancel, from any of the three: Cancelled
//!   Expired            Failed
//! ```
//!
//! The four states on the right and below are final: nothing moves a job out of them. `docs/job-states.txt`
//! lists every pair of state and event; a test compares it with the function.

use serde::{Deserialize, Serialize};

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Takes uploads, waits for its start.
    Initialized,
    /// Started, waits in the queue.
    Queued,
    /// Being rendered.
    Running,
    /// Ended with a document.
    Done,
    /// Ended without a document.
    Failed,
    /// Cancelled by its owner.
    Cancelled,
    /// Never started within its time.
    Expired,
}

/// What can happen to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobEvent {
    /// Its owner uploads an input.
    Upload,
    /// Its owner starts it.
    Start,
    /// The queue has dispatched it.
    Assigned,
    /// The run made a document.
    Succeeded,
    /// The run ended without a document, or the wait in the queue timed out.
    Failed,
    /// Its owner cancels it.
    Cancel,
    /// It was not started in time.
    Expire,
    /// The service restarted and found it in the journal, or its actor was replaced.
    Resumed,
}

/// What an event does to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The job enters the state (again, when it is the same).
    Move(JobState),
    /// Nothing changes; not an error.
    Ignore,
    /// Nothing changes; an error for the caller.
    Refuse(Refusal),
}

/// Why an event is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Uploads end with the start.
    UploadClosed,
    /// A job that has ended cannot be cancelled.
    AlreadyEnded,
}

impl JobState {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Initialized,
        Self::Queued,
        Self::Running,
        Self::Done,
        Self::Failed,
        Self::Cancelled,
        Self::Expired,
    ];

    /// Whether nothing moves a job out of this state.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled | Self::Expired)
    }

    /// What `event` does to a job in this state.
    pub fn on(self, event: JobEvent) -> Verdict {
        match self {
            Self::Initialized => match event {
                JobEvent::Start => Verdict::Move(Self::Queued),
                JobEvent::Cancel => Verdict::Move(Self::Cancelled),
                JobEvent::Expire => Verdict::Move(Self::Expired),
                JobEvent::Upload
                | JobEvent::Assigned
                | JobEvent::Succeeded
                | JobEvent::Failed
                | JobEvent::Resumed => Verdict::Ignore,
            },
            Self::Queued => match event {
                JobEvent::Upload => Verdict::Refuse(Refusal::UploadClosed),
                JobEvent::Assigned => Verdict::Move(Self::Running),
                JobEvent::Failed => Verdict::Move(Self::Failed),
                JobEvent::Cancel => Verdict::Move(Self::Cancelled),
                JobEvent::Resumed => Verdict::Move(Self::Queued),
                JobEvent::Start | JobEvent::Succeeded | JobEvent::Expire => Verdict::Ignore,
            },
            Self::Running => match event {
                JobEvent::Upload => Verdict::Refuse(Refusal::UploadClosed),
                JobEvent::Succeeded => Verdict::Move(Self::Done),
                JobEvent::Failed => Verdict::Move(Self::Failed),
                JobEvent::Cancel => Verdict::Move(Self::Cancelled),
                JobEvent::Resumed => Verdict::Move(Self::Queued),
                JobEvent::Start | JobEvent::Assigned | JobEvent::Expire => Verdict::Ignore,
            },
            Self::Done | Self::Failed | Self::Cancelled | Self::Expired => match event {
                JobEvent::Upload => Verdict::Refuse(Refusal::UploadClosed),
                JobEvent::Cancel => Verdict::Refuse(Refusal::AlreadyEnded),
                JobEvent::Start
                | JobEvent::Assigned
                | JobEvent::Succeeded
                | JobEvent::Failed
                | JobEvent::Expire
                | JobEvent::Resumed => Verdict::Ignore,
            },
        }
    }
}

impl JobEvent {
    /// Every event.
    pub const ALL: [Self; 8] = [
        Self::Upload,
        Self::Start,
        Self::Assigned,
        Self::Succeeded,
        Self::Failed,
        Self::Cancel,
        Self::Expire,
        Self::Resumed,
    ];
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_committed_table_is_the_function() {
        let mut table = String::new();
        for state in JobState::ALL {
            for event in JobEvent::ALL {
                let (state_name, event_name) = (format!("{state:?}"), format!("{event:?}"));
                writeln!(table, "{state_name:<12} {event_name:<10} {:?}", state.on(event)).unwrap();
            }
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/job-states.txt");
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(
            table, committed,
            "docs/job-states.txt differs from JobState::on; if that is meant, write:\n{table}"
        );
    }

    proptest! {
        /// The model: a final state stays; uploads only before the start; a document only from a run.
        #[test]
        fn any_sequence_of_events_keeps_the_model(events in prop::collection::vec(0..JobEvent::ALL.len(), 0..40)) {
            let mut state = JobState::Initialized;
            for event in events.into_iter().map(|at| JobEvent::ALL[at]) {
                let verdict = state.on(event);
                let next = if let Verdict::Move(next) = verdict { next } else { state };
                prop_assert!(!state.is_final() || next == state);
                prop_assert_eq!(event == JobEvent::Upload && verdict == Verdict::Ignore, event == JobEvent::Upload && state == JobState::Initialized);
                prop_assert!(next != JobState::Done || state == JobState::Done || state == JobState::Running);
                state = next;
            }
        }
    }
}
