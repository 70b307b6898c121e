//! Metrics of templates.

use super::register::{Counter, Counters, Gauge, Register};

/// The operations that change templates.
const CHANGES: [&str; 8] = ["init", "upload", "unzip", "index_html", "save", "update", "clone", "delete"];

/// The template registry.
#[derive(Clone, Debug)]
pub struct TemplateMetrics {
    /// By `change` (`init`, `upload`, `unzip`, `save`, …) and `outcome`: `done`, or the code of the problem.
    pub changes: Counters<2>,
    /// Packages that renders asked for, by `outcome`: `hit`, `miss`.
    pub cache: Counters<1>,
    /// Bytes of the unpacked packages that are kept.
    pub cached_bytes: Gauge,
    /// What the garbage collector deleted, by `kind`: `unfinished`, `orphan`.
    pub swept: Counters<1>,
}

impl TemplateMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let changes = register.labelled(
            "platen_template_changes",
            ["change", "outcome"],
            "Changes of templates, and how they ended",
            Counter::default,
        );
        let cache = register.labelled(
            "platen_template_cache",
            ["outcome"],
            "Packages asked for: in the content cache, or unpacked",
            Counter::default,
        );
        let meaning = "Bytes of the unpacked packages that are kept";
        let cached_bytes = register.single("platen_template_cache_bytes", meaning, Gauge::default());
        let swept = register.labelled(
            "platen_template_swept",
            ["kind"],
            "Unfinished templates and orphaned objects that were removed",
            Counter::default,
        );
        Self {
            changes: changes.preset(CHANGES.map(|change| [change, "done"])),
            cache: cache.preset([["hit"], ["miss"]]),
            cached_bytes,
            swept: swept.preset([["unfinished"], ["orphan"]]),
        }
    }
}
