// Replaces size and margins in the page's own rules of @page by those of `text`, rules of @page.
//
// Hazard: of two sizes that are both !important Chromium takes the page's, wherever ours is (tried). So the page's are
// removed from its style sheets. Those of sheets of another host cannot be: ours come behind them.
// An element's name hides a member of the document (<img name=styleSheets>), so its prototype is asked.
(text) => {
  const SAID = ['size', 'margin-top', 'margin-right', 'margin-bottom', 'margin-left'];

  function walk(sheet) {
    let rules;
    // Reading the rules of another host's sheet throws.
    try {
      rules = sheet.cssRules;
    } catch {
      return;
    }
    descend(rules);
  }

  function descend(rules) {
    for (const rule of rules) {
      if (rule instanceof CSSPageRule) for (const name of SAID) rule.style.removeProperty(name);
      else if (rule instanceof CSSImportRule) {
        if (rule.styleSheet !== null) walk(rule.styleSheet);
      } else if (rule instanceof CSSGroupingRule) descend(rule.cssRules);
    }
  }

  const own = (name) => Reflect.get(Document.prototype, name, document);
  for (const name of ['styleSheets', 'adoptedStyleSheets']) {
    for (const sheet of own(name)) walk(sheet);
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  Reflect.set(Document.prototype, 'adoptedStyleSheets', [...own('adoptedStyleSheets'), sheet], document);
  return '';
}
