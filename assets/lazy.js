// Loads lazy pictures and frames: a print shows the whole page, but nothing scrolls to them.
//
// Runs where the page's own script does not reach. Answers how many it has woken. The attribute is put back, for a
// style sheet may select by it.
// An element's name hides a member of the document (<img name=querySelectorAll>), so its prototype is asked.
() => {
  const all = (page, selector) => Document.prototype.querySelectorAll.call(page, selector);
  const woken = Object.hasOwn(globalThis, 'platenWoken') ? platenWoken : new WeakSet();
  Object.defineProperty(globalThis, 'platenWoken', { value: woken, configurable: true });
  let count = 0;
  const wake = page => {
    for (const element of all(page, 'img[loading=lazy i], iframe[loading=lazy i]')) {
      if (element.complete || woken.has(element)) continue;
      woken.add(element);
      const written = element.getAttribute('loading');
      element.loading = 'eager';
      element.setAttribute('loading', written);
      count++;
    }
    for (const frame of all(page, 'iframe, frame')) {
      if (frame.contentDocument) wake(frame.contentDocument);
    }
  };
  wake(document);
  return count;
}
