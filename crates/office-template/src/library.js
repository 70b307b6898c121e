// Runs the program of a Word template over its data: an expression that evaluates to (program, data, settings) => JSON.
//
// Hazard: expressions and data come from strangers and share this realm; an expression may replace any builtin. So every builtin
// that is used is taken at load time, before the first expression runs, objects of ours have no prototype, and the answer is put
// together as text: nothing of it passes through an object that a setter or a toJSON of theirs could see.
(() => {
  "use strict";

  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const getter = (of, name) => uncurry(Object.getOwnPropertyDescriptor(of, name).get);
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { isFinite } = Number;
  const { apply, ownKeys } = Reflect;
  const { NumberFormat, DateTimeFormat, Collator } = Intl;
  const { min } = Math;
  const FunctionOf = Function;
  const ProxyOf = Proxy;
  const DateOf = Date;
  const MapOf = Map;
  const TextOf = String;
  const NumberOf = Number;
  const { UTC, parse: parseDate } = Date;
  const hasOwn = uncurry(Object.prototype.hasOwnProperty);
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
  const push = uncurry(Array.prototype.push);
  const copy = uncurry(Array.prototype.slice);
  const sortInPlace = uncurry(Array.prototype.sort);
  const getTime = uncurry(Date.prototype.getTime);
  const getUTCDate = uncurry(Date.prototype.getUTCDate);
  const mapGet = uncurry(Map.prototype.get);
  const mapSet = uncurry(Map.prototype.set);
  const numberFormat = getter(NumberFormat.prototype, "format");
  const dateFormat = getter(DateTimeFormat.prototype, "format");
  const dateParts = uncurry(DateTimeFormat.prototype.formatToParts);
  const compareOf = getter(Collator.prototype, "compare");

  const setOf = (names) => {
    const set = { __proto__: null };
    for (const name of names) if (typeof name === "string") set[name] = true;
    return set;
  };
  // The language's own names: what is not among them and not in the data is missing, also `constructor`.
  const GLOBALS = setOf(ownKeys(globalThis));
  const METHODS = setOf([String, Number, Array, Date, Object, Boolean].flatMap((type) => ownKeys(type.prototype)));
  const STYLES = setOf(["full", "long", "medium", "short"]);
  // So many tags are reported; the others of a template that is wrong throughout would say the same.
  const FAULTS = 100;

  const fail = (message) => { throw { __proto__: null, fault: message }; };
  const missing = (name) => fail(`'${name}' is not defined`);
  const isNothing = (value) => value === null || value === undefined || value === "";
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

  return (program, data, settings) => {
    const { locale = "en-US", timeZone = "UTC", strict = false } = settings;
    let scope = { __proto__: null, item: data, isLoop: false, outer: null };
    let hit;

    // --- Names

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
      if (charCodeAt(name, 0) === 36 && local(name)) return true;
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
          else if (key in GLOBALS) return run(tag.code);
          else return strict ? missing(name) : undefined;
        } else {
          if (value === null || value === undefined || !hasOwn(value, key)) return strict ? missing(name) : undefined;
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
        if (find(name)) return hit;
        return strict ? missing(name) : undefined;
      },
      set: () => true,
      deleteProperty: () => true,
      defineProperty: () => true,
    });
    const compiled = { __proto__: null };
    const run = (code) => {
      compiled[code] ??= new FunctionOf("names", `with (names) return (${code}\n);`);
      return apply(compiled[code], scope.item, [names]);
    };
    const evaluate = (tag) => {
      const { whole, text, filters } = tag;
      if (find(whole)) return hit;
      let value = text !== whole && find(text) ? hit : tag.path === null ? run(tag.code) : walk(tag);
      for (let index = 0; index < filters.length; index += 1) {
        const { name, codes } = filters[index];
        const given = [];
        for (let at = 0; at < codes.length; at += 1) given[at] = run(codes[at]);
        value = filter(name, value, given);
      }
      return value;
    };

    // --- Filters

    const formats = { __proto__: null };
    const format = (kind, Format, options) => {
      const key = kind + stringify(options);
      return (formats[key] ??= new Format(locale, options));
    };
    const number = (name, value) => {
      if (typeof value === "number" || typeof value === "bigint") return value;
      // A text goes on as it is: it may have more digits than a number can.
      if (typeof value === "string" && trim(value) !== "" && isFinite(NumberOf(value))) return trim(value);
      return fail(`${name} takes a number, and '${show(value)}' is none`);
    };
    const list = (name, value) => (isArray(value) ? value : fail(`${name} takes a list, and '${show(value)}' is none`));
    const show = (value) => { const shown = TextOf(value); return shown.length > 40 ? `${slice(shown, 0, 40)}…` : shown; };
    const pick = (item, key) => {
      if (key === undefined) return item;
      if (typeof key === "function") return key(item);
      const path = TextOf(key);
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
        else fail(`number("${show(pattern)}"): a pattern is written as 0,0.00 or #,##0.## or 0%`);
      }
      return {
        __proto__: null, style: isPercent ? "percent" : "decimal", useGrouping,
        minimumIntegerDigits: useGrouping || integers === 0 ? 1 : integers,
        minimumFractionDigits: least, maximumFractionDigits: most,
      };
    };
    const optionsOf = (given, defaults) => {
      const options = { __proto__: null };
      const names = isObject(given) ? ownKeys(given) : [];
      for (let index = 0; index < names.length; index += 1) {
        if (typeof names[index] === "string") options[names[index]] = given[names[index]];
      }
      for (const name in defaults) options[name] ??= defaults[name];
      return options;
    };

    // A day without a time, or a time without a zone, is the same in every zone: it is counted in UTC and shown in it.
    const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,3})\d*)?)?)?$/;
    const moment = (value) => {
      if (typeof value === "number") return { __proto__: null, time: value, zone: timeZone };
      if (typeof value === "string") {
        const found = execute(ISO, trim(value));
        if (found === null) return { __proto__: null, time: parseDate(trim(value)), zone: timeZone };
        const fraction = found[7] === undefined ? 0 : NumberOf(`0.${found[7]}`) * 1000;
        const time = UTC(found[1], found[2] - 1, found[3], found[4] ?? 0, found[5] ?? 0, found[6] ?? 0, fraction);
        return { __proto__: null, time: getUTCDate(new DateOf(time)) === +found[3] ? time : NaN, zone: "UTC" };
      }
      try { return { __proto__: null, time: getTime(value), zone: timeZone }; } catch { return { __proto__: null, time: NaN, zone: timeZone }; }
    };
    const part = (kind, options, time, of) => {
      const parts = dateParts(format(kind, DateTimeFormat, options), time);
      for (let index = 0; index < parts.length; index += 1) if (parts[index].type === of) return parts[index].value;
      return "";
    };
    const digits = { __proto__: null };
    const numeric = (zone, time, of) => {
      digits[zone] ??= new DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
        __proto__: null, timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric",
        hour: "numeric", minute: "numeric", second: "numeric", fractionalSecondDigits: 3,
      });
      const parts = dateParts(digits[zone], time);
      for (let index = 0; index < parts.length; index += 1) if (parts[index].type === of) return parts[index].value;
      return "";
    };
    const pad = (text, length) => { let padded = TextOf(+text); while (padded.length < length) padded = `0${padded}`; return padded; };
    const TOKENS = ["YYYY", "YY", "MMMM", "MMM", "MM", "M", "dddd", "ddd", "DD", "D", "HH", "H", "hh", "h", "mm", "m", "ss", "s", "SSS", "A", "a"];
    const token = (name, zone, time, hasDay) => {
      const of = { __proto__: null, Y: "year", M: "month", D: "day", H: "hour", h: "hour", m: "minute", s: "second", S: "fractionalSecond" }[name[0]];
      if (name === "MMMM" || name === "MMM") {
        const month = name === "MMMM" ? "long" : "short";
        // Beside a day, many languages write the month in another case.
        const options = { __proto__: null, timeZone: zone, month, ...(hasDay ? { day: "numeric" } : null) };
        return part("date", options, time, "month");
      }
      if (name[0] === "d") return part("date", { __proto__: null, timeZone: zone, weekday: name === "dddd" ? "long" : "short" }, time, "weekday");
      if (name === "A" || name === "a") {
        const half = part("date", { __proto__: null, timeZone: zone, hour: "numeric", hour12: true }, time, "dayPeriod");
        return name === "a" ? toLocaleLowerCase(half, locale) : half;
      }
      const value = +numeric(zone, time, of);
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
    const date = (value, style = "medium", timeStyle = undefined) => {
      const { time, zone } = moment(value);
      if (!(time >= -864e13 && time <= 864e13)) return fail(`'${show(value)}' is no date; write it as 2026-11-22 or 2026-11-22T10:00:00Z`);
      let options;
      if (isObject(style)) options = optionsOf(style, { __proto__: null, timeZone: zone });
      else if (style in STYLES) options = { __proto__: null, timeZone: zone, dateStyle: style, timeStyle };
      else return pattern(TextOf(style), zone, time);
      return dateFormat(format("date", DateTimeFormat, options))(time);
    };

    const title = (text) => {
      let out = "";
      let isInside = false;
      for (let at = 0; at < text.length; ) {
        const lead = charCodeAt(text, at);
        const letter = slice(text, at, at + (lead >= 0xd800 && lead < 0xdc00 ? 2 : 1));
        out += isInside ? letter : toLocaleUpperCase(letter, locale);
        isInside = trim(letter) !== "" && indexOf("-/([{\"", letter) < 0;
        at += letter.length;
      }
      return out;
    };
    const order = (one, other) => {
      if (isNothing(one) || isNothing(other)) return isNothing(one) - isNothing(other);
      if (typeof one !== "string" && typeof other !== "string") return one < other ? -1 : one > other ? 1 : 0;
      return compareOf(format("order", Collator, { __proto__: null, numeric: true }))(TextOf(one), TextOf(other));
    };
    const total = (value, key) => {
      let sum = 0;
      for (let index = 0; index < value.length; index += 1) {
        const item = pick(value[index], key);
        if (!isNothing(item)) sum += NumberOf(number("sum", item));
      }
      return sum;
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
          push(groups, group);
        }
        push(group.items, value[index]);
      }
      return groups;
    };
    const FILTERS = {
      __proto__: null,
      number: (value, shape) => {
        const options = isObject(shape) ? optionsOf(shape) : shape === undefined ? { __proto__: null } : numberOptions(TextOf(shape));
        return numberFormat(format("number", NumberFormat, options))(number("number", value));
      },
      currency: (value, code, options) => {
        if (typeof code !== "string") fail('currency takes the currency\'s code, as in currency("EUR")');
        const all = optionsOf(options, { __proto__: null, style: "currency", currency: code });
        return numberFormat(format("number", NumberFormat, all))(number("currency", value));
      },
      percent: (value, count = 0) => {
        const options = isObject(count) ? optionsOf(count, { __proto__: null, style: "percent" })
          : { __proto__: null, style: "percent", minimumFractionDigits: count, maximumFractionDigits: count };
        return numberFormat(format("number", NumberFormat, options))(number("percent", value));
      },
      date,
      upper: (value) => toLocaleUpperCase(TextOf(value), locale),
      lower: (value) => toLocaleLowerCase(TextOf(value), locale),
      title: (value) => title(TextOf(value)),
      trim: (value) => trim(TextOf(value)),
      join: (value, between = ", ", key = undefined) => {
        let joined = "";
        for (let index = 0; index < list("join", value).length; index += 1) {
          joined += (index === 0 ? "" : TextOf(between)) + text(pick(value[index], key));
        }
        return joined;
      },
      sort: (value, key, direction) => {
        const sign = direction === "desc" ? -1 : 1;
        return sortInPlace(copy(list("sort", value)), (one, other) => sign * order(pick(one, key), pick(other, key)));
      },
      group: (value, key) => grouped(list("group", value), key),
      first: (value) => (typeof value === "string" ? value[0] : list("first", value)[0]),
      last: (value) => (typeof value === "string" ? value[value.length - 1] : list("last", value)[value.length - 1]),
    };
    const filter = (name, value, given) => {
      if (name === "default") return isNothing(value) || value !== value ? given[0] : value;
      if (name === "count") return isNothing(value) ? 0 : isArray(value) || typeof value === "string" ? value.length : ownKeys(value).length;
      if (name === "sum") return isNothing(value) ? 0 : total(list("sum", value), given[0]);
      const known = FILTERS[name];
      if (known !== undefined) return isNothing(value) ? value : known(value, given[0], given[1]);
      if (value === null || value === undefined) return name in METHODS ? value : unknown(name);
      const method = value[name];
      return typeof method === "function" ? apply(method, value, given) : unknown(name);
    };
    const unknown = (name) => {
      let known = "default, count, sum";
      for (const filter in FILTERS) known += `, ${filter}`;
      return fail(`'${name}' is neither a filter (there are ${known}) nor a method of the value`);
    };

    // --- The tree

    const text = (value) => (value === null || value === undefined ? "" : TextOf(value));
    const quote = (value) => {
      if (isWellFormed(value)) return stringify(value);
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
      if (reported <= FAULTS) faults += `${faults === "" ? "" : ","}[${tag.id},${quote(explained(error, tag))}]`;
    };
    const isTrue = (value) => !!value && !(isArray(value) && value.length === 0);
    const inside = (item, tag, index, count) => {
      const outer = scope;
      scope = { __proto__: null, item, isLoop: index !== null, index, count, outer };
      try { return render(tag.body); } finally { scope = outer; }
    };
    const section = (tag, value) => {
      if (tag.kind === "otherwise") return isTrue(value) ? "" : render(tag.body);
      if (!isTrue(value)) return "";
      if (!isArray(value)) return typeof value === "object" ? inside(value, tag, null, null) : render(tag.body);
      const count = value.length;
      let out = "";
      for (let index = 0; index < count; index += 1) out += (index === 0 ? "" : ",") + inside(value[index], tag, index, count);
      return out;
    };
    const answer = (tag) => {
      const isValue = tag.kind === "value";
      let value;
      if (tag.id in faulty) return isValue ? '""' : "[]";
      try {
        value = evaluate(tag);
        if (isValue) return quote(text(value));
      } catch (error) {
        report(tag, error);
        return isValue ? '""' : "[]";
      }
      return `[${section(tag, value)}]`;
    };
    const render = (tags) => {
      let out = "[";
      for (let index = 0; index < tags.length; index += 1) out += (index === 0 ? "" : ",") + answer(tags[index]);
      return `${out}]`;
    };
    const tree = render(parse(program));
    return `{"faults":[${faults}],"tree":${tree}}`;
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
    if (isSyntax) return `'${tag.text}' is neither a name in the data nor an expression of JavaScript (${trim(message)})`;
    return slice(message, 0, min(message.length, 300));
  }
})()
