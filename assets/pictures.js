// Which pictures of a page came and are none that can be shown.
//
// Runs where the page's own script does not reach. Answers null, or {broken, doubtful}: addresses of pictures that the
// page shows broken, whatever the reason, and of others (backgrounds, posters, drawings' pictures) that are not among
// what the browser holds decoded. Those may be fine all the same (a mask, a drawing that is used in parts): who wants
// to know has them decoded. To ask costs no request: what is held is there at once, and what is not is not waited for.
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
  // An address may be the whole picture.
  return { broken: [...broken].map(address => address.slice(0, 1000)), doubtful: [...doubtful] };
}
