// Runs the program of a Word template over its data: an expression that evaluates to (program, data, settings) => JSON.
//
// Hazard: expressions and data come from strangers and share this realm; an expression may replace any builtin. So every builtin
// that is used is taken at load time, before the first expression runs, objects of ours have no prototype, lists that they see are
// written by `define` (an index of Array.prototype may be a setter), and the answer is put together as text: nothing of it passes
// through an object that a setter or a toJSON of theirs could see.
// ASCII only: any other letter doubles the source in the engine's memory, and its parsing is most of what loading costs.
(() => {
  "use strict";

  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const getter = (of, name) => uncurry(Object.getOwnPropertyDescriptor(of, name).get);
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { isFinite, isInteger, isSafeInteger } = Number;
  const { hasOwn } = Object;
  const { apply, ownKeys, defineProperty } = Reflect;
  const { NumberFormat, DateTimeFormat, Collator } = Intl;
  const FunctionOf = Function;
  const ProxyOf = Proxy;
  const DateOf = Date;
  const MapOf = Map;
  const TextOf = String;
  const NumberOf = Number;
  const BigIntOf = BigInt;
  const { toPrimitive } = Symbol;
  const objectText = Object.prototype.toString;
  const bigText = uncurry(BigInt.prototype.toLocaleString);
  const slice = uncurry(String.prototype.slice);
  const charCodeAt = uncurry(String.prototype.charCodeAt);
  const indexOf = uncurry(String.prototype.indexOf);
  const lastIndexOf = uncurry(String.prototype.lastIndexOf);
  const startsWith = uncurry(String.prototype.startsWith);
  const trim = uncurry(String.prototype.trim);
  const isWellFormed = uncurry(String.prototype.isWellFormed);
  const toLocaleUpperCase = uncurry(String.prototype.toLocaleUpperCase);
  const toLocaleLowerCase = uncurry(String.prototype.toLocaleLowerCase);
  const execute = uncurry(RegExp.prototype.exec);
  const sortInPlace = uncurry(Array.prototype.sort);
  const getTime = uncurry(Date.prototype.getTime);
  const getUTCMonth = uncurry(Date.prototype.getUTCMonth);
  const setUTCFullYear = uncurry(Date.prototype.setUTCFullYear);
  const mapGet = uncurry(Map.prototype.get);
  const mapSet = uncurry(Map.prototype.set);
  const numberFormat = getter(NumberFormat.prototype, "format");
  const dateFormat = getter(DateTimeFormat.prototype, "format");
  const dateParts = uncurry(DateTimeFormat.prototype.formatToParts);
  const compareOf = getter(Collator.prototype, "compare");

  // The language's own names. What is not among them and not in the data is missing: `constructor`, and what the engine has besides.
  const GLOBALS = {
    __proto__: null, Math: 1, Number: 1, String: 1, Boolean: 1, Array: 1, Object: 1, Date: 1, JSON: 1, Intl: 1, BigInt: 1, RegExp: 1,
    Map: 1, Set: 1, parseInt: 1, parseFloat: 1, isNaN: 1, isFinite: 1, NaN: 1, Infinity: 1, undefined: 1,
    encodeURI: 1, encodeURIComponent: 1, decodeURI: 1, decodeURIComponent: 1,
  };
  const TYPES = [String.prototype, Number.prototype, Array.prototype, Date.prototype, Object.prototype, Boolean.prototype];
  const STYLES = { __proto__: null, full: 1, long: 1, medium: 1, short: 1 };
  // So many tags are reported; the others of a template that is wrong throughout would say the same.
  const FAULTS = 100;
  const MESSAGE_CHARACTERS = 300;
  const SHOWN_CHARACTERS = 40;

  // An integer that no number is: it prints as it is written, and computes as the nearest number. There is one object for each, so that
  // `===` finds the same.
  class Exact extends NumberOf {
    #text;
    constructor(text) { super(text); this.#text = text; }
    toString(radix) { return radix === undefined || radix === 10 ? this.#text : super.toString(radix); }
    toLocaleString(...given) { return bigText(BigIntOf(this.#text), ...given); }
    [toPrimitive](hint) { return hint === "string" ? this.#text : NumberOf(this.#text); }
    static text(value) { return isObject(value) && #text in value ? value.#text : undefined; }
  }
  const exactText = Exact.text;
  const INTEGER = /^-?\d+$/;
  const read = (text) => {
    const known = { __proto__: null };
    return parse(text, (_, value, { source }) => {
      if (typeof value !== "number" || isSafeInteger(value) || execute(INTEGER, source) === null) return value;
      return (known[source] ??= new Exact(source));
    });
  };
  // Tells that a limit was passed. No code of theirs gets it.
  const OVER = { __proto__: null };

  const fail = (message) => { throw { __proto__: null, fault: message }; };
  const isNothing = (value) => value === null || value === undefined || value === "";
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
  const cut = (text, length) => (text.length > length ? `${slice(text, 0, length)}\u2026` : text);
  const define = (list, index, value) => {
    defineProperty(list, index, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  };
  // What a value prints. Lists are put together here, as Array.prototype.toString does, for that one may be replaced.
  const printed = (value) => {
    if (value === null || value === undefined) return "";
    if (!isObject(value)) return TextOf(value);
    const exact = exactText(value);
    if (exact !== undefined) return exact;
    if (isArray(value)) {
      let joined = "";
      for (let index = 0; index < value.length; index += 1) joined += (index === 0 ? "" : ",") + printed(value[index]);
      return joined;
    }
    if (typeof value === "function") return fail("a function has no text; call it with its arguments in parentheses");
    const { toString } = value;
    const hasText = (typeof toString === "function" && toString !== objectText) || value[toPrimitive] !== undefined;
    return hasText ? TextOf(value) : fail("an object has no text; name one of its members, as in customer.name");
  };
  const show = (value) => {
    if (isObject(value) && exactText(value) === undefined) return isArray(value) ? "a list" : typeof value === "function" ? "a function" : "an object";
    return `'${cut(exactText(value) ?? TextOf(value), SHOWN_CHARACTERS)}'`;
  };

  const fill = (program, data, settings) => {
    const { locale = "en-US", timeZone = "UTC", strict = false, items: mostItems = Infinity } = settings;
    // The engine makes a list of a single name by [[Set]], of these it reads.
    const locales = { __proto__: null, 0: locale, length: 1 };
    const latin = { __proto__: null, 0: "en-US-u-ca-gregory-nu-latn", length: 1 };
    let scope = { __proto__: null, item: data, isLoop: false, outer: null };
    let hit;
    let isStrict = strict;

    // --- Names

    const missing = (name) => (isStrict ? fail(`'${name}' is not defined`) : undefined);

    const local = (name) => {
      if (name === "$parent") return scope.outer !== null && ((hit = scope.outer.item), true);
      if (name !== "$index" && name !== "$first" && name !== "$last") return false;
      let loop = scope;
      while (loop !== null && !loop.isLoop) loop = loop.outer;
      if (loop === null) return false;
      hit = name === "$index" ? loop.index : name === "$first" ? loop.index === 0 : loop.index === loop.count - 1;
      return true;
    };
    // Leaves what it finds in `hit`.
    const find = (name) => {
      if (name[0] === "$" && local(name)) return true;
      for (let at = scope; at !== null; at = at.outer) {
        if (isObject(at.item) && hasOwn(at.item, name)) return (hit = at.item[name]), true;
      }
      return false;
    };
    const walk = (tag) => {
      const { path, own } = tag;
      let value = scope.item;
      let name = own ? "." : "";
      for (let index = 0; index < path.length; index += 1) {
        const key = path[index];
        name += index === 0 ? key : `.${key}`;
        if (index === 0 && !own) {
          if (find(key)) value = hit;
          else if (!(key in GLOBALS)) return missing(name);
          else {
            value = run(tag.code);
            // `{Date}` asks for data, not for the constructor.
            return path.length === 1 && isObject(value) ? missing(name) : value;
          }
        } else {
          if (value === null || value === undefined || !hasOwn(value, key)) return missing(name);
          value = value[key];
        }
      }
      return value;
    };

    // --- Expressions

    const names = new ProxyOf({ __proto__: null }, {
      __proto__: null,
      has: (_, name) => typeof name === "string" && (!(name in GLOBALS) || find(name)),
      get: (_, name) => {
        if (typeof name !== "string") return undefined;
        if (name === "$$item") return scope.item;
        return find(name) ? hit : missing(name);
      },
      set: () => true,
      deleteProperty: () => true,
      defineProperty: () => true,
    });
    const compiled = { __proto__: null };
    const compile = (code) => {
      const compiled = new FunctionOf("names", `with (names) return (${code}\n);`);
      // `n); (z` closes the parenthesis of ours, but not a bracket as well: what compiles in both is one expression.
      new FunctionOf(`[${code}\n]`);
      return compiled;
    };
    const run = (code) => apply((compiled[code] ??= compile(code)), scope.item, [names]);
    const evaluate = (tag) => {
      const { whole, text, filters } = tag;
      if (find(whole)) return hit;
      // A missing name may be asked for where something is said to stand in its place.
      isStrict = strict;
      for (let index = 0; index < filters.length; index += 1) if (filters[index].name === "default") isStrict = false;
      let value = text !== whole && find(text) ? hit : tag.path === null ? run(tag.code) : walk(tag);
      isStrict = strict;
      for (let index = 0; index < filters.length; index += 1) {
        const { name, codes } = filters[index];
        const given = { __proto__: null, length: codes.length };
        for (let at = 0; at < codes.length; at += 1) given[at] = run(codes[at]);
        value = filter(name, value, given);
      }
      return value;
    };

    // --- Filters

    const formats = { __proto__: null };
    const format = (kind, Format, options) => {
      let key = kind;
      for (const name in options) key += `,${stringify(name)}:${typeof options[name]} ${stringify(TextOf(options[name]))}`;
      return (formats[key] ??= new Format(locales, options));
    };
    const number = (name, value) => {
      if (typeof value === "number" || typeof value === "bigint") return value;
      if (exactText(value) !== undefined) return exactText(value);
      // A text goes on as it is: it may have more digits than a number can.
      if (typeof value === "string" && trim(value) !== "" && isFinite(NumberOf(value))) return trim(value);
      return fail(`${name} takes a number, and ${show(value)} is none`);
    };
    const list = (name, value) => (isArray(value) ? value : fail(`${name} takes a list, and ${show(value)} is none`));
    const pick = (item, key) => {
      if (key === undefined) return item;
      if (typeof key === "function") return key(item);
      const path = printed(key);
      let value = item;
      for (let from = 0; from <= path.length; ) {
        const dot = indexOf(path, ".", from);
        const end = dot < 0 ? path.length : dot;
        const name = slice(path, from, end);
        if (value === null || value === undefined || !hasOwn(value, name)) return undefined;
        value = value[name];
        from = end + 1;
      }
      return value;
    };
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
    // Options of Intl, `ours` before the `given`. Plain values only: a format is cached by what its options say.
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
      // A day that the month does not have has become one of another month.
      if (getUTCMonth(day) === month && minute < 60 && second < 60 && seconds <= 86400 && field(10) < 24 && field(11) < 60) {
        time = getTime(day) + (seconds - offset * 60) * 1000 + +slice(`${found[7] ?? ""}000`, 0, 3);
      }
      // A day without a time, or a time without a zone, is the same in every zone: it is counted in UTC and shown in it.
      return { __proto__: null, time, zone: found[8] === undefined && found[9] === undefined ? "UTC" : timeZone };
    };
    const shownBy = (options, time) => dateFormat(format("date", DateTimeFormat, options))(time);
    const part = (options, time, of) => {
      const parts = dateParts(format("date", DateTimeFormat, options), time);
      for (let index = 0; index < parts.length; index += 1) {
        // The engine fills this list as theirs are filled: past a setter of theirs it has no members.
        if (hasOwn(parts, index) && parts[index].type === of) return parts[index].value;
      }
      return "";
    };
    // A pattern's letters, with the place of their number in what `digits` writes: 11/22/2026, 23:05:09.250
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
      // Beside numbers of this calendar, names of another one would be another day.
      const base = { __proto__: null, timeZone: zone, calendar: "gregory", numberingSystem: "latn" };
      if (name === "MMMM" || name === "MMM") {
        const month = name === "MMMM" ? "long" : "short";
        // Beside a day, many languages write the month in another case; where it is a number there, the name says more (11 and a sign).
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
    const pattern = (text, zone, time) => {
      const hasDay = indexOf(text, "D") >= 0;
      let out = "";
      for (let at = 0; at < text.length; ) {
        const end = text[at] === "[" ? indexOf(text, "]", at) : -1;
        if (end > 0) { out += slice(text, at + 1, end); at = end + 1; continue; }
        let found;
        for (let index = 0; index < TOKENS.length && found === undefined; index += 1) {
          if (startsWith(text, TOKENS[index], at)) found = TOKENS[index];
        }
        out += found === undefined ? text[at] : token(found, zone, time, hasDay);
        at += found === undefined ? 1 : found.length;
      }
      return out;
    };
    const date = (value, given, timeStyle) => {
      const { time, zone } = moment(value);
      if (!(time >= -864e13 && time <= 864e13)) {
        fail(`${show(value)} is no date; write it as ISO 8601 does, 2026-11-22 or 2026-11-22T10:00:00Z, or as milliseconds since 1970`);
      }
      const style = given ?? "medium";
      if (isObject(style)) {
        const options = optionsOf(style);
        options.timeZone ??= zone;
        return shownBy(options, time);
      }
      if (typeof style !== "string") return fail('date takes a pattern as "YYYY-MM-DD", one of full, long, medium and short, or options');
      if (!(style in STYLES)) return pattern(style, zone, time);
      const options = { __proto__: null, timeZone: zone, dateStyle: style };
      return shownBy(optionsOf({ __proto__: null, timeStyle: timeStyle ?? undefined }, options), time);
    };

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
    const weight = (value) => (exactText(value) === undefined ? value : BigIntOf(exactText(value)));
    let compare;
    const order = (one, other) => {
      if (isNothing(one) || isNothing(other)) return isNothing(one) - isNothing(other);
      if (typeof one !== "string" && typeof other !== "string") {
        one = weight(one);
        other = weight(other);
        return one < other ? -1 : one > other ? 1 : 0;
      }
      compare ??= compareOf(new Collator(locales, { __proto__: null, numeric: true }));
      return compare(TextOf(one), TextOf(other));
    };
    const total = (value, key) => {
      let sum = 0, exact = 0n, isExact = false, isWhole = true;
      for (let index = 0; index < value.length; index += 1) {
        const item = pick(value[index], key);
        if (isNothing(item)) continue;
        const one = number("sum", item);
        isExact ||= exactText(item) !== undefined;
        isWhole &&= isInteger(NumberOf(one)) && (typeof one !== "string" || execute(INTEGER, one) !== null);
        if (isWhole) exact += BigIntOf(one);
        sum += NumberOf(one);
      }
      return isExact && isWhole && !isSafeInteger(NumberOf(exact)) ? new Exact(TextOf(exact)) : sum;
    };
    const grouped = (value, key) => {
      const groups = [];
      const known = new MapOf();
      for (let index = 0; index < value.length; index += 1) {
        const of = pick(value[index], key);
        let group = mapGet(known, of);
        if (group === undefined) {
          group = { key: of, items: [] };
          mapSet(known, of, group);
          define(groups, groups.length, group);
        }
        define(group.items, group.items.length, value[index]);
      }
      return groups;
    };
    const sorted = (value, key, direction) => {
      if (!isNothing(direction) && direction !== "asc" && direction !== "desc") {
        fail(`sort takes "asc" or "desc", and not ${show(direction)}`);
      }
      const sign = direction === "desc" ? -1 : 1;
      const copy = [];
      for (let index = 0; index < value.length; index += 1) define(copy, index, value[index]);
      return sortInPlace(copy, (one, other) => sign * order(pick(one, key), pick(other, key)));
    };
    const count = (value) => {
      if (isNothing(value)) return 0;
      if (isArray(value) || typeof value === "string") return value.length;
      return isObject(value) && exactText(value) === undefined ? ownKeys(value).length : fail(`count takes a list, a text or an object, and ${show(value)} is none`);
    };
    const FILTERS = {
      __proto__: null,
      number: (value, shape) => {
        const options = isObject(shape) ? optionsOf(shape) : isNothing(shape) ? { __proto__: null } : numberOptions(printed(shape));
        return numberFormat(format("number", NumberFormat, options))(number("number", value));
      },
      currency: (value, code, given) => {
        if (typeof code !== "string") fail('currency takes the currency\'s code, as in currency("EUR")');
        const options = optionsOf(given, { __proto__: null, style: "currency", currency: code });
        return numberFormat(format("number", NumberFormat, options))(number("currency", value));
      },
      percent: (value, places) => {
        const least = places ?? 0;
        const given = isObject(least) ? least : { __proto__: null, minimumFractionDigits: least, maximumFractionDigits: least };
        const options = optionsOf(given, { __proto__: null, style: "percent" });
        return numberFormat(format("number", NumberFormat, options))(number("percent", value));
      },
      date,
      upper: (value) => toLocaleUpperCase(printed(value), locales),
      lower: (value) => toLocaleLowerCase(printed(value), locales),
      title: (value) => title(printed(value)),
      trim: (value) => trim(printed(value)),
      join: (value, between, key) => {
        const { length } = list("join", value);
        let joined = "";
        for (let index = 0; index < length; index += 1) {
          joined += (index === 0 ? "" : printed(between ?? ", ")) + printed(pick(value[index], key));
        }
        return joined;
      },
      sort: (value, key, direction) => sorted(list("sort", value), key, direction),
      group: (value, key) => grouped(list("group", value), key),
      first: (value) => (typeof value === "string" ? value[0] : list("first", value)[0]),
      last: (value) => (typeof value === "string" ? value[value.length - 1] : list("last", value)[value.length - 1]),
    };
    const filter = (name, value, given) => {
      if (name === "default") return isNothing(value) || value !== value ? given[0] : value;
      if (name === "count") return count(value);
      if (name === "sum") return isNothing(value) ? 0 : total(list("sum", value), given[0]);
      const known = FILTERS[name];
      if (known !== undefined) return isNothing(value) ? value : known(value, given[0], given[1]);
      if (value === null || value === undefined) {
        for (let index = 0; index < TYPES.length; index += 1) if (hasOwn(TYPES[index], name)) return value;
        return unknown(name);
      }
      const method = value[name];
      return typeof method === "function" ? apply(method, value, given) : unknown(name);
    };
    const unknown = (name) => {
      let known = "default, count, sum";
      for (const filter in FILTERS) known += `, ${filter}`;
      return fail(`'${name}' is neither a filter (there are ${known}) nor a method of the value`);
    };

    // --- The tree

    const quote = (value) => {
      const json = stringify(value);
      // A half of a letter is written as six signs. Where none was added to the quotes there is none, and the call costs as much as all else.
      if (json.length === value.length + 2 || isWellFormed(value)) return json;
      let whole = "";
      for (let at = 0; at < value.length; at += 1) {
        const unit = charCodeAt(value, at);
        const isLead = unit >= 0xd800 && unit < 0xdc00;
        const next = isLead && at + 1 < value.length ? charCodeAt(value, at + 1) : 0;
        if (next >= 0xdc00 && next < 0xe000) whole += slice(value, at, (at += 1) + 1);
        else if (unit < 0xd800 || unit >= 0xe000) whole += value[at];
      }
      return stringify(whole);
    };
    let reported = 0;
    let faults = "";
    const faulty = { __proto__: null };
    const report = (tag, error) => {
      faulty[tag.id] = true;
      reported += 1;
      const message = cut(explained(error, tag), MESSAGE_CHARACTERS);
      if (reported <= FAULTS) faults += `${faults === "" ? "" : ","}[${tag.id},${quote(message)}]`;
    };
    let repeated = 0;
    const repeat = (times) => { if ((repeated += times) > mostItems) throw OVER; };
    const isTrue = (value) => !!value && !(isArray(value) && value.length === 0);
    const inside = (item, tag, index, count) => {
      const outer = scope;
      scope = { __proto__: null, item, isLoop: index !== null, index, count, outer };
      try { return render(tag.body); } finally { scope = outer; }
    };
    // What a section's body is said for, copied: reading a list of theirs may fail.
    const itemsOf = (tag, value) => {
      const isOn = isTrue(value) === (tag.kind !== "otherwise");
      const items = { __proto__: null, length: isOn ? 1 : 0, isLoop: false, isItem: false };
      if (isOn && isArray(value) && tag.kind !== "otherwise") {
        items.length = value.length;
        items.isLoop = true;
      }
      repeat(items.length);
      if (!isOn || tag.kind === "otherwise") return items;
      if (items.isLoop) {
        for (let index = 0; index < items.length; index += 1) items[index] = value[index];
      } else items[0] = value;
      items.isItem = value !== true && typeof value !== "function";
      return items;
    };
    const section = (tag, items) => {
      const { length, isLoop, isItem } = items;
      let out = "";
      for (let index = 0; index < length; index += 1) {
        if (index > 0) out += ",";
        out += isItem ? inside(items[index], tag, isLoop ? index : null, length) : render(tag.body);
      }
      return out;
    };
    // What is more than a text: its form, and what the form takes. `null` is the form's own choice.
    const content = (form, fields) => {
      let out = "";
      for (let index = 0; index < fields.length; index += 1) {
        out += `${index === 0 ? "" : ","}${isNothing(fields[index]) ? "null" : quote(printed(fields[index]))}`;
      }
      return `{"${form}":[${out}]}`;
    };
    // Bytes as a program writes them into JSON: a list of numbers, or Node's { type: "Buffer", data }. They become Base64.
    const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const bytes = (value) => {
      const list = isArray(value) ? value : isObject(value) && value.type === "Buffer" && isArray(value.data) ? value.data : null;
      if (list === null) return value;
      let out = "";
      for (let at = 0; at < list.length; at += 3) {
        const left = list.length - at;
        const word = ((list[at] & 255) << 16) | ((left > 1 ? list[at + 1] & 255 : 0) << 8) | (left > 2 ? list[at + 2] & 255 : 0);
        out += DIGITS[word >> 18] + DIGITS[(word >> 12) & 63] + (left > 1 ? DIGITS[(word >> 6) & 63] : "=") + (left > 2 ? DIGITS[word & 63] : "=");
      }
      return out;
    };
    // A form's options as JSON: their names with the lists of what they are given.
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
    const FORMS = {
      __proto__: null,
      image: (tag) => { const shown = bytes(evaluate(tag)); return isNothing(shown) ? '""' : content("image", [shown, optionsText(tag.options)]); },
      qr: (tag) => { const said = evaluate(tag); return isNothing(said) ? '""' : content("qr", [said, optionsText(tag.options)]); },
      barcode: (tag) => { const said = evaluate(tag); return isNothing(said) ? '""' : content("barcode", [said, optionsText(tag.options)]); },
      html: (tag) => content("html", [evaluate(tag)]),
      xml: (tag) => content("xml", [evaluate(tag)]),
      link: (tag) => content("link", [argument(tag, 0), argument(tag, 1)]),
      pagebreak: () => content("pagebreak", []),
      // A document that was read with the template has its tags here.
      include: (tag) => (tag.terms.length === 0 ? `[${render(tag.body)}]` : content("include", [argument(tag, 0)])),
      toc: (tag) => content("toc", [argument(tag, 0)]),
      color: (tag) => { const shown = argument(tag, 0); return isNothing(shown) ? '""' : content("color", [shown, argument(tag, 1)]); },
    };
    // A chart's data as JSON. More points than these say nothing to anyone.
    const POINTS = 100000;
    const DAY = 86400000;
    // The day that Excel counts from, in days before 1970.
    const FIRST_DAY = 25569;
    const chart = (own) => {
      let points = 0;
      const member = (of, name) => (isObject(of) && hasOwn(of, name) ? of[name] : undefined);
      const listed = (what, value, each) => {
        if (!isArray(value)) fail(`${what} of a chart are a list, and ${show(value)} is none; write { "_type": "chart", "categories": { "names": ["Q1"] }, "series": [{ "name": "Sales", "values": [1] }] }`);
        if ((points += value.length) > POINTS) fail(`a chart has at most ${POINTS} points; give it fewer values`);
        let out = "";
        for (let index = 0; index < value.length; index += 1) out += (index === 0 ? "" : ",") + each(value[index]);
        return `[${out}]`;
      };
      const digitsOf = (value) => {
        if (isNothing(value)) return "null";
        const given = NumberOf(number("a chart", value));
        return isFinite(given) ? TextOf(given) : fail(`a chart takes a number, and ${show(value)} is none`);
      };
      const textOf = (value) => (isNothing(value) ? "null" : quote(printed(value)));
      const categories = own("categories");
      let formatCode = member(categories, "formatCode");
      const category = (value) => {
        if (isNothing(value)) return "null";
        if (typeof value === "number") return digitsOf(value);
        // A text is a day only where it is said how days are shown.
        const { time } = typeof value === "string" && isNothing(formatCode) ? { __proto__: null, time: NaN } : moment(value);
        if (!(time >= -864e13 && time <= 864e13)) return textOf(value);
        if (isNothing(formatCode)) formatCode = "yyyy-mm-dd";
        return TextOf(time / DAY + FIRST_DAY);
      };
      const value = (given) => {
        if (!isObject(given) || exactText(given) !== undefined) return digitsOf(given);
        return `[${digitsOf(member(given, "x"))},${digitsOf(member(given, "y"))},${digitsOf(member(given, "size"))}]`;
      };
      const one = (given) => {
        const values = listed("the values of a series", member(given, "values"), value);
        return `{"name":${textOf(member(given, "name"))},"color":${textOf(member(given, "color"))},"values":${values}}`;
      };
      const names = isNothing(categories) ? "null" : listed("the names of the categories", member(categories, "names"), category);
      const series = listed("the series", own("series"), one);
      return content("chart", [own("title"), `{"format":${textOf(formatCode)},"categories":${names},"series":${series}}`]);
    };
    // Values that say themselves what they are, as easy-template-x has them: { _type: "image", source, width, height, altText } ...
    const typed = (value) => {
      const { _type: type } = value;
      const own = (name) => (hasOwn(value, name) ? value[name] : undefined);
      const option = (name, given) => (isNothing(given) ? "" : `"${name}":[${quote(printed(given))}]`);
      if (type === "text") return quote(printed(own("text")));
      if (type === "link") return content("link", [own("text"), own("target"), own("tooltip")]);
      if (type === "rawXml") {
        const xml = own("xml");
        return content("xml", [isArray(xml) ? FILTERS.join(xml, "") : xml]);
      }
      if (type === "chart") return chart(own);
      if (type !== "image") return null;
      const sizes = [option("width", own("width")), option("height", own("height")), option("alt", own("altText"))];
      let options = "";
      for (let index = 0; index < 3; index += 1) if (sizes[index] !== "") options += (options === "" ? "" : ",") + sizes[index];
      return content("image", [bytes(own("source")), `{${options}}`]);
    };
    const shown = (value) => {
      const isTyped = isObject(value) && !isArray(value) && hasOwn(value, "_type");
      if (!isTyped && isObject(value) && !isArray(value) && hasOwn(value, "series") && isArray(value.series)) {
        fail('an object has no text; where it is the data of a chart, give it the member "_type": "chart"');
      }
      return (isTyped ? typed(value) : null) ?? quote(printed(value));
    };
    const answer = (tag) => {
      const form = FORMS[tag.kind];
      const nothing = form !== undefined || tag.kind === "value" ? '""' : "[]";
      let items;
      if (tag.id in faulty) return nothing;
      try {
        if (form !== undefined) return form(tag);
        const value = evaluate(tag);
        if (tag.kind === "value") return shown(value);
        items = itemsOf(tag, value);
      } catch (error) {
        if (error === OVER) throw error;
        report(tag, error);
        return nothing;
      }
      return `[${section(tag, items)}]`;
    };
    const render = (tags) => {
      let out = "[";
      for (let index = 0; index < tags.length; index += 1) out += (index === 0 ? "" : ",") + answer(tags[index]);
      return `${out}]`;
    };
    try {
      const tree = render(parse(program));
      return `{"count":${reported},"faults":[${faults}],"tree":${tree}}`;
    } catch (error) {
      if (error === OVER) return '{"over":true,"faults":[],"tree":[]}';
      throw error;
    }
  };

  // What an error says, in the words that people know from other engines.
  function explained(error, tag) {
    let message;
    let isSyntax = false;
    try {
      if (isObject(error) && hasOwn(error, "fault")) return TextOf(error.fault);
      message = isObject(error) ? TextOf(error.message) : TextOf(error);
      isSyntax = isObject(error) && error.name === "SyntaxError";
    } catch {
      return "the expression fails";
    }
    const within = (before, after) => {
      const from = indexOf(message, before);
      const to = lastIndexOf(message, after);
      return from < 0 || to < from + before.length ? null : slice(message, from + before.length, to);
    };
    if (startsWith(message, "Can't find variable: ")) return `'${slice(message, 21)}' is not defined`;
    const evaluating = within("is not an object (evaluating '", "')");
    if (evaluating !== null) {
      const end = lastIndexOf(evaluating, ".") > lastIndexOf(evaluating, "[") ? lastIndexOf(evaluating, ".") : lastIndexOf(evaluating, "[");
      const of = end > 0 ? trim(slice(evaluating, 0, evaluating[end - 1] === "?" ? end - 1 : end)) : evaluating;
      return `'${of}' is ${startsWith(message, "null") ? "null" : "not defined"}`;
    }
    const called = indexOf(message, " is not a function");
    if (called > 0) return `'${slice(message, 0, called)}' is not a function`;
    if (isSyntax) return `'${cut(tag.text, SHOWN_CHARACTERS)}' is neither a name in the data nor an expression of JavaScript (${trim(message)})`;
    return message;
  }

  fill.read = read;
  return fill;
})()
