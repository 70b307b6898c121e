  // Elements and their attributes, for assets/snapshot.js, which this is put into.

  Object.assign(get, {
    value: getter(HTMLInputElement, 'value'), kind: getter(HTMLInputElement, 'type'),
    checked: getter(HTMLInputElement, 'checked'), area: getter(HTMLTextAreaElement, 'value'),
    selected: getter(HTMLOptionElement, 'selected'), host: getter(ShadowRoot, 'host'),
    doctype: getter(Document, 'doctype'), publicId: getter(DocumentType, 'publicId'),
    systemId: getter(DocumentType, 'systemId'), name: getter(DocumentType, 'name'),
    focus: getter(ShadowRoot, 'delegatesFocus'), faces: getter(Document, 'fonts'),
  });
  const words = text => new Set(text.split(' '));
  const VOID = words('area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr');
  const RAW = words('style xmp iframe noembed noframes plaintext');
  const DROPPED = words('nonce integrity manifest blocking');
  const FILE_OF = {
    img: words('src'), input: words('src'), source: words('src'), video: words('src poster'), audio: words('src'),
    track: words('src'), embed: words('src'), object: words('data'), image: words('href xlink:href'),
    feImage: words('href xlink:href'), body: words('background'), table: words('background'),
    td: words('background'), th: words('background'), tr: words('background'), thead: words('background'),
    tbody: words('background'), tfoot: words('background'),
  };
  const LEADING = words('href xlink:href src action formaction data poster background values from to by srcdoc');
  const PAINT = words('fill stroke filter mask clip-path cursor marker marker-start marker-mid marker-end');
  const NO_HANDLER = words('on one once only online');
  const LINK_GONE = words('modulepreload preload prefetch prerender manifest dns-prefetch preconnect');
  const LINK_ICON = words('icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon');
  const META_GONE = words('content-security-policy content-security-policy-report-only content-type refresh x-content-security-policy x-webkit-csp');
  const SCRIPT_TYPE = /^(?:module|importmap|speculationrules|(?:text|application)\/(?:x-)?(?:java|ecma|live|j)script[\d.]*)?$/i;

  const isHtml = (element, name) => get.space(element) === XHTML && get.local(element) === name;

  // ----- The document -----

  function writeDocument(page, depth) {
    const out = [];
    const base = get.base(page);
    const foreign = base.startsWith('http') && !base.startsWith(`${origin}/`) ? base : null;
    const context = { base, foreign, depth, page, charset: depth === 0, sprites: new Set(), sheets: get.adopted(page), set: { title: null } };
    const doctype = get.doctype(page);
    if (doctype !== null) out.push(doctypeText(doctype));
    settleAnimations(page);
    walk(page, context, out);
    for (const face of get.faces(page)) tellFace(face, page);
    return out;
  }
  function doctypeText(doctype) {
    const ids = [get.publicId(doctype), get.systemId(doctype)].map(id => id.replace(/["<>]/g, ''));
    const [publicId, systemId] = ids;
    const kind = publicId ? ` PUBLIC "${publicId}"` : systemId ? ' SYSTEM' : '';
    return `<!DOCTYPE ${get.name(doctype)}${kind}${systemId ? ` "${systemId}"` : ''}>\n`;
  }
  // What a script animates stands as it is at this moment; animations of style sheets run again.
  const animations = method(Document, 'getAnimations');
  const kindOf = thing => Object.prototype.toString.call(thing);
  function settleAnimations(page) {
    for (const animation of animations(page)) {
      if (kindOf(animation) !== '[object Animation]') continue;
      try { animation.commitStyles(); } catch { /* It animates something that has no style of its own. */ }
    }
  }
  // The file of a font that a script has made is known to the engine alone.
  const faceRules = new Set();
  function tellFace(face, page) {
    if (face.status !== 'loaded') return;
    const family = face.family.replace(/^["']|["']$/g, '');
    if (!faceRules.has(family.toLowerCase())) warn(short(`the font '${family}' was loaded by a script, so it is not in the document: declare it by @font-face`));
  }

  // Iterative: each entry of the stack is what comes next at its depth, and what ends it.
  function walk(root, context, out) {
    const stack = [{ next: get.first(root), end: '', context }];
    while (stack.length > 0) {
      const top = stack.at(-1);
      const node = top.next;
      if (node === null) {
        out.push(...[top.end].flat());
        stack.pop();
        continue;
      }
      top.next = get.next(node);
      const type = get.type(node);
      if (type === Node.TEXT_NODE) out.push({ parts: [get.data(node)], escape: escapeText });
      else if (type === Node.COMMENT_NODE) out.push(commentText(get.data(node)));
      else if (type === Node.ELEMENT_NODE) stack.push(...writeElement(node, top.context, out));
    }
  }
  const commentText = data => `<!--${clean(data).replace(/^-?>|--!?>|<!--|--!?$|<!-$/g, '')}-->`;

  // Writes the tag; answers what is to be walked through within it, the last first.
  function writeElement(element, context, out) {
    const html = get.space(element) === XHTML;
    const name = html || get.space(element) === SVG ? get.local(element) : get.tag(element);
    const special = html ? SPECIAL[name] : get.local(element) === 'script' ? gone : SPECIAL_SVG[name];
    const inner = special?.(element, context, out);
    if (inner !== undefined) return inner;
    out.push(`<${name}`);
    writeAttributes(element, context, out);
    out.push('>');
    if (html && VOID.has(name)) return [];
    return within(element, name, html, context, out);
  }
  function within(element, name, html, context, out) {
    if (html && RAW.has(name)) {
      out.push({ parts: [get.text(element)], escape: clean }, `</${name}>`);
      return [];
    }
    const first = get.first(element);
    const light = { next: first, end: `</${name}>`, context };
    if (html && (name === 'pre' || name === 'listing') && first !== null && get.text(element).startsWith('\n')) out.push('\n');
    if (html && name === 'html' && !hasHead(element)) {
      out.push('<head>', context.charset ? CHARSET : '', ...adoptedParts(context), '</head>');
    }
    if (html && name === 'head') {
      if (context.charset) out.push(CHARSET);
      light.end = [...adoptedParts(context), '</head>'];
    }
    const root = get.root(element);
    if (root === null) return [light];
    out.push(`<template shadowrootmode="open"${get.focus(root) ? ' shadowrootdelegatesfocus' : ''}>`);
    const inside = { ...context, sprites: new Set(), sheets: get.adoptedInRoot(root) };
    return [light, { next: get.first(root), end: [...adoptedParts(inside), '</template>'], context: inside }];
  }
  const CHARSET = '<meta charset="utf-8">';
  function hasHead(element) {
    let child = get.first(element);
    while (child !== null && !(get.type(child) === Node.ELEMENT_NODE && isHtml(child, 'head'))) child = get.next(child);
    return child !== null;
  }
  // The sheets that a script has given to a document or a shadow root come after its others.
  function adoptedParts({ sheets, base }) {
    return Array.from(sheets).flatMap(sheet => sheetElement(sheet, keepSheet(sheet, base, undefined)));
  }
  function sheetElement(sheet, kept, attributes = [], escape = escapeSheet) {
    if (get.disabled(sheet) || kept === null) return [];
    keepFaces(kept);
    const media = get.media(sheet).mediaText;
    const shown = media === '' ? '' : ` media="${escapeAttribute(media)}"`;
    return [`<style${shown}`, ...attributes, '>', { parts: [() => sheetParts(kept)], escape }, '</style>'];
  }
  function keepFaces(kept) {
    for (const { text, sheet } of kept.rules) {
      if (sheet) keepFaces(sheet);
      for (const [, name] of text.matchAll(/@font-face\s*\{[^}]*?font-family:\s*["']?([^;"'}]+)/g)) {
        faceRules.add(name.trim().toLowerCase());
      }
    }
  }

  // ----- Attributes -----

  function writeAttributes(element, context, out, skipped) {
    const list = get.attributes(element);
    for (let at = 0; at < list.length; at += 1) {
      const { name, value } = list[at];
      const lower = name.toLowerCase();
      if (DROPPED.has(lower) || skipped?.has(lower) || isHandler(lower)) continue;
      const parts = runsScript(lower, value) ? deadLink(element, lower) : attributeParts(element, lower, value, context);
      if (parts !== null) writeAttribute(name, parts, out);
    }
    const local = get.local(element);
    const custom = get.space(element) === XHTML && (local.includes('-') || attribute(element, 'is') !== null);
    if (custom && !is(element, ':defined')) out.push(` ${UNDEFINED}=""`);
  }
  function writeAttribute(name, parts, out) {
    out.push(` ${name}="`, { parts, escape: escapeAttribute }, '"');
  }
  const isHandler = name => /^on[a-z]+$/.test(name) && !NO_HANDLER.has(name);
  // Whatever an address parser drops may stand in between.
  const runsScript = (name, value) => LEADING.has(name) && /(?:^|;)javascript:/i.test(value.replace(/[\0- ]+/g, ''));

  // A link that ran a script still looks like one; it was never visited.
  const deadLink = (element, name) => name.endsWith('href') && get.local(element) === 'a' ? ['#0'] : null;

  // What stands in an attribute; null: it does not stand there.
  function attributeParts(element, name, value, context) {
    const local = get.local(element);
    if (name === 'style') return inlineParts(element, value, context);
    if (name === 'loading' && (local === 'img' || local === 'iframe')) return null;
    if (Object.hasOwn(FILE_OF, local) && FILE_OF[local].has(name)) {
      return load(value, context.base, isHtml(element, 'img') ? element : undefined) ?? [value];
    }
    if (name === 'href' && isHtml(element, 'link') && isIcon(element)) return load(value, context.base) ?? [value];
    if (PAINT.has(name) && /url\(/i.test(value)) return styleParts(ownFragments(value, context), context.base);
    const leads = name === 'href' || name === 'action' || name === 'formaction';
    if (leads && context.foreign !== null && !value.startsWith('#')) return [parse(value, context.foreign)?.href ?? value];
    return [value];
  }
  // `url(http://…/page#id)` of the page itself, as scripts write it where there is a `<base>`.
  const ownFragments = (value, { page }) => value.replaceAll(`${get.baseDocument(page).replace(/#.*/, '')}#`, '#');
  // A policy of the page may have kept an attribute from having any effect, which is not in the file.
  function inlineParts(element, value, context) {
    const style = { [XHTML]: get.style, [SVG]: get.svgStyle }[get.space(element)];
    if (style?.(element).cssText === '') return null;
    return styleParts(ownFragments(value, context), context.base);
  }
  // The pictures that an image may be of: [address, how large it is].
  function candidates(value) {
    const list = [];
    const candidate = /[\s,]*([^\s,]\S*[^\s,]|[^\s,])(,)?((?:[^,(]|\([^)]*\))*)/y;
    for (let found; (found = candidate.exec(value)) !== null && found[0] !== '';) {
      const [, address, comma, descriptor] = found;
      if (comma) candidate.lastIndex -= descriptor.length;
      list.push([address, comma ? '' : descriptor.trim()]);
    }
    return list;
  }

  // ----- Elements of their own kind: what to walk through, or undefined where nothing is special -----

  const gone = () => [];
  const SPECIAL_SVG = { style: writeStyle, use: writeUse };
  const SPECIAL = {
    base: gone,
    noscript: gone,
    script: writeScript,
    style: writeStyle,
    link: writeLink,
    canvas: writeCanvas,
    iframe: writeFrame,
    img: writeImage,
    picture(element, context, out) {
      out.push('<picture');
      writeAttributes(element, context, out);
      out.push('>');
      return within(element, 'picture', true, { ...context, picture: element }, out);
    },
    source: (element, context) => context.picture === undefined ? undefined : [],
    object: element => { if (holdsPage(element)) warn(short(`a page in an object element is not kept in the document: ${attribute(element, 'data')}`)); },
    frame: element => warn(short(`a frame of a frameset is not kept in the document: ${attribute(element, 'src')}`)),
    input: writeInput,
    template: (element, context, out) => { out.push('<template></template>'); return []; },
    meta: element => attribute(element, 'charset') !== null || META_GONE.has((attribute(element, 'http-equiv') ?? '').trim().toLowerCase()) ? [] : undefined,
    option(element, context, out) {
      out.push('<option');
      writeAttributes(element, context, out, words('selected'));
      out.push(get.selected(element) ? ' selected="">' : '>');
      return within(element, 'option', true, context, out);
    },
    textarea(element, context, out) {
      out.push('<textarea');
      writeAttributes(element, context, out);
      out.push('>\n', { parts: [get.area(element)], escape: escapeText }, '</textarea>');
      return [];
    },
  };
