//! Programs that `scripts/setup --test` installs.

use std::path::{Path, PathBuf};

/// The program at `path` below the folder of test tools.
#[expect(
    clippy::disallowed_methods,
    reason = "the set-up script finds the folder by the environment as well"
)]
pub fn tool(path: impl AsRef<Path>) -> PathBuf {
    let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
    let cache =
        cache.unwrap_or_else(|_| PathBuf::from(std::env::var("HOME").expect("a home")).join(".cache"));
    let tool = cache.join("platen-tools").join(path);
    assert!(tool.exists(), "{} is missing; run scripts/setup --test", tool.display());
    tool
}
