// Scrolls a page to its end, a window at a time: its scripts may wait for that (parts that fade in, pictures loaded late).
//
// Runs where the page's own script does not reach. It takes `most` steps and `ms` at most, and then leaps to the end.
// Answers `none` where there was nothing to scroll, or nothing more than before; `all`; `leapt`.
// An element's name hides a member of the document (<img name=scrollingElement>), so its prototype is asked.
async (most, ms) => {
  const read = (of, name, it) => Object.getOwnPropertyDescriptor(of, name).get.call(it);
  const root = read(Document.prototype, 'scrollingElement', document);
  const height = () => read(Element.prototype, 'scrollHeight', root);
  // A frame, in which the page is told; one may never come.
  const frame = () => new Promise(done => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 500);
  });
  const to = async top => {
    scrollTo({ top, behavior: 'instant' });
    await frame();
  };
  const known = Object.hasOwn(globalThis, 'platenScrolled') ? platenScrolled : 0;
  if (!root || height() <= Math.max(known, innerHeight)) return 'none';
  const end = performance.now() + ms;
  let top = known;
  for (let steps = 0; top < height() - innerHeight && steps < most && performance.now() < end; steps++) {
    await to(top += innerHeight);
  }
  const isThere = top >= height() - innerHeight;
  await to(height());
  Object.defineProperty(globalThis, 'platenScrolled', { value: height(), configurable: true });
  return isThere ? 'all' : 'leapt';
}
