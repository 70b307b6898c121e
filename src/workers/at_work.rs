//! How many programs and children work now, of all engines of a service.
//!
//! Hazard: the lowest priority is next to nothing beside other work of the machine, and a long document would end at its time
//! limit. It is there for shorter jobs of the service, so a program gets it only while another one works.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts those that work. Clones share the count.
#[derive(Clone, Debug, Default)]
pub(super) struct AtWork(Arc<AtomicUsize>);

/// One that works, until this is dropped.
#[derive(Debug)]
pub(super) struct Working(AtWork);

impl AtWork {
    /// Counts one more.
    pub fn begin(&self) -> Working {
        self.0.fetch_add(1, Ordering::Relaxed);
        Working(self.clone())
    }
}

impl Working {
    /// Whether another one works, too.
    pub fn has_company(&self) -> bool {
        self.0.0.load(Ordering::Relaxed) > 1
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_works_alone_has_no_company() {
        let at_work = AtWork::default();
        let one = at_work.begin();
        assert!(!one.has_company());
        let other = at_work.clone().begin();
        assert!(one.has_company() && other.has_company());
        drop(other);
        assert!(!one.has_company());
    }
}
