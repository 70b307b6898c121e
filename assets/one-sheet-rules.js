// Replaces size and margins in the page's own rules of @page by those of `text`, rules of @page. rulesOf: rules_of.js.
//
// Hazard: of two sizes that are both !important Chromium takes the page's, wherever ours is (tried). So the page's are
// removed from its style sheets. Those of sheets of another host cannot be: ours come behind them.
// An element's name hides a member of the document (<img name=styleSheets>), so its prototype is asked.
(rulesOf, text) => {
  const SAID = ['size', 'margin-top', 'margin-right', 'margin-bottom', 'margin-left'];
  const own = (name) => Reflect.get(Document.prototype, name, document);
  for (const sheet of [...own('styleSheets'), ...own('adoptedStyleSheets')]) {
    for (const rule of rulesOf(sheet)) {
      if (rule instanceof CSSPageRule) for (const name of SAID) rule.style.removeProperty(name);
    }
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  Reflect.set(Document.prototype, 'adoptedStyleSheets', [...own('adoptedStyleSheets'), sheet], document);
  return '';
}
