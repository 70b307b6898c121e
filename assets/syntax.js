// What the names in a script may be, from its syntax tree; nothing of it is run.
//
// Evaluated with the npm package acorn. It makes what `variables.js` tells the variables of templates with: `Reading` collects what is read
// of the data, `Scope` holds what names are, `Walk` goes over a tree. What is more than the bounds below throws.
(function (acorn) {
  'use strict';

  const STEPS_LIMIT = 1_000_000;
  const DEPTH_LIMIT = 1_000;
  const PATHS_LIMIT = 5_000;
  const SEGMENTS_LIMIT = 20;
  // So many paths one value may have, as `a || b` has two.
  const CHOICES_LIMIT = 8;

  const LANGUAGE = new Set(Object.getOwnPropertyNames(globalThis));

  // ----- What an expression may be: places in the data, a list made here, an object made here, a function -----

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
    };
  }

  // Names that the text of a path could not be read with stand in quotes.
  const shown = (name) => (/^[^.[\]"\n]+$/.test(name) ? name : null);

  class Reading {
    constructor() {
      this.steps = STEPS_LIMIT;
      this.depth = 0;
      // By their text: {text, parent, count}.
      this.known = new Map();
      this.read = new Set();
      this.active = new Set();
      this.files = 0;
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

    mark(value) {
      for (const path of value.paths ?? []) this.read.add(path);
      return value;
    }

    member(value, name) {
      if (name === 'length') return NOTHING;
      let found = value.fields?.get(name) ?? NOTHING;
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

    // What was read and is not on the way to something else that was.
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

  function* children(node) {
    for (const key in node) {
      const part = node[key];
      if (Array.isArray(part)) {
        for (const one of part) if (one !== null && typeof one.type === 'string') yield one;
      } else if (part !== null && typeof part === 'object' && typeof part.type === 'string') {
        yield part;
      }
    }
  }

  function* bound(pattern) {
    if (pattern === null) return;
    if (pattern.type === 'Identifier') yield pattern.name;
    else if (pattern.type === 'MemberExpression') return;
    else if (pattern.type === 'Property') yield* bound(pattern.value);
    else if (pattern.type === 'AssignmentPattern') yield* bound(pattern.left);
    else for (const part of children(pattern)) yield* bound(part);
  }

  // The names that `var` declares in a function's body.
  function hoist(body, scope) {
    const waiting = [body];
    while (waiting.length > 0) {
      const node = waiting.pop();
      if (node.type === 'VariableDeclaration' && node.kind === 'var') {
        for (const one of node.declarations) for (const name of bound(one.id)) scope.names.set(name, NOTHING);
      }
      for (const child of children(node)) if (!isFunction(child)) waiting.push(child);
    }
  }

  // ----- The walk: each kind of node by its name gives what it may be -----

  const literalKey = (node) => {
    if (node.type === 'Literal' && node.value !== null) return String(node.value);
    if (node.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0].value.cooked;
    return null;
  };
  const ITEM_FIRST = new Set(
    'map forEach filter some every find findIndex findLast findLastIndex flatMap'.split(' '),
  );
  const SAME = new Set('filter slice sort toSorted reverse toReversed concat flat splice toSpliced'.split(' '));
  const ONE = new Set('find findLast at pop shift'.split(' '));

  class Walk {
    constructor(reading, include = null) {
      this.reading = reading;
      this.include = include;
    }

    visit(node, scope) {
      const { reading } = this;
      reading.step();
      reading.depth += 1;
      if (reading.depth > DEPTH_LIMIT) throw new RangeError('the code is nested too deeply to tell its variables');
      try {
        const rule = RULES[node.type];
        if (rule !== undefined) return rule.call(this, node, scope) ?? NOTHING;
        for (const child of children(node)) this.visit(child, scope);
        return NOTHING;
      } finally {
        reading.depth -= 1;
      }
    }

    all(nodes, scope) {
      for (const node of nodes) if (node !== null) this.visit(node, scope);
    }

    statements(nodes, scope) {
      for (const node of nodes) {
        if (node.type === 'FunctionDeclaration') scope.names.set(node.id.name, { code: { node, scope } });
        else if (node.type === 'ClassDeclaration') scope.names.set(node.id.name, NOTHING);
        else if (node.type === 'VariableDeclaration' && node.kind !== 'var') {
          for (const one of node.declarations) for (const name of bound(one.id)) scope.names.set(name, NOTHING);
        }
      }
      this.all(nodes, scope);
    }

    // Gives the names of a pattern what `value` has for them.
    bind(pattern, value, scope) {
      if (pattern === null) return;
      const { reading } = this;
      switch (pattern.type) {
        case 'Identifier':
          scope.names.set(pattern.name, union(scope.names.get(pattern.name) ?? NOTHING, value));
          return;
        case 'AssignmentPattern':
          this.bind(pattern.left, union(value, this.visit(pattern.right, scope)), scope);
          return;
        case 'RestElement':
          this.bind(pattern.argument, value, scope);
          return;
        case 'ArrayPattern':
          pattern.elements.forEach((part, at) => {
            const one = value.tuple?.[at] ?? (part?.type === 'RestElement' ? value : reading.element(value));
            this.bind(part, one, scope);
          });
          return;
        case 'ObjectPattern':
          for (const part of pattern.properties) {
            if (part.type === 'RestElement') this.bind(part.argument, value, scope);
            else this.bind(part.value, this.keyed(value, part, scope), scope);
          }
          return;
        default:
          this.visit(pattern, scope);
      }
    }

    // The member that a property's key names.
    keyed(value, { key, computed }, scope) {
      const name = computed || key.type !== 'Identifier' ? literalKey(key) : key.name;
      if (name !== null) return this.reading.member(value, name);
      this.visit(key, scope);
      return this.reading.element(value);
    }

    // What the function gives where its parameters are these.
    apply({ node, scope }, values) {
      const { active } = this.reading;
      if (active.has(node)) return NOTHING;
      active.add(node);
      try {
        const inside = new Scope(scope);
        if (node.type !== 'ArrowFunctionExpression') {
          inside.names.set('this', NOTHING);
          inside.names.set('arguments', NOTHING);
        }
        if (node.type === 'FunctionExpression' && node.id) inside.names.set(node.id.name, NOTHING);
        node.params.forEach((pattern, at) => {
          for (const name of bound(pattern)) inside.names.set(name, NOTHING);
          this.bind(pattern, values[at] ?? NOTHING, inside);
        });
        if (node.body.type !== 'BlockStatement') return this.visit(node.body, inside);
        hoist(node.body, inside);
        inside.returned = NOTHING;
        inside.isBody = true;
        this.statements(node.body.body, inside);
        return inside.returned;
      } finally {
        active.delete(node);
      }
    }

    arguments(nodes, scope) {
      return nodes.map((node) => this.visit(node, scope));
    }

    // `value.name(…)`
    method(value, name, nodes, scope) {
      const { reading } = this;
      const own = value.fields?.get(name)?.code;
      if (own) return this.apply(own, this.arguments(nodes, scope));
      const [first, ...others] = nodes;
      const item = reading.element(value);
      const isReducing = name === 'reduce' || name === 'reduceRight';
      if (!first || !(ITEM_FIRST.has(name) || isReducing || name === 'sort' || name === 'toSorted')) {
        return this.plainMethod(value, name, item, this.arguments(nodes, scope));
      }
      const code = isFunction(first) ? { node: first, scope } : this.visit(first, scope).code;
      const more = this.arguments(others, scope);
      if (isReducing) {
        const begin = others.length > 0 ? more[0] : item;
        const made = code ? this.apply(code, [begin, item]) : NOTHING;
        return union(begin, made);
      }
      const made = code ? this.apply(code, ITEM_FIRST.has(name) ? [item, NOTHING, value] : [item, item]) : NOTHING;
      if (name === 'map') return { element: made };
      if (name === 'flatMap') return { element: reading.element(made) };
      return SAME.has(name) ? value : ONE.has(name) ? item : NOTHING;
    }

    plainMethod(value, name, item, values) {
      if ((name === 'push' || name === 'unshift') && value.isList) {
        for (const one of values) value.element = union(value.element ?? NOTHING, one);
        return NOTHING;
      }
      if (name === 'concat') return values.reduce(union, value);
      if (SAME.has(name)) return value;
      if (ONE.has(name)) return item;
      if (name === 'values') return { element: item };
      if (name === 'entries') return { element: { tuple: [NOTHING, item] } };
      return NOTHING;
    }

    // `Object.entries(…)` and its like.
    ofLanguage(owner, name, values, nodes) {
      const { reading } = this;
      const [value = NOTHING] = values;
      if (owner === 'Object' && name === 'values') return { element: reading.element(value) };
      if (owner === 'Object' && name === 'entries') return { element: { tuple: [NOTHING, reading.element(value)] } };
      if (owner === 'Object' && name === 'assign') return values.reduce(union, NOTHING);
      if (owner === 'Object' && (name === 'freeze' || name === 'fromEntries')) return name === 'freeze' ? value : NOTHING;
      if (owner === 'Array' && name === 'from') {
        const item = reading.element(value);
        const code = values[1]?.code;
        return { element: nodes[1] && code ? this.apply(code, [item]) : item };
      }
      if (owner === 'Object' && name === 'groupBy') {
        if (values[1]?.code) this.apply(values[1].code, [reading.element(value)]);
        return { element: value };
      }
      return NOTHING;
    }
  }

  const RULES = {
    Program(node, scope) {
      hoist(node, scope);
      this.statements(node.body, scope);
    },
    BlockStatement(node, scope) {
      this.statements(node.body, new Scope(scope));
    },
    SwitchStatement(node, scope) {
      this.visit(node.discriminant, scope);
      const inside = new Scope(scope);
      for (const { test } of node.cases) if (test) this.visit(test, inside);
      this.statements(node.cases.flatMap(({ consequent }) => consequent), inside);
    },
    ForStatement(node, scope) {
      const inside = new Scope(scope);
      if (node.init?.type === 'VariableDeclaration') this.statements([node.init], inside);
      else if (node.init) this.visit(node.init, inside);
      this.all([node.test, node.update, node.body], inside);
    },
    ForOfStatement(node, scope) {
      return forEach.call(this, node, scope, (value) => this.reading.element(value));
    },
    ForInStatement(node, scope) {
      return forEach.call(this, node, scope, () => NOTHING);
    },
    CatchClause(node, scope) {
      const inside = new Scope(scope);
      if (node.param) {
        for (const name of bound(node.param)) inside.names.set(name, NOTHING);
        this.bind(node.param, NOTHING, inside);
      }
      this.visit(node.body, inside);
    },
    LabeledStatement(node, scope) {
      this.visit(node.body, scope);
    },
    BreakStatement: () => NOTHING,
    ContinueStatement: () => NOTHING,
    VariableDeclaration(node, scope) {
      for (const { id, init } of node.declarations) {
        const value = init ? this.visit(init, scope) : NOTHING;
        // A `var` lives in its function, whatever block it stands in.
        const [name] = bound(id);
        this.bind(id, value, node.kind === 'var' ? scope.holder(name) ?? scope : scope);
      }
    },
    FunctionDeclaration(node, scope) {
      this.apply({ node, scope }, []);
    },
    FunctionExpression: functionValue,
    ArrowFunctionExpression: functionValue,
    ReturnStatement(node, scope) {
      if (!node.argument) return;
      const value = this.visit(node.argument, scope);
      let body = scope;
      while (body !== null && !body.isBody) body = body.outer;
      if (body !== null) body.returned = union(body.returned, value);
    },
    MethodDefinition(node, scope) {
      if (node.computed) this.visit(node.key, scope);
      this.visit(node.value, scope);
    },
    PropertyDefinition(node, scope) {
      if (node.computed) this.visit(node.key, scope);
      if (node.value) this.visit(node.value, scope);
    },
    ClassExpression(node, scope) {
      const inside = new Scope(scope);
      if (node.id) inside.names.set(node.id.name, NOTHING);
      inside.names.set('this', NOTHING);
      this.all([node.superClass, node.body], inside);
    },
    ClassDeclaration(node, scope) {
      RULES.ClassExpression.call(this, node, scope);
    },
    MetaProperty: () => NOTHING,
    Identifier(node, scope) {
      return this.reading.mark(scope.look(node.name));
    },
    ThisExpression(node, scope) {
      const holder = scope.holder('this');
      return holder === null ? NOTHING : this.reading.mark(holder.names.get('this'));
    },
    ChainExpression(node, scope) {
      return this.visit(node.expression, scope);
    },
    ParenthesizedExpression(node, scope) {
      return this.visit(node.expression, scope);
    },
    AwaitExpression(node, scope) {
      return this.visit(node.argument, scope);
    },
    SequenceExpression(node, scope) {
      return this.arguments(node.expressions, scope).at(-1);
    },
    ConditionalExpression(node, scope) {
      this.visit(node.test, scope);
      return union(this.visit(node.consequent, scope), this.visit(node.alternate, scope));
    },
    LogicalExpression(node, scope) {
      const left = this.visit(node.left, scope);
      const right = this.visit(node.right, scope);
      return node.operator === '&&' ? right : union(left, right);
    },
    BinaryExpression(node, scope) {
      const name = node.operator === 'in' ? literalKey(node.left) : null;
      if (name !== null) this.reading.member(this.visit(node.right, scope), name);
      else this.all([node.left, node.right], scope);
    },
    MemberExpression(node, scope) {
      const value = this.visit(node.object, scope);
      if (node.property.type === 'PrivateIdentifier') return NOTHING;
      if (!node.computed) return this.reading.member(value, node.property.name);
      const name = literalKey(node.property);
      if (name !== null && !/^\d+$/.test(name)) return this.reading.member(value, name);
      this.visit(node.property, scope);
      if (value.tuple && name !== null) return this.reading.mark(value.tuple[name] ?? NOTHING);
      // Which of all the data is known only when it runs.
      if (name === null && value.paths?.includes(ROOT)) return NOTHING;
      return this.reading.mark(this.reading.element(value));
    },
    CallExpression(node, scope) {
      const { callee, arguments: nodes } = node;
      if (callee.type === 'Identifier') return call.call(this, callee.name, nodes, scope);
      const member = callee.type === 'ChainExpression' ? callee.expression : callee;
      if (member.type === 'MemberExpression' && member.property.type !== 'PrivateIdentifier') {
        const { object, property, computed } = member;
        const name = computed ? literalKey(property) : property.name;
        if (name !== null) {
          const owner = object.type === 'Identifier' && scope.holder(object.name) === null ? object.name : null;
          if (owner !== null && this.language.has(owner)) {
            return this.ofLanguage(owner, name, this.arguments(nodes, scope), nodes);
          }
          return this.method(this.visit(object, scope), name, nodes, scope);
        }
      }
      const { code } = this.visit(callee, scope);
      const values = this.arguments(nodes, scope);
      return code ? this.apply(code, values) : NOTHING;
    },
    NewExpression(node, scope) {
      this.visit(node.callee, scope);
      const values = this.arguments(node.arguments, scope);
      const isSet = node.callee.type === 'Identifier' && node.callee.name === 'Set';
      return isSet && values[0] ? { element: this.reading.element(values[0]) } : NOTHING;
    },
    SpreadElement(node, scope) {
      return this.visit(node.argument, scope);
    },
    ArrayExpression(node, scope) {
      const parts = node.elements.filter((part) => part !== null).map((part) => {
        const value = this.visit(part, scope);
        return part.type === 'SpreadElement' ? this.reading.element(value) : value;
      });
      const isPlain = node.elements.length > 0 && parts.length <= 4 && node.elements.every((part) => part?.type !== 'SpreadElement');
      if (isPlain) return { isList: true, tuple: parts };
      return { isList: true, element: parts.reduce(union, NOTHING) };
    },
    ObjectExpression(node, scope) {
      let made = { fields: new Map() };
      for (const part of node.properties) {
        if (part.type === 'SpreadElement') {
          made = union(made, this.visit(part.argument, scope));
          continue;
        }
        const name = part.computed || part.key.type !== 'Identifier' ? literalKey(part.key) : part.key.name;
        if (name === null) this.visit(part.key, scope);
        const value = this.visit(part.value, scope);
        if (name !== null) made.fields.set(name, value);
      }
      return made;
    },
    AssignmentExpression(node, scope) {
      const value = this.visit(node.right, scope);
      const { left, operator } = node;
      if (left.type === 'MemberExpression') {
        this.visit(left.object, scope);
        if (left.computed) this.visit(left.property, scope);
      } else if (left.type !== 'Identifier') {
        for (const name of bound(left)) if (scope.holder(name) === null) scope.top.names.set(name, NOTHING);
        this.bind(left, value, scope);
      } else {
        const holder = scope.holder(left.name);
        if (holder !== null) holder.names.set(left.name, union(holder.names.get(left.name), value));
        else if (operator === '=') scope.top.names.set(left.name, value);
        else return union(this.visit(left, scope), value);
      }
      return value;
    },
  };

  function functionValue(node, scope) {
    const code = { node, scope };
    this.apply(code, []);
    return { code };
  }

  function forEach(node, scope, itemOf) {
    const item = itemOf(this.visit(node.right, scope));
    const inside = new Scope(scope);
    if (node.left.type === 'VariableDeclaration') {
      for (const { id } of node.left.declarations) {
        if (node.left.kind !== 'var') for (const name of bound(id)) inside.names.set(name, NOTHING);
        const [name] = bound(id);
        this.bind(id, item, scope.holder(name) !== null && node.left.kind === 'var' ? scope.holder(name) : inside);
      }
    } else {
      const [name] = bound(node.left);
      this.bind(node.left, item, (name && scope.holder(name)) || scope.top);
    }
    this.visit(node.body, inside);
  }

  // `name(…)`
  function call(name, nodes, scope) {
    const values = () => this.arguments(nodes, scope);
    if (name === 'include' && scope.holder(name) === null && this.include !== null) {
      this.include(nodes[0] ? literalKey(nodes[0]) : null, values()[1] ?? NOTHING);
      return NOTHING;
    }
    const { code } = this.reading.mark(scope.look(name));
    return code ? this.apply(code, values()) : (values(), NOTHING);
  }

  // ----- Texts -----

  function parsed(source) {
    return acorn.parse(source, { ecmaVersion: 'latest', sourceType: 'script', allowReturnOutsideFunction: true });
  }

  function includes(source) {
    const found = [];
    const waiting = [parsed(source)];
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

  return {
    LANGUAGE,
    NOTHING,
    ROOT,
    Reading,
    Scope,
    Walk,
    expression,
    includes,
    isNothing,
    literalKey,
    parsed,
    union,
  };
})
