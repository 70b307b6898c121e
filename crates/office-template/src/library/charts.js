// A chart's data as JSON.

// The most points of a chart.
const POINTS = 100000;
const DAY = 86400000;
// The number that Excel gives to 1970-01-01.
const FIRST_DAY = 25569;
chart = (own) => {
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
    // Text is a day only where a format of days is given.
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
