// How high a page is, in CSS pixels.
//
// Runs where the page's own script does not reach, in the medium and the width of the print. The window is as high as a
// pixel then: what asks for its height (100vh) asks for nothing, and gets all of the sheet when that is made.
// An element's name hides a member of the document (<img name=body>), so its prototype is asked.
() => {
  const own = name => Reflect.get(Document.prototype, name, document);
  return String(Math.max(own('documentElement').scrollHeight, own('body')?.scrollHeight ?? 0));
}
