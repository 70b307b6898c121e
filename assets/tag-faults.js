// What is wrong with the tags of an Office file, without running any of them.
//
// It makes these functions:
//
//   ofText(step)     why a tag's expression does not compile; null where it does, or is a path
//   isPath(text)     whether a text is names with dots between them, which are looked up and not compiled
//   isName(text)     whether a text that does not compile may be a name, as `First Name`
//   ofSteps(steps)   what is wrong with steps and those inside of them: [[tag, sentence]]
//   ofJson(json)     the same, as JSON
(function () {
  'use strict';

  const FunctionOf = Function;
  const SHOWN_CHARACTERS = 40;
  // The filters of the library; a test compares them.
  const FILTERS = 'default count sum number currency percent date upper lower title trim text join sort group first last'.split(' ');
  // The options of pictures, as in `program.rs`.
  const OPTIONS = 'size width height fit alt link kind level margin color background text maxSize'.split(' ');
  const PICTURES = ['image', 'qr', 'barcode'];
  const KINDS = [String, Number, Array, Date, Object, Boolean, BigInt, RegExp, Map, Set].map((kind) => kind.prototype);

  const known = new Set(FILTERS);

  function hasMethod(name) {
    return KINDS.some((kind) => Object.hasOwn(kind, name) && typeof Object.getOwnPropertyDescriptor(kind, name).value === 'function');
  }

  const compiled = new Map();

  // Compiled as when a document is filled, and never called.
  function wrong(code) {
    if (!compiled.has(code)) compiled.set(code, compile(code));
    return compiled.get(code);
  }

  function compile(code) {
    try {
      new FunctionOf('names', `with (names) return (${code}\n);`);
      // Code that compiles in parentheses and in brackets closes neither: it is one expression.
      new FunctionOf(`[${code}\n]`);
      return null;
    } catch (error) {
      return String(error?.message ?? error).replace(/\.$/, '');
    }
  }

  // The rule of `program.rs`: what is beyond ASCII is a letter but for signs of operators and quotes, and a dash beside a blank.
  const SIGN = /[\u00ab\u00ac\u00b1\u00b7\u00bb\u00d7\u00f7\u201a-\u2027\u2190-\u22ff\u2a00-\u2aff]/u;
  const MINUS = /(^| )[\u2010-\u2015]|[\u2010-\u2015]( |$)/u;
  const NAME = /^\.?[\w$\u0080-\u{10ffff}][\w$\u0080-\u{10ffff} .'-]*$/u;
  const isName = (text) => NAME.test(text) && !/[ '-]$/.test(text) && !SIGN.test(text) && !MINUS.test(text);

  const shown = (text) => (text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);

  const isPath = (text) => /^\.?$|^\.?[\p{L}_$][\p{L}\p{N}_$]*(\.[\p{L}_$][\p{L}\p{N}_$]*)*$/u.test(text);

  const ofText = ({ text, code }) => (isPath(text) ? null : wrong(code));

  function ofFilters({ kind, filters }) {
    const faults = [];
    for (const { name, codes } of filters) {
      const isOption = PICTURES.includes(kind) && OPTIONS.includes(name);
      if (!known.has(name) && !isOption && !hasMethod(name)) {
        faults.push(
          `'${shown(name)}' is neither a filter (there are ${FILTERS.join(', ')}) nor a method of a text, a number, a list or a date`,
        );
      }
      for (const code of codes) {
        const why = wrong(code);
        if (why !== null) faults.push(`'${shown(code)}', given to ${shown(name)}, is no expression of JavaScript (${why})`);
      }
    }
    return faults;
  }

  function ofSteps(steps) {
    const faults = [];
    const look = (step) => {
      const { tag, text } = step;
      // A text such as `First Name` is a missing name where the data lack it.
      const why = isName(text) ? null : ofText(step);
      if (why !== null) faults.push([tag, `'${shown(text)}' is neither a name in the data nor an expression of JavaScript (${why})`]);
      for (const message of ofFilters(step)) faults.push([tag, message]);
      step.body.forEach(look);
    };
    steps.forEach(look);
    return faults;
  }

  const ofJson = (json) => JSON.stringify(ofSteps(JSON.parse(json)));

  return { isName, isPath, ofJson, ofSteps };
})
