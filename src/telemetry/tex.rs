//! What is counted of TeX.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use super::instruments::{Counts, Level};
use super::register::Register;

/// Formats of preambles: what TeX has read of one, made ahead for the next documents that begin with it.
#[derive(Clone, Debug)]
pub struct TexMetrics {
    /// By `outcome`: `made`, `refused`, `used`, `evicted`.
    pub formats: Counts<1>,
    /// Bytes of those that are kept.
    pub format_bytes: Level,
}

impl TexMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let meaning = "Formats of preambles: made, refused (pages would differ), used by a document, evicted";
        let formats = register.labelled("platen_tex_formats", ["outcome"], meaning, Counter::default);
        let outcomes = ["made", "refused", "used", "evicted"];
        let meaning = "Bytes of the formats of preambles that are kept";
        Self {
            formats: formats.beginning_with(outcomes.map(|outcome| [outcome])),
            format_bytes: register.one("platen_tex_format_bytes", meaning, Gauge::default()),
        }
    }
}
