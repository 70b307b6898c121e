// Which of some pictures cannot be decoded (`broken`), and which only in part (`cut`).
//
// For a picture whose end is missing `decode()` resolves, and the page shows its beginning. `createImageBitmap` refuses it:
// PNG, JPEG, GIF, BMP, WebP, AVIF (tried). It refuses a picture that is not loaded, too.
// Neither needs an animation frame, which static tabs never get (tried).
//
// doubtful: addresses; suspects: addresses of pictures that may be cut off, as pictures.js tells them.
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
  const broken = new Set();
  const cut = [];
  await Promise.all(doubtful.map(address => load(address).catch(() => broken.add(address))));
  // One after the other: each takes the memory of its pixels.
  for (const address of suspects) {
    try {
      const images = globalThis.platenSuspects?.get(address)?.values() ?? [await load(address)];
      for (const image of images) {
        if (!await isCut(image)) continue;
        cut.push(address);
        break;
      }
    } catch {
      broken.add(address);
    }
  }
  return JSON.stringify({ broken: [...broken], cut });
}
