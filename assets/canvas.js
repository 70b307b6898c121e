// Keeps what WebGL has drawn on a canvas, for the HTML written of the page: without this option Chromium clears the
// buffer once its picture has been shown.
//
// Evaluated in every frame before the page's own scripts, in the page's own world.
(() => {
  'use strict';

  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const KINDS = { __proto__: null, webgl: true, webgl2: true, 'experimental-webgl': true };
  const member = getOwnPropertyDescriptor(HTMLCanvasElement.prototype, 'getContext');
  const value = new Proxy(member.value, {
    __proto__: null,
    apply(target, canvas, given) {
      if (typeof given[0] === 'string' && KINDS[given[0]]) {
        given[1] = { __proto__: given[1] ?? null, preserveDrawingBuffer: true };
      }
      return apply(target, canvas, given);
    },
  });
  defineProperty(HTMLCanvasElement.prototype, 'getContext', { __proto__: null, ...member, value });
})()
