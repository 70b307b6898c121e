// Watches what a page has begun and not ended, and reports when nothing of it is left.
//
// Evaluated in every frame before the page's own scripts, in the page's own world: only there can timers and requests
// be seen. A page may replace any native: those needed here are captured at once, and once the page runs, nothing in
// this script, the list of what is pending (idle_pending.js) and the hooks that fill it (idle_hooks.js,
// idle_unseen.js, idle_stores.js, idle_seen.js) iterates, spreads or calls a method that the page could have replaced.
//
// Reports `place:status:workers:what` by a binding. Status: `busy` (waiting, for `what`), `quiet` (only what ticks is
// left, and nothing changed for the quiet window), `idle` (nothing that can be seen is left) or `done` (nothing is
// left: the page has used nothing behind which work goes on unseen). With these three, `what` is pending but not
// waited for. workers: how many of the page's workers report by a watch of their own. Besides it reports `scrolls` once,
// where script asks to be told that the page is scrolled.
//
// name: of the binding; limits: as in idle_pending.js, `clock` as in idle_clock.js, `steps` as in idle_seen.js;
// makePending, installHooks, watchUnseen, watchStores, makeClock, showAll: the scripts beside this one.
(function (name, limits, makePending, installHooks, watchUnseen, watchStores, makeClock, showAll) {
  'use strict';

  const report = globalThis[name];
  if (typeof report !== 'function' || !Reflect.deleteProperty(globalThis, name)) return;

  const BEAT_MS = 250;
  const BEATS_A_REPORT = 4;
  // A frame of a loaded machine may be late; that of a frame that is not shown never comes.
  const FRAME_WAIT_MS = window.top === window ? 2_000 : 50;
  const OPAQUE_ELEMENTS = 'iframe, frame, object, embed, video, audio, [loading=lazy i]';
  const SCRIPT_TYPES = ['', 'module', 'text/javascript', 'application/javascript'];
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
    isConnected: getOwnPropertyDescriptor(Node.prototype, 'isConnected').get,
    scriptType: getOwnPropertyDescriptor(HTMLScriptElement.prototype, 'type').get,
    isNoModule: getOwnPropertyDescriptor(HTMLScriptElement.prototype, 'noModule').get,
    fontsStatus: getOwnPropertyDescriptor(FontFaceSet.prototype, 'status').get,
  };
  const now = () => apply(natives.now, clock, []);
  const after = (ms, run) => apply(natives.timeout, window, [run, ms]);
  const listen = (target, type, run) => apply(natives.listen, target, [type, run, true]);

  // The tab's window is tiny, for what is printed need not be painted: script gets the inner size instead.
  for (const side of window.top === window ? ['Width', 'Height'] : []) {
    const inner = getOwnPropertyDescriptor(window, 'inner' + side);
    const outer = getOwnPropertyDescriptor(window, 'outer' + side);
    if (inner && outer) defineProperty(window, 'outer' + side, { ...outer, get: inner.get });
  }

  // Counts what may lead to more work: a change, something firm that began or ended.
  let activity = 0;
  let drawn = 0;
  let drawnSeen = 0;
  // Whether work may go on that no hook sees, or that goes on only with a frame.
  let opaque = false;
  let settling = false;
  let waking = false;
  let beats = 0;
  let reported = '';
  let observed = null;

  const say = status => {
    if (reported === status) return;
    reported = status;
    let what = 'the load event';
    if (pending.loaded) what = pending.names(status !== 'busy') || (status === 'busy' ? 'changes of the document' : '');
    apply(report, undefined, [place + ':' + status + ':' + pending.workers + ':' + what]);
  };

  const active = () => {
    activity++;
    say('busy');
  };
  // The observer reports a change only after the present task, so its records are taken from it.
  const hasChanged = () => {
    const records = apply(natives.take, observer, []);
    if (records.length === 0) return false;
    if (isClock(records)) {
      pending.clocked();
      return false;
    }
    pending.changed();
    return true;
  };

  // A callback of the page's has run. No observer reports whether it drew on a canvas.
  const ran = () => {
    if (drawn !== drawnSeen) {
      drawnSeen = drawn;
      pending.changed();
    }
    consider();
  };

  // Decides after the layout (after a frame where one is needed) and one more task: what a change sets off (layout,
  // observers, requests of style sheets, continuations of promises) has begun by then.
  const consider = () => {
    if (settling || pending.firm > 0 || !pending.loaded) return;
    settling = true;
    const seen = activity;
    turn(() => {
      settling = false;
      if (activity !== seen) consider();
      else decide();
    });
  };

  // From now on `turn` waits for a frame. A look under way is repeated, since `active` counts this.
  const open = () => {
    if (opaque) return;
    opaque = true;
    active();
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
    // The end of an animation is reported only with a frame.
    if (!opaque && apply(natives.animations, document, []).length > 0) return open();
    const animated = animatedFor();
    if (animated > 0) {
      const key = pending.hold('an animation', animated);
      after(animated, () => pending.end(key));
      return;
    }
    if (apply(natives.fontsStatus, apply(natives.fonts, document, []), []) === 'loading') return wake(10);
    if (!pending.ticks()) return say(opaque ? 'idle' : 'done');
    const left = pending.quietLeft();
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

  // The longest time (ms) that an animation or transition still runs; those that run beyond the bound are left out.
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
    if (!pending.loaded && apply(natives.readyState, document, []) === 'complete') {
      pending.loaded = true;
      pending.settle();
      if (apply(natives.query, document, ['body[onscroll]']) !== null) tellOfScrolling();
    }
    // Both are repeated: document.open() removes listeners, and an empty frame's first document is replaced.
    listen(window, 'load', onLoad);
    if (pending.loaded && observed !== document) {
      observed = document;
      apply(natives.observe, observer, [observed, EVERYTHING]);
      for (let at = 0; at < roots.length; at++) apply(natives.observe, observer, [roots[at], EVERYTHING]);
      roots.length = 0;
    }
    consider();
  };
  // The page's own handlers of `load` run after this one, so it looks a task later.
  const onLoad = () => after(0, look);

  const beat = () => {
    pending.loosenLate();
    if (++beats % BEATS_A_REPORT === 0) {
      const status = reported;
      reported = '';
      say(status || 'busy');
    }
    look();
    after(BEAT_MS, beat);
  };

  // Listeners of the page as a whole: those of an element that scrolls in itself change nothing on paper.
  let isTold = window.top !== window;
  const tellOfScrolling = () => {
    if (!isTold) apply(report, undefined, ['scrolls']);
    isTold = true;
  };
  const watchScrolling = () => {
    const tell = (target, self, args) => {
      tellOfScrolling();
      return apply(target, self, args);
    };
    around(EventTarget.prototype, 'addEventListener', (target, self, args) => {
      const isOfPage = args[0] === 'scroll' && (self === window || self === document || self === undefined);
      return isOfPage ? tell(target, self, args) : apply(target, self, args);
    });
    for (const owner of [window, Document.prototype, HTMLBodyElement.prototype]) {
      const member = getOwnPropertyDescriptor(owner, 'onscroll');
      if (!member) continue;
      defineProperty(owner, 'onscroll', { ...member, set: new Proxy(member.set, { __proto__: null, apply: tell }) });
    }
  };

  // Whether a page computes is asked from outside; only a worker estimates it (idle_worker.js).
  const computes = () => false;
  const host = { __proto__: null, now, bound: () => limits.bound, hasChanged, computes, active, consider };
  const pending = makePending(limits, host);
  const isClock = makeClock(limits, now, pending.drawsFrames);
  const observer = new MutationObserver(records => {
    if (isClock(records)) pending.clocked();
    else pending.changed();
  });
  const { around, proxy } = installHooks(window, pending, limits, {
    __proto__: null,
    after,
    listen,
    open,
    messaged: pending.messaged,
    ran,
    bound: host.bound,
    drew: () => void drawn++,
  });

  watchUnseen(window, around, proxy, open, watchStores(window, around, listen, pending));
  if (limits.steps > 0) showAll(window, around, proxy, after, pending, limits.steps);
  if (window.top === window) watchScrolling();

  around(HTMLCanvasElement.prototype, 'toBlob', (target, self, args) => {
    const callback = args[0];
    if (typeof callback !== 'function') return apply(target, self, args);
    const key = pending.hold('toBlob()', Infinity);
    args[0] = function () {
      pending.end(key);
      return apply(callback, this, arguments);
    };
    return apply(target, self, args);
  });
  around(window, 'postMessage', (target, self, args) => {
    pending.messaged();
    return apply(target, self, args);
  });

  // A script that is added late. Between its arrival and its first statement it is compiled beside the page, which is at
  // rest meanwhile: 100 ms and more on a loaded machine.
  const awaitScript = script => {
    const type = apply(natives.scriptType, script, []);
    let isRun = false;
    for (let at = 0; at < SCRIPT_TYPES.length; at++) isRun ||= SCRIPT_TYPES[at] === type;
    if (!isRun || apply(natives.isNoModule, script, [])) return;
    const key = pending.hold('a script', limits.bound, pending.mayStep());
    const end = () => pending.end(key);
    listen(script, 'load', end);
    listen(script, 'error', end);
    // One that is not in the document by now is not requested.
    after(0, () => apply(natives.isConnected, script, []) || end());
  };
  const source = getOwnPropertyDescriptor(HTMLScriptElement.prototype, 'src');
  const set = (target, self, args) => {
    const result = apply(target, self, args);
    awaitScript(self);
    return result;
  };
  const setter = new Proxy(source.set, { __proto__: null, apply: set });
  defineProperty(HTMLScriptElement.prototype, 'src', { ...source, set: setter });

  // Changes that the observer of the document does not see.
  const roots = [];
  around(Element.prototype, 'attachShadow', (target, self, args) => {
    const root = apply(target, self, args);
    if (observed) apply(natives.observe, observer, [root, EVERYTHING]);
    else roots[roots.length] = root;
    return root;
  });

  // In a frame whose script is off this much runs and no timer ever does. So nothing above reports: such a frame would
  // stay busy for ever.
  look();
  after(BEAT_MS, beat);
})
