  // Style sheets, for assets/snapshot.js, which this is put into.
  //
  // A sheet is written as its author wrote it, as long as its rules are still those of that text: the engine's text
  // of a rule loses parts (a shorthand with `var()` in it comes back empty). A sheet that a script has changed or made
  // is written from its rules.

  Object.assign(get, {
    linkSheet: getter(HTMLLinkElement, 'sheet'), styleSheet: getter(HTMLStyleElement, 'sheet'),
    svgSheet: getter(SVGStyleElement, 'sheet'), adopted: getter(Document, 'adoptedStyleSheets'),
    adoptedInRoot: getter(ShadowRoot, 'adoptedStyleSheets'),
    rules: getter(CSSStyleSheet, 'cssRules'), href: getter(StyleSheet, 'href'),
    media: getter(StyleSheet, 'media'), disabled: getter(StyleSheet, 'disabled'),
    rule: getter(CSSRule, 'type'), ruleText: getter(CSSRule, 'cssText'),
    imported: getter(CSSImportRule, 'styleSheet'), importHref: getter(CSSImportRule, 'href'),
  });
  const IMPORT = 3;

  // Copies of a sheet what may be gone by the time its text is provided; null for one that may not be read.
  function keepSheet(sheet, base, source) {
    let rules;
    try { rules = get.rules(sheet); } catch { return null; }
    const own = get.href(sheet) ?? base;
    const kept = { base: own, source, path: null, rules: [], imports: [] };
    if (source === undefined && get.href(sheet) !== null) {
      kept.path = fileOf(own, own)?.path ?? null;
      if (kept.path !== null) needs.add(kept.path);
    }
    for (const rule of rules) {
      const text = get.ruleText(rule);
      // Registered now: their content is read before the sheet is written.
      for (const [address] of text.matchAll(/blob:[^"')\s\\]+/g)) blob(address);
      if (get.rule(rule) !== IMPORT) {
        kept.rules.push({ text });
        continue;
      }
      const imported = get.imported(rule);
      const entry = { text, address: parse(get.importHref(rule), own)?.href, sheet: null };
      if (imported !== null) entry.sheet = keepSheet(imported, own);
      kept.rules.push(entry);
      kept.imports.push(entry);
    }
    return kept;
  }

  // The parts of a sheet that was kept.
  function sheetParts(kept) {
    const source = kept.source ?? texts.get(kept.path);
    const own = kept.rules.filter(rule => rule.address === undefined).map(rule => rule.text).join('\n');
    if (source !== undefined && own === rulesOf(source)) return styleParts(source, kept.base, kept.imports);
    const parts = [];
    for (const rule of kept.rules) {
      parts.push(...styleParts(rule.text, kept.base, rule.address === undefined ? [] : [rule]), '\n');
    }
    return parts;
  }
  function rulesOf(source) {
    const sheet = new CSSStyleSheet();
    try { sheet.replaceSync(source); } catch { return null; }
    return Array.from(sheet.cssRules, rule => rule.cssText).join('\n');
  }

  // ----- The text of a sheet -----

  const TOKEN = /\/\*|["'\\{};()]|(?<![-\w\\])(?:url\(|(?:-webkit-)?image-set\(|type\()|@import(?![-\w\\])|@font-face(?![-\w\\])|:defined(?![-\w\\])/gi;
  const BARE_ADDRESS = /[ \t\r\n\f]*([^"'()\\\s]*(?:\\[^][^"'()\\\s]*)*)[ \t\r\n\f]*(?:\)|$)/y;
  // The attribute of custom elements that are not defined. In the file no script defines any: it replaces `:defined`.
  const UNDEFINED = 'platen-undefined';
  const EMPTY = 'data:,';

  // The parts of a text of style: its addresses replaced by the files that they mean.
  function styleParts(text, base, imports = []) {
    const parts = [];
    let from = 0;
    const rest = [...imports];
    const scan = new RegExp(TOKEN);
    const state = { face: 0, faceHas: false, depth: 0, sets: [] };
    const replace = (begin, end, found) => {
      parts.push(text.slice(from, begin), ...found);
      from = end;
    };
    for (let token; (token = scan.exec(text)) !== null;) {
      const at = token.index;
      const word = token[0].toLowerCase();
      const end = scan.lastIndex = tokenEnd(text, at, word);
      if (word === ':defined') replace(at, end, [`:not([${UNDEFINED}])`]);
      else if (word === '@import') scan.lastIndex = importInto(text, end, { base, rest, replace });
      else if (word === 'url(' || (isString(word) && state.sets.length > 0)) {
        const found = addressParts(unquote(text.slice(at, end)), base, state);
        if (found !== null) replace(at, end, ['url("', { parts: found, escape: escapeAddress }, '")']);
      } else follow(state, word);
    }
    parts.push(text.slice(from));
    return parts;
  }
  const isString = word => word === '"' || word === "'";

  // Where what begins with `word` at `at` ends.
  function tokenEnd(text, at, word) {
    if (word === '/*') {
      const end = text.indexOf('*/', at + 2);
      return end < 0 ? text.length : end + 2;
    }
    if (word === '\\') return at + 2;
    if (isString(word)) return stringEnd(text, at);
    if (word === 'type(') return closing(text, at + word.length);
    if (word !== 'url(') return at + word.length;
    const open = at + 4 + /^\s*/.exec(text.slice(at + 4, at + 64))[0].length;
    if (isString(text[open])) return closing(text, stringEnd(text, open));
    BARE_ADDRESS.lastIndex = at + 4;
    return BARE_ADDRESS.test(text) ? BARE_ADDRESS.lastIndex : at + 4;
  }
  function stringEnd(text, at) {
    const special = /["'\\\n]/g;
    special.lastIndex = at + 1;
    for (let found; (found = special.exec(text)) !== null;) {
      if (found[0] === '\\') special.lastIndex += 1;
      else if (found[0] === text[at]) return special.lastIndex;
      else if (found[0] === '\n') return found.index;
    }
    return text.length;
  }
  function closing(text, from) {
    const end = text.indexOf(')', from);
    return end < 0 ? text.length : end + 1;
  }

  // What the braces and parentheses mean: a block of `@font-face`, an `image-set`.
  function follow(state, word) {
    if (word === '@font-face') state.face = 1;
    else if (word === '{') state.face = state.face === 1 ? 2 : 0;
    else if (word === '}') state.face = 0;
    if (word === ';' || word === '{' || word === '}') state.faceHas = false;
    if (word.endsWith('image-set(')) state.sets.push(state.depth);
    if (word === '(' || word.endsWith('image-set(')) state.depth += 1;
    else if (word === ')') {
      state.depth -= 1;
      if (state.sets.at(-1) === state.depth) state.sets.pop();
    }
  }

  // Of the files that one font may come from, the first that browsers of today can read is enough.
  function addressParts(written, base, state) {
    const found = load(written, base);
    if (state.face !== 2 || found === null || typeof found[0] !== 'number') return found;
    const file = fileOf(written, base);
    const usable = /\.(woff2?|ttf|otf|ttc|otc)$/i.test(file.path);
    if (usable && !state.faceHas) {
      state.faceHas = true;
      return found;
    }
    uses.get(file.path).count -= 1;
    return [EMPTY];
  }

  // `@import "x.css" layer(a) screen;`: the sheet is put into the address.
  // Answers where reading goes on.
  function importInto(text, from, { base, rest, replace }) {
    const at = blankEnd(text, from);
    if (!isString(text[at]) && !/^url\($/i.test(text.slice(at, at + 4))) return from;
    const word = isString(text[at]) ? text[at] : 'url(';
    const end = tokenEnd(text, at, word);
    const address = parse(unquote(text.slice(at, end)), base)?.href;
    const entry = rest[0];
    if (entry === undefined || entry.address !== address) return end;
    rest.shift();
    if (entry.sheet === null) {
      if (address.startsWith(`${origin}/`)) fileOf(address, base);
      return end;
    }
    const sheet = { parts: sheetParts(entry.sheet), escape: escapeData };
    replace(at, end, ['url("data:text/css;charset=utf-8,', sheet, '")']);
    return end;
  }

  // Where blanks and comments end.
  function blankEnd(text, from) {
    const blanks = /[ \t\r\n\f]*/y;
    for (let at = from; ;) {
      blanks.lastIndex = at;
      blanks.test(text);
      at = blanks.lastIndex;
      if (!text.startsWith('/*', at)) return at;
      at = tokenEnd(text, at, '/*');
    }
  }

  // The address in `url(…)` or in a string.
  function unquote(token) {
    let text = /^url\(/i.test(token) ? token.slice(4).replace(/\)$/, '').trim() : token;
    if (isString(text[0])) text = text.slice(1, text.at(-1) === text[0] && text.length > 1 ? -1 : undefined);
    return text.replace(/\\(?:([0-9a-f]{1,6})\s?|(\n)|([^]))/gi, (_, code, line, character) => {
      if (code === undefined) return line === undefined ? character : '';
      const point = Number.parseInt(code, 16);
      return point > 0 && point < 0x110000 ? String.fromCodePoint(point) : '\ufffd';
    });
  }

  const percent = found => `%${found.charCodeAt(0).toString(16).padStart(2, '0')}`;
  const escapeAddress = text => text.replace(/["'()\\<>&\s]/g, percent);
  const escapeData = text => text.replace(/[%#"'\\<>&\0-\x1f]/g, percent);
  // In an HTML `style` element nothing is unescaped, and the sheet ends at the first `</style`.
  const escapeSheet = text => clean(text).replace(/<\/(?=style)/gi, '<\\/');
