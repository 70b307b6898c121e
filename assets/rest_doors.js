// Tells when script opens a door to what is not seen, or comes with a frame.
//
// scope: the global object, a page's or a worker's; around, proxy: as the watch has them; open: what is told.
(function (scope, around, proxy, open) {
  'use strict';

  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const opened = (target, self, args) => {
    open();
    return apply(target, self, args);
  };
  const element = scope.Element?.prototype;
  for (const [owner, ...methods] of [[scope, 'scroll', 'scrollTo', 'scrollBy', 'webkitRequestAnimationFrame'],
    // What lies in a shadow tree is not found by a selector.
    [element, 'scroll', 'scrollTo', 'scrollBy', 'scrollIntoView', 'animate', 'attachShadow'],
    [scope.Document?.prototype, 'startViewTransition'], [scope.History?.prototype, 'back', 'forward', 'go'],
    [Blob.prototype, 'stream'], [AbortSignal, 'timeout']]) {
    for (const method of methods) around(owner, method, opened);
  }
  for (const [owner, ...doors] of [[scope, 'navigator', 'clientInformation', 'indexedDB', 'caches', 'cookieStore'],
    [Response.prototype, 'body'], [element, 'scrollTop', 'scrollLeft']]) {
    for (const door of doors) {
      let holder = owner;
      while (holder && !getOwnPropertyDescriptor(holder, door)) holder = getPrototypeOf(holder);
      const member = holder && getOwnPropertyDescriptor(holder, door);
      if (!member?.get || !member.configurable) continue;
      const watched = { ...member };
      // What is scrolled is set, what else is asked for.
      const side = member.set && owner !== scope ? 'set' : 'get';
      watched[side] = new Proxy(member[side], { __proto__: null, apply: opened });
      defineProperty(holder, door, watched);
    }
  }
  for (const door of ['ResizeObserver', 'IntersectionObserver', 'PerformanceObserver', 'BroadcastChannel', 'EventSource',
    'WebSocket', 'WebSocketStream', 'WebTransport', 'RTCPeerConnection', 'AudioContext',
    'OfflineAudioContext', 'Audio', 'ImageDecoder', 'VideoDecoder', 'AudioDecoder', 'MediaSource', 'ReadableStream',
    'WritableStream', 'TransformStream', 'CompressionStream', 'DecompressionStream', 'TextDecoderStream',
    'TextEncoderStream', 'MediaRecorder', 'WeakRef', 'FinalizationRegistry']) {
    proxy(scope, door, {
      construct(target, args, made) {
        open();
        return construct(target, args, made);
      },
    });
  }
})
