// Watches what a worker has begun and not ended, and reports when nothing of it is left.
//
// Evaluated before the first statement of the worker's script, in its world, under the same rules as that of a page
// (idle_page.js), with the same reports by the same binding. A worker has no document: a message that comes or goes
// counts as a change, as long as it does not merely tick. While it computes it cannot report, so the service asks it.
//
// name: of the binding; limits: as in idle_pending.js, and `asked`: the longest timer (ms) that is waited for in a
// worker that owes an answer; makePending, installHooks, watchUnseen, watchStores: the scripts beside this one.
(function (name, limits, makePending, installHooks, watchUnseen, watchStores) {
  'use strict';

  const report = globalThis[name];
  if (typeof report !== 'function' || !Reflect.deleteProperty(globalThis, name)) return;

  const BEAT_MS = 250;
  const BEATS_A_REPORT = 4;
  const COMPUTING_SHARE = 0.3;
  const { apply } = Reflect;
  const clock = performance;
  const native = { __proto__: null, now: Performance.prototype.now, timeout: setTimeout };
  const add = EventTarget.prototype.addEventListener;
  const now = () => apply(native.now, clock, []);
  const after = (ms, run) => apply(native.timeout, globalThis, [run, ms]);
  const listen = (target, type, run) => apply(add, target, [type, run, true]);

  let activity = 0;
  let drawn = 0;
  let drawnSeen = 0;
  let settling = false;
  let waking = false;
  let beats = 0;
  let reported = '';
  // A message came, and none went since.
  let owes = false;
  let owesSince = 0;
  // Whether work may go on that no hook sees.
  let opaque = false;

  const say = status => {
    if (reported === status) return;
    reported = status;
    let what = pending.names(status !== 'busy');
    if (what) what = 'a worker with ' + what;
    else if (opaque && owes) what = 'a worker that has not answered';
    else if (status === 'busy') what = 'a worker that computes';
    apply(report, undefined, ['worker:' + status + ':' + pending.workers + ':' + what]);
  };
  const active = () => {
    activity++;
    say('busy');
  };
  const ran = () => {
    if (drawn !== drawnSeen) {
      drawnSeen = drawn;
      pending.changed();
    }
    consider();
  };
  const consider = () => {
    if (settling || pending.firm > 0) return;
    settling = true;
    const seen = activity;
    after(0, () => after(0, () => {
      settling = false;
      if (activity !== seen) consider();
      else decide();
    }));
  };
  const decide = () => {
    if (drawn !== drawnSeen) return ran();
    // A worker that owes an answer and may work unseen is given the bound to answer.
    const owed = opaque && owes ? limits.bound - (now() - owesSince) : 0;
    const ticks = pending.ticks();
    if (!ticks && owed <= 0) return say('idle');
    const quiet = ticks ? pending.quietLeft() : 0;
    const left = quiet > owed ? quiet : owed;
    if (left <= 0) return say('quiet');
    if (waking) return;
    waking = true;
    after(left, () => {
      waking = false;
      consider();
    });
  };
  const beat = () => {
    pending.loosenLate();
    if (++beats % BEATS_A_REPORT === 0) {
      const status = reported;
      reported = '';
      say(status || 'busy');
    }
    consider();
    after(BEAT_MS, beat);
  };

  const bound = () => (owes ? limits.asked : limits.bound);
  // Whether it spends a large share of its time in callbacks, as one that computes in slices does.
  const computes = () => pending.spent > COMPUTING_SHARE * (now() - pending.changedAt);
  const host = { __proto__: null, now, bound, hasChanged: () => false, computes, active, consider };
  const pending = makePending(limits, host);
  pending.loaded = true;
  const sent = () => {
    owes = false;
    pending.exchanged();
  };
  const open = () => {
    opaque = true;
  };
  const kit = { __proto__: null, after, listen, open, messaged: sent, ran, bound, drew: () => void drawn++ };
  const { around, proxy } = installHooks(globalThis, pending, limits, kit);
  watchUnseen(globalThis, around, proxy, open, watchStores(globalThis, around, listen, pending));

  listen(globalThis, 'message', () => {
    owes = true;
    owesSince = now();
    pending.exchanged();
  });
  around(globalThis, 'postMessage', (target, self, args) => {
    sent();
    return apply(target, self, args);
  });

  active();
  consider();
  after(BEAT_MS, beat);
})
