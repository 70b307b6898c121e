//! The browsers of the pool: their slots, what they are for, why they are lost or replaced.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::browser::chromium::flags::Graphics;
use crate::browser::chromium::hung::{Hung, HungWatch};
use crate::browser::chromium::instance::Chromium;
use crate::browser::chromium::kills::{BrowserEnd, Kills};
use crate::browser::chromium::memory::MemoryReading;
use crate::browser::chromium::network::NetworkService;
use crate::browser::tab::lease::{BrowserId, HeldTab, LeaseTab};
use crate::domain::ids::AccountId;
use crate::domain::lane::PerLane;
use crate::workers::SessionShare;

/// The pauses after failed starts: this, doubled each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// A slot for a process. At most one launch is under way for each.
pub(super) enum BrowserSlot {
    /// No page has needed it yet, or, for a browser of one account, none needs it now.
    Off,
    Starting,
    Running(Box<RunningBrowser>),
    Pausing,
}

impl BrowserSlot {
    pub(super) fn running(&self) -> Option<&RunningBrowser> {
        if let Self::Running(running) = self { Some(running) } else { None }
    }

    pub(super) fn into_running(self) -> Option<Box<RunningBrowser>> {
        if let Self::Running(running) = self { Some(running) } else { None }
    }
}

/// Whose pages the browser of a slot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Those with script, and the others where these have no browser of their own.
    Shared,
    /// Those without script: what a script does to its browser cannot reach them.
    Static,
    /// Those of one account at a time, which is in quarantine; its number among the quarantine browsers.
    Quarantine(usize),
    /// Those that draw with WebGL, one page at a time; its number among the browsers for these.
    Graphics(usize),
}

impl Purpose {
    /// What the browser draws with.
    pub(super) fn graphics(self) -> Graphics {
        if matches!(self, Self::Graphics(_)) { Graphics::WebGl } else { Graphics::Without }
    }

    /// Whether its pages are of one account at a time.
    pub(super) fn is_of_one_account(self) -> bool {
        matches!(self, Self::Quarantine(_) | Self::Graphics(_))
    }
}

#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum BrowserLoss {
    #[error("its connection ended")]
    Died,
    /// It does not answer, or not as it should.
    #[error("{0}")]
    Silent(String),
    /// It runs, but no tab can be made in it, or what draws its pages is not to be trusted with another one.
    #[error("{0}")]
    Unusable(&'static str),
    /// We end it for the memory of its own process, which its pages filled.
    #[error("its own process took {own_mb} MB (browser.own_memory_limit_mb)")]
    Filled { own_mb: u64 },
    /// We end it, for a process of it hangs.
    #[error("its {} process {} {}", .0.kind.name(), .0.process, .0.sign())]
    Hung(Hung),
}

impl BrowserLoss {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Died => "died",
            Self::Silent(_) | Self::Unusable(_) => "silent",
            Self::Filled { .. } => "filled",
            Self::Hung(_) => "hung",
        }
    }

    /// Why we end it, where the loss is an end on purpose.
    pub(super) fn end_on_purpose(&self) -> Option<BrowserEnd> {
        match self {
            Self::Filled { .. } => Some(BrowserEnd::Filled),
            // A silent one may be a page's doing: that page is rendered alone.
            Self::Hung(hung) if hung.is_stopped => Some(BrowserEnd::Hung),
            Self::Died | Self::Silent(_) | Self::Unusable(_) | Self::Hung(_) => None,
        }
    }

    /// Whether a page in it may have been the reason.
    pub(super) fn may_be_of_page(&self) -> bool {
        match self {
            Self::Died | Self::Silent(_) | Self::Filled { .. } => true,
            // Whoever stops a process is no page, but a page may make Chromium stand still.
            Self::Hung(hung) => !hung.is_stopped,
            Self::Unusable(_) => false,
        }
    }
}

pub(super) struct RunningBrowser {
    pub chromium: Chromium,
    pub network: Arc<NetworkService>,
    pub id: BrowserId,
    pub since: Instant,
    pub kills: Arc<Kills>,
    /// Tabs in it, from when their making begins until they are disposed of.
    pub tabs: usize,
    /// Those of them that are being made.
    pub making: PerLane<usize>,
    /// Tabs of a successor, until it takes over.
    pub first_tabs: Vec<HeldTab>,
    /// Leases of its tabs that have not come back.
    pub leases: Vec<Leased>,
    /// Whose page it showed last.
    pub last_account: Option<AccountId>,
    /// Leases it has given so far.
    pub documents: u64,
    pub memory: MemoryReading,
    /// The known renderers of its tabs, and the processor time that each had taken when its present page began.
    pub renderers: HashMap<i32, Duration>,
    /// Renderers of which no tab is known, such as those of frames, since when they are measured, and their processor time then.
    pub strangers: HashMap<i32, (Instant, Duration)>,
    /// What its session gets of the processor.
    pub share: SessionShare,
    /// Until when its last long page counts, and its last page of an account that is not known for long ones.
    pub long_until: Option<Instant>,
    pub short_until: Option<Instant>,
    /// It is being measured, or is measured again in a moment.
    pub is_measured: bool,
    pub hung_watch: HungWatch,
    /// The process that takes its slot by plan, while that is under way.
    pub successor: Option<Successor>,
    /// Not replaced by plan before this.
    pub stays_until: Instant,
    pub failed_successors: u32,
    pub failed_starts: u32,
}

/// A lease of a tab in a browser.
pub(super) struct Leased {
    pub request: LeaseTab,
    /// The process that shows its page, once that is known: a page that asks for nothing does not tell.
    pub renderer: Arc<OnceLock<i32>>,
    pub since: Instant,
}

/// Why a browser is replaced by plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecycleReason {
    Documents,
    Age,
    Memory,
}

/// The process that is to take a browser's slot.
pub(super) struct Successor {
    pub reason: RecycleReason,
    /// The process itself; none while its launch is under way.
    pub running: Option<Box<RunningBrowser>>,
    /// How many of its first tabs are still being made.
    pub tabs_left: usize,
}

impl RecycleReason {
    pub(super) const ALL: [Self; 3] = [Self::Documents, Self::Age, Self::Memory];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Age => "age",
            Self::Memory => "memory",
        }
    }
}

/// The pause after so many failed starts and one more.
pub(super) fn pause_after(failed_starts: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failed_starts.min(10)).min(LONGEST_PAUSE)
}
