// Reports canvases that ask for WebGL or WebGPU and do not get it, and keeps what WebGL has drawn until the page's file is
// made: without that option Chromium clears the buffer once its picture has been shown.
//
// Evaluated before the page's scripts in every frame and watched worker, in their own world. A page can tamper with it and
// changes by that only where itself is rendered, and its own warnings.
//
// name: of the binding, which the watch behind this script removes.
(function (name) {
  'use strict';

  const tell = globalThis[name];
  if (typeof tell !== 'function') return;

  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const KINDS = {
    __proto__: null, webgl: 'webgl', webgl2: 'webgl', 'experimental-webgl': 'webgl', webgpu: 'webgpu',
  };
  const REPORTS_LIMIT = 20;
  const page = globalThis.document;
  const listen = EventTarget.prototype.addEventListener;
  const getter = (owner, key) => getOwnPropertyDescriptor(owner.prototype, key).get;
  const its = page && {
    __proto__: null,
    id: getter(Element, 'id'),
    classes: getter(Element, 'className'),
    inPage: getter(Node, 'isConnected'),
    all: Document.prototype.getElementsByTagName,
  };
  let reports = 0;

  const named = canvas => {
    const get = key => apply(its[key], canvas, []);
    if (get('id')) return 'canvas#' + get('id');
    if (get('classes')) return 'canvas.' + get('classes');
    if (!get('inPage')) return 'a canvas outside of the page';
    const all = apply(its.all, page, ['canvas']);
    for (let at = 0; at < all.length; at++) {
      if (all[at] === canvas) return 'canvas ' + (at + 1) + ' of the page';
    }
    return 'a canvas in a shadow tree';
  };
  const report = (what, canvas) => {
    if (reports++ >= REPORTS_LIMIT) return;
    let shown = canvas ? 'an OffscreenCanvas' : 'the page';
    if (!page) shown = 'a worker of the page';
    try {
      if (page && canvas) shown = named(canvas);
    } catch {}
    apply(tell, undefined, ['canvas:' + what + ':' + shown]);
  };
  const replace = (owner, key, handler) => {
    const member = owner && getOwnPropertyDescriptor(owner, key);
    if (!member) return;
    const value = new Proxy(member.value, { __proto__: null, ...handler });
    defineProperty(owner, key, { __proto__: null, ...member, value });
  };

  const getContext = {
    apply(target, canvas, given) {
      const kind = typeof given[0] === 'string' ? KINDS[given[0]] : undefined;
      if (kind === 'webgl') {
        // That it is drawn by the processor is no reason to go without.
        const kept = { preserveDrawingBuffer: true, failIfMajorPerformanceCaveat: false };
        given[1] = { __proto__: given[1] ?? null, ...kept };
      }
      const context = apply(target, canvas, given);
      if (kind === 'webgpu') {
        report('webgpu', canvas);
      } else if (kind && !context) {
        report('webgl', canvas);
      } else if (kind) {
        apply(listen, canvas, ['webglcontextlost', event => event.isTrusted && report('lost', canvas)]);
      }
      return context;
    },
  };
  for (const owner of [globalThis.HTMLCanvasElement, globalThis.OffscreenCanvas]) {
    replace(owner?.prototype, 'getContext', getContext);
  }
  replace(globalThis.GPU?.prototype, 'requestAdapter', {
    apply(target, gpu, given) {
      report('webgpu');
      return apply(target, gpu, given);
    },
  });
})
