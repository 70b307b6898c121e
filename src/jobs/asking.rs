//! What is asked of the registry: the handlers of its messages.

use actix::prelude::*;

use super::actor;
use super::messages::{CloseUpload, InitJob, OpenUpload, StartJob, WatchJob};
use super::record::JobRecord;
use super::registry::{Found, JobRegistry, ViewReply, actor_lost, stopping};
use super::view::WireStatus;
use crate::accounts::messages::ReserveDocument;
use crate::pipeline::Held;
use crate::problem::Problem;
use crate::storage::StagedObject;

/// Takes up what the journal says is unfinished; answers how many jobs that were.
#[derive(Message)]
#[rtype(result = "usize")]
pub struct ResumeJobs(pub Vec<JobRecord>);

impl Handler<InitJob> for JobRegistry {
    type Result = ResponseActFuture<Self, ViewReply>;

    fn handle(&mut self, message: InitJob, _: &mut Self::Context) -> Self::Result {
        let (account, start) = (message.account, message.start);
        if let Err(problem) =
            self.refuse_when_stopping().and_then(|()| if start { self.admit(account) } else { Ok(()) })
        {
            return Box::pin(fut::ready(Err(problem)));
        }
        let reserved = self.deps.reserve.send(ReserveDocument { account });
        let written = reserved.into_actor(self).then(move |reservation, registry, _| {
            let reservation = match reservation.map_err(|_| stopping()).and_then(|reserved| reserved) {
                Ok(reservation) => reservation,
                Err(problem) => return fut::Either::Left(fut::ready(Err(problem))),
            };
            let mut record = JobRecord::new(account, message.spec, registry.deps.clock.now());
            record.period = reservation.period();
            let live = registry.spawn(record);
            let held = Held { data: message.data, template: message.template };
            let begin = actor::Begin { held, change: reservation.change(), start };
            let begun = live.addr.send(begin).into_actor(registry).map(move |begun, registry, ctx| {
                let job = live.view.borrow().id;
                match begun.map_err(|_| actor_lost()).and_then(|begun| begun) {
                    Ok(()) => {
                        reservation.keep();
                        if start {
                            registry.queue.enter(account, job);
                            registry.dispatch(ctx);
                        }
                        Ok(live.view)
                    }
                    Err(problem) => {
                        registry.forget(job);
                        Err(problem)
                    }
                }
            });
            fut::Either::Right(begun)
        });
        Box::pin(written.map(move |reply: ViewReply, registry, _| {
            if start && reply.is_err() {
                registry.queue.release(account);
            }
            reply
        }))
    }
}

impl Handler<StartJob> for JobRegistry {
    type Result = ResponseActFuture<Self, ViewReply>;

    fn handle(&mut self, message: StartJob, _: &mut Self::Context) -> Self::Result {
        let (account, job) = (message.account, message.job);
        Box::pin(self.find(account, job).then(move |found, registry, _| match found {
            Ok(Found::Live(live)) if live.view.borrow().status == WireStatus::Initialized => {
                registry.start(account, job, live)
            }
            Ok(found) => Box::pin(fut::ready(Ok(found.view()))),
            Err(problem) => Box::pin(fut::ready(Err(problem))),
        }))
    }
}

impl Handler<WatchJob> for JobRegistry {
    type Result = ResponseActFuture<Self, ViewReply>;

    fn handle(&mut self, message: WatchJob, _: &mut Self::Context) -> Self::Result {
        Box::pin(self.find(message.account, message.job).map(|found, _, _| found.map(Found::view)))
    }
}

impl Handler<OpenUpload> for JobRegistry {
    type Result = ResponseActFuture<Self, Result<Box<dyn StagedObject>, Problem>>;

    fn handle(&mut self, message: OpenUpload, _: &mut Self::Context) -> Self::Result {
        Box::pin(self.find(message.account, message.job).then(move |found, registry, _| {
            let store = registry.deps.parts.store.clone();
            let staged = async move {
                let view = found?.view().borrow().clone();
                if view.status != WireStatus::Initialized {
                    return Err(actor::upload_closed(&view));
                }
                store.stage(message.limit_bytes).await.map_err(Problem::internal)
            };
            staged.into_actor(registry)
        }))
    }
}

impl Handler<CloseUpload> for JobRegistry {
    type Result = ResponseActFuture<Self, Result<(), Problem>>;

    fn handle(&mut self, message: CloseUpload, _: &mut Self::Context) -> Self::Result {
        Box::pin(self.find(message.account, message.job).then(move |found, registry, _| {
            let taken = async move {
                match found? {
                    Found::Ended(view) => Err(actor::upload_closed(&view.borrow())),
                    Found::Live(live) => {
                        let taken = actor::TakeUpload { part: message.part, staged: message.staged };
                        live.addr.send(taken).await.map_err(|_| actor_lost())?
                    }
                }
            };
            taken.into_actor(registry)
        }))
    }
}

impl Handler<ResumeJobs> for JobRegistry {
    type Result = usize;

    fn handle(&mut self, message: ResumeJobs, ctx: &mut Self::Context) -> usize {
        let count = message.0.len();
        for record in message.0 {
            self.resume(record, ctx);
        }
        count
    }
}
