//! The queue's rules one by one; `properties` checks what holds for every order of calls.

mod engines;
mod properties;

use super::engines::EngineLimit;
use super::*;
use crate::domain::kinds::{Target, TemplateKind};

const PAGE: JobKind = JobKind { kind: TemplateKind::Html, target: Target::Pdf };
const PAPER: JobKind = JobKind { kind: TemplateKind::Latex, target: Target::Pdf };

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn queue(all: usize, account: usize, running: usize) -> FairQueue {
    FairQueue::new(QueueLimits { all, account, running }, EngineLimits::default(), Gauge::default())
}

fn put(queue: &mut FairQueue, account: AccountId) -> JobId {
    put_kind(queue, account, PAGE)
}

fn put_kind(queue: &mut FairQueue, account: AccountId, kind: JobKind) -> JobId {
    let job = JobId::generate();
    queue.take_place(account).unwrap();
    queue.enqueue(account, job, kind);
    job
}

fn put_many(queue: &mut FairQueue, account: AccountId, kind: JobKind, count: usize) -> Vec<JobId> {
    (0..count).map(|_| put_kind(queue, account, kind)).collect()
}

/// Runs the next job at this cost; answers its account.
fn run(queue: &mut FairQueue, cost: Duration) -> Option<AccountId> {
    let turn = queue.next_turn()?;
    let account = turn.account;
    queue.end_turn(turn, Some(cost));
    Some(account)
}

#[test]
fn accounts_whose_jobs_cost_the_same_take_turns_and_keep_their_order() {
    let mut queue = queue(100, 100, 100);
    let (flood, single) = (AccountId::generate(), AccountId::generate());
    let many: Vec<_> = (0..3).map(|_| put(&mut queue, flood)).collect();
    let one = put(&mut queue, single);
    let order: Vec<_> = std::iter::from_fn(|| queue.next_turn()).map(|turn| turn.job).collect();
    assert_eq!(order, [many[0], one, many[1], many[2]]);
    assert_eq!(queue.total, 0);
}

/// What an account's jobs cost, what another's cost, and whose turns follow each other when both wait all the time.
#[test]
fn turns_follow_what_jobs_cost() {
    for (costs, turns) in [
        ([20, 20], "abababababab"),
        ([40, 20], "abbabbabbabb"),
        ([20, 60], "abaabaaabaaa"),
        ([10_000, 20], "abbbbbbbbbbb"),
        ([0, 20], "abaaabaaaaba"), // none costs less than 5 ms
        ([0, 0], "abababababab"),
    ] {
        let mut queue = queue(100, 100, 100);
        let accounts = [AccountId::generate(), AccountId::generate()];
        for _ in 0..20 {
            for account in accounts {
                put(&mut queue, account);
            }
        }
        let order: String = (0..turns.len())
            .map(|_| {
                let turn = queue.next_turn().unwrap();
                let at = usize::from(turn.account == accounts[1]);
                queue.end_turn(turn, Some(ms(costs[at])));
                ['a', 'b'][at]
            })
            .collect();
        assert_eq!(order, turns, "{costs:?}");
    }
}

#[test]
fn running_jobs_count_as_the_estimate_of_their_kind() {
    let mut queue = queue(100, 100, 100);
    let (papers, pages) = (AccountId::generate(), AccountId::generate());
    for (kind, account, cost) in [(PAPER, papers, 10_000), (PAGE, pages, 20)] {
        put_kind(&mut queue, account, kind);
        assert_eq!(run(&mut queue, ms(cost)), Some(account));
    }
    // Both have been away and owe nothing. From now on every turn is still under way.
    put_many(&mut queue, papers, PAPER, 9);
    put_many(&mut queue, pages, PAGE, 9);
    let order: Vec<_> = std::iter::from_fn(|| queue.next_turn()).map(|turn| turn.account).collect();
    assert_eq!(order[..11], [[papers].as_slice(), &[pages; 9], &[papers]].concat());
}

#[test]
fn an_account_that_was_away_has_saved_no_credit() {
    let mut queue = queue(100, 100, 100);
    let (busy, back) = (AccountId::generate(), AccountId::generate());
    put_many(&mut queue, busy, PAGE, 20);
    (0..10).for_each(|_| assert_eq!(run(&mut queue, ms(1_000)), Some(busy)));
    put_many(&mut queue, back, PAGE, 20);
    let order: Vec<_> = std::iter::from_fn(|| run(&mut queue, ms(1_000))).take(6).collect();
    assert_eq!(order, [back, busy, back, busy, back, busy]);
}

#[test]
fn an_account_that_returns_while_others_work_still_has_its_debt() {
    let mut queue = queue(100, 100, 100);
    let (other, heavy) = (AccountId::generate(), AccountId::generate());
    put_many(&mut queue, other, PAGE, 20);
    assert_eq!(run(&mut queue, ms(100)), Some(other));
    put(&mut queue, heavy);
    assert_eq!(run(&mut queue, ms(1_000)), Some(heavy));
    // Its next job waits until the other account has used as much.
    put(&mut queue, heavy);
    let order: Vec<_> = std::iter::from_fn(|| run(&mut queue, ms(100))).take(11).collect();
    assert_eq!(order[..9], [other; 9]);
    assert!(order[9..].contains(&heavy), "{order:?}");
}

#[test]
fn an_expensive_estimate_forgives_no_debt() {
    let mut queue = queue(100, 100, 100);
    let (heavy, light, third) = (AccountId::generate(), AccountId::generate(), AccountId::generate());
    put_many(&mut queue, heavy, PAGE, 3);
    assert_eq!(run(&mut queue, ms(5_000)), Some(heavy));
    // Three of them seem to cost 5 s each until they end.
    put_many(&mut queue, light, PAGE, 4);
    let turns = [queue.next_turn().unwrap(), queue.next_turn().unwrap()];
    assert_eq!(turns.each_ref().map(|turn| turn.account), [light, heavy]);
    for turn in turns {
        queue.end_turn(turn, Some(ms(10)));
    }
    put_many(&mut queue, third, PAGE, 3);
    let order: Vec<_> = std::iter::from_fn(|| run(&mut queue, ms(10))).take(6).collect();
    assert!(!order.contains(&heavy), "{order:?}");
}

#[test]
fn a_turn_without_a_run_costs_nothing() {
    let mut queue = queue(100, 100, 100);
    let (gone, other) = (AccountId::generate(), AccountId::generate());
    for account in [gone, other] {
        put_many(&mut queue, account, PAGE, 2);
    }
    let turn = queue.next_turn().unwrap();
    assert_eq!(turn.account, gone);
    queue.end_turn(turn, None);
    let jobs = &queue.accounts[&gone];
    assert_eq!((jobs.charged, jobs.expected, jobs.running), (ms(0), ms(0), 0));
    assert_eq!([run(&mut queue, ms(9)), run(&mut queue, ms(9))], [Some(other), Some(gone)]);
}

#[test]
fn accounts_without_job_and_debt_are_forgotten() {
    let mut queue = queue(100, 100, 100);
    put(&mut queue, AccountId::generate());
    let turn = queue.next_turn().unwrap();
    queue.take_place(AccountId::generate()).unwrap();
    queue.end_turn(turn, Some(ms(50)));
    assert_eq!(queue.accounts.len(), 2, "the first one has a debt towards the one that is admitted");
    let about_to = *queue.accounts.iter().find(|(_, jobs)| jobs.places > 0).unwrap().0;
    queue.give_up_place(about_to);
    assert!(queue.accounts.is_empty() && queue.virtual_time == Duration::ZERO);
}

/// A queue in which `heavy` had many turns while only `light` had some work beside it, and no account waited.
fn after_idle_capacity(heavy: AccountId, light: AccountId, jobs: usize) -> (FairQueue, Vec<Turn>) {
    let mut queue = queue(1_000, 1_000, 7);
    let mut turns = Vec::new();
    put_many(&mut queue, heavy, PAGE, jobs);
    turns.extend(std::iter::from_fn(|| queue.next_turn()));
    assert_eq!(turns.len(), 7);
    for _ in 0..110 {
        put(&mut queue, light);
        assert_eq!(run(&mut queue, ms(1_000)), Some(light));
    }
    (queue, turns)
}

/// How much work others get before it is this account's turn, where ten of them always have a job of a second waiting.
fn waits(queue: &mut FairQueue, account: AccountId) -> Duration {
    let others: Vec<_> = (0..10).map(|_| AccountId::generate()).collect();
    for other in &others {
        put_many(queue, *other, PAGE, 2);
    }
    let mut worked = Duration::ZERO;
    loop {
        let turn = queue.next_turn().unwrap();
        if turn.account == account {
            return worked;
        }
        put(queue, turn.account);
        queue.end_turn(turn, Some(ms(1_000)));
        worked += ms(1_000);
    }
}

#[test]
fn using_idle_capacity_makes_a_debt_of_seconds_only() {
    let (heavy, light) = (AccountId::generate(), AccountId::generate());
    let (mut queue, turns) = after_idle_capacity(heavy, light, 7);
    put(&mut queue, light);
    for turn in turns {
        queue.end_turn(turn, Some(ms(110_000)));
    }
    put(&mut queue, heavy);
    let waited = waits(&mut queue, heavy);
    assert!(waited + ms(10_000) > 10 * DEBT_LIMIT, "it owes something: {waited:?}");
    assert!(waited <= 12 * (DEBT_LIMIT + ms(1_000)), "{waited:?}");
}

#[test]
fn the_debt_limit_holds_for_turns_that_began_before_the_return() {
    let (heavy, light) = (AccountId::generate(), AccountId::generate());
    let (mut queue, turns) = after_idle_capacity(heavy, light, 7);
    put_many(&mut queue, heavy, PAGE, 2);
    for turn in turns {
        queue.end_turn(turn, Some(ms(110_000)));
    }
    let waited = waits(&mut queue, heavy);
    assert!(waited <= 12 * (DEBT_LIMIT + ms(1_000)), "{waited:?}");
}

#[test]
fn an_account_at_its_running_limit_saves_no_credit() {
    let mut queue = queue(1_000, 1_000, 2);
    let (limited, other) = (AccountId::generate(), AccountId::generate());
    put_many(&mut queue, limited, PAGE, 40);
    let turns = [queue.next_turn().unwrap(), queue.next_turn().unwrap()];
    put_many(&mut queue, other, PAGE, 80);
    (0..40).for_each(|_| assert_eq!(run(&mut queue, ms(1_000)), Some(other)));
    for turn in turns {
        queue.end_turn(turn, Some(ms(1_000)));
    }
    let order: Vec<_> = std::iter::from_fn(|| run(&mut queue, ms(1_000))).take(10).collect();
    let own = order.iter().filter(|account| **account == limited).count();
    assert!(own <= 6, "{own} of the next ten: {order:?}");
}

#[test]
fn a_turn_without_a_run_changes_no_estimate() {
    let mut queue = queue(100, 100, 100);
    let account = AccountId::generate();
    put_many(&mut queue, account, PAGE, 2);
    assert_eq!(run(&mut queue, ms(9_000)), Some(account));
    let turn = queue.next_turn().unwrap();
    queue.end_turn(turn, None);
    assert_eq!(queue.estimates.of(PAGE), ms(9_000));
}
