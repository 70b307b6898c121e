// Walks the syntax tree of a script and finds which data each expression reads; nothing of it is run.
//
// Evaluated with what `data-paths.js` and `syntax.js` make.
(function (paths, syntax) {
  'use strict';

  const { NOTHING, ROOT, union } = paths;
  const { Scope, bound, children, hoist, isFunction, literalKey } = syntax;

  const DEPTH_LIMIT = 1_000;

  const DYNAMIC_INCLUDE =
    "an include names its file by an expression, which is known only when it runs: the variables lack what that file reads";
  // Functions whose result is a text, a number, true or false whatever they are given.
  const PLAIN =
    /^(String|Number|Boolean|BigInt|Date|RegExp|Symbol|(Eval|Range|Reference|Syntax|Type|URI)?Error|parse(Int|Float)|is(NaN|Finite)|(en|de)codeURI(Component)?|(un)?escape|escapeFn|_\$escape|_\$append|__append)$/;
  const UNFOLLOWED = new Set(['JSON.parse', 'Object.fromEntries', 'Object.create', 'Object.defineProperty', 'Map.groupBy']);

  const LANGUAGE = new Set(Object.getOwnPropertyNames(globalThis));

  // ----- The walk: RULES has a function for each type of node, which gives its value -----

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
      // A throw ends the whole reading, so `depth` need not be restored.
      const rule = RULES[node.type];
      let value = NOTHING;
      if (rule !== undefined) value = rule.call(this, node, scope) ?? NOTHING;
      else for (const child of children(node)) this.visit(child, scope);
      reading.depth -= 1;
      return value;
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

    // Gives the member of an object or list made here a value.
    put({ object, property, computed }, value, scope) {
      const made = this.visit(object, scope);
      const name = computed ? literalKey(property) : property.name;
      if (name === null) this.visit(property, scope);
      if (made.fields && name !== null) made.fields.set(name, union(made.fields.get(name) ?? NOTHING, value));
      else if (made.fields || made.isList) made.element = union(made.element ?? NOTHING, value);
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

    // What the function returns for these arguments.
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
        if (node.type === 'FunctionExpression' && node.id) inside.names.set(node.id.name, { code: { node, scope } });
        node.params.forEach((pattern, at) => {
          for (const name of bound(pattern)) inside.names.set(name, NOTHING);
          const isRest = pattern.type === 'RestElement';
          const value = isRest ? listOf(values.slice(at), values.others) : values[at] ?? values.others ?? NOTHING;
          this.bind(pattern, value, inside);
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

    // After a spread the places are known only when the code runs: all of these values are united in `others`.
    arguments(nodes, scope) {
      const values = [];
      for (const node of nodes) {
        const value = this.visit(node, scope);
        const isSpread = node.type === 'SpreadElement';
        if (!isSpread && values.others === undefined) values.push(value);
        else values.others = union(values.others ?? NOTHING, isSpread ? this.reading.element(value) : value);
      }
      return values;
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
        for (const one of [...values, values.others ?? NOTHING]) value.element = union(value.element ?? NOTHING, one);
        return NOTHING;
      }
      if (name === 'concat') return union(values.reduce(union, value), values.others ?? NOTHING);
      if (value.code) this.lost(`.${name}(…)`, values);
      if (SAME.has(name)) return value;
      if (ONE.has(name)) return item;
      if (name === 'values') return { element: item };
      if (name === 'entries') return { element: { tuple: [NOTHING, item] } };
      return NOTHING;
    }

    // Warns that data go where they are not followed.
    lost(where, values) {
      const isData = (value) => !!(value.paths || value.fields || value.element || value.tuple);
      if (![...values, values.others ?? NOTHING].some(isData)) return;
      this.reading.warn(`data go into '${where}', where they are not followed: the variables may lack some that are read there`);
    }

    // `Object.entries(…)` and its like.
    ofLanguage(owner, name, values, nodes) {
      const { reading } = this;
      const [value = NOTHING] = values;
      if (owner === 'Object' && name === 'values') return { element: reading.element(value) };
      if (owner === 'Object' && name === 'entries') return { element: { tuple: [NOTHING, reading.element(value)] } };
      if (owner === 'Object' && name === 'assign') return union(values.reduce(union, NOTHING), values.others ?? NOTHING);
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
      if (UNFOLLOWED.has(`${owner}.${name}`) || owner === 'Reflect') this.lost(`${owner}.${name}`, values);
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
        // A `var` belongs to its function, whatever block it is in.
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
      // Which member of the whole data is read is known only when the code runs.
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
      if (code) return this.apply(code, values);
      this.lost('a call', values);
      return NOTHING;
    },
    NewExpression(node, scope) {
      this.visit(node.callee, scope);
      const values = this.arguments(node.arguments, scope);
      const isSet = node.callee.type === 'Identifier' && node.callee.name === 'Set';
      if (isSet) return values[0] ? { element: this.reading.element(values[0]) } : NOTHING;
      const name = node.callee.type === 'Identifier' ? node.callee.name : '…';
      if (!PLAIN.test(name)) this.lost(`new ${name}`, values);
      return NOTHING;
    },
    SpreadElement(node, scope) {
      return this.visit(node.argument, scope);
    },
    ArrayExpression(node, scope) {
      const parts = node.elements.filter((part) => part !== null).map((part) => {
        const value = this.visit(part, scope);
        return part.type === 'SpreadElement' ? this.reading.element(value) : value;
      });
      const isPlain = node.elements.length > 0 && node.elements.every((part) => part?.type !== 'SpreadElement');
      return isPlain ? listOf(parts) : { isList: true, element: parts.reduce(union, NOTHING) };
    },
    ObjectExpression(node, scope) {
      let made = { fields: new Map(), own: new Set() };
      for (const part of node.properties) {
        if (part.type === 'SpreadElement') {
          const spread = this.visit(part.argument, scope);
          made = union(made, spread);
          made.own = new Set(spread.paths ? [] : made.fields?.keys());
          continue;
        }
        const name = part.computed || part.key.type !== 'Identifier' ? literalKey(part.key) : part.key.name;
        if (name === null) this.visit(part.key, scope);
        const value = this.visit(part.value, scope);
        if (name === null) {
          made.element = union(made.element ?? NOTHING, value);
        } else {
          made.fields.set(name, value);
          made.own.add(name);
        }
      }
      return made;
    },
    AssignmentExpression(node, scope) {
      const value = this.visit(node.right, scope);
      const { left, operator } = node;
      if (left.type === 'MemberExpression') {
        this.put(left, value, scope);
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

  // A list made here of these, and of any of `others`.
  function listOf(values, others = NOTHING) {
    if (values.length <= 4 && others === NOTHING) return { isList: true, tuple: values };
    return { isList: true, element: values.reduce(union, others) };
  }

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
      const file = nodes[0] ? literalKey(nodes[0]) : null;
      if (file === null) this.reading.warn(DYNAMIC_INCLUDE);
      this.include(file, values()[1] ?? NOTHING);
      return NOTHING;
    }
    const { code } = this.reading.mark(scope.look(name));
    const given = values();
    if (code) return this.apply(code, given);
    if (!PLAIN.test(name)) this.lost(`${name}(…)`, given);
    return NOTHING;
  }

  return { LANGUAGE, Walk };
})
