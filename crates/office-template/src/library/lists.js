// Lists: join, sort, group, first, last, sum.

const { Collator } = Intl;
const MapOf = Map;
const compareOf = getter(Collator.prototype, "compare");
const sortInPlace = uncurry(Array.prototype.sort);
const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);

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
  return isExact && isWhole && !isSafeInteger(NumberOf(exact)) ? exactOf(TextOf(exact)) : sum;
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
filters.join = (value, between, key) => {
  const { length } = list("join", value);
  let joined = "";
  for (let index = 0; index < length; index += 1) {
    joined += (index === 0 ? "" : printed(between ?? ", ")) + printed(pick(value[index], key));
  }
  return joined;
};
filters.sort = (value, key, direction) => sorted(list("sort", value), key, direction);
filters.group = (value, key) => grouped(list("group", value), key);
filters.first = (value) => (typeof value === "string" ? value[0] : list("first", value)[0]);
filters.last = (value) => (typeof value === "string" ? value[value.length - 1] : list("last", value)[value.length - 1]);
filters.sum = (value, key) => total(list("sum", value), key);
