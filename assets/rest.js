// Watches what a page has begun and not ended, and tells when nothing of it is left.
//
// Evaluated in every frame before the page's own scripts, in the page's own world: only there timers and
// requests can be seen. It takes the natives it needs at once; what the page puts in their place later
// changes nothing here. For the same reason nothing below iterates, spreads or calls a method that the
// page could have replaced, once the page runs.
//
// Two kinds of what is pending. Firm: it is waited for. Loose: it belongs to a page that only ticks (an
// interval; a timer set by timers that changed nothing for the quiet window; a frame after idle frames) or
// was waited for longer than it should take, so the page is ready when nothing has changed for the quiet
// window. It tells `place:status:why` by a binding: `busy`, `quiet` (only loose things, and nothing changed for
// the window), `rest` (nothing that can be seen is left) or `done` (nothing is left, for the page has opened no
// door behind which anything could be that is not seen).
//
// name: of the binding; quiet: the window in ms; bound: longest timer waited for, in ms.
(function (name, quiet, bound) {
  'use strict';

  const tell = globalThis[name];
  if (typeof tell !== 'function' || !Reflect.deleteProperty(globalThis, name)) return;

  const BEAT_MS = 250;
  const BEATS_A_TELLING = 4;
  // A frame that never comes (a hidden frame of the page's has none) is waited for by the window alone.
  const FRAME_LIMIT_MS = 500;
  const FRAME_WAIT_MS = window.top === window ? 200 : 50;
  const IDLE_FRAMES = 3;
  const OPAQUE_ELEMENTS = 'iframe, frame, object, embed, video, audio, [loading=lazy i]';
  // Work beside the script that is waited for though nothing changes meanwhile, one after the other.
  const IDLE_STEPS = 10;
  const TALK_MS = 50;
  const EVERYTHING = { subtree: true, childList: true, attributes: true, characterData: true };

  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
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
    weakGet: WeakMap.prototype.get,
    weakSet: WeakMap.prototype.set,
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

  const proxy = (owner, key, handler) => {
    const descriptor = owner && getOwnPropertyDescriptor(owner, key);
    if (!descriptor || typeof descriptor.value !== 'function' || !descriptor.configurable) return;
    defineProperty(owner, key, { ...descriptor, value: new Proxy(descriptor.value, { __proto__: null, ...handler }) });
  };
  // A proxy looks native (its text, name and length), which some libraries check.
  const around = (owner, key, run) => proxy(owner, key, { apply: run });

  // What is pending by its key: {what, firm, until}.
  const waits = { __proto__: null };
  const intervals = { __proto__: null };
  let firm = 0;
  let loose = 0;
  let holds = 0;
  // Counts what may lead to more: a change, something firm that began or ended.
  let stirs = 0;
  // Counts what an idle interval may have waited for.
  let activity = 0;
  // Timers that fired, frames that came, since the document last changed.
  let fires = 0;
  let idleFrames = 0;
  let idleSteps = 0;
  let lastFrame = -1;
  let changedAt = now();
  let requestedAt = changedAt;
  let talkedAt = -TALK_MS;
  let drawn = 0;
  let drawnSeen = 0;
  // Something may go on that is not seen, or only when a frame comes.
  let opaque = false;
  let loaded = false;
  let settling = false;
  let waking = false;
  let beats = 0;
  let told = '';
  let observed = null;

  const say = status => {
    if (told === status) return;
    told = status;
    apply(tell, undefined, [place + ':' + status + ':' + (status === 'busy' ? why() : '')]);
  };

  const why = () => {
    if (!loaded) return 'the load event';
    const counts = { __proto__: null };
    for (const key in waits) counts[waits[key].what] = (counts[waits[key].what] || 0) + 1;
    for (const key in intervals) {
      if (intervals[key].seen !== activity) counts['an interval of ' + intervals[key].period + ' ms'] = 1;
    }
    let text = '';
    let kinds = 0;
    for (const what in counts) {
      if (++kinds > 3) break;
      text += (text && ', ') + what + (counts[what] > 1 ? ' (' + counts[what] + ' of them)' : '');
    }
    return text || 'changes of the document';
  };

  const stirred = () => {
    stirs++;
    say('busy');
  };

  const changed = () => {
    changedAt = now();
    fires = idleFrames = idleSteps = 0;
    activity++;
    // Who changes something now and then goes on by timers: what they have set is awaited.
    if (loose > 0) {
      for (const key in waits) {
        const wait = waits[key];
        if (!wait.firm && wait.timer) {
          wait.firm = true;
          loose--;
          firm++;
        }
      }
    }
    stirred();
    consider();
  };

  const observer = new MutationObserver(changed);
  // A change of the present task is not reported yet.
  const hasChanged = () => {
    if (apply(natives.take, observer, []).length === 0) return false;
    changed();
    return true;
  };
  const isFirm = () => !loaded || fires === 0 || now() - changedAt <= quiet || hasChanged();
  const mayStep = () => isFirm() || ++idleSteps <= IDLE_STEPS;
  const isLively = () => !loaded || idleFrames < IDLE_FRAMES || hasChanged();

  const begin = (key, what, isFirm, until, timer) => {
    waits[key] = { __proto__: null, what, firm: isFirm, until, timer };
    if (!isFirm) {
      loose++;
      return;
    }
    firm++;
    stirred();
  };

  const end = key => {
    const wait = waits[key];
    if (!wait) return;
    delete waits[key];
    if (wait.firm) {
      firm--;
      activity++;
      stirred();
    } else {
      loose--;
    }
    consider();
  };

  // What takes longer than it should may still come: nothing that is begun is taken for ended.
  const loosen = wait => {
    wait.until = Infinity;
    wait.timer = false;
    if (!wait.firm) return;
    wait.firm = false;
    firm--;
    loose++;
    requestedAt = now();
    stirred();
    consider();
  };

  const hold = (what, limit, isFirm = true) => {
    const key = 'h' + ++holds;
    begin(key, what, isFirm, now() + limit, false);
    return key;
  };
  const request = what => {
    requestedAt = now();
    return hold(what, Infinity);
  };
  const answered = key => {
    requestedAt = now();
    end(key);
  };
  const untilSettled = async (promise, done, key) => {
    try {
      await promise;
    } catch {}
    done(key);
  };

  // Work of the page's ended: whether it drew is not reported by anybody.
  const ran = () => {
    if (drawn !== drawnSeen) {
      drawnSeen = drawn;
      changed();
    }
    consider();
  };

  // One look when the page has been laid out, by a frame where it needs one, and a task more: what a change
  // sets off (layout, observers, requests of style sheets, continuations of promises) has begun by then.
  const consider = () => {
    if (settling || firm > 0 || !loaded) return;
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
      const key = hold('an animation', animated);
      after(animated, () => end(key));
      return;
    }
    if (apply(natives.fontsStatus, apply(natives.fonts, document, []), []) === 'loading') return wake(10);
    const time = now();
    let ticks = loose > 0 || time - talkedAt < TALK_MS;
    for (const key in intervals) ticks ||= intervals[key].seen !== activity;
    if (!ticks) return say(opaque ? 'rest' : 'done');
    const left = quiet - (time - (changedAt > requestedAt ? changedAt : requestedAt));
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
      if (left > longest && left <= bound) longest = left;
    }
    return longest && longest + 1;
  };

  const look = () => {
    if (!loaded && apply(natives.readyState, document, []) === 'complete') {
      loaded = true;
      changedAt = now();
      fires = idleFrames = idleSteps = 0;
    }
    // document.open() takes listeners away, and an empty frame's first document is replaced under us.
    listen(window, 'load', onLoad);
    if (loaded && observed !== document) {
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
    const time = now();
    for (const key in waits) if (waits[key].until < time) loosen(waits[key]);
    if (++beats % BEATS_A_TELLING === 0) {
      const status = told;
      told = '';
      say(status || 'busy');
    }
    look();
    after(BEAT_MS, beat);
  };

  // Timers. A longer delay than the bound is nothing that a document waits for.
  const delayOf = value => {
    const whole = (typeof value === 'number' ? value : typeof value === 'string' ? +value : 0) | 0;
    return whole < 0 ? 0 : whole;
  };
  const timer = (prefix, what) => (target, self, args) => {
    const callback = args[0];
    const delay = prefix === 't' ? delayOf(args[1]) : 0;
    if (delay > bound) return apply(target, self, args);
    let key;
    const isCode = typeof callback !== 'function';
    if (!isCode) {
      args[0] = function () {
        end(key);
        fires++;
        try {
          return apply(callback, this, arguments);
        } finally {
          ran();
        }
      };
    }
    const id = apply(target, self, args);
    key = prefix + id;
    begin(key, prefix === 't' ? what + delay + ' ms' : what, isFirm(), now() + delay + bound, true);
    // A text is run by the browser alone; a timer of ours comes right after it.
    if (isCode) after(delay, () => end(key));
    return id;
  };
  around(window, 'setTimeout', timer('t', 'a timer of '));
  around(window, 'requestIdleCallback', timer('i', 'an idle callback'));
  around(window, 'setInterval', (target, self, args) => {
    const callback = args[0];
    const period = delayOf(args[1]);
    if (period > bound) return apply(target, self, args);
    let id;
    if (typeof callback === 'function') {
      args[0] = function () {
        if (intervals[id]) intervals[id].seen = activity;
        try {
          return apply(callback, this, arguments);
        } finally {
          ran();
        }
      };
    }
    id = apply(target, self, args);
    // It is pending until it has come once without anything having happened before or by it.
    intervals[id] = { __proto__: null, period, seen: -1 };
    return id;
  });
  for (const [method, prefix] of [['clearTimeout', 't'], ['clearInterval', 't'], ['cancelIdleCallback', 'i'],
    ['cancelAnimationFrame', 'f']]) {
    around(window, method, (target, self, args) => {
      const id = args[0];
      if (typeof id === 'number' || typeof id === 'string') {
        if (prefix === 't' && delete intervals[id]) consider();
        end(prefix + id);
      }
      return apply(target, self, args);
    });
  }
  around(window, 'requestAnimationFrame', (target, self, args) => {
    const callback = args[0];
    open();
    if (typeof callback !== 'function') return apply(target, self, args);
    let key;
    args[0] = function (time) {
      end(key);
      if (time !== lastFrame) idleFrames++;
      lastFrame = time;
      try {
        return apply(callback, this, arguments);
      } finally {
        ran();
      }
    };
    const id = apply(target, self, args);
    key = 'f' + id;
    begin(key, 'an animation frame', isLively(), now() + FRAME_LIMIT_MS, false);
    return id;
  });

  // Doors to what is not seen, or comes with a frame.
  const opened = (target, self, args) => {
    open();
    return apply(target, self, args);
  };
  for (const [owner, ...methods] of [[window, 'scroll', 'scrollTo', 'scrollBy', 'webkitRequestAnimationFrame'],
    // What lies in a shadow tree is not found by a selector.
    [Element.prototype, 'scroll', 'scrollTo', 'scrollBy', 'scrollIntoView', 'animate', 'attachShadow'],
    [Document.prototype, 'startViewTransition'], [History.prototype, 'back', 'forward', 'go'],
    [Blob.prototype, 'stream'], [AbortSignal, 'timeout']]) {
    for (const method of methods) around(owner, method, opened);
  }
  for (const [owner, ...doors] of [[window, 'navigator', 'clientInformation', 'indexedDB', 'caches', 'cookieStore'],
    [Response.prototype, 'body'], [Element.prototype, 'scrollTop', 'scrollLeft']]) {
    for (const door of doors) {
      const member = getOwnPropertyDescriptor(owner, door);
      if (!member?.get || !member.configurable) continue;
      const watched = { ...member };
      // What is scrolled is set, what else is asked for.
      const side = member.set && owner !== window ? 'set' : 'get';
      watched[side] = new Proxy(member[side], { __proto__: null, apply: opened });
      defineProperty(owner, door, watched);
    }
  }
  for (const door of ['ResizeObserver', 'IntersectionObserver', 'PerformanceObserver', 'BroadcastChannel', 'EventSource',
    'WebSocket', 'WebSocketStream', 'WebTransport', 'RTCPeerConnection', 'SharedWorker', 'AudioContext',
    'OfflineAudioContext', 'Audio', 'ImageDecoder', 'VideoDecoder', 'AudioDecoder', 'MediaSource', 'ReadableStream',
    'WritableStream', 'TransformStream', 'CompressionStream', 'DecompressionStream', 'TextDecoderStream',
    'TextEncoderStream', 'MediaRecorder', 'WeakRef', 'FinalizationRegistry']) {
    proxy(window, door, {
      construct(target, args, made) {
        open();
        return construct(target, args, made);
      },
    });
  }

  // Requests: waited for until they end.
  const untilEvent = (target, key, done) => {
    listen(target, 'loadend', () => done(key));
  };
  around(window, 'fetch', (target, self, args) => {
    const promise = apply(target, self, args);
    untilSettled(promise, answered, request('a fetch'));
    return promise;
  });
  around(XMLHttpRequest.prototype, 'send', (target, self, args) => {
    const key = request('an XMLHttpRequest');
    try {
      untilEvent(self, key, answered);
      return apply(target, self, args);
    } catch (error) {
      answered(key);
      throw error;
    }
  });

  // What comes of a request after its head.
  for (const method of ['json', 'text', 'arrayBuffer', 'blob', 'formData', 'bytes']) {
    around(Response.prototype, method, (target, self, args) => {
      const promise = apply(target, self, args);
      untilSettled(promise, answered, request(method + '()'));
      fires++;
      return promise;
    });
  }

  // What the browser does beside the script, and ends by itself: some of it always, some of it perhaps.
  const promising = [
    [Infinity, window, 'createImageBitmap'],
    [Infinity, Blob.prototype, 'text', 'arrayBuffer', 'bytes'],
    [Infinity, globalThis.OffscreenCanvas?.prototype, 'convertToBlob'],
    [Infinity, globalThis.WebAssembly, 'compile', 'instantiate', 'compileStreaming', 'instantiateStreaming'],
    [Infinity, globalThis.SubtleCrypto?.prototype, 'digest', 'encrypt', 'decrypt', 'sign', 'verify', 'importKey',
      'exportKey', 'generateKey', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'],
    [bound, HTMLImageElement.prototype, 'decode'],
    [bound, FontFace.prototype, 'load'],
    [bound, FontFaceSet.prototype, 'load'],
    [bound, ReadableStreamDefaultReader.prototype, 'read'],
    [bound, globalThis.Scheduler?.prototype, 'postTask', 'yield'],
  ];
  for (const [limit, owner, ...methods] of promising) {
    for (const method of methods) {
      around(owner, method, (target, self, args) => {
        const promise = apply(target, self, args);
        untilSettled(promise, end, hold(method + '()', limit, mayStep()));
        fires++;
        return promise;
      });
    }
  }
  for (const method of ['readAsText', 'readAsDataURL', 'readAsArrayBuffer']) {
    around(FileReader.prototype, method, (target, self, args) => {
      const result = apply(target, self, args);
      untilEvent(self, hold('a file being read', Infinity), end);
      return result;
    });
  }
  around(HTMLCanvasElement.prototype, 'toBlob', (target, self, args) => {
    const callback = args[0];
    if (typeof callback !== 'function') return apply(target, self, args);
    const key = hold('toBlob()', Infinity);
    args[0] = function () {
      end(key);
      return apply(callback, this, arguments);
    };
    return apply(target, self, args);
  });

  // Messages come in a task of their own, soon; a worker that was asked answers some time.
  const talk = (target, self, args) => {
    if (isFirm()) stirred();
    else talkedAt = now();
    fires++;
    consider();
    return apply(target, self, args);
  };
  around(window, 'postMessage', talk);
  around(MessagePort.prototype, 'postMessage', talk);
  if (globalThis.Worker) {
    const asked = new WeakMap();
    const elsewhere = new WeakMap();
    const carriers = [MessagePort, globalThis.OffscreenCanvas];
    const heard = worker => {
      const key = apply(natives.weakGet, asked, [worker]);
      if (key) end(key);
    };
    const ask = (worker, limit) => {
      heard(worker);
      apply(natives.weakSet, asked, [worker, hold('a worker', limit)]);
    };
    // Who was given a port or a canvas may answer there, unseen.
    const isGiven = options => {
      const list = (options && options.transfer) || options;
      for (let at = 0; list && at < list.length; at++) {
        for (let kind = 0; kind < carriers.length; kind++) {
          if (carriers[kind] && list[at] instanceof carriers[kind]) return true;
        }
      }
      return false;
    };
    // A message may be the answer or the progress towards it. One that only ticks is not waited for again.
    const answer = worker => {
      if (mayStep()) ask(worker, bound);
      else heard(worker);
      fires++;
    };
    around(Worker.prototype, 'postMessage', (target, self, args) => {
      const result = apply(target, self, args);
      if (isGiven(args[1])) apply(natives.weakSet, elsewhere, [self, true]);
      ask(self, apply(natives.weakGet, elsewhere, [self]) ? bound : Infinity);
      return result;
    });
    around(Worker.prototype, 'terminate', (target, self, args) => {
      heard(self);
      return apply(target, self, args);
    });
    proxy(window, 'Worker', {
      construct(target, args, made) {
        open();
        const worker = construct(target, args, made);
        ask(worker, bound);
        listen(worker, 'message', () => answer(worker));
        listen(worker, 'error', () => heard(worker));
        return worker;
      },
    });
  }

  // Changes that the observer of the document does not see: shadow trees, pictures.
  const roots = [];
  around(Element.prototype, 'attachShadow', (target, self, args) => {
    const root = apply(target, self, args);
    if (observed) apply(natives.observe, observer, [root, EVERYTHING]);
    else roots[roots.length] = root;
    return root;
  });
  const pictures = ['clearRect', 'fillRect', 'strokeRect', 'fill', 'stroke', 'fillText', 'strokeText', 'drawImage',
    'putImageData', 'drawArrays', 'drawElements', 'clear', 'transferFromImageBitmap'];
  // Their members are made when the first context of a kind is: most pages have none, and it takes a while.
  const seen = [];
  const watchDrawing = prototype => {
    for (let at = 0; at < seen.length; at++) if (seen[at] === prototype) return;
    seen[seen.length] = prototype;
    for (let at = 0; at < pictures.length; at++) {
      around(prototype, pictures[at], (target, self, args) => {
        drawn++;
        return apply(target, self, args);
      });
    }
  };
  for (const owner of [HTMLCanvasElement.prototype, globalThis.OffscreenCanvas?.prototype]) {
    around(owner, 'getContext', (target, self, args) => {
      const context = apply(target, self, args);
      if (context) watchDrawing(getPrototypeOf(context));
      return context;
    });
  }

  // Nothing is told before: in a frame whose script is off this much runs, and no timer ever.
  look();
  after(BEAT_MS, beat);
})
