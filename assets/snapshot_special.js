  // Elements that are written in a special way, for assets/snapshot.js, which this is put into.

  Object.assign(get, { content: getter(Document, 'contentType'), body: getter(Document, 'body') });
  const relations = element => words((attribute(element, 'rel') ?? '').trim().toLowerCase().replace(/\s+/g, ' '));
  const isIcon = element => [...relations(element)].some(relation => LINK_ICON.has(relation));

  function holdsPage(element) {
    const inner = get.object(element);
    return inner !== null && get.content(inner) === 'text/html' && get.body(inner) !== null && get.first(get.body(inner)) !== null;
  }

  // A page in `object` or `embed` would run its scripts when the file is opened.
  const PAGE = /^data:(?:text\/html|[^,;]*xhtml|[^,;]*\/xml)|^(?!data:)[^?#]*\.(?:x?html?|xht|xml)(?:[?#]|$)/i;
  const DRAWING = /^data:image\/svg|^(?!data:)[^?#]*\.svgz?(?:[?#]|$)/i;
  function writePlugin(element, context, out) {
    const name = get.local(element);
    const address = attribute(element, name === 'object' ? 'data' : 'src');
    const url = parse(address ?? '', context.base);
    if (address !== null && DRAWING.test(url?.href)) return writeDrawing(element, address, url.origin, context, out);
    const isPage = address !== null && PAGE.test(url?.href ?? '');
    if (!isPage && !(name === 'object' && holdsPage(element))) return undefined;
    warn(short(`a page in an ${name} element is not kept in the document: ${address}`));
    out.push(`<${name}`);
    writeAttributes(element, context, out, words('data src'));
    out.push('>');
    return name === 'embed' ? [] : within(element, name, true, context, out);
  }

  // A drawing there would run its scripts as well; as an image it looks the same and runs none.
  function writeDrawing(element, address, from, context, out) {
    const parts = load(address, context.base);
    if (parts === null && from === origin) return undefined;
    out.push('<img');
    writeAttributes(element, context, out, words('data src srcset sizes type'));
    writeAttribute('src', parts ?? [address], out);
    out.push('>');
    return [];
  }

  // Data blocks are kept for programs that read the file; executable scripts have run and are left out.
  function writeScript(element, context, out) {
    const type = (attribute(element, 'type') ?? '').trim();
    if (SCRIPT_TYPE.test(type)) return [];
    let text = clean(get.text(element));
    if (/[/+]json$/i.test(type)) text = text.replace(/<(?=[!/s])/gi, '\\u003c');
    else if (/<\/script|<!--/i.test(text)) return [];
    out.push('<script');
    writeAttributes(element, context, out, words('src'));
    out.push('>', text, '</script>');
    return [];
  }

  // Of sheets with titles only those of the first title are applied.
  function isOtherSet(element, { set }) {
    const title = attribute(element, 'title') ?? '';
    if (title !== '') set.title ??= title;
    return title !== '' && set.title !== title;
  }
  function writeStyle(element, context, out) {
    const html = get.space(element) === XHTML;
    const sheet = (html ? get.styleSheet : get.svgSheet)(element);
    if (sheet === null && context.isSprite) {
      out.push('<style>', { parts: styleParts(get.text(element), context.base), escape: escapeText }, '</style>');
      return [];
    }
    if (sheet === null) {
      // Of a type that the browser does not know (kept as it is), or blocked by a policy (left out).
      return /^(?:text\/css)?$/i.test((attribute(element, 'type') ?? '').trim()) ? [] : undefined;
    }
    if (isOtherSet(element, context)) return [];
    const attributes = [];
    writeAttributes(element, context, attributes, words('media title type'));
    const kept = keepSheet(sheet, context.base, get.text(element));
    out.push(...sheetElement(sheet, kept, attributes, context.space === XHTML ? escapeSheet : escapeText));
    return [];
  }
  function writeLink(element, context, out) {
    const found = relations(element);
    if (!found.has('stylesheet')) return [...found].some(relation => LINK_GONE.has(relation)) ? [] : undefined;
    const sheet = get.linkSheet(element);
    if (found.has('alternate') || attribute(element, 'disabled') !== null) return [];
    if (sheet === null) return fileOf(attribute(element, 'href') ?? '', context.base) === null ? undefined : [];
    if (isOtherSet(element, context)) return [];
    const kept = keepSheet(sheet, context.base);
    if (kept === null) return undefined;
    out.push(...sheetElement(sheet, kept));
    return [];
  }

  function writeInput(element, context, out) {
    const kind = get.kind(element);
    const ticks = kind === 'checkbox' || kind === 'radio';
    const typed = !ticks && kind !== 'file' && kind !== 'image';
    out.push('<input');
    writeAttributes(element, context, out, words(typed ? 'value' : 'checked'));
    if (ticks && get.checked(element)) out.push(' checked=""');
    if (typed && (get.value(element) !== '' || attribute(element, 'value') !== null)) writeAttribute('value', [get.value(element)], out);
    out.push('>');
    return [];
  }

  // Of an image's candidates only the one shown is written, with its descriptor and `sizes`, which decide its size.
  get.shown = getter(HTMLImageElement, 'currentSrc');
  function writeImage(element, context, out) {
    const sources = context.picture === undefined ? [] : childrenOf(context.picture, 'source');
    const shown = get.shown(element);
    const chosen = shown === '' ? undefined : [...sources, element].flatMap(from =>
      candidates(attribute(from, 'srcset') ?? '').map(([address, size]) => ({ from, address, size }))
    ).find(({ address }) => parse(address, context.base)?.href === shown);
    out.push('<img');
    writeAttributes(element, context, out, chosen === undefined ? words('srcset sizes') : words('src srcset sizes'));
    if (chosen !== undefined) {
      const { from, address, size } = chosen;
      writeAttribute('srcset', [...(load(address, context.base, element) ?? [address]), ` ${size}`.trimEnd()], out);
      const sizes = attribute(from, 'sizes');
      if (sizes !== null) writeAttribute('sizes', [sizes], out);
    }
    out.push('>');
    return [];
  }
  function childrenOf(element, name) {
    const found = [];
    for (let child = get.first(element); child !== null; child = get.next(child)) {
      if (get.type(child) === Node.ELEMENT_NODE && isHtml(child, name)) found.push(child);
    }
    return found;
  }

  // ----- A canvas: an image of what is on it, where and as large as the canvas is -----

  const PLACED = words('display position top right bottom left z-index float clear box-sizing width height min-width min-height max-width max-height margin-top margin-right margin-bottom margin-left padding-top padding-right padding-bottom padding-left border-top-width border-right-width border-bottom-width border-left-width border-top-style border-right-style border-bottom-style border-left-style border-top-color border-right-color border-bottom-color border-left-color border-top-left-radius border-top-right-radius border-bottom-right-radius border-bottom-left-radius vertical-align object-fit object-position aspect-ratio background-color opacity transform visibility order flex-grow flex-shrink flex-basis align-self justify-self grid-row-start grid-row-end grid-column-start grid-column-end image-rendering');
  const toDataUrl = method(HTMLCanvasElement, 'toDataURL');
  const computed = method(Element, 'computedStyleMap');
  function writeCanvas(element, context, out) {
    let address;
    try { address = toDataUrl(element); } catch {
      warn('a canvas with pictures of another origin on it is not kept in the document');
      return undefined;
    }
    if (address === 'data:,') return undefined;
    const style = computed(element);
    const placed = Array.from(PLACED, name => `${name}:${style.get(name)}`).join(';');
    out.push('<img');
    writeAttributes(element, context, out, words('style'));
    writeAttribute('style', [`${attribute(element, 'style') ?? ''};${placed}`.replace(/^;/, '')], out);
    out.push(` src="${address}" alt="">`);
    return [];
  }

  // ----- Frames -----

  function writeFrame(element, context, out) {
    const inner = get.frame(element);
    const html = inner !== null && get.content(inner) === 'text/html';
    const page = html && context.depth < FRAME_DEPTH;
    if (html && !page) warn(`a frame more than ${FRAME_DEPTH} frames deep stands in the document as it was written`);
    out.push('<iframe');
    writeAttributes(element, context, out, words(page ? 'src srcdoc sandbox' : 'sandbox'));
    const source = parse(attribute(element, 'src') ?? '', context.base);
    const isWritten = attribute(element, 'srcdoc') !== null || !/^https?:$/.test(source?.protocol);
    const sandbox = attribute(element, 'sandbox') ?? (isWritten && !page ? '' : null);
    // A frame that is not written by us may still hold scripts.
    const allowed = sandbox?.split(/[ \t\n\f\r]+/).filter(word => word.toLowerCase() !== 'allow-scripts');
    if (sandbox !== null) writeAttribute('sandbox', [allowed.join(' ')], out);
    if (page) {
      if (get.body(inner) !== null) out.push(' srcdoc="', { parts: writeDocument(inner, context.depth + 1), escape: escapeAttribute }, '"');
    } else if (attribute(element, 'src') !== null && source?.origin === origin) {
      warn(short(`a frame that cannot be looked into is not kept in the document: ${attribute(element, 'src')}`));
    }
    out.push('></iframe>');
    return [];
  }

  // ----- `use` of another file: its element is put beside it, for no browser takes it from a `data:` address -----

  const sprites = new Map();
  function writeUse(element, context, out) {
    const name = attribute(element, 'href') !== null ? 'href' : 'xlink:href';
    const written = ownFragments(attribute(element, name) ?? '', context).trim();
    if (written === '' || written.startsWith('#')) {
      out.push('<use');
      writeAttributes(element, context, out, words('href xlink:href'));
      if (written !== '') writeAttribute(name, [written], out);
      out.push('>');
      return within(element, 'use', false, context, out);
    }
    const file = fileOf(written, context.base);
    if (file === null) return undefined;
    needs.add(file.path);
    if (!sprites.has(file.path)) sprites.set(file.path, { prefix: `platen-${sprites.size}-`, page: null });
    const { prefix } = sprites.get(file.path);
    const id = decode(file.hash.slice(1)) || 'root';
    if (!context.sprites.has(prefix + id)) out.push(() => spriteParts(file.path, id, context.sprites));
    out.push('<use');
    writeAttributes(element, context, out, words('href xlink:href'));
    writeAttribute('href', [`#${prefix}${id}`], out);
    out.push('>');
    return within(element, 'use', false, context, out);
  }
  function decode(text) {
    try { return decodeURIComponent(text); } catch { return text; }
  }
  const SPRITE = { foreign: null, depth: 0, charset: false, sheets: [], set: { title: null }, space: SVG, isSprite: true };
  // The element with the id and all that it refers to, with ids that are unique in the document.
  function spriteParts(path, wanted, written) {
    const sprite = sprites.get(path);
    if (sprite.page === null) sprite.page = readSprite(path);
    const { prefix, page } = sprite;
    const out = [];
    const queue = [wanted];
    for (let id; (id = queue.pop()) !== undefined;) {
      if (written.has(prefix + id)) continue;
      written.add(prefix + id);
      const found = id === 'root' ? page?.documentElement : page?.getElementById(id);
      if (!found) {
        warn(short(`nothing in ${path} has the id '${id}'`));
        continue;
      }
      const copy = found.cloneNode(true);
      copy.id = id;
      queue.push(...rename(copy, prefix));
      for (const inner of copy.querySelectorAll('[id]')) written.add(inner.id);
      const holder = new DocumentFragment();
      holder.append(copy);
      walk(holder, { ...SPRITE, base: `${origin}/${path}`, page, sprites: written }, out);
    }
    return out.length === 0 ? [] : ['<defs>', ...out, '</defs>'];
  }
  function readSprite(path) {
    try {
      return new DOMParser().parseFromString(texts.get(path) ?? '', 'image/svg+xml');
    } catch {
      return null;
    }
  }
  function rename(copy, prefix) {
    const referred = [];
    for (const element of [copy, ...copy.querySelectorAll('*')]) {
      if (element.localName === 'script') element.remove();
      for (const { name, value } of [...element.attributes]) {
        if (isHandler(name.toLowerCase()) || runsScript(name, value)) element.removeAttribute(name);
        else if (name === 'id') element.id = prefix + value;
        else if (/^(?:xlink:)?href$/.test(name) && value.startsWith('#')) {
          referred.push(value.slice(1));
          element.setAttribute(name, `#${prefix}${value.slice(1)}`);
        } else if (value.includes('url(')) {
          element.setAttribute(name, value.replace(/url\(\s*["']?#([^"')]+)["']?\s*\)/g, (_, id) => {
            referred.push(id);
            return `url(#${prefix}${id})`;
          }));
        }
      }
    }
    return referred;
  }
