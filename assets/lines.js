// Records which line of which template file wrote each piece of the output: TeX reports lines of the whole output, and
// a template's author needs the line of a file.
//
// Evaluated in an engine in which no template's code has run. Generated code passes the line of each piece to the call
// that appends it: the line that EJS itself tracks is wrong where a loop begins again (it is the end of the turn
// before). An append keeps only a number, and only for the first piece of a line; lines of the output are worked out
// elsewhere, and only if TeX reports something. It makes these functions:
//
//   appended(scan)                EJS' `scanLine`, with the line in each append: `7`, or `-7` for a value that may have
//                                 lines of its own
//   made(parameters, code, name)  the function of a template's code, which keeps notes
//   notes()                       of the last page: the JSON of the files' paths, a line break, and pairs of numbers:
//                                 where a piece begins (in UTF-16), and twice the sum of its line and its file's number
//                                 times LINES_LIMIT, plus 1 for a value
(function () {
  'use strict';

  const { create } = Object;
  const { stringify } = JSON;
  const uncurried = (method) => Function.prototype.call.bind(method);
  const indexOf = uncurried(String.prototype.indexOf);
  const replace = uncurried(String.prototype.replace);
  const slice = uncurried(String.prototype.slice);
  const trim = uncurried(String.prototype.trim);
  const join = uncurried(Array.prototype.join);

  // Most notes of a page. Text behind the last one has no known line.
  const NOTES_LIMIT = 100_000;
  // Most includes whose output is still to be found in a piece, and most failed searches in one piece.
  const WAITING_LIMIT = 2_000;
  const MISSES_LIMIT = 8;
  const LINES_LIMIT = 2 ** 21;
  const UNKNOWN = 0;

  // ----- While a template is compiled -----

  const APPEND = '    ; _$append(';

  function appended(scan) {
    return function (token) {
      const { truncate, currentLine: line } = this;
      const from = this.source.length;
      scan.call(this, token);
      const made = slice(this.source, from);
      if (!made.startsWith(APPEND)) {
        // Behind code the piece before is not known: code may branch.
        if (made !== '') this.last = 0;
        return;
      }
      const isRaw = this.mode === 'raw';
      // A function that is called may have appended pieces of other lines.
      const isCall = this.mode === 'escaped' && token.includes('(');
      const cut = truncate && !this.mode ? (/^\r?\n/.exec(token)?.[0].length ?? 0) : 0;
      const at = line + (cut > 0 ? 1 : 0);
      // The piece ends on another line than it begins, and a loop may append the same piece next: that must be noted.
      const isLong = !this.mode && token.includes('\n', cut);
      const isKnown = !isRaw && !isCall && !isLong && this.last === at;
      this.last = isRaw || isCall || isLong ? 0 : at;
      if (isKnown) return;
      const noted = isRaw ? -at : at;
      // Where a token has line breaks, EJS writes the line of the next one behind the call.
      const behind = this.currentLine === line ? '' : `    ; _$line = ${this.currentLine}\n`;
      const call = made.slice(0, made.length - behind.length - ')\n'.length);
      this.source = `${this.source.slice(0, from)}${call},${noted})${isLong ? ', _$at = 0' : ''}\n${behind}`;
    };
  }

  // ----- While it runs -----

  const PLAIN = '  var _$escape = escapeFn, __append = _$append; function _$append(s) { if (s !== undefined && s !== null) __output += s }\n';
  const NOTING =
    '  var _$at = 0, _$escape = escapeFn, __append = _$append; function _$append(s, at) { if (s !== undefined && s !== null) { ' +
    'if (at && at !== _$at) _$at = __note(__output.length, at, s); __output += s } }\n';

  const paths = [];
  const numbers = create(null);
  let left = NOTES_LIMIT;
  // Of the template that runs: {notes, waiting: the output of its includes, outer}.
  let run = null;
  let page = [];

  function add(notes, at, origin) {
    if (left === 0) return;
    left -= 1;
    const { length } = notes;
    notes[length] = at;
    notes[length + 1] = left === 0 ? UNKNOWN : origin;
  }

  // Takes over the notes of the includes whose output is in `text`, which is appended at `at`.
  function take(own, text, at, origin) {
    const { waiting } = own;
    const kept = [];
    let misses = 0;
    let from = 0;
    for (let next = 0; next < waiting.length; next += 1) {
      const { made, notes } = waiting[next];
      const isAll = made === text;
      const bare = isAll ? made : trim(made);
      const found = isAll ? 0 : bare !== '' && misses < MISSES_LIMIT ? indexOf(text, bare, from) : -1;
      if (found === -1) {
        misses += 1;
        kept[kept.length] = waiting[next];
        continue;
      }
      const shift = isAll ? 0 : found - indexOf(made, bare);
      for (let note = 0; note < notes.length; note += 2) {
        const place = notes[note] + shift;
        add(own.notes, at + (place < from ? from : place), notes[note + 1]);
      }
      from = found + bare.length;
      add(own.notes, at + from, origin);
    }
    own.waiting = kept;
  }

  function numberOf(path) {
    if (!(path in numbers)) {
      numbers[path] = paths.length;
      paths[paths.length] = path;
    }
    return numbers[path];
  }

  function made(parameters, code, name) {
    const work = new Function(`${parameters}, __note`, replace(code, PLAIN, NOTING));
    const base = numberOf(slice(name, 1)) * LINES_LIMIT * 2;
    return function (locals, escape, include, rethrow) {
      const own = { notes: [], waiting: [], outer: run };
      const { notes } = own;
      const note = (at, line, text) => {
        if (line > 0) {
          add(notes, at, base + line * 2);
          return line;
        }
        add(notes, at, base - line * 2 + 1);
        if (own.waiting.length > 0 && typeof text === 'string') take(own, text, at, base - line * 2 + 1);
        return 0;
      };
      run = own;
      try {
        const text = work.call(this, locals, escape, include, rethrow, note);
        const { outer } = own;
        if (outer === null) {
          page = notes;
        } else if (typeof text === 'string' && outer.waiting.length < WAITING_LIMIT) {
          outer.waiting[outer.waiting.length] = { made: text, notes };
        }
        return text;
      } finally {
        run = own.outer;
      }
    };
  }

  const notes = () => `${stringify(paths)}\n${join(page, ' ')}`;

  return { appended, made, notes };
})
