// A cell with a date's format: the day and time as they are shown, in days since 1970.

forms.day = (tag) => {
  const value = evaluate(tag);
  if (isNothing(value) || (typeof value !== "string" && !isObject(value)) || isArray(value)) return cellOf(value);
  const { time, zone } = moment(value);
  if (!isFinite(time)) return cellOf(value);
  if (zone === "UTC") return content("day", [time / MILLISECONDS]);
  const day = new DateOf(0);
  setUTCFullYear(day, numeric(zone, time, PLACES.Y), numeric(zone, time, PLACES.M) - 1, numeric(zone, time, PLACES.D));
  const seconds = (numeric(zone, time, PLACES.H) * 60 + numeric(zone, time, PLACES.m)) * 60 + numeric(zone, time, PLACES.s);
  return content("day", [getTime(day) / MILLISECONDS + seconds / 86400]);
};
