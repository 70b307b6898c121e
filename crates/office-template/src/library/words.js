// Words that say that something went wrong, for programs that compute and for data that may have one.

// What JavaScript prints for a value that is none, and what data have that may well say it, with a capital or without.
const WRONG = ["NaN", "Infinity", "undefined", "[object "];
const GIVEN = ["NaN", "nfinity", "ndefined", "[object "];
const ALONE = /^"(?:NaN"$|-?Infinity"$|undefined"$|\[object )/;
// Longer texts are pictures and the like, in which any word may be by accident.
const LONGEST_WORDY = 1000;
// Whether the data, or the names in them, have this word: then it is no accident.
const holds = (value, word) => {
  if (typeof value === "string") return value.length <= LONGEST_WORDY && indexOf(value, word) >= 0;
  if (!isObject(value) || typeof value === "function") return false;
  const keys = ownKeys(value);
  for (let index = 0; index < keys.length; index += 1) {
    if (typeof keys[index] === "string" && (indexOf(keys[index], word) >= 0 || holds(value[keys[index]], word))) return true;
  }
  return false;
};
// The words that the data have, each looked for once: a walk through all data for each row would take the square of their number.
const held = { __proto__: null };
const isHeld = (word) => {
  if (word in held) return held[word];
  let root = scope;
  while (root.outer !== null) root = root.outer;
  // The data may be a circle by now: expressions can change them.
  try { return (held[word] = holds(root.item, word)); } catch { return (held[word] = false); }
};
// Whether the author wrote this word.
const isWritten = ({ whole, terms }, word) => {
  if (indexOf(whole, word) >= 0) return true;
  for (let index = 0; index < terms.length; index += 1) if (indexOf(terms[index].whole, word) >= 0) return true;
  return false;
};
seen = (tag, out) => {
  if (odd !== null) warn(tag, WRONG[odd === odd ? 1 : 0]);
  const isAlone = out[0] === '"' && execute(ALONE, out) !== null;
  if (tag.id in warned || (!isAlone && (!tag.computes || startsWith(out, '{"image"')))) return out;
  for (let index = 0; index < WRONG.length; index += 1) {
    if (indexOf(out, WRONG[index]) >= 0 && !isWritten(tag, GIVEN[index]) && (isAlone || !isHeld(GIVEN[index]))) warn(tag, WRONG[index]);
  }
  return out;
};
