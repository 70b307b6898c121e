//! Renderers and browsers that we end on purpose: without this record a kill would look like a crash of the page.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

/// A renderer that ended so soon after we killed one is the one we killed.
const KILL_WINDOW: Duration = Duration::from_secs(2);

/// The kills of one browser.
#[derive(Debug, Default)]
pub(in crate::browser) struct Kills {
    renderers: Mutex<Vec<Kill>>,
    /// Why we ended the browser, if we did.
    pub(in crate::browser) end_of_browser: OnceLock<BrowserEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) enum BrowserEnd {
    /// Its own process was full.
    Filled,
    /// Another one took its place, and its last pages took too long.
    Replaced,
    /// A process of it hung.
    Hung,
}

/// Why a renderer is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) enum RendererEnd {
    /// Its page took too much memory.
    Filled,
    /// It hung.
    Hung,
}

#[derive(Debug)]
struct Kill {
    renderer: i32,
    end: RendererEnd,
    at: Instant,
    /// The end of a page was counted for it.
    claimed: bool,
}

impl Kills {
    /// Records that a renderer is about to be killed; false where that is recorded already. Hazard: a large renderer stays in
    /// `/proc` for a while after its kill, so the next sweep would record it again. Its end would claim only one of the two
    /// records, and the other would make the next crash look like a kill.
    pub(in crate::browser) fn announce(&self, renderer: i32, end: RendererEnd) -> bool {
        let mut list = self.list();
        let is_new = list.iter().all(|kill| kill.renderer != renderer);
        if is_new {
            list.push(Kill { renderer, end, at: Instant::now(), claimed: false });
        }
        is_new
    }

    /// Why a renderer that just ended was killed, if it was; each kill is counted once.
    pub(in crate::browser) fn claim(&self) -> Option<RendererEnd> {
        let mut list = self.list();
        let kill = list.iter_mut().find(|kill| !kill.claimed)?;
        kill.claimed = true;
        Some(kill.end)
    }

    /// The browser is about to be ended.
    pub(in crate::browser) fn announce_browser(&self, end: BrowserEnd) {
        let _ = self.end_of_browser.set(end);
    }

    /// Those within [`KILL_WINDOW`].
    fn list(&self) -> MutexGuard<'_, Vec<Kill>> {
        let mut list = self.renderers.lock();
        list.retain(|kill| kill.at.elapsed() < KILL_WINDOW);
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_is_counted_once_however_often_its_renderer_is_seen() {
        let kills = Kills::default();
        let full = RendererEnd::Filled;
        assert!(kills.announce(7, full) && !kills.announce(7, full));
        assert_eq!(kills.claim(), Some(full));
        assert!(!kills.announce(7, full), "it is still ending");
        assert_eq!(kills.claim(), None, "this one crashed");
        assert!(kills.announce(8, RendererEnd::Hung));
        assert_eq!(kills.claim(), Some(RendererEnd::Hung));
    }
}
