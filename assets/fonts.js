// Which font families the text of a page asks for first and does not get.
//
// Runs where the page's own script does not reach. `known`: {installed, missing}, families in lower case. Answers
// {installed, missing, unloaded}: `installed` newly found ones, in lower case; the others as the page spells them,
// `unloaded` those of the page's own @font-face that did not load.
// An element's name hides a member of the document (<img name=fonts>), so its prototype is asked.
async known => {
  const its = name => Reflect.get(Document.prototype, name, document);
  const TEXTS = 3000;
  const GENERIC = /^(serif|sans-serif|monospace|cursive|fantasy|math|emoji|fangsong|system-ui|ui-.*|-apple-system|blinkmacsystemfont|inherit|initial|unset|revert|revert-layer)$/;
  const SILENT = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'TITLE']);

  const lists = new Set();
  const { createTreeWalker } = Document.prototype;
  const texts = createTreeWalker.call(document, its('body') ?? its('documentElement'), NodeFilter.SHOW_TEXT);
  for (let count = 0, last = null; count < TEXTS && texts.nextNode(); count++) {
    const parent = texts.currentNode.parentElement;
    if (parent === null || parent === last || SILENT.has(parent.tagName)) continue;
    if (!texts.currentNode.data.trim()) continue;
    last = parent;
    lists.add(getComputedStyle(parent).fontFamily);
  }

  // A family that the page brings itself: missing when none of its files could be loaded.
  const own = new Map();
  for (const face of its('fonts')) {
    const name = face.family.replace(/^["']|["']$/g, '').toLowerCase();
    own.set(name, own.get(name) || face.status !== 'error');
  }

  const asked = new Map();
  for (const list of lists) {
    const [, quoted, plain] = /^\s*(?:"([^"]*)"|([^,]*))/.exec(list);
    const name = (quoted ?? plain).trim();
    if (name && (quoted || !GENERIC.test(name.toLowerCase()))) asked.set(name.toLowerCase(), name);
  }

  let brush;
  const width = (families, text) => {
    // A canvas costs more than all else here, and most pages name only fonts that are known.
    brush ??= new OffscreenCanvas(1, 1).getContext('2d');
    brush.font = `72px ${families}`;
    return brush.measureText(text).width;
  };
  const differs = name => ['monospace', 'serif'].some(generic =>
    width(`${JSON.stringify(name)}, ${generic}`, 'mmmwwwlli1') !== width(generic, 'mmmwwwlli1'));
  // It may have no Latin letters, or be the generic font that it is compared with.
  const isLocal = name => {
    const local = full => new FontFace('platen', `local(${JSON.stringify(full)})`).load();
    return Promise.any([local(name), local(`${name} Regular`)]).then(() => true, () => false);
  };

  const [installed, missing, unloaded, unsure] = [[], [], [], []];
  const [has, lacks] = [new Set(known.installed), new Set(known.missing)];
  // Without a pause: while something is awaited the page could add a face of that name, which would be taken for an installed
  // one, and all pages of the browser are told of those.
  for (const [name, spelled] of asked) {
    if (own.has(name)) {
      if (!own.get(name)) unloaded.push(spelled);
    } else if (lacks.has(name)) {
      missing.push(spelled);
    } else if (!has.has(name)) {
      if (differs(spelled)) installed.push(name);
      else unsure.push([name, spelled]);
    }
  }
  for (const [name, spelled] of unsure) {
    if (await isLocal(spelled)) installed.push(name);
    else missing.push(spelled);
  }
  const some = names => names.slice(0, 20);
  return { installed, missing: some(missing), unloaded: some(unloaded) };
}
