// Names that JavaScript does not read as names: `first-name`, `Middle Name`.

// Whether the data have what a name that JavaScript cannot read says; its value is put into `hit`.
const follow = ({ loose, own }) => {
  let value = scope.item;
  for (let index = 0; index < loose.length; index += 1) {
    const key = loose[index];
    if (index === 0 && !own && key !== "this") {
      if (!find(key)) return false;
      value = hit;
    } else if (index > 0 || own) {
      if (value === null || value === undefined || !hasOwn(value, key)) return false;
      value = value[key];
    }
  }
  hit = value;
  return true;
};
const LITERAL = /^\d/;
// Whether something is missing of what a text subtracts from each other. `hasNumber`: another part is a number of the data.
let hasNumber = false;
const lacks = (code) => {
  let isMissing = false;
  hasNumber = false;
  for (let from = 0; from <= code.length; ) {
    const hyphen = indexOf(code, "-", from);
    const end = hyphen < 0 ? code.length : hyphen;
    const part = trim(slice(code, from, end));
    const value = run(part);
    if (isNothing(value)) isMissing = true;
    else if (typeof value === "number" && execute(LITERAL, part) === null) hasNumber = true;
    from = end + 1;
  }
  return isMissing;
};
// Codes that do not compile, so that each is tried once and not in every row.
const unreadable = { __proto__: null };
// Hazard: to JavaScript `first-name` is a subtraction, and `Middle Name` does not compile. Both are what an author calls a
// field, so data without it would print NaN or refuse the document. Such a text is an expression only if it has a value.
const named = (tag) => {
  if (follow(tag)) return hit;
  const { text, code } = tag;
  // A hyphen beside a blank is a minus.
  const isMinus = indexOf(text, " -") >= 0 || indexOf(text, "- ") >= 0;
  if (code in unreadable) return missing(text);
  try {
    const value = run(code);
    if (isMinus || value === value || !lacks(code)) return value;
    // It may be a subtraction after all, of which a part is missing.
    if (hasNumber && tag.id !== undefined) warn(tag, "-");
  } catch (error) {
    if (isSyntax(error)) unreadable[code] = true;
    else if (isMinus) throw error;
  }
  return missing(text);
};
