//! How Chromium is started: its command line, each switch with its reason.

use std::path::Path;

use crate::config::BrowserConfig;

/// Features switched off. `--disable-features` counts once, the last wins: one list.
///
/// `BackForwardCache`, `RenderDocument` and `PaintHolding` cost time that a page shown once never earns
/// back; the others start work in the background.
const DISABLED_FEATURES: &str = "BackForwardCache,RenderDocument,PaintHolding,Translate,\
    OptimizationHints,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication";

/// The proxy of pages without a server of their own: a port where nothing listens.
const NO_PROXY: &str = "http://127.0.0.1:9";

/// What is the same for every start.
const SWITCHES: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    // Everything goes through the proxy, loopback too, and what does not is switched off.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    // One process less. Not with it: --disable-threaded-compositing, which saves another tenth of a
    // document's time but gives no animation frame and no picture, ever (tried).
    "--in-process-gpu",
    // A frame that we begin is whole before it counts as done (frames.rs).
    "--run-all-compositor-stages-before-draw",
    // A page is a page: no popups, no sound, no bars in a picture.
    "--block-new-web-contents",
    "--mute-audio",
    "--hide-scrollbars",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    // Nothing in the background, and nothing slowed down for being there.
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
];

/// Width of a page before it is printed, and of a picture, in CSS pixels: A4 at 96 dpi, nearly.
pub(in crate::browser) const VIEWPORT_WIDTH: u32 = 794;
/// Height of a page before it is printed, and of a picture, in CSS pixels.
pub(in crate::browser) const VIEWPORT_HEIGHT: u32 = 1_058;
/// Width and height of a window in which next to nothing is painted, in CSS pixels.
pub(in crate::browser) const TINY_WINDOW: (u32, u32) = (8, 8);

/// Chromium's arguments; `profile` is its folder.
pub(in crate::browser) fn arguments(config: &BrowserConfig, profile: &Path) -> Vec<String> {
    let mut arguments: Vec<String> = SWITCHES.iter().map(|&switch| switch.to_owned()).collect();
    arguments.push(format!("--proxy-server={NO_PROXY}"));
    arguments.push(format!("--disable-features={DISABLED_FEATURES}"));
    // One --js-flags as well: given twice, the limit of the heap silently vanishes (tried).
    let heap_limit_mb = config.heap_limit_mb;
    arguments.push(format!("--js-flags=--single-threaded,--max-old-space-size={heap_limit_mb}"));
    arguments.push(format!("--window-size={VIEWPORT_WIDTH},{VIEWPORT_HEIGHT}"));
    arguments.push(format!("--user-data-dir={}", profile.display()));
    // Chromium has no other way to trust an authority: it reads neither the machine's nor its profile's.
    if !config.trusted_keys.is_empty() {
        arguments.push(format!("--ignore-certificate-errors-spki-list={}", config.trusted_keys.join(",")));
    }
    if !config.sandbox {
        arguments.push("--no-sandbox".to_owned());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn switches_that_count_once_are_there_once_and_the_sandbox_stays() {
        let arguments = arguments(&Config::default().browser, Path::new("/profile"));
        for name in ["--js-flags=", "--disable-features=", "--proxy-server=", "--user-data-dir="] {
            let count = arguments.iter().filter(|argument| argument.starts_with(name)).count();
            assert_eq!(count, 1, "{name}");
        }
        assert!(arguments.iter().any(|argument| argument.ends_with("--max-old-space-size=512")));
        assert!(!arguments.iter().any(|argument| argument.contains("no-sandbox")));
    }
}
