//! The registry's end: nothing new begins, what runs may finish, the rest is parked for the next life.

use std::time::Duration;

use actix::prelude::*;

use crate::jobs::registry::JobRegistry;
use crate::jobs::run::actor::Park;

/// How long jobs may take to be parked: one whose end the index refuses to write does not answer.
const PARK_LIMIT: Duration = Duration::from_secs(5);

/// Stops handing out turns; answers when nothing runs any more: after `grace` what runs is parked, which
/// means that it goes back into the queue and begins again when the service does.
#[derive(Message)]
#[rtype(result = "()")]
pub struct StopJobs {
    /// How long running jobs may take to finish.
    pub grace: Duration,
}

impl Handler<StopJobs> for JobRegistry {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, message: StopJobs, _: &mut Self::Context) -> Self::Result {
        self.stopping = true;
        self.stopped.send_replace(self.running.len());
        let mut count = self.stopped.subscribe();
        let drained = async move {
            let done = count.wait_for(|running| *running == 0);
            tokio::time::timeout(message.grace, done).await.is_ok()
        };
        Box::pin(drained.into_actor(self).then(|drained, registry, _| {
            let parked: Vec<_> = registry.running.values().map(|addr| addr.send(Park)).collect();
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
