// Collects size and margins of the page's own @page rules, as far as they apply to the print.
//
// Gives JSON: an array of {selector, size, margin: [top, right, bottom, left]} as written in the style sheets, in their
// order; empty texts where a rule sets nothing. `medium` is 'print' or 'screen'.
// An element's name hides a member of the document (<img name=styleSheets>), so its prototype is asked.
(medium) => {
  const SIDES = ['top', 'right', 'bottom', 'left'];
  const RULE_LIMIT = 32;
  const TEXT_LIMIT = 200;
  const found = [];

  // `matchMedia` answers for the medium shown now. The question is the one to be printed, so its name is replaced.
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
    // Reading the rules of another host's sheet throws.
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
