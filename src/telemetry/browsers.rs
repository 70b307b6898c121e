//! Metrics of browsers.

use super::register::{Counter, Counters, Gauge, Gauges, Register};
use crate::domain::lane::Lane;

/// Browsers and their tabs.
#[derive(Clone, Debug)]
pub struct BrowserMetrics {
    /// By `state`: `up`, `quarantine` (for one account at a time), `graphics` (draws WebGL), `successor` (started, its tabs are being made),
    /// `leaving` (being replaced, finishes its last pages).
    pub browsers: Gauges<1>,
    /// By `outcome`: `answered`, `failed`; a start that crashed and was tried again counts once.
    pub launches: Counters<1>,
    /// By `reason`: `documents`, `age`, `memory`.
    pub recycles: Counters<1>,
    /// Browsers that were lost, by `reason`: `died`, `silent` (did not answer), `filled` (the browser process took too much
    /// memory), `hung` (a process of it hung).
    pub lost: Counters<1>,
    /// Processes that hung and were ended, by `process`: `browser`, `network`, `zygote`, `renderer`, `other`.
    pub hung: Counters<1>,
    /// Accounts' lanes in quarantine.
    pub quarantined: Gauge,
    /// Replaced browsers that were ended before all their pages had finished.
    pub drains_cut: Counter,
    /// Jobs that waited for a browser to start.
    pub launch_waits: Counter,
    /// By `lane` and `tab`: `fresh`, `kept` (reused), `left` (taken over from the page before).
    pub leases: Counters<2>,
    /// Reusable tabs that were closed, by `reason`: `documents`, `age`, `room`, `page`, `worn`, `broken`.
    pub reusable_closed: Counters<1>,
    /// By `lane`.
    pub leased: Gauges<1>,
    /// By `state`: `making`, `spare`, `kept`.
    pub tabs: Gauges<1>,
    /// How many tabs may be in use at once.
    pub tab_limit: Gauge,
    /// Jobs that wait for a tab.
    pub waiting: Gauge,
    /// By `part`: `own` (the browser process), `pages` (renderers), `other`.
    pub memory: Gauges<1>,
}

const LEASES: &str = "Tabs given to jobs, by lane: fresh, kept for their account, left by the page before";

impl BrowserMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let lanes = [[Lane::Static.name()], [Lane::Scripted.name()]];
        let mut levels = |name, label, meaning| register.labelled(name, [label], meaning, Gauge::default);
        let browsers = levels(
            "platen_browsers",
            "state",
            "Chromiums: up, quarantine, graphics (WebGL), successor (warming), leaving (ending)",
        );
        let leased = levels("platen_browser_leased_tabs", "lane", "Tabs in use, by lane");
        let tabs = levels("platen_browser_tabs", "state", "Tabs that nobody uses now: making, spare, kept");
        let memory = levels(
            "platen_browser_memory_bytes",
            "part",
            "Memory of all Chromiums: own processes, pages, other",
        );
        let mut counts = |name, label, meaning| register.labelled(name, [label], meaning, Counter::default);
        let launches = counts("platen_browser_launches", "outcome", "Chromiums started: answered, failed");
        let recycles =
            counts("platen_browser_recycles", "reason", "Planned replacements: by documents, age, memory");
        let reusable_closed = counts(
            "platen_browser_kept_ended",
            "reason",
            "Tabs that were given up: by documents, age, room, page, worn (their process), broken",
        );
        let (lost, hung) = losses(register);
        let given = register.labelled("platen_browser_leases", ["lane", "tab"], LEASES, Counter::default);
        let mut count = |name, meaning| register.single(name, meaning, Counter::default());
        Self {
            browsers: browsers.preset([["up"], ["quarantine"], ["graphics"], ["successor"], ["leaving"]]),
            launches: launches.preset([["answered"], ["failed"]]),
            recycles: recycles.preset([["documents"], ["age"], ["memory"]]),
            lost,
            hung,
            drains_cut: count(
                "platen_browser_drains_cut",
                "Replaced Chromiums that were ended with pages still in them",
            ),
            launch_waits: count("platen_browser_launch_waits", "Jobs that waited for a Chromium to start"),
            leases: given.preset([
                [Lane::Static.name(), "fresh"],
                [Lane::Static.name(), "kept"],
                [Lane::Scripted.name(), "fresh"],
                [Lane::Scripted.name(), "kept"],
                [Lane::Scripted.name(), "left"],
            ]),
            reusable_closed: reusable_closed.preset([
                ["documents"],
                ["age"],
                ["room"],
                ["page"],
                ["worn"],
                ["broken"],
            ]),
            leased: leased.preset(lanes),
            tabs: tabs.preset([["making"], ["spare"], ["kept"]]),
            tab_limit: register.single(
                "platen_browser_tab_limit",
                "Tabs that may be in use at once",
                Gauge::default(),
            ),
            waiting: register.single("platen_browser_waiting", "Jobs that wait for a tab", Gauge::default()),
            quarantined: register.single(
                "platen_browser_quarantined",
                "Accounts' lanes in quarantine, since a Chromium died with pages of theirs",
                Gauge::default(),
            ),
            memory: memory.preset([["own"], ["pages"], ["other"]]),
        }
    }
}

/// Browsers that were lost, and processes that hung.
fn losses(register: &mut Register) -> (Counters<1>, Counters<1>) {
    let mut counts = |name, label, meaning| register.labelled(name, [label], meaning, Counter::default);
    let lost = counts(
        "platen_browser_lost",
        "reason",
        "Chromiums lost: died, silent (did not answer), filled (its memory), hung (a process)",
    );
    let hung = counts(
        "platen_browser_hung",
        "process",
        "Processes of Chromium that hung and were ended: browser, network, zygote, renderer, other",
    );
    (
        lost.preset([["died"], ["silent"], ["filled"], ["hung"]]),
        hung.preset([["browser"], ["network"], ["zygote"], ["renderer"], ["other"]]),
    )
}
