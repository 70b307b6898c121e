// Which pictures of a page were loaded and cannot be shown. The images in doubt are kept for pictures_decoded.js.
//
// Runs where the page's own script does not reach. Answers null, or {broken, doubtful, suspects}: addresses of pictures
// that the page shows broken, whatever the reason; of others (backgrounds, posters, pictures of drawings) that the browser
// does not hold decoded; and of those whose ends may be missing. The latter two may be fine (a mask, a drawing that is used
// in parts, bytes behind the end): only decoding them tells. Which of the page's own files may be cut off, their server knows.
// The check costs no request: a picture that is held is complete at once, and others are not waited for.
// An element's name hides a member of the document (<img name=images>), so its prototype is asked.
() => {
  const MOST = 50;
  const KINDS = new Set(['css', 'img', 'image', 'input', 'video', 'object', 'embed']);
  // Most pixels of other hosts' pictures that are decoded to see whether they are whole.
  const FOREIGN_PIXELS = 4e6;
  // A `data:` address is as long as its picture.
  const short = address => address.slice(0, 1000);
  const own = location.origin + '/';
  // Whether a picture that is written out has no end of its kind within its last bytes, or is shorter than it says.
  const endsEarly = address => {
    const kind = /^data:image\/(png|jpe?g|gif|webp|avif|bmp);base64,/i.exec(short(address))?.[1].toLowerCase();
    if (kind === undefined) return false;
    const start = address.indexOf(',') + 1;
    const length = address.length - start;
    try {
      if (kind === 'webp') {
        const head = atob(address.slice(start, start + 12));
        return [7, 6, 5, 4].reduce((size, at) => size * 256 + head.charCodeAt(at), 0) + 8 > length * 3 / 4;
      }
      const end = atob(address.slice(-64 - length % 4));
      if (kind === 'png') return !end.includes('IEND');
      if (kind === 'gif') return !end.endsWith(';');
      return !end.includes('\xff\xd9');
    } catch {
      return true;
    }
  };
  let foreign = 0;
  const isForeignAndSmall = image => {
    if (!/^https?:/.test(image.currentSrc) || image.currentSrc.startsWith(own)) return false;
    foreign += image.naturalWidth * image.naturalHeight;
    return foreign <= FOREIGN_PIXELS;
  };
  const broken = new Set();
  // By addresses as they are told, the images by their whole addresses.
  const suspects = new Map();
  Object.defineProperty(globalThis, 'platenSuspects', { value: suspects, configurable: true });
  const look = page => {
    for (const image of Reflect.get(Document.prototype, 'images', page)) {
      if (broken.size + suspects.size >= MOST) return;
      const address = image.currentSrc;
      const same = suspects.get(short(address));
      if (!image.complete || !address || same?.has(address)) continue;
      if (!image.naturalWidth && !image.naturalHeight) broken.add(address);
      else if (endsEarly(address) || isForeignAndSmall(image)) {
        suspects.set(short(address), (same ?? new Map()).set(address, image));
      }
    }
    for (const frame of Document.prototype.querySelectorAll.call(page, 'iframe, frame')) {
      if (frame.contentDocument) look(frame.contentDocument);
    }
  };
  look(document);
  const doubtful = new Set();
  for (const { name, initiatorType, contentType, responseStatus } of performance.getEntriesByType('resource')) {
    if (!KINDS.has(initiatorType) || !contentType.startsWith('image/') || !name.startsWith(own)) continue;
    if (responseStatus >= 400 || broken.has(name) || doubtful.has(name)) continue;
    const image = new Image();
    image.src = name;
    if (!image.complete || !image.naturalWidth) doubtful.add(name);
    image.removeAttribute('src');
    if (doubtful.size >= MOST) break;
  }
  if (broken.size + doubtful.size + suspects.size === 0) return null;
  return { broken: [...broken].map(short), doubtful: [...doubtful], suspects: [...suspects.keys()] };
}
