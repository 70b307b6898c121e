// How filters are written, for programs that have any.

// How many arguments each filter takes at most, and how it is written.
const WRITTEN = {
  __proto__: null,
  default: [1, 'default("none")'], count: [0, "count"], sum: [1, 'sum("price")'],
  number: [3, 'number("0,0.00", "de-DE", { signDisplay: "always" }), where a pattern is written as 0,0.00 or #,##0.## or 0%'],
  currency: [3, 'currency("EUR", "de-DE", { currencyDisplay: "code" })'],
  percent: [3, 'percent(1, "de-DE", { signDisplay: "always" })'],
  date: [4, 'date("YYYY-MM-DD", "de-DE"), date("long", "short", "de-DE") or date({ month: "long" }, "de-DE"): date takes a pattern, one of full, long, medium and short, or options'],
  upper: [0, "upper"], lower: [0, "lower"], title: [0, "title"], trim: [0, "trim"], text: [0, "text"],
  join: [2, 'join(", ", "name")'], sort: [2, 'sort("price", "desc")'], group: [1, 'group("city")'], first: [0, "first"], last: [0, "last"],
};
