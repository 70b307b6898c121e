// Notes what script begins and ends: timers, frames, requests, messages, asynchronous work of the browser.
//
// For pages and workers alike. The functions that begin and end these are replaced by proxies, which look native.
//
// scope: the global object; pending: the list that is filled (idle_pending.js); limits: {bound, far}; kit: {after(ms,
// run), listen(target, type, run), open() when work may go on unseen, ran() after a callback, drew(), messaged() by a
// port, bound()}.
(function (scope, pending, limits, kit) {
  'use strict';

  // An animation frame may never come (a hidden iframe gets none): after this time it is loose (idle_pending.js).
  const FRAME_LIMIT_MS = 500;
  const IDLE_LIMIT_MS = 500;
  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const { after, listen, open, ran } = kit;
  const { end, hold, request, answered, untilSettled } = pending;
  const bound = limits.bound;
  const Native = Proxy;

  const proxy = (owner, key, handler) => {
    let holder = owner;
    while (holder && !getOwnPropertyDescriptor(holder, key)) holder = getPrototypeOf(holder);
    const descriptor = holder && getOwnPropertyDescriptor(holder, key);
    if (!descriptor || typeof descriptor.value !== 'function' || !descriptor.configurable) return;
    const value = new Native(descriptor.value, { __proto__: null, ...handler });
    defineProperty(holder, key, { __proto__: null, ...descriptor, value });
  };
  // A proxy looks native (its text, name and length), which some libraries check.
  const around = (owner, key, run) => proxy(owner, key, { apply: run });

  const run = (callback, self, args) => {
    const since = pending.now();
    try {
      return apply(callback, self, args);
    } finally {
      pending.spent += pending.now() - since;
      ran();
    }
  };

  // Timers. One with a longer delay than the bound is not waited for.
  const delayOf = value => {
    const whole = (typeof value === 'number' ? value : typeof value === 'string' ? +value : 0) | 0;
    return whole < 0 ? 0 : whole;
  };
  const timer = (prefix, what) => (target, self, args) => {
    const callback = args[0];
    const delay = prefix === 't' ? delayOf(args[1]) : 0;
    const isLong = delay > kit.bound();
    if (isLong && delay > limits.far) return apply(target, self, args);
    let key;
    const isCode = typeof callback !== 'function';
    if (!isCode) {
      args[0] = function () {
        if (isLong) pending.near(key);
        else pending.fired(key);
        return run(callback, this, arguments);
      };
    }
    const id = apply(target, self, args);
    key = prefix + id;
    if (isLong) pending.distant(key, delay);
    else pending.timer(key, what, delay);
    // A callback given as text cannot be wrapped: a timer of ours with the same delay fires right after it.
    if (isCode) {
      after(delay, () => {
        pending.near(key);
        end(key);
      });
    }
    return id;
  };
  around(scope, 'setTimeout', timer('t', ''));
  // Hazard: on a loaded machine Chromium may find no idle moment for minutes (tried). So each callback gets a limit.
  const whenIdle = timer('i', 'an idle callback');
  around(scope, 'requestIdleCallback', (target, self, args) => {
    const given = args[1];
    if (!given || !(given.timeout > 0)) args[1] = { __proto__: null, timeout: IDLE_LIMIT_MS };
    return whenIdle(target, self, args);
  });
  around(scope, 'setInterval', (target, self, args) => {
    const callback = args[0];
    const period = delayOf(args[1]);
    let id;
    if (typeof callback === 'function') {
      args[0] = function () {
        pending.ticked(id);
        return run(callback, this, arguments);
      };
    }
    id = apply(target, self, args);
    pending.interval(id, period);
    return id;
  });
  for (const [method, prefix] of [['clearTimeout', 't'], ['clearInterval', 't'], ['cancelIdleCallback', 'i'],
    ['cancelAnimationFrame', 'f']]) {
    around(scope, method, (target, self, args) => {
      const id = args[0];
      if (typeof id === 'number' || typeof id === 'string') {
        if (prefix === 't') pending.cleared(id);
        end(prefix + id);
      }
      return apply(target, self, args);
    });
  }
  around(scope, 'requestAnimationFrame', (target, self, args) => {
    const callback = args[0];
    open();
    if (typeof callback !== 'function') return apply(target, self, args);
    let key;
    args[0] = function () {
      pending.fired(key);
      return run(callback, this, arguments);
    };
    const id = apply(target, self, args);
    key = 'f' + id;
    pending.frame(key, FRAME_LIMIT_MS);
    return id;
  });

  // Requests: waited for until they end.
  const untilEvent = (target, key, done) => {
    listen(target, 'loadend', () => done(key));
  };
  around(scope, 'fetch', (target, self, args) => {
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

  // A response's body, which comes after its headers.
  for (const method of ['json', 'text', 'arrayBuffer', 'blob', 'formData', 'bytes']) {
    around(Response.prototype, method, (target, self, args) => {
      const promise = apply(target, self, args);
      untilSettled(promise, answered, request(method + '()'));
      pending.step();
      return promise;
    });
  }

  // Asynchronous work of the browser, with the ms it is waited for: Infinity where it always ends by itself.
  const promising = [
    [Infinity, scope, 'createImageBitmap'],
    [Infinity, Blob.prototype, 'text', 'arrayBuffer', 'bytes'],
    [Infinity, scope.OffscreenCanvas?.prototype, 'convertToBlob'],
    [Infinity, scope.WebAssembly, 'compile', 'instantiate', 'compileStreaming', 'instantiateStreaming'],
    [Infinity, scope.SubtleCrypto?.prototype, 'digest', 'encrypt', 'decrypt', 'sign', 'verify', 'importKey',
      'exportKey', 'generateKey', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'],
    [bound, scope.HTMLImageElement?.prototype, 'decode'],
    [bound, scope.FontFace?.prototype, 'load'],
    [bound, scope.FontFaceSet?.prototype, 'load'],
    [bound, ReadableStreamDefaultReader.prototype, 'read'],
    [bound, scope.Scheduler?.prototype, 'postTask', 'yield'],
  ];
  for (const [limit, owner, ...methods] of promising) {
    for (const method of methods) {
      around(owner, method, (target, self, args) => {
        const promise = apply(target, self, args);
        untilSettled(promise, end, hold(method + '()', limit, pending.mayStep()));
        pending.step();
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

  // Messages. What a worker does with them is reported by its own watch (idle_worker.js).
  const message = (target, self, args) => {
    kit.messaged();
    return apply(target, self, args);
  };
  around(MessagePort.prototype, 'postMessage', message);
  if (scope.Worker) {
    around(Worker.prototype, 'postMessage', (target, self, args) => {
      pending.messaged();
      return apply(target, self, args);
    });
    const fails = ErrorEvent;
    const unknown = new WeakMap();
    const { get, set } = WeakMap.prototype;
    // Every worker is counted. One that is terminated before its first message, or whose script was not found, may
    // never report anything: it is subtracted again, or the page would wait for it.
    const gone = worker => {
      if (!apply(get, unknown, [worker])) return;
      apply(set, unknown, [worker, false]);
      pending.addWorkers(-1);
    };
    around(Worker.prototype, 'terminate', (target, self, args) => {
      gone(self);
      return apply(target, self, args);
    });
    proxy(scope, 'Worker', {
      construct(target, args, made) {
        open();
        const worker = construct(target, args, made);
        apply(set, unknown, [worker, true]);
        pending.addWorkers(1);
        listen(worker, 'message', () => {
          apply(set, unknown, [worker, false]);
          pending.exchanged();
        });
        // A script that throws gives an `ErrorEvent`; one that is not found a plain event.
        listen(worker, 'error', event => {
          if (event instanceof fails) apply(set, unknown, [worker, false]);
          else gone(worker);
        });
        return worker;
      },
    });
  }

  proxy(scope, 'SharedWorker', {
    construct(target, args, made) {
      open();
      pending.shares = true;
      return construct(target, args, made);
    },
  });

  // Drawing: changes that no observer sees. The methods are wrapped with the first context of a kind: most pages have
  // none, and it takes a while.
  const pictures = ['clearRect', 'fillRect', 'strokeRect', 'fill', 'stroke', 'fillText', 'strokeText', 'drawImage',
    'putImageData', 'drawArrays', 'drawElements', 'clear', 'transferFromImageBitmap'];
  const seen = [];
  const watchDrawing = prototype => {
    for (let at = 0; at < seen.length; at++) if (seen[at] === prototype) return;
    seen[seen.length] = prototype;
    for (let at = 0; at < pictures.length; at++) {
      around(prototype, pictures[at], (target, self, args) => {
        kit.drew();
        return apply(target, self, args);
      });
    }
  };
  for (const owner of [scope.HTMLCanvasElement?.prototype, scope.OffscreenCanvas?.prototype]) {
    around(owner, 'getContext', (target, self, args) => {
      const context = apply(target, self, args);
      if (context) watchDrawing(getPrototypeOf(context));
      return context;
    });
  }

  return { around, proxy };
})
