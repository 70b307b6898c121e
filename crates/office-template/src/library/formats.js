// What the filters of numbers and dates share: formats of Intl, each made once, and how their arguments are told apart.

const { supportedLocalesOf } = Intl.NumberFormat;
const formats = { __proto__: null };
const format = (kind, Format, options) => {
  let key = `${kind} ${locales[0]}`;
  for (const name in options) key += `,${stringify(name)}:${typeof options[name]} ${stringify(TextOf(options[name]))}`;
  return (formats[key] ??= new Format(locales, options));
};
// Options of Intl; `ours` go before those `given`. Only plain values: a format is cached by the text of its options.
const optionsOf = (given, ours) => {
  const options = { __proto__: null };
  const names = isObject(given) ? ownKeys(given) : { __proto__: null, length: 0 };
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index];
    if (typeof name !== "string") continue;
    const value = given[name];
    if (isObject(value) || typeof value === "symbol" || typeof value === "bigint") {
      fail(`the option ${cut(name, SHOWN_CHARACTERS)} takes a text, a number, true or false`);
    }
    if (value !== undefined) options[name] = value;
  }
  for (const name in ours) options[name] = ours[name];
  return options;
};
const refuse = (name, given) => fail(`${name} does not understand ${show(given)}; it is written ${WRITTEN[name][1]}`);
const isOptions = (given) => isObject(given) && !isArray(given) && typeof given !== "function" && exactText(given) === undefined;
// Whether a text names a locale whose data are there. The engine writes another locale without a word where they are not.
const supported = { __proto__: null };
const isLocale = (given) => {
  if (typeof given !== "string") return false;
  if (given in supported) return supported[given];
  let isThere = false;
  try { isThere = supportedLocalesOf({ __proto__: null, 0: given, length: 1 }).length > 0; } catch { /* No name of a locale. */ }
  return (supported[given] = isThere);
};
// The arguments of a filter as `read` understands them. In most documents they are the same in all rows, so those of the last call
// are kept; objects are not, for expressions may change them.
const remembered = (read) => {
  let one = OVER;
  let found;
  return (given) => {
    if (given.length < 2 && given[0] === one) return found;
    const now = read(given);
    if (given.length < 2 && !isObject(given[0])) (one = given[0]), (found = now);
    return now;
  };
};
// What `work` gives with this locale in place of the document's.
const within = (locale, work) => {
  const before = locales;
  locales = { __proto__: null, 0: locale, length: 1 };
  try { return work(); } finally { locales = before; }
};
