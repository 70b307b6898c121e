// Writes the document as it stands into one file that opens by itself.
//
// Evaluated where the page's own script does not reach. A page can still name elements like members of the document
// or of a form (`<input name=attributes>`), so every member is read by the getter of its prototype. The walk is
// synchronous, so that no task of the page runs in between, and iterative, for a page may be nested deeper than the
// call stack.
//
// The result is a list of parts: a text; a number, the file of the template whose `data:` address is put there;
// `{parts, escape}`; or a function that answers parts once the texts of the `needs` have been provided. The service
// puts in the files, so that they never pass through the page.
//
// files: the paths of the template; host: of the page's origin; limit: most bytes.
(task => {
  'use strict';

  const { files, host, limit } = task;
  const origin = `http://${host}`;
  const XHTML = 'http://www.w3.org/1999/xhtml';
  const SVG = 'http://www.w3.org/2000/svg';
  const WARNINGS = 50;
  const FRAME_DEPTH = 8;
  const PART_CHARS = 1 << 18;

  const getter = (owner, name) => {
    const { get } = Object.getOwnPropertyDescriptor(owner.prototype, name);
    return node => get.call(node);
  };
  const method = (owner, name) => {
    const call = owner.prototype[name];
    return (node, ...values) => call.apply(node, values);
  };
  const get = {
    type: getter(Node, 'nodeType'), first: getter(Node, 'firstChild'), next: getter(Node, 'nextSibling'),
    base: getter(Node, 'baseURI'), text: getter(Node, 'textContent'), data: getter(CharacterData, 'data'),
    space: getter(Element, 'namespaceURI'), local: getter(Element, 'localName'), tag: getter(Element, 'tagName'),
    attributes: getter(Element, 'attributes'), root: getter(Element, 'shadowRoot'),
    documentElement: getter(Document, 'documentElement'), baseDocument: getter(Document, 'URL'),
    frame: getter(HTMLIFrameElement, 'contentDocument'), object: getter(HTMLObjectElement, 'contentDocument'),
    style: getter(HTMLElement, 'style'), svgStyle: getter(SVGElement, 'style'),
  };
  const is = method(Element, 'matches');
  const attribute = method(Element, 'getAttribute');

  // ----- Warnings -----

  const LOST = 'an address made by URL.createObjectURL could not be kept';
  const warnings = new Set();
  const clean = text => text.includes(host)
    ? text.replaceAll(origin, '').replaceAll(`//${host}`, '').replaceAll(host, 'localhost') : text;
  const short = text => clean(text.length > 200 ? `${text.slice(0, 200)}…` : text);
  const warn = text => { if (warnings.size < WARNINGS) warnings.add(text); };

  // ----- Addresses -----

  const known = new Set(files);
  let composed = null;
  // The name of a file, which may differ from `path` in Unicode normalisation: macOS packs names decomposed.
  function stored(path) {
    if (known.has(path) || /^[\0-\x7f]*$/.test(path)) return known.has(path) ? path : undefined;
    composed ??= new Map(files.map(file => [file.normalize(), file]));
    return composed.get(path.normalize());
  }
  // Elements outside of `selector` (src/browser/output/clip.rs).
  const aside = Object.hasOwn(globalThis, 'platenAside') ? globalThis.platenAside : new WeakSet();
  const uses = new Map();
  const needs = new Set();
  const texts = new Map();
  const pictures = new Map();
  const drawn = new Map();

  const parse = (written, base) => {
    try { return new URL(written, base); } catch { return null; }
  };
  // The file of the template that an address means.
  function fileOf(written, base) {
    const url = parse(written, base);
    if (url === null || url.origin !== origin || url.protocol !== 'http:') return null;
    let path = url.pathname;
    try { path = decodeURIComponent(path); } catch { /* It is written as it is. */ }
    path = path.replace(/^\/+/, '');
    path = stored(path);
    if (path !== undefined) return { path, hash: url.hash };
    warn(short(`asset not found: ${url.pathname}${url.search}`));
    return null;
  }
  function use(path) {
    const entry = uses.get(path) ?? { index: uses.size, count: 0 };
    entry.count += 1;
    uses.set(path, entry);
    return entry.index;
  }
  // The parts of an address that loads something; null where it stays as it is written.
  function load(written, base, picture) {
    const text = written.trim();
    if (text === '' || text.startsWith('#')) return null;
    if (text.startsWith('blob:')) return [blob(text, picture)];
    const file = fileOf(text, base);
    return file && [use(file.path), file.hash];
  }
  // What a script made. It is read after the walk; if it was revoked by then, its picture on the page is drawn instead.
  function blob(address, picture) {
    if (pictures.get(address) === undefined) pictures.set(address, picture);
    return () => {
      if (!drawn.has(address)) warn(LOST);
      return [drawn.get(address) ?? ''];
    };
  }
  async function read(address, picture) {
    try {
      const content = await (await fetch(address)).blob();
      return await new Promise((done, failed) => {
        const reader = new FileReader();
        reader.onload = () => done(reader.result);
        reader.onerror = failed;
        reader.readAsDataURL(content);
      });
    } catch {
      return picture === undefined ? null : draw(picture);
    }
  }
  const size = ['naturalWidth', 'naturalHeight'].map(name => getter(HTMLImageElement, name));
  function draw(picture) {
    try {
      const [width, height] = size.map(of => of(picture));
      const canvas = new OffscreenCanvas(width, height);
      canvas.getContext('2d').drawImage(picture, 0, 0);
      return canvasAddress(canvas);
    } catch {
      return null;
    }
  }
  const implementation = getter(Document, 'implementation');
  const newDocument = method(DOMImplementation, 'createHTMLDocument');
  // `toDataURL`, by a canvas outside of the page's document.
  function canvasAddress(offscreen) {
    const canvas = newDocument(implementation(document), '').createElement('canvas');
    canvas.width = offscreen.width;
    canvas.height = offscreen.height;
    canvas.getContext('2d').drawImage(offscreen, 0, 0);
    return canvas.toDataURL();
  }

  // ----- Escapes -----

  const ESCAPED = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\u00a0': '&nbsp;' };
  const escapeText = text => clean(text).replace(/[&<>\u00a0]/g, found => ESCAPED[found]);
  const escapeAttribute = text => clean(text).replace(/[&<>"\u00a0]/g, found => ESCAPED[found]);

  STYLES

  ELEMENTS

  // ----- What the service calls -----

  const encoder = new TextEncoder();
  const pieces = [];
  let length = 0;
  let pending = '';
  function put(piece) {
    if (typeof piece === 'number') {
      flush();
      pieces.push(piece);
      return;
    }
    length += encoder.encode(piece).length;
    if (length > limit) throw new RangeError('too long');
    pending += piece;
    if (pending.length >= PART_CHARS) flush();
  }
  // Divides the text into pieces that fit one answer; no surrogate pair is split.
  function flush() {
    const text = pending.toWellFormed();
    for (let at = 0; at < text.length;) {
      let end = Math.min(at + PART_CHARS, text.length);
      if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1])) end -= 1;
      pieces.push(text.slice(at, end));
      at = end;
    }
    pending = '';
  }
  function flatten(parts, escapes) {
    for (const part of parts) {
      if (typeof part === 'string') put(escapes.reduceRight((text, escape) => escape(text), part));
      else if (typeof part === 'number') put(part);
      else if (typeof part === 'function') flatten(part(), escapes);
      else flatten(part.parts, [...escapes, part.escape]);
    }
  }
  const told = answer => JSON.stringify(answer).toWellFormed();
  const guarded = work => {
    try {
      return told(work());
    } catch (error) {
      const large = length > limit;
      return told({ large, fault: short(String(error)) });
    }
  };

  let parts = null;
  globalThis.platenSnapshot = {
    // A text comes in slices.
    provide(path, slice) {
      texts.set(path, (texts.get(path) ?? '') + slice);
      return '';
    },
    async finish() {
      for (const [address, picture] of pictures) {
        const found = await read(address, picture);
        if (found === null) warn(LOST);
        drawn.set(address, found);
      }
      return guarded(() => {
        flatten(parts, []);
        flush();
        parts = null;
        const used = [...uses].map(([path, { count }]) => [path, count]);
        return { length, uses: used, warnings: [...warnings] };
      });
    },
    // The next pieces, at least one until there are none.
    next(chars) {
      let count = 0;
      let end = 0;
      while (end < pieces.length && count < chars) count += pieces[end++].length ?? 1;
      return told(pieces.splice(0, end));
    },
  };
  return guarded(() => {
    parts = writeDocument(document, 0);
    return { needs: [...needs] };
  });
})
