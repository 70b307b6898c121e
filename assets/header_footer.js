// Makes header and footer such that Chromium shows them whole: it lays them out once, in a document that loads nothing.
//
// `templates` are their texts by option. `files` are `data:` addresses by the addresses that name them; what else is
// named is taken out, for some of it ends the renderer. Fonts are loaded here: that document shows a font only if its
// `data:` address was loaded before. The page's own fonts hold too, up to `limit` letters. `generic` are the families that
// generic names mean. rulesOf: rules_of.js.
//
// Gives JSON: the `templates`; the `family` of the page's body; `named`, a list of [option, address] of what was
// taken out, without an option where a font of the page's names it; `unloaded`, families that cannot be shown.
// An element's name hides a member of the document (<img name=body>), so its prototype is asked.
async (rulesOf, { templates, files, limit, generic, locale, timeZone }) => {
  const NAMED = 100;
  const ADDRESS_LENGTH = 2000;
  // Up to so many sheets the page's own fonts may be as long as `limit`, and shorter on more: each sheet takes them anew.
  const SHEETS = 100;
  const SHEET_PX = 1000;
  const FAMILY_LENGTH = 1000;
  const NOTHING = 'data:,';
  // Letters of files in both templates: each place that names a file has a copy of it.
  const WRITTEN = 4 * limit;
  const SVG = 'http://www.w3.org/2000/svg';
  const its = name => Reflect.get(Document.prototype, name, document);
  // Chromium would write the date in its own language, and the page's address is an internal one.
  const filled = {
    date: () => new Intl.DateTimeFormat(locale, { dateStyle: 'short', timeStyle: 'short', timeZone }).format(new Date()),
    url: () => '',
  };
  const named = new Map();
  let written = 0;
  const unloaded = new Set();
  const styles = [];

  // A page with trusted types takes markup only from a policy. It is made only on failure: where no script of the page
  // runs, the policy's function does not run either.
  function write(body, text) {
    try {
      body.innerHTML = text;
    } catch (error) {
      if (globalThis.trustedTypes === undefined) throw error;
      body.innerHTML = trustedTypes.createPolicy('platen', { createHTML: (markup) => markup }).createHTML(text);
    }
  }

  // What an address becomes.
  function shown(option, address) {
    const trimmed = address.trim();
    if (!trimmed || /^(data:|#)/i.test(trimmed)) return address;
    const file = Object.hasOwn(files, trimmed) ? files[trimmed] : undefined;
    if (file !== undefined && (written += file.length) <= WRITTEN) return file;
    if (named.size < NAMED && !named.has(trimmed)) named.set(trimmed.slice(0, ADDRESS_LENGTH), option);
    return NOTHING;
  }

  // What styles become. A text must not be invisible while it waits for a font that does not come.
  const styled = (option, css) => css
    .replace(/(@import\s*)("[^"]*"|'[^']*')/gi, '$1 url($2)')
    .replace(/url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)/gi, (whole, ...texts) => {
      const address = texts.slice(0, 3).find(text => text !== undefined);
      const now = shown(option, address);
      return now === address ? whole : `url("${now}")`;
    })
    .replace(/font-display\s*:\s*[\w-]+/gi, 'font-display:swap');

  // What an attribute's value becomes.
  function attribute(option, element, { name, value }) {
    const { localName } = element;
    const isLink = /^(xlink:)?href$/.test(name) && localName !== 'a' && localName !== 'area';
    if (isLink || /^(src|poster|background)$/.test(name) || name === 'data' && localName === 'object') {
      return shown(option, value);
    }
    // A picture that has several sizes gets the first.
    if (name === 'srcset' && !/^\s*data:/i.test(value)) return shown(option, value.trim().split(/\s/)[0]);
    return name === 'style' || element.namespaceURI === SVG ? styled(option, value) : value;
  }

  // A template. The classes that Chromium would fill in wrongly are renamed, in the style sheets too.
  function made(option, template) {
    if (!/date|url|src|href|poster|background|data|@import|font-face/i.test(template)) return template;
    // A document without a window: nothing in it runs and nothing is fetched.
    const { body } = Reflect.get(Document.prototype, 'implementation', document).createHTMLDocument('');
    write(body, template);
    const before = body.innerHTML;
    for (const element of body.querySelectorAll('*')) {
      const [classes, attributes] = ['classList', 'attributes'].map(it => Reflect.get(Element.prototype, it, element));
      for (const name of ['date', 'url']) {
        if (classes.replace(name, `platen-${name}`)) element.textContent = filled[name]();
      }
      for (const it of [...attributes]) {
        const value = attribute(option, element, it);
        if (value !== it.value) it.value = value;
      }
    }
    for (const style of body.querySelectorAll('style')) {
      style.textContent = styled(option, style.textContent).replace(/\.(date|url)(?![\w-])/g, '.platen-$1');
      styles.push(style.textContent);
    }
    const after = body.innerHTML;
    return after === before ? template : after;
  }

  const faces = sheet => rulesOf(sheet).filter(rule => rule instanceof CSSFontFaceRule);
  const family = rule => rule.style.getPropertyValue('font-family').replace(/^["']|["']$/g, '');

  const source = rule => rule.style.getPropertyValue('src');

  // A font of the page's own for header and footer; nothing where it is not a file of the page's.
  function ownFace(rule) {
    try {
      const base = rule.parentStyleSheet?.href ?? its('baseURI');
      const text = rule.style.cssText.replace(/url\("([^"]*)"\)/g, (whole, address) => {
        const { protocol, origin, pathname } = new URL(address, base);
        if (protocol === 'data:') return whole;
        if (!/^https?:$/.test(protocol) || origin !== location.origin) throw new Error('of another host');
        return `url("${pathname}")`;
      });
      return `@font-face{${styled('', text)}}`.replaceAll('<', '\\3c ');
    } catch {
      return '';
    }
  }

  // Those of the page's fonts that it shows, where the body or a template names them.
  function ownFaces(names) {
    const key = (name, weight, style) => [name.replace(/^["']|["']$/g, ''), weight || 'normal', style || 'normal'].join();
    const loaded = [...its('fonts')].filter(font => font.status === 'loaded');
    const keys = new Set(loaded.map(font => key(font.family, font.weight, font.style)));
    const sheets = keys.size === 0 ? 0 : (its('documentElement')?.scrollHeight ?? 0) / SHEET_PX;
    const most = Math.min(limit, limit * SHEETS / sheets);
    let own = '';
    for (const rule of keys.size === 0 ? [] : [...its('styleSheets')].flatMap(faces)) {
      const [name, weight, style] = ['font-family', 'font-weight', 'font-style'].map(it => rule.style.getPropertyValue(it));
      if (!keys.has(key(name, weight, style)) || !names.includes(family(rule))) continue;
      const face = ownFace(rule);
      if (own.length + face.length > most) unloaded.add(family(rule));
      else own += face;
    }
    return own;
  }

  const body = its('body') ?? its('documentElement');
  const computed = body === null ? '' : getComputedStyle(body).fontFamily;
  const given = Object.keys(templates).filter(option => templates[option] !== '');
  const own = ownFaces([computed, ...Object.values(templates)].join());
  for (const option of given) templates[option] = made(option, templates[option]);
  // Both are in one document, so the styles of one hold in the other.
  if (own !== '') templates[given[0]] = `<style>${own}</style>${templates[given[0]]}`;

  const wanted = [own, ...styles].flatMap(text => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return faces(sheet);
  }).filter(rule => !/url\("(?!data:)/i.test(source(rule)));
  const fonts = wanted.map(rule => new FontFace(family(rule), source(rule)));
  await Promise.allSettled(fonts.map(font => font.load()));
  // Hazard: a font that nothing holds may be gone before the print.
  globalThis.fontsOfHeader = fonts;
  for (const [at, font] of fonts.entries()) {
    const isNamed = source(wanted[at]).includes(`"${NOTHING}"`);
    if (font.status !== 'loaded' && !isNamed) unloaded.add(family(wanted[at]));
  }

  return JSON.stringify({
    ...templates,
    family: computed.length > FAMILY_LENGTH ? 'sans-serif' : computed.replace(
      /(?<=^|, )(serif|sans-serif|monospace)(?=,|$)/g, name => `'${generic[name]}', ${name}`),
    named: [...named].map(([address, option]) => [option, address]),
    unloaded: [...unloaded].slice(0, NAMED),
  }).toWellFormed();
}
