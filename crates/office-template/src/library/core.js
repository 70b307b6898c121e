// Runs the program of a template over its data: a script that evaluates to (program, data, settings) => JSON, in a
// machine that runs nothing else.
//
// Hazard: expressions and data are untrusted and share this realm; an expression may replace any builtin. So every
// builtin used here is taken at load time, before the first expression runs. Objects made here have no prototype, lists
// that expressions see are written by `define` (an index of Array.prototype may be a setter), and the answer is built
// as text, so no setter or toJSON of an expression sees it. Parsing is most of a small document's cost, and an inner
// function is parsed again with each enclosing one that is called. So all is in one flat block, and what few programs
// need is in files that `library.rs` adds behind this one. ASCII only: any other letter doubles the source in the
// engine's memory.

const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const getter = (of, name) => uncurry(Object.getOwnPropertyDescriptor(of, name).get);
const { parse, stringify } = JSON;
const { isArray } = Array;
const { isFinite, isInteger, isSafeInteger } = Number;
const { hasOwn } = Object;
const { apply, ownKeys, defineProperty } = Reflect;
const FunctionOf = Function;
const ProxyOf = Proxy;
const TextOf = String;
const NumberOf = Number;
const BigIntOf = BigInt;
const { toPrimitive } = Symbol;
const objectText = Object.prototype.toString;
const slice = uncurry(String.prototype.slice);
const charCodeAt = uncurry(String.prototype.charCodeAt);
const indexOf = uncurry(String.prototype.indexOf);
const lastIndexOf = uncurry(String.prototype.lastIndexOf);
const startsWith = uncurry(String.prototype.startsWith);
const toLocaleLowerCase = uncurry(String.prototype.toLocaleLowerCase);
const trim = uncurry(String.prototype.trim);
const isWellFormed = uncurry(String.prototype.isWellFormed);
const execute = uncurry(RegExp.prototype.exec);

// JavaScript's global names. Others that the data lack are missing, such as `constructor` and the engine's own.
const GLOBALS = {
  __proto__: null, Math: 1, Number: 1, String: 1, Boolean: 1, Array: 1, Object: 1, Date: 1, JSON: 1, Intl: 1, BigInt: 1, RegExp: 1,
  Map: 1, Set: 1, parseInt: 1, parseFloat: 1, isNaN: 1, isFinite: 1, NaN: 1, Infinity: 1, undefined: 1,
  encodeURI: 1, encodeURIComponent: 1, decodeURI: 1, decodeURIComponent: 1,
};
const TYPES = [String.prototype, Number.prototype, Array.prototype, Date.prototype, Object.prototype, Boolean.prototype];
// The most faults that are reported; in a template that is wrong throughout the others would be alike.
const FAULTS = 100;
const MESSAGE_CHARACTERS = 300;
const SHOWN_CHARACTERS = 40;
const INTEGER = /^-?\d+$/;

// The text of an integer that no number can hold; always undefined without `exact.js`.
let exactText = () => undefined;
let exactOf;
// Thrown where a limit is passed; expressions cannot catch it.
const OVER = { __proto__: null };

const fail = (message) => { throw { __proto__: null, fault: message }; };
const isNothing = (value) => value === null || value === undefined || value === "";
const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
const cut = (text, length) => (text.length > length ? `${slice(text, 0, length)}\u2026` : text);
const define = (list, index, value) => {
  defineProperty(list, index, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
};
// Joins lists as Array.prototype.toString does, which an expression may have replaced.
const joined = (list, between) => {
  let out = "";
  for (let index = 0; index < list.length; index += 1) out += (index === 0 ? "" : between) + printed(list[index]);
  return out;
};
// The printed text of a value.
const printed = (value) => {
  if (value === null || value === undefined) return "";
  if (!isObject(value)) return TextOf(value);
  const exact = exactText(value);
  if (exact !== undefined) return exact;
  if (isArray(value)) return joined(value, ",");
  if (typeof value === "function") return fail("a function has no text; call it with its arguments in parentheses");
  const { toString } = value;
  const hasText = (typeof toString === "function" && toString !== objectText) || value[toPrimitive] !== undefined;
  return hasText ? TextOf(value) : fail("an object has no text; name one of its members, as in customer.name");
};
const show = (value) => {
  if (isObject(value) && exactText(value) === undefined) return isArray(value) ? "a list" : typeof value === "function" ? "a function" : "an object";
  return `'${cut(exactText(value) ?? TextOf(value), SHOWN_CHARACTERS)}'`;
};

const count = (value) => {
  if (isNothing(value)) return 0;
  if (isArray(value) || typeof value === "string") return value.length;
  return isObject(value) && exactText(value) === undefined ? ownKeys(value).length : fail(`count takes a list, a text or an object, and ${show(value)} is none`);
};
const number = (name, value) => {
  if (typeof value === "number" || typeof value === "bigint") return value;
  if (exactText(value) !== undefined) return exactText(value);
  // Text is kept: it may have more digits than a number can hold.
  if (typeof value === "string" && trim(value) !== "" && isFinite(NumberOf(value))) return trim(value);
  return fail(`${name} takes a number, and ${show(value)} is none`);
};
const unknown = (name) => fail(`'${name}' is neither a filter (there are ${FILTER_NAMES}) nor a method of the value`);

const quote = (value) => {
  const json = stringify(value);
  // A lone surrogate is written as six characters. If only the quotes were added there is none: isWellFormed is slow.
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
// More than text: a form and its fields; null for a field that is not given.
const content = (form, fields) => {
  let out = "";
  for (let index = 0; index < fields.length; index += 1) {
    out += `${index === 0 ? "" : ","}${isNothing(fields[index]) ? "null" : quote(printed(fields[index]))}`;
  }
  return `{"${form}":[${out}]}`;
};
// What a value with a type (`_type`) answers; null for a value without a known one. `typed.js` knows the types.
let typed = () => null;
const shown = (value) => {
  const isTyped = isObject(value) && !isArray(value) && hasOwn(value, "_type");
  if (!isTyped && isObject(value) && !isArray(value) && hasOwn(value, "series") && isArray(value.series)) {
    fail('an object has no text; where it is the data of a chart, give it the member "_type": "chart"');
  }
  return (isTyped ? typed(value) : null) ?? quote(printed(value));
};

// --- State

let locales, timeZone, strict, mostItems, scope, hit, isStrict;
// Filters by name, forms by the kind of their tags; other files add theirs.
const filters = { __proto__: null };
const forms = { __proto__: null };

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
// Whether a name is found; its value is put into `hit`.
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
        // `{Date}` alone means data, so the constructor does not count.
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
  // `n); (z` would close the parenthesis above; what also compiles in brackets is a single expression.
  new FunctionOf(`[${code}\n]`);
  return compiled;
};
const run = (code) => apply((compiled[code] ??= compile(code)), scope.item, [names]);
// The arguments of a filter. Those that are texts and numbers are the same for all values, so they are made once.
const argumentsOf = (call) => {
  if (call.given !== null) return call.given;
  const { codes } = call;
  const given = { __proto__: null, length: codes.length };
  for (let at = 0; at < codes.length; at += 1) given[at] = run(codes[at]);
  if (call.constant) call.given = given;
  return given;
};
const evaluate = (tag) => {
  const { whole, text, filters } = tag;
  if (find(whole)) return hit;
  // With the filter `default` a missing name is no fault.
  isStrict = strict;
  if (strict) for (let index = 0; index < filters.length; index += 1) if (filters[index].name === "default") isStrict = false;
  let value = text !== whole && find(text) ? hit : tag.path !== null ? walk(tag) : tag.loose !== null ? named(tag) : run(tag.code);
  isStrict = strict;
  for (let index = 0; index < filters.length; index += 1) {
    const call = filters[index];
    value = filter(call.name, value, argumentsOf(call));
  }
  return value;
};

// --- Filters

const filter = (name, value, given) => {
  const written = WRITTEN[name];
  // An argument that is left out of account would be a document that is not what its author wrote.
  if (written !== undefined && given.length > written[0]) fail(`${name} does not take ${show(given[written[0]])}; it is written ${written[1]}`);
  const known = filters[name];
  if (known !== undefined) return isNothing(value) ? (name === "sum" ? 0 : value) : known(value, given[0], given[1], given);
  if (name === "default") return isNothing(value) || value !== value ? given[0] : value;
  if (name === "count") return count(value);
  if (value === null || value === undefined) {
    for (let index = 0; index < TYPES.length; index += 1) if (hasOwn(TYPES[index], name)) return value;
    return unknown(name);
  }
  const method = value[name];
  return typeof method === "function" ? apply(method, value, given) : unknown(name);
};

// --- Texts that say that something went wrong

// The number that a filter wrote in a locale's words, if it is none.
let odd = null;
// Whether data, items or cells may have words such as `NaN`: `library.rs` sets it behind `words.js`, a cell without a number sets it alone.
let isWordy = false;
let warnings = "";
const warned = { __proto__: null };
const warn = (tag, word) => {
  if (!(tag.id in warned)) warnings += `${warnings === "" ? "" : ","}[${tag.id},"${word}"]`;
  warned[tag.id] = true;
};
// Gives the answer, which is JSON (`"text"`, `{"html":["text"]}`, `12.5`), and warns of what is no number. `words.js` looks at words too.
let seen = (tag, out) => {
  const isNone = odd === null ? out === '"NaN"' : odd !== odd;
  if (isNone || odd !== null || out === '"Infinity"' || out === '"-Infinity"') warn(tag, isNone ? "NaN" : "Infinity");
  return out;
};

// --- The tree

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
// The items of a section, copied here because reading a list of an expression may fail.
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
const answer = (tag) => {
  const form = forms[tag.kind];
  const nothing = form !== undefined || tag.kind === "value" ? '""' : "[]";
  let items;
  if (tag.id in faulty) return nothing;
  odd = null;
  try {
    if (form !== undefined) {
      const out = form(tag);
      return tag.computes || odd !== null || isWordy ? seen(tag, out) : out;
    }
    const value = evaluate(tag);
    if (tag.kind === "value") {
      const out = shown(value);
      // Whether such a word may be in it. This runs for each value of each row, where comparing texts, or a call, is slow.
      const isSuspect = typeof value === "number" ? value - value !== 0 : tag.computes || odd !== null || isWordy;
      return isSuspect ? seen(tag, out) : out;
    }
    // Rows of an empty list are kept without values, so that tables, charts and sums over them keep their range.
    if ((tag.kind === "rows" || tag.kind === "columns") && isArray(value) && value.length === 0) return "null";
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
const isSyntax = (error) => { try { return isObject(error) && error.name === "SyntaxError"; } catch { return false; } };
// The message of an error, in the wording of other engines, which more people know.
function explained(error, tag) {
  let message;
  try {
    if (isObject(error) && hasOwn(error, "fault")) return TextOf(error.fault);
    message = isObject(error) ? TextOf(error.message) : TextOf(error);
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
  if (isSyntax(error)) return `'${cut(tag.text, SHOWN_CHARACTERS)}' is neither a name in the data nor an expression of JavaScript (${trim(message)})`;
  return message;
}

const fill = (program, data, settings) => {
  const { locale = "en-US", items = Infinity } = settings;
  // The engine turns a single name into a list by [[Set]], which runs setters of expressions; a list it only reads.
  locales = { __proto__: null, 0: locale, length: 1 };
  ({ timeZone = "UTC", strict = false } = settings);
  isStrict = strict;
  mostItems = items;
  scope = { __proto__: null, item: data, isLoop: false, outer: null };
  try {
    const tree = render(parse(program));
    return `{"count":${reported},"faults":[${faults}],"warnings":[${warnings}],"tree":${tree}}`;
  } catch (error) {
    if (error === OVER) return '{"over":true,"faults":[],"tree":[]}';
    throw error;
  }
};
