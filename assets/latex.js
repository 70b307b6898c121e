// What templates of LaTeX have that pages have not: another way to escape values, and another way to write tags.
//
// Evaluated in a machine in which no template's code has run. It makes these functions, and gives the template the first
// three of them as `latex`:
//
//   escape(value)       the value as LaTeX prints it; its line breaks are spaces, for an empty line would end the
//                       argument that it stands in
//   lines(value)        the same, with each line of it on a line of its own
//   paragraphs(value)   the same, with a paragraph for what stands between empty lines
//   prepare(text)       the text with <%= … %> for each \VAR{…}
(function () {
  'use strict';

  // Some are commands to LaTeX, and some are printed as other characters: quotes in any encoding, < > | in the oldest one.
  // What stands behind a line break in brackets or as a star would be taken for its option. Glyphs that exist in one kind
  // of TeX only have a name that every kind knows.
  const SIGNS = {
    '\\': '\\textbackslash{}',
    '{': '\\{',
    '}': '\\}',
    $: '\\$',
    '%': '\\%',
    '&': '\\&',
    '#': '\\#',
    _: '\\_',
    '^': '\\textasciicircum{}',
    '~': '\\textasciitilde{}',
    '<': '\\textless{}',
    '>': '\\textgreater{}',
    '|': '\\textbar{}',
    '"': '\\textquotedbl{}',
    "'": '\\textquotesingle{}',
    '`': '\\textasciigrave{}',
    '[': '{[}',
    ']': '{]}',
    '*': '{*}',
    '\u00a0': '~',
    '\u00ad': '\\-',
    '\u2007': '~',
    '\u2009': '\\,',
    '\u200b': '\\hspace{0pt}',
    '\u2010': '-',
    '\u2011': '\\mbox{-}',
    '\u202f': '\\,',
    // Numbers stand in formulas, too, where the one of texts is nothing.
    '\u2212': '{\\ifmmode-\\else\\textminus\\fi}',
  };
  const SIGN = /[\\{},$%&#_^~<>|"'`[\]*\-\u00a0\u00ad\u2007\u2009\u200b\u2010\u2011\u202f\u2212]/g;
  const BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
  const BREAKS = /[ \t]*(?:[\n\r\v\f\u0085\u2028\u2029][ \t]*)+/g;
  // TeX refuses files that have them; what they might mean is not known.
  const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff\u200e\u200f\u2066-\u2069\ufeff]/g;
  // Fonts of TeX join these into dashes and quotes.
  const JOINED = '-,<>';

  function signOf(sign, at, whole) {
    const made = SIGNS[sign] ?? sign;
    return whole[at + 1] === sign && JOINED.includes(sign) ? `${made}\\mbox{}` : made;
  }

  const text = (value) => (value == undefined ? '' : String(value));

  function escape(value) {
    return text(value)
      .replace(BREAKS, ' ')
      .replace(CONTROLS, '')
      .replace(SIGN, signOf);
  }

  const lines = (value) => text(value).trim().split(BREAK).map(escape).join('\\\\ ');

  const paragraphs = (value) =>
    text(value)
      .trim()
      .split(/(?:\r\n|[\n\r\u2028])[ \t]*(?:\r\n|[\n\r\u2028])\s*|\u2029\s*/)
      .map(escape)
      .join('\\par ');

  // Where the brace that is open at `from` is closed; -1 where it is not. Braces in texts of the expression do not count.
  function closing(source, from) {
    let depth = 1;
    let quote = '';
    for (let at = from; at < source.length; at += 1) {
      const character = source[at];
      if (quote !== '') {
        if (character === '\\') at += 1;
        else if (character === quote) quote = '';
      } else if (character === '"' || character === "'" || character === '`') quote = character;
      else if (character === '{') depth += 1;
      else if (character === '}') {
        depth -= 1;
        if (depth === 0) return at;
      }
    }
    return -1;
  }

  const VARIABLE = '\\VAR{';

  // Whether the backslash at `at` is itself the second of a line break.
  function isSecond(source, at) {
    let before = 0;
    while (source[at - 1 - before] === '\\') before += 1;
    return before % 2 === 1;
  }

  function prepare(source) {
    let made = '';
    let from = 0;
    let at = source.indexOf(VARIABLE);
    while (at !== -1) {
      const tag = source.indexOf('<%', from);
      if (tag !== -1 && tag < at) {
        const end = source.indexOf('%>', tag + 2);
        if (end === -1) break;
        made += source.slice(from, end + 2);
        from = end + 2;
        if (at < from) at = source.indexOf(VARIABLE, from);
        continue;
      }
      const start = at + VARIABLE.length;
      const end = isSecond(source, at) ? -1 : closing(source, start);
      if (end === -1) {
        made += source.slice(from, start);
        from = start;
      } else {
        made += `${source.slice(from, at)}<%=${source.slice(start, end)}%>`;
        from = end + 1;
      }
      at = source.indexOf(VARIABLE, from);
    }
    return made + source.slice(from);
  }

  globalThis.latex = Object.freeze({ escape, lines, paragraphs });
  return { escape, prepare };
})();
