// Finds which data a template's code reads, without running it.
//
// Evaluated with what `data-paths.js`, `syntax.js`, `walk.js` and `tag-faults.js` make. It makes these functions:
//
//   includes(source)      what a script of EJS includes by a literal: [{name, line}], lines from 0
//   ofPage(entry, open)   the data that a page reads; open(name, from) gives {name, source} of what `from` includes as
//                         `name`, or null
//   ofTags(steps)         the data that the tags of an Office file read: steps are
//                         [{tag, kind, text, code, filters: [{name, codes}], body}]
//
// The last two give {variables, warnings}, the paths sorted: 'customer.name', 'items[].price' for every item's. A path
// that is the beginning of another one is left out. Exceeding a limit throws: no list is better than a part of it.
(function (paths, syntax, walks, tagFaults) {
  'use strict';

  const { LANGUAGE, Walk } = walks;
  const { isName, isPath } = tagFaults;
  const { NOTHING, ROOT, Reading, isNothing, union } = paths;
  const { Scope, expression, literalKey, parsed } = syntax;

  const INCLUDED_LIMIT = 50;
  const OFFICE_LANGUAGE = new Set(
    ('Math Number String Boolean Array Object Date JSON Intl BigInt RegExp Map Set parseInt parseFloat isNaN isFinite NaN Infinity ' +
      'undefined encodeURI encodeURIComponent decodeURI decodeURIComponent').split(' '),
  );
  const EJS_OWN = new Set(['arguments', 'include', 'escapeFn', 'rethrow', '_$append', '_$escape', '_$line', '_$at', '__append', '__output', '__lines', '__filename']);

  // ----- EJS -----

  function ofPage(entry, open) {
    const reading = new Reading();
    const locals = { paths: [ROOT] };
    const trees = new Map();
    const active = new Set();

    // given: what an include passes beside the data, objects made in a template or paths of the data.
    function page(file, given) {
      if (!trees.has(file.name)) trees.set(file.name, parsed(file.source));
      active.add(file.name);
      const all = union(given, locals);
      const free = (name) => {
        if (name === 'locals') return all;
        if (EJS_OWN.has(name)) return NOTHING;
        if (given.fields?.has(name)) return given.fields.get(name);
        return LANGUAGE.has(name) ? NOTHING : reading.of(given.paths ?? [ROOT], name);
      };
      const include = (name, value) => {
        const inner = name === null ? null : open(name, file.name);
        if (inner === null || active.has(inner.name)) return;
        reading.files += 1;
        if (reading.files > INCLUDED_LIMIT) throw new RangeError('the template includes too much to tell its variables');
        page(inner, union(given, { paths: value.paths, fields: value.fields }));
      };
      const walk = new Walk(reading, include);
      walk.language = LANGUAGE;
      walk.visit(trees.get(file.name), new Scope(null, free));
      active.delete(file.name);
    }

    page(entry, NOTHING);
    return told(reading);
  }

  const told = (reading) => ({ variables: reading.result(), warnings: [...reading.warnings] });

  // ----- Tags of Office files -----

  function ofTags(steps) {
    const reading = new Reading();
    const walk = new Walk(reading);
    walk.language = OFFICE_LANGUAGE;

    function scopeOf(item, outer) {
      const scope = new Scope(null, (name) => {
        if (OFFICE_LANGUAGE.has(name)) return NOTHING;
        if (item.fields?.has(name)) return item.fields.get(name);
        const own = item.paths ? reading.of(item.paths, name) : NOTHING;
        return isNothing(own) && outer ? outer.look(name) : own;
      });
      const inherited = outer?.names.get('$$item') ?? NOTHING;
      for (const name of ['$index', '$first', '$last']) scope.names.set(name, NOTHING);
      scope.names.set('$parent', inherited);
      for (const name of ['$$item', 'this']) scope.names.set(name, item);
      return scope;
    }

    function valueOf(step, scope) {
      const { text, code } = step;
      let tree;
      try {
        tree = expression(code);
      } catch {
        if (!isPath(text) && !isName(text)) return NOTHING;
        return reading.mark(whole(text, scope));
      }
      return walk.visit(tree, scope);
    }

    // The text is a name, as `First Name`, or a path of words that are reserved in JavaScript, as `new.class`.
    function whole(text, scope) {
      const own = text.startsWith('.') ? scope.look('this') : null;
      const names = text.replace(/^\./, '');
      if (!isPath(text)) return own === null ? scope.look(names) : reading.member(own, names);
      const [first, ...rest] = names.split('.');
      return rest.reduce((value, name) => reading.member(value, name), own === null ? scope.look(first) : reading.member(own, first));
    }

    function filtered(value, { name, codes }, scope) {
      const nodes = codes.map((code) => expression(code));
      const words = nodes.map(literalKey);
      const each = (key) => {
        if (key === null || key === undefined) return;
        let one = reading.element(value);
        for (const part of key.split('.')) one = reading.member(one, part);
      };
      switch (name) {
        case 'sum':
        case 'sort':
        case 'group':
          walk.all(nodes, scope);
          each(words[0]);
          if (name === 'sort') return value;
          return name === 'sum' ? NOTHING : { element: { fields: new Map([['key', NOTHING], ['items', value]]) } };
        case 'join':
          walk.all(nodes, scope);
          each(words[1]);
          return NOTHING;
        case 'first':
        case 'last':
          return reading.element(value);
        case 'default':
          return walk.arguments(nodes, scope).reduce(union, value);
        default:
          return walk.method(value, name, nodes, scope);
      }
    }

    function run(step, scope) {
      reading.step();
      let value = valueOf(step, scope);
      for (const filter of step.filters) {
        try {
          value = filtered(value, filter, scope);
        } catch (error) {
          // Code that does not compile is reported by `ofFilters` (tag-faults.js).
          if (!(error instanceof SyntaxError)) throw error;
        }
      }
      let inside = scope;
      if (step.kind === 'section') {
        const item = reading.element(value);
        if (!isNothing(item)) inside = scopeOf(item, scope);
      }
      for (const inner of step.body) run(inner, inside);
    }

    const root = scopeOf({ paths: [ROOT] }, null);
    for (const step of steps) run(step, root);
    return told(reading);
  }

  return { includes: syntax.includes, ofPage, ofTags };
})
