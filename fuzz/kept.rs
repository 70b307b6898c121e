//! The kept inputs of a fuzz target: fuzzing begins with them, and tests run its body over each.

use std::fs;
use std::path::Path;

/// The inputs in `fuzz/corpus/…` of the checkout `top`, in the order of their names.
///
/// # Panics
/// When there is none.
pub fn inputs(top: &Path, target: &str) -> Vec<Vec<u8>> {
    let folder = top.join("fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry is read").path()).collect();
    paths.sort_unstable();
    assert!(!paths.is_empty(), "{} has no input", folder.display());
    paths.iter().map(|path| fs::read(path).expect("an input is read")).collect()
}
