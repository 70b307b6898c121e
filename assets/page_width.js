// How wide a page is, and how wide the sheets are that it asks for itself by `@page { size }`, in CSS pixels.
//
// Runs where the page's own script does not reach, in the medium and the width of the print.
// An element's name hides a member of the document (<img name=styleSheets>), so its prototype is asked.
() => {
  const own = name => Reflect.get(Document.prototype, name, document);
  const NAMED = {
    a5: [559, 794], a4: [794, 1123], a3: [1123, 1587], b5: [665, 945], b4: [945, 1334], 'jis-b5': [688, 971],
    'jis-b4': [971, 1376], letter: [816, 1056], legal: [816, 1344], ledger: [1056, 1632],
  };
  const pixels = length => {
    try {
      return CSSNumericValue.parse(length).to('px').value;
    } catch {
      return 0;
    }
  };
  const widthOf = size => {
    const words = size.toLowerCase().split(/\s+/);
    const name = words.find(word => Object.hasOwn(NAMED, word));
    const [short, long] = name ? NAMED[name] : NAMED.a4;
    if (words.includes('landscape')) return long;
    return name || words.includes('portrait') ? short : pixels(words[0]);
  };
  const sheets = [];
  const collect = rules => {
    for (const rule of rules) {
      if (rule instanceof CSSPageRule) sheets.push(rule.style.getPropertyValue('size'));
      else if (rule instanceof CSSImportRule && rule.styleSheet) read(rule.styleSheet);
      else if (rule.cssRules) collect(rule.cssRules);
    }
  };
  const read = sheet => {
    try {
      collect(sheet.cssRules);
    } catch {
      // That of another host is closed to everybody.
    }
  };
  for (const sheet of own('styleSheets')) read(sheet);
  const asked = Math.max(0, ...sheets.filter(size => size && size !== 'auto').map(widthOf));
  const width = Math.max(own('documentElement').scrollWidth, own('body')?.scrollWidth ?? 0);
  return JSON.stringify({ width, own: asked });
}
