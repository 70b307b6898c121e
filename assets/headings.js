// The headings of the page as they read, for the bookmarks of its PDF: an array of texts. A heading has two where its tags
// may have more or less than it shows.
//
// Members are read from their prototypes, for an element's name hides a member of the document.
(countLimit, charsLimit) => {
  'use strict';
  const getter = (owner, name) => {
    const { get } = Object.getOwnPropertyDescriptor(owner.prototype, name);
    return node => get.call(node);
  };
  const method = (owner, name) => (node, ...values) => owner.prototype[name].apply(node, values);
  const children = getter(Node, 'childNodes'), kind = getter(Node, 'nodeType'), data = getter(Node, 'nodeValue');
  const innerText = getter(HTMLElement, 'innerText'), rootOf = getter(Element, 'shadowRoot');
  const is = method(Element, 'matches'), attribute = method(Element, 'getAttribute');
  const assigned = method(HTMLSlotElement, 'assignedNodes');
  const ownerOf = root => root instanceof Document ? Document : root instanceof DocumentFragment ? DocumentFragment : Element;
  const find = (root, selector) => ownerOf(root).prototype.querySelectorAll.call(root, selector);

  // `innerText` knows no alternative text, nothing of slots, and not what is hidden from the file's tags.
  const APART = 'img, slot, [aria-hidden="true"]';
  function shown(node) {
    if (kind(node) === Node.TEXT_NODE) return data(node);
    if (!(node instanceof HTMLElement) || is(node, '[aria-hidden="true"]')) return '';
    if (is(node, 'img')) return ` ${attribute(node, 'alt') ?? ''} `;
    const isSlot = node instanceof HTMLSlotElement;
    if (!isSlot && find(node, APART).length === 0) return innerText(node);
    const text = Array.from(isSlot ? assigned(node, { flatten: true }) : children(node), shown).join('');
    return /^(?:inline|contents)$/.test(getComputedStyle(node).display) ? text : ` ${text} `;
  }

  const texts = [];
  function collect(root) {
    for (const element of find(root, '*')) {
      if (texts.length >= countLimit) return;
      if (element instanceof HTMLElement && is(element, 'h1, h2, h3, h4, h5, h6, [role="heading"]')) {
        // Tags leave out what is hidden from them, unless it can be focused, and pictures that do not come.
        const reads = find(element, APART).length === 0 ? [innerText(element)] : [shown(element), innerText(element)];
        for (const read of reads) {
          const text = read.replace(/[ \t\n\f\r]+/g, ' ').trim();
          if (text !== '' && text.length <= charsLimit) texts.push(text);
        }
      }
      const inner = rootOf(element);
      if (inner !== null) collect(inner);
    }
  }
  collect(document);
  return JSON.stringify(texts).toWellFormed();
}
