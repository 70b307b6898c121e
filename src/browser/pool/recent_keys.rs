//! Which scripted pages were rendered lately, or asked for WebGL: only for those that come again is a tab cleaned, and those that
//! will ask get WebGL at once.
//!
//! Pure: it knows neither browsers nor the time.

use std::collections::VecDeque;

use super::reuse::ReuseKey;

const RECENT_LIMIT: usize = 256;

/// Keys of the pages, the latest last.
#[derive(Default)]
pub(super) struct RecentKeys(VecDeque<ReuseKey>);

impl RecentKeys {
    /// Whether a page of `key` is remembered.
    pub(super) fn has(&self, key: ReuseKey) -> bool {
        self.0.contains(&key)
    }

    /// Notes a page of `key`; true where one is remembered.
    pub(super) fn note(&mut self, key: ReuseKey) -> bool {
        let before = self.0.iter().position(|other| *other == key).and_then(|at| self.0.remove(at));
        self.0.push_back(key);
        if self.0.len() > RECENT_LIMIT {
            self.0.pop_front();
        }
        before.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::AccountId;

    #[test]
    fn a_key_that_was_there_lately_is_known() {
        let mut recent = RecentKeys::default();
        let key = || ReuseKey { account: AccountId::generate(), content: None };
        let [one, two] = [key(), key()];
        assert_eq!([one, two, one, two].map(|key| recent.note(key)), [false, false, true, true]);
        for _ in 0..RECENT_LIMIT {
            assert!(!recent.note(key()));
        }
        assert!(!recent.has(one) && !recent.note(one) && recent.has(one));
    }
}
