// Lists the tags, variables and errors of a template without running it.
//
// Evaluated with what `assemble.js`, `variables.js` and `tag-faults.js` make. It makes these functions; all take and
// give JSON, but for paths:
//
//   wanted(entry)  the paths of the files that are to be given next; none: all were given
//   page(entry)    {tags, moreTags, variables, untold, warnings, faults, moreFaults} of a page and what it includes
//   tags(steps)    {variables, untold, warnings, faults: [{tag, message}]} of an Office file
//
// `variables` is null where they cannot be determined; `untold` says why.
(function (renderer, variables, tagFaults) {
  'use strict';

  const { parse, stringify } = JSON;
  const TAGS_LIMIT = 5_000;
  const FAULTS_LIMIT = 100;
  const FILES_LIMIT = 300;

  function told(read) {
    try {
      return { ...read(), untold: null };
    } catch (error) {
      return { variables: null, warnings: [], untold: String(error?.message ?? error).slice(0, 300) };
    }
  }

  // ----- Pages -----

  // By path: {tags, fault, lines of what EJS generates, code, mentions}.
  const seen = new Map();

  const TEXT = '    ; _$append("';
  const LINE = '    ; _$line = ';

  // Whether the line only appends a text or sets the line: three of four do, and parsing each costs as much as a tag.
  function isOfNoTag(line) {
    if (line.startsWith(LINE)) return /^\d+$/.test(line.slice(LINE.length));
    if (!line.startsWith(TEXT) || !line.endsWith('")')) return false;
    try {
      parse(line.slice(TEXT.length - 1, -1));
      return true;
    } catch {
      return false;
    }
  }

  function included(code) {
    try {
      return variables.includes(code);
    } catch {
      // JavaScript that the engine compiles and the parser does not know; reading the variables reports it.
      return [];
    }
  }

  function see(name) {
    const { tags, fault, source } = parse(renderer.inspect(name));
    const lines = source === null ? [] : source.split('\n');
    const code = source === null ? null : lines.map((line) => (isOfNoTag(line) ? '' : line)).join('\n');
    const mentions = code === null ? [] : included(code);
    for (const mention of mentions) Object.assign(mention, parse(renderer.resolve(mention.name, name)));
    return { tags, fault, lines, code, mentions };
  }

  function wanted(entry) {
    const paths = new Set();
    const waiting = [entry];
    const asked = new Set(waiting);
    for (const name of waiting) {
      if (!seen.has(name)) seen.set(name, see(name));
      for (const mention of seen.get(name).mentions) {
        const { path, exists, isGiven } = parse(renderer.resolve(mention.name, name));
        if (!exists || asked.has(path) || asked.size === FILES_LIMIT) continue;
        asked.add(path);
        if (isGiven) waiting.push(path);
        else paths.add(path);
      }
    }
    return stringify([...paths]);
  }

  function page(entry) {
    const tags = [];
    const faults = [];
    let moreTags = 0;
    let moreFaults = 0;
    const fault = (name, lineOf, message) => {
      if (faults.length === FAULTS_LIMIT) moreFaults += 1;
      else faults.push({ file: name.slice(1), line: lineOf(), tag: '', message });
    };
    for (const [name, file] of seen) {
      const room = TAGS_LIMIT - tags.length;
      for (const tag of file.tags.slice(0, room)) tags.push({ file: name.slice(1), ...tag });
      moreTags += Math.max(file.tags.length - room, 0);
      if (file.fault !== null) fault(name, () => file.fault.line, file.fault.message);
      for (const { path, exists, line } of file.mentions) {
        if (exists) continue;
        fault(name, () => renderer.lineOf(file.lines, line), `the template has no file '${path.slice(1)}' to include`);
      }
    }
    const open = (literal, from) => {
      const { path, exists } = parse(renderer.resolve(literal, from));
      if (!exists) return null;
      const source = seen.get(path)?.code;
      if (typeof source !== 'string') throw new Error(`the included file '${path.slice(1)}' cannot be read`);
      return { name: path, source };
    };
    const read = () => {
      const { code } = seen.get(entry);
      if (code === null) throw new Error('the template has a fault');
      return variables.ofPage({ name: entry, source: code }, open);
    };
    return stringify({ tags, moreTags, faults, moreFaults, ...told(read) });
  }

  // ----- Tags of Office files -----

  function tags(json) {
    const steps = parse(json);
    const found = told(() => variables.ofTags(steps));
    return stringify({ ...found, faults: tagFaults.ofSteps(steps).map(([tag, message]) => ({ tag, message })) });
  }

  return { wanted, page, tags };
})
