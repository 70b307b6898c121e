// What templates of LaTeX have that pages have not: another way to escape values, and another way to write tags.
//
// Evaluated in a machine in which no template's code has run. It makes these functions, and gives the template all but the
// last of them as `latex`:
//
//   escape(value)       the value as LaTeX prints it, in text and in formulas; its line breaks are spaces, for an empty line
//                       would end the argument that it stands in
//   lines(value)        the same, with each line of it on a line of its own
//   paragraphs(value)   the same, with a paragraph for what stands between empty lines
//   formula(value)      for formulas: a number as TeX sets numbers there, anything else as upright text
//   url(value)          an address for \href and \url of hyperref
//   key(value)          a name for \label, \ref and \cite, another one for each value; a plain one stays what it is
//   prepare(text, seen)  the text as EJS shall read it: <%= … %> for each \VAR{…} that is no text itself, and no end of a tag but
//                        where one was begun; which these are is put in `seen`
(function () {
  'use strict';

  // Some are commands to LaTeX, and some are printed as other characters: quotes in any encoding, < > | in the oldest one.
  // What stands behind a line break in brackets or as a star would be taken for its option. Glyphs that exist in one kind
  // of TeX only have a name that every kind knows. What these names print in formulas is said in values.tex.
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
    '\u00a3': '\\textsterling{}',
    '\u00a5': '\\textyen{}',
    '\u00ad': '\\-',
    '\u00b0': '\\textdegree{}',
    '\u2007': '~',
    '\u2009': '\\,',
    '\u200b': '\\hspace{0pt}',
    '\u2010': '-',
    '\u2011': '\\mbox{-}',
    '\u202f': '\\,',
    '\u20ac': '\\texteuro{}',
    '\u2212': '\\textminus{}',
  };
  const SIGN =
    /[\\{},$%&#_^~<>|"'`[\]*\-\u00a0\u00a3\u00a5\u00ad\u00b0\u2007\u2009\u200b\u2010\u2011\u202f\u20ac\u2212]/g;
  const BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
  const BREAKS = /[ \t]*(?:[\n\r\v\f\u0085\u2028\u2029][ \t]*)+/g;
  // TeX refuses files that have them; what they might mean is not known.
  const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff\u200e\u200f\u2066-\u2069\ufeff]/g;
  // Fonts of TeX join these into dashes and quotes.
  const JOINED = '-,<>';
  // What TeX reads as a number stays one: lengths and coordinates are made of such values.
  const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
  // The same as people write it.
  const WRITTEN = /^[+\-\u2212]?\d(?:[\d.,\u00a0\u2009\u202f]*\d)?(?:e[+-]?\d+)?$/i;

  function signOf(sign, at, whole) {
    const isLast = at === whole.length - 1;
    // What stands beside the value joins as well. A sign by itself is an operator of formulas, one before letters is theirs.
    const isFirst = sign === '-' && at === 0;
    const made = isFirst ? (isLast ? '\\mbox{}-' : '\\mbox{}{-}') : (SIGNS[sign] ?? sign);
    const isJoined = isLast ? sign === '-' : whole[at + 1] === sign && JOINED.includes(sign);
    return isJoined ? `${made}\\mbox{}` : made;
  }

  const text = (value) => (value == undefined ? '' : String(value));

  function escape(value) {
    const whole = text(value);
    if (NUMBER.test(whole)) return whole;
    return whole.replace(BREAKS, ' ').replace(CONTROLS, '').replace(SIGN, signOf);
  }

  const lines = (value) => text(value).trim().split(BREAK).map(escape).join('\\\\ ');

  const paragraphs = (value) =>
    text(value)
      .trim()
      .split(/(?:\r\n|[\n\r\u2028])[ \t]*(?:\r\n|[\n\r\u2028])\s*|\u2029\s*/)
      .map(escape)
      .join('\\par ');

  // Behind a comma a formula has a space, but not where it is in braces.
  function formula(value) {
    const whole = text(value).trim();
    if (!WRITTEN.test(whole) && !NUMBER.test(whole)) return `\\textnormal{${escape(whole)}}`;
    const [digits, power] = whole.replace('\u2212', '-').split(/e\+?/i);
    const number = digits.replace(/,/g, '{,}').replace(/[\u00a0\u2009\u202f]/g, '\\,');
    return power === undefined ? number : `${number}\\cdot10^{${power}}`;
  }

  // hyperref takes these with a backslash for themselves, wherever the address stands.
  function url(value) {
    const whole = text(value).trim().toWellFormed();
    const isEscape = (at) => /^%[0-9a-f]{2}$/i.test(whole.slice(at, at + 3));
    return whole
      .replace(/[^\w\-.~:/?#[\]@!$&'()*+,;=]/gu, (sign, at) =>
        sign === '%' && isEscape(at) ? sign : encodeURIComponent(sign),
      )
      .replace(/[%#&_$]/g, '\\$&');
  }

  const key = (value) => text(value).replace(/[^\w:.+/-]/gu, (sign) => `*${sign.codePointAt(0).toString(16)}*`);

  // ----- Tags -----

  // Behind these an expression may begin, so that a slash begins a regular expression.
  const BEFORE_EXPRESSION = /(?:^|[=(,:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|new|void|delete))\s*$/;
  const SKIPPED = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|\/\/[^\n]*|\/\*[^]*?\*\//y;
  const EXPRESSION = /\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y;

  // Where the brace that is open before `from` is closed; -1 where it is not. Braces in texts, comments and regular
  // expressions are none, but what `${…}` has in it is code again.
  function closing(source, from) {
    // For each that is open, whether it is one of a text in backquotes.
    const open = [false];
    let isText = false;
    for (let at = from; at < source.length; at += 1) {
      const character = source[at];
      if (isText) {
        if (character === '\\') at += 1;
        else if (character === '`') isText = false;
        else if (character === '$' && source[at + 1] === '{') {
          open.push(true);
          isText = false;
          at += 1;
        }
        continue;
      }
      SKIPPED.lastIndex = EXPRESSION.lastIndex = at;
      const skipped =
        SKIPPED.exec(source) ??
        (character === '/' && BEFORE_EXPRESSION.test(source.slice(from, at)) ? EXPRESSION.exec(source) : null);
      if (skipped !== null) at += skipped[0].length - 1;
      else if (character === '`') isText = true;
      else if (character === '{') open.push(false);
      else if (character === '}') {
        isText = open.pop();
        if (open.length === 0) return at;
      }
    }
    return -1;
  }

  const VARIABLE = '\\VAR{';
  const MARK = /<%|%>|\\VAR\{/g;

  // Whether the backslash at `at` is itself the second of a line break.
  function isSecond(source, at) {
    let before = 0;
    while (source[at - 1 - before] === '\\') before += 1;
    return before % 2 === 1;
  }

  // Where the tag that begins at `at` ends; -1 where it does not. %%> in it is a text.
  function tagEnd(source, at) {
    let end = source.indexOf('%>', at + 2);
    while (end > at + 2 && source[end - 1] === '%') end = source.indexOf('%>', end + 2);
    return end === -1 ? -1 : end + 2;
  }

  // A command's name ends before the value, whatever letter that begins with.
  const NAME = /(?:^|[^\\])(?:\\\\)*\\[A-Za-z]+$/;

  // Where \VAR is no tag, as TeX would not run it either: in a comment, and where characters are printed as they are.
  const COMMENT = /(?:^|[^\\])(?:\\\\)*%/;
  const PRINTED = /\\(begin|end)\{(?:verbatim|Verbatim|BVerbatim|alltt|lstlisting|minted|comment)\*?\}/g;
  const VERB = /\\(?:verb|lstinline)\*?([^a-zA-Z\s*])([^\n]*)$/;
  const VERBS = /\\(?:verb|lstinline)\*?([^a-zA-Z\s*])[^\n]*?\1/g;

  // What `before` was for the text up to here, behind `text`, which has no tags in it.
  function contextBehind(before, text) {
    const line = text.slice(text.lastIndexOf('\n') + 1);
    const isSameLine = line.length === text.length;
    const last = [...text.matchAll(PRINTED)].at(-1);
    const begun = VERB.exec(line.replace(VERBS, ''))?.[1] ?? '';
    const isGoingOn = isSameLine && before.verb !== '' && !line.includes(before.verb);
    return {
      isComment: (isSameLine && before.isComment) || COMMENT.test(line),
      isPrinted: last === undefined ? before.isPrinted : last[1] === 'begin',
      verb: isGoingOn ? before.verb : begun,
    };
  }

  // In `seen` are put, as places in what is made, the beginnings of tags, and the first that has no end.
  function prepare(source, seen = { tags: new Set(), unclosed: null }) {
    let made = '';
    let from = 0;
    let context = { isComment: false, isPrinted: false, verb: '' };
    const passText = (to) => {
      const text = source.slice(from, to);
      context = contextBehind(context, text);
      made += text;
      from = to;
    };
    const passTag = (tag, end) => {
      const isValue = tag.startsWith('<%=');
      if (isValue && NAME.test(made.slice(-100))) made += ' ';
      const at = made.length;
      made += tag;
      from = end;
      // Behind a question mark it would be a sign of Spanish.
      if (isValue && source[end] === '`') made += '\\mbox{}';
      return at;
    };
    for (;;) {
      MARK.lastIndex = from;
      const found = MARK.exec(source);
      if (found === null) return made + source.slice(from);
      const at = found.index;
      if (found[0] === '%>') {
        const isText = source[at - 1] === '%' && at > from;
        passText(at + 2);
        if (!isText) made = `${made.slice(0, -2)}%%>`;
      } else if (found[0] === '<%') {
        const isText = source[at + 2] === '%';
        const end = isText ? at + 3 : tagEnd(source, at);
        if (end === -1) return made + source.slice(from);
        passText(isText ? end : at);
        if (!isText) passTag(source.slice(at, end), end);
      } else {
        passText(at);
        const start = at + VARIABLE.length;
        const isTag = !isSecond(source, at) && !context.isComment && !context.isPrinted && context.verb === '';
        const end = isTag ? closing(source, start) : -1;
        if (end !== -1) seen.tags.add(passTag(`<%=${source.slice(start, end)}%>`, end + 1));
        else {
          if (isTag) seen.unclosed ??= made.length;
          passText(start);
        }
      }
    }
  }

  globalThis.latex = Object.freeze({ escape, lines, paragraphs, formula, url, key });
  return { escape, prepare };
})();
