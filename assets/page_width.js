// How wide a page is, in CSS pixels.
//
// Runs where the page's own script does not reach, in the medium and the width of the print.
// An element's name hides a member of the document (<img name=body>), so its prototype is asked.
() => {
  const own = name => Reflect.get(Document.prototype, name, document);
  return String(Math.max(own('documentElement').scrollWidth, own('body')?.scrollWidth ?? 0));
}
