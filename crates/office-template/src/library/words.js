// Whether the data have a word that may say that something went wrong, for programs that compute and for data that may have one.

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
isHeld = (word) => {
  if (word in held) return held[word];
  let root = scope;
  while (root.outer !== null) root = root.outer;
  // The data may be a circle by now: expressions can change them.
  try { return (held[word] = holds(root.item, word)); } catch { return (held[word] = false); }
};
