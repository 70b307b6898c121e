// The list of what script has begun and not ended, for the watch of a page or of a worker.
//
// What is pending is firm or loose. Firm: it is waited for. Loose: it only ticks (a timer set by timers, a frame after
// frames, whose chain has used up its share without a change) or takes longer than it should; with only loose ones
// left the script is ready when nothing has changed for the quiet window. Not waited for, but named when the page is
// printed: intervals that fired once without effect, and timers with long delays.
//
// limits: {quiet, bound, links, patience, far}, all in ms but the number of links; host: {now, bound(), hasChanged(),
// computes(), active(), consider()}; `active` is called with whatever may lead to more work.
(function (limits, host) {
  'use strict';

  // How many pieces of asynchronous work in a row are waited for though nothing changes.
  const IDLE_STEPS = 10;
  const MESSAGE_MS = 50;
  const NAMED = 3;

  const now = host.now;
  // What is pending by its key: {what, link, firm, until, timer}.
  const waits = { __proto__: null };
  const intervals = { __proto__: null };
  // By key, the names of timers that are not waited for: their delay is long.
  const distant = { __proto__: null };
  let holds = 0;
  let messagedAt = -MESSAGE_MS;
  let idleSteps = 0;
  let news = 0;
  let requests = 0;
  let requestingSince = 0;
  // Timers that fired, answers that came, since the last change.
  let fires = 0;
  // Counts changes: a chain begins anew with each.
  let epoch = 0;
  // The epoch in which a clock was last seen at work.
  let clockEpoch = -1;
  // Whether there is a list that grew as often as it may, whenever its end was seen.
  let isEndless = false;
  // The link whose callback ran last: what is requested now continues its chain, also behind a promise.
  let current = null;

  const pending = {
    __proto__: null,
    loaded: false,
    firm: 0,
    loose: 0,
    // Counts changes and ends of what was firm: an interval may have waited for them.
    activity: 0,
    changedAt: now(),
    requestedAt: now(),
    // Time in callbacks since the last change.
    spent: 0,
    now,
    // Whether it uses shared workers, which are not watched.
    shares: false,
    // How many workers report by a watch of their own.
    workers: 0,
  };

  const isFirm = () => !pending.loaded || fires === 0 || now() - pending.changedAt <= limits.quiet || host.hasChanged();
  pending.isFirm = isFirm;
  pending.mayStep = () => isFirm() || ++idleSteps <= IDLE_STEPS;
  pending.step = () => void fires++;

  pending.settle = () => {
    pending.changedAt = now();
    fires = idleSteps = news = pending.spent = 0;
    epoch++;
  };

  pending.changed = () => {
    pending.settle();
    pending.activity++;
    // A script that still changes something may go on by its timers: loose ones are firm again.
    if (pending.loose > 0) {
      for (const key in waits) {
        const wait = waits[key];
        if (!wait.firm && wait.timer) {
          wait.firm = true;
          pending.loose--;
          pending.firm++;
        }
      }
    }
    host.active();
    host.consider();
  };

  const begin = (key, wait) => {
    waits[key] = wait;
    if (!wait.firm) {
      pending.loose++;
      return;
    }
    pending.firm++;
    host.active();
  };

  const end = key => {
    const wait = waits[key];
    if (!wait) return;
    delete waits[key];
    if (wait.firm) {
      pending.firm--;
      pending.activity++;
      host.active();
    } else {
      pending.loose--;
    }
    host.consider();
  };
  pending.end = end;

  // What takes longer than it should may still come: it is made loose, not ended.
  pending.loosenLate = () => {
    const time = now();
    for (const key in waits) {
      const wait = waits[key];
      if (wait.until >= time) continue;
      wait.until = Infinity;
      wait.timer = false;
      if (!wait.firm) continue;
      wait.firm = false;
      pending.firm--;
      pending.loose++;
      pending.requestedAt = time;
      host.active();
      host.consider();
    }
  };

  pending.hold = (what, limit, firm = true) => {
    const key = 'h' + ++holds;
    begin(key, { __proto__: null, what, link: null, firm, until: now() + limit, timer: false });
    return key;
  };
  pending.request = what => {
    pending.requestedAt = now();
    if (requests++ === 0) requestingSince = pending.requestedAt;
    return pending.hold(what, Infinity);
  };
  // The time that requests took does not count as time without a change.
  pending.answered = key => {
    pending.requestedAt = now();
    if (--requests === 0) {
      const since = requestingSince > pending.changedAt ? requestingSince : pending.changedAt;
      pending.changedAt += pending.requestedAt - since;
    }
    end(key);
  };
  pending.untilSettled = async (promise, done, key) => {
    try {
      await promise;
    } catch {}
    done(key);
  };

  // A message that was posted arrives soon, in a task of its own.
  pending.messaged = () => {
    if (isFirm()) host.active();
    else messagedAt = now();
    fires++;
    host.consider();
  };

  // A message from or to a worker may be a result or progress, so it counts as a change; but only IDLE_STEPS in a row,
  // for it may merely tick.
  pending.exchanged = () => {
    if (++news > IDLE_STEPS) return pending.messaged();
    pending.changedAt = now();
    fires = 0;
    epoch++;
    pending.messaged();
  };
  pending.clocked = () => {
    clockEpoch = epoch;
    for (const key in waits) {
      const wait = waits[key];
      if (!wait.firm || !wait.timer || wait.link.again < 2) continue;
      wait.firm = false;
      pending.firm--;
      pending.loose++;
    }
    host.consider();
  };
  pending.endless = () => {
    isEndless = true;
    host.active();
    host.consider();
  };
  // Counts workers that report by themselves; a negative number subtracts.
  pending.addWorkers = count => {
    pending.workers += count;
    host.active();
    host.consider();
  };

  // A chain: timers and frames whose callbacks ask for the next. Each link knows how many there were since the last
  // change, how often the same delay came again, and how many frames were asked for.
  const link = (delay, isFrame) => {
    const last = current;
    const goesOn = last !== null && last.epoch === epoch;
    return {
      __proto__: null,
      epoch,
      isFrame,
      links: (goesOn ? last.links : -1) + (isFrame && goesOn ? 0 : 1),
      delay: isFrame ? (last === null ? -1 : last.delay) : delay,
      again: last === null ? 0 : isFrame ? last.again : last.delay === delay ? last.again + 1 : 0,
      frames: (last === null ? 0 : last.frames) + (isFrame ? 1 : 0),
    };
  };
  pending.timer = (key, what, delay) => {
    const awaited = isFirm();
    const made = link(delay, false);
    const isPatient = made.links <= limits.links && now() + delay - pending.changedAt <= limits.patience;
    const isOfClock = clockEpoch === epoch && made.again > 1;
    const firm = !isOfClock && (awaited || isPatient || host.computes());
    begin(key, { __proto__: null, what, link: made, firm, until: now() + delay + limits.bound, timer: true });
  };
  pending.frame = (key, limit) => {
    const firm = !pending.loaded || now() - pending.changedAt <= limits.patience || host.hasChanged();
    const made = link(0, true);
    begin(key, { __proto__: null, what: '', link: made, firm, until: now() + limit, timer: false });
  };
  pending.drawsFrames = () => {
    for (const key in waits) if (waits[key].link !== null && waits[key].link.isFrame) return true;
    return false;
  };
  // The callback of a timer or a frame is about to run.
  pending.fired = key => {
    const wait = waits[key];
    if (wait && wait.link) {
      current = wait.link;
      if (!current.isFrame) fires++;
    }
    end(key);
  };

  pending.distant = (key, delay) => {
    if (delay > limits.far) return;
    distant[key] = 'a timer of ' + delay + ' ms';
    host.active();
    host.consider();
  };
  pending.near = key => void delete distant[key];

  // An interval is pending until it has fired and no activity has followed.
  pending.interval = (id, period) => {
    const isLong = period > host.bound();
    if (isLong && period > limits.far) return;
    intervals[id] = { __proto__: null, period, isLong, seen: -1 };
    host.active();
    host.consider();
  };
  pending.ticked = id => {
    if (intervals[id]) intervals[id].seen = pending.activity;
  };
  pending.cleared = id => {
    delete distant['t' + id];
    if (delete intervals[id]) host.consider();
  };
  const isOpen = interval => !interval.isLong && interval.seen !== pending.activity;

  // Whether something loose, a message or an interval is left.
  pending.ticks = () => {
    let ticks = pending.loose > 0 || now() - messagedAt < MESSAGE_MS;
    for (const id in intervals) ticks ||= isOpen(intervals[id]);
    return ticks;
  };
  // How much of the quiet window is left, in ms.
  pending.quietLeft = () => {
    const { changedAt, requestedAt } = pending;
    return limits.quiet - (now() - (changedAt > requestedAt ? changedAt : requestedAt));
  };

  const times = count => count + (count === 1 ? ' time' : ' times');
  const nameOf = ({ what, link }) => {
    if (link === null || what !== '') return what;
    if (link.isFrame) {
      return 'an animation frame' + (link.frames > 1 ? ', asked for again ' + times(link.frames - 1) : '');
    }
    if (link.again === 0) return 'a timer of ' + link.delay + ' ms';
    return 'a timer every ' + link.delay + ' ms, set again ' + times(link.again);
  };
  // What is pending, in a few words: what keeps the script from being ready, or everything.
  pending.names = isAll => {
    const counts = { __proto__: null };
    const add = what => {
      counts[what] = (counts[what] || 0) + 1;
    };
    for (const key in waits) add(nameOf(waits[key]));
    for (const id in intervals) {
      if (isAll || isOpen(intervals[id])) add('an interval of ' + intervals[id].period + ' ms');
    }
    if (isAll) {
      for (const key in distant) add(distant[key]);
      if (isEndless) add('a list that grows whenever its end is seen (browser.seen_steps_limit)');
      if (pending.shares) add('a shared worker, which cannot be asked');
      if (now() - messagedAt < MESSAGE_MS) add('messages without end');
    }
    let text = '';
    let kinds = 0;
    for (const what in counts) {
      if (++kinds > NAMED) break;
      text += (text && ', ') + what + (counts[what] > 1 ? ' (' + counts[what] + ' of them)' : '');
    }
    return text;
  };

  return pending;
})
