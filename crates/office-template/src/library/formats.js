// What the filters of numbers and dates share: formats of Intl, each made once.

const formats = { __proto__: null };
const format = (kind, Format, options) => {
  let key = kind;
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
