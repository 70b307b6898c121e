//! Cancel against everything that may happen to a job at the same moment: each job ends once, and
//! accounts, objects and memory agree with how it ended.

use std::time::{Duration, Instant};

use platen::domain::error::ErrorCode;
use platen::domain::job::JobState;
use platen::jobs::registry::delete::DeleteOutcome;
use platen::jobs::registry::shutdown::StopJobs;
use platen::jobs::view::JobView;

use crate::service::{PATIENCE, TestService, View};

/// Enough that a cancel falls between any two steps of some run.
const JOBS: usize = 120;

/// Lets the other tasks of the thread run so many steps.
async fn steps(count: usize) {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}

/// Checks what every end has in common, whichever event won; answers whether there is a document.
async fn assert_one_end(service: &TestService, view: &View) -> bool {
    let record = service.record(view).await;
    assert!(record.state.is_final(), "the record says {:?}", record.state);
    let documents = record.output.is_some();
    let code = record.error.as_ref().map(|error| error.code);
    match record.state {
        JobState::Done => assert!(documents && code.is_none(), "{record:?}"),
        // With a document where that was published before the cancel: it is kept and counts.
        JobState::Cancelled => assert_eq!(code, Some(ErrorCode::Cancelled), "{record:?}"),
        JobState::Initialized
        | JobState::Queued
        | JobState::Running
        | JobState::Failed
        | JobState::Expired => {
            panic!("a job ended as {:?}", record.state)
        }
    }
    documents
}

#[actix::test]
async fn a_cancel_at_any_moment_of_a_run_ends_the_job_once() {
    let service = TestService::build_on_threads(2, &[]).await;
    let (mut views, mut erased) = (Vec::new(), 0);
    for number in 0..JOBS {
        let view = service.init("one", "<p>1</p>", true).await.unwrap();
        steps(number % 40).await;
        if number % 3 == 0 {
            tokio::time::timeout(
                Duration::from_micros(number as u64 * 200),
                view.clone().wait_for(JobView::is_done),
            )
            .await
            .ok();
        }
        let outcome = service.delete(&view).await.unwrap();
        let DeleteOutcome::Ended(seen) = outcome else {
            erased += 1;
            continue;
        };
        assert!(seen.is_done(), "a cancel answers when the job has ended");
        views.push(view);
    }
    let mut documents = 0;
    for view in &views {
        documents += usize::from(assert_one_end(&service, view).await);
    }
    assert!(documents < views.len(), "no job was cancelled");
    let counted = async {
        while service.used().await != documents + erased {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, counted).await.expect("each document is counted once or given back once");
    let unfinished = service.journal.unfinished().await.unwrap();
    assert!(unfinished.is_empty(), "{} jobs would run again", unfinished.len());
}

#[actix::test]
async fn a_cancel_beside_a_start_leaves_no_job_in_memory() {
    let service = TestService::build_on_threads(1, &[]).await;
    for number in 0..30 {
        let view = service.init("one", "<p>1</p>", false).await.unwrap();
        let (seen, [thread, _]) = (view.clone(), service.apart.as_ref().unwrap());
        let busy = async {
            steps(number).await;
            // Keeps the registry's thread busy, so that it handles start and end together.
            thread.spawn_fn(move || {
                let begun = Instant::now();
                while !seen.borrow().is_done() && begun.elapsed() < Duration::from_millis(100) {
                    std::thread::yield_now();
                }
            });
        };
        let (started, cancelled, ()) = tokio::join!(service.start(&view), service.delete(&view), busy);
        assert!(started.is_ok() && cancelled.is_ok());
        assert!(service.ended(&view).await.is_done());
    }
    let stopped = service.registry.send(StopJobs { grace: PATIENCE });
    let stopped = tokio::time::timeout(Duration::from_secs(5), stopped).await;
    assert!(stopped.is_ok(), "the registry waits for jobs that ended long ago");
}
