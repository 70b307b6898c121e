// Ways by which a page could leave something for the one that has its tab next. `set` leaves the job's mark, `look`
// answers what an earlier page left, or nothing where there is nothing; both may wait. What `set` answers in words is
// told to the next page's `look`, as if the two had agreed on it. `first`: what a page saw that has a tab of its own.
//
// What is not here cannot be reached without a hand on the keyboard, or does not exist in the headless shell: picture
// in picture, pointer lock, file pickers, payments, credentials, push, background sync.

const pause = ms => new Promise(done => setTimeout(done, ms));
// Where something was left it comes at once, or soon on a busy machine; where nothing was, waiting is lost time.
const patience = () => seen.expects ? 10_000 : 250;
const within = (ms, promise) => Promise.race([promise, pause(ms)]);
const event = (target, kind) => new Promise(done => target.addEventListener(kind, done, { once: true }));
const request = async asked => (await event(asked, 'success'), asked.result);
const above = () => location.hostname.split('.').slice(1).join('.');
const cookie = name => document.cookie.split('; ').find(it => it.startsWith(name + '=')) ?? '';
const add = (name, members = {}) => document.body.appendChild(Object.assign(document.createElement(name), members));
const cached = async path => {
  await (await fetch(path)).text();
  return performance.getEntriesByName(location.origin + path).at(-1)?.deliveryType === 'cache' ? 'cached' : '';
};
const heard = async channel => {
  const listener = new BroadcastChannel(channel);
  const message = await within(patience(), event(listener, 'message'));
  listener.close();
  return message?.data;
};
const registration = async () => (await navigator.serviceWorker.getRegistrations())[0];
const registered = () => within(3000, navigator.serviceWorker.ready);
const ask = async (worker, mark) => {
  worker.port.start();
  worker.port.postMessage(mark);
  return (await within(5000, event(worker.port, 'message')))?.data;
};
const database = async name => {
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('store');
  return request(opening);
};
const store = async (name, what) => {
  const kept = await database(name);
  await request(kept.transaction('store', 'readwrite').objectStore('store').put(what, 'key'));
  kept.close();
};
const stored = async name => {
  if (!(await indexedDB.databases()).some(it => it.name === name)) return null;
  const kept = await database(name);
  const what = await request(kept.transaction('store').objectStore('store').get('key'));
  kept.close();
  return what;
};
// What outlives its page would go on by this, and the next one see it.
const speak = (kind, mark) => {
  document.cookie = `${kind}=${mark};path=/;domain=${above()}`;
  localStorage['by ' + kind] = mark;
};
const spoken = kind => cookie(kind) || localStorage['by ' + kind];
const PERMISSIONS = ['geolocation', 'notifications', 'camera', 'microphone', 'persistent-storage', 'clipboard-read',
  'clipboard-write', 'midi', 'screen-wake-lock', 'window-management', 'storage-access', 'local-fonts', 'idle-detection'];
const permissions = async () => (await Promise.all(PERMISSIONS.map(
  name => navigator.permissions.query({ name }).then(it => name + ' ' + it.state, () => '')))).join();
const sizes = () => [outerWidth, outerHeight, screenX, screenY, innerWidth, innerHeight, devicePixelRatio].join();
const language = () => [Intl.DateTimeFormat().resolvedOptions().timeZone, Intl.NumberFormat().resolvedOptions().locale,
  navigator.languages, new Date(0).getTimezoneOffset()].join();

const seenFirst = async () => ({ history: history.length, permissions: await permissions(), sizes: sizes(),
  language: language(), focus: document.hasFocus(), orientation: screen.orientation.type });

const carriers = {
  // Kept under the page's origin.
  'localStorage': { set: mark => { localStorage.left = mark }, look: () => localStorage.left },
  'sessionStorage': { set: mark => { sessionStorage.left = mark }, look: () => sessionStorage.left },
  'IndexedDB': { set: mark => store('words', mark), look: () => stored('words') },
  'IndexedDB, names': {
    set: mark => { indexedDB.open(mark) },
    look: async () => (await indexedDB.databases()).map(it => it.name).filter(it => /^mark/.test(it)).join(),
  },
  'IndexedDB, a key': {
    set: async () => store('keys', await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])),
    look: async () => (await stored('keys'))?.algorithm.name,
  },
  'IndexedDB, a handle of a file': {
    set: async mark => store('handles',
      await (await navigator.storage.getDirectory()).getFileHandle(mark, { create: true })),
    look: async () => (await stored('handles'))?.name,
  },
  'IndexedDB, a certificate': {
    set: async () => store('certificates',
      await RTCPeerConnection.generateCertificate({ name: 'ECDSA', namedCurve: 'P-256' })),
    look: async () => (await stored('certificates'))?.expires,
  },
  'Cache': {
    set: async mark => (await caches.open('left')).put('/kept', new Response(mark)),
    look: async () => (await (await caches.open('left')).match('/kept'))?.text(),
  },
  'Cache, names': {
    set: mark => { caches.open(mark) },
    look: async () => (await caches.keys()).filter(it => /^mark/.test(it)).join(),
  },
  'private files': {
    set: async mark => (await navigator.storage.getDirectory()).getDirectoryHandle('of ' + mark, { create: true }),
    look: async () => {
      const seen = [];
      for await (const name of (await navigator.storage.getDirectory()).keys()) seen.push(name);
      return seen.join();
    },
  },
  'files of old': {
    set: mark => new Promise((done, fail) => webkitRequestFileSystem(0, 9,
      it => it.root.getFile(mark, { create: true }, () => done(), fail), fail)),
    look: () => new Promise((done, fail) => webkitRequestFileSystem(0, 9,
      it => it.root.createReader().readEntries(all => done(all.map(it => it.name).join()), fail), fail)),
  },
  'storage bucket': {
    set: async mark => { await request((await navigator.storageBuckets.open(mark)).indexedDB.open('words', 1)) },
    look: async () => (await navigator.storageBuckets.keys()).join(),
  },
  'storage used': { set: () => {}, look: async () => (await navigator.storage.estimate()).usage },
  'storage persisted': { set: () => navigator.storage.persist().then(() => {}), look: () => navigator.storage.persisted() },
  'storage event': {
    set: mark => { setInterval(() => { localStorage.told = mark + Math.random() }, 40) },
    look: async () => (await within(200, event(window, 'storage')))?.newValue,
  },
  'BroadcastChannel': {
    set: mark => { const channel = new BroadcastChannel('page'); setInterval(() => channel.postMessage(mark), 40) },
    look: () => heard('page'),
  },
  'lock': {
    set: mark => { navigator.locks.request(mark, () => new Promise(() => {})) },
    look: async () => { const all = await navigator.locks.query(); return [...all.held, ...all.pending].map(it => it.name).join() },
  },
  'blob address': {
    set: mark => URL.createObjectURL(new Blob([mark])),
    look: told => told ? fetch(told).then(it => it.text(), () => '') : '',
  },

  // Kept under the site, which the tab's pages have in common.
  'cookie': { set: mark => { document.cookie = `host=${mark};path=/;max-age=9999` }, look: () => cookie('host') },
  'cookie of the session': { set: mark => { document.cookie = 'session=' + mark }, look: () => cookie('session') },
  'cookie with its host as Domain': {
    set: mark => { document.cookie = `own=${mark};path=/;domain=${location.hostname}` },
    look: () => cookie('own'),
  },
  'cookie with a Domain above': {
    set: mark => { document.cookie = `above=${mark};path=/;max-age=9999;domain=${above()}` },
    look: () => cookie('above'),
  },
  'cookie with a Domain in other letters': {
    set: mark => { document.cookie = `other=${mark};path=/; DoMaIn\t= .${above().toUpperCase()}` },
    look: () => cookie('other'),
  },
  'cookie with Domain localhost': {
    set: mark => { document.cookie = `top=${mark};path=/;domain=localhost` },
    look: () => cookie('top'),
  },
  'cookie with a path': {
    set: mark => { document.cookie = `deep=${mark};path=/deep;domain=${above()}` },
    look: async () => {
      const frame = add('iframe', { src: '/deep/empty.html' });
      await event(frame, 'load');
      const seen = frame.contentDocument.cookie.match(/deep=\S+/)?.[0];
      frame.remove();
      return seen;
    },
  },
  'cookie Secure': {
    set: mark => { document.cookie = `secure=${mark};secure;path=/;domain=${above()}` },
    look: () => cookie('secure'),
  },
  'cookie Partitioned': {
    set: mark => { document.cookie = `parted=${mark};secure;partitioned;samesite=none;path=/;domain=${above()}` },
    look: () => cookie('parted'),
  },
  'cookie by a frame that is gone': {
    set: mark => {
      const frame = add('iframe');
      const { set } = Object.getOwnPropertyDescriptor(frame.contentWindow.Document.prototype, 'cookie');
      frame.remove();
      set.call(document, `gone=${mark};path=/;domain=${above()}`);
    },
    look: () => cookie('gone'),
  },
  'cookieStore': { set: mark => cookieStore.set('store', mark), look: async () => (await cookieStore.get('store'))?.value },
  'cookieStore with a domain above': {
    set: mark => cookieStore.set({ name: 'storeabove', value: mark, domain: above() }),
    look: async () => (await cookieStore.get('storeabove'))?.value,
  },
  'cookieStore with a function': {
    set: mark => cookieStore.set(Object.defineProperties(() => {},
      { name: { value: 'storeodd' }, value: { value: mark }, domain: { value: above() } })),
    look: async () => (await cookieStore.get('storeodd'))?.value,
  },
  'HTTP cache': { set: () => cached('/counted').then(() => {}), look: () => cached('/counted') },
  'prefetch': {
    set: () => { add('link', { rel: 'prefetch', href: '/counted?ahead' }); return pause(50) },
    look: () => cached('/counted?ahead'),
  },
  'picture in memory': {
    set: () => add('img', { src: '/dot.svg' }).decode(),
    look: async () => {
      await add('img', { src: '/dot.svg' }).decode();
      return performance.getEntriesByName(location.origin + '/dot.svg').at(-1)?.deliveryType;
    },
  },

  // Kept by the tab.
  'window.name': { set: mark => { window.name = mark }, look: () => window.name },
  // What an answer of the browser goes on with runs where scripts are switched off, too.
  'window.name by answers': {
    set: mark => { (async () => { const slow = new Blob([mark.repeat(30_000)]); for (;;) { await slow.text(); window.name = mark } })() },
    look: () => window.name,
  },
  'console by answers': {
    set: mark => { (async () => { const slow = new Blob([mark.repeat(30_000)]); for (let i = 0; i < 400; i++) { await slow.text(); if (i > 50 && i % 10 === 0) console.error(mark) } })() },
    look: () => '',
  },
  'window.opener': { set: () => { window.open('/deep/empty.html', 'left') }, look: () => window.opener && 'opener' },
  'window by its name': { set: () => { window.open('/deep/empty.html', 'named') }, look: () => window.open('', 'named') && 'window' },
  'frames': {
    set: mark => event(add('iframe', { name: 'leftframe', srcdoc: mark }), 'load').then(() => {}),
    look: () => window.leftframe && 'frame',
  },
  'history.state': { set: mark => { history.replaceState(mark, '') }, look: () => history.state },
  'history.length': {
    set: mark => { history.pushState(mark, ''); history.pushState(mark, '', '#' + mark) },
    look: () => history.length > seen.first.history ? history.length : '',
  },
  'scroll restoration': { set: () => { history.scrollRestoration = 'manual' }, look: () => history.scrollRestoration === 'manual' },
  'navigation entries': { set: mark => navigation.updateCurrentEntry({ state: mark }), look: () => navigation.entries().length > 1 && 'more than one' },
  'navigation backwards': { set: () => {}, look: () => navigation.canGoBack || navigation.canGoForward },
  'navigation from': { set: () => {}, look: () => navigation.activation?.from?.url },
  'referrer': { set: () => { document.head.append(Object.assign(document.createElement('meta'), { name: 'referrer', content: 'unsafe-url' })) }, look: () => document.referrer },
  'back cache': { set: () => {}, look: () => performance.getEntriesByType('navigation')[0].type === 'back_forward' },
  'speculation rules': {
    set: () => {
      add('script', { type: 'speculationrules', textContent: JSON.stringify({
        prefetch: [{ urls: [location.pathname], eagerness: 'immediate' }],
        prerender: [{ urls: [location.pathname], eagerness: 'immediate' }] }) });
    },
    look: () => {
      const { activationStart, deliveryType } = performance.getEntriesByType('navigation')[0];
      return activationStart || document.prerendering || deliveryType;
    },
  },
  'window size': { set: () => { resizeTo(333, 222); moveTo(11, 22); resizeBy(7, 7) }, look: () => sizes() === seen.first.sizes ? '' : sizes() },
  'page scale': {
    set: () => { document.head.append(Object.assign(document.createElement('meta'), { name: 'viewport', content: 'width=500, initial-scale=2' })) },
    look: () => visualViewport.scale !== 1 && visualViewport.scale,
  },
  'scroll position': { set: () => { add('div').style.height = '9000px'; scrollTo(0, 4000) }, look: () => scrollY },
  'focus': { set: () => add('input').focus(), look: () => document.activeElement !== document.body && document.activeElement?.tagName },
  'focus of the page': { set: () => {}, look: () => document.hasFocus() === seen.first.focus ? '' : document.hasFocus() + '' },
  'selection': { set: () => getSelection().selectAllChildren(document.body), look: () => getSelection() + '' },
  'find': { set: () => { window.find('page') }, look: () => getSelection() + '' },
  'undo': {
    set: mark => { add('div', { contentEditable: true }).focus(); document.execCommand('insertText', false, mark) },
    look: () => document.queryCommandEnabled('undo'),
  },
  'editing': {
    set: () => {
      document.execCommand('defaultParagraphSeparator', false, 'p');
      document.execCommand('styleWithCSS', false, true);
    },
    look: () => document.queryCommandValue('defaultParagraphSeparator') === 'p' || document.queryCommandState('styleWithCSS'),
  },
  'user activation': { set: () => {}, look: () => navigator.userActivation.hasBeenActive },
  'full screen': { set: () => within(300, document.documentElement.requestFullscreen()), look: () => document.fullscreenElement && 'full' },
  'pointer lock': { set: () => within(300, document.body.requestPointerLock()), look: () => document.pointerLockElement && 'locked' },
  'orientation': { set: () => within(300, screen.orientation.lock('portrait')), look: () => screen.orientation.type === seen.first.orientation ? '' : screen.orientation.type },
  'view transition': {
    set: () => { document.head.append(Object.assign(document.createElement('style'), { textContent: '@view-transition{navigation:auto}' })) },
    look: () => window.revealed?.viewTransition && 'transition',
  },
  'policy': {
    set: () => { document.head.append(Object.assign(document.createElement('meta'), { httpEquiv: 'Content-Security-Policy', content: 'media-src https:' })) },
    look: () => new Promise(done => {
      addEventListener('securitypolicyviolation', it => done(it.violatedDirective), { once: true });
      add('audio', { src: 'data:audio/wav,' });
      setTimeout(done, patience());
    }),
  },
  'document.domain': { set: () => { document.domain = above() }, look: () => document.domain === location.hostname ? '' : document.domain },

  // Kept by the realm, or the process.
  'global': { set: mark => { window.left = mark; navigator.left = mark; document.left = mark; screen.left = mark },
    look: () => window.left ?? navigator.left ?? document.left ?? screen.left },
  'prototype': { set: mark => { Object.defineProperty(Object.prototype, 'leftover', { value: mark }); Promise.prototype.left = mark },
    look: () => ({}).leftover ?? Promise.prototype.left },
  'function of the browser': { set: () => { const before = window.requestIdleCallback; window.requestIdleCallback = it => before(it) },
    look: () => /native/.test(requestIdleCallback) ? '' : 'changed' },
  'symbol': { set: mark => { globalThis[Symbol.for('left')] = mark }, look: () => globalThis[Symbol.for('left')] },
  'stack trace': { set: () => { Error.stackTraceLimit = 3 }, look: () => Error.stackTraceLimit === 3 },
  'timer': { set: mark => { setInterval(() => speak('timer', mark), 40) }, look: () => spoken('timer') },
  'promise': { set: mark => { (async () => { for (;;) { await pause(40); speak('promise', mark) } })() }, look: () => spoken('promise') },
  'animation frame': {
    set: mark => { const next = () => { speak('frame', mark); requestAnimationFrame(next) }; requestAnimationFrame(next) },
    look: () => spoken('frame'),
  },
  'idle callback': {
    set: mark => { const next = () => { speak('idle', mark); setTimeout(() => requestIdleCallback(next), 40) }; requestIdleCallback(next) },
    look: () => spoken('idle'),
  },
  'task': { set: mark => { const next = () => { speak('task', mark); scheduler.postTask(next, { delay: 40 }) }; next() }, look: () => spoken('task') },
  'observer': {
    set: mark => { new MutationObserver(() => speak('observer', mark)).observe(document, { subtree: true, childList: true, attributes: true }); document.body.lang = 'x' },
    look: () => spoken('observer'),
  },
  'finalizer': { set: mark => { window.registry = new FinalizationRegistry(() => speak('finalizer', mark)); registry.register({}, 0) }, look: () => spoken('finalizer') },
  'font': {
    set: async () => { const font = new FontFace('Left', 'local("DejaVu Sans")'); document.fonts.add(font); await font.load() },
    look: () => [...document.fonts].map(it => it.family).join() || !document.fonts.check('12px Left'),
  },
  'custom element': { set: () => customElements.define('left-element', class extends HTMLElement {}), look: () => customElements.get('left-element') && 'defined' },
  'style sheet': { set: () => { const sheet = new CSSStyleSheet(); sheet.replaceSync('p{}'); document.adoptedStyleSheets.push(sheet) }, look: () => document.adoptedStyleSheets.length },
  'highlight': { set: () => { CSS.highlights.set('left', new Highlight()) }, look: () => CSS.highlights.size },
  'property of CSS': {
    set: () => CSS.registerProperty({ name: '--left', inherits: false, syntax: '<length>', initialValue: '7px' }),
    look: () => getComputedStyle(document.body).getPropertyValue('--left'),
  },
  'Trusted Types': { set: () => { trustedTypes.createPolicy('default', { createHTML: it => it, createScriptURL: it => it, createScript: it => it }) }, look: () => trustedTypes.defaultPolicy && 'policy' },
  'title': { set: mark => { document.title = mark }, look: () => /^mark/.test(document.title) && document.title },
  'time origin': { set: () => performance.timeOrigin + '', look: told => performance.timeOrigin + '' === told && told },
  'performance marks': { set: mark => { performance.mark(mark); performance.measure('of ' + mark) },
    look: () => ['mark', 'measure'].flatMap(it => performance.getEntriesByType(it)).map(it => it.name).join() },
  'performance of unloading': { set: () => {}, look: () => performance.getEntriesByType('navigation')[0].unloadEventEnd },
  'random numbers': { set: () => seen.random, look: told => told === seen.random && told },
  'beforeunload': { set: () => { window.onbeforeunload = () => 'stay' }, look: () => window.onbeforeunload && 'handler' },
  'print': { set: mark => { window.onbeforeprint = () => speak('print', mark) }, look: () => window.onbeforeprint ? 'handler' : spoken('print') },
  'medium': { set: () => {}, look: () => matchMedia('print').matches || matchMedia('(prefers-color-scheme: dark)').matches },
  'language and zone': { set: () => {}, look: () => language() === seen.first.language ? '' : language() },
  'reports': {
    set: () => { const asked = new XMLHttpRequest(); asked.open('GET', '/counted', false); asked.send() },
    look: () => { const observer = new ReportingObserver(() => {}, { buffered: true }); observer.observe(); return observer.takeRecords().map(it => it.type).join() },
  },
  'rejection': { set: mark => { Promise.reject(Error(mark)); setTimeout(() => { throw Error(mark) }) }, look: () => '' },
  'console': { set: mark => { console.count(mark); console.error({ mark }); console.group(mark) }, look: () => '' },
  'permissions': {
    set: () => Promise.all([Notification.requestPermission(), new Promise(done => navigator.geolocation.getCurrentPosition(done, done)),
      navigator.mediaDevices.getUserMedia({ audio: true }), navigator.requestMIDIAccess(), queryLocalFonts(), getScreenDetails(),
      document.requestStorageAccess()].map(it => within(300, it.catch?.(() => {})))).then(() => {}),
    look: async () => { const now = await permissions(); return now === seen.first.permissions ? '' : now },
  },
  'geolocation': { set: () => {}, look: () => within(200, new Promise(done => navigator.geolocation.getCurrentPosition(() => done('found'), () => done('')))) },
  'clipboard': { set: mark => within(300, navigator.clipboard.writeText(mark)), look: () => within(300, navigator.clipboard.readText().catch(() => '')) },
  'clipboard by a command': {
    set: mark => { const field = add('textarea', { value: mark }); field.select(); return document.execCommand('copy') ? 'copied' : undefined },
    look: told => told ?? '',
  },
  'speech': { set: mark => { speechSynthesis.speak(new SpeechSynthesisUtterance(mark)); speechSynthesis.pause() },
    look: () => speechSynthesis.speaking || speechSynthesis.pending || speechSynthesis.paused },
  'Media Session': { set: mark => { navigator.mediaSession.metadata = new MediaMetadata({ title: mark }) }, look: () => navigator.mediaSession.metadata?.title },
  'wake lock': { set: () => within(300, navigator.wakeLock.request('screen')), look: () => '' },
  'protocol': { set: () => navigator.registerProtocolHandler('web+left', location.origin + '/?%s'), look: () => '' },
  'download': { set: mark => add('a', { href: 'data:text/plain,' + mark, download: mark }).click(), look: () => '' },

  // Requests that are still on their way; the job after must not be told of them.
  'keepalive': { set: mark => { fetch('/late?' + mark, { keepalive: true, method: 'POST', body: mark }) }, look: () => '' },
  'keepalive elsewhere': {
    set: mark => { for (const scheme of ['http', 'https']) fetch(scheme + '://late.example/?' + mark, { keepalive: true, mode: 'no-cors', referrerPolicy: 'no-referrer' }).catch(() => {}) },
    look: () => '',
  },
  'fetchLater elsewhere': {
    set: mark => { fetchLater('https://' + mark + '.late.example/?' + mark, { referrerPolicy: 'no-referrer' }) }, look: () => '',
  },
  'cookieStore by document.all': {
    set: mark => { const all = document.all; Object.assign(all, { name: 'all', value: mark, domain: above() }); return cookieStore.set(all).catch(() => {}) },
    look: () => cookie('all'),
  },
  'beacon': { set: mark => { navigator.sendBeacon('/late?' + mark, mark) }, look: () => '' },
  'fetchLater': { set: mark => { fetchLater('/late?' + mark, { activateAfter: 200 }) }, look: () => '' },
  'ping': { set: mark => { add('a', { href: '#ping', ping: '/late?' + mark }).click() }, look: () => '' },
  'picture on its way': { set: mark => { new Image().src = '/late.svg?' + mark }, look: () => '' },
  'frame of its own process': {
    set: mark => event(add('iframe', { sandbox: 'allow-scripts', srcdoc: `<script>
      const tell = () => fetch('http://${location.host}/late?${mark}', { mode: 'no-cors', keepalive: true });
      setInterval(tell, 40); onpagehide = () => { for (const end = performance.now() + 200; performance.now() < end;); tell() };
      <\/script>` }), 'load').then(() => {}),
    look: () => '',
  },
};

// Workers may outlast their page, so a page that has one leaves its tab to nobody: apart from the others, which would not
// have a tab in common.
const doors = {
  'shared worker': { set: mark => ask(new SharedWorker('/shared.js', 'a'), mark), look: () => ask(new SharedWorker('/shared.js', 'a'), '') },
  'shared worker that lives on': {
    set: mark => ask(new SharedWorker('/shared.js', { name: 'b', extendedLifetime: true }), mark).then(() => {}),
    look: () => ask(new SharedWorker('/shared.js', { name: 'b', extendedLifetime: true }), ''),
  },
  'shared worker that speaks': {
    set: mark => ask(new SharedWorker('/shared.js?loud', { name: 'c', extendedLifetime: true }), mark).then(() => {}),
    look: () => heard('shared'),
  },
  'worker': {
    set: mark => { const worker = new Worker('/worker.js'); worker.postMessage(mark); return event(worker, 'message').then(() => {}) },
    look: () => heard('worker'),
  },
  'service worker': {
    set: async () => { await navigator.serviceWorker.register('/service.js'); await registered() },
    look: async () => (await registration())?.scope,
  },
  'service worker in control': { set: () => {}, look: () => navigator.serviceWorker.controller?.scriptURL },
  'service worker with cookies': {
    set: async mark => { (await registered())?.active?.postMessage({ mark, domain: above() }) },
    look: async () => { for (const end = performance.now() + patience(); performance.now() < end && !cookie('service');) await pause(10); return cookie('service') },
  },
  'service worker that speaks': { set: () => {}, look: () => heard('service') },
  'background fetch': {
    set: async mark => { await (await registered())?.backgroundFetch.fetch(mark, ['/counted?far']) },
    look: async () => (await (await registration())?.backgroundFetch.getIds())?.join(),
  },
  'notification': {
    set: async mark => { new Notification(mark); await (await registered())?.showNotification(mark) },
    look: async () => (await (await registration())?.getNotifications())?.map(it => it.title).join(),
  },
};

// What disturbs the others: cookies, so many that they are still being written when everything else is done.
const floods = {
  'cookies without end': {
    set: mark => {
      for (let at = 0; at < 150; at++) {
        document.cookie = `flood${at}=${mark};path=/;domain=${above()}`;
        cookieStore.set({ name: 'store' + at, value: mark, domain: above() });
      }
    },
    look: () => document.cookie.match(/(flood|store)\d+=mark/)?.[0],
  },
};

// All the calls that a frame has in ten seconds, after which it goes nowhere: such a page leaves its tab to nobody either.
const calls = {
  'calls of history': {
    set: mark => { for (let at = 0; at < 250; at++) history.replaceState(mark, '') },
    look: () => {
      const before = history.state;
      history.replaceState('probe', '');
      const after = history.state;
      history.replaceState(before, '');
      return after === 'probe' ? '' : 'dropped';
    },
  },
};
