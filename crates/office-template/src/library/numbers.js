// Numbers in a locale: number, currency, percent.

const { NumberFormat } = Intl;
const numberFormat = getter(NumberFormat.prototype, "format");
const numberOptions = (pattern) => {
  let integers = 0, least = 0, most = 0, isBehind = false, useGrouping = false, isPercent = false;
  for (let index = 0; index < pattern.length; index += 1) {
    const letter = pattern[index];
    if (letter === "0" && isBehind) (least += 1), (most += 1);
    else if (letter === "0") integers += 1;
    else if (letter === "#") most += isBehind ? 1 : 0;
    else if (letter === "," && !isBehind) useGrouping = true;
    else if (letter === "." && !isBehind) isBehind = true;
    else if (letter === "%" && index === pattern.length - 1) isPercent = true;
    else fail(`number(${show(pattern)}): a pattern is written as 0,0.00 or #,##0.## or 0%`);
  }
  return {
    __proto__: null, style: isPercent ? "percent" : "decimal", useGrouping,
    minimumIntegerDigits: useGrouping || integers === 0 ? 1 : integers,
    minimumFractionDigits: least, maximumFractionDigits: most,
  };
};
const formatted = (options, value) => {
  if (typeof value === "number" && !isFinite(value)) odd = value;
  return numberFormat(format("number", NumberFormat, options))(value);
};
filters.number = (value, shape) => {
  const options = isObject(shape) ? optionsOf(shape) : isNothing(shape) ? { __proto__: null } : numberOptions(printed(shape));
  return formatted(options, number("number", value));
};
filters.currency = (value, code, given) => {
  if (typeof code !== "string") fail('currency takes the currency\'s code, as in currency("EUR")');
  return formatted(optionsOf(given, { __proto__: null, style: "currency", currency: code }), number("currency", value));
};
filters.percent = (value, places) => {
  const least = places ?? 0;
  const given = isObject(least) ? least : { __proto__: null, minimumFractionDigits: least, maximumFractionDigits: least };
  return formatted(optionsOf(given, { __proto__: null, style: "percent" }), number("percent", value));
};
