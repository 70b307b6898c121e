//! Idempotency keys while requests are answered: a key has one job, even when two requests with it arrive together.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use actix::prelude::*;
use tokio::sync::{oneshot, watch};

use crate::domain::ids::{AccountId, JobId};
use crate::jobs::messages::{FindRepeat, Idempotency, InitJob};
use crate::jobs::registry::{Found, JobRegistry, ViewReply};
use crate::jobs::store::idempotency;
use crate::jobs::store::record::JobRecord;
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};
use crate::storage::index::{IndexError, WriteBatch};

pub(super) type AccountKey = (AccountId, [u8; 32]);

/// Requests that wait until an earlier one with the same key is answered.
pub(super) type Waiters = VecDeque<oneshot::Sender<()>>;

impl JobRegistry {
    /// The part of a new job's batch that gives it the caller's key.
    pub(super) fn key_entries(
        &self,
        job: &JobRecord,
        idempotency: Option<Idempotency>,
    ) -> Result<WriteBatch, IndexError> {
        let window_ms = self.context.limits.idempotency_window_s.saturating_mul(1_000);
        let expires_at = job.created_at.plus_ms(window_ms);
        idempotency.map_or_else(
            || Ok(WriteBatch::new()),
            |it| idempotency::entries(job.account, job.id, it, expires_at),
        )
    }

    /// The job of the message's key, created if there is none. Requests with one key are answered one after the other:
    /// two at the same moment would each find no job and create one.
    pub(super) fn create_once(
        &mut self,
        idempotency: Idempotency,
        message: InitJob,
    ) -> ResponseActFuture<Self, ViewReply> {
        let key = (message.account, idempotency.key);
        let earlier = match self.keys.entry(key) {
            Entry::Vacant(free) => {
                free.insert(Waiters::new());
                None
            }
            Entry::Occupied(mut waiters) => {
                let (wake, woken) = oneshot::channel();
                waiters.get_mut().push_back(wake);
                Some(woken)
            }
        };
        let alone = async move {
            if let Some(woken) = earlier {
                // It cannot fail: the sender is dropped only with the registry, and so is this future.
                let _ = woken.await;
            }
        };
        let reply =
            alone.into_actor(self).then(move |(), registry, _| registry.find_or_create(idempotency, message));
        Box::pin(reply.map(move |reply, registry, _| {
            registry.wake_next(key);
            reply
        }))
    }

    fn find_or_create(
        &mut self,
        idempotency: Idempotency,
        message: InitJob,
    ) -> ResponseActFuture<Self, ViewReply> {
        let found = self.find_repeat(message.account, idempotency);
        Box::pin(found.then(move |found, registry, _| match found {
            Ok(None) => registry.create(message),
            Ok(Some(view)) => Box::pin(fut::ready(Ok(view))),
            Err(problem) => Box::pin(fut::ready(Err(problem))),
        }))
    }

    /// The job of the key, if there is one.
    fn find_repeat(
        &self,
        account: AccountId,
        idempotency: Idempotency,
    ) -> ResponseActFuture<Self, Result<Option<watch::Receiver<JobView>>, Problem>> {
        let (context, now) = (self.context.clone(), self.context.clock.now());
        let key = idempotency.key;
        let earlier = async move { idempotency::find(context.journal.index(), account, &key, now).await };
        Box::pin(earlier.into_actor(self).then(move |earlier, registry, _| match earlier {
            Ok(None) => Box::pin(fut::ready(Ok(None))) as ResponseActFuture<_, _>,
            Ok(Some(earlier)) if earlier.request == idempotency.request => {
                Box::pin(registry.repeat(account, earlier.job).map(|view, _, _| view.map(Some)))
            }
            Ok(Some(_)) => Box::pin(fut::ready(Err(registry.mismatch()))),
            Err(error) => Box::pin(fut::ready(Err(error.into()))),
        }))
    }

    fn repeat(&self, account: AccountId, job: JobId) -> ResponseActFuture<Self, ViewReply> {
        Box::pin(self.find(account, job).map(move |found, _, _| {
            found
                .map(Found::view)
                .map_err(|problem| if problem.code == Code::JobNotFound { deleted(job) } else { problem })
        }))
    }

    fn wake_next(&mut self, key: AccountKey) {
        let Entry::Occupied(mut waiters) = self.keys.entry(key) else { return };
        while let Some(wake) = waiters.get_mut().pop_front() {
            if wake.send(()).is_ok() {
                return;
            }
        }
        waiters.remove();
    }

    fn mismatch(&self) -> Problem {
        let window_s = self.context.limits.idempotency_window_s;
        let detail = format!(
            "The Idempotency-Key came with another request in the last {window_s} s (jobs.idempotency_window_s); \
             send the same endpoint and body with it, or a new key for a new job."
        );
        Problem::new(Code::IdempotencyMismatch, detail)
    }
}

impl Handler<FindRepeat> for JobRegistry {
    type Result = ResponseActFuture<Self, Result<Option<watch::Receiver<JobView>>, Problem>>;

    fn handle(&mut self, message: FindRepeat, _: &mut Self::Context) -> Self::Result {
        self.find_repeat(message.account, message.idempotency)
    }
}

fn deleted(job: JobId) -> Problem {
    let detail = format!("The job {job} of this Idempotency-Key was erased; send a new key for a new job.");
    Problem::new(Code::JobNotFound, detail)
}
