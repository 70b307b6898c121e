// Fills in what Chromium would fill into header and footer otherwise than the caller means it: the date in another
// language than the page's, and the address, which is one of ours.
//
// `templates` are their texts; gives JSON, an array of the same length. Chromium writes over every element of the
// classes `date` and `url`, so these get other names, in their style sheets too.
(templates, locale, timeZone) => {
  const formatter = new Intl.DateTimeFormat(locale, { dateStyle: 'short', timeStyle: 'short', timeZone });
  const date = formatter.format(new Date());
  const filled = { date, url: '' };
  // A page that takes no text for markup (trusted types) takes it from whoever has a policy. Not before it is needed:
  // where no script of the page runs, no policy does.
  function write(body, text) {
    try {
      body.innerHTML = text;
    } catch (error) {
      if (globalThis.trustedTypes === undefined) throw error;
      body.innerHTML = trustedTypes.createPolicy('platen', { createHTML: (markup) => markup }).createHTML(text);
    }
  }

  function fill(template) {
    // A document without a window: nothing in it runs and nothing is fetched.
    // The prototype is asked, for an element's name hides a member of the document (<img name=implementation>).
    const { body } = Reflect.get(Document.prototype, 'implementation', document).createHTMLDocument('');
    write(body, template);
    const elements = body.querySelectorAll('.date, .url');
    if (elements.length === 0) return template;
    for (const element of elements) {
      for (const name of ['date', 'url']) {
        if (element.classList.replace(name, `platen-${name}`)) element.textContent = filled[name];
      }
    }
    for (const style of body.querySelectorAll('style')) {
      style.textContent = style.textContent.replace(/\.(date|url)(?![\w-])/g, '.platen-$1');
    }
    return body.innerHTML;
  }

  return JSON.stringify(templates.map(fill));
}
