// A cell with a date's format: the day and time as they are shown, in days since 1970, and as data write them.

const toISOString = uncurry(Date.prototype.toISOString);
// The first days of these years, counted from 1970. For a day before 1904 or behind 9999 some workbooks have no number, and some
// programs show another day.
const YEAR_1904 = -24107;
const YEAR_10000 = 2932897;
const isSpecial = (days) => days < YEAR_1904 || days >= YEAR_10000;
const dayOf = (time) => {
  const days = time / MILLISECONDS;
  if (!isSpecial(days)) return content("day", [days]);
  const written = slice(toISOString(new DateOf(time)), 0, -5);
  const midnight = indexOf(written, "T00:00:00");
  return content("day", [days, midnight < 0 ? written : slice(written, 0, midnight)]);
};

forms.day = (tag) => {
  const value = evaluate(tag);
  if (isNothing(value) || (typeof value !== "string" && !isObject(value)) || isArray(value)) return cellOf(value);
  const { time, zone } = moment(value);
  if (!isFinite(time)) return cellOf(value);
  if (zone === "UTC") return dayOf(time);
  const day = new DateOf(0);
  setUTCFullYear(day, numeric(zone, time, PLACES.Y), numeric(zone, time, PLACES.M) - 1, numeric(zone, time, PLACES.D));
  const seconds = (numeric(zone, time, PLACES.H) * 60 + numeric(zone, time, PLACES.m)) * 60 + numeric(zone, time, PLACES.s);
  return dayOf(getTime(day) + seconds * 1000);
};
