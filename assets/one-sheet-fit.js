// Takes out of a page what makes one sheet of it impossible: heights that depend on the sheet's, and forced breaks.
//
// A height in vh or % of a sheet that is as high as its page means nothing: it is taken for `auto`, as CSS does for % of
// a height that is not given; a page without doctype resolves % by the sheet nevertheless. Where vh is another
// property's, it is that of the window, `height` CSS pixels high.
// rulesOf: rules_of.js. Answers whether the page had forced breaks.
// Hazard: a rule of ours must win over any of the page's. Of rules that are !important the earliest layer's win.
// An element's name hides a member of the document (<img name=styleSheets>), so its prototype is asked.
(rulesOf, height) => {
  const own = name => Reflect.get(Document.prototype, name, document);
  const LENGTH = /(-?(?:\d+\.?\d*|\.\d+))([sld]?v(?:h|b|min|max))\b/gi;
  const AUTO = {
    __proto__: null,
    height: 'auto', 'min-height': '0px', 'max-height': 'none',
    'block-size': 'auto', 'min-block-size': '0px', 'max-block-size': 'none',
  };
  const OF_SHEET = own('compatMode') === 'BackCompat' ? /%|\d[sld]?v(?:h|b|min|max)\b/i : LENGTH;
  const BREAKS = /^(page|left|right|recto|verso|always|all|column)$/;
  const LOOKED_AT = 20_000;
  const OURS = `@layer platen-one-sheet {
    *, ::before, ::after { break-before: auto !important; break-after: auto !important; page: auto !important }
    html, body { height: auto !important; min-height: 0 !important }
  }`;
  const all = selector => Document.prototype.querySelectorAll.call(document, selector);

  const inPixels = (_, number, unit) => {
    const base = /min$/i.test(unit) ? Math.min(innerWidth, height) : /max$/i.test(unit) ? Math.max(innerWidth, height) : height;
    return `${number * base / 100}px`;
  };
  const styleOf = element => {
    const owner = [HTMLElement, SVGElement, MathMLElement].find(owner => element instanceof owner);
    return owner && Reflect.get(owner.prototype, 'style', element);
  };
  const mend = style => {
    // Of a shorthand with a variable in it the parts are listed, and their values are empty.
    for (const name of Array.from(style ?? [])) {
      const value = style.getPropertyValue(name);
      const auto = AUTO[name];
      if (value.search(auto ? OF_SHEET : LENGTH) < 0) continue;
      style.setProperty(name, auto ?? value.replace(LENGTH, inPixels), style.getPropertyPriority(name));
    }
  };

  let hasBreaks = false;
  let looked = 0;
  for (const element of all('body *')) {
    if (hasBreaks || ++looked > LOOKED_AT) break;
    const { breakBefore, breakAfter } = getComputedStyle(element);
    hasBreaks = BREAKS.test(breakBefore) || BREAKS.test(breakAfter);
  }
  for (const sheet of [...own('styleSheets'), ...own('adoptedStyleSheets')]) {
    for (const rule of rulesOf(sheet)) if (!(rule instanceof CSSPageRule)) mend(rule.style);
  }
  for (const element of all('[style]')) mend(styleOf(element));
  const sheet = Document.prototype.createElement.call(document, 'style');
  sheet.textContent = OURS;
  own('documentElement').prepend(sheet);
  return String(hasBreaks);
}
