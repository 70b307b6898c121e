//! `ExpireJob`: ends a job whose start window is over. Sent by the sweeper.

use actix::prelude::*;

use crate::domain::ids::{AccountId, JobId};
use crate::jobs::registry::{Found, JobRegistry};
use crate::jobs::run::messages::Expire;

/// Ends a job that was not started in time; answers whether it expired by this.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "bool")]
pub(in crate::jobs) struct ExpireJob {
    pub account: AccountId,
    pub job: JobId,
}

impl Handler<ExpireJob> for JobRegistry {
    type Result = ResponseActFuture<Self, bool>;

    fn handle(&mut self, message: ExpireJob, _: &mut Self::Context) -> Self::Result {
        let found = self.find(message.account, message.job);
        Box::pin(found.then(|found, registry, _| {
            let expired = async move {
                let Ok(Found::Active(active)) = found else { return false };
                // Where the actor panics, the record is as it was, and the next sweep finds the job again.
                active.addr.send(Expire).await.unwrap_or(false)
            };
            expired.into_actor(registry)
        }))
    }
}
