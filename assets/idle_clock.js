// Tells a clock from a page that is still being made: a clock puts the same few words anew, again and again.
//
// Gives a function that takes the records of a MutationObserver, and answers whether a clock makes such changes. What
// frames draw is none: an animation ends.
//
// limits: {clock, patience}: for how long (ms) such changes still count, those that follow one another slowly and fast;
// now(); drawsFrames(): whether a frame is asked for.
(function (limits, now, drawsFrames) {
  'use strict';

  const LEAST_TIMES = 3;
  // Numbers that count up to a result change faster than this, clocks do not.
  const FAST_MS = 90;
  const WORDS_CHARS = 64;
  const { apply, getOwnPropertyDescriptor } = Reflect;
  const getter = (owner, name) => getOwnPropertyDescriptor(owner.prototype, name).get;
  const natives = {
    __proto__: null,
    type: getter(MutationRecord, 'type'),
    target: getter(MutationRecord, 'target'),
    added: getter(MutationRecord, 'addedNodes'),
    removed: getter(MutationRecord, 'removedNodes'),
    length: getter(NodeList, 'length'),
    item: NodeList.prototype.item,
    name: getter(Node, 'nodeName'),
    text: getter(Node, 'textContent'),
    known: WeakMap.prototype.get,
    note: WeakMap.prototype.set,
  };
  const read = (name, of) => apply(natives[name], of, []);
  const isShort = node => read('text', node).length <= WORDS_CHARS;

  // How often the words of a node were put anew, since when, and in which look the last time.
  const changes = new WeakMap();
  let looks = 0;

  const putsWords = record => {
    const type = read('type', record);
    if (type === 'characterData') return isShort(read('target', record));
    if (type !== 'childList') return false;
    const added = read('added', record);
    const removed = read('removed', record);
    const count = read('length', added);
    if (count === 0 || count !== read('length', removed)) return false;
    for (let at = 0; at < count; at++) {
      const node = apply(natives.item, added, [at]);
      if (read('name', node) !== read('name', apply(natives.item, removed, [at])) || !isShort(node)) return false;
    }
    return true;
  };
  const goesOn = record => {
    const node = read('target', record);
    const time = now();
    let known = apply(natives.known, changes, [node]);
    if (known === undefined) {
      known = { __proto__: null, times: 0, since: time, look: 0 };
      apply(natives.note, changes, [node, known]);
    }
    if (known.look !== looks) {
      known.look = looks;
      known.times++;
    }
    const passed = time - known.since;
    const isFast = passed < FAST_MS * (known.times - 1);
    return known.times >= LEAST_TIMES && passed >= (isFast ? limits.patience : limits.clock);
  };

  return records => {
    looks++;
    let isClock = !drawsFrames();
    for (let at = 0; at < records.length; at++) {
      if (!putsWords(records[at])) return false;
      isClock = goesOn(records[at]) && isClock;
    }
    return isClock;
  };
})
