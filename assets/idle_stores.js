// Notes what script asks of the browser's stores (databases, caches), which answer beside the script.
//
// Gives a function that is called when script reads the member `name` of the global object: most pages use no store, and
// to hook them takes a while.
//
// scope: the global object, a page's or a worker's; around: from idle_hooks.js; listen(target, type, run); pending: from
// idle_pending.js.
(function (scope, around, listen, pending) {
  'use strict';

  const { apply, getOwnPropertyDescriptor } = Reflect;
  const { request, answered, untilSettled } = pending;
  const { get, has, set } = WeakMap.prototype;
  const keys = new WeakMap();
  const hooked = { __proto__: null };
  const asked = getOwnPropertyDescriptor(IDBCursor.prototype, 'request').get;

  // A cursor is answered by the same request again and again: it is listened to once.
  const waitFor = (what, target, types) => {
    if (!apply(has, keys, [target])) {
      const end = () => {
        const key = apply(get, keys, [target]);
        apply(set, keys, [target, '']);
        if (key) answered(key);
      };
      for (let at = 0; at < types.length; at++) listen(target, types[at], end);
    }
    apply(set, keys, [target, request(what)]);
    return target;
  };
  const ENDS = ['success', 'error', 'blocked'];
  const untilEvent = types => (target, self, args) => waitFor('a database', apply(target, self, args), types);
  const untilAnswer = what => (target, self, args) => {
    const promise = apply(target, self, args);
    untilSettled(promise, answered, request(what));
    return promise;
  };
  const goOn = (target, self, args) => {
    apply(target, self, args);
    waitFor('a database', apply(asked, self, []), ENDS);
  };

  const READS = ['get', 'getKey', 'getAll', 'getAllKeys', 'getAllRecords', 'count', 'openCursor', 'openKeyCursor'];
  const stores = {
    __proto__: null,
    indexedDB: [
      [IDBFactory, ['open', 'deleteDatabase'], untilEvent(ENDS)],
      [IDBFactory, ['databases'], untilAnswer('a database')],
      [IDBDatabase, ['transaction'], untilEvent(['complete', 'abort'])],
      [IDBObjectStore, READS, untilEvent(ENDS)],
      [IDBObjectStore, ['add', 'put', 'delete', 'clear'], untilEvent(ENDS)],
      [IDBIndex, READS, untilEvent(ENDS)],
      [IDBCursor, ['update', 'delete'], untilEvent(ENDS)],
      [IDBCursor, ['continue', 'continuePrimaryKey', 'advance'], goOn],
    ],
    // There is none where the page has no safe origin.
    caches: scope.Cache
      ? [
          [CacheStorage, ['open', 'match', 'has', 'keys', 'delete'], untilAnswer('a cache')],
          [Cache, ['match', 'matchAll', 'add', 'addAll', 'put', 'keys', 'delete'], untilAnswer('a cache')],
        ]
      : [],
  };

  return name => {
    const hooks = stores[name];
    if (hooks === undefined || hooked[name]) return;
    hooked[name] = true;
    for (let at = 0; at < hooks.length; at++) {
      const methods = hooks[at][1];
      for (let which = 0; which < methods.length; which++) around(hooks[at][0].prototype, methods[which], hooks[at][2]);
    }
  };
})
