//! What holds for every order of calls.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// What is done to a queue.
#[derive(Clone, Debug)]
enum Act {
    Put(usize, JobKind),
    Refuse(usize),
    Cancel(usize),
    Next,
    End(usize, u64),
    Lose(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0..4_usize, prop_oneof![Just(PAPER), Just(PAGE)]).prop_map(|(at, kind)| Act::Put(at, kind)),
        1 => (0..4_usize).prop_map(Act::Refuse),
        1 => any::<usize>().prop_map(Act::Cancel),
        4 => Just(Act::Next),
        3 => (any::<usize>(), 0..5_000_u64).prop_map(|(at, cost)| Act::End(at, cost)),
        1 => any::<usize>().prop_map(Act::Lose),
    ];
    vec(act, 0..200)
}

proptest! {
    /// Whatever is done: no job is lost, none runs twice or before an earlier one of its account, no account and no engine has
    /// more turns than its limit, and no turn is withheld while an account may have it.
    #[test]
    fn no_job_is_lost_reordered_or_run_twice(
        acts in acts(),
        limit in 1..4_usize,
        turns in 1..4_usize,
        engine_share in 1..4_usize,
    ) {
        let accounts: [AccountId; 4] = std::array::from_fn(|_| AccountId::generate());
        let paper = EngineLimit { engine: "tex", turns, account_limit: engine_share };
        let engines = EngineLimits::new([(PAPER, paper)], 3);
        let limits = QueueLimits { all: 20, account: 8, running: limit };
        let mut queue = FairQueue::new(limits, engines, Gauge::default());
        let mut waiting: HashMap<AccountId, VecDeque<(JobId, JobKind)>> = HashMap::new();
        let mut running: Vec<Turn> = Vec::new();
        for act in acts {
            let under_way = |running: &[Turn], account| running.iter().filter(|turn| turn.account == account).count();
            let may_run = |running: &[Turn], account, kind| {
                let papers: Vec<_> = running.iter().filter(|turn| turn.kind == PAPER).collect();
                let of_account = papers.iter().filter(|turn| turn.account == account).count();
                let has_engine_turn = papers.len() < turns.min(3) && of_account < engine_share;
                under_way(running, account) < limit && (kind == PAGE || has_engine_turn)
            };
            match act {
                Act::Put(at, kind) => {
                    let account = accounts[at];
                    let all: usize = waiting.values().map(VecDeque::len).sum();
                    let own = waiting.get(&account).map_or(0, VecDeque::len);
                    let admitted = queue.take_place(account);
                    let expected = match (all < 20, own < 8) {
                        (true, true) => Ok(()),
                        (false, _) => Err(AdmissionError::QueueFull),
                        (true, false) => Err(AdmissionError::AccountFull),
                    };
                    prop_assert_eq!(admitted, expected);
                    if admitted.is_ok() {
                        let job = JobId::generate();
                        queue.enqueue(account, job, kind);
                        waiting.entry(account).or_default().push_back((job, kind));
                    }
                }
                Act::Refuse(at) => {
                    if queue.take_place(accounts[at]).is_ok() {
                        queue.give_up_place(accounts[at]);
                    }
                }
                Act::Cancel(at) => {
                    let jobs = waiting.iter().flat_map(|(account, jobs)| jobs.iter().map(|(job, _)| (*account, *job)));
                    let jobs: Vec<_> = jobs.collect();
                    if let Some((account, job)) = jobs.get(at % jobs.len().max(1)) {
                        queue.remove(*account, *job);
                        waiting.get_mut(account).unwrap().retain(|(waiting, _)| waiting != job);
                    }
                }
                Act::Next => match queue.next_turn() {
                    Some(turn) => {
                        prop_assert!(may_run(&running, turn.account, turn.kind));
                        let first = waiting.get_mut(&turn.account).unwrap().pop_front();
                        prop_assert_eq!(first, Some((turn.job, turn.kind)));
                        running.push(turn);
                    }
                    None => {
                        for (account, jobs) in &waiting {
                            prop_assert!(jobs.front().is_none_or(|(_, kind)| !may_run(&running, *account, *kind)));
                        }
                    }
                },
                Act::End(at, cost) if !running.is_empty() => {
                    let turn = running.swap_remove(at % running.len());
                    queue.end_turn(turn, Some(ms(cost)));
                }
                Act::Lose(at) if !running.is_empty() => {
                    let turn = running.swap_remove(at % running.len());
                    queue.end_turn(turn, None);
                }
                Act::End(..) | Act::Lose(_) => {}
            }
            prop_assert_eq!(queue.total, waiting.values().map(VecDeque::len).sum::<usize>());
        }
    }

    /// Accounts that always have a job waiting get the same of what is worked, but for the jobs under way: whatever
    /// their jobs cost, however many each may run, and whenever one of them joins or goes and comes back.
    #[test]
    fn accounts_that_always_wait_get_equal_time(
        costs in vec(5..2_000_u64, 2..5),
        slots in 1..6_usize,
        limit in 1..7_usize,
        late in 0..50_usize,
        away in 0..50_usize,
    ) {
        let mut queue = queue(1_000, 1_000, limit);
        let accounts: Vec<_> = costs.iter().map(|cost| (AccountId::generate(), *cost)).collect();
        let cost_of = |account| accounts.iter().find(|(it, _)| *it == account).unwrap().1;
        let (newcomer, _) = accounts[0];
        let mut worked: HashMap<AccountId, u64> = HashMap::new();
        // Turns under way, and when each ends.
        let (mut now, mut running) = (0, Vec::<(u64, Turn)>::new());
        for (account, _) in &accounts[1..] {
            put_many(&mut queue, *account, PAGE, 3);
        }
        for round in 0..400 {
            if round == late {
                // Three jobs, and no more until it comes back.
                put_many(&mut queue, newcomer, PAGE, 3);
            }
            if round == late + away {
                put_many(&mut queue, newcomer, PAGE, 3);
                worked.clear();
            }
            let is_away = |account| account == newcomer && round >= late && round < late + away;
            if running.len() < slots && let Some(turn) = queue.next_turn() {
                if !is_away(turn.account) {
                    put(&mut queue, turn.account);
                }
                running.push((now + cost_of(turn.account), turn));
            } else {
                let first = (0..running.len()).min_by_key(|at| running[*at].0).unwrap();
                let (at, turn) = running.swap_remove(first);
                now = at;
                let cost = cost_of(turn.account);
                *worked.entry(turn.account).or_default() += cost;
                queue.end_turn(turn, Some(ms(cost)));
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
