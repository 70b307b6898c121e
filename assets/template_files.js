// Which files header and footer refer to. They cannot show these: only `data:` addresses work in them.
//
// Runs where the page's own script does not reach. The texts are parsed into documents that load nothing. Answers a
// list of [option, address] as JSON.
// An element's name hides a member of the document (<img name=querySelectorAll>), so its prototype is asked.
templates => {
  const MOST = 20;
  const found = [];
  for (const [option, html] of Object.entries(templates)) {
    const page = new DOMParser().parseFromString(html, 'text/html');
    const all = selector => Document.prototype.querySelectorAll.call(page, selector);
    const addresses = new Set();
    const add = address => {
      const trimmed = (address ?? '').trim();
      if (trimmed && !/^(data:|#)/i.test(trimmed)) addresses.add(trimmed.slice(0, 200));
    };
    for (const [selector, ...names] of [
      ['img, input[type=image i], iframe, embed, video, source', 'src'], ['img, source', 'srcset'], ['video', 'poster'],
      ['image', 'href', 'xlink:href'], ['object', 'data'], ['[background]', 'background'],
    ]) {
      for (const element of all(selector)) {
        for (const name of names) add(element.getAttribute(name)?.trim().split(/\s/)[0]);
      }
    }
    const styles = [...all('[style]')].map(element => element.getAttribute('style'));
    for (const style of [...styles, ...[...all('style')].map(element => element.textContent)]) {
      for (const [, double, single, plain] of style.matchAll(/url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)/gi)) {
        add(double ?? single ?? plain);
      }
    }
    for (const address of addresses) found.push([option, address]);
  }
  return JSON.stringify(found.slice(0, MOST)).toWellFormed();
}
