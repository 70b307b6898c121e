// How high a page is, in CSS pixels.
//
// Runs where the page's own script does not reach, in the medium and the width of the print. The viewport is one pixel
// high meanwhile: what has its height (100vh) adds nothing here, and fills the sheet when that is printed.
// An element's name hides a member of the document (<img name=body>), so its prototype is asked.
() => {
  const own = name => Reflect.get(Document.prototype, name, document);
  return String(Math.max(own('documentElement').scrollHeight, own('body')?.scrollHeight ?? 0));
}
