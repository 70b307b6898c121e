//! The scripts of ours that run in a page.
//!
//! Hazard: a page may replace `Promise` or `setTimeout`. Scripts that ask run in an isolated world, which has the page's
//! document and none of its script. Those that run before the page's own run in its world.

use std::time::Duration;

use serde_json::json;

use super::pictures;

/// Keeps what WebGL draws, for a document that is written of the page.
pub(super) const CANVASES: &str = include_str!("../../../assets/canvas.js");
/// A function that has pictures and frames loaded that wait to be scrolled to, and answers how many there are.
pub(super) const LAZY: &str = include_str!("../../../assets/lazy.js");
/// Data larger than this is served: a script of a hundred megabytes would end the connection.
const DATA_INLINE_LIMIT_BYTES: usize = 1 << 20;

/// Whether data is served.
pub(super) fn is_large(data: &[u8]) -> bool {
    data.len() > DATA_INLINE_LIMIT_BYTES
}

/// The page can be printed, as far as asked; its pictures ([`Pictures`](super::pictures::Pictures)) follow.
pub(super) const READY: &str = "ready";
/// Nothing matches the selector, and nothing will: no script runs.
pub(super) const MISSING: &str = "missing";

/// Puts the data on the window of the main frame, before the page's own scripts. Parsed, not written
/// as a literal: `__proto__` is a plain key in JSON.
pub(super) fn data_inline(host: &str, data: &str) -> String {
    with_data(host, &format!("JSON.parse({})", json!(data)))
}

/// The same for data that is served at `path`.
pub(super) fn data_fetched(host: &str, path: &str) -> String {
    let path = json!(path);
    with_data(
        host,
        &format!(
            "(r=>{{r.open('GET',{path},false);r.send();return JSON.parse(r.responseText)}})(new XMLHttpRequest)"
        ),
    )
}

/// Answers [`READY`] when loaded, with its fonts, and the selector matches; [`MISSING`] when it never
/// will, and something else while the page is still loading and cannot say when it has. Where no script
/// runs no frame comes either: animations of styles that end within `bound` are put there, as long as a page with
/// script is waited for. Such a page says at once which of its pictures are broken; in the others what waits to be
/// scrolled to begins to load.
pub(super) fn readiness(selector: Option<&str>, is_scripted: bool, bound: Duration) -> String {
    let selector = json!(selector);
    let (wake, pictures) = if is_scripted { (LAZY, "null") } else { ("null", pictures::SEEN) };
    format!("({READINESS})({selector},{is_scripted},{},{wake},{pictures})", bound.as_millis())
}

/// A question that answers nothing where it throws.
pub(in crate::browser) fn guarded(question: &str) -> String {
    format!("(()=>{{try{{return {question}}}catch{{return ''}}}})()")
}

/// Answers what a page waits for.
pub(super) fn pending(selector: Option<&str>) -> String {
    format!("({PENDING})({})", json!(selector))
}

/// A page of another host, which the main frame may go to where that is allowed, does not get the data.
fn with_data(host: &str, expression: &str) -> String {
    let origin = json!(format!("http://{host}"));
    format!(
        "(()=>{{if(window.top!==window||origin!=={origin})return;const data={expression};\
         window.__POGODOC_DATA__=data;window.__PLATEN_DATA__=data}})()"
    )
}

// An element's name hides a member of the document (`<img name=fonts>`), so both ask its prototype.
const READINESS: &str = "async (selector, scripted, bound, wake, pictures) => {
    const its = name => Reflect.get(Document.prototype, name, document);
    const has = selector => Document.prototype.querySelector.call(document, selector);
    if (its('readyState') !== 'complete') {
        if (!scripted) return 'loading';
        await new Promise(done => EventTarget.prototype.addEventListener.call(window, 'load', done, { once: true }));
    }
    // A question for a warning's sake that throws must not fail the page.
    try { wake?.(); } catch {}
    do {
        // Fonts are requested by a layout, and no frame may come that does one: `scrollX` forces it.
        scrollX;
        await its('fonts').ready;
    } while (its('fonts').status !== 'loaded');
    for (const animation of scripted ? [] : Document.prototype.getAnimations.call(document)) {
        const left = animation.effect?.getComputedTiming().endTime - animation.currentTime;
        try {
            if (animation.playState === 'running' && left <= bound) animation.finish();
        } catch {}
    }
    if (selector === null || has(selector)) {
        let seen = null;
        try { seen = pictures?.() ?? null; } catch {}
        return seen === null ? 'ready' : 'ready' + JSON.stringify(seen).toWellFormed();
    }
    if (!scripted) return 'missing';
    await new Promise(done => {
        const observer = new MutationObserver(() => {
            if (has(selector)) { observer.disconnect(); done(); }
        });
        const everything = { subtree: true, childList: true, attributes: true, characterData: true };
        observer.observe(document, everything);
    });
    await its('fonts').ready;
    return 'ready';
}";

const PENDING: &str = "selector => {
    const its = name => Reflect.get(Document.prototype, name, document);
    const has = selector => Document.prototype.querySelector.call(document, selector);
    const pending = [];
    if (its('readyState') !== 'complete') pending.push(`document.readyState is ${its('readyState')}`);
    if (its('fonts').status !== 'loaded') pending.push('fonts');
    if (selector !== null && !has(selector)) pending.push(`selector '${selector}'`);
    for (const image of its('images')) {
        if (!image.complete && pending.length < 5) pending.push(image.currentSrc.slice(0, 200));
    }
    return pending.join(', ').toWellFormed();
}";
