// Watches what a page has begun and not ended, and tells when nothing of it is left.
//
// Evaluated in every frame before the page's own scripts, in the page's own world: only there timers and
// requests can be seen. It takes the natives it needs at once; what the page puts in their place later
// changes nothing here. For the same reason nothing in it, in the book (rest_book.js) and in what enters there
// (rest_begun.js, rest_doors.js) iterates, spreads or calls a method that the page could have replaced, once the page runs.
//
// It tells `place:status:workers:what` by a binding: `busy` (what is waited for), `quiet` (only what ticks is left, and
// nothing changed for the window), `rest` (nothing that can be seen is left) or `done` (nothing is left, for the page
// has opened no door behind which anything could be that is not seen); these three with what is pending all the same.
// workers: how many of the page's are to be heard of elsewhere.
//
// name: of the binding; limits: as the book has them; makeBook, enterBegun, watchDoors: the scripts beside this one.
(function (name, limits, makeBook, enterBegun, watchDoors) {
  'use strict';

  const tell = globalThis[name];
  if (typeof tell !== 'function' || !Reflect.deleteProperty(globalThis, name)) return;

  const BEAT_MS = 250;
  const BEATS_A_TELLING = 4;
  const FRAME_WAIT_MS = window.top === window ? 200 : 50;
  const OPAQUE_ELEMENTS = 'iframe, frame, object, embed, video, audio, [loading=lazy i]';
  const EVERYTHING = { subtree: true, childList: true, attributes: true, characterData: true };

  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const clock = performance;
  const place = window.top === window ? 'top' : 'frame';
  const natives = {
    __proto__: null,
    now: Performance.prototype.now,
    timeout: setTimeout,
    frame: requestAnimationFrame,
    scrollX: getOwnPropertyDescriptor(window, 'scrollX').get,
    query: Document.prototype.querySelector,
    listen: EventTarget.prototype.addEventListener,
    observe: MutationObserver.prototype.observe,
    take: MutationObserver.prototype.takeRecords,
    animations: Document.prototype.getAnimations,
    effect: getOwnPropertyDescriptor(Animation.prototype, 'effect').get,
    playState: getOwnPropertyDescriptor(Animation.prototype, 'playState').get,
    currentTime: getOwnPropertyDescriptor(Animation.prototype, 'currentTime').get,
    timing: AnimationEffect.prototype.getComputedTiming,
    readyState: getOwnPropertyDescriptor(Document.prototype, 'readyState').get,
    fonts: getOwnPropertyDescriptor(Document.prototype, 'fonts').get,
    fontsStatus: getOwnPropertyDescriptor(FontFaceSet.prototype, 'status').get,
  };
  const now = () => apply(natives.now, clock, []);
  const after = (ms, run) => apply(natives.timeout, window, [run, ms]);
  const listen = (target, type, run) => apply(natives.listen, target, [type, run, true]);

  // The window that the page is in is hardly there, for what is printed need not be painted.
  for (const side of window.top === window ? ['Width', 'Height'] : []) {
    const inner = getOwnPropertyDescriptor(window, 'inner' + side);
    const outer = getOwnPropertyDescriptor(window, 'outer' + side);
    if (inner && outer) defineProperty(window, 'outer' + side, { ...outer, get: inner.get });
  }

  // Counts what may lead to more: a change, something firm that began or ended.
  let stirs = 0;
  let drawn = 0;
  let drawnSeen = 0;
  // Something may go on that is not seen, or only when a frame comes.
  let opaque = false;
  let settling = false;
  let waking = false;
  let beats = 0;
  let told = '';
  let observed = null;

  const say = status => {
    if (told === status) return;
    told = status;
    let what = 'the load event';
    if (book.loaded) what = book.names(status !== 'busy') || (status === 'busy' ? 'changes of the document' : '');
    apply(tell, undefined, [place + ':' + status + ':' + book.workers + ':' + what]);
  };

  const stirred = () => {
    stirs++;
    say('busy');
  };
  // A change of the present task is not reported yet.
  const hasChanged = () => {
    if (apply(natives.take, observer, []).length === 0) return false;
    book.changed();
    return true;
  };

  // Work of the page's ended: whether it drew is not reported by anybody.
  const ran = () => {
    if (drawn !== drawnSeen) {
      drawnSeen = drawn;
      book.changed();
    }
    consider();
  };

  // One look when the page has been laid out, by a frame where it needs one, and a task more: what a change
  // sets off (layout, observers, requests of style sheets, continuations of promises) has begun by then.
  const consider = () => {
    if (settling || book.firm > 0 || !book.loaded) return;
    settling = true;
    const seen = stirs;
    turn(() => {
      settling = false;
      if (stirs !== seen) consider();
      else decide();
    });
  };

  // From now on a frame is waited for, also by whoever looks already.
  const open = () => {
    if (opaque) return;
    opaque = true;
    stirred();
    consider();
  };

  const turn = run => {
    opaque ||= apply(natives.query, document, [OPAQUE_ELEMENTS]) !== null;
    if (!opaque) {
      apply(natives.scrollX, window, []);
      after(0, () => after(0, run));
      return;
    }
    let done = false;
    const go = () => {
      if (done) return;
      done = true;
      run();
    };
    apply(natives.frame, window, [() => after(0, go)]);
    after(FRAME_WAIT_MS, go);
  };

  const decide = () => {
    if (drawn !== drawnSeen) return ran();
    // That one has ended is told with a frame.
    if (!opaque && apply(natives.animations, document, []).length > 0) return open();
    const animated = animatedFor();
    if (animated > 0) {
      const key = book.hold('an animation', animated);
      after(animated, () => book.end(key));
      return;
    }
    if (apply(natives.fontsStatus, apply(natives.fonts, document, []), []) === 'loading') return wake(10);
    if (!book.ticks()) return say(opaque ? 'rest' : 'done');
    const left = book.quietLeft();
    if (left <= 0) say('quiet');
    else wake(left);
  };

  const wake = ms => {
    if (waking) return;
    waking = true;
    after(ms, () => {
      waking = false;
      consider();
    });
  };

  // How long animations and transitions of style sheets still move, those without end left out.
  const animatedFor = () => {
    const all = apply(natives.animations, document, []);
    let longest = 0;
    for (let at = 0; at < all.length; at++) {
      if (apply(natives.playState, all[at], []) !== 'running') continue;
      const effect = apply(natives.effect, all[at], []);
      const time = apply(natives.currentTime, all[at], []);
      if (!effect || typeof time !== 'number') continue;
      const left = apply(natives.timing, effect, []).endTime - time;
      if (left > longest && left <= limits.bound) longest = left;
    }
    return longest && longest + 1;
  };

  const look = () => {
    if (!book.loaded && apply(natives.readyState, document, []) === 'complete') {
      book.loaded = true;
      book.settle();
    }
    // document.open() takes listeners away, and an empty frame's first document is replaced under us.
    listen(window, 'load', onLoad);
    if (book.loaded && observed !== document) {
      observed = document;
      apply(natives.observe, observer, [observed, EVERYTHING]);
      for (let at = 0; at < roots.length; at++) apply(natives.observe, observer, [roots[at], EVERYTHING]);
      roots.length = 0;
    }
    consider();
  };
  // Its own handlers come after this one.
  const onLoad = () => after(0, look);

  const beat = () => {
    book.loosenLate();
    if (++beats % BEATS_A_TELLING === 0) {
      const status = told;
      told = '';
      say(status || 'busy');
    }
    look();
    after(BEAT_MS, beat);
  };

  // Whether it computes is asked from outside.
  const computes = () => false;
  const host = { __proto__: null, now, bound: () => limits.bound, hasChanged, computes, stirred, consider };
  const book = makeBook(limits, host);
  const observer = new MutationObserver(book.changed);
  const { around, proxy } = enterBegun(window, book, limits, {
    __proto__: null,
    after,
    listen,
    open,
    talked: book.talked,
    ran,
    bound: host.bound,
    drew: () => void drawn++,
  });

  watchDoors(window, around, proxy, open);

  around(HTMLCanvasElement.prototype, 'toBlob', (target, self, args) => {
    const callback = args[0];
    if (typeof callback !== 'function') return apply(target, self, args);
    const key = book.hold('toBlob()', Infinity);
    args[0] = function () {
      book.end(key);
      return apply(callback, this, arguments);
    };
    return apply(target, self, args);
  });
  around(window, 'postMessage', (target, self, args) => {
    book.talked();
    return apply(target, self, args);
  });

  // Changes that the observer of the document does not see.
  const roots = [];
  around(Element.prototype, 'attachShadow', (target, self, args) => {
    const root = apply(target, self, args);
    if (observed) apply(natives.observe, observer, [root, EVERYTHING]);
    else roots[roots.length] = root;
    return root;
  });

  // Nothing is told before: in a frame whose script is off this much runs, and no timer ever.
  look();
  after(BEAT_MS, beat);
})
