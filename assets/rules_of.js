// All rules of a style sheet or of a rule's block: also those in the blocks of its rules, and in the sheets that it imports.
function rulesOf(holder) {
  // Reading the rules of another host's sheet throws.
  try {
    return Array.from(holder.cssRules ?? []).flatMap(rule => [rule, ...rulesOf(rule.styleSheet ?? rule)]);
  } catch {
    return [];
  }
}
