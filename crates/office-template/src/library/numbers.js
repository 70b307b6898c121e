// Numbers in a locale: number, currency, percent.

const { NumberFormat } = Intl;
const numberFormat = getter(NumberFormat.prototype, "format");
// What a pattern means as options; undefined for what is none. `number(0)` has one, though without its quotes.
const numberOptions = (given) => {
  if (typeof given !== "string" && typeof given !== "number") return undefined;
  const pattern = TextOf(given);
  let integers = 0, least = 0, most = 0, isBehind = false, useGrouping = false, isPercent = false;
  for (let index = 0; index < pattern.length; index += 1) {
    const letter = pattern[index];
    if (letter === "0" && isBehind) (least += 1), (most += 1);
    else if (letter === "0") integers += 1;
    else if (letter === "#") most += isBehind ? 1 : 0;
    else if (letter === "," && !isBehind) useGrouping = true;
    else if (letter === "." && !isBehind) isBehind = true;
    else if (letter === "%" && index === pattern.length - 1) isPercent = true;
    else return undefined;
  }
  return {
    __proto__: null, style: isPercent ? "percent" : "decimal", useGrouping,
    minimumIntegerDigits: useGrouping || integers === 0 ? 1 : integers,
    minimumFractionDigits: least, maximumFractionDigits: most,
  };
};
const CODE = /^[A-Za-z]{3}$/;
const PLACE_COUNT = /^\d{1,3}$/;
const codeOf = (given) => (typeof given === "string" && execute(CODE, given) !== null ? given : undefined);
const placesOf = (given) => {
  const isShort = typeof given === "number" || typeof given === "string";
  return isShort && execute(PLACE_COUNT, TextOf(given)) !== null ? NumberOf(given) : undefined;
};
// The arguments of a filter of numbers, in any order: its own, a locale and options. Anything else is refused. The format that is
// made of them is kept with them.
const taken = (name, own) => remembered((given) => {
  const found = { __proto__: null, own: undefined, locale: undefined, options: undefined, format: undefined };
  for (let index = 0; index < given.length; index += 1) {
    const one = given[index];
    if (isNothing(one)) continue;
    const read = found.own === undefined ? own(one) : undefined;
    if (read !== undefined) found.own = read;
    else if (found.locale === undefined && isLocale(one)) found.locale = one;
    else if (found.options === undefined && isOptions(one)) found.options = one;
    else refuse(name, one);
  }
  return found;
});
const ofNumber = taken("number", numberOptions);
const ofCurrency = taken("currency", codeOf);
const ofPercent = taken("percent", placesOf);
const made = ({ options, locale }, ours) => {
  const of = options === undefined ? ours : optionsOf(options, ours);
  const make = () => format("number", NumberFormat, of);
  return locale === undefined ? make() : within(locale, make);
};
const formatted = (found, ours, given) => {
  if (typeof given === "number" && !isFinite(given)) odd = given;
  return numberFormat(found.format ??= made(found, ours))(given);
};
filters.number = (value, _, __, given) => {
  const found = ofNumber(given);
  return formatted(found, found.own, number("number", value));
};
filters.currency = (value, _, __, given) => {
  const found = ofCurrency(given);
  if (found.own === undefined) fail(`currency takes the currency's code: it is written ${WRITTEN.currency[1]}`);
  return formatted(found, { __proto__: null, style: "currency", currency: found.own }, number("currency", value));
};
filters.percent = (value, _, __, given) => {
  const found = ofPercent(given);
  const ours = { __proto__: null, style: "percent" };
  if (found.own !== undefined || found.options === undefined) ours.minimumFractionDigits = ours.maximumFractionDigits = found.own ?? 0;
  return formatted(found, ours, number("percent", value));
};
