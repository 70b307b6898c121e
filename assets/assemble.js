// Renders one template with EJS inside the assembling child, and locates errors in the template's files.
//
// Evaluated once, before the job arrives. `host` has the npm package's two modules as functions. A running template
// cannot ask the service for a file: includes are given beforehand (`give`). A run that includes a file not given yet
// is void: it is repeated with that file. These functions are returned; arguments and results are strings and numbers:
//
//   setLanguage(language)    for templates that are not HTML: how values are escaped and template texts are read
//                            (latex.js), and what records the origin of output lines (lines.js)
//   begin(job)               the JSON of the entry's path, of all paths, of the limits, of the process' time zone
//   give(path, text, script) a file's text (undefined: it is not text) and its cached script, '' for none
//   mentioned()              the JSON of the paths that the given files include by a literal and that are not there
//   assemble(data)           one character, then: 'p' a page, which `part` gives; 'w' the run is void, the JSON of the
//                            missing paths; 'l' the page is too large; 'd' includes are nested too deep, a sentence;
//                            'b' what is wrong with the data; 'f' an error of the template, a sentence; 'm' the same
//                            where an allocation failed
//   part(at)                 the page from `at` on, not all of it at once; '' at its end
//   report()                 the JSON of {generated: how many scripts EJS generated, included: paths}
//   compile(files, time)     the JSON of scripts for the JSON of [[path, text], …]
//   inspect(path)            of a given file, without running it: the JSON of {tags, fault, source: what EJS generates}
//   resolve(path, from)      the JSON of {path, exists, isGiven}: the file that `from` includes by this path
//   lineOf(lines, at)        the template's line of a line of what EJS generated of it
(function (host) {
  'use strict';

  // A template can overwrite every built-in. Whether its run is void, and the report, must not depend on that: they use
  // these copies and objects without a prototype.
  const uncurried = (method) => Function.prototype.call.bind(method);
  const { parse, stringify } = JSON;
  const { create, defineProperty, keys } = Object;
  const { unscopables } = Symbol;
  const slice = uncurried(String.prototype.slice);
  const codeAt = uncurried(String.prototype.charCodeAt);
  const wellFormed = uncurried(String.prototype.toWellFormed);
  const normalize = uncurried(String.prototype.normalize);

  const SENTENCE_LIMIT = 1500;
  const CHAIN_LIMIT = 8;
  const PART_LENGTH = 1 << 20;
  // In a void run a missing include renders as nothing, and a loop that waits for its effect would never end: the run
  // stops after this many renders.
  const VOID_CALLS_LIMIT = 1000;

  // The template's files by absolute path ('/index.html'), and those that were given: {text, script, seen}.
  let job = null;
  const files = create(null);
  const given = create(null);
  const included = create(null);
  // Paths that the run included and that were not given; null as long as the run is valid.
  let wanted = null;
  let voidCalls = 0;
  let page = '';
  // How many scripts EJS generated here; cached ones are not counted.
  let generated = 0;
  // True while scripts are generated for later jobs: none is run.
  let ahead = false;
  let depth = 0;
  // {escape, prepare, lines}; null for HTML. Without `lines` the origin of output lines is not recorded.
  let language = null;
  // By the text that EJS reads: which of its tags were written as \VAR{…}, as `prepare` of latex.js notes it.
  const written = new Map();
  // The template that EJS compiles at this moment: {name, text}.
  let compiling = null;
  // The last error seen and the places it came through, innermost first: {error, message, places}.
  let fault = null;
  let tooDeep = null;

  const path = {
    resolve(...parts) {
      const kept = [];
      for (const part of parts) {
        if (part.startsWith('/')) kept.length = 0;
        for (const name of part.split('/')) {
          if (name === '..') kept.pop();
          else if (name !== '' && name !== '.') kept.push(name);
        }
      }
      return '/' + kept.join('/');
    },
    dirname: (name) => name.slice(0, Math.max(name.lastIndexOf('/'), 1)),
    basename(name, ending) {
      const base = name.slice(name.lastIndexOf('/') + 1);
      return ending && base !== ending && base.endsWith(ending) ? base.slice(0, -ending.length) : base;
    },
    extname(name) {
      const base = name.slice(name.lastIndexOf('/') + 1);
      const dot = base.lastIndexOf('.');
      return dot > 0 ? base.slice(dot) : '';
    },
  };

  // Names may differ from those of the files in Unicode normalisation: macOS packs them decomposed. The service finds such a
  // file, so it is asked for by the name that the template wrote.
  let composed = null;
  function exists(name) {
    if (name in files) return true;
    if (composed === null) {
      composed = create(null);
      for (const file in files) composed[normalize(file)] = true;
    }
    return normalize(name) in composed;
  }

  const fs = {
    existsSync: exists,
    readFileSync(name) {
      if (!exists(name)) throw new Error(`the template has no file '${name.slice(1)}' to include`);
      included[name] = true;
      const file = given[name];
      if (file !== undefined) {
        if (file.text === undefined) throw new Error('the included file is no text');
        return file.text;
      }
      wanted ??= create(null);
      wanted[name] = true;
      return '';
    },
  };

  // Where an error was: kept beside it, so that the template's own `catch` sees the error untouched.
  function place(error, name, line) {
    if (fault === null || !Object.is(fault.error, error)) {
      fault = { error, message: messageOf(error), places: [] };
    }
    fault.places.push({ name: name.slice(1), line });
  }

  function messageOf(error) {
    if (error === null || error === undefined) return null;
    let message;
    try {
      message = typeof error === 'object' && 'message' in error ? String(error.message) : String(error);
    } catch {
      message = 'an error that cannot be told';
    }
    return inKnownWords(message);
  }

  // ----- The engine's faults in the words that template authors know -----

  // The last name of an expression: the member that was read or set.
  function lastName(expression) {
    const member = /\.([\p{ID_Start}$_][\p{ID_Continue}$]*)$/u.exec(expression);
    const element = /\[(?:'([^']*)'|"([^"]*)"|(\d+))\]$/.exec(expression);
    return member ? member[1] : element ? element[1] ?? element[2] ?? element[3] : null;
  }

  function noObject(what, expression) {
    const each = /^[^.[(]+ of (.+)$/.exec(expression);
    if (each) return `${each[1]} is not iterable`;
    const assigned = /^([\p{ID_Continue}$.[\]'"]+)\s*[+\-*/%&|^?]{0,3}=(?![=>])/u.exec(expression);
    const name = lastName(assigned ? assigned[1] : expression);
    const verb = assigned ? ['set', 'setting'] : ['read', 'reading'];
    const detail = name === null ? '' : ` (${verb[1]} '${name}')`;
    return `Cannot ${verb[0]} properties of ${what}${detail} in '${expression}'`;
  }

  const WORDS = [
    [/^Can't find variable: (.+)$/, (name) => `'${name}' is not defined`],
    [/^(undefined|null) is not an object \(evaluating '([^]+)'\)$/, noObject],
    [/^([^]+) is not a function\. \(In '[^]+' is [^]*\)$/, (name) => `${name} is not a function`],
    [/^undefined is not a function \(near '\.\.\.[^]* of ([^]+)\.\.\.'\)$/, (name) => `${name} is not iterable`],
    [/^[^]+ is not a constructor \(evaluating 'new ([^(]+)[^]*'\)$/, (name) => `${name} is not a constructor`],
    [/^Right side of assignment cannot be destructured$/, () => 'Cannot destructure what is undefined or null'],
    [/^Cannot access uninitialized variable\.$/, () => 'Cannot access a variable before its initialization'],
    [/^Maximum call stack size exceeded\.$/, () => 'Maximum call stack size exceeded'],
    [/^JSON\.stringify cannot serialize cyclic structures\.$/, () => 'Converting circular structure to JSON'],
    [/^Out of memory: BigInt generated/, () => 'Maximum BigInt size exceeded'],
  ];

  function inKnownWords(message) {
    for (const [pattern, words] of WORDS) {
      const match = pattern.exec(message);
      if (match) return words(match[1], match[2]);
    }
    return message;
  }

  // Excluded from `with (locals)`: data with members of these names would replace the script's own (RENAMED, build.rs).
  const OWN = { __proto__: null, value: { __proto__: null, _$append: true, _$escape: true, _$line: true, _$at: true } };

  // Replaces `Function` inside EJS, which compiles a template's code with it: so syntax errors can be located in the
  // code, and the error handler passed to it is ours.
  function TemplateFunction(parameters, code) {
    if (code === undefined) return new Function(parameters);
    // The code is not even parsed: a text may close the function that it is put into and continue outside of it.
    if (ahead) return quiet;
    const { name, text } = compiling;
    let run;
    try {
      run = language?.lines ? language.lines.made(parameters, code, name) : new Function(parameters, code);
    } catch (error) {
      const found = locateSyntax(error, code, text);
      fault = { error, message: found.message, places: [{ name: name.slice(1), line: found.line }] };
      throw error;
    }
    function rethrow(error, lines, filename, line) {
      const first = fault === null || !Object.is(fault.error, error);
      place(error, filename, first ? lineInTag(error, code, line) : line);
      throw error;
    }
    return function (locals, escape, include) {
      defineProperty(locals, unscopables, OWN);
      try {
        return run.call(this, locals, escape, include, rethrow);
      } catch (error) {
        try {
          tellNames(error, locals);
        } catch {
          // The template has broken a function that is used there.
        }
        throw error;
      }
    };
  }

  // ----- The names that exist, for one that does not -----

  const UNDEFINED_NAME = /^'([^']{1,64})' is not defined$/;
  // More names are not compared, and more are not told.
  const COMPARED_NAMES = 200;
  const TOLD_NAMES = 5;
  // Other keys are no names, and may be what nobody should see in an error, such as addresses.
  const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]{0,39}$/u;

  function tellNames(error, data) {
    if (fault === null || !Object.is(fault.error, error) || fault.message === null) return;
    const [, unknown] = UNDEFINED_NAME.exec(fault.message) ?? [];
    if (unknown === undefined) return;
    const names = keys(data).slice(0, COMPARED_NAMES).filter((name) => NAME.test(name));
    const near = names.map((name) => ({ name, distance: distance(unknown.toLowerCase(), name.toLowerCase()) }));
    near.sort((one, other) => one.distance - other.distance);
    const told = near.slice(0, TOLD_NAMES).map(({ name }) => name);
    if (told.length > 0) fault.message += `; the data has ${told.join(', ')}${names.length > told.length ? ', …' : ''}`;
  }

  // How many letters must be changed, added or left out (Levenshtein).
  function distance(one, other) {
    let row = Array.from({ length: other.length + 1 }, (_, at) => at);
    for (let from = 1; from <= one.length; from += 1) {
      const next = [from];
      for (let to = 1; to <= other.length; to += 1) {
        const changed = row[to - 1] + (one[from - 1] === other[to - 1] ? 0 : 1);
        next.push(Math.min(changed, row[to] + 1, next[to - 1] + 1));
      }
      row = next;
    }
    return row[other.length];
  }

  // ----- From generated code to the template's lines -----

  // `Function` puts two lines of its own before the body.
  const LINES_BEFORE_BODY = 2;
  const TOKEN = '    ; ';
  const MARKER = /^    ; _\$line = (\d+)$/;
  const END_OF_TEMPLATE = '  return __output;';

  // The line of a template's code where `error` arose, from 0, or -1. `error.line` belongs to the innermost frame that
  // is no native one. Code made by `Function` (a template's) has a frame without address, our own scripts have one.
  function codeLine(error) {
    if (error === null || typeof error !== 'object' || typeof error.line !== 'number') return -1;
    const innermost = String(error.stack).split('\n').find((frame) => !frame.endsWith('@[native code]'));
    return innermost !== undefined && innermost.endsWith('@') ? syntaxLine(error) : -1;
  }

  // The same for a syntax error, whose code was never run.
  function syntaxLine(error) {
    return typeof error.line === 'number' ? error.line - 1 - LINES_BEFORE_BODY : -1;
  }

  // The template's line of a line of the code; null behind the template's end.
  function templateLine(lines, at) {
    if (at < 0 || at >= lines.lastIndexOf(END_OF_TEMPLATE) - 1) return null;
    let token = at;
    while (token > 0 && !lines[token].startsWith(TOKEN)) token -= 1;
    // For some instructions the engine gives only the line where the enclosing block begins, before the first tag.
    if (!lines[token].startsWith(TOKEN)) return null;
    for (let line = token; line >= 0; line -= 1) {
      const marker = MARKER.exec(lines[line]);
      if (marker) return { start: Number(marker[1]), line: Number(marker[1]) + at - token };
    }
    return { start: 1, line: 1 + at - token };
  }

  // EJS gives the line where a tag begins; in a tag of several lines the engine's own is more exact.
  function lineInTag(error, code, line) {
    const found = templateLine(code.split('\n'), codeLine(error));
    return found !== null && found.start === line ? found.line : line;
  }

  function locateSyntax(error, code, text) {
    const message = messageOf(error);
    const inExpression = badExpression(text);
    if (inExpression !== null) return inExpression;
    const lines = code.split('\n');
    const at = syntaxLine(error);
    const found = templateLine(lines, at);
    const bracket = badBracket(lines);
    // The engine may report a wrong bracket only later, at a token that is correct.
    if (bracket !== null && (found === null || bracket.at <= at)) return bracket;
    return { line: found === null ? text.split('\n').length : found.line, message };
  }

  // The tags of a template in order: {open, code, line, closed, shown}.
  function* tags(text) {
    const tokens = new ejs.Template(text, Object.create(null)).parseTemplateText();
    const variables = written.get(text)?.tags;
    let line = 1;
    let begin = 0;
    for (let at = 0; at < tokens.length; at += 1) {
      const open = tokens[at];
      if (open.startsWith('<%') && open !== '<%%') {
        const closed = /^[-_]?%>$/.test(tokens[at + 2]);
        const code = tokens[at + 1] || '';
        yield { open, code, line, closed, shown: variables?.has(begin) ? `\\VAR{${code}}` : `${open}${code}%>` };
      }
      begin += open.length;
      line += open.split('\n').length - 1;
    }
  }

  // Each expression is compiled by itself: within the whole script the engine would report the code after a bad one.
  function badExpression(text) {
    for (const tag of tags(text)) {
      if (tag.open !== '<%=' && tag.open !== '<%-') continue;
      const code = tag.code.replace(/;(\s*$)/, '$1');
      try {
        new Function(`return (${code}\n)`);
      } catch (error) {
        const last = code.split('\n').length - 1;
        const inside = Math.min(Math.max(syntaxLine(error), 0), last);
        return { line: tag.line + inside, message: `${messageOf(error)} in '${short(tag.shown)}'` };
      }
    }
    return null;
  }

  const PAIRS = { '(': ')', '[': ']', '{': '}' };

  // The first bracket that closes nothing or wrongly spans a tag's end, or the last that is never closed; with the line
  // of the code where that is detected.
  function badBracket(lines) {
    const begin = lines.findIndex((line) => line.startsWith('  with (')) + 1;
    const end = lines.lastIndexOf(END_OF_TEMPLATE) - 1;
    const open = [];
    const unclosed = ({ character, at }, shows) => {
      return { at: shows, line: templateLine(lines, at).line, message: `'${character}' is never closed` };
    };
    for (const found of brackets(lines.slice(begin, end))) {
      const { character } = found;
      const at = begin + found.at;
      const top = open.length > 0 ? open[open.length - 1] : null;
      if (character === TOKEN) {
        if (top !== null && top.character !== '{') return unclosed(top, at);
      } else if (character in PAIRS) {
        open.push({ character, at });
      } else if (top !== null && PAIRS[top.character] === character) {
        open.pop();
      } else {
        return { at, line: templateLine(lines, at).line, message: `'${character}' closes nothing` };
      }
    }
    return open.length === 0 ? null : unclosed(open[open.length - 1], end);
  }

  // Brackets outside of strings, comments and regular expressions, and the beginnings of EJS' tokens.
  function* brackets(lines) {
    const code = lines.join('\n');
    const skip = /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|`(?:[^`\\]|\\[^])*`|\/\/[^\n]*|\/\*[^]*?\*\//y;
    const expression = /\/(?:[^\/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y;
    let line = 0;
    let before = '\n';
    for (let at = 0; at < code.length; at += 1) {
      if ((at === 0 || code[at - 1] === '\n') && code.startsWith(TOKEN, at)) yield { character: TOKEN, at: line };
      skip.lastIndex = expression.lastIndex = at;
      const skipped = skip.exec(code) || (/[\n(,=:[!&|?{};+\-*%<>~^]/.test(before) && expression.exec(code));
      if (skipped) {
        line += skipped[0].split('\n').length - 1;
        at += skipped[0].length - 1;
        continue;
      }
      const character = code[at];
      if (character === '\n') line += 1;
      if ('()[]{}'.includes(character)) yield { character, at: line };
      if (character.trim() !== '') before = character;
    }
  }

  // ----- EJS -----

  const modules = {};
  function require(name) {
    return name === './utils.js' ? modules.utils : { fs, path }[name];
  }
  function load(make) {
    const module = { exports: {} };
    make(require, module, module.exports, TemplateFunction);
    return module.exports;
  }

  // Templates that call the console must not fail; what they write to it is dropped.
  const quiet = () => {};
  globalThis.console = { debug: quiet, error: quiet, info: quiet, log: quiet, trace: quiet, warn: quiet };

  modules.utils = load(host.utils);
  const ejs = load(host.ejs);

  // Without a just-in-time compiler regular expressions are slow, and EJS runs seven of them over each text: most of
  // the cost of generating a script. These methods do the same by string searches.
  const { generateSource } = ejs.Template.prototype;
  Object.assign(ejs.Template.prototype, {
    createRegex: quiet,

    generateSource() {
      generated += 1;
      const text = this.templateText;
      const cutsBlanks = text.includes('<%_') || text.includes('_%>');
      // EJS strips blanks around these marks. A text without them is replaced by an object whose `replace` is idle.
      if (!cutsBlanks) this.templateText = { replace: () => this.templateText };
      this.parseTemplateText = () => tokensOf(cutsBlanks ? this.templateText : text);
      try {
        return generateSource.call(this);
      } finally {
        if (!cutsBlanks) this.templateText = text;
      }
    },

    parseTemplateText() {
      return tokensOf(this.templateText);
    },

    _addOutput(line) {
      const text = this.truncate ? line.slice(line.startsWith('\r\n') ? 2 : /^[\r\n]/.test(line) ? 1 : 0) : line;
      this.truncate = false;
      if (text !== '') this.source += `    ; _$append(${stringify(text)})\n`;
    },
  });

  // A template's text split at <%% %%> <%= <%- <%_ <%# <% -%> _%> %>: these marks and the parts between them.
  function tokensOf(text) {
    const tokens = [];
    let from = 0;
    for (let at = text.indexOf('%'); at !== -1; at = text.indexOf('%', Math.max(at + 1, from))) {
      const before = at > from ? text[at - 1] : '';
      const behind = text[at + 1];
      let begin = at;
      let end = -1;
      if (before === '<') {
        begin = at - 1;
        end = behind !== undefined && '%=-_#'.includes(behind) ? at + 2 : at + 1;
      } else if (behind === '%' && text[at + 2] === '>') {
        end = at + 3;
      } else if (behind === '>') {
        begin = before === '-' || before === '_' ? at - 1 : at;
        end = at + 2;
      }
      if (end === -1) continue;
      if (begin > from) tokens.push(text.slice(from, begin));
      tokens.push(text.slice(begin, end));
      from = end;
    }
    if (from < text.length) tokens.push(text.slice(from));
    return tokens;
  }

  const compile = ejs.compile;
  function compileKept(text, options, source) {
    const template = new ejs.Template(text, options);
    // EJS generates no source where there is one.
    template.source = source;
    return template.compile();
  }

  ejs.compile = function (text, options) {
    const outer = compiling;
    compiling = { name: options.filename, text };
    const source = given[options.filename]?.script;
    let render;
    try {
      render = source ? compileKept(text, options, source) : compile(text, options);
    } catch (error) {
      if (fault === null || !Object.is(fault.error, error)) placeUnclosed(error, text, options.filename);
      throw error;
    } finally {
      compiling = outer;
    }
    return function (data) {
      if (depth > job.depth) {
        tooDeep = new Error(`includes are nested more than ${job.depth} deep (assemble.include_depth_limit)`);
        throw tooDeep;
      }
      if (wanted !== null) {
        voidCalls += 1;
        if (voidCalls > VOID_CALLS_LIMIT) throw new Error('void');
      }
      depth += 1;
      try {
        return render(data);
      } finally {
        depth -= 1;
      }
    };
  };

  function placeUnclosed(error, text, name) {
    for (const tag of tags(text)) {
      if (tag.closed) continue;
      fault = {
        error,
        message: `the tag '${tag.open}' is never closed with '%>'`,
        places: [{ name: name.slice(1), line: tag.line }],
      };
      return;
    }
    place(error, name, 1);
  }

  function short(text, most = 80) {
    return text.length > most ? `${text.slice(0, most)}…` : text;
  }

  function sentence(error) {
    const known = fault !== null && Object.is(fault.error, error) ? fault : { message: messageOf(error), places: [] };
    const words = known.message === null ? `${error} was thrown` : known.message;
    const message = short(words, SENTENCE_LIMIT);
    const [first, ...outer] = known.places.map(({ name, line }) => `${name}:${line}`);
    if (first === undefined) return message;
    const chain = outer.slice(0, CHAIN_LIMIT).join(', ') + (outer.length > CHAIN_LIMIT ? ', …' : '');
    return `${first}: ${message}` + (chain === '' ? '' : ` (included from ${chain})`);
  }

  const withoutMark = (text) => text.replace(/^\uFEFF/, '');

  // The text as EJS reads it: without a byte order mark, \VAR{…} as tags of EJS.
  function textOf(original) {
    const text = withoutMark(original);
    if (language === null) return text;
    const seen = { tags: new Set(), unclosed: null };
    const read = language.prepare(text, seen);
    if (seen.tags.size > 0 || seen.unclosed !== null) written.set(read, seen);
    return read;
  }

  // All options that EJS gets: none comes from the data.
  const optionsOf = (filename) => ({ filename, cache: true, root: '/', escape: language?.escape });

  const INCLUDES = /\binclude\s*\(\s*(?:'([^'\\\n]*)'|"([^"\\\n]*)"|`([^`\\$\n]*)`)/g;

  // The file that the file `name` includes by `path`.
  function resolved(path, name) {
    return path.startsWith('/')
      ? ejs.resolveInclude(path.replace(/^\/*/, ''), '/', true)
      : ejs.resolveInclude(path, name);
  }

  function mentioned() {
    const found = create(null);
    for (const name in given) {
      const file = given[name];
      if (file.seen || !file.text?.includes('include')) continue;
      file.seen = true;
      for (const [, ...paths] of file.text.matchAll(INCLUDES)) {
        const path = paths.find((literal) => literal !== undefined);
        const full = resolved(path, name);
        if (exists(full) && !(full in given)) found[full] = true;
      }
    }
    return stringify(found);
  }

  // For an unknown zone the engine would silently use UTC, and every date would be wrong.
  function checkZone(timeZone) {
    try {
      new Intl.DateTimeFormat('en-US', { timeZone });
    } catch {
      throw new Error(`the template engine does not know the time zone ${timeZone}; name an older one of the same time`);
    }
  }

  function setLanguage(chosen) {
    language = chosen;
    const { prototype } = ejs.Template;
    if (language.lines) prototype.scanLine = language.lines.appended(prototype.scanLine);
  }

  function begin(json) {
    job = parse(json);
    if (job.timezone !== 'UTC') checkZone(job.timezone);
    for (const name of job.files) files[`/${name}`] = true;
  }

  function give(path, text, script) {
    given[path] = { text: text === undefined ? undefined : textOf(text), script, seen: false };
  }

  // The engine's error for a failed allocation.
  const isMemory = (error) => error instanceof RangeError && error.message === 'Out of memory';

  function assemble(json) {
    let made = '';
    try {
      made = run(json);
    } catch (error) {
      if (wanted === null) throw error;
    }
    // A void run is reported as such whether it ended with a page or an error.
    return wanted === null ? made : 'w' + stringify(wanted);
  }

  function run(json) {
    const filename = `/${job.entry}`;
    let data;
    try {
      data = parse(json);
    } catch (error) {
      return (isMemory(error) ? 'm' : 'b') + messageOf(error);
    }
    try {
      const render = ejs.compile(given[filename].text, optionsOf(filename));
      const html = render(data);
      if (html.length > job.limit) return 'l';
      page = wellFormed(html);
      return 'p';
    } catch (error) {
      if (tooDeep !== null && Object.is(error, tooDeep)) return 'd' + sentence(error);
      return (isMemory(error) ? 'm' : 'f') + sentence(error);
    }
  }

  function part(at) {
    const end = at + PART_LENGTH;
    const last = end < page.length ? codeAt(page, end - 1) : 0;
    // A surrogate pair is not split.
    return slice(page, at, last >= 0xd800 && last < 0xdc00 ? end - 1 : end);
  }

  function scriptOf(name, original) {
    const text = textOf(original);
    const template = new ejs.Template(text, optionsOf(name));
    try {
      template.compile();
    } catch {
      // The job that needs it says what is wrong with it.
      return null;
    }
    // EJS has cut blanks around some tags. The byte order mark is put back: every reader of the text cuts one off.
    const mark = original.startsWith('\uFEFF') ? '\uFEFF' : '';
    const read = mark + template.templateText;
    return { text: read === original ? null : read, source: template.source };
  }

  // Nothing of the files runs here and there is no data: the scripts are for later jobs.
  function compileAhead(wanted, time) {
    ahead = true;
    const end = Date.now() + time;
    const scripts = parse(wanted).map(([name, text]) => (Date.now() < end ? scriptOf(`/${name}`, text) : null));
    return stringify(scripts);
  }

  function shownTags(text) {
    const reported = [...tags(text)].filter(({ open }) => open !== '<%#');
    return reported.map(({ open, line, shown }) => {
      const kind = open === '<%=' || open === '<%-' ? 'value' : 'code';
      return { line, kind, tag: short(shown) };
    });
  }

  // EJS takes an unclosed \VAR{ for text, and TeX would only report an unknown command.
  function unclosedVariable(text) {
    const at = written.get(text)?.unclosed ?? null;
    if (at === null) return null;
    return { line: text.slice(0, at).split('\n').length, message: "the tag '\\VAR{' is never closed with '}'" };
  }

  function inspect(name) {
    const { text } = given[name];
    if (text === undefined) {
      return stringify({ tags: [], fault: { line: 1, message: 'the included file is no text' }, source: null });
    }
    const template = new ejs.Template(text, optionsOf(name));
    compiling = { name, text };
    fault = null;
    let found = null;
    try {
      template.compile();
    } catch (error) {
      if (fault === null || !Object.is(fault.error, error)) placeUnclosed(error, text, name);
      found = { line: fault.places[0].line, message: short(fault.message, SENTENCE_LIMIT) };
    } finally {
      compiling = null;
    }
    found ??= unclosedVariable(text);
    return stringify({ tags: shownTags(text), fault: found, source: found === null ? template.source : null });
  }

  function resolve(path, from) {
    const full = resolved(path, from);
    return stringify({ path: full, exists: exists(full), isGiven: full in given });
  }

  const lineOf = (lines, at) => templateLine(lines, at)?.line ?? 1;

  const report = () => stringify({ __proto__: null, generated, included });

  return { setLanguage, begin, give, mentioned, assemble, part, report, compile: compileAhead, inspect, resolve, lineOf };
})
