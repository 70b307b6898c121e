// Which of some pictures cannot be decoded (`broken`), and which only in part (`cut`).
//
// For a picture whose end is missing `decode()` resolves, and the page shows its beginning. `createImageBitmap` refuses it:
// PNG, JPEG, GIF, BMP, WebP, AVIF (tried). It refuses a picture that is not loaded, too.
// Neither needs an animation frame, which static tabs never get (tried).
//
// doubtful: addresses; suspects: addresses of pictures that may be cut off, as in pictures.js.
async (doubtful, suspects) => {
  const load = async address => {
    const image = new Image();
    image.src = address;
    await image.decode();
    return image;
  };
  // No drawing without a size has a bitmap, so a size is given. Pages hold places by a GIF of one pixel without its data.
  const isCut = async image => image.naturalWidth * image.naturalHeight > 1
    && createImageBitmap(image, { resizeWidth: 1, resizeHeight: 1 }).then(bitmap => bitmap.close(), () => true);
  // By what pictures.js tells of their addresses; of long ones that is only the beginning.
  const shown = new Map(suspects.map(address => [address, new Map()]));
  const look = page => {
    for (const image of Reflect.get(Document.prototype, 'images', page)) {
      const address = image.currentSrc;
      if (image.complete && image.naturalWidth) shown.get(address.slice(0, 1000))?.set(address, image);
    }
    for (const frame of Document.prototype.querySelectorAll.call(page, 'iframe, frame')) {
      if (frame.contentDocument) look(frame.contentDocument);
    }
  };
  look(document);
  const broken = new Set();
  const cut = [];
  await Promise.all(doubtful.map(address => load(address).catch(() => broken.add(address))));
  // One after the other: each takes the memory of its pixels.
  for (const [address, images] of shown) {
    try {
      if (images.size === 0) images.set(address, await load(address));
    } catch {
      broken.add(address);
    }
    for (const image of images.values()) {
      if (await isCut(image)) {
        cut.push(address);
        break;
      }
    }
  }
  return JSON.stringify({ broken: [...broken], cut });
}
