// Reports when script uses an interface behind which work goes on unseen, or ends only with a frame.
//
// scope: the global object, a page's or a worker's; around, proxy: from idle_hooks.js; open(): the report; used(name):
// told of the members of the global object that are read.
(function (scope, around, proxy, open, used) {
  'use strict';

  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const unseen = (target, self, args) => {
    open();
    return apply(target, self, args);
  };
  const element = scope.Element?.prototype;
  for (const [owner, ...methods] of [[scope, 'scroll', 'scrollTo', 'scrollBy', 'webkitRequestAnimationFrame'],
    // A selector does not find elements in a shadow tree.
    [element, 'scroll', 'scrollTo', 'scrollBy', 'scrollIntoView', 'animate', 'attachShadow'],
    [scope.Document?.prototype, 'startViewTransition'], [scope.History?.prototype, 'back', 'forward', 'go'],
    [Blob.prototype, 'stream'], [AbortSignal, 'timeout']]) {
    for (const method of methods) around(owner, method, unseen);
  }
  for (const [owner, ...members] of [[scope, 'navigator', 'clientInformation', 'indexedDB', 'caches', 'cookieStore'],
    [Response.prototype, 'body'], [element, 'scrollTop', 'scrollLeft']]) {
    for (const name of members) {
      let holder = owner;
      while (holder && !getOwnPropertyDescriptor(holder, name)) holder = getPrototypeOf(holder);
      const member = holder && getOwnPropertyDescriptor(holder, name);
      if (!member?.get || !member.configurable) continue;
      const watched = { ...member };
      // A scroll position acts when it is set, the others when they are read.
      const side = member.set && owner !== scope ? 'set' : 'get';
      watched[side] = new Proxy(member[side], {
        __proto__: null,
        apply(target, self, args) {
          used(name);
          return unseen(target, self, args);
        },
      });
      defineProperty(holder, name, watched);
    }
  }
  for (const name of ['ResizeObserver', 'IntersectionObserver', 'PerformanceObserver', 'BroadcastChannel',
    'EventSource', 'WebSocket', 'WebSocketStream', 'WebTransport', 'RTCPeerConnection', 'AudioContext',
    'OfflineAudioContext', 'Audio', 'ImageDecoder', 'VideoDecoder', 'AudioDecoder', 'MediaSource', 'ReadableStream',
    'WritableStream', 'TransformStream', 'CompressionStream', 'DecompressionStream', 'TextDecoderStream',
    'TextEncoderStream', 'MediaRecorder', 'WeakRef', 'FinalizationRegistry']) {
    proxy(scope, name, {
      construct(target, args, made) {
        open();
        return construct(target, args, made);
      },
    });
  }
})
