// What templates of LaTeX have that pages have not: another way to escape values, and another way to write tags.
//
// Evaluated in a machine in which no template's code has run. It makes these functions, and gives the template the first
// three of them as `latex`:
//
//   escape(value)       the value as LaTeX prints it; its line breaks are spaces, for an empty line would end the
//                       argument that it stands in
//   lines(value)        the same, with each line of it on a line of its own
//   paragraphs(value)   the same, with a paragraph for what stands between empty lines
//   prepare(text, seen)  the text with <%= … %> for each \VAR{…} that is no text itself; which these are
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

  // Where \VAR is no tag, as TeX would not run it either: in a comment, and where characters are printed as they are.
  const COMMENT = /(?:^|[^\\])(?:\\\\)*%/;
  const PRINTED = /\\(begin|end)\{(?:verbatim|Verbatim|BVerbatim|alltt|lstlisting|minted|comment)\*?\}/g;
  const VERB = /\\(?:verb|lstinline)\*?([^a-zA-Z\s*])([^\n]*)$/;

  // What `before` was for the text up to here, behind `text`, which has no tags in it.
  function contextBehind(before, text) {
    const line = text.slice(text.lastIndexOf('\n') + 1);
    const isComment = (before.isComment && line.length === text.length) || COMMENT.test(line);
    const last = [...text.matchAll(PRINTED)].at(-1);
    const [, sign, rest] = VERB.exec(line) ?? [];
    return {
      isComment,
      isPrinted: last === undefined ? before.isPrinted : last[1] === 'begin',
      isVerb: sign !== undefined && !rest.includes(sign),
    };
  }

  // In `seen` are put, as places in what is made, the beginnings of tags, and the first that has no end.
  function prepare(source, seen = { tags: new Set(), unclosed: null }) {
    let made = '';
    let from = 0;
    let context = { isComment: false, isPrinted: false, isVerb: false };
    const pass = (to) => {
      const text = source.slice(from, to);
      context = contextBehind(context, text);
      made += text;
      from = to;
    };
    let at = source.indexOf(VARIABLE);
    while (at !== -1) {
      const tag = source.indexOf('<%', from);
      if (tag !== -1 && tag < at) {
        const end = source.indexOf('%>', tag + 2);
        if (end === -1) break;
        pass(tag);
        made += source.slice(tag, end + 2);
        from = end + 2;
        if (at < from) at = source.indexOf(VARIABLE, from);
        continue;
      }
      pass(at);
      const start = at + VARIABLE.length;
      const isTag = !isSecond(source, at) && !context.isComment && !context.isPrinted && !context.isVerb;
      const end = isTag ? closing(source, start) : -1;
      if (end === -1) {
        if (isTag) seen.unclosed ??= made.length;
        pass(start);
      } else {
        seen.tags.add(made.length);
        made += `<%=${source.slice(start, end)}%>`;
        from = end + 1;
      }
      at = source.indexOf(VARIABLE, from);
    }
    return made + source.slice(from);
  }

  globalThis.latex = Object.freeze({ escape, lines, paragraphs });
  return { escape, prepare };
})();
