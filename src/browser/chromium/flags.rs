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
    // Not: --disable-threaded-compositing, which saves a tenth of a document's time but gives no animation frame and no
    // picture, ever (tried).
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

/// What makes Chromium draw without graphics of any kind. Hazard: with one process less its graphics run in its own process,
/// outside of any sandbox, and WebGL would compile strangers' shaders there. `--disable-3d-apis` and `--disable-webgl` leave it
/// to an `OffscreenCanvas` (tried); without an implementation of GL there is nothing to ask.
const WITHOUT_GRAPHICS: &[&str] = &["--in-process-gpu", "--use-gl=disabled"];

/// What gives WebGL, drawn by the processor in a process of its own.
const WITH_GRAPHICS: &[&str] = &[
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    // Hazard: by itself the process enters its sandbox when graphics already run threads, which the sandbox then leaves out
    // without failing (tried). So it enters first, and ends where it cannot.
    "--gpu-sandbox-start-early",
    "--gpu-sandbox-failures-fatal=yes",
    // The page itself is painted as in all other browsers, to the same pixels.
    "--disable-gpu-compositing",
];

/// What a Chromium draws with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Graphics {
    /// Pages get no WebGL.
    Without,
    /// Pages get WebGL, in a process of its own.
    WebGl,
}

/// Width of a page before it is printed, and of a picture, in CSS pixels: A4 at 96 dpi, nearly.
pub(in crate::browser) const VIEWPORT_WIDTH: u32 = 794;
/// Height of a page before it is printed, and of a picture, in CSS pixels.
pub(in crate::browser) const VIEWPORT_HEIGHT: u32 = 1_058;
/// Width and height of a window in which next to nothing is painted, in CSS pixels.
pub(in crate::browser) const TINY_WINDOW: (u32, u32) = (8, 8);

/// Chromium's arguments; `profile` is its folder.
pub(in crate::browser) fn arguments(
    config: &BrowserConfig,
    graphics: Graphics,
    profile: &Path,
) -> Vec<String> {
    let drawing = match graphics {
        Graphics::Without => WITHOUT_GRAPHICS,
        Graphics::WebGl => WITH_GRAPHICS,
    };
    let switches = SWITCHES.iter().chain(drawing);
    let mut arguments: Vec<String> = switches.map(|&switch| switch.to_owned()).collect();
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
        for graphics in [Graphics::Without, Graphics::WebGl] {
            count_once(&arguments(&Config::default().browser, graphics, Path::new("/profile")));
        }
    }

    fn count_once(arguments: &[String]) {
        for name in ["--js-flags=", "--disable-features=", "--proxy-server=", "--user-data-dir="] {
            let count = arguments.iter().filter(|argument| argument.starts_with(name)).count();
            assert_eq!(count, 1, "{name}");
        }
        assert!(arguments.iter().any(|argument| argument.ends_with("--max-old-space-size=1536")));
        assert!(!arguments.iter().any(|argument| argument.contains("no-sandbox")));
    }
}
