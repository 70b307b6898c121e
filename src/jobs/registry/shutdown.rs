//! `StopJobs`: nothing new is dispatched, running jobs may finish, the rest is parked for the next start of the service.

use std::time::Duration;

use actix::prelude::*;

use crate::jobs::registry::JobRegistry;
use crate::jobs::run::messages::Park;

/// How long parking may take: a job whose final record the index does not take may not answer in time.
const PARK_LIMIT: Duration = Duration::from_secs(5);

/// Stops dispatching; answers when no job runs. After `grace` the jobs that still run are parked: they are queued again, and
/// run from their beginning when the service starts.
#[derive(Message)]
#[rtype(result = "()")]
pub struct StopJobs {
    /// How long running jobs may take to end.
    pub grace: Duration,
}

impl Handler<StopJobs> for JobRegistry {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, message: StopJobs, _: &mut Self::Context) -> Self::Result {
        self.dispatcher.is_stopping = true;
        let mut count = self.dispatcher.running_count.subscribe();
        let drained = async move {
            let done = count.wait_for(|running| *running == 0);
            tokio::time::timeout(message.grace, done).await.is_ok()
        };
        Box::pin(drained.into_actor(self).then(|drained, registry, _| {
            let parked: Vec<_> = registry.dispatcher.running.values().map(|addr| addr.send(Park)).collect();
            if !drained {
                tracing::warn!(
                    job.count = parked.len(),
                    "jobs are parked; they begin again with the service"
                );
            }
            async move {
                let parked = futures_util::future::join_all(parked);
                if tokio::time::timeout(PARK_LIMIT, parked).await.is_err() {
                    tracing::warn!("jobs cannot be parked; the journal says where they stand");
                }
            }
            .into_actor(registry)
        }))
    }
}
