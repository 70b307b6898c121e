// Lets script see what lies beyond the window: on paper nobody scrolls to it.
//
// Elements that an IntersectionObserver waits for (pictures loaded late, parts that fade in) count as seen, wherever
// they are down the page. Not where a band within the window is looked at (both margins negative: which chapter is read).
// Hazard: what is seen may bring more that waits to be seen, without end (a list that loads its next part). So it may do
// that `steps` times, one after the other.
//
// scope: the window; around, proxy: from idle_hooks.js; after(ms, run); pending: from idle_pending.js; steps: as above.
(function (scope, around, proxy, after, pending, steps) {
  'use strict';

  const FAR = '10000000px';
  // An observer tells of a new element with the next frame, which may be late, and in a frame that is not shown never comes.
  const FRAME_LIMIT_MS = scope.top === scope ? 2_000 : 500;
  const { apply, construct, getOwnPropertyDescriptor } = Reflect;
  const read = (owner, name) => getOwnPropertyDescriptor(owner.prototype, name).get;
  const isSeen = read(IntersectionObserverEntry, 'isIntersecting');
  const targetOf = read(IntersectionObserverEntry, 'target');
  const { get, set } = WeakMap.prototype;
  const Native = Proxy;

  // By element, the step in which it was last given to an observer: the first one, or one more than what was seen by then.
  const stepOf = new WeakMap();
  let step = 0;
  // By observer, what is pending until it tells of its elements.
  const keys = new WeakMap();
  const told = observer => {
    const key = apply(get, keys, [observer]);
    apply(set, keys, [observer, '']);
    if (key) pending.end(key);
  };
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

  // The words of a text, by number, and how many there are.
  const wordsOf = text => {
    const words = { __proto__: null, count: 0 };
    let isWord = false;
    for (let at = 0; at < text.length; at++) {
      const letter = text[at];
      const isBlank = letter === ' ' || letter === '\t' || letter === '\n';
      if (isBlank) isWord = false;
      else if (isWord) words[words.count - 1] += letter;
      else {
        isWord = true;
        words[words.count++] = letter;
      }
    }
    return words;
  };
  const widened = given => {
    const sides = wordsOf('' + (given.rootMargin || '0px'));
    const above = sides[0] ?? '0px';
    const right = sides[1] ?? above;
    const below = sides[2] ?? above;
    if (above[0] === '-' && below[0] === '-') return given;
    const { root, threshold = 0, scrollMargin = FAR + ' 0px', trackVisibility = false, delay = 0 } = given;
    const rootMargin = FAR + ' ' + right + ' ' + FAR + ' ' + (sides[3] ?? right);
    return { __proto__: null, root, threshold, rootMargin, scrollMargin, trackVisibility, delay };
  };

  proxy(scope, 'IntersectionObserver', {
    construct(target, args, made) {
      const callback = args[0];
      if (typeof callback === 'function') {
        const seen = (run, self, given) => {
          told(given[1]);
          return mayBeSeen(given[0]) ? apply(run, self, given) : undefined;
        };
        args[0] = new Native(callback, { __proto__: null, apply: seen });
        if (args[1] === undefined || (typeof args[1] === 'object' && args[1] !== null)) args[1] = widened(args[1] ?? {});
      }
      return construct(target, args, made);
    },
  });
  const observer = scope.IntersectionObserver.prototype;
  around(observer, 'observe', (target, self, args) => {
    const result = apply(target, self, args);
    apply(set, stepOf, [args[0], step]);
    if (!apply(get, keys, [self])) {
      const key = pending.hold('an element to be seen', FRAME_LIMIT_MS);
      apply(set, keys, [self, key]);
      // An element that was observed already is not told of again.
      after(FRAME_LIMIT_MS, () => pending.end(key));
    }
    return result;
  });
  for (const method of ['unobserve', 'disconnect']) {
    around(observer, method, (target, self, args) => {
      told(self);
      return apply(target, self, args);
    });
  }
})
