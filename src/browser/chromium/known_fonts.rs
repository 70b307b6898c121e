//! Which font families a browser has, as its pages found out: what is known need not be asked again.

use std::collections::HashSet;

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::json;

/// Most families that are kept of each kind, and most bytes of their names: every page with script is sent all of them.
const KNOWN_LIMIT: usize = 1_000;
const KNOWN_LIMIT_BYTES: usize = 16 << 10;
/// Longest name of a family that is kept, in characters.
pub(in crate::browser) const NAME_LIMIT_CHARS: usize = 100;

/// The families that a browser is known to have, and not to have, in small letters. Fonts are read when it starts, so
/// what was found out holds until its end.
#[derive(Debug, Default)]
pub(in crate::browser) struct KnownFonts(Mutex<Known>);

#[derive(Debug, Default, Serialize)]
struct Known {
    installed: HashSet<String>,
    missing: HashSet<String>,
}

impl KnownFonts {
    /// Whether `family`, in small letters, is not known to be installed.
    pub(in crate::browser) fn lacks(&self, family: &str) -> bool {
        !self.0.lock().installed.contains(family)
    }

    pub(in crate::browser) fn learn(&self, installed: &[String], missing: &[String]) {
        let mut known = self.0.lock();
        let Known { installed: known_installed, missing: known_missing } = &mut *known;
        for (families, found) in [(known_installed, installed), (known_missing, missing)] {
            for family in found {
                let bytes = families.iter().map(String::len).sum::<usize>() + family.len();
                let is_short = family.chars().count() <= NAME_LIMIT_CHARS && bytes <= KNOWN_LIMIT_BYTES;
                if families.len() < KNOWN_LIMIT && is_short {
                    families.insert(family.to_lowercase());
                }
            }
        }
    }

    /// All of it, for the script that asks a page.
    pub(in crate::browser) fn to_json(&self) -> String {
        json!(*self.0.lock()).to_string()
    }
}
