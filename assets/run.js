// Runs a script that EJS generated earlier, without EJS: loading EJS is most of a job's cost.
//
// Evaluated once, before the job arrives. run(name, text, script, data, limit, timeZone, escape, made) takes the
// template's path, its text and its script, the JSON of its data, the length of the largest page, the process' zone
// and, where not as in HTML, how values are escaped and what makes the script a function (lines.js). It gives 'p', then
// `part` gives the page; or '' for any error, include or page that is too large. The job is then repeated from the
// beginning in a fresh engine with EJS, which reports the error.
(function () {
  'use strict';

  const { parse, stringify } = JSON;
  const { create, defineProperty } = Object;
  // Excluded from `with (locals)`: data with members of these names would replace the script's own (RENAMED, build.rs).
  const OWN = { __proto__: null, value: { __proto__: null, _$append: true, _$escape: true, _$line: true, _$at: true } };
  const { hasOwnProperty } = Object.prototype;
  const uncurried = (method) => Function.prototype.call.bind(method);
  const has = uncurried(hasOwnProperty);
  const wellFormed = uncurried(String.prototype.toWellFormed);
  const slice = uncurried(String.prototype.slice);
  const codeAt = uncurried(String.prototype.charCodeAt);
  const PART_LENGTH = 1 << 20;
  let page = '';

  const quiet = () => {};
  globalThis.console = { debug: quiet, error: quiet, info: quiet, log: quiet, trace: quiet, warn: quiet };

  // As EJS escapes.
  const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
  const escapeHtml = (value) =>
    value == undefined ? '' : String(value).replace(/[&<>'"]/g, (character) => ENTITIES[character] || character);

  const functionOf = (parameters, code) => new Function(parameters, code);

  function run(name, text, script, json, limit, timeZone, escape = escapeHtml, made = functionOf) {
    try {
      // For an unknown zone the engine would silently use UTC: this throws.
      if (timeZone !== 'UTC') new Intl.DateTimeFormat('en-US', { timeZone });
      const data = parse(json);
      // As EJS makes a template's variables.
      const locals = create(null);
      for (const key in data) {
        if (has(data, key) && key !== '__proto__' && key !== 'constructor') locals[key] = data[key];
      }
      defineProperty(locals, Symbol.unscopables, OWN);
      let isWhole = true;
      const fail = (error) => {
        isWhole = false;
        throw error;
      };
      const before = `var _$line = 1\n  , __lines = ${stringify(codeAt(text, 0) === 0xfeff ? slice(text, 1) : text)}\n  , __filename = ${stringify(name)};\ntry {\n`;
      const behind = '} catch (e) {\n  rethrow(e, __lines, __filename, _$line, escapeFn);\n}\n';
      const render = made('locals, escapeFn, include, rethrow', before + script + behind, name);
      const html = render.call(undefined, locals, escape, fail, fail);
      if (!isWhole || typeof html !== 'string' || html.length > limit) return '';
      page = wellFormed(html);
      return 'p';
    } catch {
      return '';
    }
  }

  function part(at) {
    const end = at + PART_LENGTH;
    const last = end < page.length ? codeAt(page, end - 1) : 0;
    // A surrogate pair is not split.
    return slice(page, at, last >= 0xd800 && last < 0xdc00 ? end - 1 : end);
  }

  return { run, part };
})
