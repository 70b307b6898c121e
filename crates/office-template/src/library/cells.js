// The value of a workbook's cell whose whole text is a tag: it keeps its type.

const MILLISECONDS = 86400000;

const cellOf = (value) => {
  if (value === null || value === undefined) return "null";
  if (value === true) return "true";
  if (value === false) return "false";
  if (typeof value === "number" && isFinite(value)) return TextOf(value);
  if (typeof value === "number") isWordy = true;
  return shown(value);
};
forms.cell = (tag) => cellOf(evaluate(tag));
forms.formula = (tag) => { const value = evaluate(tag); return isNothing(value) ? "null" : content("formula", [value]); };
