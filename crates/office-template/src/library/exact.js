// Integers that no number can hold: they print as they are written, and compute as the nearest number. Equal ones are
// one object, so that `===` works.

const bigText = uncurry(BigInt.prototype.toLocaleString);

class Exact extends NumberOf {
  #text;
  constructor(text) { super(text); this.#text = text; }
  toString(radix) { return radix === undefined || radix === 10 ? this.#text : super.toString(radix); }
  toLocaleString(...given) { return bigText(BigIntOf(this.#text), ...given); }
  [toPrimitive](hint) { return hint === "string" ? this.#text : NumberOf(this.#text); }
  static text(value) { return isObject(value) && #text in value ? value.#text : undefined; }
}
const read = (text) => {
  const known = { __proto__: null };
  return parse(text, (_, value, { source }) => {
    if (typeof value !== "number" || isSafeInteger(value) || execute(INTEGER, source) === null) return value;
    return (known[source] ??= new Exact(source));
  });
};
exactText = Exact.text;
exactOf = (text) => new Exact(text);
fill.read = read;
