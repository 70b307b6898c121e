//! The queue's rules one by one, and what holds whatever accounts do.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::domain::kinds::{Target, TemplateKind};

const PAGE: JobSort = JobSort { kind: TemplateKind::Html, target: Target::Pdf };
const PAPER: JobSort = JobSort { kind: TemplateKind::Latex, target: Target::Pdf };

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn queue(all: usize, account: usize, running: usize) -> FairQueue {
    FairQueue::new(QueueLimits { all, account, running }, Level::default())
}

/// The next job, whose turn ends at no cost.
fn next(queue: &mut FairQueue) -> Option<JobId> {
    let turn = queue.next()?;
    let job = turn.job;
    queue.ended(turn, Some(Duration::ZERO));
    Some(job)
}

fn put(queue: &mut FairQueue, account: AccountId) -> JobId {
    put_sort(queue, account, PAGE)
}

fn put_sort(queue: &mut FairQueue, account: AccountId, sort: JobSort) -> JobId {
    let job = JobId::generate();
    queue.admit(account).unwrap();
    queue.enter(account, job, sort);
    job
}

fn put_many(queue: &mut FairQueue, account: AccountId, sort: JobSort, count: usize) -> Vec<JobId> {
    (0..count).map(|_| put_sort(queue, account, sort)).collect()
}

/// Whose turn it is, which ends with this cost.
fn run(queue: &mut FairQueue, cost: Duration) -> Option<AccountId> {
    let turn = queue.next()?;
    let account = turn.account;
    queue.ended(turn, Some(cost));
    Some(account)
}

#[test]
fn accounts_whose_jobs_cost_the_same_take_turns_and_keep_their_order() {
    let mut queue = queue(100, 100, 100);
    let (flood, single) = (AccountId::generate(), AccountId::generate());
    let many: Vec<_> = (0..3).map(|_| put(&mut queue, flood)).collect();
    let one = put(&mut queue, single);
    let order: Vec<_> = std::iter::from_fn(|| queue.next()).map(|turn| turn.job).collect();
    assert_eq!(order, [many[0], one, many[1], many[2]]);
    assert_eq!(queue.len(), 0);
}

#[test]
fn both_bounds_hold_and_places_come_back() {
    let mut queue = queue(3, 2, 9);
    let (first, second) = (AccountId::generate(), AccountId::generate());
    put(&mut queue, first);
    queue.admit(first).unwrap();
    assert_eq!(queue.admit(first), Err(NoPlace::AccountFull));
    put(&mut queue, second);
    assert_eq!(queue.admit(second), Err(NoPlace::QueueFull));
    queue.release(first);
    assert_eq!(queue.admit(second), Ok(()));
}

#[test]
fn a_job_that_ended_while_it_waited_leaves_its_place() {
    let mut queue = queue(10, 10, 10);
    let account = AccountId::generate();
    let (first, second) = (put(&mut queue, account), put(&mut queue, account));
    queue.remove(account, first);
    queue.remove(account, first);
    assert_eq!((queue.len(), next(&mut queue), next(&mut queue), queue.len()), (1, Some(second), None, 0));
}

#[test]
fn an_account_that_runs_as_many_as_it_may_is_passed_over() {
    let mut queue = queue(10, 10, 2);
    let (many, other) = (AccountId::generate(), AccountId::generate());
    let jobs: Vec<_> = (0..4).map(|_| put(&mut queue, many)).collect();
    let (first, second) = (queue.next().unwrap(), queue.next().unwrap());
    assert_eq!(([first.job, second.job], queue.next()), ([jobs[0], jobs[1]], None));
    let late = put(&mut queue, other);
    assert_eq!((queue.next().map(|turn| turn.job), queue.next()), (Some(late), None));
    queue.ended(first, Some(ms(1)));
    assert_eq!((queue.next().map(|turn| turn.job), queue.next()), (Some(jobs[2]), None));
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
                let turn = queue.next().unwrap();
                let at = usize::from(turn.account == accounts[1]);
                queue.ended(turn, Some(ms(costs[at])));
                ['a', 'b'][at]
            })
            .collect();
        assert_eq!(order, turns, "{costs:?}");
    }
}

#[test]
fn while_slow_jobs_run_they_count_as_what_such_jobs_cost() {
    let mut queue = queue(100, 100, 100);
    let (papers, pages) = (AccountId::generate(), AccountId::generate());
    for (sort, account, cost) in [(PAPER, papers, 10_000), (PAGE, pages, 20)] {
        put_sort(&mut queue, account, sort);
        assert_eq!(run(&mut queue, ms(cost)), Some(account));
    }
    // Both have been away and owe nothing. From now on every turn is still under way.
    put_many(&mut queue, papers, PAPER, 9);
    put_many(&mut queue, pages, PAGE, 9);
    let order: Vec<_> = std::iter::from_fn(|| queue.next()).map(|turn| turn.account).collect();
    assert_eq!(order[..11], [[papers].as_slice(), &[pages; 9], &[papers]].concat());
}

#[test]
fn who_was_away_saved_nothing_up() {
    let mut queue = queue(100, 100, 100);
    let (busy, back) = (AccountId::generate(), AccountId::generate());
    put_many(&mut queue, busy, PAGE, 20);
    (0..10).for_each(|_| assert_eq!(run(&mut queue, ms(1_000)), Some(busy)));
    put_many(&mut queue, back, PAGE, 20);
    let order: Vec<_> = std::iter::from_fn(|| run(&mut queue, ms(1_000))).take(6).collect();
    assert_eq!(order, [back, busy, back, busy, back, busy]);
}

#[test]
fn who_goes_away_while_others_have_work_comes_back_with_its_debt() {
    let mut queue = queue(100, 100, 100);
    let (other, heavy) = (AccountId::generate(), AccountId::generate());
    put_many(&mut queue, other, PAGE, 20);
    assert_eq!(run(&mut queue, ms(100)), Some(other));
    put(&mut queue, heavy);
    assert_eq!(run(&mut queue, ms(1_000)), Some(heavy));
    // It has no job now, and the next one waits until the other account has had as much.
    put(&mut queue, heavy);
    let order: Vec<_> = std::iter::from_fn(|| run(&mut queue, ms(100))).take(11).collect();
    assert_eq!(order[..9], [other; 9]);
    assert!(order[9..].contains(&heavy), "{order:?}");
}

#[test]
fn a_dear_estimate_forgives_no_debt() {
    let mut queue = queue(100, 100, 100);
    let (heavy, light, third) = (AccountId::generate(), AccountId::generate(), AccountId::generate());
    put_many(&mut queue, heavy, PAGE, 3);
    assert_eq!(run(&mut queue, ms(5_000)), Some(heavy));
    // Three of them seem to cost 5 s each until they end.
    put_many(&mut queue, light, PAGE, 4);
    let turns = [queue.next().unwrap(), queue.next().unwrap()];
    assert_eq!(turns.each_ref().map(|turn| turn.account), [light, heavy]);
    for turn in turns {
        queue.ended(turn, Some(ms(10)));
    }
    put_many(&mut queue, third, PAGE, 3);
    let order: Vec<_> = std::iter::from_fn(|| run(&mut queue, ms(10))).take(6).collect();
    assert!(!order.contains(&heavy), "{order:?}");
}

#[test]
fn a_turn_that_nobody_took_costs_nothing() {
    let mut queue = queue(100, 100, 100);
    let (gone, other) = (AccountId::generate(), AccountId::generate());
    for account in [gone, other] {
        put_many(&mut queue, account, PAGE, 2);
    }
    let turn = queue.next().unwrap();
    assert_eq!(turn.account, gone);
    queue.ended(turn, None);
    let line = &queue.lines[&gone];
    assert_eq!((line.paid, line.expected, line.running), (ms(0), ms(0), 0));
    assert_eq!([run(&mut queue, ms(9)), run(&mut queue, ms(9))], [Some(other), Some(gone)]);
}

#[test]
fn of_accounts_without_job_and_debt_nothing_is_kept() {
    let mut queue = queue(100, 100, 100);
    put(&mut queue, AccountId::generate());
    let turn = queue.next().unwrap();
    queue.admit(AccountId::generate()).unwrap();
    queue.ended(turn, Some(ms(50)));
    assert_eq!(queue.lines.len(), 2, "the first one owes something to who is about to come");
    let about_to = *queue.lines.iter().find(|(_, line)| line.admitted > 0).unwrap().0;
    queue.release(about_to);
    assert!(queue.lines.is_empty() && queue.floor == Duration::ZERO);
}

/// What somebody does to a queue.
#[derive(Clone, Debug)]
enum Act {
    Put(usize),
    Refuse(usize),
    Cancel(usize),
    Next,
    End(usize, u64),
    Lose(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0..4_usize).prop_map(Act::Put),
        1 => (0..4_usize).prop_map(Act::Refuse),
        1 => any::<usize>().prop_map(Act::Cancel),
        4 => Just(Act::Next),
        3 => (any::<usize>(), 0..5_000_u64).prop_map(|(at, cost)| Act::End(at, cost)),
        1 => any::<usize>().prop_map(Act::Lose),
    ];
    vec(act, 0..200)
}

proptest! {
    /// Whatever is done: no job is lost, none runs twice or before an earlier one of its account, nobody runs more than
    /// he may, and no turn is withheld while somebody may have it.
    #[test]
    fn the_queue_is_a_queue(acts in acts(), limit in 1..4_usize) {
        let accounts: [AccountId; 4] = std::array::from_fn(|_| AccountId::generate());
        let mut queue = queue(20, 8, limit);
        let mut waiting: HashMap<AccountId, VecDeque<JobId>> = HashMap::new();
        let mut running: Vec<Turn> = Vec::new();
        for act in acts {
            let runs = |running: &[Turn], account| running.iter().filter(|turn| turn.account == account).count();
            match act {
                Act::Put(at) => {
                    let account = accounts[at];
                    let all: usize = waiting.values().map(VecDeque::len).sum();
                    let own = waiting.get(&account).map_or(0, VecDeque::len);
                    let admitted = queue.admit(account);
                    prop_assert_eq!(admitted.is_ok(), all < 20 && own < 8);
                    if admitted.is_ok() {
                        let job = JobId::generate();
                        queue.enter(account, job, if at == 0 { PAPER } else { PAGE });
                        waiting.entry(account).or_default().push_back(job);
                    }
                }
                Act::Refuse(at) => {
                    if queue.admit(accounts[at]).is_ok() {
                        queue.release(accounts[at]);
                    }
                }
                Act::Cancel(at) => {
                    let jobs = waiting.iter().flat_map(|(account, jobs)| jobs.iter().map(|job| (*account, *job)));
                    let jobs: Vec<_> = jobs.collect();
                    if let Some((account, job)) = jobs.get(at % jobs.len().max(1)) {
                        queue.remove(*account, *job);
                        waiting.get_mut(account).unwrap().retain(|waiting| waiting != job);
                    }
                }
                Act::Next => match queue.next() {
                    Some(turn) => {
                        prop_assert!(runs(&running, turn.account) < limit);
                        prop_assert_eq!(waiting.get_mut(&turn.account).unwrap().pop_front(), Some(turn.job));
                        running.push(turn);
                    }
                    None => {
                        for (account, jobs) in &waiting {
                            prop_assert!(jobs.is_empty() || runs(&running, *account) == limit);
                        }
                    }
                },
                Act::End(at, cost) if !running.is_empty() => {
                    let turn = running.swap_remove(at % running.len());
                    queue.ended(turn, Some(ms(cost)));
                }
                Act::Lose(at) if !running.is_empty() => {
                    let turn = running.swap_remove(at % running.len());
                    queue.ended(turn, None);
                }
                Act::End(..) | Act::Lose(_) => {}
            }
            prop_assert_eq!(queue.len(), waiting.values().map(VecDeque::len).sum::<usize>());
        }
    }

    /// Accounts that always have a job waiting get the same of what is worked, but for the jobs under way: whatever
    /// their jobs cost, and whenever one of them joins.
    #[test]
    fn who_always_waits_gets_as_much_as_the_others(
        costs in vec(5..2_000_u64, 2..5),
        slots in 1..6_usize,
        late in 0..50_usize,
    ) {
        let mut queue = queue(1_000, 1_000, 100);
        let accounts: Vec<_> = costs.iter().map(|cost| (AccountId::generate(), *cost)).collect();
        let cost_of = |account| accounts.iter().find(|(it, _)| *it == account).unwrap().1;
        let (newcomer, _) = accounts[0];
        let mut worked: HashMap<AccountId, u64> = HashMap::new();
        // Who runs until when; the one that ends first makes room.
        let (mut now, mut running) = (0, Vec::<(u64, Turn)>::new());
        for (account, _) in &accounts[1..] {
            put_many(&mut queue, *account, PAGE, 3);
        }
        for round in 0..400 {
            if round == late {
                put_many(&mut queue, newcomer, PAGE, 3);
                worked.clear();
            }
            if running.len() < slots {
                let turn = queue.next().unwrap();
                put(&mut queue, turn.account);
                running.push((now + cost_of(turn.account), turn));
            } else {
                let first = (0..running.len()).min_by_key(|at| running[*at].0).unwrap();
                let (at, turn) = running.swap_remove(first);
                now = at;
                let cost = cost_of(turn.account);
                *worked.entry(turn.account).or_default() += cost;
                queue.ended(turn, Some(ms(cost)));
            }
        }
        let dearest = costs.iter().max().unwrap();
        let worked = |account| worked.get(&account).copied().unwrap_or(0);
        let all: Vec<_> = accounts.iter().map(|(account, _)| worked(*account)).collect();
        let gap = all.iter().max().unwrap() - all.iter().min().unwrap();
        let under_way = 2 * dearest.max(&250) * (slots as u64 + 1);
        prop_assert!(gap <= under_way, "{all:?} of {costs:?}, {slots} slots: {gap} > {under_way}");
    }
}
