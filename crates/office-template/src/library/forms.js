// More than text: pictures, codes, HTML, XML, links, breaks, other documents, tables of contents, colours.

// A form's options as JSON: names with lists of arguments.
const optionsText = (calls) => {
  let out = "";
  for (let index = 0; index < calls.length; index += 1) {
    const { name, codes } = calls[index];
    let given = "";
    for (let at = 0; at < codes.length; at += 1) given += (at === 0 ? "" : ",") + quote(printed(run(codes[at])));
    out += `${index === 0 ? "" : ","}"${name}":[${given}]`;
  }
  return `{${out}}`;
};
const argument = (tag, index) => (index < tag.terms.length ? evaluate(tag.terms[index]) : undefined);
forms.image = (tag) => { const shown = bytes(evaluate(tag)); return isNothing(shown) ? '""' : content("image", [shown, optionsText(tag.options)]); };
forms.qr = (tag) => { const said = evaluate(tag); return isNothing(said) ? '""' : content("qr", [said, optionsText(tag.options)]); };
forms.barcode = (tag) => { const said = evaluate(tag); return isNothing(said) ? '""' : content("barcode", [said, optionsText(tag.options)]); };
forms.html = (tag) => content("html", [evaluate(tag)]);
forms.xml = (tag) => content("xml", [evaluate(tag)]);
forms.link = (tag) => content("link", [argument(tag, 0), argument(tag, 1)]);
forms.pagebreak = () => content("pagebreak", []);
// A document that was read with the template has its tags in the body.
forms.include = (tag) => (tag.terms.length === 0 ? `[${render(tag.body)}]` : content("include", [argument(tag, 0)]));
forms.toc = (tag) => content("toc", [argument(tag, 0)]);
forms.color = (tag) => { const shown = argument(tag, 0); return isNothing(shown) ? '""' : content("color", [shown, argument(tag, 1)]); };
