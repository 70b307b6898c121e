// Counts what a page makes in Chromium's own process, which is everybody's: blobs and locks.
//
// Hazard: a few lines of script fill that process with gigabytes (blobs) or keep it busy (locks), and the browser has
// to be ended with all pages in it. Evaluated before the page's scripts in every frame and watched worker, this refuses
// what is beyond the limit and tells of it, at which the page is ended. It lies in the page's reach, so nothing relies on
// it: it spares the browser in the usual case, the memory watch holds in every case.
//
// name: of the binding, which is left for the watch; most: limits of blobs (bytes) and locks (a number) of each of them.
(function (name, most) {
  'use strict';

  const tell = globalThis[name];
  if (typeof tell !== 'function') return;

  const { apply, construct, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const size = getOwnPropertyDescriptor(Blob.prototype, 'size').get;
  const { isArray } = Array;
  const Refused = RangeError;
  const made = { __proto__: null, blobs: 0, locks: 0 };

  const count = (what, more) => {
    made[what] += more;
    if (made[what] <= most[what]) return;
    apply(tell, undefined, ['excess:' + what]);
    throw new Refused('too many ' + what);
  };
  const replace = (owner, key, handler) => {
    const member = owner && getOwnPropertyDescriptor(owner, key);
    if (!member || typeof member.value !== 'function' || !member.configurable) return null;
    const value = new Proxy(member.value, { __proto__: null, ...handler });
    defineProperty(owner, key, { ...member, value });
    return value;
  };

  // What is made of other blobs holds their bytes once.
  const shared = parts => {
    let bytes = 0;
    if (!isArray(parts)) return bytes;
    for (let at = 0; at < parts.length; at++) {
      try {
        bytes += apply(size, parts[at], []);
      } catch {}
    }
    return bytes;
  };

  for (const key of ['Blob', 'File']) {
    const counted = replace(globalThis, key, {
      construct(target, args, maker) {
        const blob = construct(target, args, maker);
        count('blobs', apply(size, blob, []) - shared(args[0]));
        return blob;
      },
    });
    if (counted) defineProperty(counted.prototype, 'constructor', { value: counted, writable: true, configurable: true });
  }
  // Only a page that asks for locks has the object made.
  const locks = getOwnPropertyDescriptor(globalThis, 'LockManager');
  if (locks) {
    replace(locks.value.prototype, 'request', {
      apply(target, self, args) {
        count('locks', 1);
        return apply(target, self, args);
      },
    });
  }
})
