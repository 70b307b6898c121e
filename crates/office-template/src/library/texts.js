// Texts: upper, lower, title, trim, text.

const toLocaleUpperCase = uncurry(String.prototype.toLocaleUpperCase);

const title = (text) => {
  let out = "";
  let isInside = false;
  for (let at = 0; at < text.length; ) {
    const lead = charCodeAt(text, at);
    const letter = slice(text, at, at + (lead >= 0xd800 && lead < 0xdc00 ? 2 : 1));
    out += isInside ? letter : toLocaleUpperCase(letter, locales);
    isInside = trim(letter) !== "" && indexOf("-/([{\"", letter) < 0;
    at += letter.length;
  }
  return out;
};
filters.upper = (value) => toLocaleUpperCase(printed(value), locales);
filters.lower = (value) => toLocaleLowerCase(printed(value), locales);
filters.title = (value) => title(printed(value));
filters.trim = (value) => trim(printed(value));
filters.text = (value) => printed(value);
