// Says what the page's own @page rules say of size and margins, as far as a printer heeds them.
//
// Gives JSON: an array of {selector, size, margin: [top, right, bottom, left]} as they stand in the style sheets, in
// the order in which they are heard; empty texts where a rule says nothing. `medium` is 'print' or 'screen'.
// An element's name hides a member of the document (<img name=styleSheets>), so its prototype is asked.
(medium) => {
  const SIDES = ['top', 'right', 'bottom', 'left'];
  const RULE_LIMIT = 32;
  const TEXT_LIMIT = 200;
  const found = [];

  // Chromium answers for the medium that it shows now; what is asked is the one that it will print.
  const other = medium === 'print' ? 'screen' : 'print';
  function applies(media) {
    const text = media.mediaText;
    if (text === '') return true;
    const asked = text.replace(new RegExp(`\\b${other}\\b`, 'gi'), 'speech').replace(new RegExp(`\\b${medium}\\b`, 'gi'), 'all');
    return matchMedia(asked).matches;
  }

  function note(rule) {
    const said = { selector: rule.selectorText, size: rule.style.getPropertyValue('size') };
    said.margin = SIDES.map((side) => rule.style.getPropertyValue(`margin-${side}`));
    if (found.length < RULE_LIMIT && (said.size !== '' || said.margin.some((side) => side !== ''))) {
      said.selector = said.selector.slice(0, TEXT_LIMIT);
      said.size = said.size.slice(0, TEXT_LIMIT);
      said.margin = said.margin.map((side) => side.slice(0, TEXT_LIMIT));
      found.push(said);
    }
  }

  function walk(sheet) {
    let rules;
    // A sheet of another host keeps its rules to itself.
    try {
      if (sheet.disabled || !applies(sheet.media)) return;
      rules = sheet.cssRules;
    } catch {
      return;
    }
    descend(rules);
  }

  function descend(rules) {
    for (const rule of rules) {
      if (rule instanceof CSSPageRule) note(rule);
      else if (rule instanceof CSSImportRule) {
        if (rule.styleSheet !== null && applies(rule.media)) walk(rule.styleSheet);
      } else if (rule instanceof CSSMediaRule) {
        if (applies(rule.media)) descend(rule.cssRules);
      } else if (rule instanceof CSSSupportsRule) {
        if (CSS.supports(rule.conditionText)) descend(rule.cssRules);
      } else if (rule instanceof CSSLayerBlockRule || rule instanceof CSSContainerRule) descend(rule.cssRules);
    }
  }

  for (const name of ['styleSheets', 'adoptedStyleSheets']) {
    for (const sheet of Reflect.get(Document.prototype, name, document)) walk(sheet);
  }
  return JSON.stringify(found);
}
