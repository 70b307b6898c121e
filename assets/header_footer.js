// Fills in what Chromium would fill wrongly into header and footer: the date, which it writes in another language than
// the page's, and the address, which is an internal one and is left empty.
//
// `templates` are their texts; gives JSON, an array of the same length. Chromium overwrites every element of the
// classes `date` and `url`, so these classes are renamed, in the style sheets too.
(templates, locale, timeZone) => {
  const formatter = new Intl.DateTimeFormat(locale, { dateStyle: 'short', timeStyle: 'short', timeZone });
  const date = formatter.format(new Date());
  const filled = { date, url: '' };
  // A page with trusted types takes markup only from a policy. It is made only on failure: where no script of the page
  // runs, the policy's function does not run either.
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
