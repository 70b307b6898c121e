// Which pictures of a page were loaded and cannot be shown.
//
// Runs where the page's own script does not reach. Answers null, or {broken, doubtful}: addresses of pictures that the
// page shows broken, whatever the reason, and of others (backgrounds, posters, pictures of drawings) that the browser
// does not hold decoded. The latter may be fine (a mask, a drawing that is used in parts): only decoding them tells.
// The check costs no request: a picture that is held is complete at once, and others are not waited for.
// An element's name hides a member of the document (<img name=images>), so its prototype is asked.
() => {
  const MOST = 50;
  const KINDS = new Set(['css', 'img', 'image', 'input', 'video', 'object', 'embed']);
  const broken = new Set();
  const look = page => {
    for (const image of Reflect.get(Document.prototype, 'images', page)) {
      if (broken.size >= MOST) return;
      if (image.complete && image.currentSrc && !image.naturalWidth && !image.naturalHeight) broken.add(image.currentSrc);
    }
    for (const frame of Document.prototype.querySelectorAll.call(page, 'iframe, frame')) {
      if (frame.contentDocument) look(frame.contentDocument);
    }
  };
  look(document);
  const doubtful = new Set();
  const own = location.origin + '/';
  for (const { name, initiatorType, contentType, responseStatus } of performance.getEntriesByType('resource')) {
    if (!KINDS.has(initiatorType) || !contentType.startsWith('image/') || !name.startsWith(own)) continue;
    if (responseStatus >= 400 || broken.has(name) || doubtful.has(name)) continue;
    const image = new Image();
    image.src = name;
    if (!image.complete || !image.naturalWidth) doubtful.add(name);
    image.removeAttribute('src');
    if (doubtful.size >= MOST) break;
  }
  if (broken.size + doubtful.size === 0) return null;
  // A `data:` address is as long as its picture.
  return { broken: [...broken].map(address => address.slice(0, 1000)), doubtful: [...doubtful] };
}
