//! How many jobs of heavy engines may have a turn at once. A heavy engine runs a limited number of programs at once: it has
//! slots.
//!
//! Hazard: a job keeps its turn while it waits for a slot of its engine. Two accounts with nine slow jobs each would hold
//! every turn of the service, most of them waiting for one program, and a page that needs no such engine would wait for
//! minutes beside idle tabs. So an engine gets one turn for each of its slots, and one more, whose job reads its inputs
//! until a slot is free. All heavy engines together are limited too, or several of them would take every turn.

use std::collections::HashMap;

use crate::domain::format_opts::PageOptions;
use crate::domain::ids::AccountId;
use crate::domain::kinds::{Target, TemplateKind};
use crate::engines::Engine;
use crate::engines::catalog::Catalog;
use crate::jobs::queue::cost::JobKind;
use crate::slots::AccountShare;
use crate::slots::engines::EngineBudget;

/// Which kinds of jobs need a heavy engine, and how many of them may run at once.
#[derive(Clone, Debug, Default)]
pub struct EngineLimits {
    /// A kind that is not here needs no heavy engine.
    kinds: HashMap<JobKind, EngineLimit>,
    /// Turns of all heavy engines together.
    all: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineLimit {
    pub engine: &'static str,
    /// Turns at once.
    pub turns: usize,
    /// Turns of one account at once.
    pub account_limit: usize,
}

/// Turns that are all taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullTurns {
    /// Those of this heavy engine.
    Of(&'static str),
    /// Those of all heavy engines together.
    Heavy,
    /// Those of the service: any turn would do.
    Any,
}

/// The turns under way.
#[derive(Debug, Default)]
pub(super) struct EngineTurns {
    limits: EngineLimits,
    engines: HashMap<&'static str, usize>,
    accounts: HashMap<(AccountId, &'static str), usize>,
    all: usize,
}

impl EngineLimits {
    /// Limits of these kinds, and `all` for all of them together.
    pub fn new(kinds: impl IntoIterator<Item = (JobKind, EngineLimit)>, all: usize) -> Self {
        Self { kinds: kinds.into_iter().collect(), all }
    }

    /// The limits that follow from the slots of the catalog's engines, in a service that runs `turns` jobs at once. A job
    /// counts for the engine of its usual route with the fewest slots, for which such jobs wait.
    pub fn of(catalog: &Catalog, budget: &EngineBudget, turns: usize) -> Self {
        let slots = |engine: &Engine| Some(budget.slot_count(engine.name, engine.slots?));
        let pairs = TemplateKind::ALL.into_iter().flat_map(|kind| Target::ALL.map(|target| (kind, target)));
        let kinds = pairs.filter_map(|(kind, target)| {
            let route = catalog.route(kind, target, &PageOptions::default())?;
            let (engine, slots) = catalog.with_fewest_slots(&route, slots)?;
            let limit = EngineLimit { engine, turns: slots + 1, account_limit: budget.share().of(slots) + 1 };
            Some((JobKind { kind, target }, limit))
        });
        Self::new(kinds, AccountShare::default().of(turns))
    }
}

impl EngineTurns {
    pub(super) fn new(limits: EngineLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    #[cfg(test)]
    pub(super) fn limit_of(&self, kind: JobKind) -> Option<EngineLimit> {
        self.limits.kinds.get(&kind).copied()
    }

    /// The heavy engine that a job of this kind needs.
    pub(super) fn engine_of(&self, kind: JobKind) -> Option<&'static str> {
        self.limits.kinds.get(&kind).map(|limit| limit.engine)
    }

    /// Whether one more job of this kind may have a turn.
    pub(super) fn may_begin(&self, account: AccountId, kind: JobKind) -> bool {
        let Some(EngineLimit { engine, turns, account_limit }) = self.limits.kinds.get(&kind) else {
            return true;
        };
        let under_way = |count: Option<&usize>| count.copied().unwrap_or(0);
        self.all < self.limits.all
            && under_way(self.engines.get(engine)) < *turns
            && under_way(self.accounts.get(&(account, *engine))) < *account_limit
    }

    /// Whether the account has its share of the turns that a job of this kind needs.
    pub(super) fn has_share(&self, account: AccountId, kind: JobKind) -> bool {
        let limit = self.limits.kinds.get(&kind);
        limit.is_some_and(|limit| {
            self.accounts.get(&(account, limit.engine)).is_some_and(|count| *count >= limit.account_limit)
        })
    }

    /// Which turns are all taken that a job of this kind needs.
    pub(super) fn full_for(&self, kind: JobKind) -> Option<FullTurns> {
        let limit = self.limits.kinds.get(&kind)?;
        if self.engines.get(limit.engine).copied().unwrap_or(0) >= limit.turns {
            Some(FullTurns::Of(limit.engine))
        } else {
            (self.all >= self.limits.all).then_some(FullTurns::Heavy)
        }
    }

    /// A turn made way: it counts for its account only from now on.
    pub(super) fn make_way(&mut self, kind: JobKind) {
        let Some(engine) = self.engine_of(kind) else { return };
        self.all = self.all.saturating_sub(1);
        if let Some(count) = self.engines.get_mut(engine) {
            *count = count.saturating_sub(1);
        }
    }

    pub(super) fn begin(&mut self, account: AccountId, kind: JobKind) {
        let Some(engine) = self.engine_of(kind) else { return };
        self.all += 1;
        *self.engines.entry(engine).or_default() += 1;
        *self.accounts.entry((account, engine)).or_default() += 1;
    }

    /// A turn ends, which may have made way before.
    pub(super) fn end(&mut self, account: AccountId, kind: JobKind, has_made_way: bool) {
        let Some(engine) = self.engine_of(kind) else { return };
        if !has_made_way {
            self.make_way(kind);
        }
        if let Some(count) = self.accounts.get_mut(&(account, engine)) {
            *count = count.saturating_sub(1);
        }
        self.accounts.retain(|_, count| *count > 0);
    }
}
