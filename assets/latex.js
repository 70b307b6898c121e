// What templates of LaTeX have that pages have not: another way to escape values, and another way to write tags.
//
// Evaluated in an engine in which no template's code has run, and called with the name of the program that reads the LaTeX,
// `tex` or `pandoc`. It makes these functions, and gives the template all but the last of them as `latex`:
//
//   escape(value)       the value as LaTeX prints it, in text and in formulas; line breaks become spaces, for an empty
//                       line would end the argument around it
//   lines(value)        the same, with each line of it on a line of its own
//   paragraphs(value)   the same, with a paragraph for each part between empty lines
//   formula(value)      for formulas: a number as TeX sets numbers there, anything else as upright text
//   url(value)          an address for \href and \url of hyperref
//   index(value)        an entry of \index
//   key(value)          a name for \label, \ref and \cite, a different one for each value; a plain one is unchanged
//   prepare(text, seen)  the text for EJS: each \VAR{…} that is not printed as text becomes <%= … %>, and a %> that
//                        ends no tag is escaped; `seen` gets the places of the former
(function (reader) {
  'use strict';

  // Commands to LaTeX, and what pandoc turns into typographic quotes. A bracket or star after a line break would be read as
  // its option.
  const COMMANDS = {
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
    '"': '\\textquotedbl{}',
    "'": '\\textquotesingle{}',
    '[': '{[}',
    ']': '{]}',
    '*': '{*}',
    '\u00a0': '~',
  };
  const SIGNS = {
    // Some print as other characters: quotes in any encoding, < > | in the oldest (OT1). Glyphs that only one kind of TeX
    // has are written by names that every kind knows; values.tex defines what these print in formulas.
    tex: {
      ...COMMANDS,
      '<': '\\textless{}',
      '>': '\\textgreater{}',
      '|': '\\textbar{}',
      '`': '\\textasciigrave{}',
      '\u00a3': '\\textsterling{}',
      '\u00a5': '\\textyen{}',
      '\u00ad': '\\-',
      '\u00b0': '\\textdegree{}',
      '\u2000': '\\hspace{.5em}',
      '\u2001': '\\hspace{1em}',
      '\u2002': '\\hspace{.5em}',
      '\u2003': '\\hspace{1em}',
      '\u2004': '\\hspace{.333em}',
      '\u2005': '\\hspace{.25em}',
      '\u2006': '\\hspace{.167em}',
      '\u2007': '~',
      '\u2008': '\\hspace{.25em}',
      '\u2009': '\\hspace{.167em}',
      '\u200a': '\\hspace{.1em}',
      '\u200b': '\\hspace{0pt}',
      '\u2010': '-',
      '\u2011': '\\mbox{-}',
      '\u202f': '\\mbox{\\hspace{.167em}}',
      '\u205f': '\\hspace{.222em}',
      '\u20ac': '\\texteuro{}',
      '\u2212': '\\textminus{}',
    },
    // Hazard: pandoc drops a command that it does not know, and the character with it. It reads characters themselves, so
    // only LaTeX's own are written by names, which it or prelude.tex knows; formulas.lua says them in formulas. There |
    // would be more than a sign. An accent on nothing is a backquote.
    pandoc: { ...COMMANDS, '|': '\\textbar{}', '`': '\\`{}' },
  }[reader];
  const SIGN =
    /[\\{},$%&#_^~<>|"'`[\]*\-\u00a0\u00a3\u00a5\u00ad\u00b0\u2000-\u200b\u2010\u2011\u202f\u205f\u20ac\u2212]/g;
  const BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
  const BREAKS = /[ \t]*(?:[\n\r\v\f\u0085\u2028\u2029][ \t]*)+/g;
  // TeX refuses files that have these, and no HTML or Word document may have most of them, so they are dropped. What only
  // directs other characters (U+200E, U+2060) means nothing to TeX.
  const CONTROLS = {
    tex: /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g,
    pandoc: /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff\ufeff]/g,
  }[reader];
  // Fonts of TeX join these into dashes and quotes.
  const JOINED = '-,<>';
  // What TeX reads as a number is not escaped: templates make lengths and coordinates of such values.
  const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
  // A number as people write it.
  const WRITTEN = /^[+\-\u2212]?\d(?:[\d.,\u00a0\u2009\u202f]*\d)?(?:e[+-]?\d+)?$/i;

  function signOf(sign, at, whole) {
    const isLast = at === whole.length - 1;
    // A hyphen at either end could join with the text beside the value. Alone it stays an operator in formulas; before
    // other signs it is braced and is none.
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

  // Where lines are centred or flush, a line break ends a paragraph, and a second one behind it is an error of TeX. So an empty
  // line has an empty box.
  const line = (value, at) => (at > 0 && value.trim() === '' ? '\\mbox{}' : escape(value));
  const lines = (value) => text(value).trim().split(BREAK).map(line).join('\\\\ ');

  const paragraphs = (value) =>
    text(value)
      .trim()
      .split(/(?:\r\n|[\n\r\u2028])[ \t]*(?:\r\n|[\n\r\u2028])\s*|\u2029\s*/)
      .map(escape)
      .join('\\par ');

  // What formulas have for a space: they set none for a space itself.
  const SPACE = { tex: '\\,', pandoc: '$&' }[reader];

  // In formulas TeX sets a space after a comma, but not after one in braces.
  function formula(value) {
    const whole = text(value).trim();
    if (!WRITTEN.test(whole) && !NUMBER.test(whole)) return `\\textnormal{${escape(whole)}}`;
    const [digits, power] = whole.replace('\u2212', '-').split(/e\+?/i);
    const number = digits.replace(/,/g, '{,}').replace(/[\u00a0\u2009\u202f]/g, SPACE);
    return power === undefined ? number : `${number}\\cdot10^{${power}}`;
  }

  // With a backslash hyperref takes these signs literally, also where the address is within an argument.
  function url(value) {
    const whole = text(value).trim().toWellFormed();
    const isEscape = (at) => /^%[0-9a-f]{2}$/i.test(whole.slice(at, at + 3));
    return whole
      .replace(/[^\w\-.~:/?#[\]@!$&'()*+,;=]/gu, (sign, at) =>
        sign === '%' && isEscape(at) ? sign : encodeURIComponent(sign),
      )
      .replace(/[%#&_$]/g, '\\$&');
  }

  // \index reads braces as they are written, so they must pair; makeindex takes ! and @ as its own unless a quote stands before.
  const BRACES = { '\\{': '\\textbraceleft{}', '\\}': '\\textbraceright{}' };
  const index = (value) =>
    escape(value).replace(/\\[{}]/g, (brace) => BRACES[brace]).replace(/[!@]/g, '"$&');

  const key = (value) => text(value).replace(/[^\w:.+/-]/gu, (sign) => `*${sign.codePointAt(0).toString(16)}*`);

  // ----- Tags -----

  // After these an expression may begin, so a slash there begins a regular expression.
  const BEFORE_EXPRESSION = /(?:^|[=(,:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|new|void|delete))\s*$/;
  const SKIPPED = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|\/\/[^\n]*|\/\*[^]*?\*\//y;
  const EXPRESSION = /\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y;

  // Where the brace that is open before `from` is closed; -1 where it is not. Braces in texts, comments and regular
  // expressions do not count, but the content of `${…}` is code again.
  function closing(source, from) {
    // For each open brace, whether it is the `${` of a text in backquotes.
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

  // Where the tag that begins at `at` ends; -1 where it does not. %%> is no end.
  function tagEnd(source, at) {
    let end = source.indexOf('%>', at + 2);
    while (end > at + 2 && source[end - 1] === '%') end = source.indexOf('%>', end + 2);
    return end === -1 ? -1 : end + 2;
  }

  // A command's name at the end of a text. A value that begins with a letter would lengthen it: a space is put between.
  const NAME = /(?:^|[^\\])(?:\\\\)*\\[A-Za-z]+$/;

  // \VAR is no tag where TeX would not run it either: in a comment, and where text is printed verbatim.
  const COMMENT = /(?:^|[^\\])(?:\\\\)*%/;
  const PRINTED = /\\(begin|end)\{(?:verbatim|Verbatim|BVerbatim|alltt|lstlisting|minted|comment)\*?\}/g;
  const VERB = /\\(?:verb|lstinline)\*?([^a-zA-Z\s*])([^\n]*)$/;
  const VERBS = /\\(?:verb|lstinline)\*?([^a-zA-Z\s*])[^\n]*?\1/g;

  // The context after `text`, which has no tags in it, if it was `before` in front of it.
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

  // Puts into `seen`, as places in the result, where tags by \VAR begin, and the first that has no end.
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
      // After a value that ends in a question mark it would print the Spanish opening one (?`).
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

  globalThis.latex = Object.freeze({ escape, lines, paragraphs, formula, url, index, key });
  return { escape, prepare };
});
