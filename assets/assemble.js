// Renders one template with EJS inside the assembling child, and says where a fault is.
//
// Evaluated once, before the job is there. `host` brings the npm package's two modules as functions, and
// `read(name)`, which gives undefined or a file of the template: its text, and its script or ''.
// It makes three functions. `assemble` takes a job and returns ['page', html], ['large'], ['deep', sentence] or
// ['failed', sentence, message or null]; `compile` takes files and returns the JSON of their scripts; `generated`
// says how many scripts EJS generated.
(function (host) {
  'use strict';

  const SENTENCE_LIMIT = 1500;
  const CHAIN_LIMIT = 8;

  // The template's files by absolute path ('/index.html'), and what of them has been read.
  let files = new Set();
  const texts = new Map();
  // What EJS generated of them in a clean engine, before this job.
  const sources = new Map();
  let generated = 0;
  // Scripts are made for later jobs, and none is run.
  let ahead = false;
  let depthLimit = 0;
  let depth = 0;
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

  const fs = {
    existsSync: (name) => files.has(name),
    readFileSync(name) {
      if (texts.has(name)) return texts.get(name);
      const given = files.has(name) ? host.read(name.slice(1)) : undefined;
      if (given === undefined) throw new Error(`the template has no file '${name.slice(1)}' to include`);
      const text = given[0];
      texts.set(name, text);
      if (given[1] !== '') sources.set(name, given[1]);
      return text;
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
    if (message === 'string too long') return 'a string grew longer than 1073741823 characters';
    return message.replace(/^'?([\w$]+)'? is not defined$/, "'$1' is not defined");
  }

  // Stands in for `Function` inside EJS, which makes a template's code with it: so that we see the code,
  // and the error handler in it is ours.
  function TemplateFunction(parameters, code) {
    if (code === undefined) return new Function(parameters);
    // Not even parsed: a text may end the function that it is put into and go on outside of it.
    if (ahead) return quiet;
    const { name, text } = compiling;
    let run;
    try {
      run = new Function(parameters, code);
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
      return run.call(this, locals, escape, include, rethrow);
    };
  }

  // ----- From generated code to the template's lines -----

  // `Function` puts two lines of its own before the body.
  const LINES_BEFORE_BODY = 2;
  const TOKEN = '    ; ';
  const MARKER = /^    ; __line = (\d+)$/;
  const END_OF_TEMPLATE = '  return __output;';

  // The line of the code where `error` arose, from 0, or -1.
  function codeLine(error) {
    const stack = error !== null && typeof error === 'object' ? String(error.stack) : '';
    const match = /<input>:(\d+)/.exec(stack);
    return match ? Number(match[1]) - 1 - LINES_BEFORE_BODY : -1;
  }

  // The template's line of a line of the code; null behind the template's end.
  function templateLine(lines, at) {
    if (at < 0 || at >= lines.lastIndexOf(END_OF_TEMPLATE) - 1) return null;
    let token = at;
    while (token > 0 && !lines[token].startsWith(TOKEN)) token -= 1;
    for (let line = token; line >= 0; line -= 1) {
      const marker = MARKER.exec(lines[line]);
      if (marker) return { start: Number(marker[1]), line: Number(marker[1]) + at - token };
    }
    return { start: 1, line: 1 + at - token };
  }

  // EJS knows the line where a tag begins; in a tag of many lines the engine knows better.
  function lineInTag(error, code, line) {
    const found = templateLine(code.split('\n'), codeLine(error));
    return found !== null && found.start === line ? found.line : line;
  }

  function locateSyntax(error, code, text) {
    const message = messageOf(error);
    const inExpression = badExpression(text);
    if (inExpression !== null) return inExpression;
    const lines = code.split('\n');
    const at = codeLine(error);
    const found = templateLine(lines, at);
    const bracket = badBracket(lines);
    // The engine may notice a bracket's fault only later, at a token that is innocent.
    if (bracket !== null && (found === null || bracket.at <= at)) return bracket;
    return { line: found === null ? text.split('\n').length : found.line, message };
  }

  // The tags of a template in order: {open, code, line}.
  function* tags(text) {
    const tokens = new ejs.Template(text, Object.create(null)).parseTemplateText();
    let line = 1;
    for (let at = 0; at < tokens.length; at += 1) {
      const open = tokens[at];
      if (open.startsWith('<%') && open !== '<%%') {
        const closed = /^[-_]?%>$/.test(tokens[at + 2]);
        yield { open, code: tokens[at + 1] || '', line, closed };
      }
      line += open.split('\n').length - 1;
    }
  }

  // An expression must be one by itself: where it is none, the engine would blame what follows it.
  function badExpression(text) {
    for (const tag of tags(text)) {
      if (tag.open !== '<%=' && tag.open !== '<%-') continue;
      const code = tag.code.replace(/;(\s*$)/, '$1');
      try {
        new Function(`return (${code}\n)`);
      } catch (error) {
        const last = code.split('\n').length - 1;
        const inside = Math.min(Math.max(codeLine(error), 0), last);
        return { line: tag.line + inside, message: `${messageOf(error)} in '${short(`<%=${tag.code}%>`)}'` };
      }
    }
    return null;
  }

  const PAIRS = { '(': ')', '[': ']', '{': '}' };

  // The first bracket that closes nothing or spans a tag's end where it must not, or the last that is
  // never closed; with the line of the code where that shows.
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

  // Templates that log run elsewhere; here nobody listens.
  const quiet = () => {};
  globalThis.console = { debug: quiet, error: quiet, info: quiet, log: quiet, trace: quiet, warn: quiet };

  modules.utils = load(host.utils);
  const ejs = load(host.ejs);

  const generateSource = ejs.Template.prototype.generateSource;
  ejs.Template.prototype.generateSource = function () {
    generated += 1;
    return generateSource.call(this);
  };

  const compile = ejs.compile;
  function compileKept(text, options, source) {
    const template = new ejs.Template(text, options);
    // EJS generates only what is not there.
    template.source = source;
    return template.compile();
  }

  ejs.compile = function (text, options) {
    const outer = compiling;
    compiling = { name: options.filename, text };
    const source = sources.get(options.filename);
    let render;
    try {
      render = source === undefined ? compile(text, options) : compileKept(text, options, source);
    } catch (error) {
      if (fault === null || !Object.is(fault.error, error)) placeUnclosed(error, text, options.filename);
      throw error;
    } finally {
      compiling = outer;
    }
    return function (data) {
      if (depth > depthLimit) {
        tooDeep = new Error(`includes are nested more than ${depthLimit} deep (assemble.include_depth_limit)`);
        throw tooDeep;
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

  function short(text) {
    return text.length > 80 ? `${text.slice(0, 80)}…` : text;
  }

  function sentence(error) {
    const known = fault !== null && Object.is(fault.error, error) ? fault : { message: messageOf(error), places: [] };
    const told = known.message === null ? `${error} was thrown` : known.message;
    const message = told.length > SENTENCE_LIMIT ? `${told.slice(0, SENTENCE_LIMIT)}…` : told;
    const [first, ...outer] = known.places.map(({ name, line }) => `${name}:${line}`);
    if (first === undefined) return message;
    const chain = outer.slice(0, CHAIN_LIMIT).join(', ') + (outer.length > CHAIN_LIMIT ? ', …' : '');
    return `${first}: ${message}` + (chain === '' ? '' : ` (included from ${chain})`);
  }

  const withoutMark = (text) => text.replace(/^\uFEFF/, '');

  // Only these options: nothing of the data is one.
  const optionsOf = (filename) => ({ filename, cache: true, root: '/' });

  function assemble(job) {
    files = new Set(job.files.map((name) => `/${name}`));
    depthLimit = job.depth;
    const filename = `/${job.entry}`;
    if (job.source !== undefined) sources.set(filename, job.source);
    const text = withoutMark(job.text);
    try {
      const render = ejs.compile(text, optionsOf(filename));
      const html = render(job.data);
      return html.length > job.limit ? ['large'] : ['page', html.toWellFormed()];
    } catch (error) {
      if (tooDeep !== null && Object.is(error, tooDeep)) return ['deep', sentence(error)];
      return ['failed', sentence(error), messageOf(error)];
    }
  }

  function scriptOf(name, original) {
    const text = withoutMark(original);
    const template = new ejs.Template(text, optionsOf(name));
    try {
      template.compile();
    } catch {
      // The job that needs it says what is wrong with it.
      return null;
    }
    // EJS has cut blanks around some tags. The mark stays: whoever reads the text cuts it off once more.
    const mark = original.slice(0, original.length - text.length);
    const read = template.templateText;
    return { text: read === text ? null : mark + read, source: template.source };
  }

  // Of all that is in the files nothing runs here, and there is no data: the scripts are for other jobs.
  function compileAhead(job) {
    ahead = true;
    const end = Date.now() + job.time;
    const scripts = job.files.map(({ name, text }) => (Date.now() < end ? scriptOf(`/${name}`, text) : null));
    return JSON.stringify(scripts);
  }

  return { assemble, compile: compileAhead, generated: () => generated };
})
