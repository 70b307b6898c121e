// Keeps what script has begun and not ended, for the watch of a page or of a worker.
//
// Two kinds of what is pending. Firm: it is waited for. Loose: it belongs to what only ticks (a timer set by timers,
// a frame after frames, when their chain has had its share without a change) or was waited for longer than it
// should take, so the script is ready when nothing has changed for the quiet window. Beside them what is not waited
// for, and named when the page is printed: intervals that came once for nothing, timers of long.
//
// limits: {quiet, bound, links, patience, far}, all in ms but the number of links; host: {now, bound(), hasChanged(),
// computes(), stirred(), consider()}, of which `stirred` hears of whatever may lead to more.
(function (limits, host) {
  'use strict';

  // Work beside the script that is waited for though nothing changes meanwhile, one after the other.
  const IDLE_STEPS = 10;
  const TALK_MS = 50;
  const NAMED = 3;

  const now = host.now;
  // What is pending by its key: {what, link, firm, until, timer}.
  const waits = { __proto__: null };
  const intervals = { __proto__: null };
  // The names of timers that nobody waits for.
  const distant = { __proto__: null };
  let holds = 0;
  let talkedAt = -TALK_MS;
  let idleSteps = 0;
  let news = 0;
  let requests = 0;
  let requestingSince = 0;
  // Timers that fired, answers that came, since the last change.
  let fires = 0;
  // Counts changes: a chain begins anew with each.
  let epoch = 0;
  // The link whose callback ran last: what is asked for now goes on with it, also behind a promise.
  let current = null;

  const book = {
    __proto__: null,
    loaded: false,
    firm: 0,
    loose: 0,
    // Counts what an idle interval may have waited for.
    activity: 0,
    changedAt: now(),
    requestedAt: now(),
    // Time in callbacks since the last change.
    spent: 0,
    now,
    // Whether it has workers in common with others, whose work nobody sees.
    shares: false,
    // Workers that are to be heard of from elsewhere.
    workers: 0,
  };

  const isFirm = () => !book.loaded || fires === 0 || now() - book.changedAt <= limits.quiet || host.hasChanged();
  book.isFirm = isFirm;
  book.mayStep = () => isFirm() || ++idleSteps <= IDLE_STEPS;
  book.step = () => void fires++;

  book.settle = () => {
    book.changedAt = now();
    fires = idleSteps = news = book.spent = 0;
    epoch++;
  };

  book.changed = () => {
    book.settle();
    book.activity++;
    // Who changes something now and then goes on by timers: what they have set is awaited.
    if (book.loose > 0) {
      for (const key in waits) {
        const wait = waits[key];
        if (!wait.firm && wait.timer) {
          wait.firm = true;
          book.loose--;
          book.firm++;
        }
      }
    }
    host.stirred();
    host.consider();
  };

  const begin = (key, wait) => {
    waits[key] = wait;
    if (!wait.firm) {
      book.loose++;
      return;
    }
    book.firm++;
    host.stirred();
  };

  const end = key => {
    const wait = waits[key];
    if (!wait) return;
    delete waits[key];
    if (wait.firm) {
      book.firm--;
      book.activity++;
      host.stirred();
    } else {
      book.loose--;
    }
    host.consider();
  };
  book.end = end;

  // What takes longer than it should may still come: nothing that is begun is taken for ended.
  book.loosenLate = () => {
    const time = now();
    for (const key in waits) {
      const wait = waits[key];
      if (wait.until >= time) continue;
      wait.until = Infinity;
      wait.timer = false;
      if (!wait.firm) continue;
      wait.firm = false;
      book.firm--;
      book.loose++;
      book.requestedAt = time;
      host.stirred();
      host.consider();
    }
  };

  book.hold = (what, limit, firm = true) => {
    const key = 'h' + ++holds;
    begin(key, { __proto__: null, what, link: null, firm, until: now() + limit, timer: false });
    return key;
  };
  book.request = what => {
    book.requestedAt = now();
    if (requests++ === 0) requestingSince = book.requestedAt;
    return book.hold(what, Infinity);
  };
  // The time that requests took is not their page's.
  book.answered = key => {
    book.requestedAt = now();
    if (--requests === 0) {
      const since = requestingSince > book.changedAt ? requestingSince : book.changedAt;
      book.changedAt += book.requestedAt - since;
    }
    end(key);
  };
  book.untilSettled = async (promise, done, key) => {
    try {
      await promise;
    } catch {}
    done(key);
  };

  // Messages come in a task of their own, soon.
  book.talked = () => {
    if (isFirm()) host.stirred();
    else talkedAt = now();
    fires++;
    host.consider();
  };

  // A message of a worker's, or to a worker: what was waited for, or the progress towards it. One that only ticks is
  // not taken for a change again and again.
  book.heardNews = () => {
    if (++news > IDLE_STEPS) return book.talked();
    book.changedAt = now();
    fires = 0;
    epoch++;
    book.talked();
  };
  // So many workers more are to be heard of.
  book.hire = count => {
    book.workers += count;
    host.stirred();
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
  book.timer = (key, what, delay) => {
    const awaited = isFirm();
    const made = link(delay, false);
    const isPatient = made.links <= limits.links && now() + delay - book.changedAt <= limits.patience;
    const firm = awaited || isPatient || host.computes();
    begin(key, { __proto__: null, what, link: made, firm, until: now() + delay + limits.bound, timer: true });
  };
  book.frame = (key, limit) => {
    const firm = !book.loaded || now() - book.changedAt <= limits.patience || host.hasChanged();
    const made = link(0, true);
    begin(key, { __proto__: null, what: '', link: made, firm, until: now() + limit, timer: false });
  };
  // The callback of a timer or a frame is about to run.
  book.fired = key => {
    const wait = waits[key];
    if (wait && wait.link) {
      current = wait.link;
      if (!current.isFrame) fires++;
    }
    end(key);
  };

  book.distant = (key, delay) => {
    if (delay > limits.far) return;
    distant[key] = 'a timer of ' + delay + ' ms';
    host.stirred();
    host.consider();
  };
  book.near = key => void delete distant[key];

  // It is pending until it has come once without anything having happened before or by it.
  book.interval = (id, period) => {
    const isLong = period > host.bound();
    if (isLong && period > limits.far) return;
    intervals[id] = { __proto__: null, period, isLong, seen: -1 };
    host.stirred();
    host.consider();
  };
  book.ticked = id => {
    if (intervals[id]) intervals[id].seen = book.activity;
  };
  book.cleared = id => {
    delete distant['t' + id];
    if (delete intervals[id]) host.consider();
  };
  const isOpen = interval => !interval.isLong && interval.seen !== book.activity;

  // Whether anything goes on that is not waited for.
  book.ticks = () => {
    let ticks = book.loose > 0 || now() - talkedAt < TALK_MS;
    for (const id in intervals) ticks ||= isOpen(intervals[id]);
    return ticks;
  };
  // How much of the window is left.
  book.quietLeft = () => {
    const { changedAt, requestedAt } = book;
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
  // What is pending, in a few words: what is waited for, or everything.
  book.names = isAll => {
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
      if (book.shares) add('a shared worker, which cannot be asked');
      if (now() - talkedAt < TALK_MS) add('messages without end');
    }
    let text = '';
    let kinds = 0;
    for (const what in counts) {
      if (++kinds > NAMED) break;
      text += (text && ', ') + what + (counts[what] > 1 ? ' (' + counts[what] + ' of them)' : '');
    }
    return text;
  };

  return book;
})
