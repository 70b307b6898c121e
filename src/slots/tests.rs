//! Slots by accounts: shares, order, cancelled waits, long jobs that make way.

use std::pin::Pin;
use std::time::Duration;

use super::*;
use futures_util::FutureExt as _;

/// The future, which waits.
#[track_caller]
pub(super) fn pending<F: Future>(wait: F) -> Pin<Box<F>> {
    let mut wait = Box::pin(wait);
    assert!(wait.as_mut().now_or_never().is_none());
    wait
}

#[test]
fn a_share_leaves_a_quarter_and_at_least_one_slot_free() {
    let shares = [1, 2, 3, 4, 8, 9, 16].map(|slots| AccountShare::new(0).of(slots));
    assert_eq!(shares, [1, 1, 2, 3, 6, 7, 12]);
    assert_eq!([1, 3, 100].map(|slots| AccountShare::new(5).of(slots)), [1, 3, 5]);
    assert_eq!(AccountShare::whole().of(8), 8);
}

#[tokio::test]
async fn no_account_holds_every_slot_while_others_may_come() {
    let slots = AccountSlots::new(4, AccountShare::new(0));
    let (many, other) = (AccountId::generate(), AccountId::generate());
    let mut held: Vec<_> = (0..3).filter_map(|_| slots.acquire(many).now_or_never()).collect();
    assert_eq!(held.len(), 3);
    let mut fourth = pending(slots.acquire(many));
    let theirs = slots.acquire(other).now_or_never();
    assert!(theirs.is_some());
    drop(theirs);
    assert!(fourth.as_mut().now_or_never().is_none(), "a slot that is free is not the account's");
    held.pop();
    drop(fourth.await);
}

#[tokio::test]
async fn the_account_with_the_fewest_slots_is_served_first_and_cancelled_waits_are_skipped() {
    let slots = AccountSlots::new(2, AccountShare::whole());
    let (many, other) = (AccountId::generate(), AccountId::generate());
    let (first, second) = (slots.acquire(many).await, slots.acquire(many).await);
    let mut next = pending(slots.acquire(many));
    drop(pending(slots.acquire(other)));
    let mut late = pending(slots.acquire(other));
    drop(first);
    assert!(next.as_mut().now_or_never().is_none());
    let theirs = late.as_mut().now_or_never();
    assert!(theirs.is_some());
    drop(second);
    assert!(next.now_or_never().is_some());
}

#[tokio::test]
async fn with_one_slot_accounts_take_turns() {
    let slots = AccountSlots::new(1, AccountShare::new(0));
    let (many, other) = (AccountId::generate(), AccountId::generate());
    let held = slots.acquire(many).await;
    let mut second = pending(slots.acquire(many));
    let late = pending(slots.acquire(other));
    drop(held);
    assert!(second.as_mut().now_or_never().is_none());
    drop(late.await);
    drop(second.await);
}

#[tokio::test]
async fn acquire_unclaimed_takes_no_slot_that_a_waiter_may_have() {
    let slots = AccountSlots::new(1, AccountShare::new(0));
    let (one, two) = (AccountId::generate(), AccountId::generate());
    let held = slots.acquire(one).await;
    let mut aside = pending(slots.acquire_unclaimed(one));
    let waiting = pending(slots.acquire(two));
    drop(held);
    assert!(aside.as_mut().now_or_never().is_none());
    drop(waiting.now_or_never());
    drop(aside.await);
}

#[tokio::test]
async fn several_slots_are_acquired_at_once_and_single_requests_do_not_overtake() {
    let slots = AccountSlots::new(3, AccountShare::whole());
    let (wide, narrow) = (AccountId::generate(), AccountId::generate());
    let (first, second) = (slots.acquire(narrow).await, slots.acquire(narrow).await);
    let both = pending(slots.acquire_many(wide, 2));
    // One is free, and it is not its turn.
    let mut late = pending(slots.acquire(narrow));
    let aside = pending(slots.acquire_unclaimed(narrow));
    drop(first);
    let both = both.now_or_never();
    assert!(both.is_some() && late.as_mut().now_or_never().is_none());
    drop(both);
    assert!(late.now_or_never().is_some() && aside.now_or_never().is_some());
    drop(second);
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_first_wait_serves_those_behind_it() {
    let slots = AccountSlots::new(3, AccountShare::whole());
    let (wide, narrow) = (AccountId::generate(), AccountId::generate());
    let held = slots.acquire_many(narrow, 2).await;
    let first = pending(slots.acquire_many(wide, 2));
    let behind = tokio::spawn({
        let slots = slots.clone();
        async move { slots.acquire(narrow).await }
    });
    tokio::task::yield_now().await;
    assert!(!behind.is_finished(), "one is free, and it is not its turn");
    drop(first);
    let served = timeout(Duration::from_secs(1), behind).await;
    assert!(served.is_ok(), "nothing else would wake it: no slot was given back");
    drop(held);
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_first_wait_wakes_acquire_unclaimed() {
    let slots = AccountSlots::new(2, AccountShare::whole());
    let (wide, narrow) = (AccountId::generate(), AccountId::generate());
    let held = slots.acquire(narrow).await;
    let first = pending(slots.acquire_many(wide, 2));
    let aside = tokio::spawn({
        let slots = slots.clone();
        async move { slots.acquire_unclaimed(narrow).await }
    });
    tokio::task::yield_now().await;
    assert!(!aside.is_finished());
    drop(first);
    assert!(timeout(Duration::from_secs(1), aside).await.is_ok());
    drop(held);
}

#[tokio::test]
async fn a_request_above_the_share_gets_the_share() {
    let slots = AccountSlots::new(4, AccountShare::new(0));
    let wide = slots.acquire_many(AccountId::generate(), 9).now_or_never();
    assert_eq!(wide.map(|slot| slot.count()), Some(3));
}

/// Of a job that makes way after a second.
fn long_job(account: AccountId) -> Way {
    Way::new(account, Duration::from_secs(1), || ())
}

#[tokio::test(start_paused = true)]
async fn a_long_job_makes_way_for_another_account_and_counts_for_its_own() {
    let slots = AccountSlots::new(2, AccountShare::new(0).with_overflow(1));
    let (many, more, other) = (AccountId::generate(), AccountId::generate(), AccountId::generate());
    let first = slots.acquire_for(&long_job(many), 1).await;
    let second = slots.acquire_for(&long_job(more), 1).await;
    let begun = tokio::time::Instant::now();
    let theirs = slots.acquire_for(&long_job(other), 1).await;
    assert!(begun.elapsed() >= Duration::from_secs(1), "before that nobody makes way");
    // There is one overflow slot only.
    let stranger = long_job(AccountId::generate());
    assert!(timeout(Duration::from_secs(9), slots.acquire_for(&stranger, 1)).await.is_err());
    // An account whose job made way has no slot more for that.
    drop(theirs);
    let made_way = if slots.inner.state.lock().held(many) == 1 { many } else { more };
    let same = long_job(made_way);
    assert!(timeout(Duration::from_secs(9), slots.acquire_for(&same, 1)).await.is_err());
    drop((first, second));
    let state = slots.inner.state.lock();
    assert_eq!((state.free, state.overflow, state.held.len()), (2, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn no_job_makes_way_for_its_own_account_nor_beyond_a_share() {
    let slots = AccountSlots::new(4, AccountShare::new(0));
    let (many, other) = (AccountId::generate(), AccountId::generate());
    let ways = [(); 3].map(|()| long_job(many));
    let mut held = Vec::new();
    for way in &ways {
        held.push(slots.acquire_for(way, 1).await);
    }
    let fourth = long_job(many);
    let more = timeout(Duration::from_secs(9), slots.acquire_for(&fourth, 1));
    assert!(more.await.is_err());
    held.push(slots.acquire_for(&long_job(other), 1).await);
    assert!(ways.iter().all(|way| !way.has_made_way()));
}
