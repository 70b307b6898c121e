// Values that say their type, and bytes.

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
// `charts.js` sets it.
let chart = null;
// Values with a type, as in easy-template-x: { _type: "image", source, width, height, altText } ...
typed = (value) => {
  const { _type: type } = value;
  const own = (name) => (hasOwn(value, name) ? value[name] : undefined);
  const option = (name, given) => (isNothing(given) ? "" : `"${name}":[${quote(printed(given))}]`);
  if (type === "text") return quote(printed(own("text")));
  if (type === "link") return content("link", [own("text"), own("target"), own("tooltip")]);
  if (type === "rawXml") {
    const xml = own("xml");
    return content("xml", [isArray(xml) ? joined(xml, "") : xml]);
  }
  if (type === "chart" && chart !== null) return chart(own);
  if (type !== "image") return null;
  const sizes = [option("width", own("width")), option("height", own("height")), option("alt", own("altText"))];
  let options = "";
  for (let index = 0; index < 3; index += 1) if (sizes[index] !== "") options += (options === "" ? "" : ",") + sizes[index];
  return content("image", [bytes(own("source")), `{${options}}`]);
};
