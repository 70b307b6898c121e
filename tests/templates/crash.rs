//! kill -9 between any two steps of every operation: the old or the new state, never half, and no orphans.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::operation::Operation;
use crate::prepared_folder::PreparedFolder;
use crate::service::Service;
use crate::state::{Places, seen};

/// More points than any operation has.
const POINTS_LIMIT: u64 = 80;
/// Runs at once: each is a service that mostly starts and ends.
const RUNS_AT_ONCE: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn kill_9_between_any_two_steps_leaves_the_old_or_the_new_state() {
    let prepared = Arc::new(PreparedFolder::build().await);
    let old = Arc::new(run(&prepared, None, 0).await.1);
    let turns = Arc::new(Semaphore::new(RUNS_AT_ONCE));
    let mut operations = JoinSet::new();
    for operation in Operation::ALL {
        let (prepared, old, turns) = (Arc::clone(&prepared), Arc::clone(&old), Arc::clone(&turns));
        operations.spawn(async move {
            let _turn = turns.acquire().await.unwrap();
            (operation, kill_everywhere(&prepared, operation, &old).await)
        });
    }
    while let Some(ended) = operations.join_next().await {
        let (operation, points) = ended.unwrap();
        let fewest = operation.fewest_points();
        assert!(points >= fewest, "{operation:?} died at {points} points only, of at least {fewest}");
    }
}

/// Kills the operation at its first point, at its second, and so on until it survives; answers how many there were.
async fn kill_everywhere(prepared: &PreparedFolder, operation: Operation, old: &[String]) -> u64 {
    let (answered, new) = run(prepared, Some(operation), 0).await;
    assert!(answered, "{operation:?}");
    // An upload is seen by unzipping it only.
    assert_eq!(new == old, operation == Operation::Upload, "{operation:?} changes what is seen");
    for number in 1..POINTS_LIMIT {
        let when = format!("{operation:?} killed at point {number}");
        let (answered, state) = run(prepared, Some(operation), number).await;
        if answered {
            assert_eq!(state, new, "{operation:?} with {number} points");
            return number - 1;
        }
        assert!(state == *old || state == new, "{when}: {state:#?}\nis neither {old:#?}\nnor {new:#?}");
    }
    panic!("{operation:?} does not end");
}

/// Sends the operation to a service on a copy of the folder, which kills itself at the `number`-th point (never, for
/// zero) and is killed when it has answered; whether it has, and what a restarted service shows.
async fn run(prepared: &PreparedFolder, operation: Option<Operation>, number: u64) -> (bool, Vec<String>) {
    let copy = prepared.copy();
    let mut answered = false;
    if let Some(operation) = operation {
        let service = Service::without_browser(&copy.data(), &prepared.token, Some(&copy.fault_file()));
        if number > 0 {
            copy.arm(number);
        }
        match operation.send(&service, prepared).await {
            Ok(status) => {
                assert!(matches!(status, 200 | 204), "{operation:?}: {status}");
                answered = true;
                service.kill();
            }
            Err(_) => service.until_killed(),
        }
    }
    let service = Service::without_browser(&copy.data(), &prepared.token, None);
    let state = seen(&service, prepared).await;
    service.kill();
    let places = Places::open(&copy.data()).await;
    places.sweep().await;
    let when = format!("{operation:?} {number}");
    places.assert_whole(&when).await;
    places.assert_counted(&when).await;
    places.assert_rebuildable(&when).await;
    places.index.close().await;
    (answered, state)
}
