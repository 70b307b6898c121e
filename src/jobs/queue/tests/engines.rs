//! Jobs of heavy engines leave turns to jobs that need none.

use super::*;
use crate::config::EnginesConfig;
use crate::domain::format_opts::KeySet;
use crate::domain::kinds::FileKind;
use crate::engines::catalog::Catalog;
use crate::engines::document::DocumentKind;
use crate::engines::plan::Ability;
use crate::engines::step::StepKind;
use crate::engines::{self, Engine};
use crate::slots::AccountShare;
use crate::slots::engines::EngineBudget;
use crate::telemetry::metrics::Metrics;

const PICTURE: JobKind = JobKind { kind: TemplateKind::Latex, target: Target::Png };
const TEX: EngineLimit = EngineLimit { engine: "tex", turns: 3, account_limit: 2 };

fn heavy_queue(all: usize, kinds: &[(JobKind, EngineLimit)]) -> FairQueue {
    let limits = QueueLimits { all: 1_000, account: 1_000, running: 7 };
    FairQueue::new(limits, EngineLimits::new(kinds.iter().copied(), all), Gauge::default())
}

/// The service has nine turns.
fn fill(queue: &mut FairQueue) -> Vec<Turn> {
    std::iter::from_fn(|| queue.next_turn()).take(9).collect()
}

#[test]
fn queued_slow_jobs_of_two_accounts_do_not_delay_a_third_account() {
    let mut queue = heavy_queue(7, &[(PAPER, TEX)]);
    let [one, two, third] = std::array::from_fn(|_| AccountId::generate());
    for account in [one, two] {
        put_many(&mut queue, account, PAPER, 9);
    }
    let mut turns = fill(&mut queue);
    let accounts: Vec<_> = turns.iter().map(|turn| turn.account).collect();
    assert_eq!(accounts, [one, two, one], "what the engine can use, and six turns are left");
    let page = put(&mut queue, third);
    let turn = queue.next_turn().unwrap();
    assert_eq!(turn.job, page);
    queue.end_turn(turn, Some(ms(20)));
    queue.end_turn(turns.remove(0), Some(ms(10_000)));
    assert_eq!(
        queue.next_turn().map(|turn| turn.account),
        Some(two),
        "a slot that came free is taken at once"
    );
    assert_eq!(queue.next_turn(), None);
}

#[test]
fn several_engines_together_leave_turns_to_jobs_that_need_none() {
    let raster = EngineLimit { engine: "raster", turns: 6, account_limit: 6 };
    let mut queue =
        heavy_queue(7, &[(PAPER, EngineLimit { turns: 6, account_limit: 6, ..TEX }), (PICTURE, raster)]);
    put_many(&mut queue, AccountId::generate(), PAPER, 9);
    put_many(&mut queue, AccountId::generate(), PICTURE, 9);
    assert_eq!(fill(&mut queue).len(), 7);
    let page = put(&mut queue, AccountId::generate());
    assert_eq!(queue.next_turn().map(|turn| turn.job), Some(page));
}

#[test]
fn waiting_for_an_engine_saves_no_credit_for_other_jobs() {
    let mut queue = heavy_queue(7, &[(PAPER, EngineLimit { turns: 1, account_limit: 1, ..TEX })]);
    let (heavy, other) = (AccountId::generate(), AccountId::generate());
    put_many(&mut queue, heavy, PAPER, 2);
    put_many(&mut queue, heavy, PAGE, 20);
    let paper = queue.next_turn().unwrap();
    put_many(&mut queue, other, PAGE, 80);
    (0..40).for_each(|_| assert_eq!(run(&mut queue, ms(1_000)), Some(other)));
    queue.end_turn(paper, Some(ms(1_000)));
    assert_eq!(run(&mut queue, ms(1_000)), Some(heavy), "it is the next one of its engine");
    let order: Vec<_> = std::iter::from_fn(|| run(&mut queue, ms(1_000))).take(10).collect();
    let own = order.iter().filter(|account| **account == heavy).count();
    assert!(own <= 6, "{own} of the next ten: {order:?}");
}

#[test]
fn accounts_that_wait_for_one_engine_share_it_by_cost() {
    let mut queue = heavy_queue(7, &[(PAPER, EngineLimit { turns: 1, account_limit: 1, ..TEX })]);
    let [slow, quick, pages] = std::array::from_fn(|_| AccountId::generate());
    put_many(&mut queue, slow, PAPER, 20);
    put_many(&mut queue, quick, PAPER, 60);
    let mut order = Vec::new();
    for _ in 0..24 {
        let paper = queue.next_turn().unwrap();
        put_many(&mut queue, pages, PAGE, 2);
        (0..2).for_each(|_| assert_eq!(run(&mut queue, ms(30_000)), Some(pages)));
        let is_slow = paper.account == slow;
        order.push(is_slow);
        queue.end_turn(paper, Some(ms(if is_slow { 10_000 } else { 1_000 })));
    }
    let slow = order.iter().filter(|is_slow| **is_slow).count();
    assert!((2..=4).contains(&slow), "one of 10 s for ten of 1 s: {order:?}");
}

const fn ability(step: StepKind, from: DocumentKind, to: FileKind) -> Ability {
    Ability { step, from, to: DocumentKind::File(to), cost: 1, heeds: KeySet::NONE, asked_by: None }
}

const CONVERT: &[Ability] =
    &[ability(StepKind::Convert, DocumentKind::Template(TemplateKind::Latex), FileKind::Pdf)];
const RASTER: &[Ability] = &[ability(StepKind::Raster, DocumentKind::File(FileKind::Pdf), FileKind::Png)];

#[test]
fn a_kind_of_job_counts_for_the_engine_of_its_route_with_the_fewest_slots() {
    let base = Engine {
        requires: &[],
        reads_files: false,
        start: |_| panic!("no test starts it"),
        ..engines::ejs::ENGINE
    };
    let tex = Engine { name: "tex", abilities: CONVERT, slots: Some(2), ..base };
    let raster = Engine { name: "raster", abilities: RASTER, slots: Some(1), ..base };
    let with_heavy = engines::all().into_iter().chain([tex, raster]).collect();
    let metrics = Metrics::new();
    let catalog = Catalog::new(with_heavy, true, metrics.engines);
    let limits = |slots: &[&str]| {
        let slots = slots.iter().map(|&entry| entry.to_owned()).collect();
        let config = EnginesConfig { slots, ..EnginesConfig::default() };
        let budget = EngineBudget::new(&config, AccountShare::new(0), metrics.slots.clone());
        let turns = super::super::engines::EngineTurns::new(EngineLimits::of(&catalog, &budget, 9));
        [PAGE, PAPER, PICTURE].map(|kind| turns.limit_of(kind))
    };
    let of = |engine, turns, account_limit| Some(EngineLimit { engine, turns, account_limit });
    assert_eq!(limits(&[]), [None, of("tex", 4, 3), of("raster", 3, 2)]);
    assert_eq!(limits(&["raster=8"]), [None, of("tex", 4, 3), of("tex", 4, 3)]);
}
