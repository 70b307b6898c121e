// Limits what a page makes in Chromium's browser process, which all pages share: blobs and locks.
//
// Hazard: a few lines of script fill that process with gigabytes (blobs) or keep it busy (locks), and the browser has
// to be killed with all pages in it. Evaluated before the page's scripts in every frame and watched worker, this
// refuses what exceeds the limit and reports it, which ends the page. A page can tamper with it, so nothing relies on
// it: it saves the browser in the usual case; the memory watch holds in every case.
//
// name: of the binding, which the watch behind this script removes; most: {blobs: bytes, locks: how many}, for each
// frame or worker.
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

  // A blob made of blobs shares their bytes: these are not counted again.
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
  // The prototype is patched, since reading `navigator.locks` would create the object in every page.
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
