// Drops the attribute Domain of every cookie that script sets.
//
// Hazard: a cookie with it is sent to the hosts of all later pages in this tab, and deleting cannot be relied on, for
// Chromium has no call that waits for cookies still being set. Without it a cookie stays with its page's random host.
// Evaluated in every frame before the page's own scripts. It must also work when called from a detached frame, so all
// natives are captured beforehand.
(() => {
    const { apply, get } = Reflect, { defineProperty, getOwnPropertyDescriptor } = Object;
    const Any = Object, { reject } = Promise, Promised = Promise;
    const { charCodeAt, slice, toLowerCase, trim } = String.prototype;
    const bare = cookie => {
        let kept = '', from = 0;
        for (let at = 0; at <= cookie.length; at++) {
            if (at < cookie.length && apply(charCodeAt, cookie, [at]) !== 59) continue;
            const part = apply(slice, cookie, [from, at]);
            const name = apply(toLowerCase, apply(trim, part, []), []);
            if (from === 0 || apply(slice, name, [0, 6]) !== 'domain') kept += (from ? ';' : '') + part;
            from = at + 1;
        }
        return kept;
    };
    const own = getOwnPropertyDescriptor(Document.prototype, 'cookie'), set = own.set;
    // A method, so that it is no constructor, as the native one.
    own.set = { set(cookie) { apply(set, this, [bare(`${cookie}`)]); } }.set;
    defineProperty(Document.prototype, 'cookie', own);
    const stores = globalThis.CookieStore?.prototype;
    if (!stores) return;
    const KEYS = ['name', 'value', 'expires', 'maxAge', 'path', 'sameSite', 'partitioned'];
    for (const name of ['set', 'delete']) {
        const it = getOwnPropertyDescriptor(stores, name), native = it.value;
        it.value = { [name](options) {
            // Not by `typeof`, which is 'undefined' for the object `document.all`.
            if (arguments.length !== 1 || Any(options) !== options) return apply(native, this, arguments);
            const copy = { __proto__: null };
            try {
                for (let at = 0; at < KEYS.length; at++) {
                    const value = get(options, KEYS[at]);
                    if (value !== undefined) copy[KEYS[at]] = value;
                }
            } catch (error) {
                return apply(reject, Promised, [error]);
            }
            return apply(native, this, [copy]);
        } }[name];
        defineProperty(stores, name, it);
    }
})()
