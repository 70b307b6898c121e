//! The scripts of ours that run in a page.
//!
//! Hazard: a page may replace `Promise` or `setTimeout`. Scripts that ask run in an isolated world, which shares the page's
//! document and none of its globals. Those that prepare the page run in its own world, before its scripts.

use std::time::Duration;

use serde_json::json;

use super::pictures;

/// A function that starts the loads of lazy pictures and frames, and answers how many there are.
pub(super) const LAZY: &str = include_str!("../../../assets/lazy.js");
/// A function that answers all rules of a style sheet.
pub(in crate::browser) const RULES_OF: &str = include_str!("../../../assets/rules_of.js");
/// Data larger than this is served: a script of a hundred megabytes would end the connection.
const DATA_INLINE_LIMIT_BYTES: usize = 1 << 20;

/// Whether the page fetches its data, instead of getting it in a script.
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

/// Answers [`READY`] when the page and its fonts are loaded and the selector matches, [`MISSING`] when it never will, and
/// something else where a page without script is still loading: it cannot wait for its load event. It gets no animation
/// frames either, so animations of its styles that end within `bound`, the time that a page with script is given, are set to
/// their end; it answers with its broken pictures. A page with script starts its lazy loads instead.
pub(super) fn readiness(selector: Option<&str>, is_scripted: bool, bound: Duration) -> String {
    let selector = json!(selector);
    let (wake, pictures) = if is_scripted { (LAZY, "null") } else { ("null", pictures::SEEN) };
    format!("({READINESS})({selector},{is_scripted},{},{wake},{pictures})", bound.as_millis())
}

/// An expression that answers an empty text where it would throw.
pub(in crate::browser) fn guarded(question: &str) -> String {
    format!("(()=>{{try{{return {question}}}catch{{return ''}}}})()")
}

/// Answers what a page waits for.
pub(super) fn pending(selector: Option<&str>) -> String {
    format!("({PENDING})({})", json!(selector))
}

/// Hazard: the main frame may navigate to an allowed host, whose page must not get the data. So the script looks at the
/// origin first.
fn with_data(host: &str, expression: &str) -> String {
    let origin = json!(format!("http://{host}"));
    format!(
        "(()=>{{if(window.top!==window||origin!=={origin})return;const data={expression};\
         window.__POGODOC_DATA__=data;window.__PLATEN_DATA__=data}})()"
    )
}

// Hazard: `<img name=fonts>` hides `document.fonts`. So both scripts read members from the prototype.
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
