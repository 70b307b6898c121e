//! Which Platen this is.

use std::sync::LazyLock;

/// The version, as in `Cargo.toml`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that a package was made from; `scripts/package` alone names it, or each commit would compile everything anew.
pub const COMMIT: Option<&str> = option_env!("PLATEN_COMMIT");

/// Both, as in `0.1.0 (1a2b3c4)`.
pub fn with_commit() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| written(COMMIT));
    &TEXT
}

fn written(commit: Option<&str>) -> String {
    commit.map_or_else(|| VERSION.to_owned(), |commit| format!("{VERSION} ({commit})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_stands_behind_the_version() {
        assert_eq!(written(None), VERSION);
        assert_eq!(written(Some("1a2b3c4")), format!("{VERSION} (1a2b3c4)"));
    }
}
