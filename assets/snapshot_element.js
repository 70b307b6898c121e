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
  // The parser takes the content of these for text up to their end tag.
  const RAW = words('style xmp noembed noframes');
  const DROPPED = words('nonce integrity manifest blocking');
  const FILE_OF = {
    __proto__: null,
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
    const context = { base, foreign, depth, page, charset: depth === 0, sprites: new Set(), sheets: get.adopted(page), set: { title: null }, space: XHTML };
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
  // Animations by script are frozen as they are now; those of style sheets run again in the file.
  const animations = method(Document, 'getAnimations');
  const kindOf = thing => Object.prototype.toString.call(thing);
  function settleAnimations(page) {
    for (const animation of animations(page)) {
      if (kindOf(animation) !== '[object Animation]') continue;
      try { animation.commitStyles(); } catch { /* It animates something that has no style of its own. */ }
    }
  }
  // Of a font that a script has made, no interface gives the file.
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
      // Comments are left out: they are not shown, and a script's may have text that would end them early.
      if (type === Node.TEXT_NODE || type === Node.CDATA_SECTION_NODE) {
        if (!top.context.isAside) out.push({ parts: [get.data(node)], escape: escapeText });
      } else if (type === Node.ELEMENT_NODE) stack.push(...writeElement(node, top.context, out));
    }
  }

  // Writes the tag; answers what is to be walked through within it, the last first.
  function writeElement(element, context, out) {
    const name = tagOf(element, context.space);
    if (name === null) return [];
    if ((context.isAside || aside.has(element)) && name !== 'style' && name !== 'link') return writeAside(element, name, context, out);
    const html = context.space === XHTML && get.space(element) === XHTML;
    const special = (html ? SPECIAL : get.space(element) === MATHML ? SPECIAL_MATHML : SPECIAL_SVG)[name];
    const inner = special?.(element, context, out);
    if (inner !== undefined) return inner;
    out.push(`<${name}`);
    writeAttributes(element, context, out);
    out.push('>');
    if (html && VOID.has(name)) return [];
    return within(element, name, html, context, out);
  }
  // Of an element outside of `selector` only id, class and style are kept, which style sheets may count by; of its
  // content only style sheets.
  function writeAside(element, name, context, out) {
    const inside = { ...context, isAside: true };
    if (context.isAside) return [{ next: get.first(element), end: '', context: inside }];
    out.push(`<${name}`);
    for (const kept of ['id', 'class', 'style']) {
      if (attribute(element, kept) !== null) writeAttribute(kept, [attribute(element, kept)], out);
    }
    out.push('>');
    const space = spaceWithin(element, name);
    const end = get.space(element) === XHTML && VOID.has(name) ? '' : `</${name}>`;
    return RAW.has(name) || end === '' ? (out.push(end), []) : [{ next: get.first(element), end, context: { ...inside, space } }];
  }

  // The parser goes by names and places, but a script can make elements of any name in any place. What would be parsed
  // as another element is written as a neutral one, or left out where it is not shown.
  const MATHML = 'http://www.w3.org/1998/Math/MathML';
  const MATHML_NAMES = words('math mi mn mo ms mtext mspace mrow mfrac msqrt mroot mstyle merror mpadded mphantom mfenced menclose msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mlabeledtr maction semantics annotation');
  const HOLDS_HTML = words('mi mn mo ms mtext foreignObject desc title');
  const TAG = /^[a-z][^A-Z\0\s/>]*$/;
  const MISREAD = words('svg math image mglyph malignmark');
  function tagOf(element, space) {
    const name = get.local(element);
    const own = get.space(element);
    if (own === SVG) {
      const known = kindOf(element) !== '[object SVGElement]';
      const stands = space === SVG || (space === XHTML && (name === 'svg' || name === 'style'));
      return known && stands ? name : null;
    }
    if (own === MATHML && (space === MATHML || (space === XHTML && name === 'math'))) return MATHML_NAMES.has(name) ? name : null;
    if (space !== XHTML) return own === XHTML && space === SVG && name === 'style' ? name : null;
    if (own !== XHTML) return TAG.test(get.tag(element)) && /[-:]/.test(get.tag(element)) ? get.tag(element) : 'span';
    if (name === 'plaintext') return 'pre';
    if (RAW.has(name) && name !== 'style' && !isPlain(element, name)) return name === 'xmp' ? 'pre' : null;
    return TAG.test(name) && !MISREAD.has(name) ? name : 'span';
  }
  // Whether the parser would read as text what is in the element.
  function isPlain(element, name) {
    for (let child = get.first(element); child !== null; child = get.next(child)) {
      if (get.type(child) === Node.ELEMENT_NODE) return false;
    }
    return !clean(get.text(element)).toLowerCase().includes(`</${name}`);
  }
  function spaceWithin(element, name) {
    const own = get.space(element);
    return name === 'span' || HOLDS_HTML.has(name) || (own !== SVG && own !== MATHML) ? XHTML : own;
  }

  function within(element, name, html, outside, out) {
    if (html && (RAW.has(name) || name === 'title')) {
      const escape = name === 'style' ? escapeSheet : name === 'title' ? escapeText : clean;
      out.push({ parts: [get.text(element)], escape }, `</${name}>`);
      return [];
    }
    const first = get.first(element);
    const space = spaceWithin(element, name);
    const context = space === outside.space ? outside : { ...outside, space };
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
    if (root === null) {
      if (html && first === null && name.includes('-') && isShown(element)) warn(short(`<${name}> shows what only its own script sees (a closed shadow root): it is not kept in the document`));
      return [light];
    }
    out.push(`<template shadowrootmode="open"${get.focus(root) ? ' shadowrootdelegatesfocus' : ''}>`);
    const inside = { ...context, sprites: new Set(), sheets: get.adoptedInRoot(root) };
    return [light, { next: get.first(root), end: [...adoptedParts(inside), '</template>'], context: inside }];
  }
  const box = method(Element, 'getBoundingClientRect');
  function isShown(element) {
    const { width, height } = box(element);
    return width * height > 0;
  }
  const CHARSET = '<meta charset="utf-8">';
  function hasHead(element) {
    let child = get.first(element);
    while (child !== null && !(get.type(child) === Node.ELEMENT_NODE && isHtml(child, 'head'))) child = get.next(child);
    return child !== null;
  }
  // By sheet, for one may be adopted by a thousand shadow roots.
  const adopted = new Map();
  // The sheets that a script has given to a document or a shadow root come after its others.
  function adoptedParts({ sheets, base }) {
    return Array.from(sheets).flatMap(sheet => {
      if (!adopted.has(sheet)) adopted.set(sheet, keepSheet(sheet, base, undefined));
      return sheetElement(sheet, adopted.get(sheet));
    });
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
  // Parsers of addresses drop blanks and control characters, also within `javascript:`.
  const runsScript = (name, value) => LEADING.has(name) && /(?:^|;)javascript:/i.test(value.replace(/[\0- ]+/g, ''));

  // A link that ran a script keeps the looks of one that was not visited, and leads nowhere.
  const deadLink = (element, name) => name.endsWith('href') && get.local(element) === 'a' ? ['#0'] : null;

  // The parts of an attribute; null where it is left out.
  function attributeParts(element, name, value, context) {
    const local = get.local(element);
    if (name === 'style') return inlineParts(element, value, context);
    if (name === 'loading' && (local === 'img' || local === 'iframe')) return null;
    if (FILE_OF[local]?.has(name)) {
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
  // An attribute that the page's content security policy has blocked is left out, for the file has no such policy.
  function inlineParts(element, value, context) {
    const space = get.space(element);
    const style = space === XHTML ? get.style : space === SVG ? get.svgStyle : null;
    if (style?.(element).cssText === '') return null;
    return styleParts(ownFragments(value, context), context.base);
  }
  // The candidates of a `srcset`: [address, descriptor].
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

  // ----- Special elements: each function gives what to walk through, or undefined where nothing is special -----

  const gone = () => [];
  const SPECIAL_SVG = { __proto__: null, script: gone, style: writeStyle, use: writeUse };
  const SPECIAL_MATHML = { __proto__: null };
  const SPECIAL = {
    __proto__: null,
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
    object: writePlugin,
    embed: writePlugin,
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
