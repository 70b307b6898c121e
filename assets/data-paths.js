// The values that expressions of a script may have, and which paths of the data they read.
//
// Gives `Reading`, which collects the paths, and what works on values. Exceeding a limit below throws; beyond those of
// warnings, choices and segments the rest is dropped.
(function () {
  'use strict';

  const STEPS_LIMIT = 1_000_000;
  const PATHS_LIMIT = 5_000;
  const SEGMENTS_LIMIT = 20;
  const WARNINGS_LIMIT = 20;
  // Most paths of one value; `a || b` has two.
  const CHOICES_LIMIT = 8;

  // ----- The values: paths of the data, a list made here, an object made here, a function -----
  //
  // {paths, element, fields, own, tuple, code}. `own`: names of `fields` that win over all else, as `b` in {...a, b}.

  const NOTHING = Object.freeze({});

  const isNothing = (value) => !value.paths && !value.element && !value.fields && !value.tuple;

  function union(one, other) {
    if (one === NOTHING || one === other) return other;
    if (other === NOTHING) return one;
    const both = (name, join) => (one[name] && other[name] ? join(one[name], other[name]) : one[name] ?? other[name]);
    return {
      paths: both('paths', (some, more) => [...new Set([...some, ...more])].slice(0, CHOICES_LIMIT)),
      element: both('element', union),
      fields: both('fields', (some, more) => new Map([...some, ...more])),
      tuple: both('tuple', (some) => some),
      code: both('code', (some) => some),
      isList: one.isList || other.isList,
    };
  }

  // The name as it is in a path; null where it must be quoted, or the path would be ambiguous.
  const shown = (name) => (/^[^.[\]"\n]+$/.test(name) ? name : null);

  class Reading {
    constructor() {
      this.steps = STEPS_LIMIT;
      this.depth = 0;
      // Paths by their text: {text, parent, count}.
      this.known = new Map();
      this.read = new Set();
      this.active = new Set();
      this.files = 0;
      // What could not be followed, in sentences.
      this.warnings = new Set();
    }

    step() {
      this.steps -= 1;
      if (this.steps < 0) throw new RangeError('the code is too long to tell its variables');
    }

    child(parent, segment, isElement) {
      const count = (parent.count ?? 0) + 1;
      if (count > SEGMENTS_LIMIT) return null;
      const name = isElement ? '[]' : shown(segment) ?? `[${JSON.stringify(segment)}]`;
      const text = parent.text + (name.startsWith('[') || parent.text === '' ? name : `.${name}`);
      if (!this.known.has(text)) {
        if (this.known.size >= PATHS_LIMIT) throw new RangeError('the code reads too many names to tell them');
        this.known.set(text, { text, parent, count });
      }
      return this.known.get(text);
    }

    of(paths, segment, isElement = false) {
      const children = paths.map((path) => this.child(path, segment, isElement)).filter((path) => path !== null);
      return children.length > 0 ? { paths: children } : NOTHING;
    }

    warn(sentence) {
      if (this.warnings.size < WARNINGS_LIMIT) this.warnings.add(sentence);
    }

    mark(value) {
      for (const path of value.paths ?? []) this.read.add(path);
      return value;
    }

    member(value, name) {
      if (name === 'length') return NOTHING;
      let found = value.fields?.get(name) ?? NOTHING;
      if (value.own?.has(name)) return this.mark(found);
      if (value.paths) found = union(found, this.of(value.paths, name));
      if (value.tuple && /^\d$/.test(name)) found = union(found, value.tuple[name] ?? NOTHING);
      return this.mark(found);
    }

    element(value) {
      let found = value.element ?? NOTHING;
      if (value.paths) found = union(found, this.of(value.paths, '', true));
      for (const other of value.tuple ?? []) found = union(found, other);
      for (const other of value.fields?.values() ?? []) found = union(found, other);
      return found;
    }

    // The paths that were read and are no prefix of another one that was.
    result() {
      const inner = new Set();
      for (const path of this.read) {
        for (let at = path.parent; at && !inner.has(at); at = at.parent) inner.add(at);
      }
      const leaves = [...this.read].filter((path) => !inner.has(path) && path.text !== '');
      return leaves.map((path) => path.text).sort();
    }
  }

  const ROOT = Object.freeze({ text: '', parent: null, count: 0 });

  return { NOTHING, ROOT, Reading, isNothing, union };
})
