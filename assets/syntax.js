// Syntax trees of scripts, and what their names are bound in; nothing of a script is run.
//
// Evaluated with the npm package acorn and what `data-paths.js` makes.
(function (acorn, paths) {
  'use strict';

  const { NOTHING } = paths;

  // ----- Texts -----

  // Trees by source: parsing takes most of the time.
  const trees = new Map();

  function parsed(source) {
    if (!trees.has(source)) {
      const options = { ecmaVersion: 'latest', sourceType: 'script', allowReturnOutsideFunction: true };
      trees.set(source, acorn.parse(source, options));
    }
    return trees.get(source);
  }

  function includes(source) {
    const tree = parsed(source);
    const found = [];
    // `include` may be spelled with a Unicode escape.
    const waiting = /include|\\/.test(source) ? [tree] : [];
    while (waiting.length > 0) {
      const node = waiting.pop();
      if (node.type === 'CallExpression' && node.callee.type === 'Identifier' && node.callee.name === 'include') {
        const name = node.arguments[0] ? literalKey(node.arguments[0]) : null;
        if (name !== null) found.push({ name, at: node.start });
      }
      for (const child of children(node)) waiting.push(child);
    }
    found.sort((one, other) => one.at - other.at);
    let line = 0;
    let from = 0;
    return found.map(({ name, at }) => {
      for (; from < at; from += 1) if (source[from] === '\n') line += 1;
      return { name, line };
    });
  }

  function expression(code) {
    const { body } = acorn.parse(`(${code}\n)`, { ecmaVersion: 'latest', sourceType: 'script' });
    if (body.length !== 1 || body[0].type !== 'ExpressionStatement') throw new SyntaxError('no expression');
    return body[0].expression;
  }

  const literalKey = (node) => {
    if (node.type === 'Literal' && node.value !== null) return String(node.value);
    if (node.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0].value.cooked;
    return null;
  };

  // ----- Scopes -----

  class Scope {
    constructor(outer, free = null) {
      this.outer = outer;
      this.names = new Map();
      this.free = free;
    }

    holder(name) {
      let scope = this;
      while (scope !== null && !scope.names.has(name)) scope = scope.outer;
      return scope;
    }

    get top() {
      let scope = this;
      while (scope.outer !== null) scope = scope.outer;
      return scope;
    }

    look(name) {
      const holder = this.holder(name);
      return holder === null ? this.top.free(name) : holder.names.get(name);
    }
  }

  const isFunction = (node) => /^(Function(Declaration|Expression)|ArrowFunctionExpression)$/.test(node.type);

  function children(node) {
    const found = [];
    for (const key in node) {
      const part = node[key];
      if (typeof part !== 'object' || part === null) continue;
      if (Array.isArray(part)) {
        for (const one of part) if (one !== null && typeof one.type === 'string') found.push(one);
      } else if (typeof part.type === 'string') {
        found.push(part);
      }
    }
    return found;
  }

  function* bound(pattern) {
    if (pattern === null) return;
    if (pattern.type === 'Identifier') yield pattern.name;
    else if (pattern.type === 'MemberExpression') return;
    else if (pattern.type === 'Property') yield* bound(pattern.value);
    else if (pattern.type === 'AssignmentPattern') yield* bound(pattern.left);
    else for (const part of children(pattern)) yield* bound(part);
  }

  // The nodes that may contain a `var` of the same function: expressions contain none but those of inner functions.
  const AROUND_STATEMENTS = new Set(
    ('Program BlockStatement IfStatement ForStatement ForInStatement ForOfStatement WhileStatement DoWhileStatement ' +
      'TryStatement CatchClause SwitchStatement SwitchCase LabeledStatement WithStatement').split(' '),
  );

  // The names that `var` declares in a function's body.
  function hoist(body, scope) {
    const waiting = [body];
    while (waiting.length > 0) {
      const node = waiting.pop();
      if (node.type === 'VariableDeclaration' && node.kind === 'var') {
        for (const one of node.declarations) for (const name of bound(one.id)) scope.names.set(name, NOTHING);
      }
      if (AROUND_STATEMENTS.has(node.type)) for (const child of children(node)) waiting.push(child);
    }
  }

  return { Scope, bound, children, expression, hoist, includes, isFunction, literalKey, parsed };
})
