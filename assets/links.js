// Settles where the links of a page lead in its PDF. Those to the renderer's own host go to `base`, where the page will be, or
// nowhere; those that run a script go nowhere. Answers the first relative one that goes nowhere, and how many there are.
//
// `address` is the page's own; with `isScripted` the page's scripts run, and may make links until it is printed. Hazard: a
// `<base>` would do for all of them, but pictures with several sizes would be asked for anew below it. So each link is set.
// Members are read from their prototypes, for an element's name hides a member of the document. An element of a frame has
// prototypes of its own: it is known by its name.
(address, base, isScripted) => {
  'use strict';
  const getter = (owner, name) => {
    const { get } = Object.getOwnPropertyDescriptor(owner.prototype, name);
    return node => get.call(node);
  };
  const rootOf = getter(Element, 'shadowRoot'), baseOf = getter(Node, 'baseURI'), kindOf = getter(Node, 'nodeType');
  const spaceOf = getter(Element, 'namespaceURI'), nameOf = getter(Element, 'localName'), svgHref = getter(SVGAElement, 'href');
  const pageOf = {
    __proto__: null,
    iframe: getter(HTMLIFrameElement, 'contentDocument'), frame: getter(HTMLFrameElement, 'contentDocument'),
    object: getter(HTMLObjectElement, 'contentDocument'),
  };
  const isSvg = element => spaceOf(element) === 'http://www.w3.org/2000/svg';
  const find = (root, selector) =>
    (kindOf(root) === Node.DOCUMENT_NODE ? Document : DocumentFragment).prototype.querySelectorAll.call(root, selector);
  const parse = (written, from) => {
    try { return new URL(written, from); } catch { return null; }
  };

  const own = new URL(address);
  const isOwn = url => url.hostname === own.hostname;
  const whole = ({ href, hash }) => hash === '' ? href.replace(/#$/, '') : href.slice(0, -hash.length);
  // Where an address of ours will be: what is in the page's folder goes along with it.
  function moved(url) {
    const path = url.pathname + url.search + url.hash;
    const inside = path.startsWith(own.pathname);
    return inside ? parse(`./${path.slice(own.pathname.length)}`, base) : parse(new URL(base).origin + path);
  }
  function rebased(written, from) {
    const start = whole(from) === address ? base : isOwn(from) ? moved(from) : from;
    const url = parse(written, start);
    return url !== null && isOwn(url) ? moved(url) : url;
  }

  const unled = { first: null, count: 0 };
  function settle(link, from) {
    const svg = isSvg(link) ? svgHref(link) : null;
    // Without the attribute it is null, of a drawing empty.
    const written = (svg === null ? Element.prototype.getAttribute.call(link, 'href') : svg.baseVal || null)?.trim();
    const url = written === undefined || written.startsWith('#') ? null : parse(written, from);
    if (url === null) return;
    const isWithin = url.hash !== '' && whole(url) === whole(from);
    // What a script does, or has made, is not in the file.
    const isOfScript = /^(?:javascript|blob):/.test(url.protocol);
    if (isWithin || !isOfScript && !isOwn(url)) return;
    const target = isOfScript || base === null ? null : rebased(written, from);
    const shown = written.replaceAll(own.origin, '');
    if (target === null && !isOfScript && Element.prototype.getClientRects.call(link).length > 0) {
      unled.first ??= shown.slice(0, 100);
      unled.count += 1;
    }
    // A fragment that nothing has is no link of the file, and the element still looks like one.
    const href = target === null ? `#/${shown.replace(/^[#/]+/, '')}` : target.href;
    if (svg === null) Element.prototype.setAttribute.call(link, 'href', href);
    else svg.baseVal = href;
  }
  function settleAll(root) {
    const from = baseOf(root).startsWith('about:') ? own : new URL(baseOf(root));
    for (const element of find(root, 'a, area, iframe, frame, object')) {
      const name = nameOf(element);
      const isHtml = spaceOf(element) === 'http://www.w3.org/1999/xhtml';
      if (name === 'a' && isSvg(element) || isHtml && !(name in pageOf)) settle(element, from);
      const page = isHtml ? pageOf[name]?.(element) : null;
      if (page) settleAll(page);
    }
    // By far the most elements, so nothing else is asked of them.
    for (const element of find(root, '*')) {
      const inner = rootOf(element);
      if (inner !== null) settleAll(inner);
    }
  }
  settleAll(document);
  // Ours is the last of its listeners, so that it sees what the page's own ones make.
  if (isScripted) EventTarget.prototype.addEventListener.call(window, 'beforeprint', () => settleAll(document));
  return JSON.stringify(unled).toWellFormed();
}
