// Watches what a worker has begun and not ended, and tells when nothing of it is left.
//
// Evaluated before the first statement of the worker's script, in its world, under the same rules as that of a page
// (rest.js). It tells the same by the same binding. A worker has no document: a message that comes or goes counts
// as a change, as long as it does not merely tick. While it computes it tells nothing, which is found by asking it.
//
// name: of the binding; limits: as the book has them, and `asked`: longest timer in ms of one that owes an answer;
// makeBook, enterBegun, watchDoors: the scripts beside this one.
(function (name, limits, makeBook, enterBegun, watchDoors) {
  'use strict';

  const tell = globalThis[name];
  if (typeof tell !== 'function' || !Reflect.deleteProperty(globalThis, name)) return;

  const BEAT_MS = 250;
  const BEATS_A_TELLING = 4;
  const COMPUTING_SHARE = 0.3;
  const { apply } = Reflect;
  const clock = performance;
  const native = { __proto__: null, now: Performance.prototype.now, timeout: setTimeout };
  const add = EventTarget.prototype.addEventListener;
  const now = () => apply(native.now, clock, []);
  const after = (ms, run) => apply(native.timeout, globalThis, [run, ms]);
  const listen = (target, type, run) => apply(add, target, [type, run, true]);

  let stirs = 0;
  let drawn = 0;
  let drawnSeen = 0;
  let settling = false;
  let waking = false;
  let beats = 0;
  let told = '';
  // A message came, and none went since.
  let owes = false;
  let owesSince = 0;
  // It may do something that is not seen.
  let opaque = false;

  const say = status => {
    if (told === status) return;
    told = status;
    let what = book.names(status !== 'busy');
    if (what) what = 'a worker with ' + what;
    else if (opaque && owes) what = 'a worker that has not answered';
    else if (status === 'busy') what = 'a worker that computes';
    apply(tell, undefined, ['worker:' + status + ':' + book.workers + ':' + what]);
  };
  const stirred = () => {
    stirs++;
    say('busy');
  };
  const ran = () => {
    if (drawn !== drawnSeen) {
      drawnSeen = drawn;
      book.changed();
    }
    consider();
  };
  const consider = () => {
    if (settling || book.firm > 0) return;
    settling = true;
    const seen = stirs;
    after(0, () => after(0, () => {
      settling = false;
      if (stirs !== seen) consider();
      else decide();
    }));
  };
  const decide = () => {
    if (drawn !== drawnSeen) return ran();
    // Who owes an answer and does something unseen may be about to give it.
    const owed = opaque && owes ? limits.bound - (now() - owesSince) : 0;
    const ticks = book.ticks();
    if (!ticks && owed <= 0) return say('rest');
    const quiet = ticks ? book.quietLeft() : 0;
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
    book.loosenLate();
    if (++beats % BEATS_A_TELLING === 0) {
      const status = told;
      told = '';
      say(status || 'busy');
    }
    consider();
    after(BEAT_MS, beat);
  };

  const bound = () => (owes ? limits.asked : limits.bound);
  // It goes on by timers, and spends its time in them.
  const computes = () => book.spent > COMPUTING_SHARE * (now() - book.changedAt);
  const host = { __proto__: null, now, bound, hasChanged: () => false, computes, stirred, consider };
  const book = makeBook(limits, host);
  book.loaded = true;
  const sent = () => {
    owes = false;
    book.heardNews();
  };
  const open = () => {
    opaque = true;
  };
  const kit = { __proto__: null, after, listen, open, talked: sent, ran, bound, drew: () => void drawn++ };
  const { around, proxy } = enterBegun(globalThis, book, limits, kit);
  watchDoors(globalThis, around, proxy, open);

  listen(globalThis, 'message', () => {
    owes = true;
    owesSince = now();
    book.heardNews();
  });
  around(globalThis, 'postMessage', (target, self, args) => {
    sent();
    return apply(target, self, args);
  });

  stirred();
  consider();
  after(BEAT_MS, beat);
})
