// Tells the tags, the variables and the faults of a template, nothing of which runs.
//
// Evaluated with what `assemble.js` and `variables.js` make. It makes these functions; both take and give JSON:
//
//   page(entry)   {tags, moreTags, variables, untold, faults} of a page and what it includes; the files are with the renderer
//   tags(steps)   {variables, untold} of the tags of an Office file
//
// `variables` is null where they cannot be told, `untold` says why.
(function (renderer, variables) {
  'use strict';

  const { parse, stringify } = JSON;
  const TAGS_LIMIT = 5_000;
  const FAULTS_LIMIT = 100;
  const FILES_LIMIT = 300;

  function told(read) {
    try {
      return { variables: read(), untold: null };
    } catch (error) {
      return { variables: null, untold: String(error?.message ?? error).slice(0, 300) };
    }
  }

  function included(source) {
    try {
      return variables.includes(source);
    } catch {
      // A form of JavaScript that the engine knows and the parser does not; the variables say so.
      return [];
    }
  }

  function page(entry) {
    const sources = new Map();
    const tags = [];
    const faults = [];
    let moreTags = 0;
    const fault = (name, line, message) => {
      if (faults.length < FAULTS_LIMIT) faults.push({ file: name.slice(1), line, tag: '', message });
    };
    const waiting = [entry];
    for (const name of waiting) {
      if (sources.has(name) || sources.size === FILES_LIMIT) continue;
      const file = parse(renderer.inspect(name));
      sources.set(name, file.source);
      const room = TAGS_LIMIT - tags.length;
      for (const tag of file.tags.slice(0, room)) tags.push({ file: name.slice(1), ...tag });
      moreTags += Math.max(file.tags.length - room, 0);
      if (file.fault !== null) fault(name, file.fault.line, file.fault.message);
      if (file.source === null) continue;
      for (const mention of included(file.source)) {
        const { path, exists, isGiven } = parse(renderer.resolve(mention.name, name));
        if (isGiven) waiting.push(path);
        else if (!exists) {
          const line = renderer.lineOf(file.source, mention.line);
          fault(name, line, `the template has no file '${path.slice(1)}' to include`);
        }
      }
    }
    const open = (literal, from) => {
      const { path, exists } = parse(renderer.resolve(literal, from));
      if (!exists) return null;
      const source = sources.get(path);
      if (typeof source !== 'string') throw new Error(`the included file '${path.slice(1)}' cannot be read`);
      return { name: path, source };
    };
    const read = () => {
      const source = sources.get(entry);
      if (source === null) throw new Error('the template has a fault');
      return variables.ofPage({ name: entry, source }, open);
    };
    return stringify({ tags, moreTags, faults, ...told(read) });
  }

  const tags = (steps) => stringify(told(() => variables.ofTags(parse(steps))));

  return { page, tags };
})
