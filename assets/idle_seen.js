// Lets script see what lies beyond the window: on paper nobody scrolls to it.
//
// Elements that an IntersectionObserver waits for (pictures loaded late, parts that fade in) count as seen, wherever
// they are down the page. Not where a band within the window is looked at (both margins negative: which chapter is read).
// Hazard: what is seen may bring more that waits to be seen, without end (a list that loads its next part). So it may do
// that `steps` times, one after the other.
//
// scope: the window; around, proxy: from idle_hooks.js; pending: from idle_pending.js; steps: as above.
(function (scope, around, proxy, pending, steps) {
  'use strict';

  const FAR = '10000000px';
  // An observer tells of a new element with the next frame, which may never come.
  const FRAME_LIMIT_MS = 500;
  const { apply, construct, getOwnPropertyDescriptor } = Reflect;
  const read = (owner, name) => getOwnPropertyDescriptor(owner.prototype, name).get;
  const isSeen = read(IntersectionObserverEntry, 'isIntersecting');
  const targetOf = read(IntersectionObserverEntry, 'target');
  const { get, set } = WeakMap.prototype;
  const match = RegExp.prototype[Symbol.match];
  const words = /\S+/g;
  const Native = Proxy;

  // By element, the step in which it was last given to an observer: the first one, or one more than what was seen by then.
  const stepOf = new WeakMap();
  let step = 0;
  // By observer, what is pending until it tells of its elements.
  const keys = new WeakMap();
  const mayBeSeen = entries => {
    let last = -1;
    for (let at = 0; at < entries.length; at++) {
      if (!apply(isSeen, entries[at], [])) continue;
      const own = apply(get, stepOf, [apply(targetOf, entries[at], [])]) ?? 0;
      if (own > last) last = own;
    }
    if (last >= steps) {
      pending.endless();
      return false;
    }
    if (last >= step) step = last + 1;
    return true;
  };

  const widened = given => {
    const sides = apply(match, words, ['' + (given.rootMargin || '0px')]) ?? ['0px'];
    const above = sides[0];
    const right = sides[1] ?? above;
    const below = sides[2] ?? above;
    if (above[0] === '-' && below[0] === '-') return given;
    const rootMargin = FAR + ' ' + right + ' ' + FAR + ' ' + (sides[3] ?? right);
    const { root, threshold = 0 } = given;
    return { __proto__: null, root, threshold, rootMargin, scrollMargin: FAR + ' 0px' };
  };

  proxy(scope, 'IntersectionObserver', {
    construct(target, args, made) {
      const callback = args[0];
      if (typeof callback === 'function') {
        const seen = (run, self, given) => {
          const key = apply(get, keys, [given[1]]);
          apply(set, keys, [given[1], '']);
          if (key) pending.end(key);
          return mayBeSeen(given[0]) ? apply(run, self, given) : undefined;
        };
        args[0] = new Native(callback, { __proto__: null, apply: seen });
        if (args[1] === undefined || (typeof args[1] === 'object' && args[1] !== null)) args[1] = widened(args[1] ?? {});
      }
      return construct(target, args, made);
    },
  });
  around(scope.IntersectionObserver.prototype, 'observe', (target, self, args) => {
    const result = apply(target, self, args);
    apply(set, stepOf, [args[0], step]);
    if (!apply(get, keys, [self])) apply(set, keys, [self, pending.hold('an element to be seen', FRAME_LIMIT_MS)]);
    return result;
  });
})
