// Dates in a locale, by a pattern, a style or options.

const { DateTimeFormat } = Intl;
const DateOf = Date;
const getTime = uncurry(Date.prototype.getTime);
const getUTCMonth = uncurry(Date.prototype.getUTCMonth);
const setUTCFullYear = uncurry(Date.prototype.setUTCFullYear);
const dateFormat = getter(DateTimeFormat.prototype, "format");
const dateParts = uncurry(DateTimeFormat.prototype.formatToParts);
const STYLES = { __proto__: null, full: 1, long: 1, medium: 1, short: 1 };
const latin = { __proto__: null, 0: "en-US-u-ca-gregory-nu-latn", length: 1 };

const ISO = /^(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:(Z)|([+-])(\d\d):?(\d\d)?)?)?)?$/i;
const moment = (value) => {
  let time = NaN;
  if (typeof value === "number") time = value;
  else if (typeof value !== "string") try { time = getTime(value); } catch { /* No date: NaN says so. */ }
  if (typeof value !== "string") return { __proto__: null, time, zone: timeZone };
  const found = execute(ISO, trim(value));
  if (found === null) return { __proto__: null, time, zone: timeZone };
  const field = (index, none = 0) => (found[index] === undefined ? none : +found[index]);
  const month = field(2) - 1, minute = field(5), second = field(6);
  const day = new DateOf(0);
  setUTCFullYear(day, field(1), month, field(3, 1));
  const seconds = (field(4) * 60 + minute) * 60 + second;
  const offset = (field(10) * 60 + field(11)) * (found[9] === "-" ? -1 : 1);
  // A day that the month does not have (02-30) has become one of the next month.
  if (getUTCMonth(day) === month && minute < 60 && second < 60 && seconds <= 86400 && field(10) < 24 && field(11) < 60) {
    time = getTime(day) + (seconds - offset * 60) * 1000 + +slice(`${found[7] ?? ""}000`, 0, 3);
  }
  // Without a zone in the text it is the same in every zone, so it is read and shown in UTC.
  return { __proto__: null, time, zone: found[8] === undefined && found[9] === undefined ? "UTC" : timeZone };
};
const shownBy = (options, time) => dateFormat(format("date", DateTimeFormat, options))(time);
const part = (options, time, of) => {
  const parts = dateParts(format("date", DateTimeFormat, options), time);
  for (let index = 0; index < parts.length; index += 1) {
    // If an expression put setters on Array.prototype, the engine's list has no members of its own.
    if (hasOwn(parts, index) && parts[index].type === of) return parts[index].value;
  }
  return "";
};
// A pattern's letters, with the index of their number in what `digits` writes: 11/22/2026, 23:05:09.250
const PLACES = { __proto__: null, M: 0, D: 1, Y: 2, H: 3, h: 3, m: 4, s: 5, S: 6 };
const digits = { __proto__: null };
const numeric = (zone, time, place) => {
  digits[zone] ??= dateFormat(new DateTimeFormat(latin, {
    __proto__: null, timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric",
    hour: "numeric", minute: "numeric", second: "numeric", fractionalSecondDigits: 3,
  }));
  const shown = digits[zone](time);
  let value = 0, run = -1, isInside = false;
  for (let at = 0; at < shown.length && run <= place; at += 1) {
    const digit = charCodeAt(shown, at) - 48;
    const isDigit = digit >= 0 && digit <= 9;
    if (isDigit && !isInside) run += 1;
    if (isDigit && run === place) value = value * 10 + digit;
    isInside = isDigit;
  }
  return value;
};
const pad = (number, length) => { let padded = TextOf(number); while (padded.length < length) padded = `0${padded}`; return padded; };
const TOKENS = ["YYYY", "YY", "MMMM", "MMM", "MM", "M", "dddd", "ddd", "DD", "D", "HH", "H", "hh", "h", "mm", "m", "ss", "s", "SSS", "A", "a"];
const token = (name, zone, time, hasDay) => {
  // Numbers are of this calendar; names of another one would mean another day.
  const base = { __proto__: null, timeZone: zone, calendar: "gregory", numberingSystem: "latn" };
  if (name === "MMMM" || name === "MMM") {
    const month = name === "MMMM" ? "long" : "short";
    // Next to a day many languages inflect the month. Where they write a number there, the plain name is used.
    const beside = hasDay ? part({ ...base, __proto__: null, month, day: "numeric" }, time, "month") : "";
    return isFinite(NumberOf(beside)) ? shownBy({ ...base, __proto__: null, month }, time) : beside;
  }
  if (name[0] === "d") return shownBy({ ...base, __proto__: null, weekday: name === "dddd" ? "long" : "short" }, time);
  const value = numeric(zone, time, PLACES[name[0]] ?? PLACES.H);
  if (name === "A" || name === "a") {
    const half = part({ ...base, __proto__: null, hour: "numeric", hour12: true }, time, "dayPeriod") || (value < 12 ? "AM" : "PM");
    return name === "a" ? toLocaleLowerCase(half, locales) : half;
  }
  if (name === "YY") return pad(value % 100, 2);
  return pad(name[0] === "h" ? (value + 11) % 12 + 1 : value, name.length);
};
const tokenAt = (text, at) => {
  for (let index = 0; index < TOKENS.length; index += 1) if (startsWith(text, TOKENS[index], at)) return TOKENS[index];
  return undefined;
};
// The end of the text in brackets that begins here; -1 if none does.
const endOfText = (text, at) => (text[at] === "[" ? indexOf(text, "]", at) : -1);
const pattern = (text, zone, time) => {
  const hasDay = indexOf(text, "D") >= 0;
  let out = "";
  for (let at = 0; at < text.length; ) {
    const end = endOfText(text, at);
    if (end > 0) { out += slice(text, at + 1, end); at = end + 1; continue; }
    const found = tokenAt(text, at);
    out += found === undefined ? text[at] : token(found, zone, time, hasDay);
    at += found === undefined ? 1 : found.length;
  }
  return out;
};
// Whether a text has a letter of a date. Without one, every date would print the same text: "foo".
const isPattern = (text) => {
  for (let at = 0; at < text.length; at += 1) {
    const end = endOfText(text, at);
    if (end > 0) at = end;
    else if (tokenAt(text, at) !== undefined) return true;
  }
  return false;
};
// Whether nothing but a pattern's letters stands in a text: "ms" is minutes and seconds, though Malay too.
const isAllPattern = (text) => {
  let at = 0;
  for (let found; at < text.length && (found = tokenAt(text, at)) !== undefined; ) at += found.length;
  return at === text.length;
};
// The arguments of a date: a pattern, or a style and one of the time; a locale; options.
const datesOwn = remembered((given) => {
  const found = { __proto__: null, style: undefined, timeStyle: undefined, locale: undefined, options: undefined };
  for (let index = 0; index < given.length; index += 1) {
    const one = given[index];
    if (isNothing(one)) continue;
    const { style } = found;
    const isText = typeof one === "string";
    const isStyle = isText && one in STYLES;
    // A word such as "de" could be a pattern that is a text, which nobody writes without the brackets.
    const mayBeLocale = found.locale === undefined && isText && (style !== undefined || !isAllPattern(one));
    if (isStyle && style !== undefined && style in STYLES && found.timeStyle === undefined) found.timeStyle = one;
    else if (!isStyle && mayBeLocale && isLocale(one)) found.locale = one;
    else if (isText && style === undefined && (isStyle || isPattern(one))) found.style = one;
    else if (isOptions(one) && found.options === undefined && (style === undefined || style in STYLES)) found.options = one;
    else refuse("date", one);
  }
  return found;
});
const dated = ({ style, timeStyle, options }, time, zone) => {
  if (style !== undefined && !(style in STYLES)) return pattern(style, zone, time);
  const of = optionsOf(options);
  of.timeZone ??= zone;
  if (style !== undefined || options === undefined) of.dateStyle = style ?? "medium";
  if (timeStyle !== undefined) of.timeStyle = timeStyle;
  return shownBy(of, time);
};
const date = (value, _, __, given) => {
  const { time, zone } = moment(value);
  if (!(time >= -864e13 && time <= 864e13)) {
    fail(`${show(value)} is no date; write it as ISO 8601 does, 2026-11-22 or 2026-11-22T10:00:00Z, or as milliseconds since 1970`);
  }
  const found = datesOwn(given);
  return found.locale === undefined ? dated(found, time, zone) : within(found.locale, () => dated(found, time, zone));
};
filters.date = date;
