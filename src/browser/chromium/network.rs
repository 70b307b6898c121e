//! Which process is a Chromium's network service.
//!
//! Hazard: when it dies, Chromium starts another one and tells nobody. Requests that were under way fail as if their host were
//! at fault, and Chromium's log says nothing of them: a page would fail, or be printed without its files.

use parking_lot::Mutex;

use super::hung::ProcessKind;
use super::memory::descendants;
use crate::procfs::stat_fields;

/// The network service of one Chromium.
#[derive(Debug)]
pub(in crate::browser) struct NetworkService {
    browser: i32,
    /// The one that was found last.
    known: Mutex<Option<NetworkProcess>>,
}

/// A process that is, or was, the network service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) struct NetworkProcess {
    id: i32,
    /// When it started, in ticks since boot: its number may be used again.
    started: u64,
}

impl NetworkService {
    /// That of the Chromium whose first process is `browser`.
    pub(in crate::browser) fn of(browser: i32) -> Self {
        Self { browser, known: Mutex::default() }
    }

    /// The process that it is now; `None` where there is none. It reads one file of `/proc`, and more after a death.
    pub(in crate::browser) fn present(&self) -> Option<NetworkProcess> {
        let mut known = self.known.lock();
        if known.is_none_or(|it| NetworkProcess::of(it.id) != Some(it)) {
            let service =
                descendants(self.browser).into_iter().find(|it| ProcessKind::of(*it) == ProcessKind::Network);
            *known = service.and_then(NetworkProcess::of);
        }
        *known
    }
}

impl NetworkProcess {
    /// That of this number, unless it is gone, or dead and not yet waited for.
    fn of(id: i32) -> Option<Self> {
        let stat = stat_fields(id).filter(|stat| stat.text(3) != Some("Z"))?;
        Some(Self { id, started: stat.number(22)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_dead_is_none() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let id = child.id().cast_signed();
        let living = NetworkProcess::of(id).unwrap();
        assert_eq!(NetworkProcess::of(id), Some(living));
        child.kill().unwrap();
        while NetworkProcess::of(id).is_some() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert_eq!(NetworkProcess::of(id), None);
    }

    #[test]
    fn a_process_without_children_has_none() {
        assert_eq!(NetworkService::of(i32::MAX).present(), None);
    }
}
