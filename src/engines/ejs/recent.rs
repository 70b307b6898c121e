//! Scripts of templates that are sent with each job instead of being saved: a text that an account has sent twice is expected
//! again, so its scripts are cached.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};

use crate::domain::ids::AccountId;
use crate::domain::scripts::Scripts;
use crate::domain::site::Site;
use crate::thread;

/// Bytes of an entry without its scripts.
const FIXED_BYTES: u64 = 128;

/// Texts that were seen, by account. Clones share them.
#[derive(Clone)]
pub(super) struct RecentTexts(Arc<Cache<Key, Seen, Weight>>);

type Key = [u8; 32];

#[derive(Clone)]
enum Seen {
    Once,
    /// More than once; holds its scripts, as far as they were generated.
    Again(Arc<Scripts>),
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Seen> for Weight {
    fn weight(&self, _: &Key, seen: &Seen) -> u64 {
        match seen {
            Seen::Once => FIXED_BYTES,
            Seen::Again(scripts) => FIXED_BYTES + scripts.weight(),
        }
    }
}

impl RecentTexts {
    /// Texts and scripts of at most `limit_bytes`.
    pub fn new(limit_bytes: u64) -> Self {
        let texts = usize::try_from(limit_bytes / (8 << 10)).unwrap_or(usize::MAX);
        Self(Arc::new(Cache::with_weighter(texts.max(1), limit_bytes, Weight)))
    }

    /// The scripts of `site`, possibly none yet, if the account has sent the same text before. Not of a site of several files: an
    /// included file may change while the entry stays the same.
    pub fn scripts(&self, account: AccountId, site: &Site) -> Option<Arc<Scripts>> {
        let text = site
            .only_file()
            .filter(|text| text.len() <= thread::INLINE_LIMIT_BYTES && site.scripts().is_none())?;
        let mut digest = Sha256::new();
        digest.update(account.to_string());
        digest.update([0]);
        digest.update(site.entry());
        digest.update([0]);
        digest.update(text);
        let key = digest.finalize().into();
        match self.0.get(&key) {
            Some(Seen::Again(scripts)) => Some(scripts),
            Some(Seen::Once) => {
                let scripts = Arc::new(site.empty_scripts()?);
                self.0.insert(key, Seen::Again(Arc::clone(&scripts)));
                Some(scripts)
            }
            None => {
                self.0.insert(key, Seen::Once);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_cached_when_an_account_sends_a_text_again() {
        let recent = RecentTexts::new(1 << 20);
        let (one, two) = (AccountId::generate(), AccountId::generate());
        let site = |text: &'static str| Site::single("index.html", text.into());
        assert!(recent.scripts(one, &site("<%= a %>")).is_none());
        let scripts = recent.scripts(one, &site("<%= a %>")).unwrap();
        assert!(Arc::ptr_eq(&scripts, &recent.scripts(one, &site("<%= a %>")).unwrap()));
        assert!(recent.scripts(two, &site("<%= a %>")).is_none(), "another account's");
        assert!(recent.scripts(one, &site("<%= b %>")).is_none(), "another text");
        let files = [("index.html", "<%- include('a') %>"), ("a.ejs", "<%= a %>")];
        let several =
            Site::new("index.html", files.map(|(path, text)| (path.to_owned(), text.into())).into());
        for _ in 0..3 {
            assert!(recent.scripts(one, &several).is_none());
        }
    }
}
